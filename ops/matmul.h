/* matmul.h: MatMul's and Gemm's own rows, for what does more behind them. */
#ifndef MR_OPS_MATMUL_H
#define MR_OPS_MATMUL_H

#include "kernels/cpu/gemm.h"
#include "ops/product.h"

typedef struct mr_gemm_params {
    float alpha, beta;
    bool trans_a, trans_b, broadcast;
    bool trans_batch; /* FusedMatMul's transBatchA or transBatchB is set */
} mr_gemm_params;

void mr_gemm_read(mr_reader *r, void *params);
mr_status mr_gemm_infer(mr_call *c);
size_t mr_gemm_scratch(const mr_call *c);
mr_status mr_gemm_run(mr_call *c);
size_t mr_gemm_pack_size(const mr_call *c, int i);
void mr_gemm_pack(const mr_call *c, int i, void *dst);
double mr_gemm_flops(const mr_call *c);
mr_fn mr_gemm_have(const mr_call *c);           /* of MatMul, too */
mr_gemm_args mr_gemm_args_of(const mr_call *c); /* to run the slot with */

/* com.microsoft's FusedMatMul: alpha · A · B, either turned. */
void mr_fused_matmul_read(mr_reader *r, void *params);
mr_status mr_fused_matmul_infer(mr_call *c);
size_t mr_fused_matmul_scratch(const mr_call *c);
mr_status mr_fused_matmul_run(mr_call *c);
double mr_fused_matmul_flops(const mr_call *c);

mr_status mr_matmul_infer(mr_call *c);
size_t mr_matmul_scratch(const mr_call *c);
mr_gemm_args mr_matmul_args(const mr_call *c);
size_t mr_matmul_pack_size(const mr_call *c, int i);
void mr_matmul_pack(const mr_call *c, int i, void *dst);

#endif
