"""Products of f16 matrices in CuPy, single and batched. It knows nothing of gemmsmith.

    python cupy_products.py [--save FILE.npz]     prints one JSON object; FILE gets the products
"""
import argparse
import json
import statistics

import cupy
import numpy


def microseconds(work, calls=50):
    times = []
    for _ in range(calls):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) * 1000)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save")
    options = parser.parse_args()
    random = cupy.random.RandomState(1)
    draw = lambda *shape: (random.random_sample(shape) - 0.5).astype(cupy.float16)
    times, outputs = {}, {}
    for m, n, k in ((64, 64, 4096), (16, 4096, 4096), (256, 512, 4096), (2048, 4096, 4096), (1000, 1000, 1000)):
        a, b, transposed = draw(m, k), draw(k, n), draw(n, k).T
        for name, right in (("nn", b), ("tn", transposed)):
            work = lambda: cupy.matmul(a, right)
            outputs[f"{m}x{n}x{k} {name}"] = work()
            work()
            times[f"{m}x{n}x{k} {name}"] = microseconds(work)
    a, b = draw(8, 256, 512), draw(8, 512, 256)
    outputs["batch"] = cupy.matmul(a, b)
    times["batch"] = microseconds(lambda: cupy.matmul(a, b))
    if options.save:
        numpy.savez(options.save, **{name: cupy.asnumpy(value).astype(numpy.float32) for name, value in outputs.items()})
    print(json.dumps({"program": "cupy", "cupy": cupy.__version__, "microseconds": times}))


if __name__ == "__main__":
    main()
