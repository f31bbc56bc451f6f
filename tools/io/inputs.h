/* inputs.h: from the arguments of a command to the inputs of a model. */
#ifndef MR_TOOLS_IO_INPUTS_H
#define MR_TOOLS_IO_INPUTS_H

#include "image.h"
#include "runtime/graph.h"
#include "set.h"
#include "tools/options.h"

typedef struct mr_feeds {
    const mr_graph *g;
    mr_value **in;       /* one per graph input; NULL: not given */
    mr_value **expected; /* per graph output, of a test folder; NULL: none */
    int n_expected;
    mr_typed_shape *shapes; /* per graph input: what is declared, under -s and --shape */
} mr_feeds;

/* Reads the positional arguments from `first` on, and --random, --cast, -s, --shape … What it converts it says on
 * stderr. Doesn't check whether all inputs are there and fit: the engine does, before it runs. */
mr_status mr_feeds_read(const mr_args *a, int first, const mr_graph *g, mr_feeds *f, mr_error *e);
void mr_feeds_free(mr_feeds *f);

/* random_inputs.c: fills every input that has neither a value nor an initializer. */
mr_status mr_feeds_random(const mr_args *a, mr_feeds *f, const char *const *names, mr_error *e);

/* shapes.c: the declared types and shapes of the graph's inputs, with -s and --shape; allocated. */
mr_status mr_shapes_given(const mr_args *a, const mr_graph *g, mr_typed_shape **out, mr_error *e);

/* names.c */
/* The longest of the names that text begins with and that one of the characters in `until` (or the text's end, when
 * `until` has a space) follows; {name} stands for exactly that name. Returns its index, *rest behind it; -1: none. */
int mr_name_match(const char *text, const char *const *names, int n, const char *until, const char **rest);
/* "unknown input 'imgae'", with the nearest names. */
mr_status mr_name_unknown(mr_error *e, mr_code code, const char *what, const char *name, size_t len,
                          const char *const *names, int n);
const char **mr_input_names(const mr_graph *g); /* allocated; n_inputs of them */
const char **mr_output_names(const mr_graph *g);

/* convert.c */
/* The value as the type asks for it: a tensor where an optional is declared goes into one; with cast, numbers are
 * converted. Takes v over. */
mr_value *mr_value_fit(mr_value *v, mr_type type, bool cast, const char *name, mr_error *e);

/* read.c: one value, or a set of named values, from a file of any kind that is read. */
typedef enum mr_file_kind { MR_FILE_NPY, MR_FILE_NPZ, MR_FILE_PB, MR_FILE_SAFETENSORS, MR_FILE_IMAGE } mr_file_kind;
mr_status mr_file_kind_of(const char *path, mr_file_kind *kind, mr_error *e);
/* npy, pb, and the only one in an npz or safetensors. type: what is expected, kind MR_NONE: anything. */
mr_status mr_value_read(const char *path, mr_type type, mr_value **out, mr_error *e);
/* npz and safetensors; a dump, by its index; the .npy and .pb files of any other folder, or a single one, under the
 * names of the files without their ending. */
#define MR_DUMP_INDEX "index.json"
mr_status mr_set_read(const char *path, mr_expect expect, mr_set *set, mr_error *e);

#endif
