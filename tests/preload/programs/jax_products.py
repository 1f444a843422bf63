"""Products of bf16 matrices in JAX, which reaches cuBLASLt by dlsym alone. It knows nothing of gemmsmith.

    python jax_products.py [--save FILE.npz]     prints one JSON object; FILE gets the products
"""
import argparse
import json
import os
import statistics
import time

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_enable_triton_gemm=false"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy
import numpy


def microseconds(work, calls=50):
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        work().block_until_ready()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save")
    options = parser.parse_args()
    draw = lambda seed, *shape: jax.random.uniform(jax.random.key(seed), shape, jax.numpy.bfloat16, -0.5, 0.5)
    product = jax.jit(lambda a, b: a @ b)
    with_transposed = jax.jit(lambda a, b: a @ b.T)
    times, outputs = {}, {}
    for m, n, k in ((64, 64, 4096), (16, 4096, 4096), (256, 512, 4096), (2048, 4096, 4096)):
        for name, work, right in (("nn", product, draw(2, k, n)), ("tn", with_transposed, draw(2, n, k))):
            left = draw(1, m, k)
            outputs[f"{m}x{n}x{k} {name}"] = work(left, right)
            work(left, right).block_until_ready()
            times[f"{m}x{n}x{k} {name}"] = microseconds(lambda: work(left, right))
    if options.save:
        numpy.savez(options.save, **{name: numpy.asarray(value, numpy.float32) for name, value in outputs.items()})
    print(json.dumps({"program": "jax", "jax": jax.__version__, "microseconds": times}))


if __name__ == "__main__":
    main()
