#!/usr/bin/env python3
"""Compares the benchmark programs in NESL with the same programs in Python's libraries and in Rust.

    python3 bench/run.py                    the programs of papers, at full size
    python3 bench/run.py --scale 0.001      a smoke test
    python3 bench/run.py --only dot,sort --peers numpy,rust --reps 9
    python3 bench/run.py --suite users      the programs that users write; with --growth at three sizes

README.md in this folder describes what is measured and how.
"""

import argparse
import datetime
import importlib.util
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import processes
import programs
from processes import HERE, Nesl, Trouble

# The alternatives that each suite knows.
PEERS = {"papers": ("numpy", "numba", "jax", "rust"), "users": ("numpy", "numba", "scipy", "pandas", "python")}

# Seconds of pause between two measurements. The threads of several libraries keep spinning after their
# work (those of OpenBLAS for about 30 ms) and would occupy some of the cores during the next measurement.
REST = 0.08

# Disturbances affect short programs most, so these are repeated for this many seconds, but at most eight
# times as often as asked for. The second suite has ten times as many programs.
SHORT = {"papers": 8, "users": 0.7}

# The factors by which `--growth` multiplies the size of a program.
GROWTH = (1, 4, 16)


def main():
    asked = arguments()
    peers = [name for name in PEERS[asked.suite] if name in (asked.peers or ",".join(PEERS[asked.suite])).split(",")]
    if asked.against:
        asked.against = os.path.abspath(asked.against)
        peers.append("before")
    known = suite(asked.suite)
    words = asked.only.split(",")
    chosen = [p for p in known if any(word in p.name or word == getattr(p, "theme", None) for word in words)]
    if not chosen:
        sys.exit(f"run.py: nothing is called `{asked.only}`; there are "
                 + ", ".join(p.name for p in known))
    nesl = os.path.abspath(asked.nesl) if asked.nesl else build_nesl()
    run = run_papers if asked.suite == "papers" else run_users
    asked.out = asked.out or HERE / f"results/{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d-%H%M%S}.json"
    rows = run(chosen, asked, peers, nesl)
    print(f"Written to {asked.out}, and the table to {asked.out.with_suffix('.txt')}.")
    return 1 if any(row.get("trouble") or row.get("disagree") for row in rows) else 0


def suite(name):
    if name == "papers":
        return programs.PROGRAMS
    import users

    return users.PROGRAMS


def run_papers(chosen, asked, peers, nesl):
    build_rust()
    memory = Memory()
    say(f"{machine()['processor']}, {os.cpu_count()} cores, memory {memory}\n")
    heading(peers)
    rows = []
    for program in chosen:
        memory.measure()
        row = measure(program, asked.scale, asked, peers, nesl)
        finish(row)
        if "times" in row:
            row["traffic"] = program.traffic(row["parameters"])
            row["bandwidth_share"] = row["traffic"] / row["least"]["nesl"] / memory.bandwidth()
        rows.append(row)
        show(row, peers)
    memory.close()
    say(f"\nMemory: {memory}. Times are the minimum of {asked.reps} or more runs, in ms.")
    save(asked, rows, {"bandwidth": memory.best})
    return rows


def run_users(chosen, asked, peers, nesl):
    peers = [name for name in peers if name in ("python", "before") or importlib.util.find_spec(name)]
    say(f"{machine()['processor']}, {os.cpu_count()} cores\n")
    users_heading()
    rows = []
    for program in chosen:
        folder = HERE / f"results/scratch/{program.name}"
        try:
            worker = processes.UserWorker(program, asked.patience)
            try:
                factors = GROWTH if asked.growth and program.grows else (1,)
                same = []
                for factor in factors:
                    row = measure(program, asked.scale * factor, asked, peers, nesl, worker, folder)
                    row["theme"] = program.theme
                    finish(row)
                    same.append(row)
                    show_user(row)
                    if row.get("trouble"):
                        break
                if len(same) == len(GROWTH) and not same[-1].get("trouble"):
                    same[0]["growth"] = growth_of(same)
                    show_growth(same[0]["growth"])
                rows += same
            finally:
                worker.close()
        except Trouble as trouble:
            rows.append({"program": program.name, "trouble": str(trouble)})
            show_user(rows[-1])
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
        # The run takes long, so what is measured is kept.
        save(asked, rows, {})
    summary(rows)
    save(asked, rows, {})
    return rows


def growth_of(rows):
    """Returns the exponents with which the times grow with the size, from the first to the last row."""
    sizes = [row["parameters"]["n"] for row in rows]
    return {name: math.log(rows[-1]["least"][name] / rows[0]["least"][name]) / math.log(sizes[-1] / sizes[0])
            for name in rows[-1]["least"] if name in rows[0]["least"]}


