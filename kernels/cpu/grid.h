/* grid.h: a tensor sampled at the places that a grid names, and the grid of an affine map. */
#ifndef MR_KERNELS_CPU_GRID_H
#define MR_KERNELS_CPU_GRID_H

#include "kernels/cpu/sizes.h"
#include "runtime/tensor.h"
#include "runtime/threads.h"

#define MR_GRID_RANK (MR_MAX_RANK - 2)

typedef enum mr_grid_mode { MR_GRID_NEAREST, MR_GRID_LINEAR, MR_GRID_CUBIC } mr_grid_mode;
typedef enum mr_grid_padding { MR_GRID_ZEROS, MR_GRID_BORDER, MR_GRID_REFLECTION } mr_grid_padding;

/* x is [batch, channels, dims…, components], grid [batch, places, rank], y [batch, channels, places, components]. A
 * place lists normalized coordinates from the innermost axis out. Linear and cubic compute in double; integers are cut
 * off toward zero, as Cast does. components: 2 of complex numbers, of which type is the part's. */
typedef struct mr_grid_args {
    const void *x, *grid;
    void *y;
    mr_dtype type, grid_type;
    int64_t batch, channels, places;
    int rank, components; /* rank >= 1 */
    int64_t dims[MR_GRID_RANK];
    mr_grid_mode mode;
    mr_grid_padding padding;
    bool align_corners;
    mr_pool *pool;
} mr_grid_args;

/* theta is [batch, rank, rank + 1], grid [batch, dims…, rank]: theta times each place of a regular grid over [-1, 1].
 */
typedef struct mr_affine_grid_args {
    const void *theta;
    void *grid;
    mr_dtype type;
    int64_t batch;
    int rank; /* 2 or 3 */
    int64_t dims[3];
    bool align_corners;
} mr_affine_grid_args;

typedef struct mr_grid_fns {
    void (*nearest[MR_N_SIZES])(const mr_grid_args *);
    void (*interpolate[MR_N_DTYPES])(const mr_grid_args *);
    void (*affine[MR_N_DTYPES])(const mr_affine_grid_args *);
} mr_grid_fns;

#endif
