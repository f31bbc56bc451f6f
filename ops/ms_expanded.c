/* ms_expanded.c: com.microsoft's operators that are a few of ONNX's. Each sum and product is rounded to its type before
 * it goes on, as its parts alone would be. */
#include "ops/gradient.h"
#include "ops/ms_quant.h"
#include "runtime/graph.h"

/* ---- building ---- */

static int in(const mr_expansion *x, int i)
{
    return i < x->call->n_in ? x->call->in[i] : -1;
}

static int op(mr_expansion *x, const char *name, int a, int b)
{
    return mr_gradient_op(x, name, a, b, -1);
}

static int number(mr_expansion *x, int64_t v)
{
    return mr_gradient_ints(x, &v, 1);
}

/* Output o of the call is the value. */
static void give(mr_expansion *x, int o, int value)
{
    if (o >= x->call->n_out || x->call->out[o] < 0) return;
    mr_node *n = mr_expansion_node(x, "Identity", 1, &value, 1);
    if (n) n->out[0] = x->call->out[o];
}

/* The two halves of the last dimension. */
static void halve(mr_expansion *x, int value, int half[2])
{
    mr_node *n = mr_expansion_node(x, "Split", 1, &value, 2);
    mr_expansion_int(x, n, "axis", -1);
    mr_expansion_int(x, n, "num_outputs", 2);
    for (int i = 0; i < 2; i++) half[i] = n ? n->out[i] : -1;
}

static int cast(mr_expansion *x, int value, mr_dtype to)
{
    mr_node *n = mr_expansion_node(x, "Cast", 1, &value, 1);
    mr_expansion_int(x, n, "to", to);
    return n ? n->out[0] : -1;
}

static int concat(mr_expansion *x, int a, int b, int axis)
{
    mr_node *n = mr_expansion_node(x, "Concat", 2, (int[]){a, b}, 1);
    mr_expansion_int(x, n, "axis", axis);
    return n ? n->out[0] : -1;
}

static int gelu(mr_expansion *x, int value, const char *approximate)
{
    mr_node *n = mr_expansion_node(x, "Gelu", 1, &value, 1);
    mr_expansion_string(x, n, "approximate", approximate);
    return n ? n->out[0] : -1;
}

/* ---- Rfft, Irfft: of the last signal_ndim dimensions, the last one of which is real ---- */

typedef struct fft_params {
    int64_t dims;
} fft_params;

static void fft_read(mr_reader *r, void *params)
{
    fft_params *p = params;
    p->dims = mr_read_int(r, "signal_ndim", 1);
    if (p->dims < 1 || p->dims > 3)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute signal_ndim = %lld is none of 1, 2, 3", (long long)p->dims);
    if (mr_read_int(r, "normalized", 0) != 0) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute normalized must be 0");
    if (mr_read_int(r, "onesided", 1) != 1) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute onesided must be 1");
}

/* Along signal dimension k from the end; the last one is real. */
static int transform(mr_expansion *x, int value, int64_t k, bool inverse)
{
    mr_node *n = mr_expansion_node(x, "DFT", 3, (int[]){value, -1, number(x, -2 - k)}, 1);
    mr_expansion_int(x, n, "inverse", inverse);
    mr_expansion_int(x, n, "onesided", k == 0);
    return n ? n->out[0] : -1;
}

static void rfft(mr_expansion *x)
{
    const fft_params *p = x->call->params;
    int y = op(x, "Unsqueeze", in(x, 0), number(x, -1));
    for (int64_t k = 0; k < p->dims; k++) y = transform(x, y, k, false);
    give(x, 0, y);
}

static void irfft(mr_expansion *x)
{
    const fft_params *p = x->call->params;
    int y = in(x, 0);
    for (int64_t k = p->dims - 1; k >= 0; k--) y = transform(x, y, k, true);
    give(x, 0, op(x, "Squeeze", y, number(x, -1)));
}

/* ---- ComplexMul, ComplexMulConj: the last dimension has the real and the imaginary part ---- */

