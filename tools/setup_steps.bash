# shellcheck shell=bash disable=SC2154  # root, folder, preset, target, stamp, log: set by tools/setup
# The steps of the set-up, each silent where it finds its work done. Sourced by tools/setup.

packages=(g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev libsqlite3-dev libzstd-dev libxxhash-dev
          zlib1g-dev libopenblas-pthread-dev libseccomp-dev libgtest-dev bubblewrap)
# Speed up builds, and reach endpoints of language models; never asked for on their own.
welcome_packages=(mold libcurl4)
# What pip needs, where the toolkit has to be installed.
python_packages=(python3 python3-venv ca-certificates)

# CUDA 13.0 with cuBLAS. nvvm and crt are named because nvcc's own package accepts later ones, whose PTX the ptxas of 13.0
# refuses. nvdisasm was not published for 13.0; it reads the code of older toolkits.
toolkit_wheels=("cuda-toolkit[nvcc,nvrtc,cudart,cublas,cupti,cccl]==13.0.2" "nvidia-nvvm==13.0.88"
                "nvidia-cuda-crt==13.0.88" "nvidia-cuda-nvdisasm==13.5.37")
toolkit_megabytes=2500  # on disk while it is unpacked; 1200 stay

say() { printf 'gemmsmith: %s\n' "$*" >&2; }

# fail CODE WHAT ADVICE
fail() {
  stop_ticker
  say "$2"
  [[ -z ${3:-} ]] || say "$3"
  exit "$1"
}

