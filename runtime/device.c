/* device.c: finds and loads the plugin of a device, or says why there is none. */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "plugin.h"

static bool plugin_file(const char *name, char *file, size_t size)
{
    static const struct {
        const char *name, *file;
    } plugins[] = {{"cuda", "libminirt_cuda.so"}, {"cuda-host", "libminirt_cuda_host.so"}};
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++)
        if (!strcmp(name, plugins[i].name)) return snprintf(file, size, "%s", plugins[i].file) > 0;
    return false;
}

static const mr_device_plugin *plugin_of(void *library, const char *name, char *why, size_t size)
{
    const mr_device_plugin *p = dlsym(library, "mr_plugin_v1");
    if (p && p->abi == MR_PLUGIN_ABI) return p;
    snprintf(why, size, "the plugin of %s was built for another version of minirt; build both together", name);
    return NULL;
}

mr_device *mr_device_open(struct mr_env *env, const char *name, int index, char *why, size_t size)
{
    char file[64];
    if (!plugin_file(name, file, sizeof file)) {
        snprintf(why, size, "no such device; known: cpu, cuda, cuda-host");
        return NULL;
    }
    pthread_mutex_lock(&env->lock);
    mr_device *d = env->devices;
    while (d && (strcmp(d->name, name) || d->index != index)) d = d->next;
    void *library = d ? NULL : mr_plugin_load(file, why, size);
    const mr_device_plugin *p = library ? plugin_of(library, name, why, size) : NULL;
    void *context = NULL;
    if (p && !p->probe(index, why, size) && p->open(index, &context) == 0 && (d = calloc(1, sizeof *d))) {
        *d = (mr_device){
            .name = p->name, .plugin = p, .library = library, .context = context, .index = index, .next = env->devices};
        env->devices = d;
    } else if (library) {
        dlclose(library);
    }
    pthread_mutex_unlock(&env->lock);
    return d;
}

void mr_device_close(mr_device *d)
{
    d->plugin->close(d->context);
    dlclose(d->library);
    free(d);
}
