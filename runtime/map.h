/* map.h: files as memory: mapped; what comes through a pipe is read. */
#ifndef MR_MAP_H
#define MR_MAP_H

#include <stdbool.h>

#include "error.h"

typedef struct mr_map {
    char *path; /* without links; "stdin" */
    void *data; /* NULL: the file is empty */
    size_t size;
    bool mapped; /* else on the heap */
} mr_map;

/* A file. Folders, pipes and devices are refused, as what cannot be opened: E0901 "cannot open PATH: …". */
mr_status mr_map_open(const char *path, mr_map **out, mr_error *e);
mr_status mr_map_stdin(mr_map **out, mr_error *e); /* a file, or a pipe to its end */
void mr_map_close(mr_map *m);
/* The bytes will not be needed soon: their pages may go, and come back from the file when touched. */
void mr_map_forget(const mr_map *m, size_t offset, size_t size);

#endif
