"""Neighbours at borders, wrapped around, clamped or left out; and matrices whose trailing part changes."""

import numpy as np

from .suite import check_ints, letters, loop, parallel, prange, program, random


def _board(n):
    side = max(int(n ** 0.5), 16)
    return {"board": random(11).integers(0, 2, (side, side))}


@parallel
def _life_wrapped(board):
    rows, columns = board.shape
    out = np.empty_like(board)
    for i in prange(rows):
        up, down = (i + rows - 1) % rows, (i + 1) % rows
        for j in range(columns):
            left, right = (j + columns - 1) % columns, (j + 1) % columns
            k = (board[up, left] + board[up, j] + board[up, right] + board[i, left] + board[i, right]
                 + board[down, left] + board[down, j] + board[down, right])
            out[i, j] = 1 if k == 3 or (k == 2 and board[i, j] == 1) else 0
    return out


def _life_wrapped_numpy(board):
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    k = sum(np.roll(board, shift, axis=(0, 1)) for shift in around)
    return ((k == 3) | ((k == 2) & (board == 1))).astype(np.int64)


program(
    "life-wrapped", n=1_000_000, inputs=_board,
    check=("check_ints(flatten(r))", lambda board: check_ints(board.ravel())),
    nesl="""
function around(b, i, j) : ([[int]], int, int) -> int =
  let n = #b; m = #b[0];
      up = rem(i + n - 1, n); down = rem(i + 1, n); left = rem(j + m - 1, m); right = rem(j + 1, m)
  in b[up][left] + b[up][j] + b[up][right] + b[i][left] + b[i][right]
     + b[down][left] + b[down][j] + b[down][right];
function generation(b) : [[int]] -> [[int]] =
  {{(let k = around(b, i, j) in if k == 3 or (k == 2 and x == 1) then 1 else 0)
    : x in row; j in [0:#row]} : row in b; i in [0:#b]};
""",
    form="generation(board)", numba=_life_wrapped, numpy=_life_wrapped_numpy)


@parallel
def _life_bordered(board):
    rows, columns = board.shape
    out = np.empty_like(board)
    for i in prange(rows):
        for j in range(columns):
            k = 0
            for a in range(i - 1, i + 2):
                for b in range(j - 1, j + 2):
                    if (a != i or b != j) and 0 <= a < rows and 0 <= b < columns:
                        k += board[a, b]
            out[i, j] = 1 if k == 3 or (k == 2 and board[i, j] == 1) else 0
    return out


def _life_bordered_numpy(board):
    wide = np.pad(board, 1)
    k = (wide[:-2, :-2] + wide[:-2, 1:-1] + wide[:-2, 2:] + wide[1:-1, :-2] + wide[1:-1, 2:]
         + wide[2:, :-2] + wide[2:, 1:-1] + wide[2:, 2:])
    return ((k == 3) | ((k == 2) & (board == 1))).astype(np.int64)


program(
    "life-bordered", n=1_000_000, inputs=_board,
    check=("check_ints(flatten(r))", lambda board: check_ints(board.ravel())),
    nesl="""
function cell(b, i, j) : ([[int]], int, int) -> int =
  if i < 0 or i >= #b then 0 else if j < 0 or j >= #b[i] then 0 else b[i][j];
function around(b, i, j) : ([[int]], int, int) -> int =
  cell(b, i - 1, j - 1) + cell(b, i - 1, j) + cell(b, i - 1, j + 1) + cell(b, i, j - 1) + cell(b, i, j + 1)
  + cell(b, i + 1, j - 1) + cell(b, i + 1, j) + cell(b, i + 1, j + 1);
function generation(b) : [[int]] -> [[int]] =
  {{(let k = around(b, i, j) in if k == 3 or (k == 2 and x == 1) then 1 else 0)
    : x in row; j in [0:#row]} : row in b; i in [0:#b]};
""",
    form="generation(board)", numba=_life_bordered, numpy=_life_bordered_numpy)


def _picture(n):
    side = max(int(n ** 0.5), 16)
    return {"image": random(12).random((side, side))}


@parallel
def _box_blur(image):
    rows, columns = image.shape
    out = np.empty_like(image)
    for i in prange(rows):
        for j in range(columns):
            total = 0.0
            for a in range(i - 1, i + 2):
                for b in range(j - 1, j + 2):
                    total += image[min(max(a, 0), rows - 1), min(max(b, 0), columns - 1)]
            out[i, j] = total / 9.0
    return out


