/* image.c: which format is it? */
#include "kernels/image/image.h"

#include <stdlib.h>
#include <string.h>

mr_image_status mr_image_new(mr_image *m, int64_t width, int64_t height)
{
    *m = (mr_image){.width = width, .height = height};
    if (width < 1 || height < 1) return MR_IMAGE_BAD;
    if (width > MR_IMAGE_LIMIT / height) return MR_IMAGE_TOO_LARGE;
    m->rgb = calloc((size_t)(width * height), 3);
    return m->rgb ? MR_IMAGE_OK : MR_IMAGE_TOO_LARGE;
}

/* What a format begins with, after `skip` bytes. */
typedef struct format {
    size_t skip, n;
    const char *begin;
    mr_image_fn *decode;
} format;

static const format formats[] = {
    {0, 3, "\xff\xd8\xff", mr_image_jpeg},
    {0, 8, "\x89PNG\r\n\x1a\n", mr_image_png},
    {0, 2, "BM", mr_image_bmp},
    {8, 4, "WEBP", mr_image_webp},
    {0, 4, "II*\0", mr_image_tiff},
    {0, 4, "MM\0*", mr_image_tiff},
    {0, 4, "II+\0", mr_image_tiff},
    {0, 4, "MM\0+", mr_image_tiff},
    {0, 12, "\0\0\0\x0cjP  \r\n\x87\n", mr_image_jpeg2000},
    {0, 4, "\xff\x4f\xff\x51", mr_image_jpeg2000},
    {0, 1, "P", mr_image_pnm},
};

static mr_image_status decode(const uint8_t *bytes, size_t n, mr_image *out)
{
    *out = (mr_image){0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const format *f = &formats[i];
        if (n < f->skip + f->n || memcmp(bytes + f->skip, f->begin, f->n)) continue;
        mr_image_status st = f->decode(bytes, n, out);
        if (st != MR_IMAGE_OK) {
            free(out->rgb);
            *out = (mr_image){0};
        }
        return st;
    }
    return MR_IMAGE_BAD;
}

__attribute__((visibility("default"))) const mr_image_plugin mr_image_plugin_v1 = {MR_IMAGE_ABI, decode};
