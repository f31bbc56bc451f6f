/* bench.h: what was measured, and how it is shown. */
#ifndef MR_TOOLS_BENCH_H
#define MR_TOOLS_BENCH_H

#include <jansson.h>

#include "options.h"
#include "peak.h"

typedef struct mr_timing { /* of many runs, in milliseconds */
    int n;
    double min, median, p90, p99, mean;
    double low, high; /* 95 % confidence interval of the median */
} mr_timing;

typedef struct mr_bench_node { /* what one step took, over the runs that were profiled */
    char *name, *op, *kernel;  /* kernel "": a view, a constant or control flow */
    double ms;                 /* the least of its runs */
    double share;              /* of the sum over all nodes */
    double flops, bytes;       /* of one run; 0: not known */
} mr_bench_node;

typedef struct mr_bench_point { /* one point of the sweep */
    int threads;
    char dims[128]; /* "batch=8", "": nothing was swept */
    mr_timing t;
    double items; /* in one run: the first extent of the first input */
    double load_ms, first_ms;
    double node_ms, profiled_ms; /* of a profiled run: its nodes, and all of it */
    size_t peak_bytes;
    mr_bench_node *nodes; /* slowest first */
    int n_nodes;
} mr_bench_point;

/* Sorts ms. */
mr_timing mr_timing_of(double *ms, int n);
/* Others disturbed the machine: the median is far from the minimum. */
bool mr_timing_noisy(const mr_timing *t);

void mr_bench_print_point(FILE *f, const mr_bench_point *p, const mr_peak *peak, int top);
void mr_bench_print_sweep(FILE *f, const mr_bench_point *points, int n);
json_t *mr_bench_json(const mr_bench_point *p);

#endif
