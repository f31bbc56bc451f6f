/* training.c: Adagrad, Adam and Momentum. Inputs are the learning rate R, the update count T, and then groups of as
 * many tensors as are optimized: X, gradient, and what the method accumulates. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/math.h"
#include "ops/rules.h"

#include <string.h>

typedef enum method { ADAGRAD, ADAM, MOMENTUM } method;

typedef struct training_params {
    method method;
    bool nesterov;
    double decay, decay_after, rate_decay, alpha, beta, epsilon;
} training_params;

static void read_decay(mr_reader *r, training_params *p, method m)
{
    p->method = m;
    p->decay = (double)mr_read_float(r, "norm_coefficient", 0);
}

static void read_adagrad(mr_reader *r, void *params)
{
    training_params *p = params;
    read_decay(r, p, ADAGRAD);
    p->rate_decay = (double)mr_read_float(r, "decay_factor", 0);
    p->epsilon = (double)mr_read_float(r, "epsilon", 1e-6f);
}

static void read_adam(mr_reader *r, void *params)
{
    training_params *p = params;
    read_decay(r, p, ADAM);
    p->decay_after = (double)mr_read_float(r, "norm_coefficient_post", 0);
    p->alpha = (double)mr_read_float(r, "alpha", 0.9f);
    p->beta = (double)mr_read_float(r, "beta", 0.999f);
    p->epsilon = (double)mr_read_float(r, "epsilon", 1e-6f);
}

static void read_momentum(mr_reader *r, void *params)
{
    static const char *const modes[] = {"standard", "nesterov", NULL};
    training_params *p = params;
    read_decay(r, p, MOMENTUM);
    p->alpha = (double)mr_read_float(r, "alpha", 0);
    p->beta = (double)mr_read_float(r, "beta", 0);
    p->nesterov = mr_read_enum(r, "mode", modes, 0) == 1;
}

/* ---- groups ---- */

enum { FIRST = 2 }; /* input: the first tensor to be optimized */

static int in_groups(const mr_call *c)
{
    return ((const training_params *)c->params)->method == ADAM ? 4 : 3;
}

static int tensors(const mr_call *c)
{
    return (c->n_in - FIRST) / in_groups(c);
}

static mr_status want_one(mr_call *c, int i)
{
    const mr_shape *s = &c->in[i].shape;
    for (int k = 0; k < s->rank; k++)
        if (s->d[k] >= 0 && s->d[k] != 1) return mr_call_fail_in(c, MR_E_SHAPES, i, "expected one element");
    return MR_OK;
}

/* What belongs to the tensor at input x has its type and shape. */
static mr_status want_alike(mr_call *c, int i, int x)
{
    const mr_shape *a = &c->in[i].shape, *b = &c->in[x].shape;
    if (mr_in_dtype(c, i) != mr_in_dtype(c, x))
        return mr_call_fail_in(c, MR_E_TYPE_INVALID, i, "the tensor to optimize, input %d, is %s", x,
                               mr_dtype_name(mr_in_dtype(c, x)));
    bool same = a->rank < 0 || b->rank < 0 || a->rank == b->rank;
    for (int k = 0; same && a->rank >= 0 && k < b->rank; k++) same = a->d[k] < 0 || b->d[k] < 0 || a->d[k] == b->d[k];
    char text[256];
    return same ? MR_OK
                : mr_call_fail_in(c, MR_E_SHAPES, i, "the tensor to optimize, input %d, is %s", x,
                                  mr_shape_string(b, c->node->graph->model->symbols, text, sizeof text));
}

