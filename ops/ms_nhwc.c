/* ms_nhwc.c: com.microsoft's operators on images with their channels last: NhwcMaxPool, NhwcConv, and QLinearConv,
 * which has them there or second. */
#include "ops/channels_last.h"
#include "ops/convolution.h"
#include "ops/ms_quant.h"
#include "ops/pool.h"

enum { IMAGE = 1 };

/* ---- NhwcMaxPool ---- */

static mr_status pool_infer(mr_call *c)
{
    return mr_channels_last_infer(c, IMAGE, mr_pool_infer);
}
static size_t pool_scratch(const mr_call *c)
{
    return mr_channels_last_scratch(c, IMAGE, mr_pool_scratch);
}
static mr_status pool_run(mr_call *c)
{
    return mr_channels_last_run(c, IMAGE, mr_pool_run);
}

static const mr_impl pool_rows[] = {
    {.name = "nhwc_max_pool", .have = mr_max_pool_have, .run = pool_run, .scratch = pool_scratch}, {0}};

/* ---- NhwcConv ---- */

static mr_status conv_infer(mr_call *c)
{
    return mr_channels_last_infer(c, IMAGE, mr_conv_infer);
}
static size_t conv_scratch(const mr_call *c)
{
    return mr_channels_last_scratch(c, IMAGE, mr_conv_scratch);
}
static mr_status conv_run(mr_call *c)
{
    return mr_channels_last_run(c, IMAGE, mr_conv_run);
}

static const mr_impl conv_rows[] = {{.name = "nhwc_conv",
                                     .have = mr_conv_have,
                                     .run = conv_run,
                                     .scratch = conv_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_conv_pack_size,
                                     .pack = mr_conv_pack},
                                    {0}};

/* ---- QLinearConv ---- */

typedef struct qconv_params {
    mr_conv_params conv; /* first: QLinearConv's own functions read it */
    bool last;
} qconv_params;

static void qconv_read(mr_reader *r, void *params)
{
    mr_conv_read(r, params);
    ((qconv_params *)params)->last = mr_read_int(r, "channels_last", 0) != 0;
}

static bool last(const mr_call *c)
{
    return ((const qconv_params *)c->params)->last;
}

static mr_status qconv_infer(mr_call *c)
{
    return last(c) ? mr_channels_last_infer(c, IMAGE, mr_qconv_infer) : mr_qconv_infer(c);
}
static size_t qconv_scratch(const mr_call *c)
{
    return last(c) ? mr_channels_last_scratch(c, IMAGE, mr_qconv_scratch) : mr_qconv_scratch(c);
}
static mr_status qconv_run(mr_call *c)
{
    return last(c) ? mr_channels_last_run(c, IMAGE, mr_qconv_run) : mr_qconv_run(c);
}

static const mr_impl qconv_rows[] = {{.name = "ms_qlinear_conv",
                                      .have = mr_qconv_have,
                                      .run = qconv_run,
                                      .scratch = qconv_scratch,
                                      .pack_in = 1 << 3,
                                      .pack_size = mr_qconv_pack_size,
                                      .pack = mr_qconv_pack},
                                     {0}};

const mr_op mr_ops_ms_nhwc[] = {
    {MR_MS, "NhwcMaxPool", 1, 0, sizeof(mr_pool_params), mr_pool_read, pool_infer, pool_rows, 0, NULL, mr_pool_flops},
    {MR_MS, "NhwcConv", 1, 0, sizeof(mr_conv_params), mr_conv_read, conv_infer, conv_rows, 0, NULL, mr_conv_flops},
    {MR_MS, "QLinearConv", 1, 0, sizeof(qconv_params), qconv_read, qconv_infer, qconv_rows, 0, NULL, mr_qconv_flops},
    {0},
};
