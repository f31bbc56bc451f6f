#!/bin/sh
# Reads three digits from pictures with the model beside this script. usage: demo.sh MINIRT
set -e
here=$(dirname "$0")
for digit in three five seven; do
    echo "\$ minirt run examples/digits/digits.onnx image=examples/digits/$digit.png --top 1"
    "$1" run "$here/digits.onnx" "image=$here/$digit.png" --top 1
done
