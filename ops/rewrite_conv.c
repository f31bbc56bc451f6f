/* rewrite_conv.c: what goes into the weights of a convolution. */
#include <math.h>

#include "runtime/rewrite.h"

/* BatchNormalization of the moments that it is given: its inputs behind X are all known. */
static bool is_affine(const mr_rewrite *r, const mr_node *n)
{
    const mr_attr *training = mr_node_attr(n, "training_mode"), *test = mr_node_attr(n, "is_test"),
                  *spatial = mr_node_attr(n, "spatial");
    if (n->schema->since < 7 && !(test && test->i)) return false;
    if ((training && training->i) || (spatial && !spatial->i)) return false;
    for (int o = 1; o < n->n_out; o++)
        if (n->out[o] >= 0) return false;
    for (int i = 1; i < 5; i++)
        if (!mr_rewrite_known(r, n->in[i])) return false;
    return true;
}

/* w · s for each map of w, in double, rounded once. */
static mr_value *scaled(const mr_tensor *w, const double *s)
{
    mr_value *v = mr_value_uninit(w->dtype, w->rank, w->dims);
    if (!v) return NULL;
    const int64_t each = w->dims[0] ? mr_tensor_count(w) / w->dims[0] : 0;
    const float *from = w->data;
    float *to = v->t.data;
    for (int64_t i = 0; i < w->dims[0] * each; i++) to[i] = (float)(from[i] * s[i / each]);
    return v;
}

/* y = (conv + b - mean) · s + B = conv · s + (b - mean) · s + B, s = scale / sqrt(var + epsilon) */
static bool match_batchnorm(mr_rewrite *r, int at)
{
    if (!mr_rewrite_is(r, at, "Conv")) return false;
    const mr_node *conv = mr_rewrite_node(r, at);
    const int norm_at = mr_rewrite_user(r, conv->out[0]);
    if (!mr_rewrite_is(r, norm_at, "BatchNormalization")) return false;
    const mr_node *norm = mr_rewrite_node(r, norm_at);
    const mr_tensor *w = mr_rewrite_known(r, conv->in[1]);
    const bool biased = conv->n_in > 2 && conv->in[2] >= 0;
    const mr_tensor *b = biased ? mr_rewrite_known(r, conv->in[2]) : NULL;
    if (norm->in[0] != conv->out[0] || !is_affine(r, norm) || !w || (biased && !b)) return false;
    const int64_t maps = w->dims[0];
    const mr_tensor *k[4]; /* scale, B, mean, var */
    for (int i = 0; i < 4; i++) {
        k[i] = mr_rewrite_known(r, norm->in[i + 1]);
        if (k[i]->dtype != MR_F32 || mr_tensor_count(k[i]) != maps) return false;
    }
    double *s = mr_rewrite_alloc(r, sizeof *s * ((size_t)maps + 1));
    mr_value *bias = w->dtype == MR_F32 && s ? mr_value_uninit(MR_F32, 1, &maps) : NULL;
    if (!bias) return false;
    const mr_attr *given = mr_node_attr(norm, "epsilon");
    const double epsilon = given ? given->f : 1e-5f;
    for (int64_t m = 0; m < maps; m++) {
        s[m] = mr_tensor_real(k[0], m) / sqrt(mr_tensor_real(k[3], m) + epsilon);
        const double before = b ? mr_tensor_real(b, m) : 0;
        ((float *)bias->t.data)[m] = (float)((before - mr_tensor_real(k[2], m)) * s[m] + mr_tensor_real(k[1], m));
    }
    mr_node *n = mr_rewrite_make(r, "", "Conv", conv->opset, 3);
    if (!n) return mr_value_release(bias), false;
    n->attrs = conv->attrs, n->n_attrs = conv->n_attrs, n->params = conv->params;
    n->in[0] = conv->in[0];
    n->in[1] = mr_rewrite_constant(r, scaled(w, s), "scaled weights");
    n->in[2] = mr_rewrite_constant(r, bias, "bias");
    return n->in[1] >= 0 && n->in[2] >= 0 && mr_rewrite_replace(r, n, (int[]){at, norm_at}, 2);
}

const mr_rule mr_rules_conv[] = {
    {"conv_batchnorm", "Conv and BatchNormalization of known moments: scaled weights and a bias", 2, match_batchnorm},
    {0},
};
