"""Work on the rows of nested data: few long rows, many short ones, and ragged ones between."""

import numpy as np

from .suite import Ragged, loop, parallel, prange, program, random


def _ragged(n, low, high, seed, ints=False, limit=1000):
    rng = random(seed)
    lengths = rng.integers(low, high, max(2 * n // (low + high), 1))
    size = lengths.sum()
    return {"rows": Ragged(rng.integers(0, limit, size) if ints else rng.random(size), lengths)}


def _flat(rows):
    return rows.values, rows.starts


@parallel
def _sort_rows(values, starts):
    out = np.empty_like(values)
    for r in prange(len(starts) - 1):
        out[starts[r]:starts[r + 1]] = np.sort(values[starts[r]:starts[r + 1]])
    return out


def _sort_rows_numpy(values, starts):
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return values[np.lexsort((values, rows))]


for _name, _low, _high, _seed in (("short", 0, 40, 1), ("middle", 50, 150, 2), ("long", 100_000, 150_000, 3)):
    program(
        f"sort-rows-{_name}", n=500_000, check="float rows",
        inputs=lambda n, low=_low, high=_high, seed=_seed: _ragged(n, low, high, seed),
        nesl="", form="{sort(row) : row in rows}", numba=(_flat, _sort_rows), numpy=(_flat, _sort_rows_numpy))


@parallel
def _rank_rows(values, starts):
    out = np.empty(len(values), np.int64)
    for r in prange(len(starts) - 1):
        order = np.argsort(values[starts[r]:starts[r + 1]], kind="mergesort")
        for k in range(len(order)):
            out[starts[r] + order[k]] = k
    return out


program(
    "rank-rows", n=300_000, inputs=lambda n: _ragged(n, 0, 40, 4, ints=True), check="int rows",
    nesl="", form="{rank(row) : row in rows}", numba=(_flat, _rank_rows))


@loop
def _count_rows(values, starts):
    keys, counts = np.empty_like(values), np.empty_like(values)
    n = 0
    for r in range(len(starts) - 1):
        row = np.sort(values[starts[r]:starts[r + 1]])
        for k in range(len(row)):
            if k == 0 or row[k] != row[k - 1]:
                keys[n], counts[n] = row[k], 0
                n += 1
            counts[n - 1] += 1
    return keys[:n], counts[:n]


_COUNTS = ("let r = flatten(r) in (#r, sum({k * c : (k, c) in r}), sum({c * c : (k, c) in r}))",
           lambda r: [len(r[0]), (r[0] * r[1]).sum(), (r[1] * r[1]).sum()])

program(
    "histogram-rows", n=300_000, inputs=lambda n: _ragged(n, 0, 40, 5, ints=True, limit=12), check=_COUNTS,
    nesl="", form="{histogram(row) : row in rows}", numba=(_flat, _count_rows))

program(
    "distinct-rows", n=300_000, inputs=lambda n: _ragged(n, 0, 40, 6, ints=True, limit=12),
    check=("let r = flatten(r) in (#r, sum(r))", lambda r: [len(r[0]), r[0].sum()]),
    nesl="", form="{remove_duplicates(row) : row in rows}", numba=(_flat, _count_rows))


@parallel
def _sums(values, starts):
    out = np.empty(len(starts) - 1)
    for r in prange(len(out)):
        total = 0.0
        for x in values[starts[r]:starts[r + 1]]:
            total += x
        out[r] = total
    return out


for _name, _low, _high, _seed in (("short", 0, 40, 7), ("long", 500_000, 700_000, 8)):
    program(
        f"ragged-sums-{_name}", n=4_000_000, check="floats",
        inputs=lambda n, low=_low, high=_high, seed=_seed: _ragged(n, low, high, seed),
        nesl="", form="{sum(row) : row in rows}", numba=(_flat, _sums),
        numpy=(_flat, lambda v, s: np.add.reduceat(np.append(v, 0.0), s[:-1]) * (np.diff(s) > 0)))


program(
    "segmented-max", n=4_000_000, inputs=lambda n: _ragged(n, 1, 30, 9), check="floats",
    nesl="", form="{max_val(row) : row in rows}", numba=(_flat, lambda v, s: _max_rows(v, s)),
    numpy=(_flat, lambda v, s: np.maximum.reduceat(v, s[:-1])))


@parallel
def _max_rows(values, starts):
    out = np.empty(len(starts) - 1)
    for r in prange(len(out)):
        best = values[starts[r]]
        for x in values[starts[r]:starts[r + 1]]:
            best = max(best, x)
        out[r] = best
    return out


@parallel
def _softmax(values, starts):
    out = np.empty_like(values)
    for r in prange(len(starts) - 1):
        first, last = starts[r], starts[r + 1]
        top = values[first]
        for i in range(first, last):
            top = max(top, values[i])
        total = 0.0
        for i in range(first, last):
            out[i] = np.exp(values[i] - top)
            total += out[i]
        for i in range(first, last):
            out[i] /= total
    return out


def _softmax_numpy(values, starts):
    lengths = np.diff(starts)
    powers = np.exp(values - np.repeat(np.maximum.reduceat(values, starts[:-1]), lengths))
    return powers / np.repeat(np.add.reduceat(powers, starts[:-1]), lengths)


program(
    "ragged-softmax", n=1_000_000, inputs=lambda n: _ragged(n, 1, 60, 10), check="float rows",
    nesl="""
function softmax(row) : [float] -> [float] =
  let top = max_val(row);
      powers = {exp(x - top) : x in row};
      total = sum(powers)
  in {x / total : x in powers};
""",
    form="{softmax(row) : row in rows}", numba=(_flat, _softmax), numpy=(_flat, _softmax_numpy))


@loop
def _above_mean(values, starts):
    out, n = np.empty_like(values), 0
    for r in range(len(starts) - 1):
        row = values[starts[r]:starts[r + 1]]
        mean = row.mean()
        for x in row:
            if x > mean:
                out[n] = x
                n += 1
    return out[:n]


def _above_mean_numpy(values, starts):
    lengths = np.diff(starts)
    return values[values > np.repeat(np.add.reduceat(values, starts[:-1]) / lengths, lengths)]


program(
    "filter-rows", n=1_000_000, inputs=lambda n: _ragged(n, 1, 60, 11), check="float rows",
    nesl="""
function above_mean(row) : [float] -> [float] =
  let mean = sum(row) / float(#row) in {x in row | x > mean};
""",
    form="{above_mean(row) : row in rows}", numba=(_flat, _above_mean), numpy=(_flat, _above_mean_numpy))


@parallel
def _medians(values, starts):
    out = np.empty(len(starts) - 1)
    for r in prange(len(out)):
        row = np.sort(values[starts[r]:starts[r + 1]])
        out[r] = row[len(row) // 2]
    return out


program(
    "median-rows", n=500_000, inputs=lambda n: _ragged(n, 1, 60, 12), check="floats",
    nesl="", form="{median(row) : row in rows}", numba=(_flat, _medians))


@parallel
def _scan_rows(values, starts):
    out = np.empty_like(values)
    for r in prange(len(starts) - 1):
        total = 0
        for i in range(starts[r], starts[r + 1]):
            out[i] = total
            total += values[i]
    return out


program(
    "scan-rows", n=2_000_000, inputs=lambda n: _ragged(n, 0, 60, 13, ints=True), check="int rows",
    nesl="", form="{plus_scan(row) : row in rows}", numba=(_flat, _scan_rows))


@parallel
def _find_rows(values, starts, wanted):
    out = np.empty(len(wanted), np.int64)
    for r in prange(len(wanted)):
        at = -1
        for i in range(starts[r], starts[r + 1]):
            if values[i] == wanted[r]:
                at = i - starts[r]
                break
        out[r] = at
    return out


def _rows_and_wanted(n):
    given = _ragged(n, 0, 60, 14, ints=True, limit=50)
    return given | {"wanted": random(14).integers(0, 50, len(given["rows"].lengths))}


program(
    "find-rows", n=2_000_000, inputs=_rows_and_wanted, check="ints",
    nesl="", form="{find(x, row) : x in wanted; row in rows}",
    numba=(lambda rows, wanted: (rows.values, rows.starts, wanted), _find_rows))
