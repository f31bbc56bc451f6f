/* window.c: see window.h. */
#include "ops/window.h"

mr_ints mr_read_int_list(mr_reader *r, const char *name)
{
    mr_ints x = {0};
    x.n = mr_read_ints(r, name, &x.at);
    return x;
}

void mr_window_read(mr_reader *r, mr_window *w)
{
    static const char *const auto_pads[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};
    w->kernel = mr_read_int_list(r, "kernel_shape");
    w->strides = mr_read_int_list(r, "strides");
    w->dilations = mr_read_int_list(r, "dilations");
    w->pads = mr_read_int_list(r, "pads");
    w->auto_pad = (mr_auto_pad)mr_read_enum(r, "auto_pad", auto_pads, MR_PAD_NOTSET);
    w->ceil = mr_read_int(r, "ceil_mode", 0) != 0;
}

static mr_status check_list(mr_call *c, const char *name, mr_ints x, int needs, int64_t least)
{
    if (x.n < 0) return MR_OK;
    if (x.n != needs)
        return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute %s has %d value%s, needs %d", name, x.n, x.n == 1 ? "" : "s",
                            needs);
    for (int i = 0; i < x.n; i++)
        if (x.at[i] < least || x.at[i] > INT32_MAX)
            return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute %s has %lld at position %d, must be %lld or more", name,
                                (long long)x.at[i], i, (long long)least);
    return MR_OK;
}

mr_status mr_window_check(mr_call *c, const mr_window *w, int axes)
{
    mr_status st;
    if ((st = check_list(c, "kernel_shape", w->kernel, axes, 1)) ||
        (st = check_list(c, "strides", w->strides, axes, 1)) ||
        (st = check_list(c, "dilations", w->dilations, axes, 1)) || (st = check_list(c, "pads", w->pads, 2 * axes, 0)))
        return st;
    for (int i = 0; i < w->pads.n; i++)
        if (w->auto_pad != MR_PAD_NOTSET && w->pads.at[i] != 0)
            return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute pads cannot be used together with auto_pad");
    return MR_OK;
}

mr_dim mr_window_reach(const mr_window_axis *a)
{
    return a->kernel < 0 ? MR_DIM_UNKNOWN : (a->kernel - 1) * a->dilation + 1;
}

void mr_window_split(mr_auto_pad p, int64_t total, mr_window_axis *a)
{
    int64_t half = total >= 0 ? total / 2 : -((1 - total) / 2); /* rounded down */
    a->pad = p == MR_PAD_SAME_UPPER ? half : total - half;
    a->pad_end = total - a->pad;
}

/* ONNX (MaxPool-22): "Sliding windows that would start in the right padded region are ignored." */
static int64_t outputs(const mr_window_axis *a, int64_t slack, bool ceil)
{
    if (!ceil) return slack / a->stride + 1;
    int64_t n = (slack + a->stride - 1) / a->stride + 1;
    return (n - 1) * a->stride >= a->in + a->pad ? n - 1 : n;
}

mr_status mr_window_axis_of(mr_call *c, const mr_window *w, int axes, int i, mr_dim in, mr_dim kernel,
                            mr_window_axis *out)
{
    mr_window_axis a = {.in = in, .out = MR_DIM_UNKNOWN, .kernel = kernel};
    a.stride = mr_ints_at(w->strides, i, 1);
    a.dilation = mr_ints_at(w->dilations, i, 1);
    a.pad = mr_ints_at(w->pads, i, 0);
    a.pad_end = mr_ints_at(w->pads, axes + i, 0);
    mr_dim reach = mr_window_reach(&a);
    bool same = w->auto_pad == MR_PAD_SAME_UPPER || w->auto_pad == MR_PAD_SAME_LOWER;
    if (same && in >= 0) a.out = (in + a.stride - 1) / a.stride;
    if (a.stride == 1 && (same || (reach >= 0 && a.pad + a.pad_end == reach - 1))) a.out = in;
    if (same && in >= 0 && reach >= 0) {
        int64_t total = (a.out - 1) * a.stride + reach - in;
        mr_window_split(w->auto_pad, total > 0 ? total : 0, &a);
    } else if (!same && in >= 0 && reach >= 0) {
        int64_t slack = in + a.pad + a.pad_end - reach;
        if (slack < 0)
            return mr_call_fail(c, MR_E_SHAPES,
                                "spatial axis %d: a kernel of %lld (dilation %lld: %lld) is larger than the input of "
                                "%lld with pads %lld and %lld",
                                i, (long long)kernel, (long long)a.dilation, (long long)reach, (long long)in,
                                (long long)a.pad, (long long)a.pad_end);
        a.out = outputs(&a, slack, w->ceil && w->auto_pad == MR_PAD_NOTSET);
    }
    *out = a;
    return MR_OK;
}
