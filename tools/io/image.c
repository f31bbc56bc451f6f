/* image.c: JPEG and PNG files as tensors. */
#include "image.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "element.h"
#include "file.h"

typedef struct picture {
    int64_t width, height;
    uint8_t *rgb; /* 3 bytes a pixel */
} picture;

static bool is_png(const unsigned char *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "\x89PNG", 4) == 0;
}

static bool is_jpeg(const unsigned char *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

bool mr_bytes_are_image(const void *bytes, size_t size)
{
    return is_png(bytes, size) || is_jpeg(bytes, size);
}

static bool allocate(picture *p)
{
    bool fits = p->width > 0 && p->height > 0 && p->width <= MR_IMAGE_SIDE && p->height <= MR_IMAGE_SIDE;
    p->rgb = fits ? malloc((size_t)(p->width * p->height) * 3) : NULL;
    return p->rgb != NULL;
}

static mr_status too_large(const picture *p, mr_error *e)
{
    return mr_fail(e, MR_E_MEMORY, "no memory for an image of %lld x %lld pixels", (long long)p->width,
                   (long long)p->height);
}

static mr_status read_png(const mr_map *file, picture *p, mr_error *e)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_memory(&png, file->data, file->size)) {
        png.format = PNG_FORMAT_RGB;
        p->width = png.width;
        p->height = png.height;
        png_color white = {255, 255, 255}; /* behind transparent pixels */
        if (!allocate(p)) {
            png_image_free(&png);
            return too_large(p, e);
        }
        if (png_image_finish_read(&png, &white, p->rgb, 0, NULL)) return MR_OK;
    }
    mr_fail(e, MR_E_INPUT_FORMAT, "the PNG image cannot be read: %s", png.message);
    png_image_free(&png);
    return e->status;
}

typedef struct jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf out;
    char text[JMSG_LENGTH_MAX];
} jpeg_errors;

static void jpeg_failed(j_common_ptr j)
{
    jpeg_errors *errors = (jpeg_errors *)j->err;
    j->err->format_message(j, errors->text);
    longjmp(errors->out, 1);
}

/* A warning is data that is missing or wrong: the image isn't what was meant. */
static void jpeg_message(j_common_ptr j, int level)
{
    if (level < 0) jpeg_failed(j);
}

static mr_status read_jpeg(const mr_map *file, picture *p, mr_error *e)
{
    struct jpeg_decompress_struct j;
    jpeg_errors errors;
    j.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_failed;
    errors.base.emit_message = jpeg_message;
    if (setjmp(errors.out)) {
        jpeg_destroy_decompress(&j);
        return mr_fail(e, MR_E_INPUT_FORMAT, "the JPEG image cannot be read: %s", errors.text);
    }
    jpeg_create_decompress(&j);
    jpeg_mem_src(&j, file->data, file->size);
    jpeg_read_header(&j, TRUE);
    j.out_color_space = JCS_RGB;
    jpeg_start_decompress(&j);
    p->width = j.output_width;
    p->height = j.output_height;
    if (allocate(p)) {
        while (j.output_scanline < j.output_height) {
            JSAMPROW row = p->rgb + (size_t)j.output_scanline * (size_t)p->width * 3;
            jpeg_read_scanlines(&j, &row, 1);
        }
        jpeg_finish_decompress(&j);
    } else {
        too_large(p, e);
    }
    jpeg_destroy_decompress(&j);
    return e->status;
}

/* The two source pixels around the centre of target pixel i, and the weight of the second. */
static void around(int64_t i, int64_t to, int64_t from, int64_t *a, int64_t *b, double *weight)
{
    double x = ((double)i + 0.5) * (double)from / (double)to - 0.5;
    x = fmin(fmax(x, 0), (double)(from - 1));
    *a = (int64_t)x;
    *b = *a + 1 < from ? *a + 1 : *a;
    *weight = x - (double)*a;
}

static double sample(const picture *p, int64_t y, int64_t x, int c, int64_t height, int64_t width)
{
    int64_t x0, x1, y0, y1;
    double wx, wy;
    around(x, width, p->width, &x0, &x1, &wx);
    around(y, height, p->height, &y0, &y1, &wy);
    const uint8_t *rgb = p->rgb + c;
    double top = (1 - wx) * rgb[3 * (y0 * p->width + x0)] + wx * rgb[3 * (y0 * p->width + x1)];
    double bottom = (1 - wx) * rgb[3 * (y1 * p->width + x0)] + wx * rgb[3 * (y1 * p->width + x1)];
    return (1 - wy) * top + wy * bottom;
}

/* What the tensor is to be: where its axes are, and how many channels. */
typedef struct target {
    mr_image_layout layout;
    mr_image_color color;
    int64_t height, width, channels;
    mr_shape shape;
} target;

static const struct {
    int rank, c, h, w; /* axes; -1: none */
} layouts[] = {[MR_NCHW] = {4, 1, 2, 3},
               [MR_NHWC] = {4, 3, 1, 2},
               [MR_CHW] = {3, 0, 1, 2},
               [MR_HWC] = {3, 2, 0, 1},
               [MR_HW] = {2, -1, 0, 1}};

static mr_image_layout layout_of(const mr_shape *s)
{
    if (s->rank == 2) return MR_HW;
    if (s->rank == 3) return s->d[2] == 1 || s->d[2] == 3 ? MR_HWC : MR_CHW;
    bool last = s->rank == 4 && s->d[1] != 1 && s->d[1] != 3 && (s->d[3] == 1 || s->d[3] == 3);
    return last ? MR_NHWC : MR_NCHW;
}

