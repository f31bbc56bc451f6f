/* conv_panel.c: see conv_panel.h. */
#include "kernels/cpu/conv_panel.h"

int mr_conv_runs(const mr_conv_args *v, int64_t pixel, int64_t cols, int64_t panel, mr_conv_run *runs)
{
    const mr_conv_axis *last = &v->axis[v->rank - 1];
    int n = 0;
    for (int64_t col = 0; col < cols; n++) {
        mr_conv_run *r = &runs[n];
        int64_t rest = pixel + col, o = rest % last->out, length = last->out - o;
        if (length > panel - col % panel) length = panel - col % panel;
        if (length > cols - col) length = cols - col;
        r->col = col;
        r->n = length;
        r->y = v->y_first;
        for (int i = v->rank - 1; i >= 0; rest /= v->axis[i].out, i--) {
            const mr_conv_axis *a = &v->axis[i];
            r->at[i] = rest % a->out * a->stride + a->offset;
            r->y += rest % a->out * a->y_step;
        }
        col += length;
    }
    return n;
}

mr_conv_tap mr_conv_tap_at(const mr_conv_args *v, int64_t k)
{
    mr_conv_tap t = {.w = v->w_first};
    for (int i = v->rank - 1; i >= 0; k /= v->axis[i].taps, i--) {
        t.t[i] = k % v->axis[i].taps;
        t.w += t.t[i] * v->axis[i].w_step;
    }
    t.channel = k;
    t.w += k * v->w_channel;
    return t;
}

/* Does any output of the axis see an input under tap t? */
static bool meets(const mr_conv_axis *a, int64_t t)
{
    int64_t at = a->offset + t * a->dilation, o = at < 0 ? (a->stride - 1 - at) / a->stride : 0;
    return o < a->out && at + o * a->stride < a->in;
}

mr_conv_reach mr_conv_reach_of(const mr_conv_args *v)
{
    mr_conv_reach r = {{0}, {0}};
    for (int i = 0; i < v->rank && v->rank <= 3; i++) {
        const mr_conv_axis *a = &v->axis[i];
        int64_t first = 0, end = a->taps;
        while (a->in > 0 && end - first > 1 && !meets(a, first)) first++;
        while (a->in > 0 && end - first > 1 && !meets(a, end - 1)) end--;
        r.first[i] = (int32_t)first, r.taps[i] = (int32_t)(end - first);
    }
    return r;
}

mr_conv_args mr_conv_within(const mr_conv_args *v, const mr_conv_reach *r)
{
    mr_conv_args to = *v;
    for (int i = 0; i < v->rank && v->rank <= 3; i++) {
        mr_conv_axis *a = &to.axis[i];
        a->offset += r->first[i] * a->dilation;
        to.w_first += r->first[i] * a->w_step;
        a->taps = r->taps[i];
    }
    return to;
}

int64_t mr_conv_blocks(const mr_conv_args *v, int64_t rows, int64_t cols)
{
    return v->batch * v->groups * ((v->maps + rows - 1) / rows) * ((mr_conv_pixels(v) + cols - 1) / cols);
}

mr_conv_block mr_conv_block_at(const mr_conv_args *v, int64_t i, int64_t rows, int64_t cols)
{
    int64_t pixels = mr_conv_pixels(v), down = (v->maps + rows - 1) / rows, across = (pixels + cols - 1) / cols;
    int64_t row = i % down * rows;
    mr_conv_block b = {.pixel = i / down % across * cols, .depth = v->channels * mr_conv_taps(v)};
    b.group = i / down / across % v->groups;
    b.batch = i / down / across / v->groups;
    b.map = b.group * v->maps + row;
    b.rows = v->maps - row < rows ? v->maps - row : rows;
    b.cols = pixels - b.pixel < cols ? pixels - b.pixel : cols;
    b.x = (b.batch * v->groups + b.group) * v->channels * v->x_channel;
    b.w = b.group * v->w_group + row * v->w_map;
    b.y = (b.batch * v->groups * v->maps + b.map) * v->y_map;
    return b;
}

int64_t mr_conv_grain(const mr_conv_args *v, int64_t rows, int64_t cols)
{
    int64_t work = v->channels * mr_conv_taps(v) * (v->maps < rows ? v->maps : rows) * cols;
    return 1 + (1 << 18) / (1 + work);
}
