/* pnm.c: portable bitmaps, graymaps and pixmaps (P1 to P6). */
#include "kernels/image/image.h"

typedef struct pnm {
    const uint8_t *bytes;
    size_t n, at;
} pnm;

static bool space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next number in the text, behind spaces and comments; -1: there is none. */
static int64_t number(pnm *p)
{
    while (p->at < p->n && (space(p->bytes[p->at]) || p->bytes[p->at] == '#'))
        if (p->bytes[p->at++] == '#')
            while (p->at < p->n && p->bytes[p->at] != '\n') p->at++;
    int64_t v = -1;
    for (; p->at < p->n && p->bytes[p->at] >= '0' && p->bytes[p->at] <= '9'; p->at++) {
        v = (v < 0 ? 0 : v) * 10 + p->bytes[p->at] - '0';
        if (v > INT32_MAX) return -1;
    }
    return v;
}

/* A bit of a text bitmap: they may stand without spaces between them. */
static int64_t digit(pnm *p)
{
    while (p->at < p->n && space(p->bytes[p->at])) p->at++;
    return p->at < p->n ? p->bytes[p->at++] - '0' : -1;
}

/* Sample i of the picture; -1: the data ends. */
static int64_t sample(pnm *p, int kind, int64_t most, int64_t col)
{
    if (kind == 1) return digit(p);
    if (kind <= 3) return number(p);
    if (p->at >= p->n) return -1;
    if (kind == 4) { /* eight pixels a byte, lines begin with a byte of their own */
        int64_t v = p->bytes[p->at] >> (7 - col % 8) & 1;
        p->at += col % 8 == 7;
        return v;
    }
    if (most < 256) return p->bytes[p->at++];
    if (p->at + 1 >= p->n) return -1;
    p->at += 2;
    return p->bytes[p->at - 2] << 8 | p->bytes[p->at - 1];
}

mr_image_status mr_image_pnm(const uint8_t *bytes, size_t n, mr_image *out)
{
    pnm p = {bytes, n, 2};
    const int kind = n > 1 ? bytes[1] - '0' : 0, channels = kind == 3 || kind == 6 ? 3 : 1;
    if (kind < 1 || kind > 6) return MR_IMAGE_BAD;
    int64_t width = number(&p), height = number(&p), most = kind % 3 == 1 ? 1 : number(&p);
    if (most < 1 || most > 65535) return MR_IMAGE_BAD;
    mr_image_status st = mr_image_new(out, width, height);
    if (st) return st;
    if (kind > 3) p.at++; /* the one space before the data */
    for (int64_t row = 0; row < height; row++) {
        for (int64_t col = 0; col < width; col++) {
            uint8_t *to = out->rgb + (row * width + col) * 3;
            for (int k = 0; k < channels; k++) {
                int64_t v = sample(&p, kind, most, col);
                if (v < 0 || v > most) return MR_IMAGE_BAD;
                to[k] = (uint8_t)((v * 255 + most / 2) / most);
                if (kind == 1 || kind == 4) to[k] = v ? 0 : 255; /* 1 is black */
            }
            if (channels == 1) to[1] = to[2] = to[0];
        }
        if (kind == 4 && width % 8) p.at++;
    }
    return MR_IMAGE_OK;
}
