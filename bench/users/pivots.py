"""Rows of tables that are exchanged, put in and kept, functions of sums, and recursion of a few levels."""

import numpy as np

from .suite import loop, program, random


def _system(n):
    side = max(int(n ** (1 / 3)), 4)
    rng = random(7)
    return {"a": rng.random((side, side)) - 0.5, "b": rng.random(side) - 0.5}


@loop
def _solve(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        for j in range(n):
            a[k, j], a[p, j] = a[p, j], a[k, j]
        b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            c = a[i, k] / a[k, k]
            for j in range(n):
                a[i, j] -= c * a[k, j]
            b[i] -= c * b[k]
    x = np.zeros(n)
    for k in range(n - 1, -1, -1):
        s = 0.0
        for j in range(k + 1, n):
            s += a[k, j] * x[j]
        x[k] = (b[k] - s) / a[k, k]
    return x


program("lu-pivoting", n=27_000_000, inputs=_system, check="floats", nesl="""
% A dense system, solved by elimination with pivots. %
function eliminate(a, b, k) : ([[float]], [float], int) -> ([[float]], [float]) =
  if k == #a then (a, b)
  else let p = k + max_index({abs(r[k]) : r in drop(a, k)});
           a = rep(rep(a, a[p], k), a[k], p);
           b = rep(rep(b, b[p], k), b[k], p);
           row = a[k]; pivot = row[k]; bk = b[k];
           fs = {(if i > k then r[k] / pivot else 0.0) : r in a; i in [0:#a]};
           a = {(if i > k then {x - c * y : x in r; y in row} else r) : r in a; c in fs; i in [0:#a]};
           b = {x - c * bk : x in b; c in fs}
       in eliminate(a, b, k + 1);
function back(a, b, x, k) : ([[float]], [float], [float], int) -> [float] =
  if k < 0 then x
  else let s = sum({u * v : u in drop(a[k], k + 1); v in drop(x, k + 1)})
       in back(a, b, rep(x, (b[k] - s) / a[k][k], k), k - 1);
function solve(a, b) : ([[float]], [float]) -> [float] =
  let (u, c) = eliminate(a, b, 0) in back(u, c, dist(0.0, #a), #a - 1);
""", form="solve(a, b)", numba=_solve, numpy=np.linalg.solve)


def _invertible(n):
    side = max(int((n / 2) ** (1 / 3)), 4)
    return {"a": random(8).random((side, side)) + 2 * np.eye(side)}


@loop
def _inverse(a):
    n = len(a)
    m = np.zeros((n, 2 * n))
    m[:, :n] = a
    for i in range(n):
        m[i, n + i] = 1.0
    for k in range(n):
        p = k
        for i in range(k, n):
            if abs(m[i, k]) > abs(m[p, k]):
                p = i
        for j in range(2 * n):
            m[k, j], m[p, j] = m[p, j], m[k, j]
        q = m[k, k]
        for j in range(2 * n):
            m[k, j] /= q
        for i in range(n):
            if i != k and abs(m[i, k]) > 1e-12:
                c = m[i, k]
                for j in range(2 * n):
                    m[i, j] -= c * m[k, j]
    return m[:, n:].copy()


program("gauss-jordan", n=5_500_000, inputs=_invertible, check="float rows", nesl="""
% The inverse of a matrix, with the identity put behind it. %
function eliminate(a, k) : ([[float]], int) -> [[float]] =
  if k == #a then a
  else let p = max_index({if i < k then -1.0 else abs(r[k]) : r in a; i in [0:#a]});
           b = rep(rep(a, a[k], p), a[p], k);
           pivot = {x / b[k][k] : x in b[k]};
           c = {if abs(r[k]) > 0.000000000001 then {x - r[k] * y : x in r; y in pivot} else r : r in b}
       in eliminate(rep(c, pivot, k), k + 1);
function inverse(a) : [[float]] -> [[float]] =
  {drop(r, #a) : r in eliminate({r ++ {if i == j then 1.0 else 0.0 : j in [0:#a]} : r in a; i in [0:#a]}, 0)};
""", form="inverse(a)", numba=_inverse, numpy=np.linalg.inv)


def _points(n):
    side = max(int((n / 8) ** 0.5), 4)
    rng = random(9)
    return {"xs": rng.random((side, 8)), "ys": rng.random((side, 8))}


@loop
def _kernel_sums(xs, ys):
    sums = np.zeros(len(xs))
    for i in range(len(xs)):
        for k in range(len(ys)):
            s = 0.0
            for j in range(xs.shape[1]):
                s += (xs[i, j] - ys[k, j]) ** 2
            sums[i] += np.exp(-s)
    return sums


program("radial-kernel", n=8_000_000, inputs=_points, check="floats", nesl="""
% The sums of a radial kernel over points of eight coordinates. %
function kernel(x, y) : ([float], [float]) -> float = exp(-sum({(a - b) ^ 2 : a in x; b in y}));
function sums(xs, ys) : ([[float]], [[float]]) -> [float] = {sum({kernel(x, y) : y in ys}) : x in xs};
""", form="sums(xs, ys)", numba=_kernel_sums)


def _values(n):
    rng = random(10)
    ends = np.sort(rng.integers(0, n, (n, 2)), axis=1)
    return {"values": rng.integers(0, 1 << 30, n), "lows": ends[:, 0].copy(), "highs": ends[:, 1] + 1}


@loop
def _range_minima(values, lows, highs):
    n = len(values)
    levels = 1
    while (1 << levels) <= n:
        levels += 1
    table = np.empty((levels, n), np.int64)
    table[0] = values
    for k in range(1, levels):
        half = 1 << (k - 1)
        for i in range(n - 2 * half + 1):
            table[k, i] = min(table[k - 1, i], table[k - 1, i + half])
    log = np.zeros(n + 1, np.int64)
    for i in range(2, n + 1):
        log[i] = log[i // 2] + 1
    minima = np.empty(len(lows), np.int64)
    for q in range(len(lows)):
        k = log[highs[q] - lows[q]]
        minima[q] = min(table[k, lows[q]], table[k, highs[q] - (1 << k)])
    return minima


program("sparse-table", n=100_000, inputs=_values, check="ints", nesl="""
% Minima of ranges, from a table of the minima of ranges whose lengths are powers of two. %
function levels(table, row, k) : ([[int]], [int], int) -> [[int]] =
  let table = snoc(table, row) in
  if 2 * k > #table[0] then table
  else levels(table, {min(a, b) : a in take(row, #row - k); b in drop(row, k)}, 2 * k);
function halvings(x) : int -> int = if x < 2 then 0 else 1 + halvings(x / 2);
function minima(values, lows, highs) : ([int], [int], [int]) -> [int] =
  let table = levels([] [int], values, 1);
      logs = {halvings(i) : i in [0:#values + 1]}
  in {let k = logs[r - l] in min(table[k][l], table[k][r - lshift(1, k)]) : l in lows; r in highs};
""", form="minima(values, lows, highs)", numba=_range_minima)


def _grid(n):
    return {"side": max(int(n ** 0.5), 8), "shuffled": random(11).permutation(256)}


@loop
def _gradient(h, x, y):
    h %= 4
    return (x if h % 2 == 0 else -x) + (y if h < 2 else -y)


@loop
def _noise(p, x, y):
    i, j = int(np.floor(x)), int(np.floor(y))
    u, v = x - i, y - j
    fu, fv = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    a, b = p[i % 256], p[(i + 1) % 256]
    low = _gradient(p[(a + j) % 256], u, v)
    low += fu * (_gradient(p[(b + j) % 256], u - 1, v) - low)
    high = _gradient(p[(a + j + 1) % 256], u, v - 1)
    high += fu * (_gradient(p[(b + j + 1) % 256], u - 1, v - 1) - high)
    return low + fv * (high - low)


@loop
def _octaves(p, x, y, k):
    # Numba crashes when it loads a recursive function that calls others from its cache.
    total, part = 0.0, 1.0
    for _ in range(k):
        total += part * _noise(p, x, y)
        x, y, part = 2 * x, 2 * y, part / 2
    return total


@loop
def _clouds(side, shuffled):
    clouds = np.empty((side, side))
    for i in range(side):
        for j in range(side):
            clouds[i, j] = _octaves(shuffled, i / 37, j / 37, 4)
    return clouds


program("octaves", n=100_000, inputs=_grid, check="float rows", nesl="""
% Noise of four octaves, each by a call of the same function. %
function gradient(h, x, y) : (int, float, float) -> float =
  let h = rem(h, 4) in (if rem(h, 2) == 0 then x else -x) + (if h < 2 then y else -y);
function noise(p, x, y) : ([int], float, float) -> float =
  let i = floor(x); j = floor(y);
      u = x - float(i); v = y - float(j);
      fu = u * u * (3.0 - 2.0 * u); fv = v * v * (3.0 - 2.0 * v);
      a = p[rem(i, 256)]; b = p[rem(i + 1, 256)];
      low = gradient(p[rem(a + j, 256)], u, v);
      low = low + fu * (gradient(p[rem(b + j, 256)], u - 1.0, v) - low);
      high = gradient(p[rem(a + j + 1, 256)], u, v - 1.0);
      high = high + fu * (gradient(p[rem(b + j + 1, 256)], u - 1.0, v - 1.0) - high)
  in low + fv * (high - low);
function octaves(p, x, y, k) : ([int], float, float, int) -> float =
  if k == 0 then 0.0 else noise(p, x, y) + 0.5 * octaves(p, 2.0 * x, 2.0 * y, k - 1);
function clouds(p, side) : ([int], int) -> [[float]] =
  {{octaves(p, float(i) / 37.0, float(j) / 37.0, 4) : j in [0:side]} : i in [0:side]};
""", form="clouds(shuffled, side)", numba=_clouds)
