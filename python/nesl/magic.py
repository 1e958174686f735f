"""Cells of NESL in an IPython notebook: `%load_ext nesl`, then `%%nesl`.

    %%nesl -i v -o n
    n = sqrt(sum({x * x : x in v}))

`-i names` gives Python's variables to NESL before the cell runs, `-o names` takes NESL's after it;
several are separated by commas. `%nesl EXPRESSION` evaluates a line.
"""

from __future__ import annotations

import argparse
import shlex

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from .session import Error, Session


class _Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"%%nesl: {message}")


def _parser():
    parser = _Arguments(prog="%%nesl", add_help=False)
    parser.add_argument("-i", "--input", default="")
    parser.add_argument("-o", "--output", default="")
    parser.add_argument("--runtime")
    parser.add_argument("--precision", type=int)
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


@magics_class
class NeslMagics(Magics):
    """The magics, and the session that they share."""

    session = None

    def _session(self, runtime=None, precision=None):
        changed = runtime is not None or precision is not None
        if self.session is None or changed:
            if self.session is not None:
                self.session.close()
            self.session = Session(runtime=runtime or "cpu", precision=precision or 64)
        return self.session

    @line_cell_magic
    def nesl(self, line, cell=None):
        """Runs a line or a cell of NESL."""
        if cell is None:
            return self._session().eval(line)
        asked = _parser().parse_args(shlex.split(line))
        session = self._session(asked.runtime, asked.precision)
        for name in filter(None, asked.input.split(",")):
            if name not in self.shell.user_ns:
                raise UsageError(f"%%nesl: there is no variable {name}")
            session[name] = self.shell.user_ns[name]
        try:
            for output in session.show(cell, "cell"):
                if output["kind"] in ("value", "answer", "picture", "defined"):
                    display(_Shown(output))
                elif output["kind"] == "printed":
                    print(output["text"], end="")
        except Error as error:
            # The place in NESL is what helps, not the way through this module.
            raise UsageError(str(error)) from None
        for name in filter(None, asked.output.split(",")):
            self.shell.user_ns[name] = session[name]
        return None


def register(shell):
    """Makes the magics known."""
    shell.register_magics(NeslMagics)
