/* resize_axis.h: where the elements of one axis of a resized tensor come from. */
#ifndef MR_OPS_RESIZE_AXIS_H
#define MR_OPS_RESIZE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mr_resize_mode { MR_RESIZE_NEAREST, MR_RESIZE_LINEAR, MR_RESIZE_CUBIC } mr_resize_mode;

/* coordinate_transformation_mode */
typedef enum mr_resize_coordinate {
    MR_HALF_PIXEL,
    MR_PYTORCH_HALF_PIXEL,
    MR_ALIGN_CORNERS,
    MR_ASYMMETRIC,
    MR_TF_CROP_AND_RESIZE,
    MR_TF_HALF_PIXEL_FOR_NN,
    MR_HALF_PIXEL_SYMMETRIC
} mr_resize_coordinate;

/* nearest_mode. Before version 11 the text leaves it open: UP_OR_DOWN rounds up when shrinking, else down. */
typedef enum mr_resize_nearest {
    MR_ROUND_PREFER_FLOOR,
    MR_ROUND_PREFER_CEIL,
    MR_NEAREST_FLOOR,
    MR_NEAREST_CEIL,
    MR_NEAREST_UP_OR_DOWN
} mr_resize_nearest;

typedef struct mr_resize_rule {
    mr_resize_mode mode;
    mr_resize_coordinate coordinate;
    mr_resize_nearest nearest;
    bool antialias, exclude_outside;
    double cubic_coeff_a;
} mr_resize_rule;

/* The scale is up / down: both whole when it comes from sizes, so that coordinates which lie between two elements are
 * found exactly there. out: elements; the length that the scale asks for may lie above it. start and end: the axis'
 * part of the roi. */
typedef struct mr_resize_axis_spec {
    int64_t in, out;
    double up, down, start, end;
} mr_resize_axis_spec;

/* x_original of output element i. */
double mr_resize_from(const mr_resize_rule *r, const mr_resize_axis_spec *a, int64_t i);
/* Every output element is the input element of the same index. */
bool mr_resize_is_same(const mr_resize_rule *r, const mr_resize_axis_spec *a);
/* How many input elements make an output element. */
int64_t mr_resize_taps(const mr_resize_rule *r, const mr_resize_axis_spec *a);

/* For each output element: its taps' indices in [0, in) times stride, and their weights (NULL: nearest has none).
 * outside[i]: its place is to be taken by a constant: beyond the input, by tf_crop_and_resize, or excluded by nearest.
 * Says whether there is any such. */
bool mr_resize_table(const mr_resize_rule *r, const mr_resize_axis_spec *a, int64_t stride, int64_t *at, double *weight,
                     uint8_t *outside);

#endif
