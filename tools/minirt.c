/* minirt.c: the command, as a table: a new command is a row here and a file beside it. */
#include <stdio.h>

#include "commands.h"

#define MODEL_INPUTS (FOR_RUNNING | FOR_INPUTS | FOR_SHAPES)

static const mr_command commands[] = {
    {
        .name = "run",
        .arguments = "MODEL [INPUT…]",
        .summary = "what does the model give for this input?",
        .text = "  minirt run model.onnx input.npy                   by position\n"
                "  minirt run model.onnx image=photo.jpg --top 5     an image, and the five largest scores\n"
                "  minirt run model.onnx ids=ids.npy mask=mask.npy   by name; an npz has names as its keys\n"
                "  minirt run model.onnx 'x:f32[1,3]=1,2,3'          written out; one value fills the shape\n"
                "  minirt run model.onnx x=raw:x.bin:f32[1,3]        bytes without a header\n"
                "  minirt run model.onnx test_data_set_0             a test folder: inputs, and what is expected\n"
                "  minirt run model.onnx --random -s batch=8         made-up inputs\n"
                "  minirt run model.onnx in.npz -o out.npz           write the outputs\n"
                "  minirt run model.onnx in.npz --expect theirs.npz  compare them; status 1 when they differ\n"
                "  minirt run model.onnx in.npz --outputs 'layer3*'  any tensors of the graph\n"
                "  minirt run model.onnx in.npz --profile trace.json open it in chrome://tracing or Perfetto\n\n"
                "Files go, in order, to the inputs that have no initializer; '-' is an npy file on stdin. In NAME=…\n"
                "the name is the model's, whatever characters it has; {NAME} quotes one. Types that do not fit are\n"
                "errors; --cast converts.",
        .min_args = 1,
        .max_args = -1,
        .groups = MODEL_INPUTS | FOR_OUTPUTS | FOR_TOLERANCE | FOR_RUN | FOR_JSON,
        .run = mr_command_run,
    },
    {
        .name = "check",
        .arguments = "MODEL",
        .summary = "is the file valid ONNX, and can minirt run all of it on this device?",
        .text = "  minirt check model.onnx                every node that cannot run, by reason\n"
                "  minirt check model.onnx --device cuda  on another device\n"
                "  minirt check model.onnx -s batch=8     with a symbolic dimension set\n"
                "  minirt check model.onnx --json         for other programs\n\n"
                "No inputs are needed. Nodes in subgraphs, in function bodies and behind others that cannot run are\n"
                "judged too. -v names attributes that are given and make no difference. Status 0: all runs, or hangs\n"
                "on values that only a run knows; 3: not valid ONNX; 4: what an output needs cannot run.",
        .min_args = 1,
        .max_args = 1,
        .groups = FOR_RUNNING | FOR_SHAPES | FOR_JSON,
        .run = mr_command_check,
    },
    {
        .name = "info",
        .arguments = "MODEL [INPUT…]",
        .summary = "what is in this file, and what would a run of it take?",
        .text = "  minirt info model.onnx                        file, inputs, outputs, operators, parameters, FLOPs\n"
                "  minirt info model.onnx -s batch=8             FLOPs with a symbolic dimension set\n"
                "  minirt info model.onnx --shape x=1x3x224x224  … with an input's shape set\n"
                "  minirt info model.onnx --plan                 the steps of a run, kernels, memory and who holds it\n"
                "  minirt info model.onnx in.npz --plan          … for these inputs\n"
                "  minirt info model.onnx --json                 for other programs\n\n"
                "Nothing is run. FLOPs are what the operators' definitions ask for, a multiply and an add being two,\n"
                "comparing and elementary functions one; moving and converting do not count, '-' is not counted. A\n"
                "Loop counts with all the rounds that it may do, an If with the branch that does more.",
        .min_args = 1,
        .max_args = -1,
        .groups = MODEL_INPUTS | FOR_INFO | FOR_JSON,
        .run = mr_command_info,
    },
    {
        .name = "compare",
        .arguments = "A B",
        .summary = "how do two sets of tensors differ?",
        .text = "  minirt compare ours.npz theirs.npz\n"
                "  minirt compare out/ model/test_data_set_0 --rtol 1e-4 --atol logits:1e-3\n"
                "  minirt compare a.npy b.npy --ulp 4\n\n"
                "A and B are .npz, .safetensors, .npy or .pb files, dumps, or folders of .npy and .pb files. Tensors\n"
                "are paired by name. An element agrees when |a - b| <= atol + rtol * |b| (1e-5 and 1e-3), or when it\n"
                "is at most --ulp neighbouring values away. Status 0: all agree, 1: they differ.",
        .min_args = 2,
        .max_args = 2,
        .groups = FOR_TOLERANCE | FOR_JSON,
        .run = mr_command_compare,
    },
    {
        .name = "bench",
        .arguments = "MODEL [INPUT…]",
        .summary = "how fast, by percentile, extent, thread count and node?",
        .text = "  minirt bench model.onnx                              made-up inputs, all cores\n"
                "  minirt bench model.onnx -s batch=1,2,4,8 -t 1,2      a sweep: a point for each combination\n"
                "  minirt bench model.onnx in.npz --seconds 20 --top 30 longer, and more of the nodes\n"
                "  minirt bench model.onnx --json=bench.json            for other programs\n"
                "  minirt bench model.onnx --profile trace.json         open it in chrome://tracing or Perfetto\n\n"
                "Each point loads the model anew, warms up, and runs until the 95 % interval of the median is within\n"
                "1 % of it, or --seconds are over. Some further runs are watched, for the table of nodes: GFLOP/s,\n"
                "their share of what this machine was measured to reach, and GB/s of inputs and outputs. Items are\n"
                "the first extent of the first input. Extents that nobody sets are 1.",
        .min_args = 1,
        .max_args = -1,
        .groups = MODEL_INPUTS | FOR_BENCH | FOR_JSON,
        .run = mr_command_bench,
    },
    {
        .name = "ops",
        .arguments = "[OP]",
        .summary = "which operators run: version by version, with which types, on which device",
        .text = "  minirt ops                       a line a version: combinations of types that run, of all in ONNX\n"
                "  minirt ops Resize                its types, kernels and conditions\n"
                "  minirt ops --missing --opset 17 --device cpu\n"
                "                                   what a model of opset 17 cannot use there\n"
                "  minirt ops --markdown > docs/operators.md\n\n"
                "Nothing of it is a list that somebody keeps: it asks the tables that running a model asks.",
        .max_args = 1,
        .groups = FOR_OPS | FOR_JSON | FOR_MARKDOWN,
        .run = mr_command_ops,
    },
    {
        .name = "devices",
        .arguments = "",
        .summary = "which devices can be used, with what, and if not, why not",
        .text =
            "  minirt devices\n"
            "  minirt devices --json\n\n"
            "For the CPU also its features, the threads that it gives, from which level (scalar, BLAS, AVX2, AVX-512)\n"
            "the kernels are, and a test of them against the reference; status 1 when one is wrong.\n"
            "MINIRT_ISA=scalar|avx2|avx512[,noblas] masks levels.",
        .groups = FOR_JSON,
        .run = mr_command_devices,
    },
    {
        .name = "explain",
        .arguments = "[CODE]",
        .summary = "the long text behind an error code",
        .text = "  minirt explain E0412    or 412; without a code, the list of all\n"
                "  minirt explain --markdown > docs/errors.md",
        .max_args = 1,
        .groups = FOR_JSON | FOR_MARKDOWN,
        .run = mr_command_explain,
    },
    {
        .name = "completion",
        .arguments = "",
        .summary = "the completion of this command for bash, on stdout",
        .text = "  source <(minirt completion)",
        .run = mr_command_completion,
    },
    {
        .name = "man",
        .arguments = "",
        .summary = "the manual page, on stdout",
        .text = "  minirt man | man -l -",
        .run = mr_command_man,
    },
};

static const mr_program program = {
    .name = "minirt",
    .summary = "Runs ONNX models, exactly and fast, and says what is wrong where something is.",
    .commands = commands,
    .n_commands = sizeof commands / sizeof *commands,
};

int mr_command_completion(const mr_args *a)
{
    mr_program_completion(stdout, a->program);
    return 0;
}

int mr_command_man(const mr_args *a)
{
    mr_program_man(stdout, a->program);
    return 0;
}

int main(int argc, char **argv)
{
    return mr_program_main(&program, argc, argv);
}
