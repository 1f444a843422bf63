#!/usr/bin/env bash
# Judges released kernels of CUDA-L2 where a GPU is (README.md).
#   here   bench/peer/on_gpu.sh pack KERNELS   behind `tools/on_gpu.sh pack`: the adapted files, into .carry/peer.tgz
#   there  bench/peer/on_gpu.sh SECONDS        builds, records and races a stratified sample until then
# $OUT (default: ./gpu_out) gets census.csv, recorded.tsv (FILE, seconds, answer) and peer.jsonl. bench/peer/table reads them.
# A later call on the same machine goes on where the earlier one ended.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
carry=$PWD/.carry
out=${OUT:-$PWD/gpu_out}
program=${GEMMSMITH:-$carry/bin/gemmsmith}
work=${TMPDIR:-/tmp}/gemmsmith_peer
racing_cores=2  # the other cores build

pack() {
  local folder
  folder=$(mktemp -d)
  bench/peer/adapt.py "$1" "$folder"
  tar -C "$folder" -czf "$carry/peer.tgz" .
  rm -r "$folder"
}

unpack() {
  [[ -x $program ]] || tar -C "$carry" -xzf "$carry/build.tgz"
  mkdir -p "$out" "$work/recorded"
  [[ -e $work/census.csv ]] || tar -C "$work" -xzf "$carry/peer.tgz"
  [[ ! -d $carry/cutlass ]] || export GEMMSMITH_CUTLASS=$carry/cutlass
  export GEMMSMITH_HOME=$work/home program work
}

# FILE LAYOUT, of those that may be built, in the order of the census.
candidates() { tail -n +2 "$work/census.csv" | awk -F, '$4 !~ /padded|events|graph|window|torch_memory/ { print $1, $3 }'; }

# FILE LAYOUT: without a GPU. Keeps what the program says where it refuses, else "recorded".
record() {
  local start=$SECONDS answer
  [[ ! -e $work/recorded/$1 ]] || return 0
  answer=$("$program" verify --recipe "$work/$1.cu" "${1//_/x}" --layout "$2" --device h100 2>&1 >/dev/null | tail -1) || true
  printf '%s\t%s\t%s\n' "$1" $((SECONDS - start)) "${answer:-recorded}" >"$work/recorded/.$1"
  mv "$work/recorded/.$1" "$work/recorded/$1"
}

record_all() {
  local cores
  cores=$(nproc)
  export -f record
  candidates | nice taskset -c "$racing_cores-$((cores - 1))" xargs -P $((cores - racing_cores)) -L 1 bash -c 'record "$@"' record
}

# Our entry for the file's problem, as PROBLEM | PLAN.
entry_for() { awk -F'\t' -v problem="gemm ${1//_/x} $2 f16 f32" '$1 == problem { print $1 " | " $2 }' kernels/h100.catalogue; }

# FILE LAYOUT SECONDS
race() {
  entry_for "$1" "$2" >"$work/entry"
  taskset -c "0-$((racing_cores - 1))" timeout "$3" "$program" bench --name peer --archive "$work/peer.db" --shapes "${1//_/x}" \
    --layouts "$2" --contenders "file:$work/$1.cu,plans:$work/entry,lt_auto" --modes device_cold,offline,server --protocol short
}

# In the order of the census, whatever is ready first: so a cut-off prefers no file that builds fast.
race_until() {
  local file layout
  while read -r file layout; do
    while [[ ! -e $work/recorded/$file ]]; do
      ((SECONDS < $1)) || return 0
      sleep 0.2
    done
    ((SECONDS < $1)) || return 0
    grep -q $'\trecorded$' "$work/recorded/$file" || continue
    race "$file" "$layout" $(($1 - SECONDS + 10)) >>"$out/races.log" 2>&1 || echo "$file ended with $?" | tee -a "$out/races.log"
  done < <(candidates)
}

judge() {
  local builder
  unpack
  setsid bash -c "$(declare -f candidates record record_all); racing_cores=$racing_cores; record_all" &
  builder=$!
  race_until $(($1 - 20))
  kill -- "-$builder" 2>/dev/null || true
  cp "$work/census.csv" "$out/"
  cat "$work"/recorded/* >"$out/recorded.tsv"
  "$program" records export --archive "$work/peer.db" --campaign peer -o "$out/peer.jsonl"
  echo "$(wc -l <"$out/recorded.tsv") files built, $(grep -c '"plan":"source ' "$out/peer.jsonl") judged on the GPU"
}

case ${1:-} in
  pack) pack "$2" ;;
  [1-9]*) judge "$1" ;;
  *) sed -n '2,/^set /s/^# //p' "$0" >&2; exit 2 ;;
esac
