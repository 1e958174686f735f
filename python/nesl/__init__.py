"""NESL from Python: sessions, arrays to and fro, and cells in IPython.

    import nesl, numpy
    s = nesl.Session()
    s.define("function norm(v) = sqrt(sum({x * x : x in v}))")
    s["v"] = numpy.arange(10.0)
    s.eval("norm(v)")                       # 16.881943016134134
    s.eval("{[0:i] : i in [0:4]}")          # Ragged([[], [0], [0, 1], [0, 1, 2]])

A session is a process of its own (`nesl serve`): a mistake of ours cannot take the Python process
with it, an interrupt reaches a computation on a GPU, and arrays travel as they lie in memory, without
being printed or parsed.
"""

from .arrays import Ragged
from .session import Error, Interrupted, Session

__all__ = ["Error", "Interrupted", "Ragged", "Session"]


def load_ipython_extension(shell):
    """`%load_ext nesl`: cells that begin with `%%nesl`."""
    from .magic import register

    register(shell)


def unload_ipython_extension(shell):
    """`%unload_ext nesl`: ends the session of the cells."""
    from .magic import unregister

    unregister(shell)
