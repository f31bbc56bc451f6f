/* probe.cc: the device that is always there. */
#include "kernels/cuda/probe.h"

#include <stdio.h>

int mr_cuda_probe(int index, char *why, size_t size)
{
    if (index == 0) return 0;
    snprintf(why, size, "there is no device %d: cuda-host has one, number 0", index);
    return 1;
}

int mr_cuda_describe(int, char *text, size_t size)
{
    snprintf(text, size, "CUDA kernels on the CPU, a fiber per thread: for tests, not for speed");
    return 0;
}
