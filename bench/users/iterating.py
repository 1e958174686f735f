"""Recursive functions with parallel bodies: iterations until a number of steps, and sums written in several ways."""

import numpy as np

from peers import numpy_peers
from peers.shared import means, nearest, sum_columns

from .suite import parallel, prange, program, random


def _clusters(n):
    points = random(1).random((max(n // 640, 16), 8))
    return {"points": points, "centres": points[:8].copy(), "steps": 10}


def _kmeans(points, centres, steps):
    for _ in range(steps):
        centres = means(points, centres, nearest(points, centres))
    return centres


def _kmeans_numpy(points, centres, steps):
    for _ in range(steps):
        centres = numpy_peers.kmeans(points, centres)()
    return centres


program(
    "kmeans-iterated", n=8_000_000, inputs=_clusters, check="float rows",
    nesl="""
function squared_distance(p, q) : ([float], [float]) -> float = sum({(x - y) ^ 2 : x in p; y in q});
function nearest(p, centres) : ([float], [[float]]) -> int =
  min_index({squared_distance(p, c) : c in centres});
function mean(group) : [[float]] -> [float] = {sum(c) / float(#group) : c in transpose(group)};
function kmeans(points, centres, steps) : ([[float]], [[float]], int) -> [[float]] =
  if steps == 0 then centres
  else let groups = int_collect({(nearest(p, centres), p) : p in points})
       in kmeans(points, centres <- {(k, mean(members)) : (k, members) in groups}, steps - 1);
""",
    form="kmeans(points, centres, steps)", numba=_kmeans, numpy=_kmeans_numpy)


def _system(n):
    side = max(int((n / 20) ** 0.5), 8)
    rng = random(2)
    m = rng.random((side, side))
    m[np.arange(side), np.arange(side)] = side
    return {"m": m, "b": rng.random(side), "steps": 20}


@parallel
def _jacobi(m, b, steps):
    x = np.zeros(len(b))
    for _ in range(steps):
        new = np.empty(len(b))
        for i in prange(len(b)):
            total = 0.0
            for j in range(len(b)):
                total += m[i, j] * x[j]
            new[i] = x[i] + (b[i] - total) / m[i, i]
        x = new
    return x


def _jacobi_numpy(m, b, steps):
    x, d = np.zeros(len(b)), np.diagonal(m)
    for _ in range(steps):
        x = x + (b - m @ x) / d
    return x


program(
    "jacobi", n=8_000_000, inputs=_system, check="floats",
    nesl="""
function step(m, b, x) : ([[float]], [float], [float]) -> [float] =
  {old + (bi - sum({a * y : a in row; y in x})) / row[i]
   : row in m; bi in b; old in x; i in [0:#b]};
function jacobi(m, b, x, steps) : ([[float]], [float], [float], int) -> [float] =
  if steps == 0 then x else jacobi(m, b, step(m, b, x), steps - 1);
""",
    form="jacobi(m, b, dist(0.0, #b), steps)", numba=_jacobi, numpy=_jacobi_numpy)


@parallel
def _power(m, steps):
    v = np.ones(len(m))
    for _ in range(steps):
        w = np.empty(len(m))
        for i in prange(len(m)):
            total = 0.0
            for j in range(len(m)):
                total += m[i, j] * v[j]
            w[i] = total
        v = w / np.sqrt((w * w).sum())
    return v


def _power_numpy(m, steps):
    v = np.ones(len(m))
    for _ in range(steps):
        v = m @ v
        v = v / np.linalg.norm(v)
    return v


program(
    "power-iteration", n=8_000_000, check="floats",
    inputs=lambda n: {key: value for key, value in _system(n).items() if key != "b"},
    nesl="""
function improve(m, v, steps) : ([[float]], [float], int) -> [float] =
  if steps == 0 then v
  else let w = {sum({a * x : a in row; x in v}) : row in m};
           norm = sqrt(sum({x * x : x in w}))
       in improve(m, {x / norm : x in w}, steps - 1);
""",
    form="improve(m, dist(1.0, #m), steps)", numba=_power, numpy=_power_numpy)


@parallel
def _wave(now, steps):
    before = now.copy()
    n = len(now)
    for _ in range(steps):
        new = np.empty(n)
        for i in prange(n):
            left, right = now[max(i - 1, 0)], now[min(i + 1, n - 1)]
            new[i] = 2.0 * now[i] - before[i] + 0.2 * (left - 2.0 * now[i] + right)
        before, now = now, new
    return now


def _wave_numpy(now, steps):
    before = now
    for _ in range(steps):
        left, right = np.append(now[:1], now[:-1]), np.append(now[1:], now[-1:])
        before, now = now, 2.0 * now - before + 0.2 * (left - 2.0 * now + right)
    return now


program(
    "wave-1d", n=4_000_000, inputs=lambda n: {"start": random(3).random(n // 40), "steps": 40}, check="floats",
    nesl="""
% The state is a pair of sequences: the string now and one step before. %
function step(before, now) : ([float], [float]) -> [float] =
  {2.0 * x - b + 0.2 * (l - 2.0 * x + r)
   : x in now; b in before; l in previous(now, now[0]); r in next(now, now[#now - 1])};
function simulate(before, now, steps) : ([float], [float], int) -> [float] =
  if steps == 0 then now else simulate(now, step(before, now), steps - 1);
""",
    form="simulate(start, start, steps)",
    numba=lambda start, steps: _wave(start, steps), numpy=lambda start, steps: _wave_numpy(start, steps))


def _bodies(n):
    count = max(int((n / 5) ** 0.5), 8)
    rng = random(4)
    return {"xs": rng.random(count), "ys": rng.random(count), "steps": 5}


@parallel
def _orbits(xs, ys, steps):
    x, y, n = xs.copy(), ys.copy(), len(xs)
    u, v = np.zeros(n), np.zeros(n)
    for _ in range(steps):
        ax, ay = np.empty(n), np.empty(n)
        for i in prange(n):
            fx, fy = 0.0, 0.0
            for j in range(n):
                dx, dy = x[j] - x[i], y[j] - y[i]
                d = dx * dx + dy * dy + 0.01
                s = 1.0 / (d * np.sqrt(d))
                fx += s * dx
                fy += s * dy
            ax[i], ay[i] = fx, fy
        u, v = u + 1e-6 * ax, v + 1e-6 * ay
        x, y = x + 0.01 * u, y + 0.01 * v
    return x, y


def _orbits_numpy(xs, ys, steps):
    x, y = xs, ys
    u, v = np.zeros_like(x), np.zeros_like(y)
    for _ in range(steps):
        dx, dy = x - x[:, None], y - y[:, None]
        d = dx * dx + dy * dy + 0.01
        s = 1.0 / (d * np.sqrt(d))
        u, v = u + 1e-6 * (s * dx).sum(1), v + 1e-6 * (s * dy).sum(1)
        x, y = x + 0.01 * u, y + 0.01 * v
    return x, y


program(
    "n-body-steps", n=2_000_000, inputs=_bodies, check="points",
    nesl="""
datatype body(float, float, float, float);
function pull(x, y, bodies) : (float, float, [body]) -> (float, float) =
  let parts = {let dx = a - x; dy = b - y; d = dx * dx + dy * dy + 0.01; s = 1.0 / (d * sqrt(d))
               in (s * dx, s * dy) : body(a, b, c, d) in bodies}
  in (sum({p : (p, q) in parts}), sum({q : (p, q) in parts}));
function move(body(x, y, u, v), bodies) : (body, [body]) -> body =
  let (ax, ay) = pull(x, y, bodies); u = u + 0.000001 * ax; v = v + 0.000001 * ay
  in body(x + 0.01 * u, y + 0.01 * v, u, v);
function simulate(bodies, steps) : ([body], int) -> [body] =
  if steps == 0 then bodies else simulate({move(b, bodies) : b in bodies}, steps - 1);
""",
    form="{(x, y) : body(x, y, u, v) in simulate({body(x, y, 0.0, 0.0) : x in xs; y in ys}, steps)}",
    numba=_orbits, numpy=_orbits_numpy)


def _square(n):
    side = max(int(n ** 0.5), 8)
    return {"m": random(5).random((side, side))}


for _name, _nesl, _form in (
        ("transposed", "", "{sum(c) : c in transpose(m)}"),
        ("by-index", "", "{sum({m[i][j] : i in [0:#m]}) : j in [0:#m[0]]}"),
        ("folded", """
% Row after row is added. %
function add_rows(total, m, i) : ([float], [[float]], int) -> [float] =
  if i == #m then total else add_rows({x + y : x in total; y in m[i]}, m, i + 1);
""", "add_rows(dist(0.0, #m[0]), m, 0)"),
        ("halved", """
% The halves of the matrix are summed in parallel. %
function add_halves(m) : [[float]] -> [float] =
  if #m == 1 then m[0]
  else let sums = {add_halves(half) : half in bottop(m)} in {x + y : x in sums[0]; y in sums[1]};
""", "add_halves(m)")):
    program(
        f"column-sums-{_name}", n=4_000_000, inputs=_square, check="floats",
        nesl=_nesl, form=_form, numba=lambda m: sum_columns(m), numpy=lambda m: m.sum(0))


def _regression(n):
    rng = random(6)
    rows = max(n // 200, 16)
    x = rng.random((rows, 20)) - 0.5
    return {"xs": x, "ys": (x @ rng.random(20) > 0.1).astype(np.int64), "steps": 10}


def _descend_numpy(xs, ys, steps):
    w = np.zeros(xs.shape[1])
    for _ in range(steps):
        p = 1.0 / (1.0 + np.exp(-(xs @ w)))
        w = w - xs.T @ (p - ys) / len(ys)
    return w


@parallel
def _descend(xs, ys, steps):
    rows, k = xs.shape
    w, errors = np.zeros(k), np.empty(rows)
    for _ in range(steps):
        for i in prange(rows):
            total = 0.0
            for j in range(k):
                total += xs[i, j] * w[j]
            errors[i] = 1.0 / (1.0 + np.exp(-total)) - ys[i]
        gradient = np.zeros(k)
        for i in range(rows):
            for j in range(k):
                gradient[j] += xs[i, j] * errors[i]
        w = w - gradient / rows
    return w


program(
    "logistic-regression", n=4_000_000, inputs=_regression, check="floats",
    nesl="""
function error(x, y, w) : ([float], int, [float]) -> float =
  1.0 / (1.0 + exp(-sum({a * b : a in x; b in w}))) - float(y);
function descend(xs, ys, w, steps) : ([[float]], [int], [float], int) -> [float] =
  if steps == 0 then w
  else let errors = {error(x, y, w) : x in xs; y in ys};
           gradient = {sum({a * e : a in column; e in errors}) : column in transpose(xs)}
       in descend(xs, ys, {a - g / float(#xs) : a in w; g in gradient}, steps - 1);
""".replace("error(", "miss("),
    form="descend(xs, ys, dist(0.0, #xs[0]), steps)", numba=_descend, numpy=_descend_numpy)


def _tridiagonal(n):
    return {"b": random(7).random(n // 20), "steps": 20}


def _conjugate_numpy(b, steps):
    def apply(v):
        w = 2.5 * v
        w[1:] -= v[:-1]
        w[:-1] -= v[1:]
        return w

    x, r = np.zeros_like(b), b
    p, rr = r, r @ r
    for _ in range(steps):
        q = apply(p)
        k = rr / (p @ q)
        x, r = x + k * p, r - k * q
        rr, old = r @ r, rr
        p = r + rr / old * p
    return x


@parallel
def _conjugate(b, steps):
    n = len(b)
    x, r, p, q = np.zeros(n), b.copy(), b.copy(), np.empty(n)
    rr = 0.0
    for i in prange(n):
        rr += r[i] * r[i]
    for _ in range(steps):
        pq = 0.0
        for i in prange(n):
            left = p[i - 1] if i > 0 else 0.0
            right = p[i + 1] if i < n - 1 else 0.0
            q[i] = 2.5 * p[i] - left - right
            pq += p[i] * q[i]
        k, new = rr / pq, 0.0
        for i in prange(n):
            x[i] += k * p[i]
            r[i] -= k * q[i]
            new += r[i] * r[i]
        factor = new / rr
        for i in prange(n):
            p[i] = r[i] + factor * p[i]
        rr = new
    return x


program(
    "conjugate-gradients", n=4_000_000, inputs=_tridiagonal, check="floats",
    nesl="""
function apply(v) : [float] -> [float] =
  {2.5 * x - l - r : x in v; l in previous(v, 0.0); r in next(v, 0.0)};
function dot(a, b) : ([float], [float]) -> float = sum({x * y : x in a; y in b});
function along(a, k, b) : ([float], float, [float]) -> [float] = {x + k * y : x in a; y in b};
function solve(x, r, p, rr, steps) : ([float], [float], [float], float, int) -> [float] =
  if steps == 0 then x
  else let q = apply(p);
           k = rr / dot(p, q);
           new_r = along(r, -k, q);
           new_rr = dot(new_r, new_r)
       in solve(along(x, k, p), new_r, along(new_r, new_rr / rr, p), new_rr, steps - 1);
""",
    form="solve(dist(0.0, #b), b, b, dot(b, b), steps)", numba=_conjugate, numpy=_conjugate_numpy)
