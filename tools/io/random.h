/* random.h: made-up inputs. */
#ifndef MR_TOOLS_IO_RANDOM_H
#define MR_TOOLS_IO_RANDOM_H

#include "runtime/graph.h"

typedef struct mr_range {
    double low, high;
} mr_range;

/* How large an index the model lets the input have: the smallest axis, of fixed size, that it picks from; -1: it isn't
 * used as an index, as far as the model tells. */
int64_t mr_index_limit(const mr_graph *g, int value);
/* Fills the tensor uniformly: floats from [low, high), integers from low to high. The same seed and name give the same
 * numbers, whatever else is random. */
mr_status mr_random_fill(mr_tensor *t, uint64_t seed, const char *name, mr_range range, mr_error *e);
/* What is natural for the type: floats 0 to 1, types of 8 bits all they hold, bool and other integers 0 to 1. */
mr_range mr_random_range(mr_dtype d);

#endif
