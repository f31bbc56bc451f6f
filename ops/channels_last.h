/* channels_last.h: operators whose images have their channels in the last dimension, [N, …, C]: they run as those that
 * have them in the second, on turned copies. `images`: bit i: input i is one; so is output 0. */
#ifndef MR_OPS_CHANNELS_LAST_H
#define MR_OPS_CHANNELS_LAST_H

#include "runtime/op.h"

mr_status mr_channels_last_infer(mr_call *c, uint32_t images, mr_status (*infer)(mr_call *c));
size_t mr_channels_last_scratch(const mr_call *c, uint32_t images, size_t (*scratch)(const mr_call *c));
/* With the scratch that it asked for, what `run` itself asks for behind the copies. */
mr_status mr_channels_last_run(mr_call *c, uint32_t images, mr_status (*run)(mr_call *c));

#endif
