"""A Llama-shaped model: layers of the 8B size with random weights, bf16. Prefill of 2048 tokens, then decoding at several
batch sizes, eager and as a CUDA graph. It knows nothing of gemmsmith.

    python llama.py [--layers 4] [--save FILE.npz]     prints one JSON object; FILE gets the logits
"""
import argparse
import json
import statistics

import numpy
import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache


def model_of(layers):
    torch.manual_seed(1)
    config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_attention_heads=32, num_key_value_heads=8,
                         num_hidden_layers=layers, vocab_size=128256, max_position_embeddings=8192)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
    return model


def milliseconds(work, calls):
    times = []
    for _ in range(calls):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def decoder_of(model, batch, cache_kind, context=512):
    """One token for each sequence, as a call that can be captured. Without a cache the products are the same."""
    tokens = torch.randint(0, 128256, (batch, 1), device="cuda", generator=generator(batch))
    if cache_kind == "none":
        return lambda: model(tokens, use_cache=False).logits
    cache = StaticCache(config=model.config, max_cache_len=context)
    prompt = torch.randint(0, 128256, (batch, 16), device="cuda", generator=generator(batch))
    model(prompt, past_key_values=cache, cache_position=torch.arange(16, device="cuda"))
    place = torch.tensor([16], device="cuda")
    return lambda: model(tokens, past_key_values=cache, cache_position=place).logits


def generator(seed):
    return torch.Generator(device="cuda").manual_seed(seed)


def captured(work):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = work()
    return graph, output


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--save")
    options = parser.parse_args()
    model = model_of(options.layers)
    times, outputs = {}, {}

    prompt = torch.randint(0, 128256, (1, 2048), device="cuda", generator=generator(7))
    prefill = lambda: model(prompt, use_cache=False, logits_to_keep=16).logits
    outputs["prefill"] = prefill()
    prefill()
    times["prefill 2048"] = milliseconds(prefill, options.calls)

    failures = []
    for batch in (1, 8, 32, 64):
        for cache_kind in ("static", "none"):  # another version of transformers may have no such cache
            try:
                decode = decoder_of(model, batch, cache_kind)
                outputs[f"decode {batch}"] = decode().clone()
                decode()
                times[f"decode {batch} eager"] = milliseconds(decode, options.calls)
                graph, output = captured(decode)
                graph.replay()
                outputs[f"decode {batch} graph"] = output
                times[f"decode {batch} graph"] = milliseconds(graph.replay, options.calls)
                break
            except Exception as error:
                failures.append(f"decode {batch}, cache {cache_kind}: {type(error).__name__}: {error}"[:300])

    if options.save:
        numpy.savez(options.save, **{name: value.float().cpu().numpy() for name, value in outputs.items()})
    print(json.dumps({"program": "llama", "layers": options.layers, "torch": torch.__version__, "milliseconds": times,
                      "failures": failures}))


if __name__ == "__main__":
    main()
