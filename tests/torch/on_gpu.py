"""What torch with gemmsmith does on a GPU. Prints one JSON object: a section for each check, with "ok" or "error".

    python tests/torch/on_gpu.py [SECTION...]      default: all; `--list` names them

Needs torch 2.10 or later with CUDA, and the package gemmsmith with kernels of this GPU: installed, or in PYTHONPATH.
"""

import contextlib
import json
import math
import statistics
import sys
import time
import traceback

import torch
import torch.nn.functional as F

import gemmsmith
import gemmsmith.ops

DEVICE = "cuda"
HALVES = (torch.float16, torch.bfloat16)
# m, n, k: small, decode, prefill, off the grid, odd, one row or column.
SHAPES = [(64, 64, 64), (128, 256, 512), (1, 4096, 4096), (16, 4096, 4096), (32, 14336, 4096), (512, 1024, 2048),
          (2048, 4096, 4096), (200, 328, 136), (257, 129, 65), (33, 64, 72), (64, 1, 64), (1, 1, 8)]
SECTIONS = {}


def section(function):
    SECTIONS[function.__name__] = function
    return function


def draw(*shape, dtype, seed=0):
    generator = torch.Generator(DEVICE).manual_seed(seed)
    return torch.randn(*shape, device=DEVICE, generator=generator).to(dtype)


def assert_near(got, expected, k):
    """Sums of k products, rounded once: of standard normal operands."""
    eps = torch.finfo(got.dtype).eps if got.dtype in HALVES else 1e-3
    torch.testing.assert_close(got.float(), expected.float(), rtol=2 * eps, atol=eps * math.sqrt(k))


def counted(function):
    """The result, and how many products were ours."""
    before = gemmsmith.calls()["ours"]
    result = function()
    return result, gemmsmith.calls()["ours"] - before


def patched_if(patch):
    return gemmsmith.patched() if patch else contextlib.nullcontext()


def operand_layouts(rows, columns, dtype, seed):
    """The same numbers in every way of lying that torch knows."""
    plain = draw(rows, columns, dtype=dtype, seed=seed)
    wide = torch.zeros(rows, columns + 8, device=DEVICE, dtype=dtype)
    wide[:, :columns] = plain
    odd = torch.zeros(rows, columns + 1, device=DEVICE, dtype=dtype)
    odd[:, 1:] = plain
    every_other = torch.zeros(rows, 2 * columns, device=DEVICE, dtype=dtype)
    every_other[:, ::2] = plain
    return {"rows": plain, "columns": plain.t().contiguous().t(), "padded": wide[:, :columns], "shifted": odd[:, 1:],
            "every_other": every_other[:, ::2]}


@section
def facts():
    gemmsmith.patch()
    torch.mm(draw(64, 64, dtype=torch.float16), draw(64, 64, dtype=torch.float16))
    properties = torch.cuda.get_device_properties(0)
    return {"torch": torch.__version__, "gpu": properties.name, "gemmsmith": gemmsmith.__version__,
            "calls": gemmsmith.calls(),
            "explain": [gemmsmith.explain(draw(m, 4096, dtype=torch.bfloat16), draw(4096, 4096, dtype=torch.bfloat16).t())
                        for m in (1, 16, 2048)]}


@section
def products():
    """Types, shapes, layouts of operands and results, against stock torch in f32."""
    # Else stock torch, where it serves a product, may add partial sums in f16 or bf16.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    ours = total = 0
    gemmsmith.patch()  # main() undoes it
    for dtype in (*HALVES, torch.float32):
        for m, n, k in SHAPES:
            expected = draw(m, k, dtype=dtype, seed=1).float() @ draw(k, n, dtype=dtype, seed=2).float()
            if dtype == torch.float32:
                expected = draw(m, k, dtype=dtype, seed=1) @ draw(k, n, dtype=dtype, seed=2)
            for a in operand_layouts(m, k, dtype, 1).values():
                for b in operand_layouts(k, n, dtype, 2).values():
                    got, count = counted(lambda: torch.mm(a, b))
                    assert_near(got, expected, k)
                    assert got.is_contiguous() and got.dtype == dtype
                    ours, total = ours + count, total + 1
    for dtype in HALVES:
        m, n, k = 128, 256, 512
        a, b = draw(m, k, dtype=dtype, seed=1), draw(k, n, dtype=dtype, seed=2)
        expected = a.float() @ b.float()
        for out in operand_layouts(m, n, dtype, 3).values():
            assert torch.mm(a, b, out=out) is out
            assert_near(out, expected, k)
    assert ours > 0, "no product was ours"
    return {"ours": ours, "of": total}


