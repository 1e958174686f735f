"""A session of NESL in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import weakref

import numpy as np

from . import arrays

# The bytes that a pipe holds, where the system lets us choose: as much as stays in the cache between
# the two processes is twice as fast as the usual 64 KB, and as 1 MB.
_PIPE_BYTES = 256 << 10
_F_SETPIPE_SZ = 1031
# Interrupts of the keyboard that a session is only asked to obey; one more ends it.
_MOST_INTERRUPTS = 3


class Error(Exception):
    """An error of a NESL program.

    `kind` is what sort of error it is (`Type error`), `message` what is wrong in a line; the text of
    the exception is the whole message, with the place in the program.
    """

    def __init__(self, kind, message, text):
        super().__init__(text)
        self.kind = kind
        self.message = message

    def __reduce__(self):
        return type(self), (self.kind, self.message, str(self))


class Interrupted(Error):
    """The computation was interrupted."""


class Ended(RuntimeError):
    """The process of a session has ended; `why` is what it said, if it said anything."""

    def __init__(self, text, why):
        super().__init__(text)
        self.why = why


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


class _Connection:
    """Lines of JSON, and bytes after them, to and from a process."""

    def __init__(self, command):
        # A file without a name: what went wrong can be read after the process has ended.
        self.complaints = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            bufsize=0,
            # An interrupt of the keyboard is ours to pass on.
            start_new_session=True,
        )
        if sys.platform.startswith("linux"):
            import fcntl

            for pipe in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):
                    fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)
        self._read = bytearray()
        self._writes = threading.Lock()
        self._writer = None
        self._owed = []

    def send(self, line, pieces=()):
        """Sends a line and then bytes; may be called from several threads."""
        line = json.dumps(line).encode() + b"\n"
        if self._writer == threading.get_ident():
            # A handler of a signal, in the middle of sending something else.
            self._owed.append(line)
            return
        with self._writes:
            self._writer = threading.get_ident()
            try:
                self._write(line)
                for piece in pieces:
                    self._write(piece)
            except (OSError, ValueError) as error:
                raise self.ended() from error
            finally:
                self._writer = None
            while self._owed:
                self._write(self._owed.pop())

    def _write(self, piece):
        rest = memoryview(piece)
        while len(rest):
            rest = rest[self.process.stdin.write(rest) :]

    def line(self):
        """The next line, as an object."""
        searched = 0
        while (end := self._read.find(b"\n", searched)) < 0:
            searched = len(self._read)
            piece = self._receive(lambda pipe: pipe.read(_PIPE_BYTES))
            self._read += piece
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return json.loads(line)

    def fill(self, into):
        """Reads bytes into memory."""
        there = min(len(self._read), len(into))
        into[:there] = self._read[:there]
        del self._read[:there]
        into = into[there:]
        while len(into):
            into = into[self._receive(lambda pipe: pipe.readinto(into)) :]

    def _receive(self, read):
        try:
            received = read(self.process.stdout)
        except (OSError, ValueError) as error:
            raise self.ended() from error
        if not received:
            raise self.ended()
        return received

    def ended(self):
        """The exception that says why there is no session any more."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)
        why = ""
        with contextlib.suppress(OSError, ValueError):
            self.complaints.seek(max(0, self.complaints.seek(0, os.SEEK_END) - 4000))
            why = self.complaints.read().decode(errors="replace").strip()
        why = re.sub("\x1b\\[[0-9;]*m", "", why)
        return Ended(f"the session has ended: {why}" if why else "the session has ended", why)

    def close(self):
        """Ends the process."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.complaints.close()


def _ask_by_input(question):
    """Asks a person by `input`, which is a field of a notebook where there is one."""
    if sys.stdin is None or sys.stdin.closed:
        raise EOFError
    return input(question)


class Session:
    """A growing set of definitions, and the values of variables, on a runtime.

    `runtime` is one of those that `nesl devices` lists, `precision` 64 or 32; `threads`, `memory`
    (such as "4G") and `seed` are those of the program's options. A program that reads a line (by
    `prompt` or `read_line`) calls `ask` with its question; without one, or after an `EOFError`, it is
    told that nobody can be asked. A session ends with `close`, at the end of a `with` block, or when
    nobody refers to it.
    """

    def __init__(
        self, runtime="cpu", precision=64, threads=None, memory=None, seed=0, ask=_ask_by_input
    ):
        command = [program(), "serve", "--runtime", runtime, "--precision", str(precision)]
        command += ["--seed", str(seed)]
        command += [] if threads is None else ["--threads", str(threads)]
        command += [] if memory is None else ["--memory", str(memory)]
        self._connection = _Connection(command)
        self._finalizer = weakref.finalize(self, _Connection.close, self._connection)
        self._owner = os.getpid()
        self._next = 0
        self._lock = threading.RLock()
        # What is called with a question, and whether it runs.
        self._asked = ask
        self._is_asking = False
        # Bytes of a value that nobody wants, because an exception came before them.
        self._unread = 0
        try:
            self._ask({"interrupt": True})
        except Ended as error:
            why = error.why or error
            self.close()
            raise RuntimeError(f"no session begins: {why}") from None

    def define(self, source, name="<source>"):
        """Runs forms; returns nothing. What they print goes to standard output."""
        self._enter(source, name, receive=_print, show=False)

    def eval(self, source, name="<expression>", receive=None):
        """Runs forms, and returns the value of the last expression as Python has it.

        A function `receive` gets what there is to show besides values: objects with `kind` and `text`.
        """
        return self._enter(source, name, receive=receive or _print, value=True)

    def show(self, source, name="<source>", receive=None):
        """Runs forms, and returns what there is to show: objects with `kind`, `text`, `html`, …

        A function `receive` gets each of them as it comes.
        """
        outputs = []
        self._enter(source, name, receive=receive or outputs.append)
        return outputs

    def __getitem__(self, name):
        if not isinstance(name, str) or not name.isidentifier():
            raise KeyError(name)
        with self._lock:
            value = self._ask({"fetch": name}, otherwise=_missing)
            if value is not _missing:
                return value
            # It is not computed yet, or not there.
            try:
                return self.eval(name)
            except Error as error:
                if error.kind == "Name error":
                    raise KeyError(name) from error
                raise

    def __setitem__(self, name, value):
        if not isinstance(name, str):
            raise TypeError(f"a name is a text, not {type(name).__name__}")
        ty, columns = arrays.encode(value)
        counts = [len(column) for column in columns]
        size = sum(column.bytes for column in columns)
        request = {"bind": name, "type": ty, "columns": counts, "bytes": size}
        self._ask(request, pieces=(piece for column in columns for piece in column.pieces()))

    def __contains__(self, name):
        """True if a variable or a function has the name."""
        # Words of the language have no type.
        return isinstance(name, str) and any(
            ty and text.lower() == name.lower() for text, ty in self.complete(name)
        )

    def complete(self, source, cursor=None):
        """The texts that may stand at a place, each with its type."""
        return self.completions(source, len(source) if cursor is None else cursor)[1]

    def completions(self, source, cursor):
        """Where the text begins that is completed at a place, and the texts, each with its type."""
        request = {"complete": source, "cursor": len(source[:cursor].encode())}
        answer = self._ask(request, whole=True)
        start = len(source.encode()[: answer["start"]].decode())
        return start, [tuple(completion) for completion in answer["completions"]]

    def interrupt(self):
        """Ends the computation that runs; may be called from another thread."""
        self._connection.send({"id": None, "interrupt": True})

    def close(self):
        """Ends the session, and frees what it holds."""
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        state = "" if self._finalizer.alive else ", closed"
        return f"<nesl.Session: process {self._connection.process.pid}{state}>"

    def _enter(self, source, name, receive, **request):
        __tracebackhide__ = True
        if not isinstance(source, str):
            raise TypeError(f"forms are a text, not {type(source).__name__}")
        if self._asked is not None:
            request["ask"] = True
        return self._ask({"enter": source, "name": name, **request}, receive=receive)

    def _ask(self, request, pieces=(), receive=None, otherwise=None, whole=False):
        """Sends a request and waits for its answer: the value that comes with it, or `otherwise`."""
        __tracebackhide__ = True
        if os.getpid() != self._owner:
            raise RuntimeError("a session belongs to the process that made it")
        if not self._finalizer.alive:
            raise RuntimeError("the session has ended")
        with self._lock, self._keyboard() as pressed:
            if self._is_asking:
                raise RuntimeError("the session waits for the answer to a question")
            self._skip()
            self._next += 1
            own = self._next
            self._connection.send({"id": own, **request}, pieces)
            value = otherwise
            wrong = None
            while True:
                answer = self._connection.line()
                self._unread = answer.get("bytes", 0)
                if answer.get("id") != own:
                    self._skip()
                elif "output" in answer:
                    if receive is not None:
                        receive(answer["output"])
                elif "ask" in answer:
                    wrong = self._answer(own, answer["ask"], pressed)
                elif "type" in answer:
                    value = self._value(answer)
                elif "done" in answer:
                    if wrong is not None:
                        raise wrong
                    answer = _checked(answer)
                    if pressed:
                        # It came too late for the session, but is not forgotten.
                        raise KeyboardInterrupt
                    return answer if whole else value

    def _answer(self, own, question, pressed):
        """Asks the question of a program; returns the exception that ends the program, if one does."""
        line, wrong, interrupts = None, None, False
        self._is_asking = True
        try:
            # An interrupt of the keyboard ends the wait for the person as it would without a session.
            with pressed.left_alone():
                line = self._asked(question)
            if not isinstance(line, (str, type(None))):
                raise TypeError(f"an answer is a string, not a {type(line).__name__}")
        except (EOFError, NotImplementedError):
            # There is nobody: a notebook that runs without one says the latter.
            line = None
        except KeyboardInterrupt:
            pressed.append(signal.SIGINT)
            interrupts = True
        except BaseException as error:
            wrong, interrupts = error, True
        finally:
            self._is_asking = False
        if interrupts:
            self.interrupt()
        else:
            self._connection.send({"id": own, "answer": line})
        return wrong

    def _value(self, answer):
        columns = []
        for kind, count in answer["columns"]:
            column = np.empty(count, dtype=arrays.COLUMNS[kind])
            into = memoryview(column.view(np.uint8))
            self._connection.fill(into)
            self._unread -= len(into)
            columns.append(column)
        return arrays.decode(answer["type"], columns)

    def _skip(self):
        while self._unread:
            into = memoryview(bytearray(min(self._unread, _PIPE_BYTES)))
            self._connection.fill(into)
            self._unread -= len(into)

    @contextlib.contextmanager
    def _keyboard(self):
        """Passes interrupts of the keyboard on to the session; gives a list of them."""
        pressed = _Pressed()
        before = signal.getsignal(signal.SIGINT)
        here = threading.current_thread() is threading.main_thread() and callable(before)

        def handle(number, frame):
            pressed.append(number)
            if len(pressed) > _MOST_INTERRUPTS:
                # It does not listen, and the protocol is left in the middle: that is its end.
                self._connection.process.kill()
                before(number, frame)
            else:
                self.interrupt()

        if here:
            try:
                signal.signal(signal.SIGINT, handle)
                pressed.handlers = before, handle
            except ValueError:
                here = False
        try:
            yield pressed
        finally:
            if here:
                signal.signal(signal.SIGINT, before)
            # They refer to the session: without a cycle it ends when nothing else does.
            pressed.handlers = None


class _Pressed(list):
    """The interrupts of the keyboard while a session works."""

    # How they were handled before, and how they are now; none where they come to another thread.
    handlers = None

    @contextlib.contextmanager
    def left_alone(self):
        """Handles interrupts as they were before."""
        if self.handlers is None:
            yield
            return
        before, now = self.handlers
        signal.signal(signal.SIGINT, before)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, now)


_missing = object()


def _print(output):
    """Prints what a program prints, and what is worth a warning."""
    kind, text = output["kind"], output["text"]
    if kind == "printed":
        sys.stdout.write(text)
    elif kind in ("printed_errors", "warning"):
        sys.stderr.write(text if kind == "printed_errors" else text + "\n")


def _checked(answer):
    __tracebackhide__ = True
    done = answer["done"]
    if done in ("ok", "exit"):
        return answer
    if done == "failed":
        raise Error(answer["error"]["kind"], answer["error"]["message"], answer["error"]["text"])
    raise Interrupted("Interrupted", "the computation was interrupted", "Interrupted.")
