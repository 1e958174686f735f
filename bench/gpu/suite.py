"""The correctness part of the lane: the runtimes' kit, the recorded cases, and the programs whose values the
direct interpreter computes, too.

Every part returns an object with `passed`, `failed`, `not_run` (out of time) and `failures`, a list of texts.
"""

import importlib.util
import json
import math
import os
import re
import subprocess
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The number of failures whose text is kept.
MAX_FAILURES_KEPT = 50

# The largest relative difference of floats: a device may add in another order.
TOLERANCE = 1e-9

# Without this option small programs are interpreted, and nothing would be tested.
ALWAYS_COMPILE = "--always-compile"

SUMMARY = re.compile(r"test result: \w+\. (\d+) passed; (\d+) failed")


def testkit(executable, seconds, environment=None):
    """Runs the tests of the runtime, an executable made by `cargo test --no-run`, on the device."""
    found = {"passed": 0, "failed": 0, "not_run": 0, "failures": []}
    if not Path(executable).exists():
        return found | {"not_run": 1, "failures": [f"{executable} is not there"]}
    with tempfile.TemporaryFile("w+") as log:
        try:
            child = subprocess.run([str(executable), "--test-threads=1", "--nocapture"], stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, timeout=max(seconds, 1),
                                   env=os.environ | (environment or {}) | {"NESL_DEVICE_TESTS": "1"})
            ended = f"exit code {child.returncode}" if child.returncode else ""
        except subprocess.TimeoutExpired:
            ended = f"not finished after {seconds:.0f} s"
        log.seek(0)
        text = log.read()
    if summary := SUMMARY.search(text):
        found |= {"passed": int(summary[1]), "failed": int(summary[2])}
    elif ended.startswith("not finished"):
        found["not_run"] = 1
    else:
        found["failed"] = 1
    cases = re.search(r"(\d+) cases executed, (\d+) refused", text)
    if cases:
        found |= {"cases_executed": int(cases[1]), "cases_refused": int(cases[2])}
    if ended:
        found["failures"] = [ended, text[-4000:]]
    return found


def conformance(nesl, runtime, budget, jobs, every=1):
    """Runs the recorded cases, each in a process of its own."""
    compare = _load("compare", ROOT / "tests/conformance/compare.py")
    cases = compare_cases(ROOT / "tests/conformance")[::every]
    arguments = types.SimpleNamespace(
        cmd=f"{nesl} run --runtime {runtime} {ALWAYS_COMPILE} {{file}}", timeout=60, kinds=True)

    def check(case):
        try:
            return compare.run_case(case, arguments)
        except (OSError, compare.Bad) as error:
            return f"could not be run: {error}"

    return _all([(case["id"], case) for case in cases], check, budget, jobs)


def compare_cases(folder):
    """Returns the recorded cases, with our own expectation where it deliberately differs."""
    def lines(name):
        text = (folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.strip()]

    decided = {case["id"]: case for case in lines("decided.jsonl")}
    return [case | decided.get(case["id"], {}) for case in lines("open.jsonl")]


def values(nesl, runtime, strategy, budget, jobs, every=1):
    """Runs `tests/run` and the examples on the runtime and on the direct interpreter, and compares."""
    files = sorted([*(ROOT / "tests/run").glob("*.nesl"), *(ROOT / "examples").glob("*.nesl")])[::every]

    def check(path):
        try:
            expected = _output(nesl, path, ["--runtime", "reference"])
            given = _output(nesl, path, ["--runtime", runtime, ALWAYS_COMPILE, "--strategy", strategy])
        except subprocess.TimeoutExpired:
            return "not finished after 120 s"
        return difference(expected, given)

    return _all([(f"{path.parent.name}/{path.name}", path) for path in files], check, budget, jobs)


def _output(nesl, path, options):
    with tempfile.TemporaryDirectory(prefix="nesl-lane-") as pictures:
        done = subprocess.run(
            [str(nesl), "run", "--color", "never", "--print-length", "all", "--pictures", pictures, *options,
             str(path)],
            cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace"), errors_of(done.stderr.decode(errors="replace"))


def errors_of(text):
    """Returns the messages and places of the errors; notes about callers may differ."""
    return [line.strip() for line in text.splitlines() if "error:" in line or re.search(r"\[ .*:\d+:\d+ \]", line)]


def difference(expected, given):
    """Returns a text if two outputs (exit code, standard output, errors) differ, or none. Numbers in standard
    output may differ by rounding."""
    if expected[0] != given[0]:
        return f"exit code {given[0]}, not {expected[0]}: {' '.join(given[2])[:200]}"
    if expected[2] != given[2]:
        return f"the errors are {given[2]}, not {expected[2]}"
    wanted, found = expected[1].splitlines(), given[1].splitlines()
    if len(wanted) != len(found):
        return f"{len(found)} lines, not {len(wanted)}"
    for number, (a, b) in enumerate(zip(wanted, found), 1):
        if not same_line(a, b):
            return f"line {number} is {b[:200]!r}, not {a[:200]!r}"
    return None


# Numbers with a fraction or an exponent: the only ones that may differ.
FLOAT = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")


def same_line(a, b):
    """Returns true if two lines differ at most in the last digits of floats."""
    if a == b:
        return True
    xs, ys = FLOAT.findall(a), FLOAT.findall(b)
    return (FLOAT.sub("#", a) == FLOAT.sub("#", b) and len(xs) == len(ys)
            and all(math.isclose(float(x), float(y), rel_tol=TOLERANCE, abs_tol=1e-12) for x, y in zip(xs, ys)))


def _all(items, check, budget, jobs):
    """Applies a check to all items, several at a time, until the time is up."""
    found = {"passed": 0, "failed": 0, "not_run": 0, "failures": []}

    def one(item):
        name, content = item
        return name, check(content) if budget.left() > 0 else False

    with ThreadPoolExecutor(max(jobs, 1)) as threads:
        for name, complaint in threads.map(one, items):
            if complaint is None:
                found["passed"] += 1
            elif complaint is False:
                found["not_run"] += 1
            else:
                found["failed"] += 1
                if len(found["failures"]) < MAX_FAILURES_KEPT:
                    found["failures"].append(f"{name}: {complaint}")
    return found


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
