"""Runs programs of this folder alone and with the preload library, and compares outputs and times.

    python with_and_without.py PRELOAD llama.py [ARGS...]     prints one JSON object

PRELOAD is build/release/lib/libgemmsmith_preload.so; kernels lie beside it, or where $GEMMSMITH_KERNELS says.
PROGRAM.shapes becomes the record; $RECORDS names its folder [the current one].
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy


def run(words, save, variables, timeout=500):
    done = subprocess.run(words + ["--save", save], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **variables})
    lines = done.stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1])
    except (IndexError, ValueError):
        answer = None
    summary = [line for line in done.stderr.splitlines() if line.startswith("gemmsmith:")]
    return {"exit": done.returncode, "answer": answer, "summary": summary,
            "error": "" if answer else done.stderr[-1500:]}


def difference(first, second):
    """Largest and mean difference over the largest value, a name at a time; NaN where only one has it."""
    a, b = numpy.load(first), numpy.load(second)
    result = {}
    for name in sorted(set(a.files) | set(b.files)):
        if name not in a.files or name not in b.files:
            result[name] = float("nan")
            continue
        apart, scale = numpy.abs(a[name] - b[name]), float(numpy.abs(a[name]).max())
        result[name] = {"largest": float(apart.max()) / scale, "mean": float(apart.mean()) / scale,
                        "equal_bits": bool((a[name] == b[name]).all())}
    return result


def main():
    preload, program, arguments = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    if not program.exists():
        program = pathlib.Path(__file__).parent / program
    record = pathlib.Path(os.environ.get("RECORDS", ".")) / (program.stem + ".shapes")
    plain = [sys.executable, str(program), *arguments]
    record.unlink(missing_ok=True)
    preloaded = {"LD_PRELOAD": preload, "GEMMSMITH_LOG": "summary", "GEMMSMITH_RECORD": str(record.absolute())}
    ways = {"without": {}, "without_again": {}, "with": preloaded}
    with tempfile.TemporaryDirectory() as folder:
        saved = {name: os.path.join(folder, name + ".npz") for name in ways}
        report = {name: run(plain, saved[name], variables) for name, variables in ways.items()}
        compare = lambda one, other: (difference(saved[one], saved[other])
                                      if os.path.exists(saved[one]) and os.path.exists(saved[other]) else None)
        report["difference"] = compare("without", "with")
        report["difference_of_two_without"] = compare("without", "without_again")
    first, last = report["without_again"]["answer"], report["with"]["answer"]
    unit = next((unit for unit in ("milliseconds", "microseconds") if first and unit in first), None)
    if unit and last:
        report["speed_up"] = {name: first[unit][name] / last[unit][name] for name in first[unit]
                              if isinstance(first[unit][name], float) and isinstance(last[unit].get(name), float)}
    report["record"] = record.read_text().splitlines() if record.exists() else []
    print(json.dumps(report, indent=1))
    return 0 if report["with"]["exit"] == 0 and last else 1


if __name__ == "__main__":
    sys.exit(main())
