#!/bin/sh
# Resize, Upsample, Scatter, Gather and NonMaxSuppression in every combination of their attributes, with other extents, types
# and values for each seed and each level of the CPU, against independent versions in Python (Resize in exact fractions, from
# the formulas of its text), and how far onnx's ReferenceEvaluator agrees with those. usage: sweep.sh BUILD PYTHON
build=$1 python=$2 passed=0 failed=0
for run in "1 avx512 --reference" "2 avx512" "3 avx512" "4 avx2" "5 scalar"; do
    set -- $run
    for test in resize indexing vision; do
        out=$(MINIRT_ISA=$2 "$python" tests/unit/ops/test_$test.py --build "$build" --seed $1 $3 2>&1)
        line=$(echo "$out" | tail -1)
        case $line in
        *passed,*failed) ;;
        *) line="0 passed, 1 failed" ;;
        esac
        echo "$test, seed $1, $2: $line"
        echo "$out" | grep -v 'combinations of\|^[0-9]* of [0-9]* ' | sed '$d' | sed 's/^/  /'
        passed=$((passed + ${line%% passed*}))
        line=${line#*passed, }
        failed=$((failed + ${line%% failed*}))
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
