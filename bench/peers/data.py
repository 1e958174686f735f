"""Generates the same inputs as `nesl/*.nesl`, and computes checksums of the results."""

import numpy as np

P = 2147483647


def mix(i):
    """Computes the same function as `mix` in `nesl/data.nesl`."""
    h = (i * 48271 + 11) % P
    squared = h * h % P
    return (squared * h + 12345) % P


def unit(i):
    return mix(i).astype(np.float64) / 2147483647.0


def count(n):
    return np.arange(n, dtype=np.int64)


def columns_of(n, degree):
    """Returns `degree` vertices for each of n, distributed by a power law."""
    t = unit(count(n * degree))
    return (float(n) * t * t * t).astype(np.int64)


def _dot(p):
    return {"a": unit(count(p["n"])), "b": unit(count(p["n"]) + p["n"])}


def _keys(p):
    return {"a": mix(count(p["n"]))}


def _options(p):
    i, real = count(p["n"]), np.float32 if p["precision"] == 32 else np.float64
    return {
        "spot": real(10) + (i % 1000).astype(real) / real(10),
        "strike": real(10) + (i % 911).astype(real) / real(9),
        "years": real(0.25) + (i % 41).astype(real) / real(4),
    }


def _circle(p):
    i = count(p["n"])
    angle, radius = 2.0 * np.pi * unit(2 * i), np.sqrt(unit(2 * i + 1))
    return {"x": radius * np.cos(angle), "y": radius * np.sin(angle)}


def _bodies(p):
    i = 3 * count(p["n"])
    return {"x": unit(i), "y": unit(i + 1), "mass": 0.5 + unit(i + 2)}


def _matrix(p):
    rows = p["rows"]
    lengths = p["width"] + p["longest"] // (1 + mix(count(rows)) % rows)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(count(rows), lengths)
    j = count(starts[-1]) - starts[row]
    return {
        "starts": starts,
        "columns": mix(64 * row + j) % rows,
        "entries": unit(row + j),
        "v": unit(count(rows) + 7),
    }


def _factors(p):
    real = np.float32 if p["precision"] == 32 else np.float64

    def numbers(i, k):
        return ((count(i)[:, None] * 31 + k * 17) % 101).astype(real) / real(101)

    return {
        "a": numbers(p["rows"], count(p["depth"])),
        "b": numbers(p["depth"], count(p["columns"]) + 7),
        "times": p["times"],
    }


def _points(p):
    n, k = p["n"], p["k"]
    points = unit(count(30 * n)).reshape(n, 30)
    return {"points": points, "centres": points[np.arange(k) * (n // k)].copy()}


def _table(p):
    rows, columns = p["rows"], p["columns"]
    table = np.empty((rows, columns))
    for row in range(rows):
        table[row] = unit(count(columns) + columns * row)
    return {"matrix": table}


def _plane(p):
    at = np.arange(p["size"]) / float(p["size"])
    return {"cx": -2.0 + 3.0 * np.arange(p["size"]) / float(p["size"]), "cy": -1.5 + 3.0 * at,
            "limit": p["limit"]}


def _graph(p):
    n, degree = p["n"], p["degree"]
    columns = columns_of(n, degree)
    return {
        "starts": count(n + 1) * degree,
        "columns": columns,
        "outs": np.bincount(columns, minlength=n),
        "steps": p.get("steps", 0),
    }


def _chip(p):
    size = p["size"]
    i = count(size * size)
    return {
        "chip": (320.0 + 10.0 * unit(i)).reshape(size, size),
        "power": unit(i + 5).reshape(size, size),
        "steps": p["steps"],
    }


def _text(p):
    with open(p["file"], encoding="ascii") as file:
        return {"text": file.read()}


INPUTS = {
    "dot": _dot,
    "quicksort": _keys,
    "sort": _keys,
    "batcher": _keys,
    "black_scholes": _options,
    "quickhull": _circle,
    "barnes_hut": _bodies,
    "spmv": _matrix,
    "kmeans": _points,
    "sum_rows": _table,
    "sum_columns": _table,
    "multiply": _factors,
    "gram": _factors,
    "powers": _factors,
    "primes": lambda p: {"n": p["n"]},
    "mandelbrot": _plane,
    "bfs": _graph,
    "pagerank": _graph,
    "hotspot": _chip,
    "word_count": _text,
}


def _check_floats(r):
    r = np.asarray(r, dtype=np.float64).ravel()
    return [r.sum(), r[len(r) // 2], r[-1]]


def _check_sorted(r):
    r = np.asarray(r)
    return [r[0], r[len(r) // 2], r[-1], (r * (count(len(r)) % 7 + 1)).sum()]


def _check_prices(r):
    call, put = (np.asarray(x) for x in r)
    return [x[at] for at in (0, len(call) // 2, -1) for x in (call, put)]


def _check_pairs(r):
    x, y = (np.asarray(v) for v in r)
    return [len(x), np.abs(x).sum(), np.abs(y).sum()]


CHECKS = {
    "dot": lambda r: [r],
    "quicksort": _check_sorted,
    "sort": _check_sorted,
    "batcher": _check_sorted,
    "black_scholes": _check_prices,
    "quickhull": _check_pairs,
    "barnes_hut": _check_pairs,
    "spmv": _check_floats,
    "kmeans": _check_floats,
    "sum_rows": _check_floats,
    "sum_columns": _check_floats,
    "multiply": _check_floats,
    "gram": _check_floats,
    "powers": _check_floats,
    "primes": lambda r: [len(r), r[-1], np.asarray(r).sum()],
    "mandelbrot": lambda r: [np.asarray(r).sum()],
    "bfs": lambda r: [(np.asarray(r) >= 0).sum(), np.asarray(r).sum()],
    "pagerank": _check_floats,
    "hotspot": _check_floats,
    "word_count": list,
}


def check(program, result):
    return [float(x) for x in CHECKS[program](result)]
