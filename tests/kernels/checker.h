/* checker.h: every slot of the kernel table that a level overrides, against the scalar one.
 *
 * A family's check function names its slots with ck_slot, builds inputs in guarded memory, and hands a call to
 * ck_verify, which runs it through the scalar table and through the level's, alone and on two threads. With --bench the
 * same call is timed. A slot that is overridden and was not named fails. */
#ifndef MR_TESTS_KERNELS_CHECKER_H
#define MR_TESTS_KERNELS_CHECKER_H

#include <setjmp.h>

#include "kernels/cpu/cpu.h"

typedef void (*ck_fn)(void);

enum { CK_SLOTS = sizeof(mr_cpu_fns) / sizeof(ck_fn) };

typedef struct ck_level {
    const char *name;
    unsigned isa, below; /* it alone; what it overrides */
    int vnni;            /* of an emulated level: whether the CPU says that it has VNNI */
} ck_level;

typedef struct ck_options {
    const char *pattern; /* NULL: all; else a part of LEVEL.FAMILY.KERNEL */
    bool bench, list, verbose;
    int64_t threads; /* 0: two */
} ck_options;

typedef struct ck {
    const ck_options *options;
    const ck_level *at;
    mr_cpu_fns scalar, level, below;
    mr_pool *pool, *pools; /* what calls pass on; the one of several threads */
    const char *family;
    int first, n;           /* slots of the family */
    bool visited[CK_SLOTS]; /* by this level's checks */
    int slot;               /* being checked; -1: none */
    int errors;             /* of it */
    long checks, passed, failed, slow;
    char what[200]; /* the case */
    int side;       /* where buffers touch their guard: 0 behind them, 1 before them */
    uint64_t random;
    double flops, bytes; /* of the case, for the bench */
    bool timed;          /* the slot has a time already */
    sigjmp_buf fault;
} ck;

/* ---- what checks call ---- */

/* A slot of c->level: true when it is overridden, wanted, and to be checked now. What is checked before it ends here.
 */
bool ck_slot(ck *c, const void *slot);
/* A slot that serves another, such as scratch: the calls of the other one check it. */
void ck_serves(ck *c, const void *slot);

void ck_case(ck *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ck_work(ck *c, double flops, double bytes);
void ck_fail(ck *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef enum ck_rule {
    CK_BITS, /* the same bits */
    CK_SAME, /* the same values, zeros by their sign; NaN is NaN */
    CK_NEAR  /* within ulps of the type, floor, slack and tail, together; NaN is NaN, and an overflow the next value */
} ck_rule;

typedef struct ck_output {
    mr_dtype type;
    int64_t n;
    ck_rule rule;
    double ulps, floor;
    const double *slack; /* for each element; NULL: 0 */
    double tail;         /* times |y ln y|: what exp makes of its argument's rounding */
} ck_output;

enum { CK_OUTPUTS = 4 };

/* prepare gives the call what table t asks for, scratch and packed weights; NULL: nothing. run calls the slot of t,
 * on c->pool, with outputs y. */
typedef struct ck_call {
    void (*prepare)(ck *c, void *arg, const mr_cpu_fns *t);
    void (*run)(ck *c, void *arg, const mr_cpu_fns *t, void *const *y);
} ck_call;

void ck_verify(ck *c, const ck_call *call, void *arg, const ck_output *outputs, int n);

/* Calls one(c, shape) with buffers that end at a guard page, then with buffers that begin behind one; the values are
 * the same. A fault fails the slot. */
void ck_sides(ck *c, void (*one)(ck *c, const void *shape), const void *shape);

/* ---- memory, until the case ends ---- */

void *ck_in(ck *c, int64_t n, size_t size); /* with nothing in it */
void *ck_scratch(ck *c, size_t bytes);      /* aligned to 64 */
int ck_mark(ck *c);
void ck_release(ck *c, int mark);
bool ck_intact(const ck *c, const void *p, size_t bytes); /* around an output */

/* ---- values ---- */

typedef enum ck_values {
    CK_ANY,      /* all bit patterns, NaN, zeros, infinities, denormals, ties */
    CK_UNIT,     /* within ±1; integers within ±8 */
    CK_FINITE,   /* of all magnitudes up to 2^20, denormals too */
    CK_HUGE,     /* up to the type's largest: their sums and squares overflow a float, and may come back */
    CK_POSITIVE, /* in (0, 2] */
    CK_SCALE,    /* floats in (0, 2], in whatever type */
    CK_WHOLE,    /* whole, from 0 to 127 */
    CK_EXPONENT  /* those that Pow knows, and others */
} ck_values;

uint64_t ck_random(ck *c);
double ck_uniform(ck *c); /* in [0, 1) */
void *ck_values_in(ck *c, mr_dtype d, int64_t n, ck_values v);
/* NaN, both infinities and -0 here and there. */
void ck_sprinkle(ck *c, mr_dtype d, void *x, int64_t n);
double *ck_magnitudes(ck *c, mr_dtype d, const void *x, int64_t n); /* |x| as double */
double *ck_slack(ck *c, int64_t n, const double *magnitude, double factor);
double ck_unit(mr_dtype d); /* half an ULP of 1 */
void ck_compare(ck *c, const ck_output *o, const void *want, const void *got, const char *which);

/* ---- elementwise kernels ---- */

/* How operands may lie. */
typedef enum ck_freedom {
    CK_DENSE,  /* all as the output does */
    CK_BEHIND, /* the first has the output's shape, the others are broadcast as they like */
    CK_STEADY, /* the others are one element, one a row, or one row */
    CK_FREE
} ck_freedom;

typedef struct ck_each {
    mr_dtype out, in[6];
    size_t size[6]; /* of an element where that's not its type's; 0: it is */
    int n_in;
    ck_values values[6];
    const void *params;
    size_t slot; /* where in the table */
    ck_rule rule;
    double ulps, floor, tail;
    ck_freedom freedom;
} ck_each;

void ck_elementwise(ck *c, const ck_each *e);
#define CK_AT(c, slot) ((size_t)((const char *)&(c)->level.slot - (const char *)&(c)->level))

/* ---- the machinery ---- */

bool ck_run(const ck_options *o, long *passed, long *failed); /* false: out of memory */
void ck_time(ck *c, const ck_call *call, void *arg, void *const *y);
const char *ck_symbol(ck_fn f); /* the name of a function of this program, or NULL */
const char *ck_name(const ck *c, int slot, char *buffer, size_t size);

extern const mr_dtype ck_floats[4]; /* f32, f16, bf16, f64 */

#endif
