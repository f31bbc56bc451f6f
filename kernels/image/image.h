/* image.h: encoded pictures as pixels: what libminirt_image.so offers, and what its decoders share.
 *
 * The libraries that know the formats are not minirt's to depend on for one operator: the plugin is linked with them,
 * and loaded when a model asks for it. */
#ifndef MR_KERNELS_IMAGE_H
#define MR_KERNELS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_IMAGE_FILE "libminirt_image.so"
#define MR_IMAGE_ABI  1

/* Three bytes for each pixel, red first, row by row from the top; from malloc. */
typedef struct mr_image {
    int64_t width, height;
    uint8_t *rgb;
} mr_image;

typedef enum mr_image_status {
    MR_IMAGE_OK,
    MR_IMAGE_BAD,      /* no known format, or broken */
    MR_IMAGE_TOO_LARGE /* more than MR_IMAGE_LIMIT pixels, or than memory has */
} mr_image_status;

#define MR_IMAGE_LIMIT (INT64_C(1) << 28)

typedef mr_image_status mr_image_fn(const uint8_t *bytes, size_t n, mr_image *out);

/* The symbol mr_image_plugin_v1 of the library. */
typedef struct mr_image_plugin {
    int abi;
    mr_image_fn *decode;
} mr_image_plugin;

mr_image_status mr_image_new(mr_image *m, int64_t width, int64_t height);

mr_image_fn mr_image_bmp, mr_image_pnm, mr_image_png, mr_image_jpeg, mr_image_tiff, mr_image_webp, mr_image_jpeg2000;

#endif
