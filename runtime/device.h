/* device.h: what a device other than the CPU must offer. CUDA is a plugin that is loaded with dlopen, so that one CPU
 * binary runs everywhere and can say why there's no device. */
#ifndef MR_DEVICE_H
#define MR_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#define MR_PLUGIN_ABI 1

struct mr_cuda_fns;

/* What a plugin exports under the name mr_plugin_v1. Functions that return int give 0 when they succeed. */
typedef struct mr_device_plugin {
    uint32_t abi;     /* MR_PLUGIN_ABI */
    const char *name; /* "cuda", "cuda-host" */
    /* 0: device i can be used. Otherwise why is filled with the exact reason and what to do. */
    int (*probe)(int i, char *why, size_t size);
    int (*describe)(int i, char *text, size_t size); /* "NVIDIA H200, 139 GiB, compute capability 9.0" */
    int (*open)(int i, void **context);
    void (*close)(void *context);
    void *(*alloc)(void *context, size_t bytes); /* NULL: out of memory */
    void (*free)(void *context, void *p);
    int (*copy_in)(void *context, void *device, const void *host, size_t bytes);  /* in stream order */
    int (*copy_out)(void *context, void *host, const void *device, size_t bytes); /* done when it returns */
    int (*copy)(void *context, void *to, const void *from, size_t bytes);
    int (*synchronize)(void *context);
    const char *(*error)(void *context); /* of the last call that failed */
    void *(*stream)(void *context);
    const struct mr_cuda_fns *fns;
} mr_device_plugin;

/* A device that is loaded, or why it is not. */
typedef struct mr_device {
    const char *name;
    const mr_device_plugin *plugin;
    void *library, *context;
    int index;
    struct mr_device *next;
} mr_device;

/* Finds the plugin beside libminirt (or the executable), then in MINIRT_PLUGIN_PATH. NULL: why says what to do. */
struct mr_env;
mr_device *mr_device_open(struct mr_env *env, const char *name, int index, char *why, size_t size);
void mr_device_close(mr_device *d);

#endif