def _box_blur_scipy(image):
    from scipy.ndimage import uniform_filter

    return uniform_filter(image, 3, mode="nearest")


program(
    "box-blur", n=1_000_000, inputs=_picture, check="float rows",
    nesl="""
function clamp(x, m) : (int, int) -> int = if x < 0 then 0 else if x > m then m else x;
function blur(a) : [[float]] -> [[float]] =
  let n = #a; m = #a[0]
  in {{sum({sum({a[clamp(i + di, n - 1)][clamp(j + dj, m - 1)] : dj in [-1, 0, 1]}) : di in [-1, 0, 1]}) / 9.0
       : j in [0:m]} : i in [0:n]};
""",
    form="blur(image)", numba=_box_blur, scipy=_box_blur_scipy)


def _two_words(n):
    rng, side = random(13), max(int(n ** 0.5), 8)
    return {name: "".join("acgt"[k] for k in rng.integers(0, 4, side)) for name in "ab"}


@loop
def _edit_distance(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal, row[0] = row[0], i + 1
        for j in range(1, len(b) + 1):
            above = row[j]
            row[j] = min(min(above, row[j - 1]) + 1, diagonal + (a[i] != b[j - 1]))
            diagonal = above
    return row[len(b)]


program(
    "edit-diagonals", n=4_000_000, inputs=_two_words, check="number",
    nesl="""
function diagonal(a, b, last, before, d) : ([char], [char], [int], [int], int) -> [int] =
  {(if i < max(0, d - #b) or i > min(d, #a) then 0
    else if i == 0 or i == d then d
    else min(min(last[i], last[i - 1]) + 1, before[i - 1] + btoi(a[i - 1] /= b[d - i - 1])))
   : i in [0:#a + 1]};
function go(a, b, last, before, d) : ([char], [char], [int], [int], int) -> int =
  if d > #a + #b then last[#a] else go(a, b, diagonal(a, b, last, before, d), last, d + 1);
""",
    form="go(a, b, dist(0, #a + 1), dist(0, #a + 1), 0)",
    numba=(lambda a, b: (letters(a), letters(b)), _edit_distance))


def _distances(n):
    side = max(int(round(n ** (1 / 3))), 8)
    return {"d": random(14).random((side, side))}


@loop
def _all_pairs(d):
    d = d.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def _all_pairs_numpy(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[k])
    return d


program(
    "all-pairs", n=1_000_000, inputs=_distances, check="float rows",
    nesl="""
function all_pairs(d, k) : ([[float]], int) -> [[float]] =
  if k == #d then d
  else let through = d[k]
       in all_pairs({let x = row[k] in {min(y, x + z) : y in row; z in through} : row in d}, k + 1);
""",
    form="all_pairs(d, 0)", numba=_all_pairs, numpy=_all_pairs_numpy)


def _positive_definite(n):
    side = max(int(round(n ** (1 / 3))), 8)
    a = random(15).random((side, side))
    return {"m": a @ a.T + side * np.eye(side)}


@loop
def _cholesky(m):
    a = m.copy()
    n = len(a)
    for k in range(n):
        d = np.sqrt(a[k, k])
        a[k, k] = d
        for i in range(k + 1, n):
            a[i, k] /= d
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[j, k]
    return np.tril(a)


program(
    "cholesky", n=2_000_000, inputs=_positive_definite, check="float rows",
    nesl="""
% Right-looking: each step divides a column and changes the matrix behind it. %
function factor(a, k) : ([[float]], int) -> [[float]] =
  if k == #a then {{(if j > i then 0.0 else x) : x in row; j in [0:#row]} : row in a; i in [0:#a]}
  else let d = sqrt(a[k][k]);
           column = {(if i > k then row[k] / d else if i == k then d else 0.0) : row in a; i in [0:#a]}
       in factor({{(if j == k then (if i >= k then c else x) else if i > k and j > k then x - c * e else x)
                   : x in row; e in column; j in [0:#row]} : row in a; c in column; i in [0:#a]}, k + 1);
""",
    form="factor(m, 0)", numba=_cholesky, numpy=lambda m: np.linalg.cholesky(m))
