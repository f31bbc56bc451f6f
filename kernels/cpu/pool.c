/* pool.c: scalar pooling, which is also the reference. */
#include "kernels/cpu/pool.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

/* A part is a piece of a row of outputs; all parts are independent. */
enum { CHUNK = 64 };

typedef struct pool_part {
    int64_t x, y, n, o[MR_POOL_RANK]; /* its plane in x, its place in y, its first output */
} pool_part;

static int64_t chunks(const mr_pool_args *a)
{
    return (a->axis[a->rank - 1].out + CHUNK - 1) / CHUNK;
}

static int64_t parts(const mr_pool_args *a)
{
    int64_t n = a->planes * chunks(a);
    for (int d = 0; d < a->rank - 1; d++) n *= a->axis[d].out;
    return n;
}

/* Parts that one thread takes at a time: enough to be worth it. */
static int64_t grain(const mr_pool_args *a)
{
    int64_t work = a->axis[a->rank - 1].out < CHUNK ? a->axis[a->rank - 1].out : CHUNK;
    for (int d = 0; d < a->rank; d++) work *= a->axis[d].taps;
    return 1 + 16384 / (1 + work);
}

static pool_part part_at(const mr_pool_args *a, int64_t i)
{
    const int last = a->rank - 1;
    pool_part p = {0};
    p.o[last] = i % chunks(a) * CHUNK;
    p.n = a->axis[last].out - p.o[last] < CHUNK ? a->axis[last].out - p.o[last] : CHUNK;
    p.y = p.o[last];
    i /= chunks(a);
    int64_t y_step = a->axis[last].out, plane = a->axis[last].in;
    for (int d = last - 1; d >= 0; i /= a->axis[d].out, d--) {
        p.o[d] = i % a->axis[d].out;
        p.y += p.o[d] * y_step;
        y_step *= a->axis[d].out;
        plane *= a->axis[d].in;
    }
    p.x = i * plane;
    p.y += i * y_step;
    return p;
}

/* Where the row of x that outputs o see under taps t begins in the plane; false: outside. */
static bool row_at(const mr_pool_args *a, const int64_t *o, const int64_t *t, int64_t *row)
{
    *row = 0;
    for (int d = 0; d < a->rank - 1; d++) {
        int64_t at = o[d] * a->axis[d].stride + t[d] * a->axis[d].dilation - a->axis[d].pad;
        if (at < 0 || at >= a->axis[d].in) return false;
        *row = *row * a->axis[d].in + at;
    }
    *row *= a->axis[a->rank - 1].in;
    return true;
}

/* The next taps of all axes but the last. */
static bool next_taps(const mr_pool_args *a, int64_t *t)
{
    for (int d = a->rank - 2; d >= 0; d--) {
        if (++t[d] < a->axis[d].taps) return true;
        t[d] = 0;
    }
    return false;
}

int64_t mr_pool_window(const mr_pool_args *a, int d, int64_t o)
{
    const mr_pool_axis *x = &a->axis[d];
    int64_t at = o * x->stride - x->pad, low = a->count_pads ? -x->pad : 0;
    int64_t high = a->count_pads ? x->in + x->pad_end : x->in;
    int64_t from = at < low ? (low - at + x->dilation - 1) / x->dilation : 0;
    int64_t to = at < high ? (high - 1 - at) / x->dilation + 1 : 0;
    to = to < x->taps ? to : x->taps;
    return to > from ? to - from : 0;
}

/* The index that ONNX gives to an offset in the plane that begins at x. */
static int64_t index_of(const mr_pool_args *a, int64_t x, int64_t offset)
{
    if (offset < 0 || !a->column_major) return offset < 0 ? -1 : x + offset;
    int64_t step = 1, column_major = 0;
    for (int d = 0; d < a->rank; d++) step *= a->axis[d].in;
    for (int d = a->rank - 1; d >= 0; offset /= a->axis[d].in, d--) {
        step /= a->axis[d].in;
        column_major += offset % a->axis[d].in * step;
    }
    return x + column_major;
}

static double power(double x, double p)
{
    if (p == 2) return x * x;
    return p == 1 ? fabs(x) : mr_pow(fabs(x), p);
}

static double root(double x, double p)
{
    if (p == 2) return sqrt(x);
    return p == 1 ? x : mr_pow(x, 1 / p);
}

#define MR_BODY "kernels/cpu/pool_float.inc"
#include "kernels/cpu/each_float.h"
#define MR_BODY "kernels/cpu/pool_max.inc"
#include "kernels/cpu/each_float.h"
#define MR_BODY "kernels/cpu/pool_max.inc"
#include "kernels/cpu/each_int.h"
#define MR_BODY "kernels/cpu/unpool.inc"
#include "kernels/cpu/each_size.h"

void mr_pool_fill_scalar(mr_pool_fns *f)
{
    f->average[MR_F16] = mr_average_f16;
    f->average[MR_BF16] = mr_average_bf16;
    f->average[MR_F32] = mr_average_f32;
    f->average[MR_F64] = mr_average_f64;
    f->lp[MR_F16] = lp_f16;
    f->lp[MR_BF16] = lp_bf16;
    f->lp[MR_F32] = lp_f32;
    f->lp[MR_F64] = lp_f64;
    f->max[MR_F16] = mr_max_f16;
    f->max[MR_BF16] = mr_max_bf16;
    f->max[MR_F32] = mr_max_f32;
    f->max[MR_F64] = mr_max_f64;
    f->max[MR_I8] = mr_max_i8;
    f->max[MR_I16] = mr_max_i16;
    f->max[MR_I32] = mr_max_i32;
    f->max[MR_I64] = mr_max_i64;
    f->max[MR_U8] = mr_max_u8;
    f->max[MR_U16] = mr_max_u16;
    f->max[MR_U32] = mr_max_u32;
    f->max[MR_U64] = mr_max_u64;
    f->unpool[0] = unpool_1;
    f->unpool[1] = unpool_2;
    f->unpool[2] = unpool_4;
    f->unpool[3] = unpool_8;
    f->unpool[4] = unpool_16;
}