static void complex_mul(mr_expansion *x, const char *real_op, const char *imaginary_op)
{
    int a[2], b[2];
    halve(x, in(x, 0), a);
    halve(x, in(x, 1), b);
    int real = op(x, real_op, op(x, "Mul", a[0], b[0]), op(x, "Mul", a[1], b[1]));
    int imaginary = op(x, imaginary_op, op(x, "Mul", a[1], b[0]), op(x, "Mul", a[0], b[1]));
    give(x, 0, concat(x, real, imaginary, -1));
}

static void plain_mul(mr_expansion *x)
{
    complex_mul(x, "Sub", "Add");
}
static void conjugate_mul(mr_expansion *x)
{
    complex_mul(x, "Add", "Sub");
}

/* ---- what stands behind a sum or a product ---- */

static void bias_split_gelu(mr_expansion *x)
{
    int half[2];
    halve(x, op(x, "Add", in(x, 0), in(x, 1)), half);
    give(x, 0, op(x, "Mul", half[0], gelu(x, half[1], "none")));
}

static void gemm_fast_gelu(mr_expansion *x)
{
    int y = op(x, "MatMul", in(x, 0), in(x, 1));
    if (in(x, 2) >= 0) y = op(x, "Add", y, in(x, 2));
    give(x, 0, gelu(x, y, "tanh"));
}

typedef struct softmax_params {
    int64_t axis;
} softmax_params;

/* is_inner_broadcast says which dimensions of the bias have extent 1 or are missing: that is seen at its shape. */
static void softmax_read(mr_reader *r, void *params)
{
    ((softmax_params *)params)->axis = mr_read_int(r, "axis", 1);
    mr_read_ignore(r, "is_inner_broadcast");
}

/* The dimensions from axis on are one row. */
static void bias_softmax(mr_expansion *x)
{
    const softmax_params *p = x->call->params;
    int sum = op(x, "Add", in(x, 0), in(x, 1)), shape = op(x, "Shape", sum, -1);
    mr_node *before = mr_expansion_node(x, "Shape", 1, &sum, 1);
    mr_expansion_int(x, before, "end", p->axis);
    int rows = op(x, "Reshape", sum, concat(x, before ? before->out[0] : -1, number(x, -1), 0));
    mr_node *n = mr_expansion_node(x, "Softmax", 1, &rows, 1);
    mr_expansion_int(x, n, "axis", -1);
    give(x, 0, op(x, "Reshape", n ? n->out[0] : -1, shape));
}

typedef struct dropout_params {
    bool seeded;
    int64_t seed;
} dropout_params;

static void dropout_read(mr_reader *r, void *params)
{
    dropout_params *p = params;
    p->seeded = mr_read_has(r, "seed");
    p->seed = p->seeded ? mr_read_int(r, "seed", 0) : 0;
}

static void bias_dropout(mr_expansion *x)
{
    const dropout_params *p = x->call->params;
    int sum = op(x, "Add", in(x, 0), in(x, 1));
    mr_node *n = mr_expansion_node(x, "Dropout", 3, (int[]){sum, in(x, 3), in(x, 4)}, 2);
    if (p->seeded) mr_expansion_int(x, n, "seed", p->seed);
    int y = n ? n->out[0] : -1;
    give(x, 0, in(x, 2) >= 0 ? op(x, "Add", y, in(x, 2)) : y);
    give(x, 1, n ? n->out[1] : -1);
}

/* ---- integers in 32 bits, where they wrap ---- */

static int centred(mr_expansion *x, int value, int zero)
{
    int wide = cast(x, value, MR_I32);
    return zero < 0 ? wide : op(x, "Sub", wide, cast(x, zero, MR_I32));
}

static void mul_integer(mr_expansion *x)
{
    give(x, 0, op(x, "Mul", centred(x, in(x, 0), in(x, 1)), centred(x, in(x, 2), in(x, 3))));
}

static void matmul_integer_16(mr_expansion *x)
{
    give(x, 0, op(x, "MatMul", cast(x, in(x, 0), MR_I32), cast(x, in(x, 1), MR_I32)));
}

/* ---- tables ---- */

/* padding_idx and scale_grad_by_freq are the gradient's. */
static void torch_embedding(mr_expansion *x)
{
    give(x, 0, op(x, "Gather", in(x, 0), in(x, 1)));
}

enum { IDS, SEGMENTS, WORD, POSITION, SEGMENT, GAMMA, BETA, MASK, WORD_SCALE, WORD_ZERO = 13 };

