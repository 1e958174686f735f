"""Runs the peers of one program of this suite, as often as they are asked to.

    python -m users.worker PROGRAM

Answers every line on standard input, a JSON object, by one line. `{"n": 1000, "folder": "…"}` makes the
inputs of a size and writes them into the folder; the answer holds the text in NESL that reads them and
their size in bytes. `{"peer": "numba"}` runs a peer; the answer holds the seconds it took, those of the
processor in all threads, the checksums of its result, and by how many bytes the memory of the process grew meanwhile at most. Only the second run tells
this: in the first one, code is compiled, and in later ones the process has kept memory of those before.
"""

import ctypes
import gc
import json
import sys
import time

from . import PROGRAMS
from .suite import Ragged, check_of, write_inputs


def main():
    program = next(p for p in PROGRAMS if p.name == sys.argv[1])
    check = check_of(program.check)[1]
    inputs, prepared, runs = {}, {}, {}
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "n" in asked:
            inputs, prepared, runs = program.inputs(asked["n"]), {}, {}
            text = write_inputs(inputs, asked["folder"], program.precision)
            answer = {"text": text, "bytes": sum(map(size_of, inputs.values()))}
        else:
            name = asked["peer"]
            if name not in prepared:
                prepared[name] = prepare(program.peers[name], inputs)
            runs[name] = runs.get(name, 0) + 1
            if runs[name] == 2:
                give_back()
            answer = measure(prepared[name], check)
            if runs[name] != 2:
                answer["grown"] = 0
        print(json.dumps(answer), flush=True)


def prepare(peer, inputs):
    """Returns the function without parameters that is timed."""
    if isinstance(peer, tuple):
        arguments = peer[0](**inputs)
        return lambda: peer[1](*arguments)
    return lambda: peer(**inputs)


def measure(run, check):
    before = start_peak()
    started, processor = time.perf_counter(), time.process_time()
    result = run()
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    grown = max(peak() - before, 0)
    return {"seconds": seconds, "processor": processor, "check": [float(x) for x in check(result)], "grown": grown}


def give_back():
    """Gives unused memory back to the system, so that what a run takes shows."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        pass


def size_of(value):
    if isinstance(value, Ragged):
        return value.values.nbytes + value.lengths.nbytes
    return getattr(value, "nbytes", None) or (sum(map(len, value)) if isinstance(value, list) else
                                              len(value) if isinstance(value, str) else 8)


def start_peak():
    """Makes the kernel forget the peak of the memory of this process; returns what it holds now."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return _status("VmRSS")
    except OSError:
        return 0


def peak():
    try:
        return _status("VmHWM")
    except OSError:
        return 0


def _status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


if __name__ == "__main__":
    main()
