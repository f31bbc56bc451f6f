/* info_plan.c: the plan that a run would follow: its steps, where their results live, and who holds the memory. */
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "json.h"
#include "nodes.h"

/* ---- a step ---- */

static const char *kernel_of(const mr_plan *p, const mr_step *st)
{
    switch (st->kind) {
    case MR_STEP_VIEW:
        return "view";
    case MR_STEP_COPY:
        return p->values[st->out[0]].dev == MR_CUDA ? "copy to device" : "copy to host";
    case MR_STEP_CARRY:
        return "carry in double";
    default:
        return st->impl ? st->impl->name : st->view ? "view" : "chosen while running";
    }
}

static const char *device_of(const mr_plan *p, const mr_step *st)
{
    bool device = st->n_out > 0 && st->out[0] >= 0 && p->values[st->out[0]].dev == MR_CUDA;
    return device ? p->session->options.device : "cpu";
}

/* Values that the engine adds are of the node that they were added for. */
static const char *value_name(const mr_plan *p, int id)
{
    if (id >= p->graph->n_values) id = p->values[id].twin;
    return id >= 0 && id < p->graph->n_values ? p->graph->values[id].name : "(carried)";
}

/* "in place of x", "view of x", "arena + 4096", "output", "while running" */
static const char *place_of(const mr_plan *p, const mr_step *st, int id, mr_region *r)
{
    const mr_pvalue *v = &p->values[id];
    if (st->view || st->kind == MR_STEP_VIEW) return mr_region_printf(r, "view of %s", value_name(p, st->in[0]));
    for (int i = 0; i < st->n_in; i++)
        if (st->in[i] >= 0 && id != st->in[i] && v->root != id && p->values[st->in[i]].root == v->root)
            return mr_region_printf(r, "in place of %s", value_name(p, st->in[i]));
    switch (v->place) {
    case MR_AT_ARENA:
        return mr_region_printf(r, "arena + %zu", p->values[v->root].offset);
    case MR_AT_OUTPUT:
        return "output";
    case MR_AT_OWNED:
        return "while running";
    default:
        return "";
    }
}

static size_t bytes_of(const mr_pvalue *v)
{
    size_t bytes;
    bool sized = v->type.kind == MR_TENSOR && mr_shape_bytes(&v->shape, (mr_dtype)v->type.elem, &bytes);
    return sized ? bytes : 0;
}

/* Its outputs' shapes hang on values, or what they hold are strings. */
static bool is_sized_later(const mr_plan *p, const mr_step *st)
{
    bool later = st->kind == MR_STEP_DYNAMIC;
    for (int o = 0; o < st->n_out; o++) later |= st->out[o] >= 0 && p->values[st->out[o]].type.elem == MR_STRING;
    return later;
}

static int count_later(const mr_plan *p)
{
    int n = 0;
    for (int k = 0; k < p->n_steps; k++) n += is_sized_later(p, &p->steps[k]);
    return n;
}

/* ---- lines ---- */

/* The other nodes of the file that the step's node stands for. */
static void print_with(FILE *f, const mr_node *n, mr_region *r)
{
    for (int i = 1; mr_node_of(n, i); i++)
        fprintf(f, "%s%s%s", i == 1 ? "          with " : ", ", mr_node_label(r, mr_node_of(n, i)),
                mr_node_of(n, i + 1) ? "" : "\n");
}

static void print_step(FILE *f, const mr_plan *p, int k, const mr_facts *facts)
{
    const mr_step *st = &p->steps[k];
    char size[32];
    fprintf(f, "  %4d  %-20s %s  %s", k, kernel_of(p, st), mr_node_op(facts->r, st->node),
            mr_node_label(facts->r, st->node));
    if (p->session->device) fprintf(f, "  on %s", device_of(p, st));
    fprintf(f, "\n");
    print_with(f, st->node, facts->r);
    for (int o = 0; o < st->n_out; o++) {
        if (st->out[o] < 0) continue;
        const mr_pvalue *v = &p->values[st->out[o]];
        fprintf(f, "          %s %s", value_name(p, st->out[o]),
                mr_typed_text(facts->r, facts->model, v->type, &v->shape));
        size_t bytes = bytes_of(v);
        if (bytes) fprintf(f, ", %s", mr_bytes_string(bytes, size, sizeof size));
        fprintf(f, ", %s\n", place_of(p, st, st->out[o], facts->r));
    }
}

