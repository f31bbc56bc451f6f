/* jpeg2000.c: JPEG 2000, as a file or as a bare codestream, through OpenJPEG. */
#include "kernels/image/image.h"

#include <openjpeg.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const uint8_t *bytes;
    OPJ_UINT64 n, at;
} source;

static OPJ_SIZE_T take(void *to, OPJ_SIZE_T n, void *user)
{
    source *s = user;
    OPJ_UINT64 some = n < s->n - s->at ? n : s->n - s->at;
    if (!some) return (OPJ_SIZE_T)-1;
    memcpy(to, s->bytes + s->at, some);
    s->at += some;
    return some;
}

static OPJ_OFF_T skip(OPJ_OFF_T n, void *user)
{
    source *s = user;
    if (n < 0 || (OPJ_UINT64)n > s->n - s->at) return -1;
    s->at += (OPJ_UINT64)n;
    return n;
}

static OPJ_BOOL seek(OPJ_OFF_T to, void *user)
{
    source *s = user;
    if (to < 0 || (OPJ_UINT64)to > s->n) return OPJ_FALSE;
    s->at = (OPJ_UINT64)to;
    return OPJ_TRUE;
}

static void say_nothing(const char *text, void *user)
{
    (void)text, (void)user;
}

static int clamp(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* Component k at a pixel, brought to eight bits without sign. */
static int sample(const opj_image_t *m, OPJ_UINT32 k, int64_t row, int64_t col)
{
    const opj_image_comp_t *c = &m->comps[k];
    int64_t r = row / c->dy < c->h ? row / c->dy : c->h - 1, w = col / c->dx < c->w ? col / c->dx : c->w - 1;
    int v = c->data[r * c->w + w] + (c->sgnd ? 1 << (c->prec - 1) : 0);
    return c->prec > 8 ? clamp(v >> (c->prec - 8)) : c->prec < 8 ? clamp(v * 255 / ((1 << c->prec) - 1)) : clamp(v);
}

static mr_image_status convert(const opj_image_t *m, mr_image *out)
{
    for (OPJ_UINT32 k = 0; k < m->numcomps; k++)
        if (!m->comps[k].data || !m->comps[k].w || !m->comps[k].h || m->comps[k].prec > 31) return MR_IMAGE_BAD;
    if (m->numcomps < 1) return MR_IMAGE_BAD;
    const bool color = m->numcomps >= 3, ycc = color && m->color_space == OPJ_CLRSPC_SYCC;
    mr_image_status st = mr_image_new(out, (int64_t)m->x1 - m->x0, (int64_t)m->y1 - m->y0);
    for (int64_t i = 0; !st && i < out->width * out->height; i++) {
        int v[3];
        for (OPJ_UINT32 k = 0; k < 3; k++) v[k] = sample(m, color ? k : 0, i / out->width, i % out->width);
        uint8_t *to = out->rgb + 3 * i;
        double y = v[0], cb = v[1] - 128, cr = v[2] - 128;
        to[0] = (uint8_t)(ycc ? clamp((int)(y + 1.402 * cr + 0.5)) : v[0]);
        to[1] = (uint8_t)(ycc ? clamp((int)(y - 0.344136 * cb - 0.714136 * cr + 0.5)) : v[1]);
        to[2] = (uint8_t)(ycc ? clamp((int)(y + 1.772 * cb + 0.5)) : v[2]);
    }
    return st;
}

static mr_image_status read_all(opj_codec_t *codec, opj_stream_t *stream, mr_image *out)
{
    opj_dparameters_t parameters;
    opj_image_t *m = NULL;
    opj_set_default_decoder_parameters(&parameters);
    opj_set_info_handler(codec, say_nothing, NULL);
    opj_set_warning_handler(codec, say_nothing, NULL);
    opj_set_error_handler(codec, say_nothing, NULL);
    mr_image_status st = MR_IMAGE_BAD;
    if (opj_setup_decoder(codec, &parameters) && opj_read_header(stream, codec, &m)) {
        if ((int64_t)(m->x1 - m->x0) * (int64_t)(m->y1 - m->y0) > MR_IMAGE_LIMIT)
            st = MR_IMAGE_TOO_LARGE;
        else if (opj_decode(codec, stream, m) && opj_end_decompress(codec, stream))
            st = convert(m, out);
    }
    if (m) opj_image_destroy(m);
    return st;
}

mr_image_status mr_image_jpeg2000(const uint8_t *bytes, size_t n, mr_image *out)
{
    source s = {bytes, n, 0};
    opj_codec_t *codec = opj_create_decompress(bytes[0] ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
    mr_image_status st = MR_IMAGE_TOO_LARGE;
    if (codec && stream) {
        opj_stream_set_read_function(stream, take);
        opj_stream_set_skip_function(stream, skip);
        opj_stream_set_seek_function(stream, seek);
        opj_stream_set_user_data(stream, &s, NULL);
        opj_stream_set_user_data_length(stream, n);
        st = read_all(codec, stream, out);
    }
    if (stream) opj_stream_destroy(stream);
    if (codec) opj_destroy_codec(codec);
    return st;
}
