"""Nested loops whose innermost level is short: convolutions, stencils, products, diagonals."""

import numpy as np

from .suite import check_floats, letters, loop, parallel, prange, program, random


def _image(n):
    side = max(int(n ** 0.5), 16)
    rng = random(1)
    return {"image": rng.random((side, side)), "mask": rng.random((5, 5))}


@parallel
def _convolve(image, mask):
    rows, columns = image.shape[0] - 4, image.shape[1] - 4
    out = np.empty((rows, columns))
    for i in prange(rows):
        for j in range(columns):
            total = 0.0
            for a in range(5):
                for b in range(5):
                    total += image[i + a, j + b] * mask[a, b]
            out[i, j] = total
    return out


def _convolve_scipy(image, mask):
    from scipy.ndimage import correlate

    return correlate(image, mask)[2:-2, 2:-2]


program(
    "convolution", n=400_000, inputs=_image, check="float rows",
    nesl="""
function pixel(image, mask, i, j) : ([[float]], [[float]], int, int) -> float =
  sum({sum({image[i + a][j + b] * mask[a][b] : b in [0:5]}) : a in [0:5]});
function convolve(image, mask) : ([[float]], [[float]]) -> [[float]] =
  {{pixel(image, mask, i, j) : j in [0:#image[0] - 4]} : i in [0:#image - 4]};
""",
    form="convolve(image, mask)", numba=_convolve, scipy=_convolve_scipy)

program(
    "convolution-rows", n=400_000, inputs=_image, check="float rows",
    nesl="""
% The same with parts of rows instead of indices. %
function weigh(row, ws, j) : ([float], [float], int) -> float =
  sum({x * w : x in subseq(row, j, j + #ws); w in ws});
function convolve(image, mask) : ([[float]], [[float]]) -> [[float]] =
  {{sum({weigh(row, ws, j) : row in subseq(image, i, i + 5); ws in mask})
    : j in [0:#image[0] - 4]} : i in [0:#image - 4]};
""",
    form="convolve(image, mask)", numba=_convolve, scipy=_convolve_scipy)


@parallel
def _sobel(image):
    rows, columns = image.shape
    out = np.empty_like(image)
    for i in prange(rows):
        up, down = max(i - 1, 0), min(i + 1, rows - 1)
        for j in range(columns):
            left, right = max(j - 1, 0), min(j + 1, columns - 1)
            gx = (image[up, right] + 2.0 * image[i, right] + image[down, right]
                  - image[up, left] - 2.0 * image[i, left] - image[down, left])
            gy = (image[down, left] + 2.0 * image[down, j] + image[down, right]
                  - image[up, left] - 2.0 * image[up, j] - image[up, right])
            out[i, j] = np.sqrt(gx * gx + gy * gy)
    return out


def _sobel_numpy(image):
    wide = np.pad(image, 1, mode="edge")
    gx = (wide[:-2, 2:] + 2 * wide[1:-1, 2:] + wide[2:, 2:] - wide[:-2, :-2] - 2 * wide[1:-1, :-2] - wide[2:, :-2])
    gy = (wide[2:, :-2] + 2 * wide[2:, 1:-1] + wide[2:, 2:] - wide[:-2, :-2] - 2 * wide[:-2, 1:-1] - wide[:-2, 2:])
    return np.sqrt(gx * gx + gy * gy)


program(
    "sobel", n=1_000_000, inputs=lambda n: {"image": _image(n)["image"]}, check="float rows",
    nesl="""
function at(a, i, j) : ([[float]], int, int) -> float =
  a[max(0, min(i, #a - 1))][max(0, min(j, #a[0] - 1))];
function edge(a, i, j) : ([[float]], int, int) -> float =
  let gx = at(a, i - 1, j + 1) + 2.0 * at(a, i, j + 1) + at(a, i + 1, j + 1)
           - at(a, i - 1, j - 1) - 2.0 * at(a, i, j - 1) - at(a, i + 1, j - 1);
      gy = at(a, i + 1, j - 1) + 2.0 * at(a, i + 1, j) + at(a, i + 1, j + 1)
           - at(a, i - 1, j - 1) - 2.0 * at(a, i - 1, j) - at(a, i - 1, j + 1)
  in sqrt(gx * gx + gy * gy);
""",
    form="{{edge(image, i, j) : j in [0:#image[0]]} : i in [0:#image]}", numba=_sobel, numpy=_sobel_numpy)


