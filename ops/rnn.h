/* rnn.h: what the recurrent operators of all domains share. */
#ifndef MR_OPS_RNN_H
#define MR_OPS_RNN_H

#include "kernels/cpu/rnn.h"
#include "ops/rules.h"

typedef struct mr_rnn_params {
    mr_rnn_kind kind;
    int directions;
    bool reverse, batch_first, input_forget, linear_before_reset;
    bool transposed; /* W is [directions, input, gates · hidden], R [directions, hidden, gates · hidden] */
    mr_rnn_activation act[2][3];
    float clip;
    int64_t hidden; /* 0: not given */
} mr_rnn_params;

/* The inputs and outputs of an LSTM; RNN and GRU have the first ones. */
enum { MR_RNN_X, MR_RNN_W, MR_RNN_R, MR_RNN_B, MR_RNN_LENGTHS, MR_RNN_INITIAL_H, MR_RNN_INITIAL_C, MR_RNN_P };
enum { MR_RNN_Y, MR_RNN_Y_H, MR_RNN_Y_C };

void mr_lstm_read(mr_reader *r, void *params);
mr_status mr_rnn_infer(mr_call *c);
double mr_rnn_flops(const mr_call *c); /* of the products with W and R, for every step of every row */
/* What the kernels read of the call, weights and scratch as it has them. */
mr_rnn_args mr_rnn_args_of(const mr_call *c);
mr_status mr_rnn_want_lengths(mr_call *c, int64_t most);

#endif
