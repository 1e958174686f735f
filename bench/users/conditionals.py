"""Conditionals over rows and elements: elimination, grids, and the applications of paper 003."""

import numpy as np

from peers import numpy_peers
from peers.shared import nearest, times_vector

from .suite import check_floats, loop, parallel, prange, program, random


def _system(n):
    side = max(int(n ** 0.5), 4)
    m = random(1).random((side, side))
    m[np.arange(side), np.arange(side)] += side
    return {"m": m}


@parallel
def _gauss(m):
    m = m.copy()
    n = len(m)
    for i in range(n):
        for k in prange(i + 1, n):
            factor = m[k, i] / m[i, i]
            for j in range(n):
                m[k, j] -= factor * m[i, j]
    return m


def _gauss_numpy(m):
    m = m.copy()
    for i in range(len(m)):
        m[i + 1:] -= np.outer(m[i + 1:, i] / m[i, i], m[i])
    return m


# What is eliminated is zero only up to rounding, so the upper triangle is compared.
program(
    "gauss", n=60_000, inputs=_system,
    check=("check_floats(flatten({{(if j < i then 0.0 else x) : x in row; j in [0:#row]} "
           ": row in r; i in [0:#r]}))", lambda r: check_floats(np.triu(r))),
    nesl="""
% Gaussian elimination without pivoting. %
function eliminate(m, i) : ([[float]], int) -> [[float]] =
  if i == #m then m
  else let pivot = m[i]
       in eliminate({(if k <= i then row
                      else let factor = row[i] / pivot[i] in {x - factor * p : x in row; p in pivot})
                     : row in m; k in [0:#m]}, i + 1);
""",
    form="eliminate(m, 0)", numba=_gauss, numpy=_gauss_numpy)


@parallel
def _lud(m):
    m = m.copy()
    n = len(m)
    for i in range(n):
        for k in prange(i + 1, n):
            m[k, i] /= m[i, i]
            for j in range(i + 1, n):
                m[k, j] -= m[k, i] * m[i, j]
    return m


def _lud_numpy(m):
    m = m.copy()
    for i in range(len(m)):
        m[i + 1:, i] /= m[i, i]
        m[i + 1:, i + 1:] -= np.outer(m[i + 1:, i], m[i, i + 1:])
    return m


program(
    "lud", n=60_000, inputs=_system, check="float rows",
    nesl="""
% LU decomposition in place: the factors stand below the diagonal. %
function decompose(m, i) : ([[float]], int) -> [[float]] =
  if i == #m then m
  else let pivot = m[i]
       in decompose({(if k <= i then row
                      else let factor = row[i] / pivot[i]
                           in {(if j < i then x else if j == i then factor else x - factor * p)
                               : x in row; p in pivot; j in [0:#row]})
                     : row in m; k in [0:#m]}, i + 1);
""",
    form="decompose(m, 0)", numba=_lud, numpy=_lud_numpy)


