"""Numbers: integration, bodies, queens, escape times, primes written in three ways, roots."""

import numpy as np

from peers import numpy_peers
from peers.shared import sieve

from .suite import loop, njit, parallel, prange, program, random


@njit(cache=True, fastmath=True)
def _simpson(a, b, p):
    m = 0.5 * (a + b)
    return (b - a) / 6.0 * (np.sin(p / a) + 4.0 * np.sin(p / m) + np.sin(p / b))


@njit(cache=True)
def _integral(a, b, p, tolerance):
    total = 0.0
    lows, highs, limits = np.empty(200), np.empty(200), np.empty(200)
    lows[0], highs[0], limits[0], depth = a, b, tolerance, 1
    while depth > 0:
        depth -= 1
        a, b, tolerance = lows[depth], highs[depth], limits[depth]
        m = 0.5 * (a + b)
        fine = _simpson(a, m, p) + _simpson(m, b, p)
        error = fine - _simpson(a, b, p)
        if abs(error) < 15.0 * tolerance:
            total += fine + error / 15.0
        else:
            lows[depth], highs[depth], limits[depth] = a, m, tolerance / 2.0
            lows[depth + 1], highs[depth + 1], limits[depth + 1] = m, b, tolerance / 2.0
            depth += 2
    return total


program(
    "adaptive-integration", n=1_000_000, inputs=lambda n: {"tolerance": 1e-3 / float(n) ** 1.25},
    check="number", tolerance=1e-5,
    nesl="""
function value(x) : float -> float = sin(1.0 / x);
function simpson(a, b) : (float, float) -> float =
  (b - a) / 6.0 * (value(a) + 4.0 * value((a + b) / 2.0) + value(b));
function integrate(a, b, tolerance) : (float, float, float) -> float =
  let middle = (a + b) / 2.0;
      coarse = simpson(a, b);
      fine = simpson(a, middle) + simpson(middle, b)
  in if abs(fine - coarse) < 15.0 * tolerance then fine + (fine - coarse) / 15.0
     else sum({integrate(low, high, tolerance / 2.0)
               : (low, high) in [(a, middle), (middle, b)]});
""",
    form="integrate(0.01, 1.0, tolerance)", numba=lambda tolerance: _integral(0.01, 1.0, 1.0, tolerance))


def _bodies(n):
    count, rng = max(int(n ** 0.5), 8), random(1)
    return {"xs": rng.random(count), "ys": rng.random(count), "zs": rng.random(count)}


@parallel
def _forces(xs, ys, zs):
    n = len(xs)
    out = np.empty(n)
    for i in prange(n):
        total = 0.0
        for j in range(n):
            dx, dy, dz = xs[j] - xs[i], ys[j] - ys[i], zs[j] - zs[i]
            total += 1.0 / np.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
        out[i] = total
    return out


def _forces_numpy(xs, ys, zs):
    d = (xs - xs[:, None]) ** 2 + (ys - ys[:, None]) ** 2 + (zs - zs[:, None]) ** 2
    return (1.0 / np.sqrt(d + 0.01)).sum(1)


program(
    "n-body-potential", n=4_000_000, inputs=_bodies, check="floats",
    nesl="""
function potential(x, y, z, bodies) : (float, float, float, [(float, float, float)]) -> float =
  sum({1.0 / sqrt((a - x) ^ 2 + (b - y) ^ 2 + (c - z) ^ 2 + 0.01) : (a, b, c) in bodies});
bodies = zip3(xs, ys, zs);
""",
    form="{potential(x, y, z, bodies) : (x, y, z) in bodies}", numba=_forces, numpy=_forces_numpy)


@loop
def _queens(n):
    found = 0
    board, column, row = np.full(n, -1), 0, 0
    while row >= 0:
        placed = False
        for c in range(board[row] + 1, n):
            safe = True
            for r in range(row):
                if board[r] == c or abs(board[r] - c) == row - r:
                    safe = False
                    break
            if safe:
                board[row], placed = c, True
                break
        if not placed:
            board[row] = -1
            row -= 1
        elif row == n - 1:
            found += 1
        else:
            row += 1
    return found