@section
def passed_on():
    """What is not for us is torch's, bit for bit, errors included."""
    def both(function):
        results = []
        for patch in (False, True):
            with patched_if(patch):
                before = gemmsmith.calls()["ours"]
                try:
                    results.append(function())
                except RuntimeError as error:
                    results.append(str(error).splitlines()[0])
                assert gemmsmith.calls()["ours"] == before, "it was ours"
        return results

    half = lambda *shape: draw(*shape, dtype=torch.float16)  # noqa: E731
    cases = {
        "empty m": lambda: torch.mm(half(0, 64), half(64, 64)),
        "empty k": lambda: torch.mm(half(64, 0), half(0, 64)),
        "f64": lambda: torch.mm(half(64, 64).double(), half(64, 64).double()),
        "complex": lambda: torch.mm(half(64, 64).to(torch.complex64), half(64, 64).to(torch.complex64)),
        "broadcast": lambda: torch.mm(half(64, 1).expand(64, 64), half(64, 64)),
        "out is an operand": lambda: (lambda x: torch.mm(x, x, out=x))(half(64, 64)),
        "wrong shapes": lambda: torch.mm(half(64, 32), half(64, 64)),
        "wrong dimensions": lambda: torch.mm(half(64), half(64, 64)),
        "addmm": lambda: torch.addmm(half(64), half(64, 64), half(64, 64)),
        "bmm": lambda: torch.bmm(half(2, 64, 64), half(2, 64, 64)),
        "sparse": lambda: torch.mm(half(64, 64).float().to_sparse(), half(64, 64).float()),
    }
    for name, case in cases.items():
        stock, patched = both(case)
        assert type(stock) is type(patched), (name, stock, patched)
        if isinstance(stock, str):
            assert stock.endswith(patched), (name, stock, patched)  # newer ones begin with "mm: "
        elif name != "out is an operand":
            assert torch.equal(stock.isnan(), patched.isnan()) and torch.equal(stock.nan_to_num(), patched.nan_to_num()), name
    with gemmsmith.patched():  # resolved by torch before it comes to us
        a, b = half(64, 64), half(64, 64)
        assert_near(torch.mm(torch._neg_view(a), b), -(a.float() @ b.float()), 64)
    return {"cases": len(cases) + 1}


@section
def switching():
    a, b = draw(64, 64, dtype=torch.float16), draw(64, 64, dtype=torch.float16, seed=1)
    seen = []
    gemmsmith.unpatch()
    for action in (None, gemmsmith.patch, gemmsmith.patch, gemmsmith.unpatch, gemmsmith.patch, gemmsmith.unpatch):
        if action is not None:
            action()
        before = gemmsmith.calls()
        torch.mm(a, b)
        seen.append(gemmsmith.calls() != before)
    assert seen == [False, True, True, False, True, False], seen
    torch.cuda.tunable.enable(True)
    try:
        assert not gemmsmith.patch()
    finally:
        torch.cuda.tunable.enable(False)
    return {}


