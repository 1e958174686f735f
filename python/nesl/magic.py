"""Cells of NESL in an IPython notebook: `%load_ext nesl`, then `%%nesl`.

    %%nesl -i v -o n
    n = sqrt(sum({x * x : x in v}))

`-i names` gives Python's variables to NESL before the cell runs, `-o names` takes NESL's after it;
several are separated by commas, or have an option each. `%nesl EXPRESSION` is a value that Python can go on with. All cells
share a session, which `--runtime`, `--precision`, `--threads`, `--memory` and `--seed` begin anew.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys

from IPython.core.completer import SimpleCompletion, context_matcher
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from .session import Error, Interrupted, Session


class CellError(Error):
    """An error in a cell, which a notebook shows as NESL does: the place in the cell is what helps,
    not the way through this module."""

    def __init__(self, kind, message, text, colored=None):
        super().__init__(kind, message, text)
        self.colored = colored or text

    def _render_traceback_(self):
        return self.colored.splitlines()


class _Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"%%nesl: {message}")


# The options of a session, and what they are if nobody says.
_SETTINGS = {"runtime": "cpu", "precision": 64, "threads": None, "memory": None, "seed": 0}


def _parser():
    parser = _Arguments(prog="%%nesl", add_help=False)
    parser.add_argument("-i", "--input", action="append", default=[])
    parser.add_argument("-o", "--output", action="append", default=[])
    for name, usual in _SETTINGS.items():
        whole = isinstance(usual, int) or name == "threads"
        parser.add_argument(f"--{name}", type=int if whole else str)
    return parser


class _Shown:
    """Something that a session shows, in every form it has."""

    def __init__(self, output):
        self.output = output

    def __repr__(self):
        return self.output["text"]

    def _repr_mimebundle_(self, include=None, exclude=None):
        forms = {
            "text/plain": "text",
            "text/html": "html",
            "image/svg+xml": "svg",
            "application/vnd.vegalite.v5+json": "plot",
        }
        return {mime: self.output[form] for mime, form in forms.items() if form in self.output}


class _Receiver:
    """Shows what a cell shows as it comes, and keeps its errors."""

    def __init__(self):
        self.errors = []

    def __call__(self, output):
        kind, text = output["kind"], output["text"]
        if kind == "printed":
            sys.stdout.write(text)
        elif kind == "printed_errors":
            sys.stderr.write(text)
        elif kind == "warning":
            sys.stderr.write(output.get("ansi", text) + "\n")
        elif kind == "error":
            self.errors.append(output)
        else:
            display(_Shown(output))

    @contextlib.contextmanager
    def raising(self):
        """Raises the errors of a cell as one exception."""
        try:
            yield
        except Interrupted:
            raise KeyboardInterrupt from None
        except Error as error:
            text = "\n\n".join(output["text"] for output in self.errors) or str(error)
            colored = "\n\n".join(output.get("ansi", output["text"]) for output in self.errors)
            raise CellError(error.kind, error.message, text, colored) from None


@magics_class
class NeslMagics(Magics):
    """The magics, and the session that they share."""

    def __init__(self, shell):
        super().__init__(shell)
        self.session = None
        self._settings = dict(_SETTINGS)

    def begin(self, **settings):
        """The session; a new one if a setting changes."""
        wanted = {**self._settings, **settings}
        if self.session is None or wanted != self._settings:
            new = Session(**wanted)
            if self.session is not None:
                self.session.close()
                print("A new session begins: earlier definitions are gone.", file=sys.stderr)
            self.session, self._settings = new, wanted
        return self.session

    def end(self):
        """Ends the session."""
        if self.session is not None:
            self.session.close()
            self.session = None

    @line_cell_magic
    def nesl(self, line, cell=None):
        """Runs NESL.

        %nesl EXPRESSION                      its value, as NumPy arrays and Python's values
        %%nesl [-i NAMES] [-o NAMES] [--runtime R] [--precision 32|64] [--threads N]
               [--memory SIZE] [--seed N]     a cell of forms, and of commands such as `:time`

        -i gives Python's variables to NESL before the cell runs, -o takes NESL's after it; names are
        separated by commas. The other options begin a new session if they change anything.
        """
        place = f"In [{len(self.shell.user_ns.get('In', '')) - 1}]"
        receiver = _Receiver()
        if cell is None:
            with receiver.raising():
                return self.begin().eval(line, place, receive=receiver)
        try:
            asked = _parser().parse_args(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"%%nesl: {error}") from None
        settings = {name: getattr(asked, name) for name in _SETTINGS}
        try:
            session = self.begin(**{name: x for name, x in settings.items() if x is not None})
        except RuntimeError as error:
            raise UsageError(str(error)) from None
        for name in _names(asked.input):
            if name not in self.shell.user_ns:
                raise UsageError(f"%%nesl: there is no variable {name}")
            try:
                session[name] = self.shell.user_ns[name]
            except (Error, TypeError, OverflowError) as error:
                raise UsageError(f"%%nesl: {name} cannot be given: {error}") from None
        with receiver.raising():
            # Lines are counted from that of the magic on, as the notebook counts them.
            session.show("\n" + cell, place, receive=receiver)
        for name in _names(asked.output):
            try:
                self.shell.user_ns[name] = session[name]
            except KeyError:
                raise UsageError(f"%%nesl: the cell defines no variable {name}") from None
            except Error as error:
                raise UsageError(f"%%nesl: {name} cannot be taken: {error}") from None
        return None


def _names(texts):
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def _completer(magics):
    @context_matcher(identifier="nesl")
    def complete(context):
        """The names that may stand in a cell of NESL."""
        lines = context.full_text.split("\n")
        if not lines[0].startswith("%%nesl") or context.cursor_line == 0:
            return {"completions": []}
        cell = "\n".join(lines[1:])
        before = lines[1 : context.cursor_line] + [
            lines[context.cursor_line][: context.cursor_position]
        ]
        cursor = len("\n".join(before))
        start, found = magics.begin().completions(cell, cursor)
        return {
            "completions": [SimpleCompletion(text, type=ty) for text, ty in found],
            "matched_fragment": cell[start:cursor],
            "suppress": True,
            "do_not_suppress": set(),
        }

    return complete


_loaded = {}


def register(shell):
    """Makes the magics known."""
    unregister(shell)
    magics = NeslMagics(shell)
    shell.register_magics(magics)
    completer = _completer(magics)
    shell.Completer.custom_matchers.append(completer)
    _loaded[id(shell)] = magics, completer


def unregister(shell):
    """Ends the session, and forgets the magics."""
    magics, completer = _loaded.pop(id(shell), (None, None))
    if magics is None:
        return
    magics.end()
    with contextlib.suppress(ValueError):
        shell.Completer.custom_matchers.remove(completer)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("nesl", None)
