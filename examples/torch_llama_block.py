"""One layer of Llama 3 8B with random bf16 weights, before and after gemmsmith.patch(): prefill and decode.

    python examples/torch_llama_block.py [PLOT.svg]

Prints microseconds a call: medians of alternating rounds. Decode runs in CUDA graphs.
"""

import contextlib
import statistics
import sys

try:
    import torch
    import torch.nn.functional as F

    import gemmsmith
except ImportError as error:
    print(f"missing here: {error.name}")
    sys.exit(77)

HIDDEN, INNER, HEADS, KV_HEADS, CONTEXT = 4096, 14336, 32, 8, 1024
SIZE = HIDDEN // HEADS
VARIANTS = ("stock", "patched", "constant weights")


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        sizes = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, KV_HEADS * SIZE), "v": (HIDDEN, KV_HEADS * SIZE), "o": (HIDDEN, HIDDEN),
                 "gate": (HIDDEN, INNER), "up": (HIDDEN, INNER), "down": (INNER, HIDDEN)}
        for name, (inputs, outputs) in sizes.items():
            setattr(self, name, torch.nn.Linear(inputs, outputs, bias=False))
        self.norm1, self.norm2 = torch.nn.RMSNorm(HIDDEN), torch.nn.RMSNorm(HIDDEN)

    def forward(self, x, cache=None):
        batch, tokens, _ = x.shape
        h = self.norm1(x)
        q, k, v = (p(h).view(batch, tokens, -1, SIZE).transpose(1, 2) for p in (self.q, self.k, self.v))
        if cache is not None:  # the newest token takes the last place
            cache[0][:, :, -1:] = k
            cache[1][:, :, -1:] = v
            k, v = cache
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, tokens, HIDDEN))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def captured(function):
    """The call as a CUDA graph. Products are known to gemmsmith before the capture: these are called twice."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        function(), function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        function()
    return graph.replay


@contextlib.contextmanager
def variant(name, layer):
    with contextlib.ExitStack() as stack:
        if name != "stock":
            stack.enter_context(gemmsmith.patched())
        if name == "constant weights":
            stack.enter_context(gemmsmith.constant_weights(layer))
        yield


def microseconds(run, calls):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / calls * 1000


def measure(layer, runs, rounds=15, calls=20):
    times = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            with variant(name, layer):
                took = microseconds(run, calls)
            if turn > 0:  # the first round warms up
                times[name].append(took)
    return [statistics.median(times[name]) for name in runs]


def plot(rows, path):
    """Speed-ups against stock as bars."""
    bars = []
    for i, (label, times) in enumerate(rows):
        bars.append(f'<text x="10" y="{i * 50 + 28}">{label}</text>')
        for j, time in enumerate(times):
            width, color = times[0] / time * 300, ("#999", "#4a7", "#27c")[j]
            bars.append(f'<rect x="150" y="{i * 50 + 6 + j * 12}" width="{width:.0f}" height="11" fill="{color}"/>'
                        f'<text x="{155 + width:.0f}" y="{i * 50 + 15 + j * 12}">{times[0] / time:.2f} {VARIANTS[j]}</text>')
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{len(rows) * 50}" font-family="sans-serif" '
                   f'font-size="10">{"".join(bars)}</svg>\n')


def main():
    if not torch.cuda.is_available():
        print("missing here: a GPU for torch")
        return 77
    torch.manual_seed(0)
    layer = Layer().to("cuda", torch.bfloat16).eval()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, gemmsmith {gemmsmith.__version__}: us a call")
    print(f"{'':16}" + "".join(f"{name:>18}" for name in VARIANTS))
    rows = []
    with torch.no_grad():
        for batch, tokens in ((1, 2048), (1, 1), (8, 1), (16, 1), (32, 1), (64, 1)):
            x = torch.randn(batch, tokens, HIDDEN, device="cuda", dtype=torch.bfloat16)
            cache = [torch.randn(batch, KV_HEADS, CONTEXT, SIZE, device="cuda", dtype=x.dtype) for _ in range(2)]
            runs = {}
            for name in VARIANTS:
                with variant(name, layer):
                    runs[name] = captured(lambda: layer(x, cache)) if tokens == 1 else lambda: layer(x)
            rows.append((f"decode x {batch}" if tokens == 1 else f"prefill {tokens}", measure(layer, runs)))
            print(f"{rows[-1][0]:16}" + "".join(f"{time:18.1f}" for time in rows[-1][1]))
    if len(sys.argv) > 1:
        plot(rows, sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
