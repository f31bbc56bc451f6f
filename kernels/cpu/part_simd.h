/* part_simd.h: what is left of a row, fewer elements of a float type than a vector has; simd_*.h of the level comes
 * first. */
#ifndef MR_KERNELS_CPU_PART_SIMD_H
#define MR_KERNELS_CPU_PART_SIMD_H

static inline vf vf_load_n_f32(const float *p, int64_t n)
{
    return vf_load_part(p, vf_first(n));
}
static inline void vf_store_n_f32(float *p, int64_t n, vf x)
{
    vf_store_part(p, vf_first(n), x);
}

static inline vf vf_load_n_f16(const mr_f16 *p, int64_t n)
{
    mr_f16 all[VF] = {0};
    memcpy(all, p, (size_t)n * sizeof *p);
    return vf_load_f16(all);
}

static inline void vf_store_n_f16(mr_f16 *p, int64_t n, vf x)
{
    mr_f16 all[VF];
    vf_store_f16(all, x);
    memcpy(p, all, (size_t)n * sizeof *p);
}

static inline vf vf_load_n_bf16(const mr_bf16 *p, int64_t n)
{
    mr_bf16 all[VF] = {0};
    memcpy(all, p, (size_t)n * sizeof *p);
    return vf_load_bf16(all);
}

static inline void vf_store_n_bf16(mr_bf16 *p, int64_t n, vf x)
{
    mr_bf16 all[VF];
    vf_store_bf16(all, x);
    memcpy(p, all, (size_t)n * sizeof *p);
}

#endif
