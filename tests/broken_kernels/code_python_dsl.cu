// fault: a kernel in a Python language
// class: code
// expect: compile_failed|illegal
// shape: 256x256x512
// layout: tn
//
// Triton under a .cu name. Python languages are refused with a reason: what they compile to is out of the judge's sight.
import triton
import triton.language as tl

gemmsmith_descriptor_v1 = "gemm tn f16 f32"


@triton.jit
def gemm(a, b, c, m, n, k, block: tl.constexpr):
    row = tl.program_id(0) * block + tl.arange(0, block)
    column = tl.program_id(1) * block + tl.arange(0, block)
    total = tl.zeros((block, block), dtype=tl.float32)
    for i in range(0, k, block):
        depth = i + tl.arange(0, block)
        x = tl.load(a + row[:, None] * k + depth[None, :])
        y = tl.load(b + column[None, :] * k + depth[:, None])
        total += tl.dot(x, y)
    tl.store(c + row[:, None] * n + column[None, :], total.to(tl.float16))
