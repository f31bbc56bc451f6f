/* ml.h: what the operators of ai.onnx.ml share: rows of features, class labels, scores. */
#ifndef MR_OPS_ML_H
#define MR_OPS_ML_H

#include "kernels/cpu/scores.h"
#include "ops/rules.h"

#define MR_ML "ai.onnx.ml"

/* ---- attributes ---- */

/* The floats, or the tensor of reals (of any rank) that may stand for them (tensor NULL: none may), as double. *n is
 * -1 when neither is given, or what is given is refused. */
const double *mr_read_doubles(mr_reader *r, const char *floats, const char *tensor, int64_t *n);
/* A list has as many elements as another, or the node is refused. n may be -1. */
bool mr_want_length(mr_reader *r, const char *name, int64_t n, int64_t want, const char *like);
/* post_transform as a string. */
mr_transform mr_read_transform(mr_reader *r);

typedef struct mr_labels {
    int64_t n;
    const int64_t *ints; /* one of these */
    const mr_string *strings;
} mr_labels;

/* One of the two attributes must be there and not be empty. */
bool mr_read_labels(mr_reader *r, const char *ints, const char *strings, mr_labels *l);

/* ---- rows ---- */

/* Input 0 is [N, F], or [F] for one row. Dims may be unknown. */
mr_status mr_infer_rows(mr_call *c, mr_dim *rows, mr_dim *features);
/* The same when the shapes are known. */
int64_t mr_row_count(const mr_call *c);
int64_t mr_row_length(const mr_call *c);

/* ---- outputs ---- */

/* float32, which the schema asks for, unless floats are carried in double. */
mr_dtype mr_score_dtype(const mr_call *c);
/* Output o is [rows, n]. */
mr_status mr_out_rows(mr_call *c, int o, mr_dtype d, mr_dim rows, mr_dim n);
/* Outputs 0 and 1 of a classifier: [rows] labels and [rows, n] scores. */
mr_status mr_out_classes(mr_call *c, const mr_labels *l, mr_dim rows, mr_dim n);
void mr_put_label(const mr_labels *l, int64_t label, mr_tensor *y, int64_t i);
/* Each label is that of the top class of l->n scores, before they are transformed: no transform changes the order of
 * votes. onnx.reference takes it after, where rounding may have made two scores equal. */
void mr_put_top_labels(const mr_labels *l, const double *scores, int64_t rows, mr_tensor *y);
/* Transforms scores [rows, n] and stores them as output o, when it is wanted. */
void mr_put_scores(mr_call *c, int o, mr_transform t, double *scores, int64_t rows, int64_t n);

#endif
