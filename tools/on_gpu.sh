#!/usr/bin/env bash
# What has to run on a machine with a GPU, where nothing is built: a build made elsewhere is carried there in .carry/.
#   here   tools/on_gpu.sh pack                   build everything, stripped, into .carry/build.tgz; with the headers
#                                                 of CUTLASS where GEMMSMITH_CUTLASS names them
#   there  tools/on_gpu.sh tests SECONDS          every GPU test, shared out over the GPUs; log and XML under $OUT. Goes on from an
#                                                 earlier call on this machine, or from its tests.tgz if it stands in .carry/; what
#                                                 an earlier one compiled is not compiled again if its compiled.tgz.* stand there
#          tools/on_gpu.sh self_test SEEDS        the judge's own test, on every GPU
#          tools/on_gpu.sh sanitize TOOL [SECONDS] compute-sanitizer (memcheck, racecheck, ...) over a covering set of plans
#          tools/on_gpu.sh latency                where the time of short calls goes, stage by stage
#          tools/on_gpu.sh baselines SECONDS      the baselines of bench/baseline_check.shapes, short protocol
#          tools/on_gpu.sh rates                  how many results a second: bench/mix.shapes, screen and short, nothing compiled
#                                                 before, and once more with all compiled
#          tools/on_gpu.sh kernels                compile the kernels of their catalogue into $OUT
#          tools/on_gpu.sh library SECONDS        libgemmsmith.so: 3,000 random problems checked, 300 raced, the host's time, first
#                                                 calls, threads; with the kernels in .carry/, or compiled there
#          tools/on_gpu.sh general SECONDS        the kernels for any shape, a part of that: 3,000 random problems checked, 300 and those of
#                                                 bench/library/serving.problems raced, all by kernels of ours, faster or not
#          tools/on_gpu.sh written standalone|flat COUNT SECONDS
#                                                 so many plans of their catalogue, drawn at random, beside the files that plan emit
#                                                 writes of them (another $SEED draws others)
#          tools/on_gpu.sh space SECONDS          the recorded space: bench/space
#          tools/on_gpu.sh measure NAME SHAPES PLANS LAYOUTS PROTOCOL SECONDS [OPTIONS...]
#                                                 every plan of a list on every shape of a list (--counters, ...)
#          tools/on_gpu.sh sweep NAME SHAPES LAYOUT EVALS SECONDS [OPTIONS...]
#                                                 optimize over a set or file (--winners, --experience, ...)
#          tools/on_gpu.sh sweep_and_settle NAME SHAPES LAYOUT EVALS SECONDS [OPTIONS...]
#                                                 the same on all GPUs, whose finals decide on the entries of a copy of
#                                                 their catalogue in kernels/, or of a new one
#          tools/on_gpu.sh settle NAME SHAPES LAYOUT EVALS SECONDS [OPTIONS...]
#                                                 sweep_and_settle with all that is recorded: for winners what stands on either
#                                                 device, for experience the H200's records and those of this one
#          tools/on_gpu.sh certify SECONDS [OPTIONS...]
#                                                 verify the entries of their catalogue in kernels/, with memcheck, on all GPUs: a
#                                                 marked copy, and the journal certificates
#          tools/on_gpu.sh remeasure COUNT SECONDS
#                                                 so many entries of their catalogue, drawn at random, raced once more beside AutoTuning,
#                                                 and what has changed (another $SEED draws others)
#          tools/on_gpu.sh confirm SHAPES MODES SECONDS
#                                                 the faster entry of each of these shapes beside AutoTuning, on all GPUs, in the
#                                                 short protocol and then in the long one, where offline,server take 125 s a shape
#          tools/on_gpu.sh bench NAME SHAPES CONTENDERS MODES PROTOCOL SECONDS
#                                                 contenders beside the libraries on many shapes, and their tables
#          tools/on_gpu.sh each_gpu measure|sweep|bench NAME SHAPES ...
#                                                 the same with the shapes dealt out to all GPUs of the machine
#          tools/on_gpu.sh promote CATALOGUE SHAPES SECONDS RECORDS...
#                                                 race the winners of records once more, into a catalogue; on all GPUs
#          space, measure, sweep, sweep_and_settle, settle and bench go on from what earlier calls brought back, if it stands in .carry/records/NAME*.gsr,
#          certify if it stands in .carry/records/certificates; sweep_and_settle, settle and certify with their catalogue as an earlier
#          call on this machine left it, or if it stands in .carry/records/
#          tools/on_gpu.sh policy TORCH SECONDS RECORDS...
#                                                 train the policy and its ablations, then live on the first GPU until SECONDS
#          tools/on_gpu.sh text_model TORCH STEPS SECONDS
#                                                 train the text model for STEPS on all GPUs, then by reward until SECONDS; 240 kernels
#                                                 for shapes held out of each
#          tools/on_gpu.sh contrast TORCH WEIGHTS TOKENIZER STEPS
#                                                 STEPS on texts that show kernels, then by reward with shown kernels and without
#          tools/on_gpu.sh text_table TORCH COUNT NAME=MODEL...
#                                                 COUNT kernels for shapes held out of each model (a folder with weights.safetensors and
#                                                 tokenizer.json, or one of corpus sample), and of random, ranked and policy; judged, winners
#                                                 raced, novel ones marked. On the same machine it goes on
#          tools/on_gpu.sh compare REPEATS        what `policy` trained, on the recorded space (no GPU)
#          tools/on_gpu.sh bring                  everything under $OUT in pieces of 15 MB, behind the other steps of a call
#          tools/on_gpu.sh kills ROUNDS           kill -9 of driver and worker in live runs; two runs on one GPU
# Results go to $OUT (default: ./gpu_out): one .gsr of records a step, and logs.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
carry=$PWD/.carry
out=${OUT:-$PWD/gpu_out}
program=$carry/bin/gemmsmith
compiled=/tmp/gemmsmith_compiled  # what the program's own folder is there, in parts of its own

