/* cpu.c: which levels this machine has, and the table filled with them. */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

/* The levels' fill functions, declared from the list so that a level which isn't there can't be called. */
#define DECLARE_0(name, level)
#define DECLARE_1(name, level) void mr_##name##_fill_##level(mr_##name##_fns *f);
#define FAMILY(name, B, A2, A5)                                                                                        \
    DECLARE_1(name, scalar) DECLARE_##B(name, blas) DECLARE_##A2(name, avx2) DECLARE_##A5(name, avx512)
#include "kernels/cpu/families.inc"
#undef FAMILY

unsigned mr_cpu_isa(void)
{
    unsigned isa = MR_ISA_BLAS;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isa |= MR_ISA_AVX2; /* these have F16C too */
    if ((isa & MR_ISA_AVX2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        isa |= MR_ISA_AVX512;
#endif
    const char *mask = getenv("MINIRT_ISA"); /* scalar|avx2|avx512[,noblas] */
    if (mask && strstr(mask, "noblas")) isa &= ~(unsigned)MR_ISA_BLAS;
    if (mask && !strncmp(mask, "scalar", 6)) isa &= ~(unsigned)(MR_ISA_AVX2 | MR_ISA_AVX512);
    if (mask && !strncmp(mask, "avx2", 4)) isa &= ~(unsigned)MR_ISA_AVX512;
    if (isa & MR_ISA_AVX2)
        isa &= ~(unsigned)MR_ISA_BLAS; /* all its slots are faster there: the library is not loaded */
    return isa;
}

#define FILL_0(name, level)
#define FILL_1(name, level) mr_##name##_fill_##level(&f->name);

void mr_cpu_fill(mr_cpu_fns *f, unsigned isa)
{
    memset(f, 0, sizeof *f);
#define FAMILY(name, B, A2, A5) FILL_1(name, scalar)
#include "kernels/cpu/families.inc"
#undef FAMILY
    if (isa & MR_ISA_BLAS) {
#define FAMILY(name, B, A2, A5) FILL_##B(name, blas)
#include "kernels/cpu/families.inc"
#undef FAMILY
    }
#if defined(__x86_64__)
    if (isa & MR_ISA_AVX2) {
#define FAMILY(name, B, A2, A5) FILL_##A2(name, avx2)
#include "kernels/cpu/families.inc"
#undef FAMILY
    }
    if (isa & MR_ISA_AVX512) {
#define FAMILY(name, B, A2, A5) FILL_##A5(name, avx512)
#include "kernels/cpu/families.inc"
#undef FAMILY
    }
#endif
}
