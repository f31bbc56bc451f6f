/* ms_attention.h: what com.microsoft's operators of attention share: of Q, K and V as columns of one matrix. */
#ifndef MR_OPS_MS_ATTENTION_H
#define MR_OPS_MS_ATTENTION_H

#include "ops/attention.h"

typedef struct mr_ms_attention_params {
    int64_t heads;
    double scale, filter;
    bool causal, rotary, shared;
    const int64_t *sizes; /* columns of Q, K and V; n_sizes -1: all the same */
    int n_sizes;
} mr_ms_attention_params;

/* Which inputs they are. typed: one of the type of Q, K and V. One that the operator doesn't have: MR_NO_INPUT. */
typedef struct mr_ms_attention_places {
    int typed, mask, bias, past_key, past_value;
} mr_ms_attention_places;

enum { MR_NO_INPUT = 64 };

/* Input 0 is [batch, queries, k], input 1 [k, columns]; what follows the product of both is these functions'. */
void mr_ms_attention_read(mr_reader *r, void *params);
mr_status mr_ms_attention_infer(mr_call *c, mr_ms_attention_places at);
mr_fn mr_ms_attention_have(const mr_call *c, mr_ms_attention_places at);
/* columns: [batch, queries, columns] of the type; room: as much as scratch says. */
size_t mr_ms_attention_scratch(const mr_call *c, mr_ms_attention_places at);
mr_status mr_ms_attention_run(mr_call *c, mr_ms_attention_places at, const char *columns, char *room);
double mr_ms_attention_flops(const mr_call *c, mr_ms_attention_places at);

#endif
