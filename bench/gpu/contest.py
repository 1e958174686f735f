"""Measures one program with all contestants, in turns, and keeps what each of them answered."""

import math
import statistics

from contestants import Absent, NeslPeer, Sample, first_compiles
from processes import Trouble

# The contestants take turns this many times, so that a disturbance of the machine affects all alike.
ROUNDS = 3

# Seconds that one contestant may spend on one round of one program, and the limits of its repetitions.
ROUND_SECONDS = 0.4
MIN_REPS, MAX_REPS = 3, 30

# Seconds of a program that are profiled: the kernels of the inputs may have the same names, and the variation of
# their times is divided by the number of repetitions.
PROFILE_SECONDS = 0.2


def measure(entry, parameters, nesl, peers, budget, details=True, reps=None):
    """Returns the row of a program. `peers` are the contestants other than NESL; with `details`, compile times
    and the kernels are measured, too."""
    row = {"program": entry.name, "parameters": parameters, "traffic_bytes": entry.program.traffic(parameters),
           "contestants": {}}
    running, samples, counts = [], {}, {}
    try:
        for peer in [nesl, *peers]:
            if peer is not nesl and budget.left() <= 0:
                row["contestants"][peer.name] = {"missing": "out of time"}
                continue
            _open(peer, entry, parameters, row, running, samples, counts, reps)
        for _ in range(ROUNDS):
            for peer in list(running):
                if budget.left() > 0:
                    _round(peer, counts[peer.name], row, running, samples)
    finally:
        for peer in [nesl, *peers]:
            _quietly(peer.forget)
    for name, sample in samples.items():
        if name not in row["contestants"]:
            row["contestants"][name] = _figures(sample)
    _compare_checks(row, entry.program.tolerance)
    if details and "missing" not in row["contestants"].get("nesl", {"missing": ""}):
        _details(entry, parameters, nesl, budget, row)
    return row


def _open(peer, entry, parameters, row, running, samples, counts, reps):
    """Prepares a contestant, and runs it once to warm up and twice to choose the number of repetitions."""
    try:
        first = peer.prepare(entry, parameters)
        if isinstance(peer, NeslPeer):
            row["nesl_first_compile_seconds"] = first["compile_seconds"]
        warm_up = peer.run(1, check=True)
        trial = peer.run(1)
        counts[peer.name] = reps or repetitions(trial.wall[0])
        samples[peer.name] = Sample([], [], warm_up.check, warm_up.more)
        running.append(peer)
    except Absent as absent:
        row["contestants"][peer.name] = {"missing": str(absent)}
    except (Trouble, OSError, ValueError, KeyError) as trouble:
        row["contestants"][peer.name] = {"missing": f"failed: {_short(trouble)}"}


def _round(peer, reps, row, running, samples):
    try:
        answer = peer.run(reps)
    except (Trouble, Absent, OSError, ValueError, KeyError) as trouble:
        row["contestants"][peer.name] = {"missing": f"failed: {_short(trouble)}"}
        running.remove(peer)
        return
    sample = samples[peer.name]
    sample.wall += answer.wall
    sample.device = None if answer.device is None else (sample.device or []) + answer.device
    sample.more = answer.more or sample.more


def repetitions(seconds):
    """Returns how often to repeat something that takes so many seconds in one round."""
    if seconds <= 0:
        return MAX_REPS
    return max(MIN_REPS, min(MAX_REPS, int(ROUND_SECONDS / seconds)))


def _figures(sample):
    """Returns the object of a contestant: medians, all times, checksums."""
    if not sample.wall:
        return {"missing": "out of time"}
    found = {"wall_seconds": statistics.median(sample.wall), "device_seconds": None,
             "wall": sample.wall, "device": sample.device or None, "check": sample.check}
    if sample.device:
        found["device_seconds"] = statistics.median(sample.device)
        found["device_clock"] = "events"
    else:
        found["device_missing"] = "no events of the device"
    return found | ({"counters": sample.more} if sample.more else {})


def _compare_checks(row, tolerance):
    """Notes the peers whose checksums differ from those of NESL."""
    sums = {name: c["check"] for name, c in row["contestants"].items() if c.get("check") is not None}
    ours = sums.pop("nesl", None)
    row["disagree"] = [] if ours is None else [
        name for name, theirs in sums.items() if not agree(ours, theirs, tolerance)]


def agree(a, b, tolerance):
    return len(a) == len(b) and all(math.isclose(x, y, rel_tol=tolerance) for x, y in zip(a, b))


def _details(entry, parameters, nesl, budget, row):
    """Adds the time of NESL's kernels on the device, and the compile times from empty and full caches."""
    ours = row["contestants"]["nesl"]
    try:
        if budget.left() > 0:
            _profile(entry, parameters, nesl, row, ours)
        else:
            ours["device_missing"] = "out of time"
        if budget.left() > 0:
            row["nesl_compile"] = first_compiles(nesl, entry, parameters)
    except (Trouble, OSError, ValueError, KeyError) as trouble:
        row["nesl_details_missing"] = f"failed: {_short(trouble)}"
        ours.setdefault("device_missing", row["nesl_details_missing"])
    finally:
        _quietly(nesl.close)


def _profile(entry, parameters, nesl, row, ours):
    """Adds the kernels of one run, and the sum of their times if all of them ran on the device."""
    reps = max(5, min(100, int(PROFILE_SECONDS / max(ours["wall_seconds"], 1e-9))))
    seconds, kernels, refused = nesl.profiled(entry, parameters, reps)
    row["nesl_kernels"], row["nesl_refused"] = kernels, refused
    if not kernels:
        ours["device_missing"] = "no kernel was launched"
    elif refused:
        ours["device_missing"] = "the CPU executed a part of the kernels"
    elif seconds <= 0:
        ours["device_missing"] = "the times of the inputs' kernels vary by more than that of the program"
    else:
        ours["device_seconds"], ours["device_clock"] = seconds, "profile"
        ours.pop("device_missing", None)


def _short(trouble):
    lines = str(trouble).strip().splitlines()
    return f"{type(trouble).__name__}: {lines[0] if lines else ''}"[:300]


def _quietly(action):
    try:
        action()
    except Exception:
        pass
