#!/usr/bin/env python3
"""Measures NESL on the GPU of this machine beside other systems; needs only a driver and Python 3.9.

    python3 run.py --out results                 everything, within 9 minutes
    python3 run.py --out results --only dot,sort
    python3 run.py --out results --smoke         tiny sizes, to see that everything works

Writes `gpu.json` and `gpu.md` to the folder, also after every step, so that an interrupted run leaves what it
has measured. README.md beside the sources (bench/gpu) describes the files.
"""

import argparse
import datetime
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import catalogue  # noqa: E402  (must follow the path)
import contest  # noqa: E402
import report  # noqa: E402
import suite  # noqa: E402
from contestants import CudaPeer, NeslPeer, PythonPeer  # noqa: E402
from driver import Driver, NoDriver  # noqa: E402
from toolkit import Toolkit  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PYTHON_PEERS = ("cupy", "torch", "jax", "triton", "numba")
STAGES = ("costs", "suite", "bench")

# The share of the time after which the correctness part gives up, and the seconds kept for the end.
SUITE_SHARE = 0.4
RESERVE_SECONDS = 12


class Budget:
    """The time that a part of the run may take."""

    def __init__(self, seconds, whole=None):
        self.end = time.monotonic() + seconds
        if whole is not None:
            self.end = min(self.end, whole.end)

    def left(self):
        return self.end - time.monotonic()


def main():
    asked = arguments()
    asked.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    budget = Budget(max(asked.seconds - RESERVE_SECONDS, 1))
    result = header(asked)
    entries = [entry for entry in catalogue.entries()
               if any(word in entry.name for word in asked.only.split(","))]

    def save(partial):
        result["partial"] = partial
        result["used_seconds"] = round(time.monotonic() - began, 1)
        report.derive(result, entries)
        (asked.out / "gpu.json").write_text(report.to_json(result))
        (asked.out / "gpu.md").write_text(report.to_markdown(result))

    save("nothing has been measured yet")
    with tempfile.TemporaryDirectory(prefix="nesl-lane-") as scratch:
        lane = Lane(asked, result, budget, Path(scratch), save)
        watchdog = threading.Timer(asked.seconds, give_up, (lane, save))
        watchdog.daemon = True
        watchdog.start()
        try:
            lane.run(entries)
        except Exception:
            result["not_measured"].append("a bug in the lane: " + traceback.format_exc())
            traceback.print_exc()
        finally:
            watchdog.cancel()
            lane.close()
    save(None)
    print((asked.out / "gpu.md").read_text())
    failed = sum(part["failed"] for part in result["suite"].values())
    differing = any(row.get("disagree") for row in result["programs"])
    return 1 if failed or differing else 0


def give_up(lane, save):
    """Ends the run when its time is up though something still hangs; the last results have been written."""
    try:
        save("the time was up while something did not answer")
    finally:
        lane.close()
        print("run.py: the time is up", file=sys.stderr, flush=True)
        os._exit(1)


def arguments():
    parser = argparse.ArgumentParser(
        description="Measures NESL on the GPU of this machine beside other systems.")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="FOLDER", help="where the results go [.]")
    parser.add_argument("--seconds", type=float, default=540, metavar="S", help="the time for everything [540]")
    parser.add_argument("--runtime", default="ptx", metavar="NAME", help="nesl's --runtime [ptx]")
    parser.add_argument("--only", default="", metavar="NAME,…", help="programs whose names contain one of these")
    parser.add_argument("--stages", default=",".join(STAGES), metavar="NAME,…",
                        help=f"parts to run: {', '.join(STAGES)} [all]")
    parser.add_argument("--peers", default=",".join((*PYTHON_PEERS, "cuda")), metavar="NAME,…",
                        help=f"systems to compare with: {', '.join(PYTHON_PEERS)}, cuda [all]")
    parser.add_argument("--reps", type=int, metavar="N", help="repetitions of each program a round [by its time]")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1), metavar="N",
                        help="recorded cases at the same time [%(default)s]")
    parser.add_argument("--patience", type=float, default=60, metavar="S", help="seconds to wait for an answer [60]")
    parser.add_argument("--nesl", type=Path, metavar="FILE", help="the nesl executable [bin/nesl]")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes and a part of the cases")
    return parser.parse_args()


def header(asked):
    """Returns a result without measurements."""
    manifest = {}
    if (ROOT / "manifest.json").exists():
        manifest = json.loads((ROOT / "manifest.json").read_text())
    return {
        "schema": report.SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": manifest.get("commit"), "dirty": manifest.get("dirty"), "build": manifest.get("build"),
        "seconds": asked.seconds, "smoke": asked.smoke, "runtime": asked.runtime,
        "host": host(), "device": None, "driver_version": driver_version(),
        "peers": {}, "costs": None, "suite": {}, "limits": [], "not_measured": [], "programs": [],
    }


