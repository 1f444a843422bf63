#!/usr/bin/env bash
# Each example, built alone against the installed library: with pretended GPUs, and where something is missing.
# Arguments: source tree, build tree, C++ compiler, CUDA toolkit.
set -euo pipefail
source=$1 build=$2 compiler=$3 toolkit=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; fail "failed: $*"; }; }

fakes=$build/tests/library
pretended="$fakes/libcuda.so.1 $fakes/libcublasLt.so.13 $fakes/libfake_cudart.so"
"$compiler" -shared -Wl,-soname,libcublasLt.so.13 -o "$work/libcublasLt.so.13" -x c /dev/null
without_cublaslt="$fakes/libcuda.so.1 $work/libcublasLt.so.13 $fakes/libfake_cudart.so"
"$compiler" -shared -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" -x c /dev/null
mkdir "$work/no_kernels"
export GEMMSMITH_KERNELS=$work/no_kernels XDG_CONFIG_HOME=$work/no_kernels

# expect PRELOADED CODES WORDS [NAME=VALUE...] PROGRAM: it ends with one of the codes and prints one line with these words.
expect() {
  local preloaded=$1 codes=$2 words=$3 code=0
  shift 3
  env "${@:1:$#-1}" LD_PRELOAD="$preloaded" "${@: -1}" > "$work/out" 2>&1 || code=$?
  [[ $codes == *" $code "* ]] || fail "$* ended with $code: $(cat "$work/out")"
  [[ $(wc -l < "$work/out") == 1 ]] && grep -qE "$words" "$work/out" || fail "$* printed: $(cat "$work/out")"
}

quietly cmake --install "$build" --prefix "$work/installed"
for example in c cpp cuda_graph two_streams two_gpus; do
  echo "$example"
  quietly cmake -S "$source/examples/$example" -B "$work/$example" -DCMAKE_PREFIX_PATH="$work/installed" \
                -DCUDAToolkit_ROOT="$toolkit" -DCMAKE_CXX_COMPILER="$compiler"
  quietly cmake --build "$work/$example"
  program=$work/$example/$example
  expect "$pretended" " 0 " "^$example: [0-9]+ results are right" FAKE_GPUS=2 "$program"
  expect "" " 0 77 " "are right|^missing here: " "$program"
  expect "$pretended" " 77 " "^missing here: gemmsmith: .*too old" FAKE_CUDA=12080 "$program"
  expect "$without_cublaslt" " 77 " "^missing here: .*cuBLASLt has no " FAKE_GPUS=2 "$program"
  expect "$pretended" " 0 " "are right" FAKE_GPUS=2 FAKE_CAPABILITY=80 "$program"
done
expect "$work/libcuda.so.1" " 77 " "^missing here: gemmsmith: .*is no NVIDIA driver" "$work/c/c"
expect "$pretended" " 77 " "^missing here: a second GPU" FAKE_GPUS=1 "$work/two_gpus/two_gpus"

echo "c by pkg-config"
if command -v pkg-config > /dev/null; then
  flags=$(PKG_CONFIG_PATH=$work/installed/lib/pkgconfig pkg-config --cflags --libs gemmsmith)
else
  flags="-I$work/installed/include -L$work/installed/lib -lgemmsmith"
fi
"$compiler" -x c -std=c99 "$source/examples/c/main.c" -x none -I"$source/examples" -isystem "$toolkit/include" $flags \
            -L"$toolkit/lib" -L"$toolkit/lib64" -lcudart -lm -Wl,-rpath,"$work/installed/lib:$toolkit/lib:$toolkit/lib64" \
            -o "$work/by_flags"
expect "$pretended" " 0 " "are right" "$work/by_flags"
