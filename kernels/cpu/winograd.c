/* winograd.c: see winograd.h. */
#include "kernels/cpu/winograd.h"

bool mr_winograd_fits(const mr_conv_args *v)
{
    if (v->rank != 2 || v->channels < 16 || v->maps < 16) return false;
    for (int i = 0; i < 2; i++)
        if (v->axis[i].taps != 3 || v->axis[i].stride != 1 || v->axis[i].dilation != 1 || v->axis[i].out < 12) return false;
    return true;
}

mr_conv_args mr_winograd_tiles(const mr_conv_args *v)
{
    mr_conv_args t = *v;
    for (int i = 0; i < t.rank; i++) {
        t.axis[i].taps = MR_WINOGRAD_IN;
        t.axis[i].stride = MR_WINOGRAD_OUT;
        t.axis[i].out = (v->axis[i].out + MR_WINOGRAD_OUT - 1) / MR_WINOGRAD_OUT;
    }
    return t;
}

/* Row i of G times (x, y, z). */
static double transform(int i, double x, double y, double z)
{
    const double points[5] = {0, MR_WINOGRAD_A, -MR_WINOGRAD_A, MR_WINOGRAD_B, -MR_WINOGRAD_B};
    if (i == 5) return z;
    double p = points[i], n = 1;
    for (int j = 0; j < 5; j++)
        if (j != i) n *= p - points[j];
    return (x + p * y + p * p * z) / n;
}

void mr_winograd_weights(const float *g, int64_t row_step, int64_t col_step, float *out)
{
    double half[MR_WINOGRAD_IN][3];
    for (int i = 0; i < MR_WINOGRAD_IN; i++)
        for (int c = 0; c < 3; c++) {
            const float *col = g + c * col_step;
            half[i][c] = transform(i, col[0], col[row_step], col[2 * row_step]);
        }
    for (int i = 0; i < MR_WINOGRAD_IN; i++)
        for (int j = 0; j < MR_WINOGRAD_IN; j++)
            out[i * MR_WINOGRAD_IN + j] = (float)transform(j, half[i][0], half[i][1], half[i][2]);
}
