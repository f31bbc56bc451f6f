/* npz.h: NumPy's archives of named arrays. */
#ifndef MR_TOOLS_IO_NPZ_H
#define MR_TOOLS_IO_NPZ_H

#include "set.h"

mr_status mr_npz_read(const char *path, mr_expect expect, mr_set *set, mr_error *e);

/* Arrays go to a file beside path one after the other, so that they need no memory, and into the archive at the end. */
typedef struct mr_npz mr_npz;
mr_status mr_npz_create(const char *path, mr_npz **out, mr_error *e);
mr_status mr_npz_add(mr_npz *z, const char *name, const mr_tensor *t, mr_error *e);
/* Writes the archive, unless e is set; frees z in any case. NULL is allowed. */
mr_status mr_npz_close(mr_npz *z, mr_error *e);

#endif
