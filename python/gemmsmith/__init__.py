"""Half-precision matrix products on NVIDIA GPUs, by kernels that were proven and measured on this GPU model.

``gemmsmith.patch()`` gives ``torch.mm``, and all that torch computes by it, the kernels of ours where they are expected
to be faster. ``gemmsmith.ops`` has the same as functions. docs/torch.md explains both. Importing this package reads no
file, needs no torch and no GPU.
"""

from gemmsmith._files import cmake_dir, include_dir, library
from gemmsmith._version import __version__

__all__ = ["__version__", "calls", "cmake_dir", "constant_weights", "explain", "include_dir", "library", "ops", "patch", "patched",
           "unpatch"]

_FROM_TORCH = ("calls", "constant_weights", "explain", "patch", "patched", "unpatch")


def __getattr__(name):
    import importlib

    if name == "ops":
        return importlib.import_module("gemmsmith.ops")
    if name in _FROM_TORCH:
        return getattr(importlib.import_module("gemmsmith._patch"), name)
    raise AttributeError(f"module 'gemmsmith' has no attribute {name!r}")
