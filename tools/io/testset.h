/* testset.h: test folders: NAME/model.onnx with NAME/test_data_set_N/{input,output}_M.pb. */
#ifndef MR_TOOLS_IO_TESTSET_H
#define MR_TOOLS_IO_TESTSET_H

#include "runtime/graph.h"

/* Does the folder have an input_0.pb or output_0.pb? */
bool mr_is_testset(const char *dir);
/* input_M.pb is for the M-th input that has no initializer. When there are more files than such inputs, their names
 * decide, and without names the order of all inputs. in has one place per graph input; those without a file stay. */
mr_status mr_testset_inputs(const char *dir, const mr_graph *g, mr_value **in, mr_error *e);
/* output_M.pb is for graph output M. *n: how many files there are; out has room for the graph's outputs. */
mr_status mr_testset_outputs(const char *dir, const mr_graph *g, mr_value **out, int *n, mr_error *e);

#endif
