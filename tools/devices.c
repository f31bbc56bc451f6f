/* devices.c: which devices can be used, with what, and why not. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "kernels/cpu/cpu.h"
#include "runtime/engine.h"
#include "selftest.h"

/* ---- the CPU ---- */

typedef struct feature {
    const char *name;
    bool there;
} feature;

static const feature *cpu_features(int *n)
{
#if defined(__x86_64__)
#define HAS(name, id) {name, __builtin_cpu_supports(id) > 0}
    __builtin_cpu_init();
    static feature all[8];
    const feature found[] = {HAS("avx", "avx"),           HAS("avx2", "avx2"),
                             HAS("fma", "fma"),           HAS("avx512f", "avx512f"),
                             HAS("avx512bw", "avx512bw"), HAS("avx512dq", "avx512dq"),
                             HAS("avx512vl", "avx512vl"), HAS("avx512_vnni", "avx512vnni")};
#undef HAS
    memcpy(all, found, sizeof all);
    *n = (int)(sizeof all / sizeof *all);
    return all;
#else
    *n = 0;
    return NULL;
#endif
}

/* Kernels by the level that their slot is filled from. */
typedef struct level {
    const char *name;
    unsigned isa;
    int slots;
} level;

enum { N_LEVELS = 4 };

/* The tables are arrays of function pointers: a slot belongs to the last level that changed it. */
static int count_levels(level levels[N_LEVELS])
{
    static const level all[N_LEVELS] = {
        {"scalar", MR_ISA_SCALAR, 0}, {"blas", MR_ISA_BLAS, 0}, {"avx2", MR_ISA_AVX2, 0}, {"avx512", MR_ISA_AVX512, 0}};
    enum { N_SLOTS = sizeof(mr_cpu_fns) / sizeof(mr_fn) };
    mr_fn *slots = calloc(2 * N_SLOTS, sizeof *slots), *next = slots ? slots + N_SLOTS : NULL;
    int owner[N_SLOTS], total = 0;
    unsigned isa = 0;
    memcpy(levels, all, sizeof all);
    for (int l = 0; slots && l < N_LEVELS; l++) {
        isa |= levels[l].isa & mr_cpu_isa();
        mr_cpu_fill((mr_cpu_fns *)next, isa);
        for (int i = 0; i < N_SLOTS; i++)
            if (next[i] != slots[i]) owner[i] = l;
        memcpy(slots, next, sizeof(mr_cpu_fns));
    }
    for (int i = 0; slots && i < N_SLOTS; i++) {
        if (!slots[i]) continue;
        levels[owner[i]].slots++;
        total++;
    }
    free(slots);
    return total;
}

static void cpu_model(char *buf, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(buf, size, "unknown CPU");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        snprintf(buf, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (f) fclose(f);
}

/* Of the machine, or of the container when that is less. */
static double memory_bytes(void)
{
    double total = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), limit;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "r");
    if (!f) f = fopen("/sys/fs/cgroup/memory/memory.limit_in_bytes", "r");
    if (f && fscanf(f, "%lf", &limit) == 1 && limit < total) total = limit;
    if (f) fclose(f);
    return total;
}

static void print_cpu(int threads)
{
    char model[256];
    level levels[N_LEVELS];
    int n, total = count_levels(levels), quota = mr_quota_cpus();
    const feature *features = cpu_features(&n);
    const char *mask = getenv("MINIRT_ISA");
    cpu_model(model, sizeof model);
    printf("cpu        usable: %s, %d thread%s", model, threads, threads == 1 ? "" : "s");
    printf(" of %ld CPUs", sysconf(_SC_NPROCESSORS_ONLN));
    if (quota) printf(" (the container's quota is %d)", quota);
    printf(", %.1f GiB memory\n  features", memory_bytes() / 0x1p30);
    for (int i = 0; i < n; i++)
        if (features[i].there) printf(" %s", features[i].name);
    printf("%s\n  kernels  %d:", n ? "" : " none that minirt uses", total);
    for (int l = 0; l < N_LEVELS; l++) printf("%s %d %s", l ? "," : "", levels[l].slots, levels[l].name);
    printf("%s%s\n", mask ? "; masked by MINIRT_ISA=" : "", mask ? mask : "");
}

