"""The processes that are compared: NESL, the Python workers, and the peers in Rust.

Each process generates its inputs once and then runs on request, so that the measurements of different
processes can be interleaved while all of them stay warm.
"""

import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Trouble(Exception):
    """Raised when a process fails to do what it was asked to."""


class Process:
    """A process that answers lines on standard input with lines on standard output."""

    def __init__(self, command, patience, directory=HERE, environment=None):
        self.patience = patience
        self.errors = tempfile.TemporaryFile()
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            cwd=directory, env=environment, bufsize=0)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.put(line.decode(errors="replace").rstrip("\n"))
        self.lines.put(None)

    def tell(self, text):
        try:
            self.child.stdin.write(text.encode())
        except BrokenPipeError:
            raise Trouble(self.complaint() or "it ended") from None

    def answer(self):
        try:
            line = self.lines.get(timeout=self.patience)
        except queue.Empty:
            self.close()
            raise Trouble(f"no answer within {self.patience:g} s") from None
        if line is None:
            code = self.child.wait()
            raise Trouble(self.complaint() or f"it ended with code {code}")
        return line

    def complaint(self):
        """Returns the end of the standard error output."""
        end = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, end - 4000))
        return self.errors.read().decode(errors="replace").strip()

    def processor_seconds(self):
        """Returns the processor time that all threads of the process have taken, or 0 where it is not known."""
        try:
            # The number of the clock of another process, as clock_getcpuclockid(3) makes it on Linux.
            return time.clock_gettime((~self.child.pid << 3) | 2)
        except (AttributeError, OSError):
            return 0.0

    def close(self):
        self.child.kill()
        self.child.wait()


class Peer(Process):
    """A process that runs one program in Python or Rust."""

    def start(self):
        while (line := self.answer()) != "ready":
            print(f"  ({line})", file=sys.stderr)

    def run(self):
        """Runs the program once; returns the seconds it took and the checksums of its result."""
        self.tell("run\n")
        answer = json.loads(self.answer())
        return answer["seconds"], answer["check"]


def python_environment():
    """Returns the environment of the peers in Python: what Numba has compiled is kept beside other scratch files."""
    return os.environ | {"NUMBA_CACHE_DIR": str(HERE / "results/scratch/numba")}


def python_peer(kind, name, parameters, patience):
    command = [sys.executable, str(HERE / "worker.py"), kind, name, json.dumps(parameters)]
    return Peer(command, patience, environment=python_environment())


def rust_peer(name, parameters, patience):
    command = [str(HERE / "peers-rust/target/release/bench-peers"), name]
    return Peer(command + [f"{key}={value}" for key, value in parameters.items()], patience)


class UserWorker(Process):
    """The process for all peers of one program of the suite `users`."""

    def __init__(self, program, patience):
        command = [sys.executable, "-m", "users.worker", program.name]
        super().__init__(command, patience, environment=python_environment())
        while self.answer() != "ready":
            pass

    def ask(self, question):
        self.tell(json.dumps(question) + "\n")
        while not (line := self.answer()).startswith("{"):
            print(f"  ({line})", file=sys.stderr)
        return json.loads(line)


class UserPeer:
    """One of the peers in such a process, with the interface of a peer."""

    def __init__(self, worker, name):
        self.worker, self.name = worker, name
        self.grown, self.processor = 0, []

    def start(self):
        pass

    def run(self):
        answer = self.worker.ask({"peer": self.name})
        self.grown = max(self.grown, answer["grown"])
        self.processor.append(answer["processor"])
        return answer["seconds"], answer["check"]

    def close(self):
        pass


# This int is sent as a form after every request. When its value is echoed, the request is finished.
MARK = 731_274_977


class Nesl(Process):
    """An interactive NESL session."""

    def __init__(self, nesl, precision, patience):
        command = [nesl, "--json", "--quiet", "--stats", "--precision", str(precision)]
        super().__init__(command, patience, HERE / "nesl")

    def enter(self, text):
        """Runs forms; returns the JSON object of each form that was evaluated."""
        self.tell(f"{text}\n{MARK};\n")
        forms, problems = [], []
        while True:
            form = json.loads(self.answer())
            if (problem := form.get("problem")) is not None:
                # Notes, such as one on a name that the library has too, are no problems here.
                problems += [problem["message"]] * (problem["severity"] == "error")
                continue
            if form["value"] == str(MARK):
                break
            forms.append(form)
        if problems:
            raise Trouble("\n".join(problems))
        if complaint := self.complaint():
            raise Trouble(complaint)
        return forms

    def start(self, program, parameters):
        """Enters the definitions, which make the inputs; returns the seconds this took."""
        return sum(form["seconds"] for text in program.texts(parameters) for form in self.enter(text))

    def run(self, form):
        """Runs the timed form once; returns its JSON object."""
        return self.enter(f"r = {form};")[-1]

    def check(self, form="check(r)"):
        value = self.enter(f"{form};")[-1]["value"]
        return [_number(word) for word in re.findall(r"[-+.\w]+", value)]

    def stats(self):
        """Ends the session; returns what `--stats` says about it."""
        self.child.stdin.close()
        while "stats" not in (answer := json.loads(self.answer())):
            pass
        return answer["stats"]

    def peak(self):
        """Returns the most memory that the process has held, in bytes, or None where this is not known."""
        try:
            status = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            return None


class OtherBuild:
    """Another build of NESL, with the interface of a peer."""

    def __init__(self, nesl, program, parameters, patience):
        self.session = Nesl(nesl, program.precision, patience)
        self.program, self.parameters = program, parameters
        self.forms = []

    def start(self):
        self.session.start(self.program, self.parameters)

    def run(self):
        """Runs the program once; returns the seconds and, for the first run only, the checksums."""
        self.forms.append(self.session.run(self.program.form))
        return self.forms[-1]["run_seconds"], self.session.check(self.program.check_form) if len(self.forms) == 1 else None

    def counters(self):
        """Returns the counters of the last run, and the compile time of the first."""
        keys = ("launches", "modules", "transferred", "bytes", "peak_bytes")
        return ({key: self.forms[-1][key] for key in keys}
                | {"first_compile_seconds": self.forms[0]["compile_seconds"]})

    def close(self):
        self.session.close()


def _number(word):
    return float(word.replace("E", "e"))
