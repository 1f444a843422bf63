"""Products as functions, with autograd, autocast, vmap and torch.compile.

They need no patch(). In eager mode torch.mm of a patched torch is faster than these: operators defined in Python cost
some microseconds a call.
"""

import torch
import torch.nn.functional as F

import gemmsmith._aten

__all__ = ["addmm", "bmm", "linear", "mm"]

_ACTIVATIONS = {"none": lambda y: y, "relu": torch.relu, "gelu": lambda y: F.gelu(y, approximate="tanh")}

if torch.version.cuda is not None:
    gemmsmith._aten.aten()
_library = torch.library.Library("gemmsmith", "IMPL")
_library.impl("mm", torch.mm, "CPU")  # what the kernel on the GPU is compared with


@torch.library.register_fake("gemmsmith::mm")
def _mm_fake(a, b):
    torch._check(a.dim() == 2, lambda: "self must be a matrix")
    torch._check(b.dim() == 2, lambda: "mat2 must be a matrix")
    torch._check(a.size(1) == b.size(0), lambda: f"mat1 and mat2 shapes cannot be multiplied ({a.size(0)}x{a.size(1)}"
                                                 f" and {b.size(0)}x{b.size(1)})")
    return a.new_empty((a.size(0), b.size(1)))


def _mm_setup(ctx, inputs, output):
    a, b = inputs
    ctx.save_for_backward(a if ctx.needs_input_grad[1] else None, b if ctx.needs_input_grad[0] else None)


def _mm_backward(ctx, grad):
    a, b = ctx.saved_tensors
    return (mm(grad, b.mH) if ctx.needs_input_grad[0] else None, mm(a.mH, grad) if ctx.needs_input_grad[1] else None)


torch.library.register_autograd("gemmsmith::mm", _mm_backward, setup_context=_mm_setup)


def _mm_autocast(a, b):
    dtype = torch.get_autocast_dtype("cuda")
    cast = [t.to(dtype) if t.is_cuda and t.is_floating_point() and t.dtype != torch.float64 else t for t in (a, b)]
    with torch.autocast("cuda", enabled=False):
        return mm(*cast)


_library.impl("mm", _mm_autocast, "AutocastCUDA")


@torch.library.register_vmap("gemmsmith::mm")
def _mm_vmap(info, in_dims, a, b):
    a_dim, b_dim = in_dims
    if b_dim is None:  # one product of all rows
        rows = a.movedim(a_dim, 0)
        return mm(rows.flatten(0, 1), b).unflatten(0, rows.shape[:2]), 0
    if a_dim is None:  # one product of all columns
        columns = b.movedim(b_dim, 1)
        return mm(a, columns.flatten(1, 2)).unflatten(1, columns.shape[1:]), 1
    return torch.bmm(a.movedim(a_dim, 0), b.movedim(b_dim, 0)), 0


def mm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b of two matrices."""
    return torch.ops.gemmsmith.mm.default(a, b)


def addmm(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta=1, alpha=1) -> torch.Tensor:
    """beta * bias + alpha * (a @ b). No kernel of ours adds: where beta is not 0 this is torch.addmm."""
    if beta == 0 and alpha == 1:
        return mm(a, b)
    return torch.addmm(bias, a, b, beta=beta, alpha=alpha)


def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Products of a batch. No kernel of ours has batches: this is mm for a batch of one, else torch.bmm."""
    if a.dim() == 3 and b.dim() == 3 and a.size(0) == b.size(0) == 1:
        return mm(a[0], b[0]).unsqueeze(0)
    return torch.bmm(a, b)


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None,
           activation: str = "none") -> torch.Tensor:
    """activation(x @ weight.T + bias) with the activations none, relu and gelu (by tanh)."""
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation is one of {', '.join(_ACTIVATIONS)}, not {activation!r}")
    rows = x.reshape(-1, x.size(-1))
    y = mm(rows, weight.t()) if bias is None else addmm(bias, rows, weight.t())
    return _ACTIVATIONS[activation](y).reshape(*x.shape[:-1], weight.size(0))