static json_t *cpu_json(int threads)
{
    char model[256];
    level levels[N_LEVELS];
    int n, total = count_levels(levels), quota = mr_quota_cpus();
    const feature *features = cpu_features(&n);
    json_t *names = json_array(), *kernels = json_object();
    for (int i = 0; i < n; i++)
        if (features[i].there) json_array_append_new(names, json_string(features[i].name));
    for (int l = 0; l < N_LEVELS; l++) json_object_set_new(kernels, levels[l].name, json_integer(levels[l].slots));
    cpu_model(model, sizeof model);
    return json_pack("{s:s, s:b, s:o, s:i, s:i, s:o, s:I, s:o, s:i, s:o, s:o}", "name", "cpu", "usable", 1, "model",
                     mr_json_text(model), "threads", threads, "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN), "quota",
                     quota ? json_integer(quota) : json_null(), "memory_bytes", (json_int_t)memory_bytes(), "features",
                     names, "slots", total, "kernels", kernels, "mask", mr_json_text(getenv("MINIRT_ISA")));
}

static void print_selftest(const mr_selftest *t)
{
    if (!t->failed)
        printf("  selftest %d nodes agree with the reference, %s the least: %.2g\n", t->n, t->worst, t->worst_abs);
    else
        printf("  selftest %d of %d nodes are wrong here: %s\n           hint: MINIRT_ISA=avx2 or scalar does without "
               "the kernels of a level\n",
               t->failed, t->n, t->wrong);
}

static json_t *selftest_json(const mr_selftest *t)
{
    return json_pack("{s:i, s:i, s:s, s:f, s:s}", "nodes", t->n, "failed", t->failed, "worst", t->worst, "worst_abs",
                     t->worst_abs, "wrong", t->wrong);
}

/* ---- the others ---- */

/* Device `index` of a plugin: what it is, or why it cannot be used. */
static bool open_device(mr_env *env, const char *name, int index, char *text, size_t size)
{
    const mr_device *d = mr_device_open(env, name, index, text, size);
    if (d && d->plugin->describe(index, text, size) != 0) snprintf(text, size, "no description");
    return d != NULL;
}

static void add_devices(mr_env *env, const char *name, json_t *list)
{
    char text[1024] = "", shown[64];
    for (int i = 0; i < 64; i++) {
        bool usable = open_device(env, name, i, text, sizeof text);
        if (i && !usable) break;
        snprintf(shown, sizeof shown, i ? "%s:%d" : "%s", name, i);
        if (list)
            json_array_append_new(list, json_pack("{s:s, s:b, s:o}", "name", shown, "usable", usable,
                                                  usable ? "description" : "reason", mr_json_text(text)));
        else
            printf("%-10s %s: %s\n", shown, usable ? "usable" : "cannot be used", text);
        if (!usable || !strcmp(name, "cuda-host")) break;
    }
}

int mr_command_devices(const mr_args *a)
{
    static const char *const plugins[] = {"cuda", "cuda-host"};
    mr_error e = {.node = -1};
    mr_env *env = mr_env_new(0);
    if (!env) {
        mr_fail(&e, MR_E_MEMORY, "out of memory");
        return mr_report(&e, NULL);
    }
    mr_selftest test;
    mr_selftest_run(env, &test);
    json_t *list = mr_args_has(a, MR_OPT_JSON) ? json_array() : NULL;
    if (list) {
        json_t *cpu = cpu_json(env->threads);
        json_object_set_new(cpu, "selftest", selftest_json(&test));
        json_array_append_new(list, cpu);
    } else {
        print_cpu(env->threads);
        print_selftest(&test);
    }
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) add_devices(env, plugins[i], list);
    if (list) mr_json_answer(json_pack("{s:s, s:o}", "schema", "minirt.devices/1", "devices", list), a, &e);
    mr_env_free(env);
    int status = mr_report(&e, NULL);
    return status ? status : test.failed > 0;
}
