/* image.c: ImageDecoder. The formats are known to libminirt_image.so alone. */
#include "kernels/image/image.h"
#include "ops/rules.h"
#include "runtime/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum pixel_format { RGB, BGR, GRAYSCALE } pixel_format;

typedef struct image_params {
    pixel_format format;
} image_params;

static void read(mr_reader *r, void *params)
{
    static const char *const formats[] = {"RGB", "BGR", "Grayscale", NULL};
    ((image_params *)params)->format = (pixel_format)mr_read_enum(r, "pixel_format", formats, RGB);
}

static int channels(const mr_call *c)
{
    return ((const image_params *)c->params)->format == GRAYSCALE ? 1 : 3;
}

/* The library, for dlclose; NULL: why says why not. */
static void *open_decoders(const mr_image_plugin **p, char *why, size_t size)
{
    void *library = mr_plugin_load(MR_IMAGE_FILE, why, size);
    *p = library ? dlsym(library, "mr_image_plugin_v1") : NULL;
    if (*p && (*p)->abi == MR_IMAGE_ABI) return library;
    if (library) {
        snprintf(why, size, "%s was built for another version of minirt; build both together", MR_IMAGE_FILE);
        dlclose(library);
    }
    return NULL;
}

static mr_status infer(mr_call *c)
{
    const mr_image_plugin *p;
    char why[512];
    mr_status st = mr_want_rank(c, 0, 1, 1);
    if (st) return st;
    void *library = open_decoders(&p, why, sizeof why);
    if (!library) return mr_call_fail(c, MR_E_NO_KERNEL, "no image decoders: %s", why);
    dlclose(library);
    mr_shape s = {.rank = 3, .d = {MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, channels(c)}};
    return mr_out_tensor(c, 0, MR_U8, &s);
}

/* ITU-R 601, with sixteen bits behind the point. */
static uint8_t luma(const uint8_t *rgb)
{
    return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

static void convert(const mr_image *m, pixel_format format, uint8_t *y)
{
    for (int64_t i = 0; i < m->width * m->height; i++) {
        const uint8_t *rgb = m->rgb + 3 * i;
        if (format == GRAYSCALE)
            y[i] = luma(rgb);
        else
            for (int k = 0; k < 3; k++) y[3 * i + k] = rgb[format == RGB ? k : 2 - k];
    }
}

/* What cannot be decoded gives an empty image: the text wants that. */
static mr_status run(mr_call *c)
{
    const mr_image_plugin *p;
    char why[512];
    mr_image m;
    void *library = open_decoders(&p, why, sizeof why);
    if (!library) return mr_call_fail(c, MR_E_NO_KERNEL, "no image decoders: %s", why);
    mr_image_status st = p->decode(c->in[0].t->data, (size_t)mr_tensor_count(c->in[0].t), &m);
    dlclose(library);
    if (st == MR_IMAGE_TOO_LARGE) return mr_call_fail(c, MR_E_SIZE, "the image is too large to be decoded");
    const int64_t dims[] = {m.height, m.width, channels(c)};
    mr_value *v = mr_value_tensor(MR_U8, 3, dims);
    if (v) convert(&m, ((const image_params *)c->params)->format, v->t.data);
    free(m.rgb);
    return mr_call_set_value(c, 0, v);
}

static mr_fn have(const mr_call *c)
{
    return mr_in_dtype(c, 0) == MR_U8 ? (mr_fn)run : NULL;
}

static const mr_impl impls[] = {{.name = "image_decoder_cpu", .have = have, .run = run}, {0}};

const mr_op mr_ops_image[] = {
    {"", "ImageDecoder", 20, 0, sizeof(image_params), read, infer, impls, MR_OP_OWN_OUTPUT, NULL, NULL},
    {0},
};
