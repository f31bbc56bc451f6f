/* webp.c: WebP through libwebp. */
#include "kernels/image/image.h"

#include <webp/decode.h>

mr_image_status mr_image_webp(const uint8_t *bytes, size_t n, mr_image *out)
{
    int width, height;
    if (!WebPGetInfo(bytes, n, &width, &height)) return MR_IMAGE_BAD;
    mr_image_status st = mr_image_new(out, width, height);
    if (st) return st;
    size_t room = (size_t)width * (size_t)height * 3;
    return WebPDecodeRGBInto(bytes, n, out->rgb, room, width * 3) ? MR_IMAGE_OK : MR_IMAGE_BAD;
}
