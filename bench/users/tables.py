"""Loops that change the rows of a table in each turn, and sieves over several sequences in each of many turns."""

import numpy as np

from .suite import loop, parallel, prange, program, random


def _distances(n):
    side = max(int(n ** 0.5), 4)
    return {"d": random(1).integers(1, 1000, (side, side))}


@parallel
def _shortest(d):
    d = d.copy()
    n = len(d)
    for k in range(n):
        for i in prange(n):
            dik = d[i, k]
            for j in range(n):
                d[i, j] = min(d[i, j], dik + d[k, j])
    return d


def _shortest_numpy(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k:k + 1] + d[k])
    return d


program("shortest-paths", n=40_000, inputs=_distances, check="int rows", nesl="""
% All shortest distances (Floyd and Warshall). %
function shortest(d, k) : ([[int]], int) -> [[int]] =
  if k == #d then d
  else let dk = d[k] in shortest({let x = row[k] in {min(y, x + z) : y in row; z in dk} : row in d}, k + 1);
""", form="shortest(d, 0)", numba=_shortest, numpy=_shortest_numpy)


def _relation(n):
    side = max(int(n ** 0.5), 4)
    return {"r": (random(2).random((side, side)) < 1.5 / side).astype(np.int64)}


@parallel
def _closure(r):
    r = r > 0
    n = len(r)
    for k in range(n):
        for i in prange(n):
            if r[i, k]:
                for j in range(n):
                    r[i, j] |= r[k, j]
    return r.astype(np.int64)


def _closure_numpy(r):
    r = r > 0
    for k in range(len(r)):
        r[r[:, k]] |= r[k]
    return r.astype(np.int64)


program("reachability", n=90_000, inputs=_relation, check="int rows", nesl="""
% The transitive closure of a relation (Warshall). %
function reach(r, k) : ([[bool]], int) -> [[bool]] =
  if k == #r then r
  else let rk = r[k] in reach({(if row[k] then {x or y : x in row; y in rk} else row) : row in r}, k + 1);
""",
        form="{{(if x then 1 else 0) : x in row} : row in reach({{x > 0 : x in row} : row in r}, 0)}",
        numba=_closure, numpy=_closure_numpy)


def _points(n):
    count = max(int(n ** 0.5), 4)
    numbers = random(3)
    return {"xs": numbers.random(count), "ys": numbers.random(count)}


@loop
def _weights(xs, ys):
    out = np.empty(len(xs))
    for i in range(len(xs)):
        total = 0.0
        for j in range(len(xs)):
            if ys[j] > ys[i]:
                total += xs[j] * xs[i]
        out[i] = total
    return out


def _weights_numpy(xs, ys):
    return np.where(ys > ys[:, None], xs * xs[:, None], 0.0).sum(axis=1)


program("higher-points", n=1_000_000, inputs=_points, check="floats", nesl="""
% The weights of the points that lie higher than each. %
function weight(xs, ys, a, b) : ([float], [float], float, float) -> float = sum({x * a : x in xs; y in ys | y > b});
""", form="{weight(xs, ys, a, b) : a in xs; b in ys}", numba=_weights, numpy=_weights_numpy)
