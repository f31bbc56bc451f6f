/* plugin.c: shared libraries that minirt loads when it needs them. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder that this code was loaded from: libminirt's, or the executable's when it is linked in. */
static void own_folder(char *dir, size_t size)
{
    Dl_info info;
    char path[4096] = "";
    if (dladdr((void *)(uintptr_t)mr_plugin_load, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
        snprintf(path, sizeof path, "%s", info.dli_fname);
    else if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        path[0] = 0;
    char *slash = strrchr(path, '/');
    snprintf(dir, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

void *mr_plugin_load(const char *file, char *why, size_t size)
{
    char dirs[2][4096] = {"", ""}, path[8300];
    own_folder(dirs[0], sizeof dirs[0]);
    const char *env = getenv("MINIRT_PLUGIN_PATH");
    if (env) snprintf(dirs[1], sizeof dirs[1], "%s", env);
    for (int i = 0; i < 2; i++) {
        if (!dirs[i][0]) continue;
        snprintf(path, sizeof path, "%s/%s", dirs[i], file);
        if (access(path, R_OK)) continue;
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) snprintf(why, size, "the plugin does not load: %s", dlerror());
        return library;
    }
    snprintf(why, size, "the plugin %s was not built (it is not beside minirt, nor in MINIRT_PLUGIN_PATH)", file);
    return NULL;
}
