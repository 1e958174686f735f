#!/usr/bin/env python3
"""Compares the benchmark programs in NESL with the same programs in NumPy, Numba, JAX and Rust.

    python3 bench/run.py                    everything, at full size
    python3 bench/run.py --scale 0.001      a smoke test
    python3 bench/run.py --only dot,sort --peers numpy,rust --reps 9

README.md in this folder describes what is measured and how.
"""

import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import processes
from processes import HERE, Nesl, Trouble
from programs import PROGRAMS

PEERS = ("numpy", "numba", "jax", "rust")

# Seconds of pause between two measurements. The threads of several libraries keep spinning after their
# work (those of OpenBLAS for about 30 ms) and would occupy some of the cores during the next measurement.
REST = 0.08

# Disturbances affect short programs most, so these are repeated for this many seconds, but at most eight
# times as often as asked for.
SHORT = 8


def main():
    asked = arguments()
    peers = [name for name in PEERS if name in asked.peers.split(",")]
    if asked.against:
        asked.against = os.path.abspath(asked.against)
        peers.append("before")
    chosen = [p for p in PROGRAMS if any(word in p.name for word in asked.only.split(","))]
    if not chosen:
        sys.exit(f"run.py: nothing is called `{asked.only}`; there are "
                 + ", ".join(p.name for p in PROGRAMS))
    nesl = os.path.abspath(asked.nesl) if asked.nesl else build_nesl()
    build_rust()
    memory = Memory()
    print(f"{machine()['processor']}, {os.cpu_count()} cores, memory {memory}\n")
    heading(peers)
    rows = []
    for program in chosen:
        memory.measure()
        row = measure(program, asked, peers, nesl, memory)
        rows.append(row)
        show(row, peers)
    memory.close()
    save(asked, rows, memory)
    return 1 if any(row.get("trouble") or row.get("disagree") for row in rows) else 0


def arguments():
    parser = argparse.ArgumentParser(
        description="Compares the benchmark programs in NESL with the same programs in NumPy, Numba, JAX and Rust.")
    parser.add_argument("--only", default="", metavar="NAME,…", help="programs whose names contain one of these")
    parser.add_argument("--scale", type=float, default=1.0, metavar="F", help="multiply every problem size by F [1]")
    parser.add_argument("--peers", default=",".join(PEERS), metavar="NAME,…", help=f"the alternatives to compare with: {', '.join(PEERS)} [all]")
    parser.add_argument("--reps", type=int, default=5, metavar="N", help="repetitions of each measurement [5]")
    parser.add_argument("--patience", type=float, default=120, metavar="S", help="seconds to wait for an answer [120]")
    parser.add_argument("--nesl", metavar="FILE", help="the nesl executable [built by cargo]")
    parser.add_argument("--against", metavar="FILE",
                        help="another nesl executable, measured alternately with the first as the peer `before`")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file for the results [bench/results/DATE.json]")
    return parser.parse_args()


def measure(program, asked, peers, nesl, memory):
    """Measures a program with all peers and returns its row of the table."""
    parameters = program.at(asked.scale) | {"precision": program.precision}
    row = {"program": program.name, "parameters": dict(parameters), "papers": program.papers}
    needed, free = 5 * program.memory(parameters) * (len(peers) + 1), available()
    if needed > 0.8 * free:
        row["trouble"] = f"does not fit: needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} are free"
        return row
    if "bytes" in parameters:
        parameters["file"] = str(write_text(parameters["bytes"]))
    opened, running = [], {}
    try:
        for peer in peers:
            if (process := open_peer(peer, program, parameters, asked)) is not None:
                opened.append(process)
                running[peer] = process
        session = Nesl(nesl, program.precision, asked.patience)
        opened.append(session)
        run_all(program, parameters, asked, session, running, row)
    except Trouble as trouble:
        row["trouble"] = str(trouble)
    finally:
        for process in opened:
            process.close()
    finish(row, program, parameters, memory)
    return row