@section
def gradients():
    """A linear layer without bias, its gradients, and a second derivative; eager and under autocast."""
    worst = {}
    for name, product in {"patched": F.linear, "ops": gemmsmith.ops.linear}.items():
        for dtype in HALVES:
            x, w = draw(4, 32, 512, dtype=dtype).requires_grad_(), draw(256, 512, dtype=dtype, seed=1).requires_grad_()
            gradient = draw(4, 32, 256, dtype=dtype, seed=2)
            expected = torch.autograd.grad(F.linear(x.float(), w.float()), (x, w), gradient.float())
            with gemmsmith.patched():
                (got, count) = counted(lambda: torch.autograd.grad(product(x, w), (x, w), gradient))
            for g, e, k in zip(got, expected, (256, 128)):
                assert_near(g, e, k)
            worst[f"{name} {dtype}".replace("torch.", "")] = count
        x, w = draw(64, 64, dtype=torch.bfloat16).requires_grad_(), draw(64, 64, dtype=torch.bfloat16, seed=1).requires_grad_()
        with gemmsmith.patched():
            y = product(x, w)
            (first,) = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
            (second,) = torch.autograd.grad(first, w, torch.ones_like(first))
        assert_near(second, torch.full_like(second, 64), 64)
        x32, w32 = draw(128, 256, dtype=torch.float32).requires_grad_(), draw(512, 256, dtype=torch.float32, seed=1).requires_grad_()
        for dtype in HALVES:
            with gemmsmith.patched(), torch.autocast("cuda", dtype=dtype):
                y = product(x32, w32)
            assert y.dtype == dtype
            assert_near(y, x32.to(dtype).float() @ w32.to(dtype).float().t(), 256)
            y.float().sum().backward()
    return {"products of ours": worst}


@section
def opcheck():
    for dtype in (*HALVES, torch.float32):
        for m, n, k in ((64, 64, 64), (128, 256, 512), (33, 65, 17)):
            a, b = draw(m, k, dtype=dtype), draw(n, k, dtype=dtype, seed=1).t()
            for requires_grad in (False, True):
                torch.library.opcheck(torch.ops.gemmsmith.mm.default,
                                      (a.detach().requires_grad_(requires_grad), b.detach().requires_grad_(requires_grad)),
                                      rtol=1e-2, atol=1e-1)
    return {}


@section
def vmap():
    a, b = draw(5, 64, 128, dtype=torch.float16), draw(5, 128, 64, dtype=torch.float16, seed=1)
    for in_dims, x, y in ((0, a, b), ((0, None), a, b[0]), ((None, 0), a[0], b), ((1, 2), a.transpose(0, 1), b.permute(1, 2, 0))):
        assert_near(torch.vmap(gemmsmith.ops.mm, in_dims)(x, y), torch.vmap(torch.mm, in_dims)(x.float(), y.float()), 128)
    return {}


@section
def graphs():
    """A capture takes products of ours that were called before, and passes on those that were not."""
    known, unknown = draw(64, 64, dtype=torch.float16), draw(64, 320, dtype=torch.float16)
    side = torch.cuda.Stream()
    with gemmsmith.patched():
        torch.mm(known, known)
        torch.mm(draw(8, 8, dtype=torch.float16), draw(8, 8, dtype=torch.float16))
        with torch.cuda.stream(side):
            torch.mm(unknown.float(), unknown.float().t())  # cuBLAS's workspace of this stream
        torch.cuda.synchronize()
        counts = []
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=side):
            y, count = counted(lambda: torch.mm(known, known))
            counts.append(count)
            z, count = counted(lambda: torch.mm(unknown, unknown.t()))
            counts.append(count)
        known.copy_(draw(64, 64, dtype=torch.float16, seed=7))
        unknown.copy_(draw(64, 320, dtype=torch.float16, seed=8))
        graph.replay()
        torch.cuda.synchronize()
    assert_near(y, known.float() @ known.float(), 64)
    assert_near(z, unknown.float() @ unknown.float().t(), 320)
    assert counts[1] == 0, "a kernel was loaded during a capture"
    return {"of ours, called before and not": counts}


@section
def streams():
    """Products on two streams at once, of one problem."""
    a = [draw(512, 512, dtype=torch.bfloat16, seed=i) for i in range(8)]
    two = [torch.cuda.Stream(), torch.cuda.Stream()]
    torch.cuda.synchronize()
    results = []
    with gemmsmith.patched():
        for i in range(200):
            with torch.cuda.stream(two[i % 2]):
                results.append(torch.mm(a[i % 8], a[(i + 3) % 8]))
    torch.cuda.synchronize()
    for i, result in enumerate(results):
        assert_near(result, a[i % 8].float() @ a[(i + 3) % 8].float(), 512)
    return {}


