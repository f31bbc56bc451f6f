/* scores.h: what ai.onnx.ml makes of the scores of a classifier or regressor, in double, rounded once when they are
 * stored. */
#ifndef MR_KERNELS_CPU_SCORES_H
#define MR_KERNELS_CPU_SCORES_H

#include "runtime/dtype.h"

/* In the order of TreeEnsemble's attribute. */
typedef enum mr_transform { MR_NO_TRANSFORM, MR_SOFTMAX, MR_LOGISTIC, MR_SOFTMAX_ZERO, MR_PROBIT } mr_transform;

/* In place, for each of the rows of n scores. */
void mr_transform_scores(mr_transform t, double *s, int64_t rows, int64_t n);
/* Into elements of type d. */
void mr_store_scores(const double *s, int64_t n, mr_dtype d, void *y);
/* The first of the largest; a NaN is less than anything. */
int64_t mr_top_score(const double *s, int64_t n);

#endif