def _grid(n):
    columns = max(n // 100, 8)
    return {"costs": random(2).integers(0, 10, (100, columns))}


@loop
def _pathfinder(costs):
    row = costs[0].copy()
    new = np.empty_like(row)
    last = len(row) - 1
    for i in range(1, len(costs)):
        for j in range(len(row)):
            best = row[j]
            if j > 0:
                best = min(best, row[j - 1])
            if j < last:
                best = min(best, row[j + 1])
            new[j] = costs[i, j] + best
        row, new = new, row
    return row


def _pathfinder_numpy(costs):
    row = costs[0]
    for cost in costs[1:]:
        best = row.copy()
        best[1:] = np.minimum(best[1:], row[:-1])
        best[:-1] = np.minimum(best[:-1], row[1:])
        row = cost + best
    return row


program(
    "pathfinder", n=4_000_000, inputs=_grid, check="ints",
    nesl="""
% The cheapest way from the first row to each cell of the last; a step goes down or diagonally. %
function next_row(row, cost) : ([int], [int]) -> [int] =
  {c + (if j == 0 then min(row[0], row[1])
        else if j == #row - 1 then min(row[j - 1], row[j])
        else min(min(row[j - 1], row[j]), row[j + 1]))
   : c in cost; j in [0:#row]};
function paths(row, costs, i) : ([int], [[int]], int) -> [int] =
  if i == #costs then row else paths(next_row(row, costs[i]), costs, i + 1);
""",
    form="paths(costs[0], costs, 1)", numba=_pathfinder, numpy=_pathfinder_numpy)


def _image(n):
    side = max(int((n / 5) ** 0.5), 8)
    return {"image": 1.0 + random(3).random((side, side)), "steps": 5}


@parallel
def _srad(image, steps):
    rows, columns = image.shape
    a = image.copy()
    c = np.empty_like(a)
    for _ in range(steps):
        total, squares = 0.0, 0.0
        for i in prange(rows):
            for j in range(columns):
                total += a[i, j]
                squares += a[i, j] * a[i, j]
        mean = total / (rows * columns)
        q0 = (squares / (rows * columns) - mean * mean) / (mean * mean)
        for i in prange(rows):
            for j in range(columns):
                x = a[i, j]
                n, s = a[max(i - 1, 0), j] - x, a[min(i + 1, rows - 1), j] - x
                w, e = a[i, max(j - 1, 0)] - x, a[i, min(j + 1, columns - 1)] - x
                g2 = (n * n + s * s + w * w + e * e) / (x * x)
                l = (n + s + w + e) / x
                q = (0.5 * g2 - l * l / 16.0) / ((1.0 + 0.25 * l) * (1.0 + 0.25 * l))
                k = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))
                c[i, j] = min(max(k, 0.0), 1.0)
        b = np.empty_like(a)
        for i in prange(rows):
            for j in range(columns):
                x, here = a[i, j], c[i, j]
                south, east = c[min(i + 1, rows - 1), j], c[i, min(j + 1, columns - 1)]
                d = (here * (a[max(i - 1, 0), j] - x) + south * (a[min(i + 1, rows - 1), j] - x)
                     + here * (a[i, max(j - 1, 0)] - x) + east * (a[i, min(j + 1, columns - 1)] - x))
                b[i, j] = x + 0.125 * d
        a = b
    return a


def _srad_numpy(image, steps):
    a = image
    for _ in range(steps):
        q0 = a.var() / a.mean() ** 2
        wide = np.pad(a, 1, mode="edge")
        n, s = wide[:-2, 1:-1] - a, wide[2:, 1:-1] - a
        w, e = wide[1:-1, :-2] - a, wide[1:-1, 2:] - a
        g2, l = (n * n + s * s + w * w + e * e) / (a * a), (n + s + w + e) / a
        q = (0.5 * g2 - l * l / 16) / (1 + 0.25 * l) ** 2
        c = np.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)
        wide = np.pad(c, 1, mode="edge")
        a = a + 0.125 * (c * n + wide[2:, 1:-1] * s + c * w + wide[1:-1, 2:] * e)
    return a


program(
    "srad", n=1_000_000, inputs=_image, check="float rows",
    nesl="""
% Speckle reducing anisotropic diffusion (Rodinia). %
function coefficient(x, n, s, w, e, q0) : (float, float, float, float, float, float) -> float =
  let g2 = (n * n + s * s + w * w + e * e) / (x * x);
      l = (n + s + w + e) / x;
      q = (0.5 * g2 - l * l / 16.0) / ((1.0 + 0.25 * l) * (1.0 + 0.25 * l));
      k = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))
  in if k < 0.0 then 0.0 else if k > 1.0 then 1.0 else k;
function step(a) : [[float]] -> [[float]] =
  let rows = #a; columns = #a[0];
      size = float(rows * columns);
      mean = sum({sum(row) : row in a}) / size;
      squares = sum({sum({x * x : x in row}) : row in a}) / size;
      q0 = (squares - mean * mean) / (mean * mean);
      c = {{let x = a[i][j]
            in coefficient(x, a[max(i - 1, 0)][j] - x, a[min(i + 1, rows - 1)][j] - x,
                           a[i][max(j - 1, 0)] - x, a[i][min(j + 1, columns - 1)] - x, q0)
            : j in [0:columns]} : i in [0:rows]}
  in {{let x = a[i][j]; here = c[i][j];
           down = min(i + 1, rows - 1); right = min(j + 1, columns - 1)
       in x + 0.125 * (here * (a[max(i - 1, 0)][j] - x) + c[down][j] * (a[down][j] - x)
                       + here * (a[i][max(j - 1, 0)] - x) + c[i][right] * (a[i][right] - x))
       : j in [0:columns]} : i in [0:rows]};
function diffuse(a, steps) : ([[float]], int) -> [[float]] =
  if steps == 0 then a else diffuse(step(a), steps - 1);
""",
    form="diffuse(image, steps)", numba=_srad, numpy=_srad_numpy)


