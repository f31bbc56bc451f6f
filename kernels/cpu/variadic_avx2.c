/* variadic_avx2.c: functions of the elements of one or more floats, with the bodies of variadic.c, which the compiler
 * turns into vectors; sums stay in double. */
#include "kernels/cpu/variadic.h"

#include "kernels/cpu/wide.h"

#define S        float
#define NAME(f)  NAME_(f) /* so that f is expanded first */
#define NAME_(f) f##_f32

#define X      double
#define GET(v) ((double)(v))
#define PUT(v) ((float)(v))

#define BODY sum
#define JOIN (acc + b)
#define END  acc
#include "kernels/cpu/variadic_loop.inc"

#define BODY mean
#define JOIN (acc + b)
#define END  (acc / n_in)
#include "kernels/cpu/variadic_loop.inc"

#undef X
#undef GET
#undef PUT

#define X      float
#define GET(v) (v)
#define PUT(v) (v)

#define BODY max
#define JOIN (b > acc || b != b ? b : acc)
#define END  acc
#include "kernels/cpu/variadic_loop.inc"

#define BODY min
#define JOIN (b < acc || b != b ? b : acc)
#define END  acc
#include "kernels/cpu/variadic_loop.inc"

void mr_variadic_fill_avx2(mr_variadic_fns *f)
{
    f->sum[MR_F32] = sum_f32;
    f->mean[MR_F32] = mean_f32;
    f->max[MR_F32] = max_f32;
    f->min[MR_F32] = min_f32;
}
