/* linear.h: products of rows with vectors, and their squared distances, in double, in the order of the features; and
 * what support vector machines make of them. */
#ifndef MR_KERNELS_CPU_LINEAR_H
#define MR_KERNELS_CPU_LINEAR_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef struct mr_linear_args {
    const void *x;         /* [rows, features] */
    const double *vectors; /* [n, features] */
    double *y;             /* [rows, n] */
    int64_t rows, features, n;
    mr_pool *pool;
} mr_linear_args;

typedef enum mr_svm_kernel { MR_SVM_LINEAR, MR_SVM_POLY, MR_SVM_RBF, MR_SVM_SIGMOID } mr_svm_kernel;

/* In place, of the n products (MR_SVM_RBF: squared distances) k: k, (gamma · k + coef0)^degree, exp(-gamma · k) or
 * tanh(gamma · k + coef0). */
typedef struct mr_svm_args {
    mr_svm_kernel kernel;
    double gamma, coef0, degree;
    double *k;
    int64_t n;
    mr_pool *pool;
} mr_svm_args;

typedef void mr_linear_fn(const mr_linear_args *a);

typedef struct mr_linear_fns {
    mr_linear_fn *product[MR_N_DTYPES];  /* Σ x · v */
    mr_linear_fn *distance[MR_N_DTYPES]; /* Σ (x - v)² */
    void (*svm)(const mr_svm_args *a);
} mr_linear_fns;

void mr_linear_fill_scalar(mr_linear_fns *f);

#endif
