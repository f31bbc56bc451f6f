/* tiff.c: TIFF through libtiff, whose RGBA reader knows all that the format can be. */
#include "kernels/image/image.h"

#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct source {
    const uint8_t *bytes;
    uint64_t n, at;
} source;

static tmsize_t take(thandle_t h, void *to, tmsize_t n)
{
    source *s = h;
    uint64_t left = s->at < s->n ? s->n - s->at : 0, some = (uint64_t)n < left ? (uint64_t)n : left;
    memcpy(to, s->bytes + s->at, some);
    s->at += some;
    return (tmsize_t)some;
}

static tmsize_t refuse(thandle_t h, void *from, tmsize_t n)
{
    (void)h, (void)from, (void)n;
    return 0;
}

static toff_t seek(thandle_t h, toff_t to, int whence)
{
    source *s = h;
    s->at = whence == SEEK_SET ? to : whence == SEEK_CUR ? s->at + to : s->n + to;
    if (s->at > s->n) s->at = s->n;
    return s->at;
}

static int done(thandle_t h)
{
    (void)h;
    return 0;
}

static toff_t size_of(thandle_t h)
{
    return ((source *)h)->n;
}

static int say_nothing(TIFF *t, void *user, const char *module, const char *text, va_list ap)
{
    (void)t, (void)user, (void)module, (void)text, (void)ap;
    return 1;
}

static mr_image_status read_all(TIFF *t, mr_image *out)
{
    uint32_t width = 0, height = 0;
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &height);
    mr_image_status st = mr_image_new(out, width, height);
    if (st) return st;
    uint32_t *rgba = malloc((size_t)width * height * sizeof *rgba);
    if (!rgba) return MR_IMAGE_TOO_LARGE;
    bool ok = TIFFReadRGBAImageOriented(t, width, height, rgba, ORIENTATION_TOPLEFT, 1);
    for (size_t i = 0; i < (size_t)width * height && ok; i++) {
        out->rgb[3 * i] = (uint8_t)TIFFGetR(rgba[i]);
        out->rgb[3 * i + 1] = (uint8_t)TIFFGetG(rgba[i]);
        out->rgb[3 * i + 2] = (uint8_t)TIFFGetB(rgba[i]);
    }
    free(rgba);
    return ok ? MR_IMAGE_OK : MR_IMAGE_BAD;
}

mr_image_status mr_image_tiff(const uint8_t *bytes, size_t n, mr_image *out)
{
    source s = {bytes, n, 0};
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return MR_IMAGE_TOO_LARGE;
    TIFFOpenOptionsSetErrorHandlerExtR(options, say_nothing, NULL);
    TIFFOpenOptionsSetWarningHandlerExtR(options, say_nothing, NULL);
    TIFF *t = TIFFClientOpenExt("memory", "rm", &s, take, refuse, seek, done, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    if (!t) return MR_IMAGE_BAD;
    mr_image_status st = read_all(t, out);
    TIFFClose(t);
    return st;
}
