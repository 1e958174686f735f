"""The programs in NumPy, and SciPy for sparse matrices: operations on whole arrays."""

import math
from collections import Counter

import numpy as np


def dot(a, b):
    return lambda: a @ b


def sort(a):
    return lambda: np.sort(a)


def batcher(a):
    """The bitonic network. In round (k, j), elements j apart are compared, and runs of length k ascend."""

    def run():
        v, n, k = a.copy(), len(a), 2
        while k <= n:
            j = k // 2
            while j > 0:
                pairs = v.reshape(-1, 2, j)
                low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
                up = (np.arange(len(pairs)) * 2 * j & k == 0)[:, None]
                pairs[:, 0], pairs[:, 1] = np.where(up, low, high), np.where(up, high, low)
                j //= 2
            k *= 2
        return v

    return run


def black_scholes(spot, strike, years):
    real = spot.dtype.type

    def cdf(d):
        k = 1 / (1 + real(0.2316419) * np.abs(d))
        polynomial = k * (real(0.319381530) + k * (real(-0.356563782) + k * (
            real(1.781477937) + k * (real(-1.821255978) + k * real(1.330274429)))))
        tail = polynomial * np.exp(real(-0.5) * d * d) / np.sqrt(real(2 * np.pi))
        return np.where(d > 0, 1 - tail, tail)

    def run():
        rate, volatility = real(0.02), real(0.3)
        spread = volatility * np.sqrt(years)
        drift = rate + real(0.5) * volatility * volatility
        d1 = (np.log(spot / strike) + drift * years) / spread
        discounted = strike * np.exp(-rate * years)
        call = spot * cdf(d1) - discounted * cdf(d1 - spread)
        return call, call - spot + discounted

    return run


def quickhull(x, y):
    def chain(x, y, a, b):
        (ax, ay), (bx, by) = a, b
        area = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        left = area > 0
        x, y, area = x[left], y[left], area[left]
        if len(x) == 0:
            return [a]
        far = area.argmax()
        far = (x[far], y[far])
        return chain(x, y, a, far) + chain(x, y, far, b)

    def run():
        west, east = x.argmin(), x.argmax()
        west, east = (x[west], y[west]), (x[east], y[east])
        hull = np.array(chain(x, y, west, east) + chain(x, y, east, west))
        return hull[:, 0], hull[:, 1]

    return run


def spmv(starts, columns, entries, v):
    from scipy.sparse import csr_array

    matrix = csr_array((entries, columns, starts), shape=(len(v), len(v)))
    return lambda: matrix @ v


def nearest(points, centres):
    """Returns the index of the nearest centre for each point."""
    # |p - c|² without the term |p|², which is the same for all c.
    return ((centres * centres).sum(1) - 2 * points @ centres.T).argmin(1)


def kmeans(points, centres):
    k, d = centres.shape

    def run():
        chosen = nearest(points, centres)
        sums = np.stack([np.bincount(chosen, points[:, j], k) for j in range(d)], 1)
        sizes = np.bincount(chosen, minlength=k)[:, None]
        return np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)

    return run


def multiply(a, b, times):
    return lambda: a @ b


def gram(a, b, times):
    return lambda: a.T @ a


def powers(a, b, times):
    def run():
        power = a
        for _ in range(times):
            power = power @ power / len(a)
        return power

    return run


def sum_rows(matrix):
    return lambda: matrix.sum(1)


def sum_columns(matrix):
    return lambda: matrix.sum(0)


def primes(n):
    def run():
        prime = np.ones(n, bool)
        prime[:2] = False
        for p in range(2, math.isqrt(n - 1) + 1):
            if prime[p]:
                prime[p * p::p] = False
        return np.flatnonzero(prime)

    return run


def mandelbrot(cx, cy, limit):
    def run():
        c = (cx[None, :] + 1j * cy[:, None]).ravel()
        steps, at, z = np.full(len(c), limit), np.arange(len(c)), np.zeros_like(c)
        for step in range(limit):
            out = z.real * z.real + z.imag * z.imag > 4.0
            steps[at[out]] = step
            z, c, at = z[~out], c[~out], at[~out]
            z = z * z + c
        return steps

    return run


def bfs(starts, columns, outs, steps):
    degree = starts[1]
    graph = columns.reshape(-1, degree)

    def run():
        level = np.full(len(graph), -1)
        level[0], frontier, d = 0, np.array([0]), 0
        while len(frontier):
            d += 1
            seen = graph[frontier].ravel()
            frontier = np.unique(seen[level[seen] < 0])
            level[frontier] = d
        return level

    return run


def pagerank(starts, columns, outs, steps):
    from scipy.sparse import csr_array

    n = len(outs)
    matrix = csr_array((np.ones(len(columns)), columns, starts), shape=(n, n))

    def run():
        ranks = np.full(n, 1.0 / n)
        for _ in range(steps):
            ranks = 0.15 / n + 0.85 * (matrix @ (ranks / np.maximum(outs, 1)))
        return ranks

    return run


def hotspot(chip, power, steps):
    def run():
        t = chip
        for _ in range(steps):
            wide = np.pad(t, 1, mode="edge")
            vertical = wide[:-2, 1:-1] + wide[2:, 1:-1] - 2 * t
            horizontal = wide[1:-1, :-2] + wide[1:-1, 2:] - 2 * t
            t = t + 0.05 * (power + 0.8 * vertical + 0.8 * horizontal + 0.01 * (80.0 - t))
        return t

    return run


def word_count(text):
    def run():
        counts = Counter(text.split())
        return len(counts), counts.total(), max(counts.values())

    return run


PEERS = {
    "dot": dot,
    "quicksort": sort,
    "sort": sort,
    "batcher": batcher,
    "black_scholes": black_scholes,
    "quickhull": quickhull,
    "spmv": spmv,
    "kmeans": kmeans,
    "multiply": multiply,
    "gram": gram,
    "powers": powers,
    "sum_rows": sum_rows,
    "sum_columns": sum_columns,
    "primes": primes,
    "mandelbrot": mandelbrot,
    "bfs": bfs,
    "pagerank": pagerank,
    "hotspot": hotspot,
    "word_count": word_count,
}
