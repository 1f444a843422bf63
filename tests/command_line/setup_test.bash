#!/usr/bin/env bash
# setup_test.bash CASE: what ./gemmsmith, ./test and tools/ promise, tried on a small copy of the checkout in which cmake,
# ninja, apt-get and dpkg-query are stand-ins that note their calls. No network, no compiler, nothing installed.
set -uo pipefail
checkout=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
place=$(mktemp -d) && trap 'chmod -R u+w "$place"; rm -rf "$place"' EXIT
tree="$place/a checkout"

stand_in() { printf '#!/usr/bin/env bash\nprintf "%s %%s\\n" "$*" >>"%s/calls"\n%s\n' "$1" "$place" "$2" >"$place/bin/$1"; }

make_tree() {
  mkdir -p "$tree"/{src/base,src/gpu,include,cmake,third_party,tests} "$place"/{bin,cuda/include,cuda/lib64}
  cp -r "$checkout/gemmsmith" "$checkout/test" "$checkout/tools" "$tree"
  touch "$tree"/{CMakeLists.txt,CMakePresets.json,src/base/hash.cc}
  touch "$place"/cuda/include/{cuda.h,cublasLt.h,cublas_v2.h,nvrtc.h,cuda_fp16.h}
  touch "$place"/cuda/lib64/{libnvrtc.so.13,libcublasLt.so.13,libcublas.so.13}
  stand_in cmake 'mkdir -p build/release && printf "CMAKE_HOME_DIRECTORY:INTERNAL=%s\n" "$PWD" >build/release/CMakeCache.txt'
  stand_in ninja 'mkdir -p build/release/bin; sleep "${NINJA_SECONDS:-0}"; [[ ! -e broken ]] || { echo "no way"; exit 1; }
    printf "%s\n" "#!/bin/bash" "printf \"<%s>\" \"\$@\"; exit 7" >build/release/bin/gemmsmith; chmod +x build/release/bin/*'
  stand_in dpkg-query '[[ ! -e missing || $* != *libfmt-dev* ]] || exit 1; printf installed'
  stand_in apt-get 'exit 100'
  stand_in dpkg ''
  chmod -R a+rX "$place"
  chmod a+x "$place"/bin/*
  : >"$place/calls"
  export PATH="$place/bin:$PATH" GEMMSMITH_CUDA="$place/cuda"
  unset CUDA_HOME CUDA_PATH
}

die() { printf '%s\noutput was: %s\ncalls were: %s\n' "$1" "${output:-}" "$(cat "$place/calls" 2>/dev/null)"; exit 1; }
# run EXPECTED_STATUS COMMAND...
run() {
  local expected=$1 status
  shift
  output=$("$@" 2>&1 </dev/null)
  status=$?
  ((status == expected)) || die "$* ended with $status, not $expected"
}
says() { [[ $output == *"$1"* ]] || die "the output lacks: $1"; }
calls() { grep -c "^$1" "$place/calls"; }
called() { (($(calls "$1") == $2)) || die "$1 was called $(calls "$1") times, not $2"; }

case_arguments_and_exit_code_pass_through_unchanged() {
  make_tree
  run 7 "$tree/gemmsmith" optimize 'a  b' '*' ''
  says '<optimize><a  b><*><>'
}

case_a_second_start_builds_nothing_and_says_nothing() {
  make_tree
  run 7 "$tree/gemmsmith" one
  run 7 "$tree/gemmsmith" two
  [[ $output == '<two>' ]] || die 'a second start should print only what the program prints'
  called cmake 1
  called ninja 1
}

case_a_changed_added_or_removed_source_is_built_at_the_next_start() {
  make_tree
  run 7 "$tree/gemmsmith" x
  touch "$tree/src/base/hash.cc" && run 7 "$tree/gemmsmith" x
  called ninja 2
  touch "$tree/src/gpu/new.cc" && run 7 "$tree/gemmsmith" x
  called ninja 3
  rm "$tree/src/gpu/new.cc" && run 7 "$tree/gemmsmith" x
  called ninja 4
  touch "$tree/tests/only_a_test.cc" && run 7 "$tree/gemmsmith" x
  called ninja 4
}

case_it_starts_from_anywhere_and_through_a_link() {
  make_tree
  ln -s "$tree/gemmsmith" "$place/link"
  cd / || die 'cd'
  run 7 "$place/link" here
  says '<here>'
}

case_a_moved_checkout_is_configured_anew() {
  make_tree
  run 7 "$tree/gemmsmith" x
  touch "$tree/build/release/left_over"
  mv "$tree" "$place/moved"
  run 7 "$place/moved/gemmsmith" x
  called cmake 2
  [[ ! -e $place/moved/build/release/left_over ]] || die 'the old build folder was kept'
}

case_another_toolkit_is_configured_for() {
  make_tree
  run 7 "$tree/gemmsmith" x
  cp -r "$place/cuda" "$place/cuda2"
  GEMMSMITH_CUDA="$place/cuda2" run 7 "$tree/gemmsmith" x
  grep -q "cmake .*DGEMMSMITH_CUDA_ROOT=$place/cuda2 " "$place/calls" || die 'cmake was not told of the new toolkit'
}

case_a_toolkit_that_is_none_is_refused_by_name() {
  make_tree
  GEMMSMITH_CUDA="$place" run 3 "$tree/gemmsmith" x
  says "GEMMSMITH_CUDA=$place holds no CUDA 13 toolkit"
}

case_a_failed_build_ends_with_one_shows_its_end_and_is_tried_again() {
  make_tree
  touch "$tree/broken"
  run 1 "$tree/gemmsmith" x
  says 'no way'
  says "$tree/build/setup.log"
  rm "$tree/broken"
  run 7 "$tree/gemmsmith" x
  called ninja 2
}

case_missing_packages_that_apt_cannot_install_are_named_with_the_command() {
  make_tree
  ((EUID == 0)) || exit 77
  touch "$tree/missing"
  run 3 "$tree/gemmsmith" x
  says 'apt-get update && apt-get install --no-install-recommends libfmt-dev'
  called ninja 0
}

case_without_root_and_sudo_the_command_for_root_is_printed_and_apt_not_called() {
  make_tree
  touch "$tree/missing"
  stand_in sudo 'exit 1' && chmod a+x "$place/bin/sudo"
  local -a as_nobody=()
  if ((EUID == 0)); then
    chown -R 65534 "$place" && chmod a+rx "$place"
    as_nobody=(setpriv --reuid=65534 --clear-groups)
  fi
  run 3 "${as_nobody[@]}" "$tree/gemmsmith" x
  says 'have root run: apt-get update && apt-get install --no-install-recommends libfmt-dev'
  called apt-get 0
}

case_two_first_starts_at_once_build_once() {
  make_tree
  NINJA_SECONDS=1 "$tree/gemmsmith" one >/dev/null 2>&1 &
  until (($(calls ninja))); do sleep 0.02; done
  run 7 "$tree/gemmsmith" two
  says 'another set-up is under way'
  called ninja 1
  wait
}

case_a_set_up_that_was_killed_is_done_again() {
  make_tree
  NINJA_SECONDS=0.3 setsid "$tree/tools/setup" gemmsmith >/dev/null 2>&1 &
  local setup=$!
  until (($(calls ninja))); do sleep 0.02; done
  kill -9 -- "-$setup" 2>/dev/null || kill -9 "$setup"
  run 7 "$tree/gemmsmith" x
  called ninja 2
}

case_the_test_command_refuses_unknown_arguments() {
  make_tree
  run 2 "$tree/test" --fast
  says 'unknown argument "--fast"'
  called cmake 0
}

# summary STATUS TESTCASE...: what tools/test_summary makes of these lines of JUnit.
summary() {
  local expected=$1
  shift
  { printf '<testsuite>\n'; printf '\t<testcase name="%s" status="%s">\n%s\n\t</testcase>\n' "$@"; } >"$place/results.xml"
  run "$expected" "$tree/tools/test_summary" "$place/results.xml"
}
skipped=$'\t\t<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>\n\t\t<system-out>x.cc:3: Skipped\nno &lt;GPU&gt; here\n</system-out>'

case_the_summary_counts_and_ends_with_the_plain_line() {
  make_tree
  summary 1 a.One run '' a.Two fail 'boom' gpu.Three notrun "$skipped" gone notrun '<skipped message="Unable to find"/>'
  says $'failed: a.Two\nfailed: gone\nskipped 1: no <GPU> here\n3 tests ran, 1 were skipped, 1 of these for want of a GPU\n'
  [[ $output == *$'\n1 passed, 2 failed, 1 skipped' ]] || die 'the last line is not the plain one'
  summary 0 a.One run '' gpu.Three notrun "$skipped"
}

case_a_test_that_ends_with_the_code_of_a_skip_says_why_in_its_first_line() {
  make_tree
  local reason=$'\t\t<skipped message="SKIP_RETURN_CODE=77"/>\n\t\t<system-out>no &lt;package&gt; here\nmore\n</system-out>'
  summary 0 a.One run $'\t\t<system-out>text\n</system-out>' b.Two notrun "$reason"
  says $'\nskipped 1: no <package> here\n'
}

case_a_run_without_a_passed_test_is_a_failure() {
  make_tree
  summary 1 gpu.Three notrun "$skipped"
  run 1 "$tree/tools/test_summary" "$place/nothing.xml"
  says '0 passed, 0 failed, 0 skipped'
}

# A python3 whose pip says $PIP_SAYS and ends with $PIP_STATUS.
make_python() {
  make_tree
  stand_in wheel_python '[[ $* != *install* ]] || { printf "%s\n" "${PIP_SAYS:-}"; exit "${PIP_STATUS:-0}"; }'
  stand_in python3 '[[ $* != "-m venv "* ]] || { mkdir -p "$3/bin" && cp "${0%/*}/wheel_python" "$3/bin/python"; }'
  chmod a+x "$place"/bin/*
  export XDG_CACHE_HOME="$place/cache"
}

case_the_local_model_is_installed_once_and_into_the_cache() {
  make_python
  run 0 "$tree/tools/local_model" --install
  says "installed in $place/cache/gemmsmith/local_model"
  run 0 "$tree/tools/local_model" --install
  (($(grep -c 'pip.* --require-hashes ' "$place/calls") == 1)) || die 'pip should be asked once, with sums'
  [[ ! -e $place/cache/gemmsmith/local_model/install.partial ]] || die 'a partial installation is left'
}

case_a_local_model_that_cannot_be_had_is_one_line_and_tried_again() {
  make_python
  PIP_STATUS=1 PIP_SAYS='ERROR: No matching distribution' run 3 "$tree/tools/local_model" --install
  says 'check the network and the index of pip (ERROR: No matching distribution)'
  PIP_STATUS=1 PIP_SAYS='ERROR: THESE PACKAGES DO NOT MATCH THE HASHES' run 3 "$tree/tools/local_model" --install
  says 'another sha256 than this script expects'
  stand_in df 'printf "x\nx x x 7 x\n"' && chmod a+x "$place/bin/df"
  run 3 "$tree/tools/local_model" --install
  says 'has 7 MB free, needs 500 MB'
  rm "$place/bin/df"
  run 0 "$tree/tools/local_model" --install
}

case_words_that_the_local_model_does_not_know_are_wrong_use() {
  make_python
  run 2 "$tree/tools/local_model" --port 99999
  says '--port takes a number from 1 to 65535'
  run 2 "$tree/tools/local_model" --public
  says 'It listens on 127.0.0.1 alone'
  called python3 0
}

case_the_gpu_record_is_current_until_a_covered_source_changes() {
  make_tree
  mkdir -p "$tree"/src/{problem,device,program,compile,evaluate,cli}
  cat >"$place/gtest.xml" <<'END'
<testsuites tests="3" failures="1" disabled="0" errors="0" time="0.4" timestamp="2026-11-21T11:57:33.537" name="AllTests">
    <testcase name="A" status="run" result="completed" />
    <testcase name="B" status="run" result="skipped" />
    <testcase name="C" status="run" result="completed"><failure message="" /></testcase>
END
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: none'
  run 0 "$tree/tools/gpu_record" write 'NVIDIA H200' "$place/gtest.xml"
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: current (NVIDIA H200, 2026-11-21, 1 tests passed, 1 failed)'
  run 0 "$tree/tools/gpu_record" write 'NVIDIA H200' "$place/gtest.xml" "$place/gtest.xml"
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: current (NVIDIA H200, 2026-11-21, 2 tests passed, 2 failed)'
  run 0 "$tree/tools/gpu_record" write 'NVIDIA H200' "$place/gtest.xml"
  touch "$tree"/src/{base/hash_test.cc,base/hash_fuzz.cc,cli/main.cc}
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: current (NVIDIA H200, 2026-11-21, 1 tests passed, 1 failed)'
  touch "$tree/src/cli/main_gpu_test.cc"
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: stale'
  rm "$tree/src/cli/main_gpu_test.cc"
  printf '  // nothing but a comment\n' >>"$tree/src/base/hash.cc"
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: current'
  printf ';  // code\n' >>"$tree/src/base/hash.cc"
  run 0 "$tree/tools/gpu_record" status
  says 'GPU record: stale'
}

"case_${1:?usage: setup_test.bash CASE}"