typedef struct embed_params {
    float epsilon;
} embed_params;

static void embed_read(mr_reader *r, void *params)
{
    ((embed_params *)params)->epsilon = mr_read_float(r, "epsilon", 1e-12f);
}

/* Codes of table i, or rows of it, as numbers. */
static int numbers(mr_expansion *x, int i, int codes)
{
    return mr_gradient_op(x, "DequantizeLinear", codes, in(x, WORD_SCALE + i - WORD), in(x, WORD_ZERO + i - WORD));
}

/* How many of each row's mask are 1; 0, where there is no mask. */
static int mask_index(mr_expansion *x)
{
    int one = cast(x, number(x, 1), MR_I32), mask = in(x, MASK);
    int counted = mask >= 0 ? op(x, "Equal", mask, one) : op(x, "Less", in(x, IDS), in(x, IDS));
    mr_node *n = mr_expansion_node(x, "ReduceSum", 2, (int[]){cast(x, counted, MR_I32), number(x, 1)}, 1);
    mr_expansion_int(x, n, "keepdims", 0);
    return n ? n->out[0] : -1;
}

static void qembed(mr_expansion *x)
{
    const embed_params *p = x->call->params;
    mr_node *length = mr_expansion_node(x, "Shape", 1, (int[]){in(x, IDS)}, 1);
    mr_expansion_int(x, length, "start", 1);
    int places = mr_gradient_op(x, "Slice", in(x, POSITION), number(x, 0), length ? length->out[0] : -1);
    int words = numbers(x, WORD, op(x, "Gather", in(x, WORD), in(x, IDS)));
    int sum = op(x, "Add", words, numbers(x, POSITION, places));
    if (in(x, SEGMENT) >= 0 && in(x, SEGMENTS) >= 0)
        sum = op(x, "Add", sum, numbers(x, SEGMENT, op(x, "Gather", in(x, SEGMENT), in(x, SEGMENTS))));
    int scale = numbers(x, GAMMA, in(x, GAMMA)), bias = numbers(x, BETA, in(x, BETA));
    mr_node *n = mr_expansion_node(x, "LayerNormalization", 3, (int[]){sum, scale, bias}, 1);
    mr_expansion_float(x, n, "epsilon", p->epsilon);
    give(x, 0, n ? n->out[0] : -1);
    give(x, 1, mask_index(x));
}

#define ROWS(f) static const mr_impl f##_rows[] = {{.name = #f, .expand = f}, {0}}
ROWS(rfft);
ROWS(irfft);
ROWS(plain_mul);
ROWS(conjugate_mul);
ROWS(bias_split_gelu);
ROWS(gemm_fast_gelu);
ROWS(bias_softmax);
ROWS(bias_dropout);
ROWS(mul_integer);
ROWS(matmul_integer_16);
ROWS(torch_embedding);
ROWS(qembed);

#define OP(name, size, read, rows)                                                                                     \
    {                                                                                                                  \
        MR_MS, name, 1, 0, size, read, NULL, rows, 0, NULL, NULL                                                       \
    }

const mr_op mr_ops_ms_expanded[] = {
    OP("Rfft", sizeof(fft_params), fft_read, rfft_rows),
    OP("Irfft", sizeof(fft_params), fft_read, irfft_rows),
    OP("ComplexMul", 0, NULL, plain_mul_rows),
    OP("ComplexMulConj", 0, NULL, conjugate_mul_rows),
    OP("BiasSplitGelu", 0, NULL, bias_split_gelu_rows),
    OP("GemmFastGelu", 0, NULL, gemm_fast_gelu_rows),
    OP("BiasSoftmax", sizeof(softmax_params), softmax_read, bias_softmax_rows),
    OP("BiasDropout", sizeof(dropout_params), dropout_read, bias_dropout_rows),
    OP("MulInteger", 0, NULL, mul_integer_rows),
    OP("MatMulInteger16", 0, NULL, matmul_integer_16_rows),
    OP("TorchEmbedding", 0, NULL, torch_embedding_rows),
    OP("QEmbedLayerNormalization", sizeof(embed_params), embed_read, qembed_rows),
    {0},
};
