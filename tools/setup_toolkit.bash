# shellcheck shell=bash disable=SC2154  # root: set by tools/setup
# Where the CUDA toolkit is. Sourced by tools/setup.

installed_toolkit=$root/.deps/cuda/nvidia/cu13

# A toolkit is what kernels can be compiled with: headers and libraries of CUDA 13. Its nvcc is used only on request.
is_toolkit() {
  local part
  for part in cuda.h cublasLt.h cublas_v2.h nvrtc.h cuda_fp16.h; do
    [[ -e $1/include/$part ]] || return 1
  done
  for part in libnvrtc.so.13 libcublasLt.so.13 libcublas.so.13; do
    [[ -e $1/lib64/$part || -e $1/lib/$part ]] || return 1
  done
}

# Prints the root of the toolkit to build with; nothing where there is none yet.
find_toolkit() {
  local candidate
  for candidate in "${GEMMSMITH_CUDA:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda "$installed_toolkit"; do
    if [[ -n $candidate ]] && is_toolkit "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}