def _records(n):
    rng = random(4)
    return {"lats": 90.0 * rng.random(n), "longs": 180.0 * rng.random(n)}


@parallel
def _distances(lats, longs):
    out = np.empty(len(lats))
    for i in prange(len(lats)):
        out[i] = np.sqrt((lats[i] - 30.0) ** 2 + (longs[i] - 90.0) ** 2)
    return out


program(
    "nearest-neighbour", n=1_000_000, inputs=_records, check="floats",
    nesl="""
% The distances of the five records nearest to a place. %
function nearest(lats, longs, lat, long, k) : ([float], [float], float, float, int) -> [float] =
  take(sort({sqrt((a - lat) ^ 2 + (b - long) ^ 2) : a in lats; b in longs}), k);
""",
    form="nearest(lats, longs, 30.0, 90.0, 5)",
    numba=lambda lats, longs: np.sort(np.partition(_distances(lats, longs), 5)[:5]),
    numpy=lambda lats, longs: np.sort(np.sqrt((lats - 30.0) ** 2 + (longs - 90.0) ** 2))[:5])


def _weighted(n):
    side = max(int(n ** 0.5), 8)
    rng = random(5)
    return {"m": rng.random((side, side)), "weights": rng.random(side)}


@parallel
def _column_sums(m, weights):
    out = np.zeros(m.shape[1])
    for b in prange((m.shape[1] + 255) // 256):
        for i in range(len(m)):
            for j in range(b * 256, min(b * 256 + 256, m.shape[1])):
                out[j] += m[i, j] * weights[i]
    return out


program(
    "weighted-row-sums", n=4_000_000, inputs=_weighted, check="floats",
    nesl="", form="{sum({x * w : x in row; w in weights}) : row in m}",
    numba=lambda m, weights: times_vector(m, weights), numpy=lambda m, weights: m @ weights)

program(
    "weighted-column-sums", n=4_000_000, inputs=_weighted, check="floats",
    nesl="", form="{sum({x * w : x in column; w in weights}) : column in transpose(m)}",
    numba=_column_sums, numpy=lambda m, weights: weights @ m)


def _quadratic(n):
    side = max(int(n ** 0.5), 16)
    rng = random(6)
    a = rng.random((side, side)) / side
    a[np.arange(side), np.arange(side)] += 2.0
    return {"a": a, "b": rng.random(side) - 0.7, "chosen": rng.integers(0, side, (20, side // 4))}


@parallel
def _hogwild(a, b, chosen):
    x = np.zeros(len(b))
    for s in range(len(chosen)):
        new = np.empty(chosen.shape[1])
        for k in prange(chosen.shape[1]):
            i = chosen[s, k]
            g = b[i]
            for j in range(len(b)):
                g += a[i, j] * x[j]
            new[k] = min(max(x[i] - g / a[i, i], 0.0), 1.0)
        for k in range(chosen.shape[1]):
            x[chosen[s, k]] = new[k]
    return x


def _hogwild_numpy(a, b, chosen):
    x = np.zeros(len(b))
    for rows in chosen:
        g = a[rows] @ x + b[rows]
        x[rows] = np.clip(x[rows] - g / a[rows, rows], 0.0, 1.0)
    return x


program(
    "hogwild", n=600_000, inputs=_quadratic, check="floats",
    nesl="""
% Stochastic coordinate descent for a quadratic program with bounds: many random rows at once. %
function step(a, b, x, rows) : ([[float]], [float], [float], [int]) -> [float] =
  x <- {let g = sum({c * y : c in a[i]; y in x}) + b[i]
        in (i, min(max(x[i] - g / a[i][i], 0.0), 1.0))
        : i in rows};
function descend(a, b, x, chosen, s) : ([[float]], [float], [float], [[int]], int) -> [float] =
  if s == #chosen then x else descend(a, b, step(a, b, x, chosen[s]), chosen, s + 1);
""",
    form="descend(a, b, dist(0.0, #b), chosen, 0)", numba=_hogwild, numpy=_hogwild_numpy)


def _frames(n):
    rng = random(7)
    return {"frames": rng.random((max(n // 2000, 8), 40)), "centres": rng.random((50, 40))}


program(
    "msm-clustering", n=10_000_000, inputs=_frames, check="ints",
    nesl="""
% Assigns the frames of a trajectory to the nearest of 50 states. %
function squared_distance(p, q) : ([float], [float]) -> float = sum({(x - y) ^ 2 : x in p; y in q});
function assign(frames, centres) : ([[float]], [[float]]) -> [int] =
  {min_index({squared_distance(p, c) : c in centres}) : p in frames};
""",
    form="assign(frames, centres)", numba=lambda frames, centres: nearest(frames, centres),
    numpy=lambda frames, centres: numpy_peers.nearest(frames, centres))


def _documents(n):
    rng = random(8)
    docs = max(n // 500, 8)
    return {"docs": rng.poisson(0.3, (docs, 500)), "labels": rng.integers(0, 2, docs)}


@parallel
def _bayes(docs, labels):
    rows, words = docs.shape
    lengths = np.empty(rows, np.int64)
    for i in prange(rows):
        lengths[i] = docs[i].sum()
    spam, ham = np.zeros(words, np.int64), np.zeros(words, np.int64)
    for i in range(rows):
        for j in range(words):
            if docs[i, j] > 0:
                if labels[i] == 1:
                    spam[j] += 1
                else:
                    ham[j] += 1
    return np.concatenate((lengths, spam, ham))


def _bayes_numpy(docs, labels):
    there = docs > 0
    return np.concatenate([docs.sum(1), there[labels == 1].sum(0), there[labels == 0].sum(0)])


program(
    "naive-bayes", n=2_000_000, inputs=_documents, check="ints",
    nesl="""
% The words of each document, and the documents with each word that are spam and that are not. %
function train(docs, labels) : ([[int]], [int]) -> [int] =
  let lengths = {sum(row) : row in docs};
      columns = transpose(docs);
      spam = {count({c > 0 and l == 1 : c in column; l in labels}) : column in columns};
      ham = {count({c > 0 and l == 0 : c in column; l in labels}) : column in columns}
  in lengths ++ spam ++ ham;
""",
    form="train(docs, labels)", numba=_bayes, numpy=_bayes_numpy)


@parallel
def _tax(a):
    out = np.empty_like(a)
    for i in prange(len(a)):
        x = a[i]
        if x < 10.0:
            out[i] = 0.0
        elif x < 30.0:
            out[i] = 0.2 * (x - 10.0)
        elif x < 80.0:
            out[i] = 4.0 + 0.35 * (x - 30.0)
        else:
            out[i] = 21.5 + 0.5 * np.sqrt(x - 80.0)
    return out


program(
    "brackets", n=4_000_000, inputs=lambda n: {"a": 100.0 * random(9).random(n)}, check="floats",
    nesl="""
function tax(x) : float -> float =
  if x < 10.0 then 0.0
  else if x < 30.0 then 0.2 * (x - 10.0)
  else if x < 80.0 then 4.0 + 0.35 * (x - 30.0)
  else 21.5 + 0.5 * sqrt(x - 80.0);
""",
    form="{tax(x) : x in a}", numba=_tax,
    numpy=lambda a: np.select([a < 10, a < 30, a < 80], [0.0 * a, 0.2 * (a - 10), 4 + 0.35 * (a - 30)],
                              21.5 + 0.5 * np.sqrt(np.maximum(a - 80, 0))))
