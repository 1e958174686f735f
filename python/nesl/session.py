"""A session of NESL in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import weakref
from pathlib import Path

import numpy as np

from . import arrays


class Error(Exception):
    """An error of a NESL program.

    `kind` is what sort of error it is (`Type error`), `message` what is wrong in a line; the text of
    the exception is the whole message, with the place in the program.
    """

    def __init__(self, kind, message, text):
        super().__init__(text)
        self.kind = kind
        self.message = message


class Interrupted(Error):
    """The computation was interrupted."""


def program():
    """The path of the program `nesl`: of `NESL_BINARY`, of this installation, or of the system."""
    named = os.environ.get("NESL_BINARY")
    name = "nesl.exe" if sys.platform == "win32" else "nesl"
    schemes = [sysconfig.get_path("scripts")]
    if hasattr(sysconfig, "get_preferred_scheme"):
        schemes.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    places = [named] if named else [os.path.join(place, name) for place in schemes if place]
    places += [] if named else [shutil.which("nesl")]
    for place in places:
        if place and os.path.isfile(place):
            return place
    raise FileNotFoundError(
        "the program `nesl` was not found; install it by `pip install nesl-lang`, or set "
        "NESL_BINARY to its path"
    )


def _memory_folder():
    """A folder whose files stay in memory, if the system has one."""
    shared = "/dev/shm"
    return shared if os.path.isdir(shared) and os.access(shared, os.W_OK) else None


class Session:
    """A growing set of definitions, and the values of variables, on a runtime.

    `runtime` is one of those that `nesl devices` lists, `precision` 64 or 32; `threads`, `memory`
    (such as "4G") and `seed` are those of the program's options. A session ends with `close`, at
    the end of a `with` block, or when nobody refers to it.
    """

    def __init__(self, runtime="cpu", precision=64, threads=None, memory=None, seed=0):
        command = [program(), "serve", "--runtime", runtime, "--precision", str(precision)]
        command += ["--seed", str(seed)]
        command += [] if threads is None else ["--threads", str(threads)]
        command += [] if memory is None else ["--memory", str(memory)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            # An interrupt of the keyboard is ours to pass on.
            start_new_session=True,
        )
        self._folder = tempfile.mkdtemp(prefix="nesl-", dir=_memory_folder())
        self._next = 0
        self._lock = threading.RLock()
        self._finalizer = weakref.finalize(self, _end, self._process, self._folder)

    def define(self, source, name="<source>"):
        """Runs forms; returns nothing. What they print goes to standard output."""
        self._enter(source, name)

    def eval(self, source, name="<expression>"):
        """Runs forms, and returns the value of the last expression as Python has it."""
        with self._lock:
            outputs = self._enter(source, name)
            if not any(output["kind"] == "value" for output in outputs):
                return None
            return self._fetch()

    def show(self, source, name="<source>"):
        """Runs forms, and returns what there is to show: objects with `kind`, `text`, `html`, …"""
        return self._enter(source, name, show=False)

    def __getitem__(self, name):
        if not name.isidentifier():
            raise KeyError(name)
        try:
            return self.eval(name)
        except Error as error:
            if error.kind == "Name error":
                raise KeyError(name) from error
            raise

    def __setitem__(self, name, value):
        ty, columns = arrays.encode(value)
        with self._lock, tempfile.TemporaryDirectory(dir=self._folder) as folder:
            paths = []
            for number, column in enumerate(columns):
                path = os.path.join(folder, str(number))
                column.tofile(path)
                paths.append(path)
            self._ask({"bind": name, "type": ty, "columns": paths})

    def complete(self, source, cursor=None):
        """The texts that may stand at a place, each with its type."""
        at = len(source) if cursor is None else cursor
        answer = self._ask({"complete": source, "cursor": len(source[:at].encode())})
        return [tuple(completion) for completion in answer["completions"]]

    def interrupt(self):
        """Ends the computation that runs; may be called from another thread."""
        self._send({"id": None, "interrupt": True})

    def close(self):
        """Ends the session, and frees what it holds."""
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _enter(self, source, name, show=True):
        outputs = []

        def receive(output):
            outputs.append(output)
            kind, text = output["kind"], output["text"]
            if kind == "printed" and show:
                sys.stdout.write(text)
            elif kind in ("printed_errors", "warning"):
                sys.stderr.write(text if kind == "printed_errors" else text + "\n")

        self._ask({"enter": source, "name": name}, receive)
        return outputs

    def _fetch(self):
        folder = tempfile.mkdtemp(dir=self._folder)
        try:
            answer = self._ask({"fetch": folder})
            kinds = {"lengths": np.int64, "ints": np.int64, "floats": np.float64}
            kinds.update({"bools": np.bool_, "chars": np.uint8})
            columns = [
                np.fromfile(Path(folder, str(number)), dtype=kinds[kind])
                for number, (kind, _) in enumerate(answer["columns"])
            ]
            return arrays.decode(answer["type"], columns)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _send(self, request):
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise RuntimeError("the session has ended") from error

    def _ask(self, request, receive=None):
        with self._lock:
            self._next += 1
            request["id"] = self._next
            self._send(request)
            while True:
                try:
                    line = self._process.stdout.readline()
                except KeyboardInterrupt:
                    # The answer says that it was interrupted.
                    self.interrupt()
                    continue
                if not line:
                    raise RuntimeError("the session has ended")
                answer = json.loads(line)
                if answer.get("id") != self._next:
                    continue
                if "output" in answer:
                    if receive is not None:
                        receive(answer["output"])
                    continue
                return _checked(answer)


def _checked(answer):
    done = answer["done"]
    if done in ("ok", "exit"):
        return answer
    if done == "failed":
        raise Error(answer["error"]["kind"], answer["error"]["message"], answer["error"]["text"])
    raise Interrupted("Interrupted", "the computation was interrupted", "Interrupted.")


def _end(process, folder):
    shutil.rmtree(folder, ignore_errors=True)
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
