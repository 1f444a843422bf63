"""libgemmsmith_aten.so: the kernels that torch calls. Opened at the first use, once."""

import ctypes
import functools

import torch

from gemmsmith._files import torch_library

# Tags in the stable ABI need torch 2.12, so the operator is defined here and its kernel is in the library.
_definition = torch.library.Library("gemmsmith", "DEF")
_definition.define("mm(Tensor self, Tensor mat2) -> Tensor",
                   tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides))
_definition.define("explain(Tensor self, Tensor mat2) -> str")


@functools.cache
def aten() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(torch_library()))
    for function in (loaded.gemmsmith_aten_open, loaded.gemmsmith_aten_patch):
        function.restype = ctypes.c_char_p
    loaded.gemmsmith_aten_constant_weights.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    check(loaded.gemmsmith_aten_open())
    return loaded


def check(error: bytes | None) -> None:
    if error is not None:
        raise RuntimeError(f"gemmsmith: {error.decode()}")
