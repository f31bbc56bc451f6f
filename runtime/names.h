/* names.h: a map from names to numbers, in a region; and the names nearest to one that is not there. */
#ifndef MR_NAMES_H
#define MR_NAMES_H

#include "region.h"

#include <stdbool.h>

typedef struct mr_names {
    mr_region *region;
    struct mr_name *slots; /* open addressing; cap is a power of two, or 0 */
    size_t n, cap;
} mr_names;

/* The map refers to the name; an existing entry is replaced. False: out of memory. */
bool mr_names_put(mr_names *t, const char *name, int id);
int mr_names_get(const mr_names *t, const char *name, int missing);

enum { MR_N_NEAREST = 3 };

/* Offer candidates one after the other; those within a few edits are kept, the nearest first. */
typedef struct mr_nearest {
    const char *name;
    const char *best[MR_N_NEAREST]; /* NULL: fewer */
    int distance[MR_N_NEAREST];
} mr_nearest;

void mr_nearest_offer(mr_nearest *n, const char *candidate);
/* "'weight' or 'height'": those that are equally near; NULL when nothing is. buf is returned. */
const char *mr_nearest_string(const mr_nearest *n, char *buf, size_t size);

#endif
