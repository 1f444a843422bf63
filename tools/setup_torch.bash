# shellcheck shell=bash disable=SC2154  # root: set by those who source it
# Where torch is. Sourced by tools/torch_baseline and tools/torch_trainer, which also define fail CODE TEXT.

torch_version=2.11.0
installed_torch=$root/.deps/torch

install_torch() {
  [[ -z $(compgen -G "$installed_torch/lib/python3*/site-packages/torch/lib/libtorch_cuda.so") ]] || return 0
  rm -rf "$installed_torch.partial"
  python3 -m venv "$installed_torch.partial" || fail 3 "python3 -m venv does not work here: apt-get install python3-venv"
  "$installed_torch.partial/bin/pip" install --quiet "torch==$torch_version" ||
    fail 3 "pip could not install torch $torch_version: check the network"
  rm -rf "$installed_torch" && mv "$installed_torch.partial" "$installed_torch"
}

# Prints the folder of a torch that has this library ("libtorch_cuda.so"); nothing where there is none.
find_torch() {
  local candidate
  for candidate in "$installed_torch"/lib/python3*/site-packages/torch \
    "$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' 2>/dev/null)"; do
    if [[ -e $candidate/lib/$1 ]]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}