def arguments():
    parser = argparse.ArgumentParser(
        description="Compares the benchmark programs in NESL with the same programs in Python's libraries and in Rust.")
    parser.add_argument("--suite", choices=sorted(PEERS), default="papers", help="programs from papers, or such as users write [papers]")
    parser.add_argument("--only", default="", metavar="NAME,…", help="programs whose names contain one of these, or a theme of the users' programs")
    parser.add_argument("--scale", type=float, default=1.0, metavar="F", help="multiply every problem size by F [1]")
    parser.add_argument("--growth", action="store_true", help="measure the users' programs at three sizes: n, 4 n and 16 n")
    parser.add_argument("--keep", action="store_true", help="leave the users' programs with their inputs in bench/results/scratch")
    parser.add_argument("--peers", metavar="NAME,…", help="the alternatives to compare with [all]: " + "; ".join(f"{suite}: {', '.join(names)}" for suite, names in PEERS.items()))
    parser.add_argument("--reps", type=int, default=5, metavar="N", help="repetitions of each measurement [5]")
    parser.add_argument("--patience", type=float, default=120, metavar="S", help="seconds to wait for an answer [120]")
    parser.add_argument("--nesl", metavar="FILE", help="the nesl executable [built by cargo]")
    parser.add_argument("--against", metavar="FILE",
                        help="another nesl executable, measured alternately with the first as the peer `before`")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file for the results [bench/results/DATE.json]; the printed table is written beside it")
    return parser.parse_args()


def measure(program, scale, asked, peers, nesl, worker=None, folder=None):
    """Measures a program with all peers and returns its row of the table."""
    parameters = program.at(scale) | {"precision": program.precision}
    row = {"program": program.name, "parameters": dict(parameters), "papers": program.papers}
    needed, free = 5 * program.memory(parameters) * (len(peers) + 1), available()
    if worker is None and needed > 0.8 * free:
        row["trouble"] = f"does not fit: needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} are free"
        return row
    if "bytes" in parameters:
        parameters["file"] = str(write_text(parameters["bytes"]))
    opened, running = [], {}
    try:
        if worker is not None:
            made = worker.ask({"n": parameters["n"], "folder": str(folder)})
            parameters["inputs"], row["input_bytes"] = made["text"], made["bytes"]
            write_program(program, parameters, folder)
        for peer in peers:
            if (process := open_peer(peer, program, parameters, asked, worker)) is not None:
                opened.append(process)
                running[peer] = process
        session = Nesl(nesl, program.precision, asked.patience)
        opened.append(session)
        run_all(program, parameters, asked, session, running, row)
        row["nesl"]["process_peak_bytes"] = session.peak()
        row["nesl"]["unsupported"] = session.stats()["unsupported"]
        if worker is not None:
            row["peer_peak_bytes"] = {name: row["input_bytes"] + peer.grown for name, peer in running.items()
                                      if name != "before"}
    except Trouble as trouble:
        row["trouble"] = str(trouble)
    finally:
        for process in opened:
            process.close()
    return row


def write_program(program, parameters, folder):
    """Writes a program into a file of its own, beside its inputs."""
    text = "".join(program.texts(parameters)) + f"\nr = {program.form};\n"
    (folder / "program.nesl").write_text(text)


def open_peer(peer, program, parameters, asked, worker):
    """Starts a peer, or returns None if the program does not exist for it."""
    patience = asked.patience
    if peer == "before":
        return processes.OtherBuild(asked.against, program, parameters, patience)
    if worker is not None:
        return processes.UserPeer(worker, peer) if peer in program.peers else None
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
    checks = {"nesl": session.check(program.check_form)}
    for peer, process in running.items():
        _, checks[peer] = process.run()
    row["checks"] = checks
    row["disagree"] = [p for p in running if not agree(checks["nesl"], checks[p], program.tolerance)]
    times, forms, processor = {name: [] for name in ("nesl", *running)}, [], []
    begun = time.perf_counter()
    while len(forms) < asked.reps or (len(forms) < 8 * asked.reps
                                      and time.perf_counter() - begun < SHORT[asked.suite]):
        time.sleep(REST)
        before = session.processor_seconds()
        forms.append(session.run(program.form))
        processor.append(session.processor_seconds() - before)
        times["nesl"].append(forms[-1]["run_seconds"])
        for peer, process in running.items():
            time.sleep(REST)
            times[peer].append(process.run()[0])
    row["times"] = times
    row["processor"] = {"nesl": min(processor)} | {
        peer: min(process.processor[1:]) for peer, process in running.items() if hasattr(process, "processor")}
    row["nesl"] = {key: forms[-1][key] for key in
                   ("on_runtime", "launches", "modules", "transferred", "bytes", "peak_bytes")}
    row["nesl"]["compile_seconds"] = statistics.median(form["compile_seconds"] for form in forms)
    if "before" in running:
        row["before"] = running["before"].counters()


def agree(a, b, tolerance):
    return len(a) == len(b) and all(math.isclose(x, y, rel_tol=tolerance) for x, y in zip(a, b))


def finish(row):
    """Adds to a row the figures that are derived from the times."""
    if "times" not in row:
        return
    least = {name: min(times) for name, times in row["times"].items()}
    row["least"] = least
    row["median"] = {name: statistics.median(times) for name, times in row["times"].items()}
    others = {name: seconds for name, seconds in least.items() if name not in ("nesl", "before")}
    # Another build is a peer only where there is no other.
    others = others or {name: seconds for name, seconds in least.items() if name == "before"}
    if others:
        row["best_peer"] = min(others, key=others.get)
        row["ratio"] = least["nesl"] / others[row["best_peer"]]