pack() {
  tools/setup gemmsmith
  cmake --build --preset release --target gemmsmith_gpu_tests library_bench
  rm -rf "$carry" && mkdir -p "$carry/bin" "$carry/lib"
  cp build/release/bin/{gemmsmith,gemmsmith_gpu_tests,library_bench} "$carry/bin/"
  cp build/release/lib/libgemmsmith_cpu_product.so build/release/lib/libgemmsmith.so.0 "$carry/lib/"
  # The one library of the system that programs ask for beyond libc and libstdc++; they look beside themselves.
  cp -L "$(ldd build/release/bin/gemmsmith | awk '/libfmt/ { print $3 }')" "$carry/lib/"
  cp "$(command -v bwrap)" "$carry/bin/"  # found beside the program
  strip "$carry"/bin/* "$carry"/lib/*
  if [[ -n ${GEMMSMITH_CUTLASS:-} ]]; then cp -r "$GEMMSMITH_CUTLASS" "$carry/cutlass"; fi
  (cd "$carry" && tar -czf build.tgz --remove-files */)
  du -sh "$carry"
}

# Once, whoever else begins at the same time.
unpack() {
  exec 9>"$carry/lock"
  flock 9
  [[ -d $carry/bin ]] || tar -C "$carry" -xzf "$carry/build.tgz"
  if [[ ! -d $compiled ]]; then
    mkdir -p "$compiled"
    cat "$carry"/compiled.tgz.* 2>/dev/null | tar -C "$compiled" -xzf - 2>/dev/null || true
  fi
  exec 9>&-
  export GEMMSMITH_HOME=$compiled
  if [[ -d $carry/cutlass ]]; then export GEMMSMITH_CUTLASS=$carry/cutlass; fi
}

