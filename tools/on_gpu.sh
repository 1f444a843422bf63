#!/usr/bin/env bash
# What has to run on a machine with a GPU, where nothing is built: a build made elsewhere is carried there in .carry/.
#   here   tools/on_gpu.sh pack                   build everything statically, stripped, into .carry/
#   there  tools/on_gpu.sh tests                  every GPU test; log and XML under $OUT
#          tools/on_gpu.sh sanitize               compute-sanitizer memcheck and racecheck over plans with every kind of edge
#          tools/on_gpu.sh baselines SECONDS      the baselines of bench/baseline_check.shapes, short protocol
#          tools/on_gpu.sh space LAYOUT SECONDS   the recorded space of LAYOUT (tn or nn) over bench/direct_subspace.plans
# Results go to $OUT (default: ./gpu_out): one .gsr of records a step, and logs.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
carry=$PWD/.carry
out=${OUT:-$PWD/gpu_out}
program=$carry/bin/gemmsmith

pack() {
  ./tools/setup
  cmake --preset portable >/dev/null
  cmake --build --preset portable --target gemmsmith gemmsmith_gpu_tests
  rm -rf "$carry" && mkdir -p "$carry/bin" "$carry/lib"
  cp build/portable/bin/gemmsmith build/portable/bin/gemmsmith_gpu_tests "$carry/bin/"
  cp build/portable/lib/libgemmsmith_cpu_product.so "$carry/lib/"
  strip "$carry"/bin/* "$carry"/lib/*
  du -sh "$carry"
}

tests() {
  "$carry/bin/gemmsmith_gpu_tests" --gtest_output="xml:$out/gpu_tests.xml" "$@" 2>&1 | tee "$out/gpu_tests.log" | tail -60
}

# One plan for each way a kernel touches memory: whole tiles, ragged tiles, odd strides, splits, both layouts.
sanitize() {
  local sanitizer layout shape plan
  for sanitizer in memcheck racecheck; do
    for layout in tn nn; do
      for shape in 17x31x63 300x3584x460 64x64x2048 1x1x1; do
        for plan in "tile_m=16 tile_n=16 warps_k=1" "tile_m=32 tile_n=64 warps_m=2 warps_n=2 warps_k=1 fixed=all" \
          "tile_m=16 tile_n=8 warps_k=4 split=4" "tile_m=16 tile_n=32 warps_k=2 split=2 reduction=ordered fixed=k"; do
          "$program" plan check "direct $plan" "$shape" --layout "$layout" >/dev/null 2>&1 || continue
          compute-sanitizer --tool "$sanitizer" --error-exitcode 9 --target-processes all --print-limit 3 \
            "$program" evaluate "direct $plan" "$shape" --layout "$layout" >"$out/sanitize.last" 2>&1 &&
            echo "$sanitizer clean: $layout $shape $plan" || { echo "$sanitizer FOUND: $layout $shape $plan"; tail -20 "$out/sanitize.last"; }
        done
      done
    done
  done | tee "$out/sanitize.log"
}

baselines() {
  "$program" records measure --shapes bench/baseline_check.shapes --layouts tn --protocol short \
    --plans <(echo "direct tile_m=64 tile_n=64 warps_m=2 warps_n=2 warps_k=2") --archive /tmp/gemmsmith_baselines.db \
    --name baselines --limit-seconds "$1" --output "$out/baselines.gsr"
}

space() {
  "$program" records measure --shapes "bench/direct_space_$1.shapes" --plans bench/direct_subspace.plans --layouts "$1" \
    --finalists 3 --archive /tmp/gemmsmith_space.db --name "direct-$1" --limit-seconds "$2" --output "$out/space_$1.gsr"
}

step=${1:-}
case $step in
  pack) pack ;;
  tests | sanitize | baselines | space) mkdir -p "$out" && shift && "$step" "$@" ;;
  *) sed -n '2,8s/^# //p' "$0" >&2; exit 2 ;;
esac
