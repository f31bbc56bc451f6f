/* image.h: JPEG and PNG files as tensors. */
#ifndef MR_TOOLS_IO_IMAGE_H
#define MR_TOOLS_IO_IMAGE_H

#include "runtime/error.h"
#include "runtime/value.h"

typedef enum mr_image_layout { MR_NCHW, MR_NHWC, MR_CHW, MR_HWC, MR_HW, MR_LAYOUT_UNKNOWN } mr_image_layout;
typedef enum mr_image_color { MR_RGB, MR_BGR, MR_GRAY, MR_COLOR_UNKNOWN } mr_image_color;

enum { MR_IMAGE_SIDE = 1 << 15 }; /* pixels at most */

/* An element is (pixel - mean) * scale, pixel from 0 to 255. Images that do not have the size are resized: bilinearly,
 * centres on centres, without smoothing. */
typedef struct mr_image_options {
    int64_t height, width; /* 0: as the shape says, else the image's own */
    mr_image_layout layout;
    mr_image_color color;
    double mean[4], scale[4];
    int n_mean, n_scale; /* 0: mean 0; scale 1, of floats 1/255 · 1: the same for all channels */
} mr_image_options;

bool mr_bytes_are_image(const void *bytes, size_t size);
/* dtype and shape: of the model's input; the shape may have unknown dims. */
mr_status mr_image_read(const char *path, const mr_image_options *o, mr_dtype dtype, const mr_shape *shape,
                        mr_value **out, mr_error *e);

#endif
