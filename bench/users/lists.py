"""Sequences as lists: recursion that puts what it finds before what a call of itself gives for the rest."""

import numpy as np

from .suite import loop, program, random


def _halves(n):
    rng = random(6)
    return {name: np.sort(rng.integers(0, 4 * n, n // 2)) for name in "ab"}


@loop
def _merge(a, b):
    merged = np.empty(len(a) + len(b), np.int64)
    i = j = 0
    for k in range(len(merged)):
        if j == len(b) or i < len(a) and a[i] <= b[j]:
            merged[k] = a[i]
            i += 1
        else:
            merged[k] = b[j]
            j += 1
    return merged


program("list-merge", n=400_000, inputs=_halves, check="ints", nesl="""
% Two sorted sequences as one. %
function merged(a, b) : ([int], [int]) -> [int] =
  if #a == 0 then b else if #b == 0 then a
  else if a[0] <= b[0] then cons(a[0], merged(drop(a, 1), b))
  else cons(b[0], merged(a, drop(b, 1)));
""", form="merged(a, b)", numba=_merge)


@loop
def _runs(xs):
    runs = np.empty(2 * len(xs), np.int64)
    k = i = 0
    while i < len(xs):
        j = i + 1
        while j < len(xs) and xs[j] == xs[i]:
            j += 1
        runs[k] = xs[i]
        runs[k + 1] = j - i
        k += 2
        i = j
    return runs[:k]


program("list-runs", n=400_000, inputs=lambda n: {"xs": np.repeat(random(7).integers(0, 100, n // 4), 4)}, check="ints", nesl="""
% Runs of equal numbers: each number and how often it comes. %
function ends(xs, i) : ([int], int) -> int = if i == #xs then i else if xs[i] == xs[0] then ends(xs, i + 1) else i;
function runs(xs) : [int] -> [int] =
  if #xs == 0 then [] int else let k = ends(xs, 1) in [xs[0], k] ++ runs(drop(xs, k));
""", form="runs(xs)", numba=_runs)


@loop
def _records(xs):
    records = np.empty(len(xs), np.int64)
    k = 0
    for i in range(len(xs)):
        if xs[i] % 3 == 0:
            records[k] = xs[i] // 3
            k += 1
    return records[:k]


program("list-filter", n=400_000, inputs=lambda n: {"xs": random(8).integers(0, 1_000_000, n)}, check="ints", nesl="""
% What a condition holds for, with the rest first. %
function thirds(xs) : [int] -> [int] =
  if #xs == 0 then [] int
  else let rest = thirds(drop(xs, 1)) in if rem(xs[0], 3) == 0 then cons(xs[0] / 3, rest) else rest;
""", form="thirds(xs)", numba=_records)


@loop
def _sorted_rows(rows):
    rows = rows.copy()
    for r in range(rows.shape[0]):
        for i in range(1, rows.shape[1]):
            x = rows[r, i]
            j = i
            while j > 0 and rows[r, j - 1] > x:
                rows[r, j] = rows[r, j - 1]
                j -= 1
            rows[r, j] = x
    return rows


program("list-insertion", n=40_000, inputs=lambda n: {"rows": random(9).integers(0, 1000, (n // 20, 20))}, check="int rows", nesl="""
% Rows sorted by insertion into the sorted rest. %
function insert(x, v) : (int, [int]) -> [int] =
  if #v == 0 then [x] else if x <= v[0] then cons(x, v) else cons(v[0], insert(x, drop(v, 1)));
function ordered(v) : [int] -> [int] = if #v == 0 then v else insert(v[0], ordered(drop(v, 1)));
""", form="{ordered(v) : v in rows}", numba=_sorted_rows)