class Lane:
    """One run of the lane."""

    def __init__(self, asked, result, budget, scratch, save):
        self.asked, self.result, self.budget, self.scratch, self.save = asked, result, budget, scratch, save
        self.stages = asked.stages.split(",")
        self.nesl_file = (asked.nesl or ROOT / "bin/nesl").resolve()
        wanted = asked.peers.split(",")
        self.python = [PythonPeer(name, asked.patience) for name in PYTHON_PEERS if name in wanted]
        self.cuda_wanted, self.toolkit = "cuda" in wanted, None
        # The contestants of the program in hand that have processes of their own.
        self.in_hand = []

    def run(self, entries):
        self.costs()
        self.start_toolkit()
        if "bench" in self.stages:
            # Libraries take long to import; they do it while the tests run.
            for peer in self.python:
                peer.launch()
        if "suite" in self.stages:
            self.suite()
        if "bench" in self.stages:
            self.bench(entries)

    def costs(self):
        """Describes the device and measures what its elementary operations cost."""
        result, smoke = self.result, self.asked.smoke
        try:
            driver = Driver()
            result["device"] = driver.description()
            if "costs" in self.stages:
                result["costs"] = driver.costs(reps=10, copy_bytes=1 << 20) if smoke else driver.costs()
        except NoDriver as missing:
            result["device_missing"] = str(missing)
            result["not_measured"].append(f"costs: {missing}")
        self.save("only the costs have been measured")

    def start_toolkit(self):
        """Begins to compile the CUDA C++ peers, while the tests run."""
        if not self.cuda_wanted or "bench" not in self.stages:
            return
        device = self.result["device"] or {}
        capability = None
        if "capability_major" in device:
            capability = 10 * device["capability_major"] + device["capability_minor"]
        self.toolkit = Toolkit(self.scratch / "cuda", capability)
        found = {"missing": "no nvcc on this machine"}
        self.result["peers"]["nvcc"] = {"nvcc": self.toolkit.version} if self.toolkit.nvcc else found

    def suite(self):
        """Runs the tests that compute values on the device."""
        asked, parts, runtime = self.asked, self.result["suite"], self.asked.runtime
        budget = Budget(SUITE_SHARE * self.asked.seconds, self.budget)
        every = 40 if asked.smoke else 1
        if runtime == "ptx":
            environment = {"NESL_DEVICE_TESTS_EVERY": str(every)}
            parts["testkit"] = suite.testkit(ROOT / "bin/testkit", budget.left() / 2, environment)
            self.save("the tests have not finished")
        recorded = Budget(0.6 * budget.left(), budget)
        parts["recorded cases"] = suite.conformance(self.nesl_file, runtime, recorded, asked.jobs, every)
        self.save("the tests have not finished")
        for strategy in ("auto", "flattened", "sequential"):
            parts[f"values, {strategy}"] = suite.values(
                self.nesl_file, runtime, strategy, budget, asked.jobs, 8 if asked.smoke else 1)
            self.save("the tests have not finished")

    def bench(self, entries):
        """Measures the programs, most important first, until the time is up."""
        asked, rows = self.asked, self.result["programs"]
        # Programs of tiny sizes would be interpreted.
        options = ["--runtime", asked.runtime] + ([suite.ALWAYS_COMPILE] if asked.smoke else [])
        nesl = NeslPeer(str(self.nesl_file), options, asked.patience)
        for entry in entries:
            if self.budget.left() < 5:
                self.result["not_measured"].append(f"{entry.name}: out of time")
                continue
            parameters = entry.parameters(asked.smoke)
            if "bytes" in parameters:
                parameters["file"] = str(write_text(self.scratch / "text", parameters["bytes"]))
            peers = self.python + self.cuda_peers(entry)
            self.in_hand = [nesl, *peers]
            print(f"{entry.name} … ({self.budget.left():.0f} s left)", file=sys.stderr, flush=True)
            rows.append(contest.measure(entry, parameters, nesl, peers, self.budget,
                                        reps=asked.reps or (1 if asked.smoke else None)))
            self.note_versions()
            self.save(f"{len(rows)} of {len(entries)} programs have been measured")

    def cuda_peers(self, entry):
        if self.toolkit is None:
            return []
        return [CudaPeer(name, program, extra, self.asked.patience, self.toolkit)
                for name, (program, extra) in entry.cuda.items()]

    def note_versions(self):
        for peer in self.python:
            self.result["peers"][peer.name] = {"missing": peer.unusable} if peer.unusable else peer.versions

    def close(self):
        for peer in [*self.in_hand, *self.python]:
            peer.close()
        if self.toolkit is not None:
            self.toolkit.close()


def host():
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.platform(),
            "python": platform.python_version()}


def driver_version():
    """Returns the version of the kernel's driver, which the driver library itself does not tell."""
    try:
        found = re.search(r"Kernel Module.*?(\d+\.[\d.]+)", Path("/proc/driver/nvidia/version").read_text())
        if found:
            return found[1]
    except OSError:
        pass
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None
    except (OSError, subprocess.TimeoutExpired):
        return None


def write_text(path, size):
    """Writes a text whose word frequencies follow Zipf's law, and returns its path. Lines are repeated in
    random order, since choosing every word anew would take too long."""
    chance = random.Random(1863)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(50_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    lines = [" ".join(chance.choices(words, weights, k=10_000)) for _ in range(min(200, 1 + size // 50_000))]
    with open(path, "w", encoding="ascii") as file:
        left = size
        while left > 0:
            line = chance.choice(lines)[:max(left - 1, 0)]
            file.write(line + "\n")
            left -= len(line) + 1
    return path


if __name__ == "__main__":
    sys.exit(main())
