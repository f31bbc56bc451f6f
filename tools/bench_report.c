/* bench_report.c: what bench measured, as text and as JSON. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { BAR = 24, NAME = 28 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* The interval comes from order statistics, which ask nothing of the distribution: between which of the sorted values
 * the median lies in 95 of 100 repetitions (normal approximation of the binomial). */
mr_timing mr_timing_of(double *ms, int n)
{
    mr_timing t = {.n = n};
    if (n == 0) return t;
    qsort(ms, (size_t)n, sizeof *ms, ascending);
    for (int i = 0; i < n; i++) t.mean += ms[i] / n;
    double half = 1.96 * sqrt(n) / 2;
    int low = (int)floor(n / 2.0 - half), high = (int)ceil(n / 2.0 + half);
    t.min = ms[0], t.median = quantile(ms, n, 0.5), t.p90 = quantile(ms, n, 0.9), t.p99 = quantile(ms, n, 0.99);
    t.low = ms[low < 0 ? 0 : low], t.high = ms[high >= n ? n - 1 : high];
    return t;
}

bool mr_timing_noisy(const mr_timing *t)
{
    return t->n > 4 && t->median > 1.15 * t->min && t->median - t->min > 0.02;
}

static const char *bar(double share, char *buf)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int n = (int)(share * BAR * 8 + 0.5);
    char *p = buf;
    for (int i = 0; i < n / 8; i++) p += sprintf(p, "█");
    strcpy(p, eighths[n % 8]);
    return buf;
}

/* Names of nodes are paths: it is their ends that tell them apart. Cut at the front of a character. */
static const char *tail(const char *name, int width, char *buf, size_t size)
{
    size_t len = strlen(name);
    if (len <= (size_t)width) return name;
    const char *from = name + len - (size_t)width + 1;
    while ((*from & 0xc0) == 0x80) from++;
    snprintf(buf, size, "…%s", from);
    return buf;
}

static void print_nodes(FILE *f, const mr_bench_point *p, const mr_peak *peak, int top)
{
    char buf[BAR * 4 + 8], name[NAME * 4 + 8];
    int n = top < p->n_nodes ? top : p->n_nodes;
    if (n == 0) return;
    fprintf(f, "\n       ms  share  GFLOP/s  of peak    GB/s  node\n");
    for (int i = 0; i < n; i++) {
        const mr_bench_node *k = &p->nodes[i];
        double gflops = k->ms > 0 ? k->flops / k->ms / 1e6 : 0, gbytes = k->ms > 0 ? k->bytes / k->ms / 1e6 : 0;
        fprintf(f, "%9.3f %5.1f%%", k->ms, 100 * k->share);
        if (gflops > 0)
            fprintf(f, "  %7.1f", gflops);
        else
            fprintf(f, "        -");
        if (gflops > 0 && peak->gflops > 0)
            fprintf(f, "  %6.0f%%", 100 * gflops / (peak->gflops * p->threads));
        else
            fprintf(f, "        -");
        fprintf(f, "  %6.1f  %-*s %-12s %-18s %s\n", gbytes, NAME + (strlen(k->name) > NAME ? 2 : 0),
                tail(k->name, NAME, name, sizeof name), k->op, k->kernel, bar(k->share, buf));
    }
    if (n < p->n_nodes) {
        double rest = 0;
        for (int i = n; i < p->n_nodes; i++) rest += p->nodes[i].ms;
        fprintf(f, "%9.3f         %d more nodes (--top N shows more)\n", rest, p->n_nodes - n);
    }
    fprintf(f, "a run that is watched: %.3f ms = nodes %.3f + %.3f between them\n", p->profiled_ms, p->node_ms,
            p->profiled_ms - p->node_ms);
}

void mr_bench_print_point(FILE *f, const mr_bench_point *p, const mr_peak *peak, int top)
{
    const mr_timing *t = &p->t;
    fprintf(f, "\n%d thread%s%s%s: min %.3f ms, median %.3f [%.3f, %.3f], p90 %.3f, p99 %.3f over %d runs\n",
            p->threads, p->threads == 1 ? "" : "s", *p->dims ? ", " : "", p->dims, t->min, t->median, t->low, t->high,
            t->p90, t->p99, t->n);
    fprintf(f, "%.1f items/s, load %.1f ms, first run %.1f ms, peak %.1f MiB\n", p->items * 1e3 / t->median, p->load_ms,
            p->first_ms, (double)p->peak_bytes / 0x1p20);
    print_nodes(f, p, peak, top);
}

void mr_bench_print_sweep(FILE *f, const mr_bench_point *points, int n)
{
    char buf[BAR * 4 + 8];
    double best = 0;
    for (int i = 0; i < n; i++) best = fmax(best, points[i].items * 1e3 / points[i].t.median);
    if (n < 2) return;
    fprintf(f, "\nthreads  %-20s  median ms    items/s\n", "dims");
    for (int i = 0; i < n; i++) {
        double rate = points[i].items * 1e3 / points[i].t.median;
        fprintf(f, "%7d  %-20s  %9.3f  %9.1f  %s\n", points[i].threads, *points[i].dims ? points[i].dims : "-",
                points[i].t.median, rate, bar(rate / best, buf));
    }
}

/* "batch=8,seq=128" as an object. */
static json_t *dims_json(const char *dims)
{
    json_t *j = json_object();
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", dims);
    for (char *part; (part = strsep(&rest, ","));) {
        char *equals = strrchr(part, '=');
        if (!equals) continue;
        *equals = 0;
        json_object_set_new(j, part, json_integer(atoll(equals + 1)));
    }
    return j;
}

json_t *mr_bench_json(const mr_bench_point *p)
{
    const mr_timing *t = &p->t;
    json_t *nodes = json_array();
    for (int i = 0; i < p->n_nodes; i++) {
        const mr_bench_node *k = &p->nodes[i];
        json_t *j = json_pack("{s:o, s:s, s:s, s:f, s:f}", "name", mr_json_text(k->name), "op", k->op, "kernel",
                              k->kernel, "ms", k->ms, "share", k->share);
        if (k->flops > 0 && k->ms > 0) json_object_set_new(j, "gflops", json_real(k->flops / k->ms / 1e6));
        if (k->bytes > 0 && k->ms > 0) json_object_set_new(j, "gbytes_per_second", json_real(k->bytes / k->ms / 1e6));
        json_array_append_new(nodes, j);
    }
    json_t *j = json_pack("{s:i, s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:[f, f]}", "threads", p->threads, "dims",
                          dims_json(p->dims), "iterations", t->n, "min_ms", t->min, "median_ms", t->median, "mean_ms",
                          t->mean, "p90_ms", t->p90, "p99_ms", t->p99, "median_interval_ms", t->low, t->high);
    json_object_set_new(j, "noisy", json_boolean(mr_timing_noisy(t)));
    json_object_set_new(j, "items_per_second", json_real(p->items * 1e3 / t->median));
    json_object_set_new(j, "load_ms", json_real(p->load_ms));
    json_object_set_new(j, "first_ms", json_real(p->first_ms));
    json_object_set_new(j, "peak_bytes", json_integer((json_int_t)p->peak_bytes));
    json_object_set_new(j, "profiled_ms", json_real(p->profiled_ms));
    json_object_set_new(j, "nodes_ms", json_real(p->node_ms));
    json_object_set_new(j, "nodes", nodes);
    return j;
}
