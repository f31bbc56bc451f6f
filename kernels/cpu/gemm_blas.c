/* gemm_blas.c: matrix products through OpenBLAS, for machines that have none of our own vector levels.
 *
 * The library is opened when this level is filled, so that a machine with AVX2 never loads it. It is called on tiles of
 * fixed size from our own threads (the serial build has none of its own), so results do not depend on their number.
 * Older builds compute wrong results on some CPUs: a short product against plain loops decides whether it is used at
 * all. */
#include "kernels/cpu/gemm.h"

#include <dlfcn.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112, TILE_ROWS = 96, TILE_COLS = 384 };

typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_fn(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                      const double *b, int ldb, double beta, double *c, int ldc);

static struct {
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
} blas; /* set once, before any thread runs a kernel */

/* How a factor with these strides is passed; false: BLAS cannot read it. */
static bool layout(int64_t row, int64_t col, int64_t rows, int64_t cols, int *trans, int *ld)
{
    bool plain = col == 1 || cols == 1, turned = row == 1 || rows == 1;
    int64_t step = plain ? row : col, least = plain ? cols : rows;
    if (!plain && !turned) return false;
    if (step < least) step = least; /* a single row or column: its stride is never used */
    if ((plain && rows > 1 && row < cols) || (!plain && cols > 1 && col < rows) || step > INT32_MAX) return false;
    *trans = plain ? NO_TRANS : TRANS;
    *ld = (int)step;
    return true;
}

#define S      float
#define GEMM   blas.sgemm
#define SUFFIX f32
#define SLOT   MR_F32
#include "kernels/cpu/gemm_blas.inc"
#undef S
#undef GEMM
#undef SUFFIX
#undef SLOT
#define S      double
#define GEMM   blas.dgemm
#define SUFFIX f64
#define SLOT   MR_F64
#include "kernels/cpu/gemm_blas.inc"

void mr_gemm_fill_blas(mr_gemm_fns *f)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    blas.sgemm = (sgemm_fn *)(uintptr_t)dlsym(library, "cblas_sgemm");
    blas.dgemm = (dgemm_fn *)(uintptr_t)dlsym(library, "cblas_dgemm");
    if (blas.sgemm && works_f32()) f->gemm[MR_F32] = gemm_f32;
    if (blas.dgemm && works_f64()) f->gemm[MR_F64] = gemm_f64;
}
