/* region.h: memory that is freed all at once. */
#ifndef MR_REGION_H
#define MR_REGION_H

#include <stddef.h>

typedef struct mr_region {
    struct mr_block *head;
} mr_region;

void *mr_region_alloc(mr_region *r, size_t bytes);               /* zeroed, 16-byte aligned; NULL when out of memory */
char *mr_region_string(mr_region *r, const char *s, size_t len); /* a copy with a final 0 */
char *mr_region_printf(mr_region *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mr_region_free(mr_region *r);

#define MR_REGION_NEW(r, T, n) ((T *)mr_region_alloc((r), sizeof(T) * (size_t)(n)))

#endif