COLUMN = 9

# The lines of the table, which is also written to a file.
SAID = []


def say(line):
    print(line, flush=True)
    SAID.append(line)


def heading(peers):
    names = ["nesl", "compile", *peers, "ratio", "launches", "MB", "memory"]
    say(f"{'program':22}" + "".join(f"{name:>{COLUMN}}" for name in names))


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
    say(line)
    show_problems(row)


def show_problems(row):
    if row.get("disagree"):
        say(f"  RESULTS DIFFER: {row['checks']}")
    for refused in row.get("nesl", {}).get("unsupported", ()):
        say(f"  one thread ran what could not be flattened: {refused}")
    if row.get("trouble"):
        say("  " + row["trouble"].replace("\n", "\n  "))
    if "before" in row:
        show_counters(row)


USERS_COLUMNS = (("n", 10), ("nesl", 8), ("compile", 8), ("best", 8), ("by", 7), ("ratio", 8), ("cpu", 7), ("numba", 8), ("ratio", 8),
                 ("cpu", 7), ("launches", 9), ("MB", 7), ("peak", 7), ("peer's", 7))


def users_heading():
    say(f"{'program':26}" + "".join(f"{name:>{width}}" for name, width in USERS_COLUMNS))


def show_user(row):
    """Prints a program of the users' suite, at one size."""
    line = f"{row['program']:26}"
    if "times" in row:
        least, numba = row["least"], row["least"].get("numba")
        best = row.get("best_peer")
        cells = [f"{row['parameters']['n']:,}", milliseconds(least["nesl"]),
                 milliseconds(row["nesl_first"]["compile_seconds"]), milliseconds(least.get(best)), best or "-",
                 f"{row['ratio']:.2f}" if "ratio" in row else "-", processor_ratio(row, best), milliseconds(numba),
                 f"{least['nesl'] / numba:.2f}" if numba else "-", processor_ratio(row, "numba"), str(row["nesl"]["launches"]),
                 megabytes(row["nesl"]["bytes"]), megabytes(row["nesl_first"]["peak_bytes"]),
                 megabytes(row["peer_peak_bytes"].get(best))]
        line += "".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells, USERS_COLUMNS))
        if not row["nesl"]["on_runtime"]:
            line += "  interpreted"
    say(line)
    show_problems(row)


def processor_ratio(row, peer):
    """Returns the processor time of NESL divided by that of a peer, as text."""
    others = row["processor"].get(peer)
    return f"{row['processor']['nesl'] / others:.2f}" if others else "-"


def show_growth(exponents):
    say("  grows with the power " + ", ".join(f"{power:.2f} ({name})" for name, power in exponents.items()))


def summary(rows):
    ratios = sorted(row["ratio"] for row in rows if "ratio" in row)
    if not ratios:
        return
    numba = [row["least"]["nesl"] / row["least"]["numba"] for row in rows if "numba" in row.get("least", ())]
    say(f"\n{len(ratios)} measurements: the median ratio to the fastest peer is {statistics.median(ratios):.2f}; "
        f"{sum(r > 2 for r in ratios)} are over 2, {sum(r < 1 for r in ratios)} below 1; "
        f"{sum(r > 1.1 for r in numba)} of {len(numba)} are over 1.1 times Numba.")
    slow = [row for row in rows if row.get("nesl_first", {}).get("compile_seconds", 0) > 0.05]
    say(f"Compile times over 50 ms: " + (", ".join(sorted({row['program'] for row in slow})) or "none") + ".")


def megabytes(size):
    return "-" if size is None else f"{size / 1e6:.0f}"


def show_counters(row):
    """Prints the counters that differ between the two builds, and the first compile times."""
    before, now = row["before"], row["nesl"] | {"first_compile_seconds": row["nesl_first"]["compile_seconds"]}
    differing = [f"{key} {before[key]} -> {now[key]}" for key in ("launches", "bytes", "peak_bytes", "transferred")
                 if before[key] != now[key]]
    compile_times = [milliseconds(build["first_compile_seconds"]) for build in (before, now)]
    say(f"  before: compile {compile_times[0]} -> {compile_times[1]} ms; "
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


def save(asked, rows, about):
    now = datetime.datetime.now(datetime.timezone.utc)
    path = asked.out
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True)
    result = {
        "date": now.isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "machine": machine() | about,
        "suite": asked.suite,
        "scale": asked.scale,
        "reps": asked.reps,
    }
    # One line for each program, so that a diff of two results shows the programs that changed.
    programs = ",\n ".join(json.dumps(row) for row in rows)
    head = json.dumps(result, indent=1).removesuffix("\n}")
    path.write_text(f'{head},\n "programs": [\n {programs}\n ]\n}}\n')
    path.with_suffix(".txt").write_text("\n".join(SAID) + "\n")


if __name__ == "__main__":
    sys.exit(main())