static mr_status aim(target *t, const mr_image_options *o, const mr_shape *s, const picture *p, mr_error *e)
{
    t->layout = o->layout == MR_LAYOUT_UNKNOWN ? layout_of(s) : o->layout;
    int rank = layouts[t->layout].rank, c = layouts[t->layout].c, h = layouts[t->layout].h, w = layouts[t->layout].w;
    if (s->rank >= 0 && s->rank != rank)
        return o->layout == MR_LAYOUT_UNKNOWN
                   ? mr_fail(e, MR_E_INPUT_SHAPE, "an image has 2 to 4 axes as the model's input, not %d", s->rank)
                   : mr_fail(e, MR_E_INPUT_SHAPE, "--image-layout gives %d axes, the input has %d", rank, s->rank);
    bool known = s->rank == rank;
    if (c < 0 || (known && s->d[c] == 1))
        t->color = MR_GRAY;
    else
        t->color = o->color == MR_COLOR_UNKNOWN ? MR_RGB : o->color;
    if (o->color == MR_GRAY) t->color = MR_GRAY;
    t->channels = t->color == MR_GRAY ? 1 : 3;
    t->height = o->height ? o->height : known && s->d[h] > 0 ? s->d[h] : p->height;
    t->width = o->width ? o->width : known && s->d[w] > 0 ? s->d[w] : p->width;
    t->shape = (mr_shape){.rank = rank};
    if (rank == 4) t->shape.d[0] = 1;
    if (c >= 0) t->shape.d[c] = t->channels;
    t->shape.d[h] = t->height;
    t->shape.d[w] = t->width;
    return MR_OK;
}

/* Rec. 601, as JPEG has it; of a gray pixel, exactly its value. */
static double gray(const double rgb[3])
{
    if (rgb[0] == rgb[1] && rgb[1] == rgb[2]) return rgb[0];
    return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

static void store(mr_tensor *t, int64_t i, double x)
{
    if (!mr_dtype_in(t->dtype, MR_ALL_FLOATS)) {
        int64_t low;
        uint64_t high;
        mr_integer_limits(t->dtype, &low, &high);
        x = fmin(fmax(nearbyint(x), (double)low), (double)high);
    }
    mr_element_store(t, i, x);
}

static void paint(mr_tensor *out, const target *t, const picture *p, const mr_image_options *o)
{
    double scale = mr_dtype_in(out->dtype, MR_ALL_FLOATS) ? 1 / 255.0 : 1;
    bool planes = t->layout == MR_NCHW || t->layout == MR_CHW;
    for (int64_t y = 0; y < t->height; y++)
        for (int64_t x = 0; x < t->width; x++) {
            double pixel[3];
            for (int c = 0; c < 3; c++) pixel[c] = sample(p, y, x, c, t->height, t->width);
            if (t->color == MR_GRAY) pixel[0] = gray(pixel);
            for (int c = 0; c < t->channels; c++) {
                double value = pixel[t->color == MR_BGR ? 2 - c : c];
                if (o->n_mean) value -= o->mean[o->n_mean == 1 ? 0 : c];
                value *= o->n_scale ? o->scale[o->n_scale == 1 ? 0 : c] : scale;
                int64_t at = y * t->width + x;
                store(out, planes ? c * t->height * t->width + at : at * t->channels + c, value);
            }
        }
}

static mr_status convert(const picture *p, const mr_image_options *o, mr_dtype dtype, const mr_shape *shape,
                         mr_value **out, mr_error *e)
{
    target t;
    if (!mr_dtype_in(dtype, MR_REALS))
        return mr_fail(e, MR_E_INPUT_TYPE, "an image cannot be %s", mr_dtype_name(dtype));
    if (aim(&t, o, shape, p, e)) return e->status;
    if (o->n_mean > 1 && o->n_mean != t.channels)
        return mr_fail(e, MR_E_USAGE, "--image-mean has %d values for %lld channels", o->n_mean, (long long)t.channels);
    if (o->n_scale > 1 && o->n_scale != t.channels)
        return mr_fail(e, MR_E_USAGE, "--image-scale has %d values for %lld channels", o->n_scale,
                       (long long)t.channels);
    *out = mr_value_tensor(dtype, t.shape.rank, t.shape.d);
    if (!*out) return mr_fail(e, MR_E_MEMORY, "out of memory");
    paint(&(*out)->t, &t, p, o);
    return MR_OK;
}

mr_status mr_image_read(const char *path, const mr_image_options *o, mr_dtype dtype, const mr_shape *shape,
                        mr_value **out, mr_error *e)
{
    mr_map *file;
    mr_error why = {0};
    picture p = {0};
    *out = NULL;
    if (mr_file_open(path, &file, e)) return e->status;
    if (is_png(file->data, file->size))
        read_png(file, &p, &why);
    else if (is_jpeg(file->data, file->size))
        read_jpeg(file, &p, &why);
    else
        mr_fail(&why, MR_E_INPUT_FORMAT, "not an image: it looks like %s", mr_bytes_look(file->data, file->size));
    if (why.status == MR_OK) convert(&p, o, dtype, shape, out, &why);
    free(p.rgb);
    mr_map_close(file);
    return why.status == MR_OK ? MR_OK : mr_error_in_file(e, &why, path);
}
