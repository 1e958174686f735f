#!/usr/bin/env python3
"""Builds the folder that measures NESL on a machine with a GPU, and tries it out without one.

    python3 bench/gpu/lane.py build     target/gpu-lane, to be copied to the machine and run there
    python3 bench/gpu/lane.py smoke     the same in the debug profile, run here on the simulated device

The folder needs no other file of this repository: `python3 run.py --out results` in it measures everything.
README.md beside this file describes both.
"""

import argparse
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The folder must fit into what is easily sent to another machine.
MAX_BYTES = 60_000_000

# What is copied: files and folders of the repository. Python's caches and results are left out.
CONTENT = (
    "bench/gpu", "bench/nesl", "bench/peers", "bench/processes.py", "bench/programs.py",
    "tests/conformance", "tests/run", "examples", "LICENSE-MIT", "LICENSE-APACHE",
)

LAUNCHER = """\
#!/usr/bin/env python3
\"\"\"Starts bench/gpu/run.py, which says what it does with --help.\"\"\"
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, os.path.join(HERE, "bench/gpu/run.py"), *sys.argv[1:]])
"""


def main():
    parser = argparse.ArgumentParser(description="Builds and tries the folder that measures NESL on a GPU.")
    tasks = parser.add_subparsers(dest="task", required=True)
    building = tasks.add_parser("build", help="make the folder")
    building.add_argument("--out", type=Path, default=ROOT / "target/gpu-lane", metavar="FOLDER")
    smoking = tasks.add_parser("smoke", help="make one in the debug profile and run it on the simulated device")
    smoking.add_argument("--out", type=Path, default=ROOT / "target/gpu-lane-smoke", metavar="FOLDER")
    smoking.add_argument("--runtime", default="ptx", metavar="NAME", help="nesl's --runtime [ptx]")
    smoking.add_argument("--seconds", type=float, default=300, metavar="S", help="the time for the run [300]")
    smoking.add_argument("--only", default="", metavar="NAME,…", help="programs whose names contain one of these")
    asked = parser.parse_args()
    if asked.task == "build":
        build(asked.out, "release")
        return 0
    return smoke(asked)


def build(out, profile):
    """Makes the folder anew, and returns the size of its files in bytes."""
    programs = {"nesl": build_nesl(profile), "testkit": build_testkit(profile)}
    shutil.rmtree(out, ignore_errors=True)
    (out / "bin").mkdir(parents=True)
    for name, path in programs.items():
        copy_executable(path, out / "bin" / name)
    for name in CONTENT:
        copy(ROOT / name, out / name)
    (out / "run.py").write_text(LAUNCHER)
    (out / "run.py").chmod(0o755)
    (out / "manifest.json").write_text(json.dumps(manifest(out, profile), indent=1) + "\n")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size / 1e6:.1f} MB")
    for path in sorted((out / "bin").iterdir()):
        print(f"  bin/{path.name}: {path.stat().st_size / 1e6:.1f} MB, "
              f"needs glibc {needed_glibc(path.read_bytes())} or later")
    if profile == "release" and size > MAX_BYTES:
        sys.exit(f"lane.py: the folder is larger than {MAX_BYTES / 1e6:.0f} MB")
    return size


def build_nesl(profile):
    cargo("build", profile, "--package", "nesl")
    return target() / profile / "nesl"


def build_testkit(profile):
    """Builds the tests that run on a device, and returns the path of their executable."""
    lines = cargo("test", profile, "--package", "nesl-runtime-ptx", "--test", "device", "--no-run",
                  "--message-format=json-render-diagnostics", capture=True).splitlines()
    return executable_of(lines, "device")


def executable_of(lines, name):
    """Returns the executable of a test from cargo's messages, one JSON object a line."""
    for line in lines:
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    sys.exit(f"lane.py: cargo made no executable of the test `{name}`")


def cargo(command, profile, *arguments, capture=False):
    words = ["cargo", command, *(["--release"] if profile == "release" else []), *arguments]
    print(" ".join(words), file=sys.stderr, flush=True)
    done = subprocess.run(words, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE if capture else None)
    if done.returncode != 0:
        sys.exit(f"lane.py: `{' '.join(words)}` failed")
    return done.stdout


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def copy_executable(source, destination):
    """Copies an executable without its symbols, if there is a `strip`."""
    shutil.copy(source, destination)
    destination.chmod(destination.stat().st_mode | stat.S_IXUSR)
    if shutil.which("strip"):
        subprocess.run(["strip", str(destination)], check=False)


def copy(source, destination):
    destination.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        leave_out = shutil.ignore_patterns("__pycache__", "*.pyc", "test_lane.py")
        shutil.copytree(source, destination, ignore=leave_out)
    else:
        shutil.copy(source, destination)


def manifest(out, profile):
    """Returns the facts about the build that the results repeat."""
    def git(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    glibc = needed_glibc((out / "bin/nesl").read_bytes())
    return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain")),
            "build": {"profile": profile, "rustc": rustc, "glibc": glibc}}


def needed_glibc(executable):
    """Returns the version of the C library that an executable needs, from its symbol versions: it is linked
    dynamically, because the driver can only be loaded by a program with the system's loader."""
    versions = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", executable)}
    return ".".join(str(part) for part in max(versions)) if versions else "none"


def smoke(asked):
    """Builds the folder and the simulator in the debug profile, and runs the lane with tiny sizes."""
    build(asked.out, "debug")
    cargo("build", "debug", "--package", "nesl-sim")
    simulator = asked.out / "simulator"
    simulator.mkdir()
    shutil.copy(target() / "debug/libnesl_sim.so", simulator / "libcuda.so")
    results = asked.out / "results"
    command = [sys.executable, str(asked.out / "run.py"), "--smoke", "--out", str(results), "--peers", "cuda",
               "--runtime", asked.runtime, "--seconds", str(asked.seconds), "--only", asked.only,
               "--jobs", "2"]
    done = subprocess.run(command, env=os.environ | {"LD_LIBRARY_PATH": str(simulator)})
    complaints = judge(json.loads((results / "gpu.json").read_text()))
    for complaint in complaints:
        print(f"lane.py: {complaint}", file=sys.stderr)
    return 1 if done.returncode or complaints else 0


def judge(result):
    """Returns what a smoke run lacks."""
    complaints = []
    if result["partial"]:
        complaints.append(f"the run is not complete: {result['partial']}")
    if not result["costs"]:
        complaints.append("the costs were not measured")
    for name, part in result["suite"].items():
        if part["failed"] or not part["passed"]:
            complaints.append(f"{name}: {part['passed']} passed, {part['failed']} failed")
    for row in result["programs"]:
        why = row["contestants"].get("nesl", {}).get("missing")
        if why:
            complaints.append(f"{row['program']}: {why}")
    # A program of these sizes may be interpreted; not all of them, though.
    if not any(row.get("nesl_kernels") for row in result["programs"]):
        complaints.append("no program launched a kernel")
    return complaints


if __name__ == "__main__":
    sys.exit(main())
