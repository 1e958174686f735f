"""Runs tasks with one Python library on the GPU, as it is asked to.

    worker.py LIBRARY

Prints one line of JSON at the start (the library's versions, or why it cannot be used) and one for each line
on standard input:

    {"do": "prepare", "task": "dot", "parameters": {"n": 1000}}   {"ready": true}
    {"do": "run", "reps": 5, "check": true}    {"device": […] or null, "wall": […], "check": […]}

An answer `{"absent": true}` means that the library has no such task, and `{"error": "…"}` that it failed;
then the worker goes on. A library is a module `LIBRARY_peer.py` in this folder.
"""

import gc
import importlib
import json
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

from gpu_peers import inputs  # noqa: E402  (must follow the path)


def main():
    # What libraries print must not mix with the answers.
    answers, sys.stdout = sys.stdout, sys.stderr

    def answer(**fields):
        print(json.dumps(fields), file=answers, flush=True)

    try:
        library = importlib.import_module(f"gpu_peers.{sys.argv[1]}_peer")
        answer(versions=library.versions())
    except Exception as error:
        answer(error=_short(error))
        return
    worker = Worker(library)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer(**worker.respond(request))
        except Exception as error:
            answer(error=_short(error))


class Worker:
    """The task in hand."""

    def __init__(self, library):
        self.package, self.task, self.run = library, None, None

    def respond(self, request):
        if request["do"] == "prepare":
            return self.prepare(request["task"], request["parameters"])
        return self.measure(request["reps"], request["check"])

    def prepare(self, task, parameters):
        self.run = self.task = None
        gc.collect()
        self.package.free()
        if task not in self.package.TASKS:
            return {"absent": True}
        given = inputs.inputs(task, parameters, self.package)
        self.task, self.run = task, self.package.TASKS[task](**given)
        self.package.wait()
        return {"ready": True}

    def measure(self, reps, check):
        device, wall, result = [], [], None
        for _ in range(reps):
            result = None
            began = time.perf_counter()
            result, seconds = self.package.timed(self.run)
            wall.append(time.perf_counter() - began)
            device.append(seconds)
        found = {"device": device if device and None not in device else None, "wall": wall}
        if check:
            found["check"] = inputs.check(self.task, self.package.host(result))
        return found


def _short(error):
    return f"{type(error).__name__}: {error}".strip().replace("\n", " ")[:300]


if __name__ == "__main__":
    main()
