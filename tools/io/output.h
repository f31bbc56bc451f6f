/* output.h: writing values to files. */
#ifndef MR_TOOLS_IO_OUTPUT_H
#define MR_TOOLS_IO_OUTPUT_H

#include "set.h"

/* Can this many values go to the path? Said before anything runs. */
mr_status mr_output_check(const char *path, int n, mr_error *e);
/* DIR/: output_N.pb. .npz, .npy and .safetensors hold tensors only. */
mr_status mr_output_write(const char *path, const mr_set *set, mr_error *e);

/* Tensors as they come, into a folder with an index of their names, or into an npz. */
typedef struct mr_dump mr_dump;
mr_status mr_dump_create(const char *path, mr_dump **out, mr_error *e);
/* maker: the node that made it, "" or NULL when there is none. */
mr_status mr_dump_add(mr_dump *d, const char *name, const mr_value *v, const char *maker, mr_error *e);
/* Finishes the files, unless e is set; frees d in any case. NULL is allowed. */
mr_status mr_dump_close(mr_dump *d, mr_error *e);

#endif
