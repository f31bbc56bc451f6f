#!/bin/sh
# The greps that guard the design, the formatter and cppcheck. Prints what is wrong, ends in "N passed, N failed".
cd "$(dirname "$0")/.." || exit 2
passed=0 failed=0

# none "what must not be" 'regular expression' FILE…
none() {
    what=$1 pattern=$2
    shift 2
    if found=$(grep -nE "$pattern" "$@" /dev/null); then
        echo "$what:"
        echo "$found" | head -5
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# run "what it checks" COMMAND…
run() {
    what=$1
    shift
    if out=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        echo "$what:"
        echo "$out" | head -20
        failed=$((failed + 1))
    fi
}

library="runtime/*.c ops/*.c kernels/cpu/*.c kernels/cpu/*.inc"
none "the library prints or ends the process" '(^|[^a-z_.])(printf|puts|perror|exit|abort|assert)\(' $library
# model_function.c makes an Identity where a function hands an input through: that has no other form in ONNX.
none "runtime/ names an operator" '"(Conv|MatMul|Gemm|Add|Relu|If|Loop|Scan|Reshape|Softmax|Resize|Constant)"' runtime/*.c
none "kernels know graphs, attributes or opsets" '#include "(runtime/(op|graph|engine|schema)|ops/)' kernels/cpu/*
# session.c fills the table of kernels; nothing else of the engine knows them.
none "runtime/ includes kernels" '#include "(\.\./)?kernels/' $(ls runtime/*.[ch] | grep -v '^runtime/session\.c$')
none "session.c includes more of the kernels than their table" '#include "(\.\./)?kernels/(cpu/[^c]|cpu/c[^p]|cpu/cpu[^.]|[^c])' runtime/session.c
none "kernels allocate" '(^|[^a-z_])(malloc|calloc|realloc|free)\(' kernels/cpu/*.c kernels/cpu/*.inc
none "scalar kernels call libm" '^[^*/]*[^a-z_*/](exp|log|sin|cos|tan|tanh|sinh|cosh|erf|pow|expf|logf|tanhf|powf|erff)\(' kernels/cpu/*.c kernels/cpu/*.inc
none "left open in the source" 'TODO|FIXME|XXX' runtime/*.[ch] ops/*.[ch] kernels/cpu/* tools/*.[ch] tools/*/*.[ch] kernels/cuda/*.cu
none "contraction is allowed somewhere" 'ffp-contract=(fast|on)' Makefile tests/tests.mk
none "a test or a model is named in the source" '"test_[a-z0-9_]{6,}"|strstr\(.*(resnet|bert|yolo|mobilenet)' $library
if command -v clang-format >/dev/null; then
    run "clang-format" sh -c "git ls-files -z -- '*.c' '*.h' | grep -zv 'ops/schema' | xargs -0 clang-format --dry-run -Werror"
fi
# Suppressed: what cppcheck cannot read (macros, hexadecimal floats), guesses (that a rank of -1 comes back as an index), or holds
# against arithmetic on scratch memory (which is aligned for any type).
if command -v cppcheck >/dev/null; then
    run "cppcheck" cppcheck -q --error-exitcode=1 --enable=warning,portability --inline-suppr --max-configs=1 \
        --suppress=syntaxError --suppress=preprocessorErrorDirective --suppress=unknownMacro \
        --suppress=missingInclude --suppress=negativeIndex --suppress=incorrectLogicOperator --suppress=uninitvar --suppress=invalidPointerCast \
        -I. runtime ops tools
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