def open_peer(peer, program, parameters, asked):
    """Starts a peer, or returns None if the program does not exist for it."""
    patience = asked.patience
    if peer == "before":
        return processes.OtherBuild(asked.against, program, parameters, patience)
    name = program.peer or program.nesl
    if peer == "rust":
        return processes.rust_peer(name, parameters, patience)
    if name not in python_peers(peer):
        return None
    return processes.python_peer(peer, name, parameters, patience)


def python_peers(peer, known={}):
    if peer not in known:
        listing = f"import peers.{peer}_peers as p; print(' '.join(p.PEERS))"
        done = subprocess.run([sys.executable, "-c", listing], cwd=HERE, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"run.py: {peer} cannot be used; `pip install -r bench/requirements.txt`, or leave it "
                     f"out with --peers\n{done.stderr.strip().splitlines()[-1]}")
        known[peer] = done.stdout.split()
    return known[peer]


def run_all(program, parameters, asked, session, running, row):
    """Warms up all processes, compares their results, and then measures them in turn."""
    for process in running.values():
        process.start()
    row["nesl_inputs_seconds"] = session.start(program, parameters)
    first = session.run(program.form)
    row["nesl_first"] = first
    checks = {"nesl": session.check()}
    for peer, process in running.items():
        _, checks[peer] = process.run()
    row["checks"] = checks
    row["disagree"] = [p for p in running if not agree(checks["nesl"], checks[p], program.tolerance)]
    times, forms = {name: [] for name in ("nesl", *running)}, []
    begun = time.perf_counter()
    while len(forms) < asked.reps or (len(forms) < 8 * asked.reps
                                      and time.perf_counter() - begun < SHORT):
        time.sleep(REST)
        forms.append(session.run(program.form))
        times["nesl"].append(forms[-1]["run_seconds"])
        for peer, process in running.items():
            time.sleep(REST)
            times[peer].append(process.run()[0])
    row["times"] = times
    row["nesl"] = {key: forms[-1][key] for key in
                   ("on_runtime", "launches", "modules", "transferred", "bytes", "peak_bytes")}
    row["nesl"]["compile_seconds"] = statistics.median(form["compile_seconds"] for form in forms)
    if "before" in running:
        row["before"] = running["before"].counters()


def agree(a, b, tolerance):
    return len(a) == len(b) and all(math.isclose(x, y, rel_tol=tolerance) for x, y in zip(a, b))


def finish(row, program, parameters, memory):
    """Adds to a row the figures that are derived from the times."""
    if "times" not in row:
        return
    least = {name: min(times) for name, times in row["times"].items()}
    row["least"] = least
    row["median"] = {name: statistics.median(times) for name, times in row["times"].items()}
    others = {name: seconds for name, seconds in least.items() if name != "nesl"}
    if others:
        row["best_peer"] = min(others, key=others.get)
        row["ratio"] = least["nesl"] / others[row["best_peer"]]
    row["traffic"] = program.traffic(parameters)
    row["bandwidth_share"] = row["traffic"] / least["nesl"] / memory.bandwidth()


COLUMN = 9


def heading(peers):
    names = ["nesl", "compile", *peers, "ratio", "launches", "MB", "memory"]
    print(f"{'program':22}" + "".join(f"{name:>{COLUMN}}" for name in names))


def show(row, peers):
    line = f"{row['program']:22}"
    if "times" in row:
        cells = [milliseconds(row["least"]["nesl"]), milliseconds(row["nesl_first"]["compile_seconds"])]
        cells += [milliseconds(row["least"].get(peer)) for peer in peers]
        cells += [f"{row['ratio']:.2f}" if "ratio" in row else "-", str(row["nesl"]["launches"]),
                  f"{row['nesl']['bytes'] / 1e6:.0f}", f"{100 * row['bandwidth_share']:.1f} %"]
        line += "".join(f"{cell:>{COLUMN}}" for cell in cells)
        if not row["nesl"]["on_runtime"]:
            line += "  interpreted"
    print(line, flush=True)
    if row.get("disagree"):
        print(f"  RESULTS DIFFER: {row['checks']}")
    if row.get("trouble"):
        print("  " + row["trouble"].replace("\n", "\n  "))
    if "before" in row:
        show_counters(row)