@section
def compiled():
    """torch.compile leaves mm to ATen, by mm.out: it reaches us."""
    x, w = draw(64, 4096, dtype=torch.bfloat16), draw(4096, 4096, dtype=torch.bfloat16, seed=1)
    ours = {}
    with gemmsmith.patched():
        for name, function, options in (
                ("default", lambda x, w: torch.relu(x @ w.t()) + 1, {}),
                ("ops", lambda x, w: torch.relu(gemmsmith.ops.mm(x, w.t())) + 1, {"fullgraph": True}),
                ("max-autotune", lambda x, w: torch.relu(x @ w.t()) + 2, {"mode": "max-autotune-no-cudagraphs"})):
            torch._dynamo.reset()
            compiled_function = torch.compile(function, **options)
            compiled_function(x, w)
            got, ours[name] = counted(lambda: compiled_function(x, w))
            assert_near(got, function(x.float(), w.float()), 4096)
        w.requires_grad_()
        compiled_function = torch.compile(lambda x, w: (x @ w.t()).square().sum())
        compiled_function(x, w).backward()
        w.grad = None
        _, ours["backward"] = counted(lambda: compiled_function(x, w).backward())
        reference = w.detach().clone().requires_grad_()
        (x @ reference.t()).square().sum().backward()
        torch.testing.assert_close(w.grad.float(), reference.grad.float(), rtol=5e-2, atol=5e-2 * reference.grad.abs().max().item())
    return {"products of ours a call": ours}


def per_call_us(function, calls):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        function()
    took = time.perf_counter() - start
    torch.cuda.synchronize()
    return took / calls * 1e6


def stock_and_patched(function, rounds=21, calls=1000):
    """Host time of one call: medians of alternating rounds. `ratio` is the median of the rounds' ratios."""
    for patch in (False, True):
        with patched_if(patch):
            per_call_us(function, 200)
    pairs = []
    for _ in range(rounds):
        stock = per_call_us(function, calls)
        with gemmsmith.patched():
            pairs.append((stock, per_call_us(function, calls)))
    return {"stock_us": round(statistics.median(s for s, _ in pairs), 3),
            "patched_us": round(statistics.median(p for _, p in pairs), 3),
            "ratio": round(statistics.median(p / s for s, p in pairs), 4)}


@section
def overhead():
    """Host time of torch.mm in eager mode."""
    result = {}
    with torch.no_grad():
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            a, b = draw(64, 64, dtype=dtype), draw(64, 64, dtype=dtype, seed=1)
            out = torch.empty_like(a)
            name = str(dtype).removeprefix("torch.")
            with gemmsmith.patched():
                _, count = counted(lambda: torch.mm(a, b))
            result[f"mm 64^3 {name}"] = {"ours": count, **stock_and_patched(lambda: torch.mm(a, b))}
            result[f"mm out 64^3 {name}"] = {"ours": count, **stock_and_patched(lambda: torch.mm(a, b, out=out))}
        a, b = draw(64, 65, dtype=torch.float16), draw(65, 63, dtype=torch.float16, seed=1)
        result["mm 64x63x65 float16, passed on"] = stock_and_patched(lambda: torch.mm(a, b))
        x, w = draw(1, 64, 64, dtype=torch.float16), draw(64, 64, dtype=torch.float16, seed=1)
        result["linear 64^3 float16"] = stock_and_patched(lambda: F.linear(x, w))
        result["ops.mm 64^3 float16"] = {"us": round(statistics.median(
            per_call_us(lambda: gemmsmith.ops.mm(w, w), 1000) for _ in range(11)), 3)}
    return result