def _two_vectors(n):
    rng, side = random(2), max(int(n ** 0.5), 8)
    return {"a": rng.random(side), "b": rng.random(side)}


@parallel
def _outer_filtered(a, b):
    # Each row is counted, then filled.
    counts = np.empty(len(a), np.int64)
    for i in prange(len(a)):
        k = 0
        for y in b:
            if a[i] * y > 0.25:
                k += 1
        counts[i] = k
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    out = np.empty(starts[-1])
    for i in prange(len(a)):
        k = starts[i]
        for y in b:
            if a[i] * y > 0.25:
                out[k] = a[i] * y
                k += 1
    return out


def _outer_filtered_numpy(a, b):
    products = np.outer(a, b)
    return products[products > 0.25]


program(
    "outer-filter", n=2_000_000, inputs=_two_vectors, check="float rows",
    nesl="", form="{{x * y : y in b | x * y > 0.25} : x in a}",
    numba=_outer_filtered, numpy=_outer_filtered_numpy)


@parallel
def _outer(a, b):
    out = np.empty((len(a), len(b)))
    for i in prange(len(a)):
        for j in range(len(b)):
            out[i, j] = max(a[i] * b[j], 0.25)
    return out


program(
    "outer-product", n=2_000_000, inputs=_two_vectors, check="float rows",
    nesl="", form="{{max(x * y, 0.25) : y in b} : x in a}", numba=_outer,
    numpy=lambda a, b: np.maximum(np.outer(a, b), 0.25))


@parallel
def _blur(a):
    out = np.empty_like(a)
    last = len(a) - 1
    for i in prange(len(a)):
        out[i] = 0.25 * a[max(i - 1, 0)] + 0.5 * a[i] + 0.25 * a[min(i + 1, last)]
    return out


def _blur_numpy(a):
    return 0.25 * np.append(a[:1], a[:-1]) + 0.5 * a + 0.25 * np.append(a[1:], a[-1:])


program(
    "stencil-1d", n=2_000_000, inputs=lambda n: {"a": random(3).random(n)}, check="floats",
    nesl="", form="{0.25 * l + 0.5 * x + 0.25 * r : l in previous(a, a[0]); x in a; r in next(a, a[#a - 1])}",
    numba=_blur, numpy=_blur_numpy)


@parallel
def _plate(a, steps):
    rows, columns = a.shape
    for _ in range(steps):
        b = a.copy()
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        a = b
    return a


def _plate_numpy(a, steps):
    for _ in range(steps):
        b = a.copy()
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a = b
    return a


program(
    "heat-2d", n=4_000_000, check="float rows",
    inputs=lambda n: {"a": _image(n // 20)["image"], "steps": 20},
    nesl="""
function step(a) : [[float]] -> [[float]] =
  {{(if i == 0 or j == 0 or i == #a - 1 or j == #a[0] - 1 then a[i][j]
     else 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]))
    : j in [0:#a[0]]} : i in [0:#a]};
function simulate(a, steps) : ([[float]], int) -> [[float]] =
  if steps == 0 then a else simulate(step(a), steps - 1);
""",
    form="simulate(a, steps)", numba=_plate, numpy=_plate_numpy)


def _cube(n):
    side = max(int(round(n ** (1 / 3))), 8)
    return {"cells": random(4).random(side ** 3), "side": side}


@parallel
def _stencil_3d(cells, side):
    a = cells.reshape(side, side, side)
    b = a.copy()
    for i in prange(1, side - 1):
        for j in range(1, side - 1):
            for k in range(1, side - 1):
                b[i, j, k] = 0.4 * a[i, j, k] + 0.1 * (
                    a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k]
                    + a[i, j, k - 1] + a[i, j, k + 1])
    return b


def _stencil_3d_numpy(cells, side):
    a = cells.reshape(side, side, side)
    b = a.copy()
    b[1:-1, 1:-1, 1:-1] = 0.4 * a[1:-1, 1:-1, 1:-1] + 0.1 * (
        a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
        + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:])
    return b


