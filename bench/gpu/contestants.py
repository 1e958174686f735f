"""The processes that are compared: NESL, one worker for each Python library, and the programs in CUDA C++.

Each has the same interface: `prepare(entry, parameters)` makes the inputs and the warm-up, `run(reps, check)`
returns a `Sample`, `forget()` gives the memory back, and `close()` ends the process. `Absent` is raised for a
program that a contestant does not have, `Trouble` for one that failed; the text says why.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from catalogue import BENCH, source

sys.path.append(str(BENCH))

from processes import Nesl, Process, Trouble  # noqa: E402  (must follow the path)


# The fields of the object of a form that are counters.
COUNTERS = ("on_runtime", "launches", "drains", "reads", "writes", "transferred", "bytes", "peak_bytes")


class Absent(Exception):
    """Raised if a contestant does not have a program, or cannot be used at all."""


@dataclass
class Sample:
    """The times of some repetitions, in seconds."""

    wall: list
    """The host's clock, from the call to the end of the work on the device."""
    device: list | None = None
    """The time between two events on the device; none if the contestant has no events."""
    check: list | None = None
    """The checksums of the last result, if they were asked for."""
    more: dict = field(default_factory=dict)
    """Further figures; for NESL the counters of its last run."""


class Worker(Process):
    """A process that answers a line of JSON with a line of JSON."""

    def ask(self, **request):
        self.tell(json.dumps(request) + "\n")
        return self.reply()

    def reply(self):
        answer = json.loads(self.answer())
        if "error" in answer:
            raise Trouble(answer["error"])
        return answer


class PythonPeer:
    """A Python library; one process serves all programs and is started again when it failed."""

    def __init__(self, library, patience):
        self.name, self.patience, self.versions = library, patience, {}
        self.process, self.greeted = None, False
        self.unusable, self.starts_left = None, 3

    def launch(self):
        """Starts the process if it does not run, without waiting until the library is imported."""
        if self.process is not None or self.unusable:
            return
        if self.starts_left == 0:
            raise Absent("failed too often")
        self.starts_left -= 1
        command = [sys.executable, str(BENCH / "gpu/gpu_peers/worker.py"), self.name]
        self.process, self.greeted = Worker(command, self.patience, BENCH), False

    def start(self):
        """Waits until the library is imported; raises `Absent` if it cannot be used."""
        self.launch()
        if self.unusable:
            raise Absent(self.unusable)
        if self.greeted:
            return
        try:
            self.versions, self.greeted = self.process.reply()["versions"], True
        except Trouble as trouble:
            self.unusable = str(trouble).strip().splitlines()[-1][:300]
            self.close()
            raise Absent(self.unusable) from None

    def prepare(self, entry, parameters):
        self.start()
        answer = self._ask(do="prepare", task=entry.task, parameters=parameters)
        if answer.get("absent"):
            raise Absent("no such program for this library")

    def run(self, reps, check=False):
        answer = self._ask(do="run", reps=reps, check=check)
        return Sample(answer["wall"], answer["device"], answer.get("check"))

    def forget(self):
        """Gives the inputs back by preparing a program that no library has."""
        if self.process is not None and self.greeted:
            try:
                self._ask(do="prepare", task="", parameters={})
            except Trouble:
                pass

    def _ask(self, **request):
        try:
            return self.process.ask(**request)
        except Trouble:
            if self.process.child.poll() is not None:
                self.process = None
            raise

    def close(self):
        if self.process is not None:
            self.process.close()
            self.process = None


class CudaPeer:
    """A program in CUDA C++, compiled by `toolkit.py`; one process for each program."""

    def __init__(self, name, program, parameters, patience, toolkit):
        self.name, self.program, self.extra = name, program, parameters
        self.patience, self.toolkit, self.process = patience, toolkit, None

    def prepare(self, entry, parameters):
        executable = self.toolkit.executable(self.program)
        words = [f"{name}={value}" for name, value in (parameters | self.extra).items()
                 if isinstance(value, int)]
        self.process = Process([str(executable), *words], self.patience, BENCH)
        if self.process.answer() != "ready":
            raise Trouble("it did not say that it is ready")

    def run(self, reps, check=False):
        self.process.tell(f"{reps} {int(check)}\n")
        answer = json.loads(self.process.answer())
        return Sample(answer["wall"], answer["device"], answer.get("check"))

    def forget(self):
        self.close()

    def close(self):
        if self.process is not None:
            self.process.close()
            self.process = None


