"""torch.mm by the kernels of ours, and weights that are promised to be constant."""

import contextlib
import ctypes
import threading
import warnings
import weakref

import torch

import gemmsmith._aten
from gemmsmith._version import __version__

_lock = threading.RLock()
_tag = None


def _preferred_by_user() -> str | None:
    """What the user wants products to go to instead; None: nothing."""
    if torch.cuda.tunable.is_enabled():
        return "TunableOp is enabled"
    preferred = torch.backends.cuda.preferred_blas_library()
    if preferred not in _DEFAULT_LIBRARIES:
        return f"torch.backends.cuda.preferred_blas_library() is {preferred}"
    return None


_DEFAULT_LIBRARIES = (torch._C._BlasBackend.Default, torch._C._BlasBackend.Cublas)


def patch() -> bool:
    """torch.mm and torch.mm(out=) on CUDA go to kernels of ours where these are expected to be faster.

    So does all that torch computes by mm: matmul, ``@``, linear layers without a bias, their gradients, and what
    torch.compile leaves to ATen. Everything else goes to torch's own kernel. False, and nothing happens, where the user
    prefers a library or TunableOp. To be called while no other thread is in torch.
    """
    global _tag
    with _lock:
        if preferred := _preferred_by_user():
            warnings.warn(f"gemmsmith.patch() does nothing: {preferred}", stacklevel=2)
            return False
        aten = gemmsmith._aten.aten()
        gemmsmith._aten.check(aten.gemmsmith_aten_patch())
        if _tag is None:
            # Inductor tunes for the kernels that it calls: graphs of a patched torch are not those of a stock one.
            _tag = f";gemmsmith-{__version__}"
            torch.compiler.config.cache_key_tag += _tag
        return True


def unpatch() -> None:
    """Undoes patch(). To be called while no other thread is in torch."""
    global _tag
    with _lock:
        if _tag is None:
            return
        gemmsmith._aten.aten().gemmsmith_aten_unpatch()
        torch.compiler.config.cache_key_tag = torch.compiler.config.cache_key_tag.replace(_tag, "")
        _tag = None


@contextlib.contextmanager
def patched():
    """patch() until the end of the block. Of nested blocks the outermost decides."""
    was_patched = _tag is not None
    patch()
    try:
        yield
    finally:
        if not was_patched:
            unpatch()


def calls() -> dict[str, int]:
    """How many products were ours, and how many were passed on to torch, in this process."""
    ours, passed_on = ctypes.c_uint64(), ctypes.c_uint64()
    gemmsmith._aten.aten().gemmsmith_aten_calls(ctypes.byref(ours), ctypes.byref(passed_on))
    return {"ours": ours.value, "passed_on": passed_on.value}


def explain(a: torch.Tensor, b: torch.Tensor) -> str:
    """The kernel that a @ b of two matrices on a GPU gets, or why it is torch's, in some lines."""
    gemmsmith._aten.aten()
    return torch.ops.gemmsmith.explain.default(a, b)


class ConstantWeights:
    """A standing promise. ``remove()``, or the end of its ``with`` block, ends it."""

    def __init__(self, tensors):
        # The tensors are held: nothing else can get their addresses while the promise stands.
        self._tensors = [t for t in tensors if t.numel() > 0]
        with _lock:
            _promises.append(self)
            _publish()

    def remove(self) -> None:
        with _lock:
            if self in _promises:
                _promises.remove(self)
                _publish()
            self._tensors = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


_promises: list[ConstantWeights] = []


def _address_range(tensor) -> tuple[int, int]:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size()


def _publish() -> None:
    ranges: list[list[int]] = []
    for begin, end in sorted(_address_range(t) for promise in _promises for t in promise._tensors):
        if ranges and begin <= ranges[-1][1]:  # tied weights, or neighbours
            ranges[-1][1] = max(ranges[-1][1], end)
        else:
            ranges.append([begin, end])
    numbers = (ctypes.c_uint64 * (2 * len(ranges)))(*(number for pair in ranges for number in pair))
    gemmsmith._aten.aten().gemmsmith_aten_constant_weights(numbers, len(ranges))


def constant_weights(module: torch.nn.Module) -> ConstantWeights:
    """Promises that the kernel before a product never writes a parameter of ``module``. Products then overlap.

    Holds for inference. Before parameters are changed, call ``remove()`` on the result; promise again after
    ``torch.cuda.synchronize()``. The promise ends with the module.
    """
    if module.training:
        raise ValueError("the module is in training mode, which writes its weights: call module.eval() first")
    promise = ConstantWeights([p.detach() for p in module.parameters() if p.is_cuda])
    weakref.finalize(module, promise.remove)
    return promise
