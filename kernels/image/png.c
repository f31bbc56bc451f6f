/* png.c: PNG through libpng. Alpha is dropped, sixteen bits become the upper eight. */
#include "kernels/image/image.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const uint8_t *bytes;
    size_t n, at;
} source;

static void take(png_structp png, png_bytep to, png_size_t n)
{
    source *s = png_get_io_ptr(png);
    if (n > s->n - s->at) png_error(png, "truncated");
    memcpy(to, s->bytes + s->at, n);
    s->at += n;
}

static void fail(png_structp png, png_const_charp text)
{
    (void)text;
    longjmp(png_jmpbuf(png), 1);
}

static void ignore(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

static mr_image_status read_all(png_structp png, png_infop info, mr_image *out)
{
    png_read_info(png, info);
    png_set_strip_16(png);
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    png_set_strip_alpha(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    mr_image_status st = mr_image_new(out, png_get_image_width(png, info), png_get_image_height(png, info));
    if (st) return st;
    if (png_get_rowbytes(png, info) != (size_t)out->width * 3) return MR_IMAGE_BAD;
    while (passes-- > 0)
        for (int64_t row = 0; row < out->height; row++) png_read_row(png, out->rgb + row * out->width * 3, NULL);
    return MR_IMAGE_OK;
}

mr_image_status mr_image_png(const uint8_t *bytes, size_t n, mr_image *out)
{
    source s = {bytes, n, 0};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    volatile mr_image_status st = MR_IMAGE_BAD;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return MR_IMAGE_TOO_LARGE;
    }
    if (!setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, &s, take);
        st = read_all(png, info, out);
    }
    png_destroy_read_struct(&png, &info, NULL);
    return st;
}
