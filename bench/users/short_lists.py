"""Points, states and small matrices as lists of a known length, and lists of which conditions say what they have."""

import numpy as np

from .suite import parallel, prange, program, random


@parallel
def _powers(ks):
    out = np.empty(len(ks), np.int64)
    for i in prange(len(ks)):
        a, b, c, d = 1, 1, 1, 0
        p, q, r, s = 1, 0, 0, 1
        k = ks[i]
        while k > 0:
            if k % 2 == 1:
                p, q, r, s = ((p * a + q * c) % 1000007, (p * b + q * d) % 1000007,
                              (r * a + s * c) % 1000007, (r * b + s * d) % 1000007)
            a, b, c, d = ((a * a + b * c) % 1000007, (a * b + b * d) % 1000007,
                          (c * a + d * c) % 1000007, (c * b + d * d) % 1000007)
            k //= 2
        out[i] = q
    return out


program("matrix-powers", n=40_000, inputs=lambda n: {"ks": random(61).integers(0, 1 << 20, n)}, check="ints", nesl="""
% Fibonacci numbers by powers of matrices. %
function mul(a, b) : ([[int]], [[int]]) -> [[int]] =
  {{rem(sum({x * y : x in row; y in col}), 1000007) : col in transpose(b)} : row in a};
function power(m, k) : ([[int]], int) -> [[int]] =
  if k == 0 then [[1, 0], [0, 1]]
  else let h = power(mul(m, m), k / 2) in if rem(k, 2) == 1 then mul(h, m) else h;
""", form="{power([[1, 1], [1, 0]], k)[0][1] : k in ks}", numba=_powers)


@parallel
def _lorenz(starts):
    out = np.empty(len(starts))
    h = 0.001
    for i in prange(len(starts)):
        x, y, z = starts[i], 1.0, 20.0
        for _ in range(100):
            a1, b1, c1 = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
            u, v, w = h / 2 * a1 + x, h / 2 * b1 + y, h / 2 * c1 + z
            a2, b2, c2 = 10.0 * (v - u), u * (28.0 - w) - v, u * v - 8.0 / 3.0 * w
            u, v, w = h / 2 * a2 + x, h / 2 * b2 + y, h / 2 * c2 + z
            a3, b3, c3 = 10.0 * (v - u), u * (28.0 - w) - v, u * v - 8.0 / 3.0 * w
            u, v, w = h * a3 + x, h * b3 + y, h * c3 + z
            a4, b4, c4 = 10.0 * (v - u), u * (28.0 - w) - v, u * v - 8.0 / 3.0 * w
            x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
            z += h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
        out[i] = x + y + z
    return out


program("lorenz-states", n=4_000, inputs=lambda n: {"starts": random(62).random(n)}, check="floats", nesl="""
% The equations of Lorenz from many starts, by the method of Runge and Kutta on lists of three. %
function slope(s) : [float] -> [float] =
  [10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3.0 * s[2]];
function along(a, x, y) : (float, [float], [float]) -> [float] = {a * p + q : p in x; q in y};
function step(s, h) : ([float], float) -> [float] =
  let k1 = slope(s); k2 = slope(along(h / 2.0, k1, s)); k3 = slope(along(h / 2.0, k2, s)); k4 = slope(along(h, k3, s))
  in {x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d) : x in s; a in k1; b in k2; c in k3; d in k4};
function run(s, i) : ([float], int) -> [float] = if i == 0 then s else run(step(s, 0.001), i - 1);
""", form="{sum(run([x, 1.0, 20.0], 100)) : x in starts}", numba=_lorenz)


@parallel
def _turned(ws):
    out = np.empty((len(ws), 3))
    for i in prange(len(ws)):
        c, s = np.cos(ws[i]), np.sin(ws[i])
        x, y, z = c - 2.0 * s, s + 2.0 * c, ws[i]
        out[i, 0], out[i, 1], out[i, 2] = x, c * y - s * z, s * y + c * z
    return out


program("rotations", n=300_000, inputs=lambda n: {"ws": 6.0 * random(63).random(n)}, check="float rows", nesl="""
% Points turned about two axes, by matrices that are written out. %
function dot(a, b) : ([float], [float]) -> float = sum({x * y : x in a; y in b});
function image(m, v) : ([[float]], [float]) -> [float] = {dot(row, v) : row in m};
function about_z(w) : float -> [[float]] = [[cos(w), -sin(w), 0.0], [sin(w), cos(w), 0.0], [0.0, 0.0, 1.0]];
function about_x(w) : float -> [[float]] = [[1.0, 0.0, 0.0], [0.0, cos(w), -sin(w)], [0.0, sin(w), cos(w)]];
""", form="{image(about_x(w), image(about_z(w), [1.0, 2.0, w])) : w in ws}", numba=_turned)


@parallel
def _spread(g):
    n, m = g.shape
    out = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            s, k = 0.0, 0
            if i > 0:
                s, k = s + g[i - 1, j], k + 1
            if i < n - 1:
                s, k = s + g[i + 1, j], k + 1
            if j > 0:
                s, k = s + g[i, j - 1], k + 1
            if j < m - 1:
                s, k = s + g[i, j + 1], k + 1
            out[i, j] = s / k
    return out


def _grid(n):
    side = max(int(n ** 0.5), 4)
    return {"g": random(64).random((side, side))}


program("neighbour-means", n=1_000_000, inputs=_grid, check="float rows", nesl="""
% The mean of the neighbours of each cell: those there are, appended. %
function near(i, j, n, m) : (int, int, int, int) -> [(int, int)] =
  (if i > 0 then [(i - 1, j)] else [] (int, int)) ++ (if i < n - 1 then [(i + 1, j)] else [] (int, int)) ++
  (if j > 0 then [(i, j - 1)] else [] (int, int)) ++ (if j < m - 1 then [(i, j + 1)] else [] (int, int));
function mean(g, ps) : ([[float]], [(int, int)]) -> float = sum({g[a][b] : (a, b) in ps}) / float(#ps);
""", form="{{mean(g, near(i, j, #g, #g[0])) : j in [0:#g[0]]} : i in [0:#g]}", numba=_spread)


def _matched(xs):
    kept = xs[(xs % 3 == 0) | (xs % 5 == 0)]
    return np.where(kept % 3 == 0, kept, -kept)


program("optional-elements", n=2_000_000, inputs=lambda n: {"xs": random(65).integers(0, 1 << 30, n)}, check="ints",
        nesl="""
% A filter with cases: a list of one element, or none, for each. %
function match(x) : int -> [int] = if rem(x, 3) == 0 then [x] else if rem(x, 5) == 0 then [-x] else [] int;
""", form="flatten({match(x) : x in xs})", numpy=_matched)
