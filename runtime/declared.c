/* declared.c: what the file declares of a node's outputs against what follows from its inputs.
 *
 * ONNX lets a model be wrong nowhere here, though a wrong extent does no harm: nothing is computed from it. So types
 * must hold, and shapes where the file alone decides the real one; what only given inputs contradict (a batch of
 * 1 written into the outputs of a model whose inputs leave it open) is let pass. */
#include "builder.h"

#include <string.h>

static bool same_type(mr_type declared, mr_type inferred)
{
    return declared.kind == MR_NONE || inferred.kind == MR_NONE || !declared.elem || !inferred.elem ||
           mr_type_equal(declared, inferred);
}

static bool same_shape(const mr_shape *declared, const mr_shape *inferred)
{
    bool same = declared->rank < 0 || inferred->rank < 0 || declared->rank == inferred->rank;
    for (int d = 0; same && d < declared->rank && inferred->rank >= 0; d++)
        same = declared->d[d] < 0 || inferred->d[d] < 0 || declared->d[d] == inferred->d[d];
    return same;
}

/* The file alone says what shape the output has, as far as it does not hang on values. Of maps and sequences ONNX
 * itself says nothing, and exporters disagree with it: what a DictVectorizer gives is declared with a batch. */
static bool follows_from_shapes(const mr_call *c, int o)
{
    bool known = true;
    for (int i = 0; i < c->n_in; i++) {
        if (!mr_in_has(c, i)) continue;
        if (c->in[i].type.kind != MR_TENSOR) return false;
        known &= mr_shape_known(&c->in[i].shape);
    }
    return known || mr_shape_known(&c->out[o].shape);
}

static mr_status declared_of(mr_builder *b, mr_call *c, int o)
{
    char a[96], z[96];
    const mr_vinfo *v = &b->g->values[c->node->out[o]];
    if (v->producer_out != o || b->g->nodes[v->producer] != c->node) return MR_OK;
    if (!b->s->options.f64 && !same_type(v->decl.type, c->out[o].type))
        return mr_call_fail(c, MR_E_TYPE_INVALID, "output %d '%s' is declared %s, the node gives %s", o, v->name,
                            mr_type_string(v->decl.type, a, sizeof a), mr_type_string(c->out[o].type, z, sizeof z));
    /* The rounds of a body may differ in shape. */
    if ((b->g->parent && b->g->n_inputs) || !follows_from_shapes(c, o)) return MR_OK;
    if (same_shape(&v->decl.shape, &c->out[o].shape)) return MR_OK;
    const char *const *symbols = b->g->model->symbols;
    return mr_call_fail(c, MR_E_SHAPES, "output %d '%s' is declared %s, the node gives %s", o, v->name,
                        mr_shape_string(&v->decl.shape, symbols, a, sizeof a),
                        mr_shape_string(&c->out[o].shape, symbols, z, sizeof z));
}

mr_status mr_declared_check(mr_builder *b, mr_call *c)
{
    mr_status st = MR_OK;
    if (b->draft || c->node->origin) return MR_OK; /* the values are not the file's, or nothing is declared of them */
    for (int o = 0; o < c->n_out && !st; o++)
        if (c->node->out[o] >= 0) st = declared_of(b, c, o);
    if (!st || b->s->checking) return st;
    mr_error_clear(c->error);
    if (b->s->declared == MR_DECLARED_UNSEEN) b->s->declared = MR_DECLARED_DOUBTED;
    return MR_OK;
}