class NeslPeer:
    """A session of `nesl`; a new one for each program."""

    name = "nesl"

    def __init__(self, executable, options, patience, caches=None):
        self.executable, self.options, self.patience = executable, options, patience
        self.caches = caches or {}
        self.session = self.form = None

    def prepare(self, entry, parameters, profile=False):
        """Makes the inputs and runs the program once; returns the JSON object of that first run."""
        self.close()
        self.form = entry.program.form
        self.session = _Session(self.executable, self.options, parameters["precision"], self.patience,
                                self.caches, profile)
        sizes = "".join(f"{name} = {_literal(value)};\n" for name, value in parameters.items()
                        if name not in ("precision", "bytes"))
        self.session.enter(sizes + (BENCH / "nesl/data.nesl").read_text())
        self.session.enter(source(entry.program.nesl).read_text())
        return self.session.run(self.form)

    def run(self, reps, check=False):
        """Measures the form and, because its work may still be under way when it returns, a probe that needs a
        part of the result. The time of the probe itself, which is run a second time, is not counted."""
        wall, forms = [], []
        for _ in range(reps):
            form = self.session.run(self.form)
            probe = _probe(form["type"])
            waited = self.session.enter(f"{probe};")[-1]["run_seconds"]
            idle = self.session.enter(f"{probe};")[-1]["run_seconds"]
            wall.append(form["run_seconds"] + max(waited - idle, 0.0))
            forms.append(form)
        last = {key: forms[-1][key] for key in COUNTERS if key in forms[-1]} if forms else {}
        sums = self.session.check() if check else None
        return Sample(wall, None, sums, last)

    def profiled(self, entry, parameters, reps):
        """Returns the seconds that the kernels of one run took, the kernels, and the kernels that the device
        refused and the CPU executed; by the difference of two sessions, one of which runs the program `reps`
        times more often."""
        profiles, refused = [], []
        for extra in (0, reps):
            self.prepare(entry, parameters, profile=True)
            for _ in range(extra):
                self.session.run(self.form)
            profile, stats = self.session.finish()
            profiles.append(profile)
            refused.append(stats.get("refused", []))
            self.close()
        seconds, kernels = kernels_of_one_run(*profiles, reps)
        return seconds, kernels, refused_by_the_program(*refused)

    def forget(self):
        self.close()

    def close(self):
        if self.session is not None:
            self.session.close()
            self.session = None


class _Session(Nesl):
    """A session of `nesl` with the options that name the runtime."""

    def __init__(self, executable, options, precision, patience, caches, profile):
        command = [executable, "--json", "--quiet", *options, "--precision", str(precision)]
        command += ["--profile", "--stats"] if profile else []
        Process.__init__(self, command, patience, BENCH / "nesl", environment=os.environ | caches)

    def finish(self):
        """Ends the input and returns the objects that `--profile` and `--stats` print last."""
        self.child.stdin.close()
        found = {}
        while not {"profile", "stats"} <= found.keys():
            found |= json.loads(self.answer())
        return found["profile"], found["stats"]


def kernels_of_one_run(before, after, reps):
    """Returns the seconds and the kernels of one run, from the profiles of two sessions. A kernel with as many
    launches in both belongs to the inputs."""
    known = {kernel["kernel"]: kernel for kernel in before}
    nothing = {"launches": 0, "seconds": 0.0}
    kernels = []
    for kernel in after:
        base = known.get(kernel["kernel"], nothing)
        launches = kernel["launches"] - base["launches"]
        if launches > 0:
            kernels.append({"kernel": kernel["kernel"], "launches": launches / reps,
                            "seconds": max(kernel["seconds"] - base["seconds"], 0.0) / reps})
    return sum(kernel["seconds"] for kernel in kernels), kernels


def refused_by_the_program(before, after):
    """Returns the refused kernels that were launched more often in the second session: those of the program,
    not of its inputs."""
    known = {(kernel["kernel"], kernel["reason"]): kernel["launches"] for kernel in before}
    return [kernel for kernel in after
            if kernel["launches"] > known.get((kernel["kernel"], kernel["reason"]), 0)]


def _probe(type_):
    """Returns an expression that needs a part of the result `r`, to be sure that it has been computed."""
    return "r[0]" if type_.startswith("[") else "r"


def _literal(value):
    return json.dumps(value) if isinstance(value, str) else str(value)


def caches(folder):
    """Returns environment variables that put all caches of compiled code into a folder."""
    folder = Path(folder)
    return {"XDG_CACHE_HOME": str(folder), "CUDA_CACHE_PATH": str(folder / "cuda")}


def first_compiles(nesl, entry, parameters):
    """Returns the compile seconds of the first run with empty caches and with those that it has filled, and
    the seconds of each whole first run."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="nesl-lane-") as folder:
        peer = NeslPeer(nesl.executable, nesl.options, nesl.patience, caches(folder))
        for which in ("cold", "cached"):
            began = time.perf_counter()
            first = peer.prepare(entry, parameters)
            found[f"{which}_compile_seconds"] = first["compile_seconds"]
            found[f"{which}_session_seconds"] = time.perf_counter() - began
            peer.close()
    return found
