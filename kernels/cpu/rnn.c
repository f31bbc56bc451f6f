/* rnn.c: the scalar recurrent cells, which are also the reference: in double. */
#include "kernels/cpu/rnn.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/rnn_plan.h"

#define C double
enum { PANEL = 8 };

/* Some rows of a panel, their sums in registers. */
static inline __attribute__((always_inline)) void sums_of(const int rows, int64_t depth, const double *a, int64_t lda,
                                                          const double *b, int64_t ldb, double *acc, int64_t ldacc)
{
    double s[2][PANEL];
    for (int i = 0; i < rows; i++) memcpy(s[i], acc + i * ldacc, sizeof s[i]);
    for (int64_t k = 0; k < depth; k++, b += ldb)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < PANEL; j++) s[i][j] += a[i * lda + k] * b[j];
    for (int i = 0; i < rows; i++) memcpy(acc + i * ldacc, s[i], sizeof s[i]);
}

static void sums(int64_t rows, int64_t depth, const double *a, int64_t lda, const double *b, int64_t ldb, int n,
                 double *acc, int64_t ldacc)
{
    for (int p = 0; p < n; p++, b += PANEL, acc += PANEL) {
        int64_t i = 0;
        for (; i + 1 < rows; i += 2) sums_of(2, depth, a + i * lda, lda, b, ldb, acc + i * ldacc, ldacc);
        if (i < rows) sums_of(1, depth, a + i * lda, lda, b, ldb, acc + i * ldacc, ldacc);
    }
}

static double activation(const mr_rnn_activation *act, double x)
{
    const double alpha = act->alpha, beta = act->beta;
    switch (act->f) {
    case MR_RNN_RELU:
        return x > 0 || x != x ? x : 0;
    case MR_RNN_TANH:
        return mr_tanh(x);
    case MR_RNN_SIGMOID:
        return mr_sigmoid(x);
    case MR_RNN_AFFINE:
        return alpha * x + beta;
    case MR_RNN_LEAKY_RELU:
        return x < 0 ? alpha * x : x;
    case MR_RNN_THRESHOLDED_RELU:
        return x < alpha ? 0 : x;
    case MR_RNN_SCALED_TANH:
        return alpha * mr_tanh(beta * x);
    case MR_RNN_HARD_SIGMOID:
        x = alpha * x + beta;
        return x < 0 ? 0 : x > 1 ? 1 : x;
    case MR_RNN_ELU:
        return x < 0 ? alpha * mr_expm1(x) : x;
    case MR_RNN_SOFTSIGN:
        return x / (1 + mr_abs(x));
    default:
        return mr_softplus(x);
    }
}

static void activate(const mr_rnn_activation *act, double clip, double *x, int n)
{
    for (int j = 0; j < n; j++) x[j] = activation(act, mr_clamp(x[j], clip));
}

#define GET(x)   LD(x)
#define WIDEN    NAME(widen)
#define NARROWED NAME(narrow)
#define ROUNDED  NAME(round)
#define MR_BODY  "kernels/cpu/rnn_float.inc"
#include "kernels/cpu/each_float.h"

void mr_rnn_fill_scalar(mr_rnn_fns *f)
{
#define FILL(d, t) f->rnn[d] = rnn_##t, f->scratch[d] = scratch_##t, f->lstm_cell[d] = lstm_cell_##t;
    FILL(MR_F16, f16)
    FILL(MR_BF16, bf16)
    FILL(MR_F32, f32)
    FILL(MR_F64, f64)
}