# Shows that a long step goes on: seconds on a terminal, a line every half minute elsewhere.
ticker=
start_ticker() {
  local what=$1
  (
    trap - EXIT INT TERM
    exec 9>&-
    for ((seconds = 1;; ++seconds)); do
      sleep 1 >/dev/null 2>&1
      kill -0 $$ 2>/dev/null || exit  # the set-up was killed
      if [[ -t 2 ]]; then
        printf '\r\033[Kgemmsmith: %s, %d s ' "$what" "$seconds" >&2
      elif ((seconds % 30 == 0)); then
        printf 'gemmsmith: %s, %d s\n' "$what" "$seconds" >&2
      fi
    done
  ) &
  ticker=$!
}
stop_ticker() {
  [[ -n $ticker ]] || return 0
  kill "$ticker" 2>/dev/null
  wait "$ticker" 2>/dev/null
  ticker=
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# logged WHAT COMMAND...: runs it with its output in the log.
logged() {
  local what=$1 status
  shift
  printf '\n$ %s\n' "$*" >>"$log"
  say "$what"
  start_ticker "$what"
  "$@" </dev/null >>"$log" 2>&1
  status=$?
  stop_ticker
  return $status
}

# log_failed CODE WHAT ADVICE: the first errors in the log, else its end, then the two lines that matter.
log_failed() {
  local advice=$3
  if grep -qE 'No space left on device|enough free space' "$log" || (($(free_megabytes build) < 10)); then
    advice="the disk is full: make room and start again"
  fi
  { grep -m 5 -E '(error|Error|ERROR|E): ' "$log" || tail -n 5 "$log"; } | cut -c -300 | sed 's/^/    /' >&2
  fail "$1" "$2 (all of it: $root/$log)" "$advice"
}

free_megabytes() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s\n' "$package"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null || return 0  # another distribution: CMake says what is missing
  local -a wanted=("${packages[@]}") missing root_prefix=()
  [[ -n $(find_toolkit) ]] || wanted+=("${python_packages[@]}")
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  ((${#missing[@]})) || return 0
  local -a all=("${missing[@]}")
  mapfile -t -O "${#all[@]}" all < <(missing_packages "${welcome_packages[@]}")
  local by_hand="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID)); then
    if ! command -v sudo >/dev/null; then
      fail 3 "Debian packages are missing and this is not root, nor is there sudo" "have root run: $by_hand"
    elif sudo -n true 2>/dev/null || { [[ -t 0 && -t 2 ]] && say "installing Debian packages needs root" && sudo -v; }; then
      root_prefix=(sudo -n)
    else
      fail 3 "Debian packages are missing and sudo did not let us in" "have root run: $by_hand"
    fi
  fi
  local -a apt=("${root_prefix[@]}" env DEBIAN_FRONTEND=noninteractive) variable
  for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [[ -z ${!variable:-} ]] || apt+=("$variable=${!variable}")
  done
  # An earlier installation may have been cut off in the middle of a package.
  "${apt[@]}" dpkg --configure -a </dev/null >>"$log" 2>&1
  apt+=(apt-get -y -q -o DPkg::Lock::Timeout=600)
  logged "asking apt what there is (1 of 4)" "${apt[@]}" update
  logged "installing ${#all[@]} Debian packages and what they need (1 of 4)" \
    "${apt[@]}" install --fix-broken --no-install-recommends "${all[@]}" ||
    log_failed 3 "apt could not install what is missing" "check the network, or have root run: $by_hand"
}

install_toolkit() {
  [[ -z $(find_toolkit) ]] || return 0
  local partial=.deps/cuda.partial free
  rm -rf "$partial"
  free=$(free_megabytes .deps)
  ((free >= toolkit_megabytes)) ||
    fail 3 "no CUDA toolkit here, and too little room to install one: $free MB free in $root, needs $toolkit_megabytes MB" \
      "make room, or set GEMMSMITH_CUDA to the root of a CUDA 13 toolkit"
  mkdir -p "$partial/tmp" && /usr/bin/python3 -m venv "$partial/venv" >>"$log" 2>&1 ||
    log_failed 3 "Python cannot make a virtual environment" "have root run: apt-get install python3-venv"
  TMPDIR=$root/$partial/tmp logged "installing the CUDA toolkit from PyPI, 630 MB to load (2 of 4)" \
    "$partial/venv/bin/python" -m pip --disable-pip-version-check install --no-user --no-input --no-cache-dir \
    --progress-bar off --target "$partial/cuda" "${toolkit_wheels[@]}" ||
    log_failed 3 "the CUDA toolkit could not be installed" \
      "check the network, or install a CUDA 13 toolkit and set GEMMSMITH_CUDA to its root"
  link_libraries "$partial/cuda/nvidia/cu13/lib"
  rm -rf .deps/cuda && mv "$partial/cuda" .deps/cuda && rm -rf "$partial"
  [[ -n $(find_toolkit) ]] || fail 3 "the installed CUDA toolkit in $root/.deps/cuda is incomplete" \
    "remove $root/.deps and start again"
}

# The wheels hold lib*.so.13 only; linkers look for lib*.so.
link_libraries() {
  local library
  for library in "$1"/lib*.so.*; do
    [[ -e ${library%%.so.*}.so ]] || ln -s "${library##*/}" "${library%%.so.*}.so"
  done
}

configure() {
  local -a options=("-DGEMMSMITH_CUDA_ROOT=$(find_toolkit)" -UGEMMSMITH_CUDA_INCLUDE)
  if [[ -e $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"  # the checkout was moved or copied
  fi
  logged "configuring (3 of 4)" cmake -S . --preset "$preset" "${options[@]}" ||
    log_failed 1 "CMake could not configure the build" "the first error above says what is missing"
}

# Progress as ninja counts it: in place on a terminal, a line every tenth elsewhere.
build() {
  local started="$stamp.started" line built total tenth last=-1 begin=$SECONDS
  printf '%s\n%s\n' "$root" "$(find_toolkit)" >"$started" || log_failed 3 "cannot write to $root/$folder" "free some space"
  say "building $target (4 of 4)"
  printf '\n$ ninja %s\n' "$target" >>"$log"
  NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "$target" </dev/null 2>&1 | while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    built=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} tenth=$((10 * built / total))
    if [[ -t 2 ]]; then
      printf '\r\033[Kgemmsmith: building, %d of %d ' "$built" "$total" >&2
    elif ((tenth != last && total >= 20)); then
      say "building, $built of $total, $((SECONDS - begin)) s"
      last=$tenth
    fi
  done
  local status=${PIPESTATUS[0]}
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
  ((status == 0)) || log_failed 1 "the build failed" "a clean checkout builds: is a change of yours in the way?"
  mv "$started" "$stamp"
}
