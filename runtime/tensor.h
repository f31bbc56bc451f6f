/* tensor.h: shapes and dense tensors. */
#ifndef MR_TENSOR_H
#define MR_TENSOR_H

#include "dtype.h"

#define MR_MAX_RANK 16

/* A dimension: >= 0 is its extent; MR_DIM_UNKNOWN is unknown; < MR_DIM_UNKNOWN is a named symbol of the model. */
typedef int64_t mr_dim;
#define MR_DIM_UNKNOWN (-1)

typedef struct mr_shape {
    int rank; /* -1: unknown */
    mr_dim d[MR_MAX_RANK];
} mr_shape;

static inline mr_shape mr_shape_unknown(void)
{
    return (mr_shape){.rank = -1};
}
static inline mr_shape mr_shape_scalar(void)
{
    return (mr_shape){.rank = 0};
}
static inline mr_shape mr_shape_1d(mr_dim n)
{
    return (mr_shape){.rank = 1, .d = {n}};
}
/* rank known, every dim unknown */
mr_shape mr_shape_of_rank(int rank);
bool mr_shape_known(const mr_shape *s); /* rank and all dims are known */
bool mr_shape_equal(const mr_shape *a, const mr_shape *b);
/* "[2,3,N]"; symbols print through names (may be NULL: '?'); buf is returned. */
const char *mr_shape_string(const mr_shape *s, const char *const *symbols, char *buf, size_t size);
/* Product of the dims in [from, to); all known; -1 when it overflows int64. */
int64_t mr_dims_product(const int64_t *d, int from, int to);

/* A dense tensor, row-major, contiguous. It does not own its data. */
typedef struct mr_tensor {
    mr_dtype dtype;
    int rank;
    int64_t dims[MR_MAX_RANK];
    void *data;
} mr_tensor;

int64_t mr_tensor_count(const mr_tensor *t); /* elements */
size_t mr_tensor_bytes(const mr_tensor *t);
mr_shape mr_tensor_shape(const mr_tensor *t);
void mr_tensor_set_shape(mr_tensor *t, const mr_shape *s);
/* Element i of an integer or bool tensor as int64 (uint64 is reinterpreted). */
int64_t mr_tensor_int(const mr_tensor *t, int64_t i);
/* Element i of a float (16, b16, 32, 64) or integer tensor as double. */
double mr_tensor_real(const mr_tensor *t, int64_t i);
/* Count of bytes for a shape; false on overflow or unknown dims. */
bool mr_shape_bytes(const mr_shape *s, mr_dtype d, size_t *bytes);

#endif
