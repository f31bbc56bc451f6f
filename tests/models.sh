#!/bin/sh
# Real models through the conformance runner, in both modes. usage: models.sh BUILD PYTHON [NAME…]
# Fetches what isn't there; what can't be fetched (no network) is skipped and named.
build=$1 python=$2
shift 2
"$python" tests/models/fetch.py "$build/models" "$@" >"$build/models.log" 2>&1
status=$?
[ $status = 0 ] || [ $status = 3 ] || { cat "$build/models.log"; exit 1; }
[ $# -gt 0 ] || "$python" tests/models/zoo.py "$build/models" || exit 1
dirs= skipped=0
if [ $# -gt 0 ]; then
    for name in "$@"; do
        if [ -e "$build/models/$name/model.onnx" ]; then dirs="$dirs $build/models/$name"; else
            echo "skipped $name: not fetched (see $build/models.log)"
            skipped=$((skipped + 1))
        fi
    done
else
    dirs="$build/models"
fi
passed=0 failed=0
for mode in fast reference; do
    [ -n "$dirs" ] || continue
    out=$("$build/minirt-conformance" --mode $mode --timeout 600 $dirs)
    echo "$out" | grep -v '^pass' | sed '$d'
    line=$(echo "$out" | tail -1)
    passed=$((passed + $(echo "$line" | sed 's/ passed.*//')))
    failed=$((failed + $(echo "$line" | sed 's/.*passed, //; s/ failed.*//') + $(echo "$line" | sed 's/.*failed, //; s/ unsupported.*//')))
done
[ "$dirs" = "$build/models" ] && dirs="$build/models/*/"
if [ -n "$dirs" ]; then
    out=$("$python" tests/models/integers.py --build "$build" $dirs) || failed=$((failed + 1))
    echo "$out" | grep -v 'outputs equal, 0 differ' | sed '$d'
    line=$(echo "$out" | tail -1)
    passed=$((passed + $(echo "$line" | sed -n 's/ passed, .*//p' | grep . || echo 0)))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
