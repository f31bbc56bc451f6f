/* jpeg.c: JPEG through libjpeg: chroma upsampled "fancy", as ONNX describes it. */
#include "kernels/image/image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

typedef struct errors {
    struct jpeg_error_mgr base;
    jmp_buf back;
} errors;

static void fail(j_common_ptr j)
{
    longjmp(((errors *)j->err)->back, 1);
}
static void say_nothing(j_common_ptr j)
{
    (void)j;
}

/* Inverted CMYK, as Adobe writes it, and upright CMYK. */
static void from_cmyk(const uint8_t *line, uint8_t *rgb, int64_t width, bool inverted)
{
    for (int64_t i = 0; i < width; i++)
        for (int k = 0; k < 3; k++) {
            int c = inverted ? line[4 * i + k] : 255 - line[4 * i + k],
                black = inverted ? line[4 * i + 3] : 255 - line[4 * i + 3];
            rgb[3 * i + k] = (uint8_t)((c * black + 127) / 255);
        }
}

static mr_image_status read_all(struct jpeg_decompress_struct *j, uint8_t *volatile *line, mr_image *out)
{
    jpeg_read_header(j, TRUE);
    const bool cmyk = j->jpeg_color_space == JCS_CMYK || j->jpeg_color_space == JCS_YCCK;
    j->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    j->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(j);
    mr_image_status st = mr_image_new(out, j->output_width, j->output_height);
    if (st) return st;
    if (cmyk && !(*line = malloc((size_t)out->width * 4))) return MR_IMAGE_TOO_LARGE;
    while (j->output_scanline < j->output_height) {
        uint8_t *rgb = out->rgb + (int64_t)j->output_scanline * out->width * 3, *to = cmyk ? *line : rgb;
        jpeg_read_scanlines(j, &to, 1);
        if (cmyk) from_cmyk(*line, rgb, out->width, j->saw_Adobe_marker);
    }
    jpeg_finish_decompress(j);
    return MR_IMAGE_OK;
}

mr_image_status mr_image_jpeg(const uint8_t *bytes, size_t n, mr_image *out)
{
    struct jpeg_decompress_struct j;
    errors e;
    uint8_t *volatile line = NULL;
    volatile mr_image_status st = MR_IMAGE_BAD;
    j.err = jpeg_std_error(&e.base);
    e.base.error_exit = fail;
    e.base.output_message = say_nothing;
    if (setjmp(e.back) == 0) {
        jpeg_create_decompress(&j);
        jpeg_mem_src(&j, bytes, (unsigned long)n);
        st = read_all(&j, &line, out);
    }
    jpeg_destroy_decompress(&j);
    free(line);
    return st;
}
