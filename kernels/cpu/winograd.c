/* winograd.c: see winograd.h. */
#include "kernels/cpu/winograd.h"

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Operations, and what the weights cost, for each pair of channel and map. */
static int64_t cost(const mr_conv_args *v, int m, int64_t lanes, int64_t flops)
{
    if (m == 0) return 2 * 9 * mr_conv_pixels(v) + flops * 9 * (int64_t)sizeof(float);
    mr_conv_args t = mr_winograd_tiles(v, m);
    int64_t parts = (m + 2) * (m + 2), tiles = round_up(mr_conv_pixels(&t), lanes);
    /* the transforms are shared by the maps or the channels: about ten operations for each part of a tile */
    int64_t transforms = 10 * parts * tiles * (v->channels + v->maps) / (v->channels * v->maps);
    return 2 * parts * tiles + flops * parts * (int64_t)sizeof(float) + transforms;
}

int mr_winograd_best(const mr_conv_args *v, int64_t lanes, int64_t flops)
{
    if (v->rank != 2 || v->channels < 16 || v->maps < 16 || v->axis[1].y_step != 1) return 0;
    for (int i = 0; i < 2; i++)
        if (v->axis[i].taps != 3 || v->axis[i].stride != 1 || v->axis[i].dilation != 1 || v->axis[i].out < 1) return 0;
    int best = 0;
    for (int m = 2; m <= 4; m += 2)
        if (cost(v, m, lanes, flops) < cost(v, best, lanes, flops)) best = m;
    return best;
}

mr_conv_args mr_winograd_tiles(const mr_conv_args *v, int m)
{
    mr_conv_args t = *v;
    for (int i = 0; i < t.rank; i++) {
        t.axis[i].taps = m + 2;
        t.axis[i].stride = m;
        t.axis[i].out = (v->axis[i].out + m - 1) / m;
    }
    return t;
}

/* Row i of G times (x, y, z). */
static double transform(int m, int i, double x, double y, double z)
{
    static const double of_2[] = {0, 1, -1}, of_4[] = {0, MR_WINOGRAD_A, -MR_WINOGRAD_A, MR_WINOGRAD_B, -MR_WINOGRAD_B};
    const double *points = m == 2 ? of_2 : of_4;
    if (i == m + 1) return z;
    double p = points[i], n = 1;
    for (int j = 0; j < m + 1; j++)
        if (j != i) n *= p - points[j];
    return (x + p * y + p * p * z) / n;
}

void mr_winograd_weights(int m, const float *g, float *out)
{
    double half[6][3];
    for (int i = 0; i < m + 2; i++)
        for (int c = 0; c < 3; c++) half[i][c] = transform(m, i, g[c], g[3 + c], g[6 + c]);
    for (int i = 0; i < m + 2; i++)
        for (int j = 0; j < m + 2; j++)
            out[i * (m + 2) + j] = (float)transform(m, j, half[i][0], half[i][1], half[i][2]);
}