def show_counters(row):
    """Prints the counters that differ between the two builds, and the first compile times."""
    before, now = row["before"], row["nesl"] | {"first_compile_seconds": row["nesl_first"]["compile_seconds"]}
    differing = [f"{key} {before[key]} -> {now[key]}" for key in ("launches", "bytes", "peak_bytes", "transferred")
                 if before[key] != now[key]]
    compile_times = [milliseconds(build["first_compile_seconds"]) for build in (before, now)]
    print(f"  before: compile {compile_times[0]} -> {compile_times[1]} ms; "
          + (", ".join(differing) or "same launches and bytes"))


def milliseconds(seconds):
    if seconds is None:
        return "-"
    ms = 1e3 * seconds
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def build_nesl():
    root = HERE.parent
    subprocess.run(["cargo", "build", "--release", "--package", "nesl"], cwd=root, check=True)
    return str(root / "target/release/nesl")


def build_rust():
    # Cargo must run in this folder to find its configuration (.cargo/config.toml).
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE / "peers-rust", check=True)


class Memory:
    """The highest memory bandwidth seen, in bytes per second over all threads. Other programs may use the
    memory at any time, so it is measured again before every program."""

    def __init__(self):
        self.best = {"read": 0.0, "triad": 0.0}
        self.running = {how: processes.rust_peer(how, {}, 120) for how in self.best}
        for process in self.running.values():
            process.start()
        self.measure(10)

    def measure(self, times=3):
        for _ in range(times):
            for how, process in self.running.items():
                seconds, moved = process.run()
                self.best[how] = max(self.best[how], moved[0] / seconds)

    def bandwidth(self):
        return max(self.best.values())

    def close(self):
        for process in self.running.values():
            process.close()

    def __str__(self):
        return ", ".join(f"{speed / 1e9:.1f} GB/s ({how})" for how, speed in self.best.items())


def available():
    """Returns the number of bytes of available memory."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except OSError:
        return 8 << 30


def write_text(size):
    """Writes a reproducible text whose word frequencies follow Zipf's law, and returns its path."""
    folder = HERE / "results/scratch"
    folder.mkdir(exist_ok=True)
    path = folder / f"text-{size}"
    if path.exists():
        return path
    import numpy as np

    random = np.random.default_rng(1863)
    letters = np.array([chr(c) for c in range(ord("a"), ord("z") + 1)])
    vocabulary = ["".join(random.choice(letters, length)) for length in random.integers(2, 10, 50_000)]
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    weights /= weights.sum()
    with path.open("w", encoding="ascii") as file:
        left = size
        while left > 0:
            line = " ".join(vocabulary[i] for i in random.choice(len(vocabulary), 10_000, p=weights))
            file.write(line[:max(left - 1, 0)] + "\n")
            left -= len(line) + 1
    return path


def machine():
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.platform()}


def save(asked, rows, memory):
    now = datetime.datetime.now(datetime.timezone.utc)
    path = asked.out or HERE / f"results/{now:%Y-%m-%d-%H%M%S}.json"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True)
    result = {
        "date": now.isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "machine": machine() | {"bandwidth": memory.best},
        "scale": asked.scale,
        "reps": asked.reps,
    }
    # One line for each program, so that a diff of two results shows the programs that changed.
    programs = ",\n ".join(json.dumps(row) for row in rows)
    head = json.dumps(result, indent=1).removesuffix("\n}")
    path.write_text(f'{head},\n "programs": [\n {programs}\n ]\n}}\n')
    print(f"\nMemory: {memory}. Times are the minimum of {asked.reps} or more runs, in ms. Written to {path}.")


if __name__ == "__main__":
    sys.exit(main())
