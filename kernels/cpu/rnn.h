/* rnn.h: recurrent cells over sequences: RNN, GRU and LSTM, by the equations of ONNX.
 *
 *   RNN    H' = f(X·Wᵀ + H·Rᵀ + Wb + Rb)
 *   GRU    z, r = f(X·Wᵀ + H·Rᵀ + Wb + Rb)
 *          h = g(X·Whᵀ + (r ⊙ H)·Rhᵀ + Wbh + Rbh), or g(X·Whᵀ + r ⊙ (H·Rhᵀ + Rbh) + Wbh) when linear before reset
 *          H' = (1 - z) ⊙ h + z ⊙ H
 *   LSTM   i, f = f(X·Wᵀ + H·Rᵀ + Wb + Rb + P ⊙ C), c = g(X·Wᵀ + H·Rᵀ + Wb + Rb)
 *          C' = f ⊙ C + i ⊙ c, o = f(X·Wᵀ + H·Rᵀ + Wb + Rb + P ⊙ C'), H' = o ⊙ h(C')
 *
 * H and C are tensors: each step rounds them once to their type. All within a step is taken in double at the scalar
 * level; a sum runs over the inputs, then over the hidden units, then takes in Wb, Rb and the peephole.
 *
 * A sequence that is shorter than the longest keeps its state from its end on, and its Y is 0 there; the reverse
 * direction begins at that end. */
#ifndef MR_KERNELS_CPU_RNN_H
#define MR_KERNELS_CPU_RNN_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef enum mr_rnn_kind { MR_RNN, MR_GRU, MR_LSTM, MR_N_RNN } mr_rnn_kind;

typedef enum mr_rnn_function {
    MR_RNN_RELU,
    MR_RNN_TANH,
    MR_RNN_SIGMOID,
    MR_RNN_AFFINE,
    MR_RNN_LEAKY_RELU,
    MR_RNN_THRESHOLDED_RELU,
    MR_RNN_SCALED_TANH,
    MR_RNN_HARD_SIGMOID,
    MR_RNN_ELU,
    MR_RNN_SOFTSIGN,
    MR_RNN_SOFTPLUS,
    MR_N_RNN_FUNCTIONS
} mr_rnn_function;

typedef struct mr_rnn_activation {
    mr_rnn_function f;
    float alpha, beta;
} mr_rnn_activation;

enum { MR_RNN_GATES = 4 }; /* at most */

/* w [directions, gates · hidden, input], r [directions, gates · hidden, hidden], b [directions, 2 · gates · hidden],
 * p [directions, 3 · hidden], with the gates in the order z r h or i o f c, p's i o f. Strides count elements. */
typedef struct mr_rnn_args {
    mr_rnn_kind kind;
    const void *x, *w, *r;
    const void *b, *p, *h0, *c0; /* NULL: zeros */
    void *y, *yh, *yc;           /* NULL: not wanted */
    const int32_t *lengths;      /* of the batch's sequences; NULL: all of them `length` */
    int64_t length, batch, input, hidden;
    int64_t x_time, x_batch, y_time, y_direction, y_batch, h_direction, h_batch;
    int directions;
    bool reverse;                /* the only direction is the reverse one */
    mr_rnn_activation act[2][3]; /* f, g, h of each direction */
    float clip;                  /* bounds what goes into an activation; INFINITY: no bound */
    bool input_forget;           /* f = 1 - i */
    bool linear_before_reset;
    const void *packed_w, *packed_r; /* as pack of the same level made them, or NULL */
    mr_pool *pool;
    void *scratch; /* as many bytes as the scratch slot says */
} mr_rnn_args;

/* A step of an LSTM whose products are sums of integers: gates = x_sums · x_scale · w_scale + h_sums · h_scale ·
 * r_scale, all [rows, 4 · hidden], the scales of W and R [4 · hidden]. Of lstm it reads hidden, b, p, act, clip and
 * input_forget. */
typedef struct mr_lstm_cell_args {
    const mr_rnn_args *lstm;
    int direction;
    const int32_t *const *x_sums; /* each row's; NULL: the row is over and keeps its state */
    const int32_t *h_sums;
    double x_scale, h_scale;
    const double *w_scale, *r_scale;
    void *h, *c; /* [rows, hidden], in place */
    int64_t rows;
} mr_lstm_cell_args;

typedef void mr_rnn_fn(const mr_rnn_args *a);
typedef void mr_lstm_cell_fn(const mr_lstm_cell_args *k);
typedef size_t mr_rnn_size_fn(const mr_rnn_args *a);
/* depth: of w, input; of r, hidden. Reads kind, directions and hidden. */
typedef size_t mr_rnn_pack_size_fn(const mr_rnn_args *a, int64_t depth);
typedef void mr_rnn_pack_fn(const mr_rnn_args *a, const void *weights, int64_t depth, void *dst);

typedef struct mr_rnn_fns {
    mr_rnn_fn *rnn[MR_N_DTYPES];
    mr_rnn_size_fn *scratch[MR_N_DTYPES];
    mr_rnn_pack_size_fn *pack_size[MR_N_DTYPES]; /* NULL: this level packs while it runs */
    mr_rnn_pack_fn *pack[MR_N_DTYPES];
    mr_lstm_cell_fn *lstm_cell[MR_N_DTYPES];
} mr_rnn_fns;

static inline int mr_rnn_gates(mr_rnn_kind k)
{
    return k == MR_LSTM ? 4 : k == MR_GRU ? 3 : 1;
}

void mr_rnn_fill_scalar(mr_rnn_fns *f);
void mr_rnn_fill_avx2(mr_rnn_fns *f);
void mr_rnn_fill_avx512(mr_rnn_fns *f);

#endif
