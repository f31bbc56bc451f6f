/* safetensors.h: the format of named tensors that model hubs use. */
#ifndef MR_TOOLS_IO_SAFETENSORS_H
#define MR_TOOLS_IO_SAFETENSORS_H

#include "set.h"

mr_status mr_safetensors_read(const char *path, mr_set *set, mr_error *e);
mr_status mr_safetensors_write(const char *path, const mr_set *set, mr_error *e); /* tensors only */

#endif
