"""What a program of this suite is, and how its inputs and results pass between Python and NESL.

A program stands in one place: a call of `program` in one of the files beside this one, which holds its
text in NESL, its inputs and its peers. The inputs are made once, in Python; NESL reads them from files.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

# The themes take these from here.
from peers.shared import loop, njit, parallel, prange  # noqa: F401


@dataclass
class Ragged:
    """Rows of different lengths: in NESL a nested sequence, in Python the values and where rows begin."""

    values: np.ndarray
    lengths: np.ndarray

    @property
    def starts(self):
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def rows(self):
        return np.split(self.values, self.starts[1:-1])


@dataclass
class Program:
    """A program as a user would write it."""

    name: str
    """The name in the table and for `--only`."""
    theme: str
    """The file that holds the program."""
    n: int
    """The size: about the number of elements or elementary steps. `--growth` adds 4 n and 16 n."""
    inputs: Callable
    """Takes n and returns the inputs by name: numbers, arrays, texts, lists of texts, `Ragged`."""
    nesl: str
    """Definitions in NESL, which may use the inputs."""
    form: str
    """The expression that is timed."""
    check: object
    """How results are compared: a key of `CHECKS`, or a pair of an expression in NESL over the result `r`
    and a function from a peer's result to the same numbers."""
    peers: dict
    """The program in other systems: functions of the inputs, by the name of the peer. A pair is a function
    that prepares arguments, untimed, and the function that is timed."""
    tolerance: float = 1e-6
    precision: int = 64
    grows: bool = True
    """False for programs of which there are several that differ only in the data."""

    papers = ()

    def at(self, scale):
        return {"n": max(int(self.n * scale), 64)}

    @property
    def check_form(self):
        return check_of(self.check)[0]

    def texts(self, parameters):
        """Returns the texts in NESL that make the inputs, which a worker has written, and the program."""
        return [parameters["inputs"] + PRELUDE, self.nesl] if self.nesl else [parameters["inputs"] + PRELUDE]

    def memory(self, parameters):
        # Inputs, results and copies; the programs are small, so this need not be exact.
        return 64 * parameters["n"]


PROGRAMS = []


def program(name, *, n, inputs, nesl, form, check, tolerance=1e-6, precision=64, grows=True, **peers):
    """Adds a program to the suite."""
    theme = os.path.splitext(os.path.basename(inputs.__code__.co_filename))[0]
    PROGRAMS.append(
        Program(name, theme, n, inputs, nesl, form, check, peers, tolerance, precision, grows))


def random(seed=1):
    return np.random.default_rng(seed)


def text_of(n, seed=1, words=20_000):
    """Returns a text of about n letters whose words are distributed by Zipf's law."""
    rng = random(seed)
    vocabulary = ["".join(map(chr, rng.integers(97, 123, size))) for size in rng.integers(2, 10, words)]
    weights = 1 / np.arange(1, words + 1)
    chosen = rng.choice(words, n // 5, p=weights / weights.sum())
    lines = [" ".join(vocabulary[i] for i in chosen[at:at + 12]) for at in range(0, len(chosen), 12)]
    return "\n".join(lines)[:n]


def letters(text):
    """Returns a text as an array of bytes, which is what Numba works on."""
    return np.frombuffer(text.encode(), np.uint8)


# Definitions for all programs: sums that depend on the order, and do not vanish by chance.
PRELUDE = """
function check_ints(r) : [int] -> (int, int, int) =
  (#r, sum(r), sum({x * (rem(i, 7) + 1) : x in r; i in [0:#r]}));
function check_floats(r) : [float] -> (int, float, float) =
  (#r, sum({max(x, 0.0) : x in r}), sum({abs(x) * float(rem(i, 7) + 1) : x in r; i in [0:#r]}));
"""


def check_ints(r):
    r = np.asarray(r).astype(np.int64).ravel()
    return [len(r), r.sum(), (r * (np.arange(len(r)) % 7 + 1)).sum()]


def check_floats(r):
    r = np.asarray(r, dtype=np.float64).ravel()
    return [len(r), np.maximum(r, 0.0).sum(), (np.abs(r) * (np.arange(len(r)) % 7 + 1)).sum()]


CHECKS = {
    "number": ("r", lambda r: [r]),
    "ints": ("check_ints(r)", check_ints),
    "floats": ("check_floats(r)", check_floats),
    "int rows": ("check_ints(flatten(r))", check_ints),
    "float rows": ("check_floats(flatten(r))", check_floats),
    "text": ("check_ints({char_code(c) : c in r})",
             lambda r: check_ints(letters(r) if isinstance(r, str) else r)),
    # Keys with counts or sums, in any order.
    "counts": ("(#r, sum({k * c : (k, c) in r}), sum({c * c : (k, c) in r}))",
               lambda r: [len(r[0]), (r[0] * r[1]).sum(), (r[1] * r[1]).sum()]),
    "sums": ("(#r, sum({float(k) * c : (k, c) in r}), sum({abs(c) : (k, c) in r}))",
             lambda r: [len(r[0]), (r[0] * r[1]).sum(), np.abs(r[1]).sum()]),
    # Distinct values in any order.
    "set": ("(#r, sum(r), sum({rem(x, 1009) * rem(x, 1013) : x in r}))",
            lambda r: [len(r), np.sum(r), (np.asarray(r) % 1009 * (np.asarray(r) % 1013)).sum()]),
    "points": ("let xs = {x : (x, y) in r}; ys = {y : (x, y) in r} in "
               "(#r, sum({abs(x) : x in xs}), sum({abs(y) : y in ys}), sum(xs), sum(ys))",
               lambda r: [len(r[0]), np.abs(r[0]).sum(), np.abs(r[1]).sum(), r[0].sum(), r[1].sum()]),
}


def check_of(chosen):
    """Returns the expression in NESL and the function in Python that compute checksums."""
    return CHECKS[chosen] if isinstance(chosen, str) else chosen


def write_inputs(values, folder, precision):
    """Writes inputs into a folder; returns the text in NESL that reads them."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return "".join(f"{name} = {_reading(name, value, folder, precision)};\n" for name, value in values.items())


def _reading(name, value, folder, precision):
    if isinstance(value, Ragged):
        return (f"partition({_reading(name, value.values, folder, precision)}, "
                f"{_reading(name + '_lengths', value.lengths, folder, precision)})")
    if isinstance(value, list):
        return f"linify({_reading(name, chr(10).join(value), folder, precision)})"
    path = folder / name
    if isinstance(value, str):
        path.write_text(value)
        return f'read_string_from_file("{path}")'
    if isinstance(value, np.ndarray):
        real = value.dtype.kind == "f"
        if real and precision == 32:
            value = value.astype(np.float32)
        np.save(f"{path}.npy", value)
        like = "[" * value.ndim + ("0.0" if real else "0") + "]" * value.ndim
        return f'read_npy({like}, "{path}.npy")'
    return repr(float(value)) if isinstance(value, float) else str(int(value))