class Layer(torch.nn.Module):
    """One layer of Llama 3 8B."""

    def __init__(self, hidden=4096, inner=14336, heads=32, kv_heads=8, dtype=torch.bfloat16):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        def linear(outputs, inputs):
            layer = torch.nn.Linear(inputs, outputs, bias=False, device=DEVICE, dtype=dtype)
            torch.nn.init.normal_(layer.weight, std=0.02)
            return layer
        self.q, self.o = linear(hidden, hidden), linear(hidden, hidden)
        self.k, self.v = linear(kv_heads * self.size, hidden), linear(kv_heads * self.size, hidden)
        self.gate, self.up, self.down = linear(inner, hidden), linear(inner, hidden), linear(hidden, inner)
        self.norm1, self.norm2 = (torch.nn.RMSNorm(hidden, device=DEVICE, dtype=dtype) for _ in range(2))

    def forward(self, x, cache=None):
        batch, tokens, _ = x.shape
        h = self.norm1(x)
        q, k, v = (p(h).view(batch, tokens, -1, self.size).transpose(1, 2) for p in (self.q, self.k, self.v))
        if cache is not None:
            cache[0][:, :, :tokens].copy_(k)
            cache[1][:, :, :tokens].copy_(v)
            k, v = cache
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, tokens, -1))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))

    def products(self, x, inner):
        for layer in (self.q, self.k, self.v, self.o, self.gate, self.up):
            layer(x)
        self.down(inner)


def captured(function):
    """A graph of one call, warmed up on the stream that it is captured on. The result of the call, and the graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(2):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        result = function()
    return result, graph


def device_us(run, calls):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / calls * 1e3


def in_turns(variants, rounds=15, calls=20):
    """Medians of alternating rounds, and the median ratio to the first one's: above 1 is faster. "patched" is."""
    times = {name: [] for name in variants}
    for turn in range(rounds + 1):
        for name, run in variants.items():
            with patched_if(name == "patched"):
                took = device_us(run, calls)
            if turn > 0:  # the first one warms up
                times[name].append(took)
    first = next(iter(times.values()))
    return {name: {"us": round(statistics.median(values), 2),
                   "speed_up": round(statistics.median(f / v for f, v in zip(first, values)), 4)}
            for name, values in times.items()}


def promised_if(promise, module):
    return gemmsmith.constant_weights(module) if promise else contextlib.nullcontext()


def compare_graphs(model, functions, products):
    """Graphs of the functions: stock, patched, and with constant weights. The first one's outputs are compared."""
    report = {}
    for what, function in functions.items():
        outputs, replays, ours = {}, {}, 0
        for name in ("stock", "patched", "constant"):
            with patched_if(name != "stock"), promised_if(name == "constant", model):
                (outputs[name], graph), count = counted(lambda: captured(function))
                replays[name] = graph.replay
                ours = max(ours, count // 3)
        for replay in replays.values():
            replay()
        torch.cuda.synchronize()
        if outputs["stock"] is not None:
            stock = outputs["stock"].float()
            error = max((outputs[name].float() - stock).abs().max().item() for name in outputs) / stock.std().item()
            assert error < 0.2, f"outputs differ by {error} standard deviations"
            report["largest difference in standard deviations"] = round(error, 4)
            report["products of ours"] = f"{ours} of {products}"
        report[what] = in_turns(replays)
    return report


@section
def decode():
    """A decode step of four layers of Llama 3 8B (no head) with a cache of 512 tokens, in CUDA graphs."""
    result = {}
    with torch.no_grad():
        layers = torch.nn.ModuleList(Layer() for _ in range(4)).eval()
        for batch in (1, 2, 4, 8, 16, 32, 64):
            x = draw(batch, 1, 4096, dtype=torch.bfloat16)
            inner = draw(batch, 1, 14336, dtype=torch.bfloat16, seed=1)
            caches = [[draw(batch, 8, 512, 128, dtype=torch.bfloat16, seed=i) for i in range(2)] for _ in layers]

            def step():
                y = x
                for layer, cache in zip(layers, caches):
                    y = layer(y, cache)
                return y

            def only_products():
                for layer in layers:
                    layer.products(x, inner)

            result[f"batch {batch}"] = compare_graphs(layers, {"step": step, "products": only_products}, 7 * len(layers))
    return result


@section
def decode_transformers():
    """A whole decode step of LlamaForCausalLM in transformers: four layers and the head of Llama 3 8B, in CUDA graphs."""
    from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

    config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=4, num_attention_heads=32,
                         num_key_value_heads=8, vocab_size=128256, max_position_embeddings=2048, dtype=torch.bfloat16)
    with torch.device(DEVICE):
        model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
    context, room, result = 512, 1024, {}
    with torch.no_grad():
        for batch in (1, 8, 32, 64):
            cache = StaticCache(config=config, max_cache_len=room)
            model(input_ids=torch.randint(0, 128256, (batch, context), device=DEVICE), past_key_values=cache, use_cache=True)
            token = torch.randint(0, 128256, (batch, 1), device=DEVICE)
            position = torch.full((batch, 1), context, device=DEVICE)
            mask = (torch.arange(room, device=DEVICE) <= context).expand(batch, 1, 1, room)

            def step():
                logits = model(input_ids=token, past_key_values=cache, position_ids=position, attention_mask=mask,
                               use_cache=True).logits
                for layer in cache.layers:  # the same step again and again
                    layer.cumulative_length.sub_(1)
                return logits

            result[f"batch {batch}"] = compare_graphs(model, {"step": step}, 7 * 4 + 1)
    return result


