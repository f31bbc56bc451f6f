/* move_avx2.c: transposing with shuffles. */
#include "kernels/cpu/move.h"

#include <immintrin.h>

static inline __m128i load(const void *p)
{
    return _mm_loadu_si128(p);
}

/* Squares of 16 × 16 bytes, 8 × 8 words: interleaving the upper with the lower half of the rows, once for each bit of
 * a row's number, exchanges the bits of row and column. */
static inline void micro_1(const uint8_t *x, int64_t xs, uint8_t *y, int64_t ys)
{
    __m128i a[16], b[16];
    for (int i = 0; i < 16; i++) a[i] = load(x + i * xs);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
        for (int i = 0; i < 16; i++) a[i] = b[i];
    }
    for (int i = 0; i < 16; i++) _mm_storeu_si128((__m128i *)(y + i * ys), a[i]);
}

static inline void micro_2(const uint16_t *x, int64_t xs, uint16_t *y, int64_t ys)
{
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++) a[i] = load(x + i * xs);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
            b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
        }
        for (int i = 0; i < 8; i++) a[i] = b[i];
    }
    for (int i = 0; i < 8; i++) _mm_storeu_si128((__m128i *)(y + i * ys), a[i]);
}

/* 8 × 8: the halves of columns 0 … 3 and 4 … 7 go into the two lanes, each of which is a square of 4 × 4. */
static inline void micro_4(const uint32_t *x, int64_t xs, uint32_t *y, int64_t ys)
{
    for (int half = 0; half < 8; half += 4) {
        __m256 a[4];
        for (int i = 0; i < 4; i++)
            a[i] = _mm256_castsi256_ps(_mm256_set_m128i(load(x + (i + 4) * xs + half), load(x + i * xs + half)));
        __m256 b0 = _mm256_unpacklo_ps(a[0], a[1]), b1 = _mm256_unpackhi_ps(a[0], a[1]);
        __m256 b2 = _mm256_unpacklo_ps(a[2], a[3]), b3 = _mm256_unpackhi_ps(a[2], a[3]);
        float *to = (float *)y + half * ys;
        _mm256_storeu_ps(to, _mm256_shuffle_ps(b0, b2, 0x44));
        _mm256_storeu_ps(to + ys, _mm256_shuffle_ps(b0, b2, 0xee));
        _mm256_storeu_ps(to + 2 * ys, _mm256_shuffle_ps(b1, b3, 0x44));
        _mm256_storeu_ps(to + 3 * ys, _mm256_shuffle_ps(b1, b3, 0xee));
    }
}

static inline void micro_8(const uint64_t *x, int64_t xs, uint64_t *y, int64_t ys)
{
    __m256i a[4], b[4];
    for (int i = 0; i < 4; i++) a[i] = _mm256_loadu_si256((const __m256i *)(x + i * xs));
    for (int i = 0; i < 4; i += 2) {
        b[i] = _mm256_unpacklo_epi64(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        _mm256_storeu_si256((__m256i *)(y + i * ys), _mm256_permute2x128_si256(b[i], b[i + 2], 0x20));
        _mm256_storeu_si256((__m256i *)(y + (i + 2) * ys), _mm256_permute2x128_si256(b[i], b[i + 2], 0x31));
    }
}

static inline void micro_16(const mr_u128 *x, int64_t xs, mr_u128 *y, int64_t ys)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) _mm_storeu_si128((__m128i *)(y + r * ys + c), load(x + c * xs + r));
}

#define EDGE(size) ((size) == 1 ? 16 : (size) <= 4 ? 8 : 4)
#include "kernels/cpu/copy.h"

void mr_move_fill_avx2(mr_move_fns *f)
{
    f->copy[0] = copy_1;
    f->copy[1] = copy_2;
    f->copy[2] = copy_4;
    f->copy[3] = copy_8;
    f->copy[4] = copy_16;
}
