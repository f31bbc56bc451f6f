/* rnn_plan.h: how a recurrent kernel divides its work and its scratch.
 *
 * Hidden units are cut into panels, whose gates stand side by side: packed weights are [direction, panel, depth, gate,
 * unit], gates [step, sequence, panel, gate, unit]. A task is one direction of a few sequences and knows nothing of the
 * others; what its input gives is computed for several steps at once. */
#ifndef MR_KERNELS_CPU_RNN_PLAN_H
#define MR_KERNELS_CPU_RNN_PLAN_H

#include "kernels/cpu/rnn.h"
#include "kernels/cpu/team.h"

enum {
    MR_RNN_TASK = 8,       /* sequences of a task */
    MR_RNN_ROWS = 64,      /* steps × sequences whose input is computed at once, about */
    MR_RNN_STEP = 1 << 16, /* multiplications of a step, and of all of them, from which on threads share a task */
    MR_RNN_SHARED = 1 << 22
};

/* Sizes count elements of the type that is computed in. */
typedef struct mr_rnn_plan {
    int gates;
    int64_t panels, width; /* panels of a direction; elements of a row of gates */
    int64_t blocks, steps; /* tasks of a direction; steps of a chunk */
    int64_t w, r, constants,
        state; /* of the packed weights when they aren't given, of biases and peepholes, of H or C */
    int64_t x, task, total;
} mr_rnn_plan;

static inline int64_t mr_rnn_packed(const mr_rnn_args *a, int64_t depth, int64_t panel)
{
    return a->directions * ((a->hidden + panel - 1) / panel) * depth * mr_rnn_gates(a->kind) * panel;
}

/* A panel has Wb and Rb of each gate and three peepholes. */
static inline int64_t mr_rnn_constants(int gates, int64_t panel)
{
    return (2 * gates + 3) * panel;
}

static inline mr_rnn_plan mr_rnn_plan_of(const mr_rnn_args *a, int64_t panel)
{
    mr_rnn_plan p = {.gates = mr_rnn_gates(a->kind), .panels = (a->hidden + panel - 1) / panel};
    int64_t rows = a->batch < MR_RNN_TASK ? a->batch : MR_RNN_TASK;
    p.width = p.panels * p.gates * panel;
    p.blocks = (a->batch + MR_RNN_TASK - 1) / MR_RNN_TASK;
    p.steps = rows ? MR_RNN_ROWS / rows : 0;
    if (p.steps > a->length) p.steps = a->length;
    p.w = a->packed_w ? 0 : mr_rnn_packed(a, a->input, panel);
    p.r = a->packed_r ? 0 : mr_rnn_packed(a, a->hidden, panel);
    p.constants = a->directions * p.panels * mr_rnn_constants(p.gates, panel);
    p.state = rows * p.panels * panel;
    p.x = (p.steps * rows * a->input + panel - 1) / panel * panel; /* so that what follows is aligned */
    p.task = p.x + p.steps * rows * p.width + 4 * p.state;
    p.total = p.w + p.r + p.constants + a->directions * p.blocks * p.task;
    return p;
}

#endif
