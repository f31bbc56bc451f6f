/* convolution.c: see convolution.h. */
#include "ops/convolution.h"

void mr_conv_read(mr_reader *r, void *params)
{
    mr_conv_params *p = params;
    mr_window_read(r, &p->window);
    p->group = mr_read_int(r, "group", 1);
    if (p->group < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute group is %lld, must be 1 or more", (long long)p->group);
}

mr_status mr_want_bias(mr_call *c, int b, mr_dim n)
{
    if (!mr_in_has(c, b)) return MR_OK;
    mr_status st = mr_want_rank(c, b, 1, 1);
    const mr_shape *s = &c->in[b].shape;
    if (st || s->rank < 0 || n < 0 || s->d[0] < 0 || s->d[0] == n) return st;
    return mr_call_fail_in(c, MR_E_SHAPES, b, "has %lld elements, but there are %lld output channels",
                           (long long)s->d[0], (long long)n);
}

static mr_status want_channels(mr_call *c, const mr_conv_params *p, int x, int w)
{
    const mr_shape *sx = &c->in[x].shape, *sw = &c->in[w].shape;
    mr_dim channels = sx->rank > 1 ? sx->d[1] : MR_DIM_UNKNOWN, per_group = sw->rank > 1 ? sw->d[1] : MR_DIM_UNKNOWN;
    if (channels >= 0 && per_group >= 0 && channels != per_group * p->group)
        return mr_call_fail_in(c, MR_E_SHAPES, w, "takes %lld channels in %lld group%s, but %s has %lld",
                               (long long)per_group, (long long)p->group, p->group == 1 ? "" : "s", mr_in_name(c, x),
                               (long long)channels);
    if (sw->rank > 0 && sw->d[0] >= 0 && sw->d[0] % p->group)
        return mr_call_fail_in(c, MR_E_SHAPES, w, "has %lld output channels, which %lld groups do not divide",
                               (long long)sw->d[0], (long long)p->group);
    return MR_OK;
}

/* kernel_shape must be W's. */
static mr_status want_kernel(mr_call *c, const mr_window *win, int w, int i, mr_dim *kernel)
{
    mr_dim of_w = c->in[w].shape.rank > 2 + i ? c->in[w].shape.d[2 + i] : MR_DIM_UNKNOWN;
    *kernel = mr_ints_at(win->kernel, i, of_w);
    if (of_w < 0 || *kernel == of_w) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, w,
                           "has a kernel of %lld on spatial axis %d, but attribute kernel_shape says %lld",
                           (long long)of_w, i, (long long)*kernel);
}

mr_status mr_conv_shape(mr_call *c, const mr_conv_params *p, int x, int w, int b, mr_shape *y)
{
    const mr_shape *sx = &c->in[x].shape, *sw = &c->in[w].shape;
    int rank = sx->rank >= 0 ? sx->rank : sw->rank;
    mr_status st;
    *y = mr_shape_unknown();
    if ((st = mr_want_rank(c, x, 3, MR_MAX_RANK))) return st;
    if (rank < 0) return MR_OK;
    if ((st = mr_want_rank(c, w, rank, rank)) || (st = mr_window_check(c, &p->window, rank - 2)) ||
        (st = want_channels(c, p, x, w)) || (st = mr_want_bias(c, b, sw->rank > 0 ? sw->d[0] : MR_DIM_UNKNOWN)))
        return st;
    *y = mr_shape_of_rank(rank);
    y->d[0] = sx->rank > 0 ? sx->d[0] : MR_DIM_UNKNOWN;
    y->d[1] = sw->rank > 0 ? sw->d[0] : MR_DIM_UNKNOWN;
    for (int i = 0; i < rank - 2; i++) {
        mr_window_axis a;
        mr_dim kernel, in = sx->rank > 0 ? sx->d[2 + i] : MR_DIM_UNKNOWN;
        if ((st = want_kernel(c, &p->window, w, i, &kernel))) return st;
        if ((st = mr_window_axis_of(c, &p->window, rank - 2, i, in, kernel, &a))) return st;
        y->d[2 + i] = a.out;
    }
    return MR_OK;
}

void mr_conv_weight_geometry(const mr_call *c, const mr_conv_params *p, int w, mr_conv_args *v)
{
    const mr_shape *s = &c->in[w].shape;
    int64_t w_step = 1;
    v->rank = s->rank - 2;
    for (int i = v->rank - 1; i >= 0; i--) {
        v->axis[i].taps = s->d[2 + i];
        v->axis[i].stride = mr_ints_at(p->window.strides, i, 1);
        v->axis[i].dilation = mr_ints_at(p->window.dilations, i, 1);
        v->axis[i].w_step = w_step;
        w_step *= s->d[2 + i];
    }
    v->groups = p->group;
    v->channels = s->d[1];
    v->maps = s->d[0] / p->group;
    v->w_channel = w_step;
    v->w_map = v->channels * w_step;
    v->w_group = v->maps * v->w_map;
}

void mr_conv_geometry(mr_call *c, const mr_conv_params *p, int x, int w, mr_conv_args *v)
{
    const mr_shape *s = &c->in[x].shape;
    int64_t x_step = 1, y_step = 1;
    mr_conv_weight_geometry(c, p, w, v);
    for (int i = v->rank - 1; i >= 0; i--) {
        mr_window_axis a;
        mr_window_axis_of(c, &p->window, v->rank, i, s->d[2 + i], v->axis[i].taps,
                          &a); /* infer has seen that it fits */
        v->axis[i].in = a.in;
        v->axis[i].out = a.out;
        v->axis[i].offset = -a.pad;
        v->axis[i].x_step = x_step;
        v->axis[i].y_step = y_step;
        x_step *= a.in, y_step *= a.out;
    }
    v->batch = s->d[0];
    v->x_channel = x_step;
    v->y_map = y_step;
}

static bool walks(const mr_conv_axis *a)
{
    return a->taps == 1 && a->offset == 0 && a->stride == 1 && a->in == a->out;
}

void mr_conv_flatten(mr_conv_args *v)
{
    int n = 0;
    for (int i = 0; i < v->rank; i++) {
        mr_conv_axis *last = n > 0 ? &v->axis[n - 1] : NULL, *a = &v->axis[i];
        bool joins =
            last && walks(last) && walks(a) && last->x_step == a->in * a->x_step && last->y_step == a->out * a->y_step;
        if (!joins) {
            v->axis[n++] = *a;
            continue;
        }
        a->in *= last->in;
        a->out = a->in;
        *last = *a;
    }
    v->rank = n;
}
