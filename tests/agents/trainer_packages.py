#!/usr/bin/env python3
"""Drives `gemmsmith serve` with the trainers' own packages, without a GPU: trainer_packages.py PROGRAM [PACKAGE...].

$GEMMSMITH_TRAINER_PYTHONS names Pythons, separated by ":"; the first that has a package drives it. One line a package.
Exits with 77 where none is installed. `service` is no package, but the module that the files in trainers/ share.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TRAINERS = Path(__file__).resolve().parents[2] / "trainers"
PACKAGES = {"service": None, "verl": "verl", "trl": "trl", "verifiers": "verifiers", "openrlhf": "openrlhf",
            "nemo_gym": "nemo-gym", "openenv": "openenv"}  # and their names on PyPI


def python_with(distribution):
    """The first Python that has the package, and its version."""
    code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    for python in os.environ.get("GEMMSMITH_TRAINER_PYTHONS", sys.executable).split(":"):
        found = subprocess.run([python, "-c", code, distribution], capture_output=True, text=True)
        if found.returncode == 0:
            return python, found.stdout.strip()
    return None, None


def drive(package, service, python):
    """Why it failed; nothing where it passed."""
    script = Path(__file__).with_name("trainer_drives.py")
    child = subprocess.run([python, "-B", script, package, service], capture_output=True, text=True,
                           env=dict(os.environ, PYTHONPATH=str(TRAINERS)))
    if child.returncode == 0:
        return ""
    sys.stderr.write(child.stdout + child.stderr)
    return (child.stderr.strip().splitlines() or ["no message"])[-1]


def main(program, packages):
    pythons = {package: python_with(PACKAGES[package]) if PACKAGES[package] else (sys.executable, "")
               for package in packages or PACKAGES}
    if not any(python for python, _ in pythons.values()):
        print(f"no package of a trainer is installed: python3 -m pip install {' '.join(map(PACKAGES.get, pythons))}")
        return 77
    failures = 0
    with tempfile.TemporaryDirectory() as home:
        server = subprocess.Popen([program, "serve", "--port", "0", "--device", "h200"], stdout=subprocess.PIPE,
                                  text=True, env=dict(os.environ, GEMMSMITH_HOME=home))
        try:
            service = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]
            for package, (python, version) in pythons.items():
                reason = drive(package, service, python) if python else ""
                failures += bool(reason)
                state = f"failed: {reason}" if reason else "passed" if python else "skipped: not installed"
                print(f"{package} {version or ''}".strip() + f": {state}", flush=True)
        finally:
            server.kill()
            server.wait()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
