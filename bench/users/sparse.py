"""The product of a sparse matrix and a vector, on matrices with the shapes of the fourteen of paper 002."""

import numpy as np

from peers.shared import sparse_times_vector

from .suite import Ragged, program, random

# The name, the rows and columns of the original for each million of entries, entries of a row, and how
# they lie: near the diagonal, anywhere, or few rows with very many.
SHAPES = [
    ("dense", 500, 500, "even"), ("protein", 8400, 8400, "near"), ("spheres", 13800, 13800, "near"),
    ("cantilever", 15500, 15500, "near"), ("wind-tunnel", 18800, 18800, "near"), ("harbour", 19800, 19800, "near"),
    ("qcd", 25800, 25800, "even"), ("ship", 35400, 35400, "near"), ("economics", 163000, 163000, "any"),
    ("epidemiology", 250000, 250000, "even"), ("accelerator", 46000, 46000, "near"),
    ("circuit", 178000, 178000, "any"), ("webbase", 323000, 323000, "power"), ("lp", 354, 97000, "wide"),
]


def _matrix(n, rows, columns, kind):
    rng = random(rows)
    scale = n / 1e6
    if kind == "even" and rows == 500:
        rows = columns = max(int(1000 * scale ** 0.5), 4)
    else:
        rows, columns = max(int(rows * scale), 4), max(int(columns * scale), 16)
    mean = n / rows
    if kind == "even":
        lengths = np.full(rows, max(int(mean), 1))
    elif kind in ("near", "wide"):
        lengths = np.maximum(rng.normal(mean, mean / 4, rows).astype(np.int64), 1)
    elif kind == "any":
        lengths = rng.poisson(mean, rows) + 0
    else:
        lengths = np.minimum((mean / 3 * rng.pareto(1.3, rows) + 1).astype(np.int64), 5000)
    size = lengths.sum()
    row = np.repeat(np.arange(rows), lengths)
    if kind == "near":
        at = np.clip(row * columns // rows + rng.integers(-200, 200, size), 0, columns - 1)
    elif kind == "even" and rows == columns and mean > 900:
        at = np.arange(size) % columns
    else:
        at = rng.integers(0, columns, size)
    return {"columns": Ragged(at, lengths), "entries": Ragged(rng.random(size), lengths), "v": rng.random(columns)}


def _csr(columns, entries, v):
    from scipy.sparse import csr_array

    starts = columns.starts
    return csr_array((entries.values, columns.values, starts), (len(starts) - 1, len(v))), v


for _name, _height, _width, _kind in SHAPES:
    program(
        f"spmv-{_name}", n=4_000_000, check="floats", grows=_name in ("protein", "webbase", "lp"),
        inputs=lambda n, shape=(_height, _width, _kind): _matrix(n, *shape),
        nesl="""
matrix = {zip(c, e) : c in columns; e in entries};
function multiply(matrix, v) : ([[(int, float)]], [float]) -> [float] =
  {sum({x * v[j] : (j, x) in row}) : row in matrix};
""",
        form="multiply(matrix, v)", scipy=(_csr, lambda matrix, v: matrix @ v),
        numba=(lambda columns, entries, v: (columns.starts, columns.values, entries.values, v), sparse_times_vector))