# Of what lies under $OUT no more than a few files may come back, and none may be large: cat results.tgz.* | tar -xzf -
bring() {
  local pieces
  pieces=$(mktemp -d)
  tar -C "$out" -czf - . | split -b 15M - "$pieces/results.tgz."
  rm -rf "${out:?}"/*
  mv "$pieces"/* "$out/"
}

# The command once a GPU, side by side, each with its share of the cores and of the tests; it knows $gpu of $gpus.
on_every_gpu() {
  local gpus cores gpu
  gpus=$(nvidia-smi -L | wc -l)
  cores=$(($(nproc) / gpus))
  for gpu in $(seq 0 $((gpus - 1))); do
    (
      taskset -pc "$((gpu * cores))-$((gpu * cores + cores - 1))" "$BASHPID" >/dev/null
      export CUDA_VISIBLE_DEVICES=$gpu GTEST_TOTAL_SHARDS=$gpus GTEST_SHARD_INDEX=$gpu
      "$@"
    ) &
  done
  wait
}

# NAME PROGRAM: the folder of what NAME came to in earlier calls with this program, on this machine or in NAME.tgz of .carry/.
results_so_far() {
  local part
  part=/tmp/gemmsmith_$1_$(sha1sum <"$2" | cut -c1-8)
  mkdir -p "$part"
  [[ ! -e $carry/$1.tgz ]] || tar -C /tmp --skip-old-files -xzf "$carry/$1.tgz"
  echo "$part"
}

keep_results() { tar -C /tmp -czf "$out/$1.tgz" --exclude='*.taken' --exclude='*.part' "$(basename "$2")"; }

# What was compiled, in pieces, for .carry/ of a later call.
keep_compiled() { tar -C "$compiled" -czf - cache | split -b 15M - "$out/compiled.tgz."; }

# Where times are compared a GPU runs one test at a time; what only asks whether products are right waits for compilers most of
# the time, and three such tests share a GPU. Those that take longest come first, one by one; the others by elevens.
tests() {
  local shared='Pipeline|ChainedLaunch|CoveringSet|EveryFamilyPasses|CoveringKernels'
  local slow="$shared|TheSameProduct|ByEnergy|SameJoules|IntervalsOf" seconds=$1 part left
  part=$(results_so_far tests "$carry/bin/gemmsmith_gpu_tests")
  rm -f "$part"/*.taken
  "$carry/bin/gemmsmith_gpu_tests" --gtest_list_tests |
    awk '/^[^ ].*[.]/ { suite = $1; next } /^  / { print suite $1 }' >"$part/all"
  grep -E "$shared" "$part/all" | grep -v CoveringKernels >"$part/right" || true
  grep CoveringKernels "$part/all" | paste -sd '::::::::::\n' >>"$part/right" || true
  grep -E "$slow" "$part/all" | grep -vE "$shared" >"$part/timed" || true
  grep -vE "$slow" "$part/all" | paste -sd '::::::::::\n' >>"$part/timed" || true
  on_every_gpu take_tests "$part"
  cat "$part"/*.log >"$out/gpu_tests.log" || true
  cat "$part"/*.xml >"$out/gpu_tests.xml" || true
  keep_results tests "$part"
  keep_compiled
  grep -E '^\[  (FAILED|SKIPPED).* ms\)|^ended with' "$out/gpu_tests.log" || true
  left=$(while read -r job; do [[ -e $(result_of "$job") ]] || tr ":" "\n" <<<"$job"; done < <(grep -h . "$part/right" "$part/timed") | wc -l)
  echo "$(grep -c '<testcase ' "$out/gpu_tests.xml") tests done, $left left"
}

# The last of several GPUs begins with those that share it.
take_tests() {
  local part=$1
  ((gpus == 1 || gpu < gpus - 1)) || share_a_gpu "$part"
  take_jobs "$part" timed
  share_a_gpu "$part"
}

share_a_gpu() {
  local part=$1 worker
  for worker in 1 2 3; do take_jobs "$part" right "$worker" & done
  wait
}

# PART LIST [WORKER]; until $seconds of this call. What is cut off leaves no result, and is taken again by the next call.
take_jobs() {
  local part=$1 list=$2 job rest code
  while job=$(next_job "$part/$list") && [[ -n $job ]]; do
    [[ ! -e $(result_of "$job") ]] || continue
    rest=$((seconds - SECONDS)) code=0
    ((rest > 0)) || break
    env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX timeout "$rest" "$carry/bin/gemmsmith_gpu_tests" \
      --gtest_filter="$job" --gtest_output="xml:$(result_of "$job")" >>"$part/$gpu${3:-}.log" 2>&1 || code=$?
    ((code == 0 || code == 124)) || echo "ended with $code: $job" >>"$part/$gpu${3:-}.log"
  done
}

result_of() { echo "$part/$(sha1sum <<<"$1" | cut -c1-8).xml"; }

# Nobody takes a job that somebody has taken.
next_job() {
  {
    flock 9
    echo >&9
    sed -n "$(wc -l <"$1.taken")p" "$1"
  } 9>>"$1.taken"
}

self_test() {
  "$program" verify --self-test --device all --seeds "$1" --json >"$out/self_test.json" || true
  grep -E '^  "(all_as_expected|caught|passed|missed|false_alarms|not_judged)"' "$out/self_test.json"
}

# Once without the tool, so that nothing is compiled under it. The judge's own kernels are left out: racecheck alone
# would spend minutes on their reference products.
sanitize() {
  local kernels=("$carry/bin/gemmsmith_gpu_tests" --gtest_filter='*CoveringKernels*')
  "${kernels[@]}" | tail -3
  on_every_gpu watched "$1" "${2:-200}" "${kernels[@]}"
  grep -hE "SUMMARY|kernels$|hazard|Invalid|PASSED|FAILED|ended" "$out/sanitize_$1"-*.log | tail -40
}

watched() {
  local tool=$1 seconds=$2 log=$out/sanitize_$1-$gpu.log
  timeout "$seconds" compute-sanitizer --tool "$tool" --kernel-name kns=gemmsmith_gemm --error-exitcode 9 --print-limit 5 \
    "${@:3}" >"$log" 2>&1 && echo "$tool ended clean" >>"$log" || echo "$tool ended with $?" >>"$log"
}

latency() {
  "$carry/bin/gemmsmith_gpu_tests" --gtest_filter='LatencyGpuTest.*' 2>&1 | tee "$out/latency.txt"
}

baselines() {
  "$program" records measure --shapes bench/baseline_check.shapes --layouts tn --protocol short \
    --plans <(echo "direct tile_m=64 tile_n=64 warps_m=2 warps_n=2 warps_k=2") --archive /tmp/gemmsmith_baselines.db \
    --name baselines --limit-seconds "$1" --output "$out/baselines.gsr"
}

rates() {
  local home protocol pass
  home=$(mktemp -d)
  for protocol in screen short; do
    grep -v '^#' bench/space/plans | awk -v every="$([[ $protocol == screen ]] && echo 1 || echo 10)" 'NR % every == 0' >"$home/plans"
    for pass in new compiled; do
      GEMMSMITH_HOME=$home/$protocol "$program" records measure --shapes bench/mix.shapes --plans "$home/plans" --layouts tn \
        --protocol "$protocol" --archive "$home/$protocol-$pass.db" --name rates --output "$home/rates.gsr" --json \
        >"$out/rates_${protocol}_$pass.json"
      echo "$protocol, $pass:" && grep -E '"(judged|seconds|measured)"' "$out/rates_${protocol}_$pass.json"
    done
  done
}

# The records that earlier calls left, in an archive of this call.
archive_of() {
  local archive=${TMPDIR:-/tmp}/gemmsmith_$1.db
  if [[ ! -e $archive ]] && compgen -G "$carry/records/$1*.gsr" >/dev/null; then
    "$program" records import "$carry/records/$1"*.gsr --archive "$archive" >&2
  fi
  echo "$archive"
}

space() {
  "$program" records measure --shapes bench/space/grid.shapes,bench/space/offgrid.shapes --plans bench/space/plans \
    --layouts nn,tn --finalists 4 --archive "$(archive_of space)" --name space --limit-seconds "$1" --output "$out/space.gsr"
}

measure() {
  "$program" records measure --shapes "$2" --plans "$3" --layouts "$4" --protocol "$5" --limit-seconds "$6" --name "$1" \
    --archive "$(archive_of "$1")" --output "$out/$1.gsr" "${@:7}" | tee "$out/$1.txt" | tail -40
}

sweep() {
  "$program" optimize "$2" --layout "$3" --budget-evals "$4" --limit-seconds "$5" --name "$1" "${@:6}" \
    --archive "$(archive_of "$1")" --record "$out/$1.gsr" | tee "$out/$1.txt" | tail -40
}

# h200.catalogue on an "NVIDIA H200".
catalogue_here() { nvidia-smi -i 0 --query-gpu=name --format=csv,noheader | awk '{ print tolower($2) ".catalogue" }'; }

# The catalogue of this kind of GPU goes to $OUT, as an earlier call on this machine left it, as .carry/records/ has it from another,
# or as it ships.
catalogue_so_far() {
  local catalogue from
  catalogue=$(catalogue_here)
  for from in "/tmp/gemmsmith_$catalogue" "$carry/records/$catalogue" "kernels/$catalogue"; do
    if [[ -e $from ]]; then cp "$from" "$out/$catalogue" && break; fi
  done
  echo "$out/$catalogue"
}

keep_catalogue() { [[ ! -e $1 ]] || cp "$1" "/tmp/gemmsmith_$(basename "$1")"; }

sweep_and_settle() {
  local catalogue code=0
  catalogue=$(catalogue_so_far)
  sweep "$@" --device all --promote --catalogue "$catalogue" || code=$?
  keep_catalogue "$catalogue"  # what was settled until a GPU was lost is finished in the archive
  return "$code"
}

# DEVICE: the folders of the searches that stand.
standing() { sed "/^#/d; s|^|data/$1/|" "data/$1/standing"; }

settle() {
  local here h200 h100 options=() folder
  here=$(catalogue_here) h200=$(standing h200) h100=$(standing h100)
  for folder in $h200 $h100; do options+=(--winners "$folder"); done
  if [[ $here == h100.catalogue ]]; then options+=(--experience "${h100//$'\n'/,}"); fi
  sweep_and_settle "$@" --proposer policy "${experience[@]}" "${options[@]}"
}

certify() {
  local catalogue journal=${TMPDIR:-/tmp}/gemmsmith_certificates
  catalogue=$(catalogue_so_far)
  [[ -e $journal || ! -e $carry/records/certificates ]] || cp "$carry/records/certificates" "$journal"
  "$program" verify --catalogue "$catalogue" --memcheck --device all --limit-seconds "$1" --journal "$journal" "${@:2}" 2>&1 |
    tee "$out/certify.txt" | tail -20 || true
  keep_catalogue "$catalogue"
  [[ ! -e $journal ]] || cp "$journal" "$out/certificates"
}

# PROBLEM | PLAN
entries_of() { awk -F'\t' '/^gemm / { print $1 " | " $2 }' "$1"; }

# Of each shape the faster of both layouts, with f32 sums.
fastest_entries_of() {
  awk -F'\t' '/^gemm [^ ]+ .. f16 f32\t/ {
    split($1, problem, " "); split($6, device, " "); shape = problem[2]
    if (shape in ns && ns[shape] <= device[2] + 0) next
    ns[shape] = device[2] + 0; entry[shape] = $1 " | " $2
  } END { for (shape in entry) print entry[shape] }' "$1"
}

confirm() {
  local pairs=/tmp/gemmsmith_confirmed
  fastest_entries_of "kernels/$(catalogue_here)" >"$pairs"
  each_gpu bench confirmed_short "$1" "plans:$pairs,lt_auto" "$2" short "$3"
  (($3 > SECONDS)) || { echo "no time left for the long protocol"; return 1; }
  each_gpu bench confirmed_long "$1" "plans:$pairs,lt_auto" "$2" long $(($3 - SECONDS))
}

remeasure() {
  local catalogue pairs=/tmp/gemmsmith_remeasured
  catalogue=kernels/$(catalogue_here)
  entries_of "$catalogue" | shuf -n "$1" --random-source=<(yes "${SEED:-1}") >"$pairs"
  awk '{ print $2 }' "$pairs" | sort -u >"$pairs.shapes"
  "$program" bench --shapes "$pairs.shapes" --contenders "plans:$pairs,lt_auto" --limit-seconds "$2" --name remeasured \
    --archive "$(archive_of remeasured)" --output "$out/remeasured.gsr"
  "$program" catalogue compare "$catalogue" "$out/remeasured.gsr" | tee "$out/remeasured.txt"
}

kernels() {
  local catalogue
  catalogue=$(catalogue_here)
  "$program" catalogue build "kernels/$catalogue" --general kernels/general.plans -o "$out/${catalogue%.catalogue}.kernels"
}

library() {
  library_bench "host" "first --count 2000" "check --count 3000 --seconds $1" "race --count 300 --seconds $1 --details $out/race.jsonl" \
    "threads --count 1000000" | tee "$out/library.txt"
  general "$1"
}

general() {
  library_bench "check --own --count 3000 --seconds 60" "race --own --count 300 --seconds $1 --details $out/race_own.jsonl" \
    "race --own --problems bench/library/serving.problems --seconds $1 --details $out/race_serving.jsonl" | tee "$out/general.txt"
}

# The program with each of these words.
library_bench() {
  local catalogue part
  catalogue=$(catalogue_here)
  export GEMMSMITH_KERNELS=$carry/${catalogue%.catalogue}.kernels XDG_CONFIG_HOME=/tmp/nothing
  [[ -e $GEMMSMITH_KERNELS ]] || GEMMSMITH_KERNELS=$out/${catalogue%.catalogue}.kernels
  [[ -e $GEMMSMITH_KERNELS ]] || kernels
  for part in "$@"; do
    echo "== library_bench $part"
    # shellcheck disable=SC2086
    "$carry/bin/library_bench" $part || true
  done 2>&1
}

written() {
  local pairs=/tmp/gemmsmith_$1 family=.
  [[ $1 != flat ]] || family='[|] direct '
  entries_of "kernels/$(catalogue_here)" | grep -E '^gemm [^ ]+ (nn|tn) f16 f32 ' | grep -E "$family" |
    shuf -n "$2" --random-source=<(yes "${SEED:-1}") >"$pairs"
  awk '{ print $2 }' "$pairs" | sort -u >"$pairs.shapes"
  bench "$1" "$pairs.shapes" "plans:$pairs,$1,lt_auto" device_cold short "$3"
}

bench() {
  "$program" bench --shapes "$2" --contenders "$3" --modes "$4" --protocol "$5" --limit-seconds "$6" --name "$1" \
    --archive "$(archive_of "$1")" --output "$out/$1.gsr" | tee "$out/$1.txt"
  "$program" report "$out/$1.gsr" --shapes all --output "$out/$1.tables.txt"
  "$program" report "$out/$1.gsr" --shapes all --summary
}

promote() {
  local archive=${TMPDIR:-/tmp}/gemmsmith_promote.db
  "$program" records import "${@:4}" --archive "$archive"  # those that it has already cost nothing
  cp "$1" "$out/" 2>/dev/null || true
  "$program" promote --device all --both-layouts --shapes "$2" --limit-seconds "$3" --archive "$archive" --catalogue "$out/$(basename "$1")" \
    --record "$out/promote.gsr" | tee "$out/promote.txt" | tail -3
}

# The shapes of a file, of the grid (paper1000), those with the least work first, or of the grid without a file's (paper1000-FILE);
# of several of these, separated by commas.
shapes_of() {
  case $1 in
    *,*) shapes_of "${1%%,*}" && shapes_of "${1#*,}"; return ;;
    paper1000) ;;
    paper1000-*) shapes_of paper1000 | grep -vxFf "${1#paper1000-}"; return ;;
    *) grep -hv '^#' "$1"; return ;;
  esac
  local sizes=(64 128 256 512 1024 2048 4096 8192 12288 16384) m n k
  for m in "${sizes[@]}"; do for n in "${sizes[@]}"; do for k in "${sizes[@]}"; do
    echo "$((m * n * k)) ${m}x${n}x${k}"
  done; done; done | sort -n | cut -d' ' -f2
}

# The shapes go round the GPUs like cards, each GPU with its share of the cores and an archive of its own.
each_gpu() {
  local name=$2 part file
  on_every_gpu a_part_of_the_shapes "$@"
  for part in /tmp/gemmsmith_gpu*; do
    for file in "$part/out/$name".gsr "$part/out/$name"-[0-9]*.gsr; do
      [[ ! -e $file ]] || cp "$file" "$out/$name-${part#/tmp/gemmsmith_gpu}${file#"$part/out/$name"}"
    done
    echo "---- $part" >>"$out/$name.log" && cat "$part/$name.log" >>"$out/$name.log"
    tail -4 "$part/$name.log"
  done
  "$program" report "$out/$name"-*.gsr --shapes all --output "$out/$name.tables.txt"
  "$program" report "$out/$name"-*.gsr --shapes all --summary
}

a_part_of_the_shapes() {
  local step=$1 name=$2 shapes=$3 part=/tmp/gemmsmith_gpu$gpu
  mkdir -p "$part/out"
  shapes_of "$shapes" | awk -v gpus="$gpus" -v gpu="$gpu" 'NR % gpus == gpu' >"$part/$name.shapes"
  TMPDIR=$part OUT=$part/out "$PWD/tools/on_gpu.sh" "$step" "$name" "$part/$name.shapes" "${@:4}" >"$part/$name.log" 2>&1
}

# What the policy knows on an H200 where nothing is named.
sweeps=$(standing h200 | paste -sd,)
experience=(--experience data/h200 --experience "$sweeps" --experience data/h200/dense)

text_model() {
  local torch=$1 steps=$2 seconds=$3 home=/tmp/gemmsmith_text_model tokenizer
  tokenizer=$home/tokenizer.json
  begin_texts "$torch"
  {
    "$program" corpus flat --shapes paper1000 --random-shapes 60000 --count 120000 --hold-out standard --contrast 0 \
      -o "$home/texts"
    [[ -e $tokenizer ]] || "$program" corpus tokenizer "$home/texts" -o "$tokenizer"
    "$program" corpus train "$home/texts" --tokenizer "$tokenizer" --steps "$steps" --on cuda --bf16 -o "$home/model"
    write_and_judge model
    if ((seconds > SECONDS)); then
      reward model reinforced 0 timeout -s INT $((seconds - SECONDS)) || true
      write_and_judge reinforced
      "$program" corpus compare "$out/model" "$out/reinforced"
    fi
  } 2>&1 | with_seconds | tee "$out/text_model.txt"
  cp "$tokenizer" "$out/"
}

# From a fine-tuned model: steps on texts that show kernels, then by reward with shown kernels, and without.
contrast() {
  local torch=$1 weights=$2 tokenizer=$3 steps=$4 home=/tmp/gemmsmith_contrast shown
  begin_texts "$torch"
  {
    "$program" corpus flat --shapes paper1000 --random-shapes 10000 --count 20000 --hold-out standard -o "$home/texts"
    "$program" corpus train "$home/texts" --tokenizer "$tokenizer" --from "$weights" --steps "$steps" --learning-rate 2e-4 \
      --on cuda --bf16 -o "$home/model"
    write_and_judge model
    for shown in 2 0; do
      reward model "contrast_$shown" "$shown"
      write_and_judge "contrast_$shown"
    done
    "$program" corpus compare "$out/model" "$out/contrast_0" "$out/contrast_2"
  } 2>&1 | with_seconds | tee "$out/contrast.txt"
}
# What is sampled, or judged in part, stays in $home for another call; verdicts so far are in $out.
text_table() {
  local torch=$1 count=$2 home=/tmp/gemmsmith_text_table name model rows=()
  begin_texts "$torch"
  for name in random ranked policy "${@:3}"; do rows+=("$home/${name%%=*}"); done
  {
    for name in random ranked policy; do
      [[ -e $home/$name/samples.jsonl ]] ||
        "$program" corpus sample --proposer "$name" --shapes heldout --count "$count" -o "$home/$name"
    done
    for model in "${@:3}"; do
      name=${model%%=*} model=${model#*=}
      if [[ -e $model/samples.jsonl && ! -e $home/$name ]]; then cp -rL "$model" "$home/$name"; fi
      [[ -e $home/$name/samples.jsonl ]] ||
        "$program" corpus sample "$model/weights.safetensors" --tokenizer "$model/tokenizer.json" --shapes heldout \
          --count "$count" --on cuda:0 --bf16 -o "$home/$name"
    done
    "$program" corpus judge "${rows[@]}" --device all --archive "$home/archive.db"
    "$program" corpus judge "${rows[@]}" --final --device all --archive "$home/archive.db"
    keep_verdicts
    "$program" corpus novel "${rows[@]}"
    "$program" corpus compare "${rows[@]}"
  } 2>&1 | with_seconds | tee "$out/text_table.txt"
  keep_verdicts
}
keep_verdicts() {
  local row
  for row in "${rows[@]}"; do cp "$row/judged.jsonl" "$out/$(basename "$row").jsonl"; done
}
begin_texts() {
  mkdir -p "$home"
  export GEMMSMITH_TRAINER=$home/libgemmsmith_trainer.so
  [[ -e $GEMMSMITH_TRAINER ]] || tools/torch_trainer --output "$GEMMSMITH_TRAINER" "$1"
}
# FROM TO SHOWN [COMMAND...]
reward() {
  "${@:4}" "$program" corpus reinforce "$home/$1/weights.safetensors" --tokenizer "$tokenizer" --batch 8 --contrast "$3" \
    --shapes paper1000/tiny,paper1000/splitk,paper1000/mid --hold-out standard --learning-rate 1e-4 --device all --on cuda --bf16 \
    --archive "$home/archive.db" -o "$home/$2"
}
# Log, weights in few bits and judged kernels of a model come back.
write_and_judge() {
  "$program" corpus sample "$home/$1/weights.safetensors" --tokenizer "$tokenizer" --shapes heldout --count 240 --on cuda:0 \
    --bf16 -o "$out/$1"
  cp "$home/$1/log.jsonl" "$out/$1/"
  "$program" corpus shrink "$home/$1/weights.safetensors" -o "$out/$1.safetensors"
  "$program" corpus judge "$out/$1" --device all --archive "$home/archive.db"
}
with_seconds() {
  local line
  tr '\r' '\n' | while IFS= read -r line; do printf '%4d s  %s\n' "$SECONDS" "$line"; done
}

# All variants of a stage train side by side, dealt out to the GPUs; what is cut off goes on with the same call. The folders are in
# /tmp/gemmsmith_policy, their weights (in pieces: cat weights.tar.*), logs and cards in $OUT.
policy() {
  local torch=$1 seconds=$2 home=/tmp/gemmsmith_policy records=("${@:3}")
  local known="${experience[*]}" gpus
  gpus=$(nvidia-smi -L | wc -l)
  mkdir -p "$home"
  export GEMMSMITH_TRAINER=$home/libgemmsmith_trainer.so
  [[ -e $GEMMSMITH_TRAINER ]] || tools/torch_trainer --output "$GEMMSMITH_TRAINER" "$torch"
  train_all 1000 --stage pretrain <<<"full
    no_contrast --without contrast
    no_counters --without counters"
  train_all 500 --stage imitate <<<"full $known --from pretrain/full
    no_contrast $known --from pretrain/no_contrast
    no_counters $known --from pretrain/no_counters
    no_prior --without prior --from pretrain/full"
  train_all 200 --stage rl <<<"full $known --from imitate/full
    no_contrast $known --from imitate/no_contrast
    no_counters $known --from imitate/no_counters
    no_prior --from imitate/no_prior
    no_mask --without mask $known --from imitate/full
    no_pretraining $known"
  if ((seconds > SECONDS)); then
    timeout -s INT $((seconds - SECONDS)) "$program" train --stage rl --live --from "$home/imitate/full/weights.safetensors" --steps 64 $known \
      --learning-rate 0.0001 --output "$home/live" --archive "$home/live.db" --hold-out standard --on cuda:0 "${records[@]}" \
      >>"$home/live.txt" 2>&1 || tail -1 "$home/live.txt"
    [[ ! -e $home/live.db ]] || "$program" records export --archive "$home/live.db" --without-samples -o "$home/live.gsr"
  fi
  tar -C "$home" -czf "$out/training_logs.tgz" --exclude='*.safetensors' --exclude='*.so' --exclude='*.db*' .
  (cd "$home" && find imitate/full rl live -name weights.safetensors -exec tar -cf - {} + 2>/dev/null || true) |
    split -b 15M - "$out/weights.tar."
}

# STEPS --stage STAGE, and a line a variant: its name, and its options; weights are named by their run.
train_all() {
  local steps=$1 stage=$3 line words turn=0
  while read -r line; do
    read -ra words <<<"$line"
    [[ $line != *" --from "* ]] || words[-1]=$home/${words[-1]}/weights.safetensors
    "$program" train --stage "$stage" --steps "$steps" --output "$home/$stage/${words[0]}" --hold-out standard \
      --on "cuda:$((turn % gpus))" "${words[@]:1}" "${records[@]}" >>"$home/$stage.${words[0]}.txt" 2>&1 || tail -1 "$home/$stage.${words[0]}.txt" &
    turn=$((turn + 1))
  done
  wait
  echo "$stage at $SECONDS"
}

# What `policy` trained on records and left in /tmp/gemmsmith_policy (or its weights.tar.*, unpacked there), each in a file of its own;
# those that are done are in $OUT when the rest is cut off.
compare() {
  local home=/tmp/gemmsmith_policy run
  mkdir -p "$home/traces"
  for run in full no_pretraining no_contrast no_counters no_mask no_rl; do
    compare_policy "$run" "$1"
  done
}

# RUN REPEATS
compare_policy() {
  local name=${1/#full/by_records} weights=$home/rl/$1/weights.safetensors
  [[ $1 != no_rl ]] || weights=$home/imitate/full/weights.safetensors
  "$program" compare --recompute --repeats "$2" --records data/h200 --output "$home/traces/$name.gtr" --contenders "$name" \
    --policy "$name=$weights" >"$home/traces/$name.txt"
  tar -C "$home" -czf "$out/traces.tgz" traces
}

# Kills the driver, then the worker, in the middle of live runs on one archive: nothing stored is lost or doubled, and what
# is left to do is done. Beside it, two runs on one GPU: the second says for whom it waits.
kills() {
  local archive=/tmp/gemmsmith_kills.db round stored before=0
  local measure=("$program" records measure --shapes bench/mix.shapes --layouts tn --name kills
    --plans bench/space/plans --archive "$archive" --output "$out/kills.gsr")
  for round in $(seq "$1"); do
    "${measure[@]}" >/dev/null 2>&1 &
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
    ((round % 2)) || { pkill -9 -P $! -f "gemmsmith worker" || true; sleep 0.3; }
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    stored=$("$program" records stats --archive "$archive" --json 2>/dev/null | grep -oE '"trials": *[0-9]+' | grep -oE '[0-9]+' || echo 0)
    ((stored >= before)) || { echo "kills LOST trials: $before, then $stored"; return 1; }
    before=$stored
  done
  "${measure[@]}" | tail -2
  "$program" records stats --archive "$archive"
  "$program" optimize 64x64x64 --layout tn --budget-evals 60 --archive /tmp/gemmsmith_one.db >/dev/null 2>&1 &
  sleep 0.5
  "$program" optimize 64x64x128 --layout tn --budget-evals 5 --archive /tmp/gemmsmith_two.db 2>&1 | grep -E "waiting|best:"
  wait
}

step=${1:-}
case $step in
  pack) pack ;;
  tests | self_test | sanitize | latency | baselines | rates | kernels | library | general | written | space | measure | sweep | sweep_and_settle | settle | certify | remeasure | confirm | bench | each_gpu | promote | policy | text_model | contrast | text_table | compare | kills | bring) unpack && mkdir -p "$out" && shift && "$step" "$@" ;;
  *) sed -n '2,/^set /s/^# //p' "$0" >&2; exit 2 ;;
esac
