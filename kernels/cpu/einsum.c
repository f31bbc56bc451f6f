/* einsum.c: see einsum.h. */
#include "kernels/cpu/einsum.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

/* The dimensions that are summed. */
static mr_box rest_of(const mr_einsum_args *e)
{
    mr_box r = {.rank = e->box.rank - e->kept};
    for (int i = 0; i < r.rank; i++) {
        r.dims[i] = e->box.dims[e->kept + i];
        r.xs[i] = e->box.xs[e->kept + i];
    }
    return r;
}

static void run(const mr_einsum_args *e, void (*range)(void *arg, int64_t begin, int64_t end))
{
    int64_t all = mr_box_count(&e->box, e->box.rank), n = mr_box_count(&e->box, e->kept);
    mr_parallel_for(e->pool, n, 1 + (n ? 16384 / (1 + all / n) : 0), range, (void *)e);
}

#define MR_BODY "kernels/cpu/einsum.inc"
#include "kernels/cpu/each_float.h"
#define MR_BODY "kernels/cpu/einsum.inc"
#include "kernels/cpu/each_int.h"

#define FILL(name, d) f->load[d] = load_##name, f->store[d] = store_##name

void mr_einsum_fill_scalar(mr_einsum_fns *f)
{
    FILL(f16, MR_F16);
    FILL(bf16, MR_BF16);
    FILL(f32, MR_F32);
    FILL(f64, MR_F64);
    FILL(i8, MR_I8);
    FILL(i16, MR_I16);
    FILL(i32, MR_I32);
    FILL(i64, MR_I64);
    FILL(u8, MR_U8);
    FILL(u16, MR_U16);
    FILL(u32, MR_U32);
    FILL(u64, MR_U64);
}
