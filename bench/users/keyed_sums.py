"""Several sums for each key, divisors that are not literals, rows with borders, and the places of extremes."""

import numpy as np

from .suite import loop, parallel, prange, program, random


def _pixels(n):
    return {"key": random(1).integers(0, 64, n), "red": random(2).integers(0, 256, n),
            "green": random(3).integers(0, 256, n), "blue": random(4).integers(0, 256, n)}


@loop
def _means(key, red, green, blue):
    sums = np.zeros((64, 4), np.int64)
    for i in range(len(key)):
        k = key[i]
        sums[k, 0] += 1
        sums[k, 1] += red[i]
        sums[k, 2] += green[i]
        sums[k, 3] += blue[i]
    out = np.zeros((64, 3), np.int64)
    for k in range(64):
        for c in range(3):
            out[k, c] = sums[k, c + 1] // sums[k, 0]
    return out


def _means_numpy(key, red, green, blue):
    count = np.bincount(key, minlength=64)
    sums = [np.bincount(key, weights=c, minlength=64) for c in (red, green, blue)]
    return np.stack([(s // count).astype(np.int64) for s in sums], axis=1)


program("mean-colours", n=2_000_000, inputs=_pixels, check="int rows", nesl="""
% The mean colour of each segment of a picture. %
function means(ps) : [(int, (int, int, int))] -> [(int, [int])] =
  {(k, [sum({r : (r, g, b) in cs}) / #cs, sum({g : (r, g, b) in cs}) / #cs, sum({b : (r, g, b) in cs}) / #cs]) :
   (k, cs) in int_collect(ps)};
""", form="{m : (k, m) in means({(k, (r, g, b)) : k in key; r in red; g in green; b in blue})}",
        numba=_means, numpy=_means_numpy)


def _residues(n):
    return {"x": random(1).integers(0, 1 << 40, n), "p": 1_000_003}


@parallel
def _residues_loop(x, p):
    out = np.empty(len(x), np.int64)
    for i in prange(len(x)):
        out[i] = (x[i] % p) * 31 % p
    return out


program("residues", n=2_000_000, inputs=_residues, check="ints", nesl="""
% Modular arithmetic with a modulus that is defined once. %
function residues(x, p) : ([int], int) -> [int] = {rem(rem(v, p) * 31, p) : v in x};
""", form="residues(x, p)", numba=_residues_loop, numpy=lambda x, p: (x % p) * 31 % p)


def _picture(n):
    side = max(int(n ** 0.5), 4)
    return {"m": random(1).random((side, side))}


@parallel
def _bordered(m):
    n, w = m.shape
    out = np.zeros((n, w + 2))
    for i in prange(n):
        for j in range(w):
            out[i, j + 1] = m[i, j]
    return out


program("padded-rows", n=1_000_000, inputs=_picture, check="float rows", nesl="""
% A border on both sides of each row. %
function bordered(m) : [[float]] -> [[float]] = {[0.0] ++ r ++ [0.0] : r in m};
""", form="bordered(m)", numba=_bordered, numpy=lambda m: np.pad(m, ((0, 0), (1, 1))))


def _rows(n):
    return {"rows": random(1).random((max(n // 100, 1), 100))}


@parallel
def _greatest(rows):
    out = np.empty(len(rows), np.int64)
    for i in prange(len(rows)):
        best = 0
        for j in range(1, rows.shape[1]):
            if rows[i, j] > rows[i, best]:
                best = j
        out[i] = best
    return out


program("greatest-places", n=5_000_000, inputs=_rows, check="ints", nesl="""
% The place of the greatest element of each row. %
function places(rows) : [[float]] -> [int] = {max_index(r) : r in rows};
""", form="places(rows)", numba=_greatest, numpy=lambda rows: rows.argmax(axis=1))
