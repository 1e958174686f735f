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


def python_peer(kind, name, parameters, patience):
    command = [sys.executable, str(HERE / "worker.py"), kind, name, json.dumps(parameters)]
    return Peer(command, patience)


def rust_peer(name, parameters, patience):
    command = [str(HERE / "peers-rust/target/release/bench-peers"), name]
    return Peer(command + [f"{key}={value}" for key, value in parameters.items()], patience)


# This int is sent as a form after every request. When its value is echoed, the request is finished.
MARK = 731_274_977


class Nesl(Process):
    """An interactive NESL session."""

    def __init__(self, nesl, precision, patience):
        command = [nesl, "--json", "--quiet", "--precision", str(precision)]
        super().__init__(command, patience, HERE / "nesl")

    def enter(self, text):
        """Runs forms; returns the JSON object of each form that was evaluated."""
        self.tell(f"{text}\n{MARK};\n")
        forms = []
        while True:
            form = json.loads(self.answer())
            if form["value"] == str(MARK):
                break
            forms.append(form)
        if complaint := self.complaint():
            raise Trouble(complaint)
        return forms

    def start(self, program, parameters):
        """Generates the inputs; returns the seconds this took."""
        # NESL gets the precision on its command line, and the size of a text from its file.
        sizes = "".join(f"{name} = {_literal(value)};\n" for name, value in parameters.items()
                        if name not in ("precision", "bytes"))
        forms = self.enter(sizes + (HERE / "nesl/data.nesl").read_text())
        forms += self.enter((HERE / f"nesl/{program.nesl}.nesl").read_text())
        return sum(form["seconds"] for form in forms)

    def run(self, form):
        """Runs the timed form once; returns its JSON object."""
        return self.enter(f"r = {form};")[-1]

    def check(self):
        value = self.enter("check(r);")[-1]["value"]
        return [_number(word) for word in re.findall(r"[-+.\w]+", value)]


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
        return self.forms[-1]["run_seconds"], self.session.check() if len(self.forms) == 1 else None

    def counters(self):
        """Returns the counters of the last run, and the compile time of the first."""
        keys = ("launches", "modules", "transferred", "bytes", "peak_bytes")
        return ({key: self.forms[-1][key] for key in keys}
                | {"first_compile_seconds": self.forms[0]["compile_seconds"]})

    def close(self):
        self.session.close()


def _literal(value):
    return json.dumps(value) if isinstance(value, str) else str(value)


def _number(word):
    return float(word.replace("E", "e"))