program(
    "n-queens", n=1 << 18, check="number",
    inputs=lambda n: {"n": 9 + (n >= 1 << 20) + (n >= 1 << 22)},
    nesl="""
function safe(board, c) : ([int], int) -> bool =
  let n = #board in all({q /= c and abs(q - c) /= n - row : q in board; row in [0:n]});
function extend(boards, n) : ([[int]], int) -> [[int]] =
  flatten({{snoc(board, c) : c in [0:n] | safe(board, c)} : board in boards});
function grow(boards, n, rows) : ([[int]], int, int) -> [[int]] =
  if rows == n then boards else grow(extend(boards, n), n, rows + 1);
""",
    form="#grow([[] int], n, 0)", numba=_queens)


@njit(cache=True, parallel=True)
def _julia(side):
    out = np.empty((side, side), np.int64)
    for j in prange(side):
        for i in range(side):
            x, y, steps = -1.5 + 3.0 * i / side, -1.5 + 3.0 * j / side, 0
            while steps < 100 and x * x + y * y <= 4.0:
                x, y = x * x - y * y - 0.4, 2.0 * x * y + 0.6
                steps += 1
            out[j, i] = steps
    return out


def _julia_numpy(side):
    at = -1.5 + 3.0 * np.arange(side) / side
    z = (at[None, :] + 1j * at[:, None]).ravel()
    steps, live = np.full(len(z), 100), np.arange(len(z))
    for step in range(100):
        out = z.real * z.real + z.imag * z.imag > 4.0
        steps[live[out]] = step
        z, live = z[~out], live[~out]
        z = z * z + (-0.4 + 0.6j)
    return steps


# One point on a border may take another number of steps where a rounding differs.
_ALMOST = ("(#flatten(r), sum(flatten(r)))", lambda r: [r.size, r.sum()])

program(
    "julia", n=300_000, inputs=lambda n: {"side": int(n ** 0.5)}, check=_ALMOST, tolerance=1e-5,
    nesl="""
function escape(x, y, steps) : (float, float, int) -> int =
  if steps == 100 or x * x + y * y > 4.0 then steps
  else escape(x * x - y * y - 0.4, 2.0 * x * y + 0.6, steps + 1);
""",
    form="{{escape(-1.5 + 3.0 * float(i) / float(side), -1.5 + 3.0 * float(j) / float(side), 0) "
         ": i in [0:side]} : j in [0:side]}",
    numba=_julia, numpy=_julia_numpy)

program(
    "julia-pairs", n=300_000, inputs=lambda n: {"side": int(n ** 0.5)}, check=_ALMOST, tolerance=1e-5,
    nesl="""
% All points step together, and those that escaped leave. %
datatype point(int, float, float);
function run(points, step, counts) : ([point], int, [int]) -> [int] =
  if step == 100 or #points == 0 then counts
  else let inside = {point(k, x, y) in points | x * x + y * y <= 4.0};
           next_counts = counts <- {(k, step + 1) : point(k, x, y) in inside}
       in run({point(k, x * x - y * y - 0.4, 2.0 * x * y + 0.6) : point(k, x, y) in inside},
              step + 1, next_counts);
function julia(side) : int -> [[int]] =
  let size = side * side;
      points = {point(k, -1.5 + 3.0 * float(rem(k, side)) / float(side),
                      -1.5 + 3.0 * float(k / side) / float(side)) : k in [0:size]}
  in group_by(run(points, 0, dist(0, size)), side);
""",
    form="julia(side)", numba=_julia, numpy=_julia_numpy)


