#!/usr/bin/env python3
"""Makes the tables of docs/lab/peer.md from what on_gpu.sh left.

    table.py RESULTS PUBLISHED    RESULTS: census.csv, recorded.tsv, peer.jsonl; PUBLISHED: the peer's eval_results

Writes RESULTS/peer.csv, a row a file of the sample, and prints Markdown. The sample is the beginning of the census up to
the last file that was judged on the GPU.
"""
import collections
import csv
import json
import math
import pathlib
import sys

CLASSES = ["tiny", "large", "splitk", "store", "skinny", "mid", "upper"]
CLOCKS = ["device_cold", "offline", "server"]
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
    return f"recorded, then {outcome['kind']} ({outcome['verdict']['test'] or outcome['stage']})"


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


def times_of(trial, ours, name, published):
    """The columns of a file that passed."""
    columns, entry = {}, ours.get(trial["problem"])
    for clock in CLOCKS:
        columns[f"{clock}_ns"] = our_time(trial["outcome"], clock)
        columns[f"{clock}_over_auto_tuning"] = ratio_to_auto_tuning(trial["outcome"], clock)
        if entry is not None:
            columns[f"ours_{clock}_ns"] = our_time(entry, clock)
            columns[f"ours_{clock}_over_auto_tuning"] = ratio_to_auto_tuning(entry, clock)
        if clock in published:
            columns[f"published_{clock}"] = published[clock].get(name)
    return columns


def read_rows(results, published):
    with open(results / "census.csv", newline="") as file:
        census = list(csv.DictReader(file))
    answers = {}
    for line in (results / "recorded.tsv").read_text().splitlines():
        name, seconds, answer = line.split("\t", 2)
        answers[name] = (seconds, answer)
    peer, ours = read_trials(results / "peer.jsonl")
    last = max(i for i, row in enumerate(census) if row["file"] in peer)
    for row in census[: last + 1]:
        name = row["file"]
        row["build_seconds"], row["answer"] = answers.get(name, ("", ""))
        trial = peer.get(name)
        if row["answer"] == "recorded" and trial is None:
            continue  # cut off in its race
        row["reason"] = trial["outcome"]["reason"] if trial else row["answer"]
        row["fate"] = fate(row, row["answer"], trial and trial["outcome"])
        if row["fate"] == PASSED:
            row.update(times_of(trial, ours, name, published))
        yield row


def mean(ratios):
    ratios = [ratio for ratio in ratios if ratio]
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}" if ratios else ""


def over_ours(row, clock):
    time, entry = row.get(f"{clock}_ns"), row.get(f"ours_{clock}_ns")
    return entry / time if time and entry else None


def print_fates(census_size, rows):
    fates = collections.Counter(row["fate"] for row in rows)
    print(f"| of {len(rows)} files, a stratified sample of {census_size} | files | % |\n|---|---|---|")
    for name, count in fates.most_common():
        print(f"| {name} | {count} | {100 * count / len(rows):.0f} |")


def print_times(passed):
    print("\n| class | files |" + "".join(f" {c}: peer | ours | peer over ours |" for c in CLOCKS))
    print("|---|---|" + "---|" * (3 * len(CLOCKS)))
    for name in CLASSES + ["all"]:
        rows = [row for row in passed if name in ("all", row["class"])]
        cells = [name, str(len(rows))]
        for clock in CLOCKS:
            cells.append(mean(row.get(f"{clock}_over_auto_tuning") for row in rows))
            cells.append(mean(row.get(f"ours_{clock}_over_auto_tuning") for row in rows))
            cells.append(mean(over_ours(row, clock) for row in rows))
        print("| " + " | ".join(cells) + " |")


def print_claims(passed):
    print("\n| over AutoTuning, the same files | published | measured | faster than AutoTuning | faster than ours |")
    print("|---|---|---|---|---|")
    for clock in CLOCKS:
        measured = [row[f"{clock}_over_auto_tuning"] for row in passed if row.get(f"{clock}_over_auto_tuning")]
        against = [ratio for row in passed if (ratio := over_ours(row, clock))]
        print(f"| {clock} | {mean(row.get(f'published_{clock}') for row in passed)} | {mean(measured)} | "
              f"{sum(r > 1 for r in measured)} of {len(measured)} | {sum(r > 1 for r in against)} of {len(against)} |")


def main(results, eval_results):
    published = {mode: read_published(eval_results, mode) for mode in ("offline", "server")}
    rows = list(read_rows(results, published))
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(results / "peer.csv", "w", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    with open(results / "census.csv", newline="") as file:
        print_fates(sum(1 for _ in csv.DictReader(file)), rows)
    passed = [row for row in rows if row["fate"] == PASSED]
    print_times(passed)
    print_claims(passed)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
