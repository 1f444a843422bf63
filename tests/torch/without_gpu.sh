#!/usr/bin/env bash
# What we declare of torch's ABI against its headers, and without_gpu.py with the wheel of this build. Arguments: source tree,
# build tree, C++ compiler, a Python. Ends with 77 where no Python at hand has torch 2.10 or later.
set -euo pipefail
source=$1 build=$2 compiler=$3 python=${GEMMSMITH_TORCH_PYTHON:-$4}
"$python" -c '
import importlib.metadata as m, sys
try: sys.exit([int(n) for n in m.version("torch").split(".")[:2]] < [2, 10])
except m.PackageNotFoundError: sys.exit(1)' || { echo "$python has no torch 2.10 or later: name one in GEMMSMITH_TORCH_PYTHON"; exit 77; }
headers=$("$python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')/include
"$compiler" -std=c++20 -fsyntax-only -DTORCH_TARGET_VERSION=0x020a000000000000 -I"$headers" -I"$source/python/aten" \
  "$source/tests/torch/abi_check.cc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
PYTHONPATH=$source/python/backend "$python" - "$work" "$build" << 'END'
import sys, zipfile
import gemmsmith_backend
wheel = gemmsmith_backend.build_wheel(sys.argv[1], {"build-folder": sys.argv[2]})
zipfile.ZipFile(f"{sys.argv[1]}/{wheel}").extractall(sys.argv[1])
END
PYTHONPATH=$work "$python" "$source/tests/torch/without_gpu.py"