static void print_folded(FILE *f, const mr_plan *p, const mr_facts *facts)
{
    enum { WIDTH = 110 };
    int column = 0;
    for (int i = 0; i < p->n_folded; i++) {
        const char *label = mr_node_label(facts->r, p->folded[i]);
        if (i == 0) column = fprintf(f, "folded before the run, %d: ", p->n_folded);
        if (column + (int)strlen(label) > WIDTH && i) column = fprintf(f, "\n    ") - 1;
        column += fprintf(f, "%s%s", label, i + 1 < p->n_folded ? ", " : "\n");
    }
}

static void print_amount(FILE *f, const char *what, size_t bytes)
{
    char size[32];
    if (bytes) fprintf(f, "  %-10s %s\n", mr_bytes_string(bytes, size, sizeof size), what);
}

static void print_holders(FILE *f, const mr_plan *p, const mr_facts *facts)
{
    mr_holder *holders;
    int n, step = mr_plan_peak(p, &holders, &n);
    if (step >= 0 && n > 0)
        print_amount(f,
                     mr_region_printf(facts->r, "tensors, most at step %d, %s:", step,
                                      mr_node_label(facts->r, p->steps[step].node)),
                     p->arena[MR_CPU]);
    for (int i = 0; step >= 0 && i < n; i++)
        print_amount(
            f,
            mr_region_printf(facts->r, "  %s %s", holders[i].name,
                             mr_typed_text(facts->r, facts->model, holders[i].value->type, &holders[i].value->shape)),
            holders[i].bytes);
    free(holders);
}

/* Bodies run within a step, in memory of their own. */
static void print_bodies(FILE *f, const mr_plan *p, const mr_facts *facts)
{
    const mr_session *s = p->session;
    for (int g = 0; g < s->model->g->n_graphs; g++)
        for (const mr_plan *q = s->plans[g]; q; q = q->next) {
            if (!q->graph->parent) continue;
            size_t bytes = q->arena[MR_CPU] + q->scratch + q->output_bytes;
            print_amount(f,
                         mr_region_printf(facts->r, "%s/%s, %d steps, while it runs",
                                          mr_node_label(facts->r, q->graph->owner), q->graph->attr, q->n_steps),
                         bytes);
        }
}

static void print_memory(FILE *f, const mr_plan *p, const mr_facts *facts)
{
    char size[32];
    int later = count_later(p);
    fprintf(f, "memory: %s%s", later ? "at least " : "", mr_bytes_string(mr_plan_bytes(p), size, sizeof size));
    if (later) fprintf(f, "; %d step%s sized while running", later, later == 1 ? " is" : "s are");
    fprintf(f, "\n");
    print_holders(f, p, facts);
    print_amount(f, "outputs", p->output_bytes);
    print_amount(f, "scratch of kernels", p->scratch);
    print_amount(f, "inputs carried in double", p->carried_bytes);
    print_amount(f, "packed weights", p->packed_bytes);
    print_amount(f, "folded constants", p->const_bytes);
    print_amount(f, "weights that could not be mapped", p->session->model->weight_bytes);
    print_bodies(f, p, facts);
    print_amount(f, "on the device, apart", p->arena[MR_CUDA]);
    print_amount(f, "mapped from files, apart: pages that come and go", (size_t)facts->mapped_bytes);
}

void mr_info_plan_print(FILE *f, const mr_plan *p, const mr_facts *facts)
{
    const mr_options *o = &p->session->options;
    fprintf(f, "plan: %s mode, --optimize %d, on %s, %d step%s\n", o->mode == MR_MODE_FAST ? "fast" : "reference",
            o->optimize, o->device ? o->device : "cpu", p->n_steps, p->n_steps == 1 ? "" : "s");
    for (int k = 0; k < p->n_steps; k++) print_step(f, p, k, facts);
    print_folded(f, p, facts);
    print_memory(f, p, facts);
}

