/* fiber.h: flows of control with stacks of their own, switched by hand. A GPU thread that waits is one of these. */
#ifndef MR_CUDA_HOST_FIBER_H
#define MR_CUDA_HOST_FIBER_H

#include <stddef.h>

namespace cuda_host
{
struct fiber; /* made once, kept for the life of the process */

/* A fiber that will run `entry`, which must never return; nullptr when memory is exhausted. */
fiber *fiber_create(void (*entry)());
/* Forgets where the fiber was: it starts at `entry` again. */
void fiber_restart(fiber *f, void (*entry)());
/* The flow of control that the process came with; it can only be switched from first. */
fiber *fiber_main();
/* Leaves the running fiber `from`, goes on in `to`; returns when something switches back. */
void fiber_switch(fiber *from, fiber *to);
/* Tells AddressSanitizer that the frames in this stack will not be returned to. */
void fiber_forget(void *stack, size_t bytes);
/* Whether the address is just past the end of some fiber's stack. */
bool fiber_overflowed(const void *address);
} // namespace cuda_host

#endif
