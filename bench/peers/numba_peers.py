"""The programs in Numba: compiled loops, which `prange` makes parallel."""

import numpy as np
from numba import njit, prange

from .shared import bfs, means, multiply, nearest, sieve, sparse_times_vector, sum_columns

parallel = njit(parallel=True, fastmath=True)


@parallel
def _dot(a, b):
    total = 0.0
    for i in prange(len(a)):
        total += a[i] * b[i]
    return total


@parallel
def _batcher(v):
    n, k = len(v), 2
    while k <= n:
        j = k // 2
        while j > 0:
            for i in prange(n // 2):
                at = i // j * 2 * j + i % j
                low, high = min(v[at], v[at + j]), max(v[at], v[at + j])
                if at & k == 0:
                    v[at], v[at + j] = low, high
                else:
                    v[at], v[at + j] = high, low
            j //= 2
        k *= 2
    return v


@njit(fastmath=True)
def _cdf(d, c0, c1, c2, c3, c4, c5, root, half, one):
    k = one / (one + c0 * abs(d))
    tail = k * (c1 + k * (c2 + k * (c3 + k * (c4 + k * c5)))) * np.exp(-half * d * d) / root
    return one - tail if d > 0 else tail


@parallel
def _black_scholes(spot, strike, years, c, call, put):
    rate, volatility, half, one = c[7], c[8], c[9], c[10]
    for i in prange(len(spot)):
        spread = volatility * np.sqrt(years[i])
        d1 = (np.log(spot[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]) / spread
        d2 = d1 - spread
        discounted = strike[i] * np.exp(-rate * years[i])
        first = _cdf(d1, c[0], c[1], c[2], c[3], c[4], c[5], c[6], half, one)
        second = _cdf(d2, c[0], c[1], c[2], c[3], c[4], c[5], c[6], half, one)
        call[i] = spot[i] * first - discounted * second
        put[i] = call[i] - spot[i] + discounted


def black_scholes(spot, strike, years):
    # The constants must have the precision of the inputs.
    constants = np.array([0.2316419, 0.319381530, -0.356563782, 1.781477937, -1.821255978,
                          1.330274429, np.sqrt(2 * np.pi), 0.02, 0.3, 0.5, 1.0], spot.dtype)

    def run():
        call, put = np.empty_like(spot), np.empty_like(spot)
        _black_scholes(spot, strike, years, constants, call, put)
        return call, put

    return run


LEAF = 8


@njit
def _tree(x, y, mass):
    """Builds the quadtree: nodes with the bodies `order[first:last]`, and children as a linked list."""
    n = len(x)
    left, low = x.min(), y.min()
    side = 1.0001 * max(x.max() - left, y.max() - low)
    order, spare = np.arange(n), np.empty(n, np.int64)
    capacity = 4 * n + 64
    boxes = np.empty((capacity, 6))  # centre x, y, mass, side, corner x, y
    links = np.empty((capacity, 4), np.int64)  # first, last, child, next
    boxes[0, 3], boxes[0, 4], boxes[0, 5] = side, left, low
    links[0, 0], links[0, 1], links[0, 2], links[0, 3] = 0, n, -1, -1
    made, at = 1, 0
    while at < made:
        first, last = links[at, 0], links[at, 1]
        total, cx, cy = 0.0, 0.0, 0.0
        for i in order[first:last]:
            total += mass[i]
            cx += x[i] * mass[i]
            cy += y[i] * mass[i]
        boxes[at, 0], boxes[at, 1], boxes[at, 2] = cx / total, cy / total, total
        if last - first > LEAF:
            half = boxes[at, 3] / 2.0
            spare[first:last] = order[first:last]
            put = first
            for quarter in range(4):
                begin = put
                right, top = boxes[at, 4] + half, boxes[at, 5] + half
                for i in spare[first:last]:
                    if (1 if x[i] >= right else 0) + (2 if y[i] >= top else 0) == quarter:
                        order[put] = i
                        put += 1
                if put > begin:
                    boxes[made, 3] = half
                    boxes[made, 4] = boxes[at, 4] + half * (quarter % 2)
                    boxes[made, 5] = boxes[at, 5] + half * (quarter // 2)
                    links[made, 0], links[made, 1], links[made, 2] = begin, put, -1
                    links[made, 3] = links[at, 2]
                    links[at, 2] = made
                    made += 1
        at += 1
    return order, boxes, links


@parallel
def _barnes_hut(x, y, mass, order, boxes, links):
    ax, ay = np.empty_like(x), np.empty_like(y)
    for i in prange(len(x)):
        px, py, fx, fy = x[i], y[i], 0.0, 0.0
        stack = np.empty(512, np.int64)
        stack[0], depth = 0, 1
        while depth > 0:
            depth -= 1
            at = stack[depth]
            if links[at, 2] < 0:
                for other in order[links[at, 0]:links[at, 1]]:
                    dx, dy = x[other] - px, y[other] - py
                    squared = dx * dx + dy * dy + 0.0001
                    strength = mass[other] / (squared * np.sqrt(squared))
                    fx += strength * dx
                    fy += strength * dy
                continue
            dx, dy = boxes[at, 0] - px, boxes[at, 1] - py
            if boxes[at, 3] * boxes[at, 3] < 0.25 * (dx * dx + dy * dy):
                squared = dx * dx + dy * dy + 0.0001
                strength = boxes[at, 2] / (squared * np.sqrt(squared))
                fx += strength * dx
                fy += strength * dy
            else:
                child = links[at, 2]
                while child >= 0:
                    stack[depth] = child
                    depth += 1
                    child = links[child, 3]
        ax[i], ay[i] = fx, fy
    return ax, ay


def barnes_hut(x, y, mass):
    return lambda: _barnes_hut(x, y, mass, *_tree(x, y, mass))


def kmeans(points, centres):
    return lambda: means(points, centres, nearest(points, centres))


@parallel
def _sum_rows(matrix):
    out = np.empty(matrix.shape[0])
    for i in prange(matrix.shape[0]):
        out[i] = matrix[i].sum()
    return out


# This function is compiled without fastmath, under which an end point of a line might not lie on the line.
@njit
def _chain(x, y, ax, ay, bx, by):
    area = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    left = area > 0
    x, y, area = x[left], y[left], area[left]
    if len(x) == 0:
        return np.array([[ax, ay]])
    far = area.argmax()
    fx, fy = x[far], y[far]
    return np.concatenate((_chain(x, y, ax, ay, fx, fy), _chain(x, y, fx, fy, bx, by)))


@njit
def _quickhull(x, y):
    west, east = x.argmin(), x.argmax()
    wx, wy, ex, ey = x[west], y[west], x[east], y[east]
    return np.concatenate((_chain(x, y, wx, wy, ex, ey), _chain(x, y, ex, ey, wx, wy)))


def quickhull(x, y):
    def run():
        hull = _quickhull(x, y)
        return hull[:, 0], hull[:, 1]

    return run


# This function is compiled without fastmath, which could change the step count of points on the border.
@njit(parallel=True)
def _mandelbrot(cx, cy, limit):
    out = np.empty((len(cy), len(cx)), np.int64)
    for j in prange(len(cy)):
        for i in range(len(cx)):
            x, y, steps = 0.0, 0.0, 0
            while steps < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cx[i], 2.0 * x * y + cy[j]
                steps += 1
            out[j, i] = steps
    return out


@parallel
def _pagerank(starts, columns, outs, steps):
    n = len(outs)
    ranks, share = np.full(n, 1.0 / n), np.empty(n)
    for _ in range(steps):
        for u in prange(n):
            share[u] = ranks[u] / max(outs[u], 1)
        for u in prange(n):
            total = 0.0
            for at in range(starts[u], starts[u + 1]):
                total += share[columns[at]]
            ranks[u] = 0.15 / n + 0.85 * total
    return ranks


@parallel
def _hotspot(chip, power, steps):
    rows, columns = chip.shape
    t, new = chip.copy(), np.empty_like(chip)
    for _ in range(steps):
        for i in prange(rows):
            n, s = max(i - 1, 0), min(i + 1, rows - 1)
            for j in range(columns):
                w, e = max(j - 1, 0), min(j + 1, columns - 1)
                here = t[i, j]
                new[i, j] = here + 0.05 * (
                    power[i, j] + 0.8 * (t[n, j] + t[s, j] - 2.0 * here)
                    + 0.8 * (t[i, w] + t[i, e] - 2.0 * here) + 0.01 * (80.0 - here))
        t, new = new, t
    return t


PEERS = {
    "dot": lambda a, b: lambda: _dot(a, b),
    "batcher": lambda a: lambda: _batcher(a.copy()),
    "black_scholes": black_scholes,
    "quickhull": quickhull,
    "barnes_hut": barnes_hut,
    "spmv": lambda **m: lambda: sparse_times_vector(**m),
    "kmeans": kmeans,
    "multiply": lambda a, b, times: lambda: multiply(a, b),
    "sum_rows": lambda matrix: lambda: _sum_rows(matrix),
    "sum_columns": lambda matrix: lambda: sum_columns(matrix),
    "primes": lambda n: lambda: sieve(n),
    "mandelbrot": lambda **p: lambda: _mandelbrot(**p),
    "bfs": lambda starts, columns, **_: lambda: bfs(starts, columns),
    "pagerank": lambda **g: lambda: _pagerank(**g),
    "hotspot": lambda **c: lambda: _hotspot(**c),
}
