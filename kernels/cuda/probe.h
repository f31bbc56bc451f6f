/* probe.h: whether there is a device, and if not, exactly why not. probe.cu asks the driver; host/probe.cc has no
 * doubts. */
#ifndef MR_CUDA_PROBE_H
#define MR_CUDA_PROBE_H

#include <stddef.h>

/* As runtime/device.h has them. */
int mr_cuda_probe(int index, char *why, size_t size);
int mr_cuda_describe(int index, char *text, size_t size);

#endif
