/* ml_keys.c: see ml_keys.h. */
#include "ops/ml_keys.h"

#include <stdlib.h>

static int order_codes(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_keys(const void *a, const void *b, void *keys)
{
    const mr_keys *k = keys;
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    int order = k->strings ? mr_string_order(k->strings[i], k->strings[j]) : order_codes(k->codes[i], k->codes[j]);
    return order ? order : order_codes(i, j);
}

bool mr_keys_read(mr_reader *r, int64_t n, const int64_t *codes, const mr_string *strings, mr_keys *k)
{
    int64_t *order = mr_read_alloc(r, sizeof *order * ((size_t)n + 1));
    *k = (mr_keys){n, codes, strings, order};
    if (!order) return mr_read_fail(r, MR_E_MEMORY, "no memory for %lld keys", (long long)n), false;
    for (int64_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, order_keys, k);
    return true;
}

/* The last whose key is not greater. */
static int64_t find(const mr_keys *k, int64_t code, const mr_string *s)
{
    int64_t low = 0, high = k->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, i = k->order[middle];
        if ((s ? mr_string_order(k->strings[i], *s) : order_codes(k->codes[i], code)) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0) return -1;
    int64_t i = k->order[low - 1];
    bool same = s ? mr_string_order(k->strings[i], *s) == 0 : k->codes[i] == code;
    return same ? i : -1;
}

int64_t mr_find_code(const mr_keys *k, int64_t code)
{
    return find(k, code, NULL);
}

int64_t mr_find_string(const mr_keys *k, mr_string s)
{
    return find(k, 0, &s);
}
