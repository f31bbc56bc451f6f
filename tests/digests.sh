#!/bin/sh
# Does --mode reference give the same bits everywhere? usage: digests.sh BUILD [thread|build|arm…]
#
# The digests of every output over the official data, from the normal build on one thread, against
#   threads  the same on 2 and 3 threads
#   builds   gcc -O3, clang -O0 and -O3
#   arm      aarch64, built with Debian's compiler and run by qemu
# Without a list: all of them. Ends in "N passed, N failed, N skipped"; a case is counted once for each comparison.
build=$1 make=${MAKE:-make}
shift
data="$build/onnx-test-data"
dir="$build/digests" jobs=$(nproc 2>/dev/null || echo 1)
passed=0 failed=0 skipped=0
mkdir -p "$dir"

# digests NAME COMMAND…: the digests that the command's conformance runner gives, in a file of that name
digests() {
    name=$1
    shift
    "$@" --mode reference -q --timeout 1800 --digests "$dir/$name" "$data"/* >"$dir/$name.log" 2>&1
    [ -s "$dir/$name" ]
}

# same NAME: is what NAME gives what the normal build gives?
same() {
    differ=$(diff "$dir/normal" "$dir/$1" | grep -c '^>')
    all=$(wc -l <"$dir/normal")
    diff "$dir/normal" "$dir/$1" | sed -n 's/^> \([^ ]*\).*/differs on '"$1"': \1/p' | head -20
    echo "$1: $((all - differ)) of $all cases have the same bits"
    passed=$((passed + all - differ)) failed=$((failed + differ))
}

skip() {
    echo "skipped $1: $2"
    skipped=$((skipped + 1))
}

# built NAME CC CFLAGS…
built() {
    name=$1 cc=$2
    shift 2
    command -v "$cc" >/dev/null || { skip "$name" "there is no $cc"; return; }
    $make --no-print-directory -s -j"$jobs" B="$build/$name" CC="$cc" CFLAGS="$*" KERNEL_FLAGS= \
        "$build/$name/minirt-conformance" "$build/$name/libminirt_image.so" >"$dir/$name.make" 2>&1 ||
        { tail -5 "$dir/$name.make"; failed=$((failed + 1)); return; }
    digests "$name" "$build/$name/minirt-conformance" -t 1 && same "$name"
}

arm() {
    command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null ||
        { skip arm "it needs gcc-aarch64-linux-gnu and qemu-user"; return; }
    root="$build/arm/root"
    sh tests/arm_root.sh "$root" >"$dir/arm_root.log" 2>&1 || { skip arm "its libraries could not be fetched"; return; }
    lib="$root/usr/lib/aarch64-linux-gnu" more="$root/lib/aarch64-linux-gnu"
    $make --no-print-directory -s -j"$jobs" B="$build/arm" CC=aarch64-linux-gnu-gcc \
        CFLAGS="-O2 -isystem $root/usr/include -isystem $root/usr/include/aarch64-linux-gnu \
                -isystem $root/usr/include/openjpeg-2.5" \
        SAN="-L$lib -Wl,-rpath-link,$lib -Wl,-rpath-link,$more" \
        "$build/arm/minirt-conformance" "$build/arm/libminirt_image.so" >"$dir/arm.make" 2>&1 ||
        { tail -5 "$dir/arm.make"; failed=$((failed + 1)); return; }
    digests arm qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$lib:$more" "$build/arm/minirt-conformance" -t 1 &&
        same arm
}

digests normal "$build/minirt-conformance" -t 1 || { cat "$dir/normal.log"; echo "0 passed, 1 failed"; exit 1; }
for what in ${*:-threads builds arm}; do
    case $what in
    threads)
        for n in 2 3; do digests "threads-$n" "$build/minirt-conformance" -t $n -j 1 && same "threads-$n"; done ;;
    builds)
        built gcc-O3 gcc -O3
        built clang-O0 clang -O0
        built clang-O3 clang -O3 ;;
    arm) arm ;;
    esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
