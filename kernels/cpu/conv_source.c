/* conv_source.c: see conv_source.h. */
#include "kernels/cpu/conv_source.h"

#include "kernels/cpu/conv_panel.h"

static int64_t remainder_of(int64_t a, int64_t b)
{
    return (a % b + b) % b;
}

/* From the first to the last index that a tap of an output reaches. */
static void reach(const mr_conv_axis *a, int64_t *low, int64_t *length)
{
    int64_t taps = a->taps > 0 ? (a->taps - 1) * a->dilation : 0;
    *low = a->offset + (taps < 0 ? taps : 0);
    *length = (a->out - 1) * a->stride + a->offset + (taps > 0 ? taps : 0) - *low + 1;
}

static void set_steps(const mr_conv_args *v, mr_conv_source *s)
{
    int last = v->rank - 1;
    s->phase_step = (s->length[last] + s->phases - 1) / s->phases;
    int64_t step = s->phases * s->phase_step;
    for (int i = last - 1; i >= 0; i--) {
        s->step[i] = step;
        step *= s->length[i];
    }
    s->channel = step;
}

bool mr_conv_source_used(const mr_conv_args *v, const mr_conv_source *s, int axis, int64_t q)
{
    const mr_conv_axis *a = &v->axis[axis];
    for (int64_t t = 0; t < a->taps; t++)
        if (remainder_of(q + s->low[axis] - a->offset - t * a->dilation, a->stride) == 0) return true;
    return false;
}

mr_conv_source mr_conv_source_of(const mr_conv_args *v, bool same_type)
{
    mr_conv_source s = {.phases = v->axis[v->rank - 1].stride};
    s.direct = same_type && s.phases == 1;
    for (int i = 0; i < v->rank; i++) {
        reach(&v->axis[i], &s.low[i], &s.length[i]);
        s.direct = s.direct && s.low[i] >= 0 && s.low[i] + s.length[i] <= v->axis[i].in;
        for (int64_t q = 0; q < v->axis[i].stride; q++) s.sparse[i] |= !mr_conv_source_used(v, &s, i, q);
    }
    if (!s.direct) {
        set_steps(v, &s);
        return s;
    }
    for (int i = 0; i < v->rank; i++) {
        s.low[i] = 0;
        s.length[i] = v->axis[i].in;
        s.step[i] = v->axis[i].x_step;
    }
    s.phase_step = v->axis[v->rank - 1].in;
    s.channel = v->x_channel;
    return s;
}

int64_t mr_conv_source_at(const mr_conv_args *v, const mr_conv_source *s, int64_t pixel)
{
    int64_t at = 0;
    for (int i = v->rank - 1; i >= 0; pixel /= v->axis[i].out, i--) {
        int64_t o = pixel % v->axis[i].out;
        at += i == v->rank - 1 ? o : o * v->axis[i].stride * s->step[i];
    }
    return at;
}

void mr_conv_source_taps(const mr_conv_args *v, const mr_conv_source *s, int64_t *offsets)
{
    int64_t depth = v->channels * mr_conv_taps(v);
    if (!depth) return;
    mr_conv_tap tap = mr_conv_tap_at(v, 0);
    for (int64_t k = 0; k < depth; k++, mr_conv_tap_next(v, &tap)) {
        offsets[k] = tap.channel * s->channel;
        for (int i = 0; i < v->rank; i++) {
            int64_t q = tap.t[i] * v->axis[i].dilation + v->axis[i].offset - s->low[i];
            offsets[k] += i == v->rank - 1 ? q % s->phases * s->phase_step + q / s->phases : q * s->step[i];
        }
    }
}
