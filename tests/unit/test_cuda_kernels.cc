/* The CUDA kernels, through the table of a plugin, against plain loops in double.
 *
 * usage: test_cuda_kernels [PLUGIN.so]; without one, the host's, beside the folder of this program. A plugin that finds
 * no device is skipped, with its reason. */
#include <dlfcn.h>
#include <functional>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string>
#include <vector>
extern "C" {
#include <cmocka.h>
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "kernels/cpu/convert.h"
#include "kernels/cuda/cuda.h"
#include "runtime/device.h"
#pragma GCC diagnostic pop

namespace
{
const mr_device_plugin *plugin;
const mr_cuda_fns *f;
void *context, *stream;

using dims = std::vector<int64_t>;

int64_t count(const dims &d)
{
    int64_t n = 1;
    for (int64_t x : d) n *= x;
    return n;
}

/* Numbers between -2 and 2, the same each time. */
std::vector<double> values(int64_t n, uint64_t seed)
{
    std::vector<double> v((size_t)n);
    uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;
    for (double &x : v) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        x = (double)(s >> 40) / (1 << 22) - 2;
    }
    return v;
}

size_t size_of(mr_dtype d)
{
    switch (d) {
    case MR_F16:
    case MR_BF16:
    case MR_I16:
    case MR_U16:
        return 2;
    case MR_I8:
    case MR_U8:
    case MR_BOOL:
        return 1;
    case MR_F64:
    case MR_I64:
    case MR_U64:
        return 8;
    default:
        return 4;
    }
}

void put(mr_dtype d, void *p, size_t i, double x)
{
    switch (d) {
    case MR_F16:
        ((mr_f16 *)p)[i] = mr_f16_from_f64(x);
        break;
    case MR_BF16:
        ((mr_bf16 *)p)[i] = mr_bf16_from_f64(x);
        break;
    case MR_F32:
        ((float *)p)[i] = (float)x;
        break;
    case MR_F64:
        ((double *)p)[i] = x;
        break;
    case MR_I8:
        ((int8_t *)p)[i] = (int8_t)x;
        break;
    case MR_I32:
        ((int32_t *)p)[i] = (int32_t)x;
        break;
    case MR_I64:
        ((int64_t *)p)[i] = (int64_t)x;
        break;
    case MR_U8:
        ((uint8_t *)p)[i] = (uint8_t)x;
        break;
    case MR_BOOL:
        ((bool *)p)[i] = x != 0;
        break;
    default:
        fail_msg("type %d", d);
    }
}

double get(mr_dtype d, const void *p, size_t i)
{
    switch (d) {
    case MR_F16:
        return mr_f16_to_f32(((const mr_f16 *)p)[i]);
    case MR_BF16:
        return mr_bf16_to_f32(((const mr_bf16 *)p)[i]);
    case MR_F32:
        return ((const float *)p)[i];
    case MR_F64:
        return ((const double *)p)[i];
    case MR_I8:
        return ((const int8_t *)p)[i];
    case MR_I32:
        return ((const int32_t *)p)[i];
    case MR_I64:
        return (double)((const int64_t *)p)[i];
    case MR_U8:
        return ((const uint8_t *)p)[i];
    case MR_BOOL:
        return ((const bool *)p)[i];
    default:
        fail_msg("type %d", d);
        return 0;
    }
}

/* A tensor on the device, in an allocation of its own, so that what runs over its end is caught. */
class array
{
  public:
    array(mr_dtype dtype, const dims &shape, std::vector<double> v = {}) : n((size_t)count(shape))
    {
        t = {};
        t.dtype = dtype;
        t.rank = (int)shape.size();
        for (size_t i = 0; i < shape.size(); i++) t.dims[i] = shape[i];
        t.data = plugin->alloc(context, n * size_of(dtype));
        bytes.resize(n * size_of(dtype));
        if (v.empty()) return;
        for (size_t i = 0; i < n; i++) put(dtype, bytes.data(), i, v[i]);
        assert_int_equal(plugin->copy_in(context, t.data, bytes.data(), bytes.size()), 0);
    }
    ~array() { plugin->free(context, t.data); }
    array(const array &) = delete;
    array &operator=(const array &) = delete;

    /* As the device has them: rounded to the type. */
    std::vector<double> read()
    {
        assert_int_equal(plugin->copy_out(context, bytes.data(), t.data, bytes.size()), 0);
        std::vector<double> v(n);
        for (size_t i = 0; i < n; i++) v[i] = get(t.dtype, bytes.data(), i);
        return v;
    }
    mr_tensor t;

  private:
    size_t n;
    std::vector<char> bytes;
};

void ran(int status)
{
    if (status) fail_msg("%s", f->error(status));
}

/* Error allowed of one rounding to the type, and of a result that is computed in f32, relative to `scale`. */
double tolerance(mr_dtype d)
{
    return d == MR_F16 ? 0x1p-10 : d == MR_BF16 ? 0x1p-7 : d == MR_F32 ? 4e-6 : d == MR_F64 ? 1e-13 : 0;
}

void expect(array &y, const std::vector<double> &want, double scale, const char *what)
{
    std::vector<double> got = y.read();
    assert_int_equal(got.size(), want.size());
    for (size_t i = 0; i < got.size(); i++) {
        double allowed = tolerance(y.t.dtype) * (fabs(want[i]) + scale);
        bool same = got[i] == want[i] || (isnan(got[i]) && isnan(want[i])) || fabs(got[i] - want[i]) <= allowed;
        if (!same) fail_msg("%s, type %d: element %zu is %.9g, not %.9g", what, y.t.dtype, i, got[i], want[i]);
    }
}

const mr_dtype float_types[] = {MR_F32, MR_F16, MR_BF16, MR_F64};

/* An elementwise job with dense output, operands broadcast to it. */
struct job {
    mr_elementwise e = {};
    std::vector<mr_operand> in;

    job(array &y, const std::vector<array *> &x, const void *params = nullptr)
    {
        e.rank = y.t.rank;
        for (int d = 0; d < y.t.rank; d++) e.dims[d] = y.t.dims[d];
        e.out = operand(y.t);
        for (array *a : x) in.push_back(operand(a->t));
        e.n_in = (int)in.size();
        e.in = in.data();
        e.params = params;
    }
    operator const mr_elementwise *() const { return &e; }
    mr_operand operand(const mr_tensor &t) const
    {
        mr_operand o = {};
        int64_t dense = 1;
        o.data = t.data;
        o.size = size_of(t.dtype);
        for (int d = e.rank - 1; d >= 0; d--) {
            int own = d - (e.rank - t.rank);
            int64_t dim = own >= 0 ? t.dims[own] : 1;
            o.strides[d] = dim == 1 && e.dims[d] != 1 ? 0 : dense;
            dense *= dim;
        }
        return o;
    }
};

void unary(void **)
{
    struct {
        mr_unary_op op;
        double (*want)(double);
    } ops[] = {
        {MR_EXP, exp},
        {MR_TANH, tanh},
        {MR_ERF, erf},
        {MR_ABS, fabs},
        {MR_SIN, sin},
        {MR_FLOOR, floor},
        {MR_ROUND, rint},
        {MR_RELU, [](double x) { return x < 0 ? 0 : x; }},
        {MR_SIGMOID, [](double x) { return 1 / (1 + exp(-x)); }},
        {MR_LEAKY_RELU, [](double x) { return x < 0 ? 0.25 * x : x; }},
        {MR_GELU, [](double x) { return x / 2 * (1 + erf(x / sqrt(2))); }},
        {MR_GELU_TANH, [](double x) { return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
        {MR_HARD_SIGMOID, [](double x) { return fmin(fmax(0.25 * x + 0.5, 0), 1); }},
        {MR_SOFTPLUS, [](double x) { return log(1 + exp(x)); }},
        {MR_MISH, [](double x) { return x * tanh(log(1 + exp(x))); }},
        {MR_ELU, [](double x) { return x < 0 ? 0.25 * (exp(x) - 1) : x; }},
        {MR_SELU, [](double x) { return 0.5 * (x > 0 ? x : 0.25 * (exp(x) - 1)); }},
        {MR_SHRINK, [](double x) { return x < -0.25  ? x + 0.5
                                          : x > 0.25 ? x - 0.5
                                                     : 0; }},
        {MR_SWISH, [](double x) { return x / (1 + exp(-0.25 * x)); }},
    };
    mr_unary_params params = {0.25, 0.5, true, true};
    for (mr_dtype d : float_types)
        for (auto &op : ops) {
            array x(d, {3, 257}, values(3 * 257, 1)), y(d, {3, 257});
            ran(f->unary[op.op][d](stream, job(y, {&x}, &params)));
            std::vector<double> want;
            for (double v : x.read()) want.push_back(op.want(v));
            expect(y, want, 0.01, ("unary " + std::to_string(op.op)).c_str());
        }
    array x(MR_F32, {5}, {-INFINITY, -0.0, 1, NAN, INFINITY}), y(MR_F32, {5}), b(MR_BOOL, {5});
    ran(f->unary[MR_RELU][MR_F32](stream, job(y, {&x})));
    expect(y, {0, 0, 1, NAN, INFINITY}, 0, "relu");
    mr_unary_params positive = {0, 0, false, true};
    ran(f->is_inf[MR_F32](stream, job(b, {&x}, &positive)));
    expect(b, {0, 0, 0, 0, 1}, 0, "is_inf");
    ran(f->is_nan[MR_F32](stream, job(b, {&x})));
    expect(b, {0, 0, 0, 1, 0}, 0, "is_nan");
    array i(MR_I8, {4}, {-128, -1, 0, 127}), j(MR_I8, {4});
    ran(f->unary[MR_ABS][MR_I8](stream, job(j, {&i})));
    expect(j, {-128, 1, 0, 127}, 0, "abs");
    array k(MR_I64, {2}, {-9223372036854775808.0, 5}), l(MR_I64, {2});
    ran(f->unary[MR_NEG][MR_I64](stream, job(l, {&k})));
    expect(l, {-9223372036854775808.0, -5}, 0, "neg");
    const float lo = -1, hi = 0.5f;
    array c(MR_F32, {5});
    mr_clip_params bounds = {&lo, &hi};
    ran(f->clip[MR_F32](stream, job(c, {&x}, &bounds)));
    expect(c, {-1, 0, 0.5, NAN, 0.5}, 0, "clip");
}

void binary(void **)
{
    struct {
        mr_binary_op op;
        double (*want)(double, double);
    } ops[] = {
        {MR_ADD, [](double a, double b) { return a + b; }},
        {MR_SUB, [](double a, double b) { return a - b; }},
        {MR_MUL, [](double a, double b) { return a * b; }},
        {MR_DIV, [](double a, double b) { return a / b; }},
        {MR_FMOD, fmod},
        {MR_PRELU, [](double a, double b) { return a < 0 ? a * b : a; }},
    };
    const struct {
        dims a, b, y;
    } shapes[] = {
        {{4, 5, 33}, {4, 5, 33}, {4, 5, 33}},
        {{4, 5, 33}, {5, 1}, {4, 5, 33}},
        {{4, 1, 33}, {5, 1}, {4, 5, 33}},
        {{}, {7}, {7}},
        {{1}, {}, {1}},
        {{2, 0, 3}, {3}, {2, 0, 3}},
        {{2, 1, 3, 1, 2, 1, 2, 1}, {1, 2, 1, 3, 1, 2, 1, 3}, {2, 2, 3, 3, 2, 2, 2, 3}},
    };
    for (mr_dtype d : float_types)
        for (auto &s : shapes)
            for (auto &op : ops) {
                array a(d, s.a, values(count(s.a), 2)), b(d, s.b, values(count(s.b), 3)), y(d, s.y);
                job j(y, {&a, &b});
                ran(f->binary[op.op][d](stream, j));
                std::vector<double> x = a.read(), z = b.read(), want;
                for (int64_t i = 0; i < count(s.y); i++) {
                    int64_t at[2] = {0, 0}, rest = i;
                    for (int k = (int)s.y.size() - 1; k >= 0; k--) {
                        for (int o = 0; o < 2; o++) at[o] += rest % s.y[(size_t)k] * j.in[(size_t)o].strides[k];
                        rest /= s.y[(size_t)k];
                    }
                    want.push_back(op.want(x[(size_t)at[0]], z[(size_t)at[1]]));
                }
                expect(y, want, 0.001, ("binary " + std::to_string(op.op)).c_str());
            }

    array a(MR_I32, {6}, {7, -7, 7, -7, -2147483648.0, 3}), b(MR_I32, {6}, {3, 3, -3, -3, -1, 4}), y(MR_I32, {6});
    auto of = [&](mr_binary_op op) { ran(f->binary[op][MR_I32](stream, job(y, {&a, &b}))); };
    of(MR_DIV);
    expect(y, {2, -2, -2, 2, -2147483648.0, 0}, 0, "div");
    of(MR_MOD);
    expect(y, {1, 2, -2, -1, 0, 3}, 0, "mod");
    of(MR_FMOD);
    expect(y, {1, -1, 1, -1, 0, 3}, 0, "fmod");
    mr_binary_params as_int = {0, MR_I32};
    ran(f->pow[MR_I32][MR_I32](stream, job(y, {&a, &b}, &as_int)));
    expect(y, {343, -343, 0, 0, 0, 81}, 0, "pow");
    array less(MR_BOOL, {6}), m(MR_F32, {2}), p(MR_F32, {2}, {NAN, 1}), q(MR_F32, {2}, {1, NAN});
    ran(f->binary[MR_LESS][MR_I32](stream, job(less, {&a, &b})));
    expect(less, {0, 1, 0, 1, 1, 1}, 0, "less");
    ran(f->max[MR_F32](stream, job(m, {&p, &q})));
    expect(m, {NAN, NAN}, 0, "max");

    array condition(MR_BOOL, {3, 1}, {1, 0, 1}), one(MR_F16, {1, 2}, {1, 2}), other(MR_F16, {}, {5}), w(MR_F16, {3, 2});
    ran(f->where[1](stream, job(w, {&condition, &one, &other})));
    expect(w, {1, 2, 5, 5, 1, 2}, 0, "where");
}

void casts(void **)
{
    array x(MR_F32, {6}, {-1.75, 300, NAN, 0, 65520, 1.5}), i(MR_U8, {6}), h(MR_F16, {6}), b(MR_BOOL, {6});
    ran(f->cast[MR_F32][MR_U8](stream, job(i, {&x})));
    expect(i, {255, 44, 0, 0, 240, 1}, 0, "cast to u8");
    ran(f->cast[MR_F32][MR_F16](stream, job(h, {&x})));
    expect(h, {-1.75, 300, NAN, 0, INFINITY, 1.5}, 0, "cast to f16");
    ran(f->cast[MR_F32][MR_BOOL](stream, job(b, {&x})));
    expect(b, {1, 1, 1, 0, 1, 1}, 0, "cast to bool");
    /* 2^60 + 2^52 + 1 is just above the middle of two bf16; through double without care it would be on it. */
    const int64_t above = (1ll << 60) + (1ll << 52) + 1;
    array l(MR_I64, {1}), n(MR_BF16, {1});
    ran(plugin->copy_in(context, l.t.data, &above, sizeof above));
    ran(f->cast[MR_I64][MR_BF16](stream, job(n, {&l})));
    expect(n, {(double)((1ll << 60) + (1ll << 53))}, 0, "cast to bf16");
}

void copies(void **)
{
    struct {
        dims shape, x_stride, y_stride;
        int64_t x_first;
    } cases[] = {
        {{5, 70, 41}, {70 * 41, 41, 1}, {70 * 41, 41, 1}, 0},    /* as it is */
        {{5, 41, 70}, {70 * 41, 1, 41}, {70 * 41, 70, 1}, 0},    /* matrices transposed */
        {{41, 70, 5}, {1, 41, 70 * 41}, {70 * 5, 5, 1}, 0},      /* all dims reversed */
        {{3, 20, 10}, {70 * 41, -82, 3}, {200, 10, 1}, 60 * 41}, /* a slice, backwards */
        {{4, 9}, {0, 1}, {9, 1}, 0},                             /* expanded */
        {{5, 30}, {41, 1}, {41, 1}, 5},                          /* into the columns of a larger matrix */
    };
    for (mr_dtype d : {MR_F32, MR_F16, MR_U8, MR_F64})
        for (auto &c : cases) {
            std::vector<double> v = values(5 * 70 * 41, 4);
            for (double &x : v) x = floor(fabs(x) * 50);
            array x(d, {5 * 70 * 41}, v), y(d, {5 * 70 * 41}, std::vector<double>(5 * 70 * 41, 7));
            mr_box box = {};
            box.rank = (int)c.shape.size();
            for (size_t i = 0; i < c.shape.size(); i++)
                box.dims[i] = c.shape[i], box.xs[i] = c.x_stride[i], box.ys[i] = c.y_stride[i];
            mr_copy_args a = {(char *)x.t.data + c.x_first * (int64_t)size_of(d), y.t.data, &box, nullptr};
            ran(f->copy[mr_size_index(size_of(d))](stream, &a));
            std::vector<double> want(5 * 70 * 41, 7);
            for (int64_t i = 0; i < count(c.shape); i++) {
                int64_t from = c.x_first, to = 0, rest = i;
                for (size_t k = c.shape.size(); k-- > 0; rest /= c.shape[k])
                    from += rest % c.shape[k] * c.x_stride[k], to += rest % c.shape[k] * c.y_stride[k];
                want[(size_t)to] = v[(size_t)from];
            }
            expect(y, want, 0, "copy");
        }
}

void gathers(void **)
{
    array x(MR_F32, {2, 3, 2}, {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}), y(MR_F32, {2, 2, 2});
    array i(MR_I64, {2}, {-1, 0}), bad(MR_I64, {1}, {99}), wrong(MR_I32, {2}, {3, 1});
    mr_gather_args a = {};
    a.x = x.t.data, a.y = y.t.data, a.index = {i.t.data, true};
    a.outer = 2, a.dim = 3, a.n = 2, a.inner = 2;
    ran(f->gather[2](stream, &a, (int64_t *)bad.t.data));
    expect(y, {20, 21, 0, 1, 120, 121, 100, 101}, 0, "gather");
    expect(bad, {99}, 0, "gather's bad index");
    a.index = {wrong.t.data, false};
    ran(f->gather[2](stream, &a, (int64_t *)bad.t.data));
    expect(y, {0, 0, 10, 11, 0, 0, 110, 111}, 0, "gather");
    expect(bad, {3}, 0, "gather's bad index");
}

void pads(void **)
{
    array x(MR_F32, {2, 3}, {1, 2, 3, 4, 5, 6}), y(MR_F32, {2, 8}), z(MR_F32, {2, 5});
    const float value = 9;
    mr_cuda_pad_args a = {};
    a.x = x.t.data, a.y = y.t.data, a.value = &value;
    a.rank = 2, a.dims[0] = 2, a.dims[1] = 3, a.begin[1] = 2, a.end[1] = 3;
    auto of = [&](array &to, mr_cuda_pad_mode mode, const std::vector<double> &row) {
        a.mode = mode;
        ran(f->pad[2](stream, &a));
        std::vector<double> want = row;
        for (double v : row) want.push_back(v == 9 ? 9 : v + 3);
        expect(to, want, 0, "pad");
    };
    of(y, MR_PAD_CONSTANT, {9, 9, 1, 2, 3, 9, 9, 9});
    of(y, MR_PAD_EDGE, {1, 1, 1, 2, 3, 3, 3, 3});
    of(y, MR_PAD_REFLECT, {3, 2, 1, 2, 3, 2, 1, 2});
    of(y, MR_PAD_WRAP, {2, 3, 1, 2, 3, 1, 2, 3});
    a.y = z.t.data, a.begin[1] = -1, a.end[1] = 3; /* of 2 and 3 */
    of(z, MR_PAD_CONSTANT, {2, 3, 9, 9, 9});
    of(z, MR_PAD_REFLECT, {2, 3, 2, 3, 2});
}

void gemms(void **)
{
    struct {
        int64_t m, n, k;
        bool ta, tb;
    } cases[] = {{1, 1, 1, 0, 0},     {64, 64, 16, 0, 0},   {65, 63, 17, 0, 1}, {3, 130, 200, 1, 0},
                 {100, 10, 33, 1, 1}, {1, 100, 1000, 0, 1}, {5, 4, 0, 0, 0}};
    for (mr_dtype d : {MR_F32, MR_F16, MR_BF16, MR_F64, MR_I32})
        for (auto &c : cases) {
            std::vector<double> va = values(2 * c.m * c.k + 1, 5), vb = values(3 * c.k * c.n + 1, 6);
            if (d == MR_I32)
                for (auto *v : {&va, &vb})
                    for (double &x : *v) x = floor(x * 1000);
            array a(d, {2 * c.m * c.k + 1}, va), b(d, {3 * c.k * c.n + 1}, vb), y(d, {6, c.m, c.n});
            array bias(d, {c.n}, std::vector<double>((size_t)c.n, 2));
            mr_gemm_args g = {};
            g.p.m = c.m, g.p.n = c.n, g.p.k = c.k;
            g.p.a_row = c.ta ? 1 : c.k, g.p.a_col = c.ta ? c.m : 1;
            g.p.b_row = c.tb ? 1 : c.n, g.p.b_col = c.tb ? c.k : 1;
            g.p.batch_rank = 2; /* [2, 1] and [3] of matrices */
            g.p.batch[0] = 2, g.p.batch[1] = 3;
            g.p.a_batch[0] = c.m * c.k, g.p.b_batch[1] = c.k * c.n;
            g.a = a.t.data, g.b = b.t.data, g.c = bias.t.data, g.y = y.t.data;
            g.c_col = 1;
            g.alpha = d == MR_I32 ? 1.5f : 0.5f, g.beta = 3;
            ran(f->gemm[d](stream, &g));
            std::vector<double> x = a.read(), z = b.read(), want;
            for (int64_t i = 0; i < 6; i++)
                for (int64_t row = 0; row < c.m; row++)
                    for (int64_t column = 0; column < c.n; column++) {
                        double sum = 0;
                        for (int64_t p = 0; p < c.k; p++)
                            sum += x[(size_t)(i / 3 * c.m * c.k + row * g.p.a_row + p * g.p.a_col)] *
                                   z[(size_t)(i % 3 * c.k * c.n + p * g.p.b_row + column * g.p.b_col)];
                        want.push_back(d == MR_I32 ? trunc(1.5 * sum + 6) : 0.5 * sum + 6);
                    }
            expect(y, want, sqrt((double)c.k), "gemm");
        }
}

struct conv_case {
    int64_t batch, groups, channels, maps; /* of a group */
    std::vector<mr_conv_axis> axes;
};

/* in, taps, stride, dilation, pad on both sides */
mr_conv_axis axis(int64_t in, int64_t taps, int64_t stride, int64_t dilation, int64_t pad)
{
    mr_conv_axis a = {};
    a.in = in, a.taps = taps, a.stride = stride, a.dilation = dilation, a.offset = -pad;
    a.out = (in + 2 * pad - dilation * (taps - 1) - 1) / stride + 1;
    return a;
}

std::vector<double> convolve(const mr_conv_args &a, const std::vector<double> &x, const std::vector<double> &w,
                             const std::vector<double> &b)
{
    int64_t taps = mr_conv_taps(&a), pixels = mr_conv_pixels(&a);
    std::vector<double> y((size_t)(a.batch * a.groups * a.maps * pixels));
    for (size_t i = 0; i < y.size(); i++) {
        int64_t pixel = (int64_t)i % pixels, map = (int64_t)i / pixels % (a.groups * a.maps);
        int64_t image = (int64_t)i / pixels / (a.groups * a.maps), group = map / a.maps;
        double sum = b[(size_t)map];
        for (int64_t c = 0; c < a.channels; c++)
            for (int64_t t = 0; t < taps; t++) {
                int64_t at = 0, o = pixel, tap = t;
                bool inside = true;
                for (int d = a.rank - 1; d >= 0; d--) {
                    const mr_conv_axis &v = a.axis[d];
                    int64_t k = v.offset + o % v.out * v.stride + tap % v.taps * v.dilation;
                    inside = inside && k >= 0 && k < v.in;
                    at += k * v.x_step;
                    o /= v.out, tap /= v.taps;
                }
                if (inside)
                    sum += x[(size_t)(((image * a.groups + group) * a.channels + c) * a.x_channel + at)] *
                           w[(size_t)((map * a.channels + c) * taps + t)];
            }
        y[i] = sum;
    }
    return y;
}

void convs(void **)
{
    const conv_case cases[] = {
        {1, 1, 1, 1, {axis(5, 3, 1, 1, 0), axis(5, 3, 1, 1, 0)}},
        {2, 1, 3, 20, {axis(9, 3, 2, 1, 1), axis(11, 5, 1, 1, 2)}},
        {1, 2, 4, 32, {axis(8, 3, 1, 2, 2), axis(8, 3, 1, 2, 2)}},
        {1, 6, 1, 1, {axis(7, 3, 1, 1, 1), axis(7, 3, 1, 1, 1)}},
        {3, 1, 17, 70, {axis(6, 1, 1, 1, 0), axis(6, 1, 1, 1, 0)}},
        {1, 1, 2, 16, {axis(30, 4, 3, 2, 1)}},
        {1, 1, 2, 17, {axis(5, 2, 1, 1, 0), axis(4, 3, 1, 1, 1), axis(6, 2, 2, 1, 0)}},
    };
    for (mr_dtype d : float_types)
        for (const conv_case &c : cases) {
            mr_conv_args a = {};
            a.rank = (int)c.axes.size();
            a.batch = c.batch, a.groups = c.groups, a.channels = c.channels, a.maps = c.maps;
            a.x_channel = a.y_map = a.w_channel = 1;
            for (int i = a.rank - 1; i >= 0; i--) {
                a.axis[i] = c.axes[(size_t)i];
                a.axis[i].x_step = a.x_channel, a.axis[i].w_step = a.w_channel, a.axis[i].y_step = a.y_map;
                a.x_channel *= a.axis[i].in, a.w_channel *= a.axis[i].taps, a.y_map *= a.axis[i].out;
            }
            a.w_map = a.channels * a.w_channel, a.w_group = a.maps * a.w_map;
            const int64_t xn = a.batch * a.groups * a.channels * a.x_channel, wn = a.groups * a.w_group;
            array x(d, {xn}, values(xn, 7)), w(d, {wn}, values(wn, 8));
            array b(d, {a.groups * a.maps}, values(a.groups * a.maps, 9)),
                y(d, {a.batch * a.groups * a.maps * a.y_map});
            a.x = x.t.data, a.w = w.t.data, a.b = b.t.data, a.y = y.t.data;
            ran(f->conv[d](stream, &a));
            expect(y, convolve(a, x.read(), w.read(), b.read()), 4, "conv");
        }
}

void pools(void **)
{
    /* one axis, 5 elements: windows of 3 by 2, one of padding before, two after */
    for (mr_dtype d : float_types) {
        array x(d, {2, 5}, {1, 5, 2, 4, 3, -1, -5, -2, -4, NAN}), y(d, {2, 3}), i(MR_I64, {2, 3});
        mr_pool_args a = {};
        a.x = x.t.data, a.y = y.t.data, a.indices = (int64_t *)i.t.data;
        a.planes = 2, a.rank = 1, a.p = 2;
        a.axis[0] = {5, 3, 3, 2, 1, 1, 2};
        ran(f->max_pool[d](stream, &a));
        expect(y, {5, 5, 4, -1, -2, NAN}, 0, "max pool");
        expect(i, {1, 1, 3, 5, 7, 9}, 0, "max pool's indices");
        ran(f->average_pool[d](stream, &a));
        expect(y, {3, 11 / 3.0, 3.5, -3, -11 / 3.0, NAN}, 0, "average pool");
        a.count_pads = true;
        ran(f->average_pool[d](stream, &a));
        expect(y, {2, 11 / 3.0, 7 / 3.0, -2, -11 / 3.0, NAN}, 0, "average pool with padding");
        ran(f->lp_pool[d](stream, &a));
        expect(y, {sqrt(26), sqrt(45), 5, sqrt(26), sqrt(45), NAN}, 0, "lp pool");
    }
    /* two axes: places counted with the first axis fastest */
    array x(MR_U8, {1, 2, 3}, {1, 2, 9, 4, 5, 6}), y(MR_U8, {1, 1, 2}), i(MR_I64, {1, 1, 2});
    mr_pool_args a = {};
    a.x = x.t.data, a.y = y.t.data, a.indices = (int64_t *)i.t.data;
    a.planes = 1, a.rank = 2, a.column_major = true;
    a.axis[0] = {2, 1, 2, 1, 1, 0, 0}, a.axis[1] = {3, 2, 2, 1, 1, 0, 0};
    ran(f->max_pool[MR_U8](stream, &a));
    expect(y, {5, 9}, 0, "max pool");
    expect(i, {3, 4}, 0, "max pool's indices");
}

void softmaxes(void **)
{
    const int64_t cases[][3] = {{3, 10, 1}, {2, 300, 5}, {7, 1000, 1}, {1, 4, 6}, {1, 1, 1}}; /* outer, n, inner */
    for (mr_dtype d : float_types)
        for (auto &c : cases)
            for (int log_of = 0; log_of < 2; log_of++) {
                const int64_t n = c[1], inner = c[2], rows = c[0] * inner;
                array x(d, {rows * n}, values(rows * n, 10)), y(d, {rows * n});
                mr_softmax_args a = {x.t.data, y.t.data, c[0], n, inner, nullptr};
                ran((log_of ? f->log_softmax : f->softmax)[d](stream, &a));
                std::vector<double> v = x.read(), want(v.size());
                for (int64_t r = 0; r < rows; r++) {
                    auto at = [&](int64_t i) { return (size_t)((r / inner * n + i) * inner + r % inner); };
                    double sum = 0;
                    for (int64_t i = 0; i < n; i++) sum += exp(v[at(i)]);
                    for (int64_t i = 0; i < n; i++) want[at(i)] = log_of ? v[at(i)] - log(sum) : exp(v[at(i)]) / sum;
                }
                expect(y, want, 0.001, "softmax");
            }
    array x(MR_F32, {4}, {1e38, -1e38, 1e38, -INFINITY}), y(MR_F32, {4});
    mr_softmax_args a = {x.t.data, y.t.data, 1, 4, 1, nullptr};
    ran(f->softmax[MR_F32](stream, &a));
    expect(y, {0.5, 0, 0.5, 0}, 0, "softmax of large numbers");
    ran(f->hardmax[MR_F32](stream, &a));
    expect(y, {1, 0, 0, 0}, 0, "hardmax");
}

/* x reduced over the axes whose bit is set */
struct boxes {
    mr_box kept = {}, reduced = {};
    dims left;
    boxes(const dims &shape, uint32_t axes)
    {
        int64_t stride = count(shape);
        for (size_t d = 0; d < shape.size(); d++) {
            bool gone = axes >> d & 1;
            mr_box &b = gone ? reduced : kept;
            stride /= shape[d] ? shape[d] : 1;
            b.dims[b.rank] = shape[d];
            b.xs[b.rank++] = stride;
            if (!gone) left.push_back(shape[d]);
        }
    }
};

void reductions(void **)
{
    const struct {
        dims shape;
        uint32_t axes;
    } cases[] = {{{6, 700}, 2}, {{70, 6}, 1}, {{3, 5, 7, 9}, 0xa}, {{3, 5, 7, 9}, 5}, {{4, 5}, 3},
                 {{2, 3}, 0},   {{}, 0}};
    struct op {
        mr_reduction id;
        double start, (*step)(double, double), (*finish)(double, double);
    };
    auto same = [](double y, double) { return y; };
    const op ops[] = {
        {MR_REDUCE_SUM, 0, [](double y, double x) { return y + x; }, same},
        {MR_REDUCE_MEAN, 0, [](double y, double x) { return y + x; }, [](double y, double n) { return y / n; }},
        {MR_REDUCE_MAX, -INFINITY, [](double y, double x) { return fmax(y, x); }, same},
        {MR_REDUCE_MIN, INFINITY, [](double y, double x) { return fmin(y, x); }, same},
        {MR_REDUCE_L1, 0, [](double y, double x) { return y + fabs(x); }, same},
        {MR_REDUCE_L2, 0, [](double y, double x) { return y + x * x; }, [](double y, double) { return sqrt(y); }},
        {MR_REDUCE_SUM_SQUARE, 0, [](double y, double x) { return y + x * x; }, same},
        {MR_REDUCE_LOG_SUM_EXP, 0, [](double y, double x) { return y + exp(x); },
         [](double y, double) { return log(y); }},
    };
    for (mr_dtype d : float_types)
        for (auto &c : cases)
            for (const op &o : ops) {
                boxes b(c.shape, c.axes);
                array x(d, c.shape, values(count(c.shape), 11)), y(d, b.left);
                mr_reduce_args a = {x.t.data, y.t.data, &b.kept, &b.reduced, nullptr};
                ran(f->reduce[o.id][d](stream, &a));
                std::vector<double> v = x.read(), want((size_t)count(b.left), o.start);
                for (size_t i = 0; i < v.size(); i++) {
                    size_t at = 0, rest = i, step = 1;
                    for (size_t k = c.shape.size(); k-- > 0; rest /= (size_t)c.shape[k])
                        if (!(c.axes >> k & 1)) {
                            at += rest % (size_t)c.shape[k] * step;
                            step *= (size_t)c.shape[k];
                        }
                    want[at] = o.step(want[at], v[i]);
                }
                for (double &w : want) w = o.finish(w, (double)(v.size() / want.size()));
                expect(y, want, 0.001, "reduction");
            }

    array i8(MR_I8, {1, 4}, {-128, 100, 100, -7}), r8(MR_I8, {1});
    boxes row({1, 4}, 2);
    mr_reduce_args whole = {i8.t.data, r8.t.data, &row.kept, &row.reduced, nullptr};
    ran(f->reduce[MR_REDUCE_SUM][MR_I8](stream, &whole));
    expect(r8, {65}, 0, "sum of i8");
    ran(f->reduce[MR_REDUCE_L1][MR_I8](stream, &whole));
    expect(r8, {79}, 0, "l1 of i8"); /* 335 - 256 */
    ran(f->reduce[MR_REDUCE_MIN][MR_I8](stream, &whole));
    expect(r8, {-128}, 0, "min of i8");

    array e(MR_F32, {2, 0}), z(MR_F32, {2});
    boxes none({2, 0}, 2);
    mr_reduce_args empty = {e.t.data, z.t.data, &none.kept, &none.reduced, nullptr};
    ran(f->reduce[MR_REDUCE_SUM][MR_F32](stream, &empty));
    expect(z, {0, 0}, 0, "sum of nothing");
    ran(f->reduce[MR_REDUCE_MAX][MR_F32](stream, &empty));
    expect(z, {-INFINITY, -INFINITY}, 0, "max of nothing");

    array x(MR_F32, {3, 3}, {1, 3, 3, NAN, 5, NAN, -1, -2, -2}), at(MR_I64, {3});
    auto arg = [&](bool min, bool last) {
        mr_arg_args a = {x.t.data, (int64_t *)at.t.data, 3, 3, 1, min, last, nullptr};
        ran(f->arg[MR_F32](stream, &a));
    };
    arg(false, false);
    expect(at, {1, 0, 0}, 0, "arg max");
    arg(false, true);
    expect(at, {2, 2, 0}, 0, "arg max, last");
    arg(true, true);
    expect(at, {0, 2, 2}, 0, "arg min, last");
}

void norms(void **)
{
    for (mr_dtype d : float_types) {
        array x(d, {2, 3, 50}, values(300, 12)), y(d, {2, 3, 50}), mean(MR_F32, {6}), inv(MR_F32, {6});
        array scale(d, {3}, {1, 2, 0.5}), bias(d, {3}, {0, 1, -1}), m(d, {3}, {0.5, 0, -0.5}),
            var(d, {3}, {1, 4, 0.25});
        mr_cuda_batchnorm_args batch = {x.t.data, scale.t.data, bias.t.data, m.t.data, var.t.data, y.t.data, 2,
                                        3,        50,           1e-5};
        ran(f->batchnorm[d](stream, &batch));
        std::vector<double> v = x.read(), want;
        const double s[] = {1, 2, 0.5}, b[] = {0, 1, -1}, mu[] = {0.5, 0, -0.5}, va[] = {1, 4, 0.25};
        for (size_t i = 0; i < 300; i++) {
            size_t c = i / 50 % 3;
            want.push_back((v[i] - mu[c]) * s[c] / sqrt(va[c] + 1e-5) + b[c]);
        }
        expect(y, want, 1, "batch normalization");

        array weight(d, {50}, values(50, 13)), shift(d, {50}, values(50, 14));
        job affine(y, {&weight, &shift});
        mr_cuda_layernorm_args rows = {x.t.data, affine, (float *)mean.t.data, (float *)inv.t.data, 6, 50, 1e-5};
        ran(f->layernorm[d](stream, &rows));
        std::vector<double> g = weight.read(), h = shift.read(), means, invs;
        want.clear();
        for (size_t r = 0; r < 6; r++) {
            double sum = 0, squares = 0;
            for (size_t i = 0; i < 50; i++) sum += v[r * 50 + i];
            for (size_t i = 0; i < 50; i++) squares += pow(v[r * 50 + i] - sum / 50, 2);
            means.push_back(sum / 50);
            invs.push_back(1 / sqrt(squares / 50 + 1e-5));
            for (size_t i = 0; i < 50; i++) want.push_back((v[r * 50 + i] - means[r]) * invs[r] * g[i] + h[i]);
        }
        expect(y, want, 1, "layer normalization");
        expect(mean, means, 1, "mean");
        expect(inv, invs, 1, "inverse deviation");
    }
}

/* What goes wrong is told: by alloc, and by the error of a context. */
void device_errors(void **)
{
    assert_null(plugin->alloc(context, SIZE_MAX / 4));
    assert_non_null(strstr(plugin->error(context), "out of memory"));
    char text[256] = "";
    assert_int_not_equal(plugin->probe(99, text, sizeof text), 0);
    assert_non_null(strstr(text, "there is no device 99"));
    assert_int_equal(plugin->describe(0, text, sizeof text), 0);
    print_message("           %s: %s\n", plugin->name, text);
}
} // namespace

int main(int argc, char **argv)
{
    std::string program = argv[0], folder = program.substr(0, program.rfind('/') + 1);
    std::string path = argc > 1 ? argv[1] : folder + "../libminirt_cuda_host.so";
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    plugin = (const mr_device_plugin *)dlsym(library, "mr_plugin_v1");
    if (!plugin || plugin->abi != MR_PLUGIN_ABI) return fprintf(stderr, "%s is no plugin\n", path.c_str()), 1;
    char why[512];
    if (plugin->probe(0, why, sizeof why)) return printf("skip: %s: %s\n", plugin->name, why), 0;
    if (plugin->open(0, &context)) return fprintf(stderr, "%s does not open\n", plugin->name), 1;
    f = plugin->fns;
    stream = plugin->stream(context);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary),         cmocka_unit_test(binary),     cmocka_unit_test(casts),
        cmocka_unit_test(copies),        cmocka_unit_test(gathers),    cmocka_unit_test(pads),
        cmocka_unit_test(gemms),         cmocka_unit_test(convs),      cmocka_unit_test(pools),
        cmocka_unit_test(softmaxes),     cmocka_unit_test(reductions), cmocka_unit_test(norms),
        cmocka_unit_test(device_errors),
    };
    int failed = cmocka_run_group_tests_name("cuda_kernels", tests, nullptr, nullptr);
    plugin->close(context);
    return failed;
}