program(
    "primes-recursive", n=2_000_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
% The sieve by the primes below the square root, as in the manual of NESL. %
function primes(n) : int -> [int] =
  if n <= 2 then [] int
  else let small = primes(isqrt(n - 1) + 1);
           composites = flatten({[2 * p:n:p] : p in small});
           flags = dist(t, n) <- {(c, f) : c in composites};
           indices = {i in [0:n]; flag in flags | flag}
       in drop(indices, 2);
""",
    form="primes(n)", numba=sieve, numpy=lambda n: numpy_peers.primes(n)())


@njit(cache=True, parallel=True)
def _by_division(n):
    flags = np.zeros(n, np.bool_)
    for i in prange(2, n):
        prime, d = True, 2
        while d * d <= i:
            if i % d == 0:
                prime = False
                break
            d += 1
        flags[i] = prime
    return np.flatnonzero(flags)


program(
    "primes-division", n=100_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
function prime(i, d) : (int, int) -> bool =
  if d * d > i then t else if rem(i, d) == 0 then f else prime(i, d + 1);
""",
    form="{i in [2:n] | prime(i, 2)}", numba=_by_division)

program(
    "primes-all-divisors", n=30_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="", form="{i in [2:n] | all({rem(i, d) /= 0 : d in [2:isqrt(i) + 1]})}", numba=_by_division)


@njit(cache=True, parallel=True)
def _collatz(n):
    out = np.empty(n, np.int64)
    for i in prange(n):
        x, steps = i + 1, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        out[i] = steps
    return out


program(
    "collatz", n=100_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
function steps(x, n) : (int, int) -> int =
  if x == 1 then n else if evenp(x) then steps(x / 2, n + 1) else steps(3 * x + 1, n + 1);
""",
    form="{steps(i + 1, 0) : i in [0:n]}", numba=_collatz)


@parallel
def _horner(xs, cs):
    out = np.empty_like(xs)
    for i in prange(len(xs)):
        total = 0.0
        for c in cs:
            total = total * xs[i] + c
        out[i] = total
    return out


def _points_and_coefficients(n):
    rng = random(2)
    return {"xs": rng.random(n // 16), "cs": rng.random(16)}


program(
    "polynomial", n=8_000_000, inputs=_points_and_coefficients, check="floats",
    nesl="""
function horner(x, cs, k, total) : (float, [float], int, float) -> float =
  if k == #cs then total else horner(x, cs, k + 1, total * x + cs[k]);
""",
    form="{horner(x, cs, 0, 0.0) : x in xs}", numba=_horner, numpy=lambda xs, cs: np.polyval(cs, xs))


@parallel
def _newton(a):
    out = np.empty_like(a)
    for i in prange(len(a)):
        x = a[i]
        while abs(x * x * x - a[i]) > 1e-9:
            x = x - (x * x * x - a[i]) / (3.0 * x * x)
        out[i] = x
    return out


program(
    "newton-roots", n=500_000, inputs=lambda n: {"a": 1.0 + 10.0 * random(3).random(n)}, check="floats",
    nesl="""
function root(a, x) : (float, float) -> float =
  if abs(x * x * x - a) <= 1.0e-9 then x else root(a, x - (x * x * x - a) / (3.0 * x * x));
""",
    form="{root(x, x) : x in a}", numba=_newton)


@njit(cache=True, parallel=True)
def _totients(n):
    out = np.empty(n, np.int64)
    for i in prange(n):
        count = 0
        for j in range(i):
            a, b = i, j
            while b:
                a, b = b, a % b
            if a == 1:
                count += 1
        out[i] = count
    return out


program(
    "coprime-counts", n=1_000_000, inputs=lambda n: {"side": int(n ** 0.5)}, check="ints",
    nesl="", form="{count({gcd(i, j) == 1 : j in [0:i]}) : i in [0:side]}", numba=lambda side: _totients(side),
    numpy=lambda side: np.tril(np.gcd.outer(np.arange(side), np.arange(side)) == 1, -1).sum(1))
