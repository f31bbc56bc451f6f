/* value.h: anything that an input or output can be: a tensor, a sequence, an optional, a map, a sparse tensor.
 *
 * Values are reference-counted and immutable once others can see them; a sequence shares its elements. A value owns its
 * buffer and, for strings, their bytes. */
#ifndef MR_VALUE_H
#define MR_VALUE_H

#include "tensor.h"

struct mr_value {
    mr_type type;
    mr_tensor t;      /* MR_TENSOR; MR_SPARSE: the dense shape in dims, data = NULL */
    mr_value **items; /* MR_SEQUENCE, MR_SEQ_MAP: n elements · MR_OPTIONAL*: n is 0 or 1 · MR_MAP: keys, values (1-D
                         tensors) · MR_SPARSE: values [N], ascending linear indices int64 [N] */
    int64_t n;
    int refs;                   /* atomic */
    void *buffer;               /* what t.data points into when owned by this value, else NULL */
    void *strings;              /* bytes of the strings, when owned */
    size_t held;                /* bytes of both, charged to … */
    struct mr_account *account; /* … the run that made it; NULL: to nobody */
    struct mr_spares *home;     /* where the buffer goes when the value is released; NULL: it is freed */
    size_t room;                /* of the buffer, when it has a home */
};

/* All return NULL when memory is exhausted (or sizes overflow). */
mr_value *mr_value_tensor(mr_dtype dtype, int rank, const int64_t *dims); /* zeroed buffer, 64-byte aligned */
mr_value *mr_value_uninit(mr_dtype dtype, int rank, const int64_t *dims); /* likewise, zeroed only if of strings */
/* Uninitialized, in a buffer of home's when it has one that fits (else, with only_spare, NULL), and back there in the
 * end. Not of strings. */
mr_value *mr_value_of_spare(struct mr_spares *home, bool only_spare, mr_dtype dtype, int rank, const int64_t *dims);
mr_value *mr_value_copy(const mr_tensor *t);                              /* deep, strings too */
mr_value *mr_value_borrow(const mr_tensor *t);                            /* refers to t's data, does not own it */
mr_value *mr_value_list(mr_type type, int64_t n, mr_value *const *items); /* retains each item */
/* The tensor that a sparse tensor stands for, owned by the caller. */
mr_value *mr_value_densify(const mr_value *sparse);
mr_value *mr_value_retain(mr_value *v);
void mr_value_release(mr_value *v); /* NULL is allowed */
/* Set element i of a string tensor value, copying the bytes. */
bool mr_value_set_string(mr_value *v, int64_t i, const char *data, size_t len);
/* What it and its items have charged to the account. */
size_t mr_value_charged(const mr_value *v, const struct mr_account *a);
/* The tensor inside: of a tensor, or of an optional that holds one; else NULL. */
const mr_tensor *mr_value_dense(const mr_value *v);

#endif
