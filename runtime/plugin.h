/* plugin.h: shared libraries that minirt loads when it needs them. */
#ifndef MR_PLUGIN_H
#define MR_PLUGIN_H

#include <stddef.h>

/* Opens `file` where libminirt (or the executable that has it inside) lies, or in MINIRT_PLUGIN_PATH; for dlclose.
 * NULL: why says why not. */
void *mr_plugin_load(const char *file, char *why, size_t size);

#endif
