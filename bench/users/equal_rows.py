"""Rows of a few elements each, rows computed where they are put, tables of counts in each row, and pieces of text."""

import numpy as np

from .suite import Ragged, loop, parallel, prange, program, random


def _points(n):
    return {"xs": random(1).integers(0, 1000, n)}


@parallel
def _triples(xs):
    out = np.empty(3 * len(xs), np.int64)
    for i in prange(len(xs)):
        out[3 * i] = xs[i]
        out[3 * i + 1] = xs[i] + 1
        out[3 * i + 2] = xs[i] * 2
    return out


program("triples", n=300_000, inputs=_points, check="ints", nesl="""
% Three numbers for each one. %
function triples(xs) : [int] -> [int] = flatten({[x, x + 1, x * 2] : x in xs});
""", form="triples(xs)", numba=_triples)


@parallel
def _bits(xs):
    out = np.empty((len(xs), 8), np.int64)
    for i in prange(len(xs)):
        for k in range(8):
            out[i, k] = (xs[i] >> k) & 1
    return out


program("bits", n=200_000, inputs=_points, check="int rows", nesl="""
% The bits of numbers. %
function bits(xs) : [int] -> [[int]] = {{rshift(x, k) and 1 : k in [0:8]} : x in xs};
""", form="bits(xs)", numba=_bits)


def _hits(n):
    rng = random(2)
    return {"hs": rng.integers(0, 64, n), "vs": rng.integers(0, 8, n)}


@loop
def _counters(hs, vs):
    m = np.zeros((64, 8), np.int64)
    for k in range(len(hs)):
        m[hs[k], vs[k]] += k
    return m


program("cell-counters", n=300_000, inputs=_hits, check="int rows", nesl="""
% Cells of a table that are added to, one after the other. %
function add(m, hs, vs, k) : ([[int]], [int], [int], int) -> [[int]] =
  if k == #hs then m
  else let i = hs[k]; j = vs[k] in add(rep(m, rep(m[i], m[i][j] + k, j), i), hs, vs, k + 1);
""", form="add(dist(dist(0, 8), 64), hs, vs, 0)", numba=_counters)


@loop
def _ageing(hs):
    m = np.zeros((64, 120))
    for k in range(len(hs)):
        i = hs[k]
        for j in range(120):
            m[i, j] = 0.9 * m[i, j] + 0.1 * k
    return m


program("rows-in-place", n=40_000, inputs=_hits, check="float rows", nesl="""
% Rows of a table that are replaced by maps of them. %
function age(m, hs, k) : ([[float]], [int], int) -> [[float]] =
  if k == #hs then m
  else age(rep(m, {0.9 * x + 0.1 * float(k) : x in m[hs[k]]}, hs[k]), hs, k + 1);
""", form="age(dist(dist(0.0, 120), 64), hs, 0)", numba=lambda hs, vs: _ageing(hs))


def _cells(n):
    return {"cells": random(3).integers(0, 256, (max(n // 256, 1), 256))}


@parallel
def _histograms(cells):
    out = np.zeros((len(cells), 256), np.int64)
    for i in prange(len(cells)):
        for j in range(256):
            out[i, cells[i, j]] += 1
    return out


program("cell-histograms", n=131_072, inputs=_cells, check="int rows", nesl="""
% A histogram of each cell of a picture, from groups. %
function counts(cell) : [int] -> [int] =
  dist(0, 256) <- {(k, #v) : (k, v) in int_collect({(x, 1) : x in cell})};
""", form="{counts(c) : c in cells}", numba=_histograms)


def _sales(n):
    rng = random(4)
    return {"keys": rng.integers(0, 480, n), "amounts": rng.random(n)}


@loop
def _totals(keys, amounts):
    out = np.zeros(500)
    for k in range(len(keys)):
        out[keys[k]] += amounts[k]
    return out


program("table-of-groups", n=300_000, inputs=_sales, check="floats", nesl="""
% Groups that are written to a table of all keys, and added up. %
function totals(keys, amounts) : ([int], [float]) -> [float] =
  {sum(v) : v in dist([] float, 500) <- int_collect(zip(keys, amounts))};
""", form="totals(keys, amounts)", numba=_totals)


def _picture(n):
    side = max(int(n ** 0.5), 8)
    return {"a": random(5).random((side, side))}


@parallel
def _blurred(a):
    h, w = a.shape
    out = np.empty((h, w))
    for i in prange(h):
        for j in range(w):
            s = 0.0
            for di in range(-2, 3):
                for dj in range(-2, 3):
                    s += a[max(0, min(h - 1, i + di)), max(0, min(w - 1, j + dj))]
            out[i, j] = s
    return out


program("clamped-blur", n=40_000, inputs=_picture, check="float rows", nesl="""
% Sums of 5 by 5 points, where the picture goes on at its border. %
function at(a, i, j) : ([[float]], int, int) -> float = a[max(0, min(#a - 1, i))][max(0, min(#a[0] - 1, j))];
function blurred(a) : [[float]] -> [[float]] =
  {{sum({sum({at(a, i + di, j + dj) : dj in [-2:3]}) : di in [-2:3]}) : j in [0:#a[0]]} : i in [0:#a]};
""", form="blurred(a)", numba=_blurred)


def _rows(n):
    lengths = random(6).integers(0, 7, n // 3)
    return {"rows": Ragged(random(7).integers(0, 10, int(lengths.sum())), lengths)}


@loop
def _large(starts, values):
    out = np.empty(len(values), np.int64)
    count = 0
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            if values[j] > 5:
                out[count] = values[j]
                count += 1
    return out[:count]


program("short-filters", n=300_000, inputs=_rows, check="ints", nesl="""
% The large numbers of each of many short rows. %
function large(rows) : [[int]] -> [[int]] = {{x : x in r | x > 5} : r in rows};
""", form="flatten(large(rows))", numba=(lambda rows: (rows.starts, rows.values), _large))