/* ---- JSON ---- */

static json_t *output_json(const mr_plan *p, const mr_step *st, int id, const mr_facts *facts)
{
    const mr_pvalue *v = &p->values[id];
    char type[96];
    return json_pack("{s:o, s:s, s:o, s:I, s:o}", "name", mr_json_text(value_name(p, id)), "type",
                     v->type.kind == MR_TENSOR ? mr_dtype_name((mr_dtype)v->type.elem)
                                               : mr_type_string(v->type, type, sizeof type),
                     "shape", mr_shape_json(facts->model, &v->shape), "bytes", (json_int_t)bytes_of(v), "place",
                     mr_json_text(place_of(p, st, id, facts->r)));
}

static json_t *step_json(const mr_plan *p, const mr_step *st, const mr_facts *facts)
{
    json_t *outputs = json_array(), *with = json_array();
    mr_node alone = *st->node; /* as it runs, whatever it stands for */
    alone.n_origins = 0;
    for (int i = 1; mr_node_of(st->node, i); i++)
        json_array_append_new(with, mr_json_text(mr_node_label(facts->r, mr_node_of(st->node, i))));
    for (int o = 0; o < st->n_out; o++)
        if (st->out[o] >= 0) json_array_append_new(outputs, output_json(p, st, st->out[o], facts));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:i, s:s, s:b, s:I, s:o}", "kernel", kernel_of(p, st), "op",
                     mr_json_text(mr_node_op(facts->r, st->node)), "name",
                     mr_json_text(mr_node_label(facts->r, st->node)), "with", with, "runs",
                     mr_json_text(mr_node_op(facts->r, &alone)), "node", mr_node_file(st->node)->index, "device",
                     device_of(p, st), "sized_while_running", is_sized_later(p, st), "scratch", (json_int_t)st->scratch,
                     "outputs", outputs);
}

static json_t *holders_json(const mr_plan *p, const mr_facts *facts, int *step)
{
    mr_holder *holders;
    json_t *list = json_array();
    int n;
    *step = mr_plan_peak(p, &holders, &n);
    for (int i = 0; *step >= 0 && i < n; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "name", mr_json_text(holders[i].name), "shape",
                                              mr_shape_json(facts->model, &holders[i].value->shape), "bytes",
                                              (json_int_t)holders[i].bytes));
    free(holders);
    return list;
}

static json_t *memory_json(const mr_plan *p, const mr_facts *facts)
{
    int step;
    json_t *holders = holders_json(p, facts, &step);
    return json_pack("{s:I, s:b, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "peak_bytes",
                     (json_int_t)mr_plan_bytes(p), "complete", count_later(p) == 0, "tensors",
                     (json_int_t)p->arena[MR_CPU], "peak_step", step < 0 ? json_null() : json_integer(step), "holders",
                     holders, "outputs", (json_int_t)p->output_bytes, "scratch", (json_int_t)p->scratch, "carried",
                     (json_int_t)p->carried_bytes, "packed", (json_int_t)p->packed_bytes, "folded",
                     (json_int_t)p->const_bytes, "weights", (json_int_t)p->session->model->weight_bytes, "device",
                     (json_int_t)p->arena[MR_CUDA], "mapped", (json_int_t)facts->mapped_bytes);
}

json_t *mr_info_plan_json(const mr_plan *p, const mr_facts *facts)
{
    const mr_options *o = &p->session->options;
    json_t *steps = json_array(), *folded = json_array();
    for (int k = 0; k < p->n_steps; k++) json_array_append_new(steps, step_json(p, &p->steps[k], facts));
    for (int i = 0; i < p->n_folded; i++)
        json_array_append_new(folded, mr_json_text(mr_node_label(facts->r, p->folded[i])));
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "mode", o->mode == MR_MODE_FAST ? "fast" : "reference",
                     "optimize", o->optimize, "device", o->device ? o->device : "cpu", "steps", steps, "folded", folded,
                     "memory", memory_json(p, facts));
}
