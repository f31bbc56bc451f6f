/* bmp.c: Windows bitmaps: 1 to 32 bits, with a palette or bit fields, plain or run-length encoded. */
#include "kernels/image/image.h"

#include <stdlib.h>

typedef struct bmp {
    const uint8_t *bytes;
    size_t n;
    int64_t width, height;
    bool top_down;
    int bits, compression;
    uint32_t mask[3];
    size_t palette, colors, entry; /* where, how many, bytes of each */
    size_t pixels;
} bmp;

enum { RGB, RLE8, RLE4, BITFIELDS, ALPHA_BITFIELDS = 6 };

static uint32_t le(const bmp *b, size_t at, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) v = v << 8 | (at + (size_t)i < b->n ? b->bytes[at + (size_t)i] : 0);
    return v;
}

static bool header(bmp *b)
{
    const uint32_t size = le(b, 14, 4);
    if (b->n < 26 || size < 12 || size > b->n) return false;
    b->pixels = le(b, 10, 4);
    b->palette = 14 + size;
    if (size == 12) {
        b->width = le(b, 18, 2), b->height = le(b, 20, 2), b->bits = (int)le(b, 24, 2);
        b->entry = 3;
    } else {
        b->width = (int32_t)le(b, 18, 4), b->height = (int32_t)le(b, 22, 4), b->bits = (int)le(b, 28, 2);
        b->compression = (int)le(b, 30, 4);
        b->entry = 4, b->colors = le(b, 46, 4);
    }
    b->top_down = b->height < 0;
    if (b->top_down) b->height = -b->height;
    if (!b->colors && b->bits <= 8) b->colors = (size_t)1 << b->bits;
    if (b->bits == 16)
        b->mask[0] = 0x7c00, b->mask[1] = 0x3e0, b->mask[2] = 0x1f;
    else
        b->mask[0] = 0xff0000, b->mask[1] = 0xff00, b->mask[2] = 0xff;
    bool fields = b->compression == BITFIELDS || b->compression == ALPHA_BITFIELDS;
    for (size_t i = 0; i < 3 && fields; i++) b->mask[i] = le(b, 54 + 4 * i, 4);
    if (fields && size == 40) b->palette += b->compression == BITFIELDS ? 12 : 16;
    return b->pixels < b->n;
}

/* The bits under a mask, brought to eight. */
static uint8_t field(uint32_t v, uint32_t mask)
{
    if (!mask) return 0;
    int shift = __builtin_ctz(mask);
    uint64_t most = mask >> shift;
    return (uint8_t)(((uint64_t)((v & mask) >> shift) * 255 + most / 2) / most);
}

static void put(const bmp *b, mr_image *m, int64_t row, int64_t col, uint32_t v)
{
    if (row >= b->height || col >= b->width) return;
    uint8_t *to = m->rgb + ((b->top_down ? row : b->height - 1 - row) * b->width + col) * 3;
    if (b->bits <= 8) {
        size_t at = b->palette + (v < b->colors ? v : 0) * b->entry;
        for (size_t i = 0; i < 3; i++) to[i] = (uint8_t)le(b, at + 2 - i, 1);
    } else {
        for (int i = 0; i < 3; i++) to[i] = field(v, b->mask[i]);
    }
}

static bool plain(const bmp *b, mr_image *m)
{
    const size_t stride = ((size_t)b->width * (size_t)b->bits + 31) / 32 * 4;
    if ((b->n - b->pixels) / stride < (size_t)b->height) return false;
    for (int64_t row = 0; row < b->height; row++) {
        const size_t line = b->pixels + (size_t)row * stride;
        for (int64_t col = 0; col < b->width; col++) {
            size_t bit = (size_t)col * (size_t)b->bits;
            uint32_t v = le(b, line + bit / 8, (b->bits + 7) / 8);
            if (b->bits < 8) v = v >> (8 - b->bits - (int)(bit % 8)) & ((1u << b->bits) - 1);
            put(b, m, row, col, v);
        }
    }
    return true;
}

/* Pairs of count and value; count 0 escapes: 0 ends the line, 1 the picture, 2 jumps, else so many values follow. */
static bool runs(const bmp *b, mr_image *m)
{
    int64_t row = 0, col = 0;
    const bool half = b->compression == RLE4;
    for (size_t at = b->pixels; at + 1 < b->n && row < b->height; at += 2) {
        uint32_t count = b->bytes[at], v = b->bytes[at + 1];
        if (count) {
            for (uint32_t i = 0; i < count; i++) put(b, m, row, col++, half ? (i % 2 ? v & 15 : v >> 4) : v);
        } else if (v < 2) {
            if (v == 1) return true;
            row++, col = 0;
        } else if (v == 2) {
            col += le(b, at + 2, 1), row += le(b, at + 3, 1);
            at += 2;
        } else {
            for (uint32_t i = 0; i < v; i++) {
                uint32_t byte = le(b, at + 2 + (half ? i / 2 : i), 1);
                put(b, m, row, col++, half ? (i % 2 ? byte & 15 : byte >> 4) : byte);
            }
            at += ((half ? (v + 1) / 2 : v) + 1) / 2 * 2;
        }
    }
    return true;
}

mr_image_status mr_image_bmp(const uint8_t *bytes, size_t n, mr_image *out)
{
    bmp b = {.bytes = bytes, .n = n};
    if (!header(&b)) return MR_IMAGE_BAD;
    bool known = b.bits == 1 || b.bits == 4 || b.bits == 8 || b.bits == 16 || b.bits == 24 || b.bits == 32;
    bool run = (b.compression == RLE8 && b.bits == 8) || (b.compression == RLE4 && b.bits == 4);
    bool whole = b.compression == RGB || b.compression == BITFIELDS || b.compression == ALPHA_BITFIELDS;
    if (!known || (!run && !whole)) return MR_IMAGE_BAD;
    mr_image_status st = mr_image_new(out, b.width, b.height);
    if (st) return st;
    return (run ? runs(&b, out) : plain(&b, out)) ? MR_IMAGE_OK : MR_IMAGE_BAD;
}