program(
    "stencil-3d", n=1_000_000, inputs=_cube,
    check=("check_floats(flatten(flatten(r)))", check_floats),
    nesl="""
cube = group_by(group_by(cells, side), side);
function inside(i, n) : (int, int) -> bool = i > 0 and i < n - 1;
function step(a) : [[[float]]] -> [[[float]]] =
  let n = #a
  in {{{(if inside(i, n) and inside(j, n) and inside(k, n)
         then 0.4 * a[i][j][k]
              + 0.1 * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k]
                       + a[i][j][k - 1] + a[i][j][k + 1])
         else a[i][j][k])
        : k in [0:n]} : j in [0:n]} : i in [0:n]};
""",
    form="step(cube)", numba=_stencil_3d, numpy=_stencil_3d_numpy)


def _two_words(n):
    rng, side = random(5), max(int(n ** 0.5), 8)
    return {name: "".join("acgt"[k] for k in rng.integers(0, 4, side)) for name in "ab"}


@loop
def _lcs(a, b):
    row = np.zeros(len(b) + 1, np.int64)
    for i in range(len(a)):
        diagonal = 0
        for j in range(1, len(b) + 1):
            above = row[j]
            row[j] = diagonal + 1 if a[i] == b[j - 1] else max(above, row[j - 1])
            diagonal = above
    return row[len(b)]


def _lcs_numpy(a, b):
    n = len(a)
    before, last = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for d in range(2, 2 * n + 1):
        low, high = max(1, d - n), min(d - 1, n)
        new = np.zeros(n + 1, np.int64)
        i = slice(low, high + 1)
        same = a[low - 1:high] == b[d - high - 1:d - low][::-1]
        new[i] = np.where(same, before[low - 1:high] + 1, np.maximum(last[low - 1:high], last[i]))
        before, last = last, new
    return last[n]


_letters = (lambda a, b: (letters(a), letters(b)))

program(
    "lcs-diagonals", n=4_000_000, inputs=_two_words, check="number",
    nesl="""
% The longest common subsequence of words of equal length, diagonal by diagonal; element i of a diagonal
  d is the cell (i, d - i). %
function diagonal(a, b, before, last, d) : ([char], [char], [int], [int], int) -> [int] =
  {(if i == 0 or i >= d or d - i > #b then 0
    else if a[i - 1] == b[d - i - 1] then before[i - 1] + 1
    else max(last[i - 1], last[i]))
   : i in [0:#a + 1]};
function go(a, b, before, last, d) : ([char], [char], [int], [int], int) -> int =
  if d > #a + #b then last[#a] else go(a, b, last, diagonal(a, b, before, last, d), d + 1);
""",
    form="go(a, b, dist(0, #a + 1), dist(0, #a + 1), 2)",
    numba=(_letters, _lcs), numpy=(_letters, _lcs_numpy))

program(
    "lcs-rows", n=4_000_000, inputs=_two_words, check="number",
    nesl="""
% Row by row, with a scan along each row: a cell is the largest of what came before it. %
function next_row(row, c, b) : ([int], char, [char]) -> [int] =
  let best = {max(here, left + btoi(c == d)) : here in row; left in previous(row, 0); d in b}
  in {max(x, y) : x in best; y in max_scan(best)};
function rows(row, a, b, i) : ([int], [char], [char], int) -> int =
  if i == #a then row[#row - 1] else rows(next_row(row, a[i], b), a, b, i + 1);
""",
    form="rows(dist(0, #b), a, b, 0)", numba=(_letters, _lcs), numpy=(_letters, _lcs_numpy))


def _points(n):
    side = max(int(n ** 0.5), 8)
    return {"points": random(6).random((side, 3))}


@parallel
def _distances(points):
    n = len(points)
    out = np.empty((n, n))
    for i in prange(n):
        for j in range(n):
            d = 0.0
            for k in range(3):
                d += (points[i, k] - points[j, k]) ** 2
            out[i, j] = np.sqrt(d)
    return out


def _distances_scipy(points):
    from scipy.spatial.distance import cdist

    return cdist(points, points)


program(
    "distance-matrix", n=2_000_000, inputs=_points, check="float rows",
    nesl="", form="{{sqrt(sum({(x - y) ^ 2 : x in p; y in q})) : q in points} : p in points}",
    numba=_distances, scipy=_distances_scipy)
