#!/usr/bin/env python3
"""Turns released files of CUDA-L2 into sources of our contract, by the rule in README.md.

    adapt.py KERNELS OUT [SEED]    KERNELS/M_N_K.cu -> OUT/M_N_K.cu

OUT/census.csv says what each text does. Its lines are in a seeded order, of which each beginning is a stratified sample.
"""
import csv
import pathlib
import random
import re
import sys

# What a text does that a recipe cannot hold, or that only its recording can decide. The first that matches counts.
TRAITS = [
    ("events", r"\bcudaEventElapsedTime\b"),
    ("graph", r"\bcudaGraphLaunch\b"),
    ("window", r"\bcudaStreamSetAttribute\b|\bcudaDeviceSetLimit\b"),
    ("torch_memory", r"\btorch::(empty|zeros|ones)\b"),
    ("cuda_memory", r"\bcudaMalloc(Async)?\s*\("),
    ("f16_sums", r"wmma::accumulator,[^>]*,\s*(__)?half\s*>|_F16F16F16F16|\bElementAcc\w*\s*=\s*(cutlass::half_t|(__)?half)\b"),
    ("cutlass_memory", r"\bdevice_memory::allocation\b"),
]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def shape_class(m, n, k):
    """As Classify() in src/problem/grids.cc."""
    shorter, longer = sorted((m, n))
    if m * n * k < 2**26:
        return "tiny"
    if m * n * k > 2**34 and shorter > 256 and k > 256:
        return "large"
    if m * n <= 2**18 and k >= 1024:
        return "splitk"
    if k <= 256 and m * n >= 2**22:
        return "store"
    if shorter <= 256 and longer >= 4096 and k >= 4096:
        return "skinny"
    return "mid" if m * n * k <= 2**32 else "upper"


def layout(text):
    """The order of B that the text takes an address of; tn where it takes both."""
    return "nn" if "b.data_ptr" in text and "b_col_major.data_ptr" not in text else "tn"


def is_padded(text, shape):
    """Whether the peer's own harness hands over larger matrices (extract_bm_bk_bn in its tools/utils.py)."""
    tile = {}
    for line in text.split("\n"):
        if found := re.search(r"(BM|BN|BK)\s*=\s*Int<(\d+)>", line.replace(" ", "")):
            tile[found[1]] = int(found[2])
    return len(tile) == 3 and any(size % tile[name] for size, name in zip(shape, ("BM", "BN", "BK")))


def traits(text, shape):
    found = ["padded"] if is_padded(text, shape) else []
    code = without_comments(text)
    return found + [name for name, pattern in TRAITS if re.search(pattern, code)]


def adapted(name, text, shape):
    """The text is the file's own but for its includes of torch, which become empty lines."""
    here = pathlib.Path(__file__).parent
    kept = re.sub(r"^[ \t]*#[ \t]*include[ \t]*<(torch|ATen|c10)/[^\n]*$", "", text, flags=re.M)
    constants = [f'#define PEER_LAYOUT "{layout(without_comments(text))}"']
    constants += [f"#define PEER_{letter} {size}" for letter, size in zip("MNK", shape)]
    return "\n".join([(here / "shim.h").read_text(), f'#line 1 "{name}"', kept, '#line 1 "entry.h"',
                      *constants, (here / "entry.h").read_text()])


def stratified(names, class_of, seed):
    """Shuffled, with every class spread evenly over the list."""
    places, classes = {}, {}
    for name in names:
        classes.setdefault(class_of(name), []).append(name)
    for of_class in classes.values():
        random.Random(seed).shuffle(of_class)
        places.update({name: (i + 0.5) / len(of_class) for i, name in enumerate(of_class)})
    return sorted(names, key=lambda name: places[name])


def main(kernels, out, seed):
    out.mkdir(parents=True, exist_ok=True)
    rows = {}
    for path in sorted(kernels.glob("*_*_*.cu")):
        text, shape = path.read_text(), tuple(map(int, path.stem.split("_")))
        (out / path.name).write_text(adapted(path.name, text, shape))
        rows[path.stem] = [path.stem, shape_class(*shape), layout(without_comments(text)), " ".join(traits(text, shape))]
    with open(out / "census.csv", "w", newline="") as file:
        census = csv.writer(file, lineterminator="\n")
        census.writerow(["file", "class", "layout", "traits"])
        census.writerows(rows[name] for name in stratified(list(rows), lambda name: rows[name][1], seed))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int((sys.argv[3:] or ["1"])[0]))