@section
def decode_compiled():
    """The decode step of the section `decode` by torch.compile with max-autotune, batch 16."""
    result = {}
    with torch.no_grad():
        layers = torch.nn.ModuleList(Layer() for _ in range(4)).eval()
        x = draw(16, 1, 4096, dtype=torch.bfloat16)
        caches = [[draw(16, 8, 512, 128, dtype=torch.bfloat16, seed=i) for i in range(2)] for _ in layers]

        def step():
            y = x
            for layer, cache in zip(layers, caches):
                y = layer(y, cache)
            return y

        steps = {}
        for name in ("stock", "patched", "constant"):
            with patched_if(name != "stock"), promised_if(name == "constant", layers):
                torch._dynamo.reset()
                compiled_step = torch.compile(step, mode="max-autotune-no-cudagraphs")
                (_, graph), count = counted(lambda: captured(compiled_step))
                steps[name] = graph.replay
                result[f"products of ours, {name}"] = count // 3
        result["step"] = in_turns(steps)
    return result


@section
def training():
    """Forward, backward and AdamW of one layer of Llama 3 8B, eager, 2 x 2048 tokens."""
    layer = Layer()
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-4, fused=True)
    x = draw(2, 2048, 4096, dtype=torch.bfloat16)
    weights = {name: p.detach().clone() for name, p in layer.named_parameters()}

    def step():
        loss = layer(x).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    losses = {}
    for patch in (False, True):
        with torch.no_grad():
            for name, p in layer.named_parameters():
                p.copy_(weights[name])
        optimizer.state.clear()
        with patched_if(patch):
            losses["patched" if patch else "stock"] = [step().item() for _ in range(5)]
    for stock, patched in zip(losses["stock"], losses["patched"]):
        assert abs(stock - patched) < 0.01 * abs(stock), losses

    with gemmsmith.patched():
        _, count = counted(step)
    return {"losses": losses, "products of ours": f"{count} of 21",
            "step": in_turns({"stock": step, "patched": step}, rounds=9, calls=5)}


def main():
    names = sys.argv[1:] or list(SECTIONS)
    if names == ["--list"]:
        print("\n".join(SECTIONS))
        return 0
    report = {}
    for name in names:
        start = time.perf_counter()
        try:
            report[name] = {"ok": True, **SECTIONS[name]()}
        except Exception as error:  # noqa: BLE001: the other sections are wanted all the same
            report[name] = {"ok": False, "error": f"{type(error).__name__}: {error}"[:2000]}
            traceback.print_exc()
        gemmsmith.unpatch()
        report[name]["seconds"] = round(time.perf_counter() - start, 1)
        print(f"{name}: {'ok' if report[name]['ok'] else 'FAILED'} in {report[name]['seconds']} s", file=sys.stderr)
    print(json.dumps(report, indent=1))
    return 0 if all(r["ok"] for r in report.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
