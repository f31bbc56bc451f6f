/* values.c: zeros, ones, ramps, the extents of another input and the like. */
#include "values.h"

#include <stdint.h>
#include <string.h>

#include "tools/io/element.h"

enum { MOST_ITEMS = 128 };

typedef enum pattern {
    AS_IT_IS,
    ZEROS,
    ONES,
    TWOS,
    MINUS_ONES,
    RAMP,
    RAMP_DOWN,
    FIRST_OPEN, /* -1, then ones: a shape with one extent left open */
    LAST_OPEN,
    EXTENTS, /* of one of the values, or how many elements it has */
    COUNT,
    SMALL, /* random */
    WIDE,
    POSITIVE,
    PARTS, /* an extent, then zeros: as many elements as an axis has */
    FRACTIONS,
    ALIKE, /* all as the first of its own: what an attribute excepts, as an index to be ignored */
    N_PATTERNS
} pattern;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static double element_of(pattern p, int64_t i, int64_t n, const mr_value *other, uint64_t *state)
{
    bool tensor = other && other->type.kind == MR_TENSOR;
    switch (p) {
    case ONES:
        return 1;
    case TWOS:
        return 2;
    case MINUS_ONES:
        return -1;
    case RAMP:
        return (double)i;
    case RAMP_DOWN:
        return (double)(n - 1 - i);
    case FIRST_OPEN:
        return i ? 1 : -1;
    case LAST_OPEN:
        return i + 1 < n ? 1 : -1;
    case EXTENTS:
        return tensor && i < other->t.rank ? (double)other->t.dims[i] : 1;
    case COUNT:
        return tensor ? (double)mr_tensor_count(&other->t) : 1;
    case SMALL:
        return (double)(next_random(state) % 3);
    case WIDE:
        return (double)(next_random(state) % 9) - 3;
    case POSITIVE:
        return (double)(1 + next_random(state) % (1 + next_random(state) % 15));
    case PARTS:
        return i || !tensor || !other->t.rank ? 0 : (double)other->t.dims[next_random(state) % (uint64_t)other->t.rank];
    case FRACTIONS:
        return (double)(1 + next_random(state) % 8) / 4;
    default:
        return 0;
    }
}

static mr_value *tensor_of(const mr_tensor *t, pattern p, const mr_value *other, uint64_t *state)
{
    static const char *const words[] = {"1", "", "a", "0.5", "a b", "2020"};
    mr_value *v = mr_value_tensor(t->dtype, t->rank, t->dims);
    int64_t n = v ? mr_tensor_count(t) : 0;
    for (int64_t i = 0; i < n; i++) {
        double x =
            p == ALIKE && mr_dtype_in(t->dtype, MR_REALS) ? mr_element_real(t, 0) : element_of(p, i, n, other, state);
        if (t->dtype == MR_STRING) {
            const char *word = words[((uint64_t)p + next_random(state) % 2) % 6];
            mr_value_set_string(v, i, word, strlen(word));
        } else if (mr_dtype_in(t->dtype, MR_REALS)) {
            mr_element_store(&v->t, i, x); /* an unsigned one that cannot be -1 stays 0 */
        }
    }
    return v;
}

/* A few tensors, an optional has one: like the first of the sequence, like another input, of one
 * element, or of more dimensions. */
static mr_value *list_of(const mr_value *from, pattern p, const mr_value *other, uint64_t *state)
{
    mr_value *items[MOST_ITEMS] = {0}, *made;
    int64_t n = from->type.kind == MR_SEQUENCE
                    ? 1 + (int64_t)(next_random(state) % (next_random(state) % 8 ? 3 : MOST_ITEMS))
                    : 1;
    mr_value *plain = from->n ? NULL : mr_value_tensor((mr_dtype)from->type.elem, 1, (int64_t[]){2});
    const mr_value *like = from->n ? from->items[0] : plain;
    mr_tensor t = like ? like->t : (mr_tensor){.rank = 0};
    uint64_t shape = from->type.kind == MR_SEQUENCE ? next_random(state) % 4 : 0;
    for (; shape == 3 && t.rank < 4; t.rank++) t.dims[t.rank] = 1;
    if (shape == 1 && other && other->type.kind == MR_TENSOR)
        memcpy(t.dims, other->t.dims, sizeof t.dims), t.rank = other->t.rank;
    for (int d = 0; shape == 2 && d < t.rank; d++) t.dims[d] = 1;
    for (int64_t i = 0; like && i < n; i++) items[i] = tensor_of(&t, p, other, state);
    made = mr_value_list(from->type, like ? n : 0, items);
    for (int64_t i = 0; i < n; i++) mr_value_release(items[i]);
    mr_value_release(plain);
    return made;
}

static mr_value *like(mr_value *from, pattern p, const mr_value *other, uint64_t *state)
{
    bool list = from->type.kind == MR_SEQUENCE || from->type.kind == MR_OPTIONAL;
    bool of_tensors = list && (!from->n || from->items[0]->type.kind == MR_TENSOR);
    if (p != AS_IT_IS && from->type.kind == MR_TENSOR) return tensor_of(&from->t, p, other, state);
    if (p != AS_IT_IS && of_tensors) return list_of(from, p, other, state);
    return mr_value_retain(from);
}

void mr_other_values(mr_value *const *from, int n, int attempt, mr_value **to)
{
    uint64_t state = (uint64_t)attempt + 1;
    bool one = attempt < n * N_PATTERNS;
    next_random(&state);
    for (int i = 0; i < n; i++) {
        pattern p = (pattern)(next_random(&state) % N_PATTERNS);
        if (one) p = attempt / N_PATTERNS == i ? (pattern)(attempt % N_PATTERNS) : AS_IT_IS;
        to[i] = from[i] ? like(from[i], p, from[next_random(&state) % (uint64_t)n], &state) : NULL;
    }
}
