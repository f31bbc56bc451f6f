/* property.c: the values of operators without a seed come from chance; what they promise can be tested all the same. */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "tools/io/element.h"

/* Bernoulli, or its body: a uniform number compared with the input. */
static bool draws(const mr_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i]->op_type, "Bernoulli") == 0 || strcmp(g->nodes[i]->op_type, "RandomUniformLike") == 0)
            return true;
    return false;
}

/* Each output is 0 or 1, and as many are 1 as the probabilities say: within five standard deviations of their sum. */
static bool is_draw_of(const mr_tensor *out, const mr_tensor *p)
{
    double ones = 0, expected = 0, variance = 0;
    mr_shape a = mr_tensor_shape(out), b = mr_tensor_shape(p);
    if (!mr_shape_equal(&a, &b)) return false;
    for (int64_t i = 0, n = mr_tensor_count(out); i < n; i++) {
        double x = mr_element_real(out, i), chance = mr_element_real(p, i);
        if (x != 0 && x != 1) return false;
        if ((chance == 0 && x == 1) || (chance == 1 && x == 0)) return false;
        ones += x;
        expected += chance;
        variance += chance * (1 - chance);
    }
    return fabs(ones - expected) <= 5 * sqrt(variance);
}

const char *mr_property_holds(const mr_graph *g, mr_value *const *in, mr_value *const *out)
{
    if (!draws(g) || g->n_inputs != 1 || g->n_outputs != 1 || !in[0]) return NULL;
    const mr_tensor *p = mr_value_dense(in[0]), *x = mr_value_dense(out[0]);
    const mr_vinfo *declared = &g->values[g->outputs[0]];
    if (!p || !x || x->dtype != declared->decl.type.elem) return NULL;
    if (!mr_dtype_in(p->dtype, MR_FLOATS) || !mr_dtype_in(x->dtype, MR_REALS) || !is_draw_of(x, p)) return NULL;
    return "0 or 1, 1 as often as the input says";
}