static mr_status infer(mr_call *c)
{
    const int groups = in_groups(c), n = tensors(c);
    mr_status st = want_one(c, 0);
    if (!st) st = want_one(c, 1);
    if (!st && (n == 0 || (c->n_in - FIRST) % groups))
        st = mr_call_fail(c, MR_E_ARITY, "%d inputs behind R and T: expected %d for each tensor to optimize",
                          c->n_in - FIRST, groups);
    if (!st && c->n_out > (groups - 1) * n)
        st = mr_call_fail(c, MR_E_ARITY, "%d outputs: expected %d for each of %d tensors", c->n_out, groups - 1, n);
    for (int i = FIRST; i < c->n_in && !st; i++) st = want_alike(c, i, FIRST + (i - FIRST) % n);
    for (int o = 0; o < c->n_out && !st; o++) st = mr_out_like(c, o, FIRST + o % n);
    return st;
}

/* ---- running ---- */

typedef void (*step_fn)(const mr_optimizer_args *);

static step_fn slot(const mr_call *c, int i)
{
    const training_params *p = c->params;
    const mr_dtype d = mr_in_dtype(c, i);
    if (d >= MR_N_DTYPES) return NULL;
    return p->method == ADAGRAD ? c->cpu->optimizer.adagrad[d]
           : p->method == ADAM  ? c->cpu->optimizer.adam[d]
                                : c->cpu->optimizer.momentum[d];
}

static mr_fn have(const mr_call *c)
{
    for (int i = FIRST; i < FIRST + tensors(c); i++)
        if (!slot(c, i)) return NULL;
    return (mr_fn)slot(c, FIRST);
}

/* Only while T > 0 are Adam's averages, which start from zero, corrected, and is Momentum's gradient scaled. */
static void set_rate(mr_call *c, mr_optimizer_args *a)
{
    const training_params *p = c->params;
    const double rate = mr_tensor_real(c->in[0].t, 0);
    const int64_t count = mr_tensor_int(c->in[1].t, 0);
    a->rate = rate;
    if (p->method == ADAGRAD) a->rate = rate / (1 + (double)count * p->rate_decay);
    if (p->method == ADAM && count > 0)
        a->rate = rate * __builtin_sqrt(1 - mr_pow(p->beta, (double)count)) / (1 - mr_pow(p->alpha, (double)count));
    if (p->method == MOMENTUM && count <= 0) a->beta = 1;
}

static void *wanted(const mr_call *c, int o)
{
    return mr_out_wanted(c, o) ? c->out[o].t->data : NULL;
}

static mr_status run(mr_call *c)
{
    const training_params *p = c->params;
    const int n = tensors(c), last = in_groups(c) - 1;
    for (int i = 0; i < n; i++) {
        const mr_arg *in = c->in + FIRST + i;
        mr_optimizer_args a = {.x = in[0].t->data,
                               .gradient = in[n].t->data,
                               .x_new = wanted(c, i),
                               .n = mr_tensor_count(in[0].t),
                               .decay = p->decay,
                               .decay_after = p->decay_after,
                               .alpha = p->alpha,
                               .beta = p->beta,
                               .epsilon = p->epsilon,
                               .nesterov = p->nesterov,
                               .pool = c->pool};
        if (p->method != ADAGRAD) a.momentum = in[2 * n].t->data, a.momentum_new = wanted(c, n + i);
        if (p->method != MOMENTUM) a.squares = in[last * n].t->data, a.squares_new = wanted(c, (last - 1) * n + i);
        set_rate(c, &a);
        slot(c, FIRST + i)(&a);
    }
    return MR_OK;
}

static const mr_impl impls[] = {{.name = "optimizer_cpu", .have = have, .run = run}, {0}};

const mr_op mr_ops_training[] = {
    {"ai.onnx.preview.training", "Adagrad", 1, 0, sizeof(training_params), read_adagrad, infer, impls, 0, NULL, NULL},
    {"ai.onnx.preview.training", "Adam", 1, 0, sizeof(training_params), read_adam, infer, impls, 0, NULL, NULL},
    {"ai.onnx.preview.training", "Momentum", 1, 0, sizeof(training_params), read_momentum, infer, impls, 0, NULL, NULL},
    {0},
};
