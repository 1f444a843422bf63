#!/usr/bin/env python3
"""Makes the tables of docs/lab/peer.md from what on_gpu.sh left.

    table.py RESULTS PUBLISHED    RESULTS/census.csv, recorded.tsv, peer.jsonl; the peer's eval_results -> RESULTS/peer.csv
    table.py PEER.csv             prints it as Markdown

PEER.csv has a row a file of the sample: the beginning of the census up to the last file that was judged on the GPU.
"""
import collections
import csv
import json
import math
import pathlib
import re
import sys

CLASSES = ["tiny", "large", "splitk", "store", "skinny", "mid", "upper"]
CLOCKS = ["device_cold", "offline", "server"]
PUBLISHED = ["offline", "server"]
BY_TEXT = {
    "padded": "its harness hands over padded matrices",
    "events": "times its kernels in the call",
    "graph": "launches a graph",
    "window": "sets an L2 window or a device limit",
    "torch_memory": "allocates a tensor in the call",
}
# Words of an answer, and the fate they stand for.
BY_ANSWER = [
    ("accumulate in f16", "sums in f16"),
    ("driver's cudaMalloc", "allocates memory in the call"),
    ("driver's second stream", "uses several streams"),
    ("at screening", "machine code that is refused"),
    ("at recording", "does not record"),
    ("contract has no", "calls what the contract lacks"),
    ("stopped after", "does not build in 120 s"),
    ("compile_failed", "does not build"),
]
PASSED = "passed"


def fate(row, answer, outcome):
    for trait in row["traits"].split():
        if trait in BY_TEXT:
            return BY_TEXT[trait]
    if answer != "recorded":
        return next((words for part, words in BY_ANSWER if part in answer), answer)
    if outcome["kind"] == "measured":
        return PASSED
    test = re.match(r"test (\w+):", outcome["reason"])
    return f"{outcome['kind']} in the test {test[1]}" if test else outcome["kind"]


def our_time(outcome, clock):
    return next((t["median_ns"] for t in outcome["timings"] if t["contender"] == "ours" and t["clock"] == clock), None)


def ratio_to_auto_tuning(outcome, clock):
    """Of the paired samples, against the faster of AutoTuning's nn and tn."""
    times = {t["contender"]: t["median_ns"] for t in outcome["timings"]
             if t["clock"] == clock and t["contender"].startswith("lt_auto")}
    ratios = {c["baseline"]: c["median"] for c in outcome["comparisons"] if c["clock"] == clock}
    fastest = min(times, key=times.get, default=None)
    return ratios.get(fastest)


def read_published(folder, mode):
    path = next(folder.glob(f"*h100_F32F16F16F32_speedup_{mode}.csv"))
    with open(path, newline="") as file:
        return {row["mnk"]: float(row["cuBLASLt-auto-tuning-max"]) for row in csv.DictReader(file)}


def read_trials(path):
    """By file; and ours by problem."""
    peer, ours = {}, {}
    for line in path.read_text().splitlines():
        trial = json.loads(line)
        if trial["plan"].startswith("source "):
            peer[trial["plan"].split()[1].removesuffix(".cu")] = trial
        elif trial["outcome"]["kind"] == "measured":
            ours[trial["problem"]] = trial["outcome"]
    return peer, ours


def times_of(trial, ours):
    """The columns of a file that passed."""
    columns, entry = {}, ours.get(trial["problem"])
    for clock in CLOCKS:
        columns[f"{clock}_ns"] = our_time(trial["outcome"], clock)
        columns[f"{clock}_over_auto_tuning"] = ratio_to_auto_tuning(trial["outcome"], clock)
        if entry is not None:
            columns[f"ours_{clock}_ns"] = our_time(entry, clock)
            columns[f"ours_{clock}_over_auto_tuning"] = ratio_to_auto_tuning(entry, clock)
    return columns


def read_rows(results, published):
    with open(results / "census.csv", newline="") as file:
        census = list(csv.DictReader(file))
    answers = {}
    for line in (results / "recorded.tsv").read_text().splitlines():
        name, _, answer = line.split("\t", 2)
        answers[name] = answer
    peer, ours = read_trials(results / "peer.jsonl")
    last = max(i for i, row in enumerate(census) if row["file"] in peer)
    for row in census[: last + 1]:
        name = row["file"]
        answer, trial = answers.get(name, ""), peer.get(name)
        if answer == "recorded" and trial is None:
            continue  # cut off in its race
        row["fate"] = fate(row, answer, trial and trial["outcome"])
        row["reason"] = trial["outcome"]["reason"] if trial else answer
        row.update({f"published_{mode}": published[mode][name] for mode in PUBLISHED})
        if row["fate"] == PASSED:
            row.update(times_of(trial, ours))
        yield row


def write(rows, path):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({name: f"{x:.6g}" if isinstance(x, float) else x for name, x in row.items()})


def read(path):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            numbers = {c: float(x) for c, x in row.items() if x and c.startswith((*CLOCKS, "ours_", "published_"))}
            yield {"class": row["class"], "fate": row["fate"], **numbers}


def values(rows, column):
    return [row[column] for row in rows if column in row]


def mean(ratios):
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}" if ratios else ""


def over_ours(rows, clock):
    return [row[f"ours_{clock}_ns"] / row[f"{clock}_ns"] for row in rows if f"ours_{clock}_ns" in row]


def print_table(header, table):
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for cells in table:
        print(f"| {' | '.join(cells)} |")
    print()


def print_fates(rows):
    table = []
    for name, count in collections.Counter(row["fate"] for row in rows).most_common():
        alike = [row for row in rows if row["fate"] == name]
        table.append([name, str(count), *(mean(values(alike, f"published_{mode}")) for mode in PUBLISHED)])
    print_table(["fate", f"of {len(rows)} files", *(f"published, {mode}" for mode in PUBLISHED)], table)


def print_classes(passed):
    columns = {}
    for clock in CLOCKS:
        if clock in PUBLISHED:
            columns[f"{clock}: published"] = f"published_{clock}"
        columns[f"{clock}: theirs"] = f"{clock}_over_auto_tuning"
        columns[f"{clock}: ours"] = f"ours_{clock}_over_auto_tuning"
    table = []
    for name in CLASSES + ["all"]:
        rows = [row for row in passed if name in ("all", row["class"])]
        table.append([name, str(len(rows)), *(mean(values(rows, column)) for column in columns.values())])
    print_table(["class", "files", *columns], table)


def wins(ratios):
    return f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}"


def print_wins(passed):
    table = [[clock, wins(values(passed, f"{clock}_over_auto_tuning")), wins(over_ours(passed, clock)),
              mean(over_ours(passed, clock))] for clock in CLOCKS]
    print_table(["clock", "faster than AutoTuning", "faster than ours", "our time over theirs"], table)


def main(path, eval_results=None):
    if eval_results:
        published = {mode: read_published(eval_results, mode) for mode in PUBLISHED}
        return write(list(read_rows(path, published)), path / "peer.csv")
    rows = list(read(path))
    passed = [row for row in rows if row["fate"] == PASSED]
    print_fates(rows)
    print_classes(passed)
    print_wins(passed)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
