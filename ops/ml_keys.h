/* ml_keys.h: finding integers or strings in a list, in logarithmic time. */
#ifndef MR_OPS_ML_KEYS_H
#define MR_OPS_ML_KEYS_H

#include "runtime/op.h"

typedef struct mr_keys {
    int64_t n;
    const int64_t *codes; /* one of these */
    const mr_string *strings;
    const int64_t *order; /* ascending, equal ones as in the list */
} mr_keys;

/* Refers to the list. False: out of memory, and the node is refused. */
bool mr_keys_read(mr_reader *r, int64_t n, const int64_t *codes, const mr_string *strings, mr_keys *k);
/* Where it is in the list, the last of equal ones; -1: nowhere. */
int64_t mr_find_code(const mr_keys *k, int64_t code);
int64_t mr_find_string(const mr_keys *k, mr_string s);

#endif
