"""Recursions of many small steps, rows that change or grow where they lie, and short lists."""

import numpy as np

from .suite import letters, loop, parallel, prange, program, random


@loop
def _kalman(zs):
    x0 = x1 = 0.0
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    out = np.empty(len(zs))
    for i in range(len(zs)):
        x0 = x0 + x1
        a = p[0, 0] + p[1, 0] + p[0, 1] + p[1, 1] + 0.01
        b = p[0, 1] + p[1, 1]
        c = p[1, 0] + p[1, 1]
        d = p[1, 1] + 0.01
        s = a + 1.0
        k0, k1 = a / s, c / s
        y = zs[i] - x0
        x0, x1 = x0 + k0 * y, x1 + k1 * y
        p[0, 0], p[0, 1] = (1 - k0) * a, (1 - k0) * b
        p[1, 0], p[1, 1] = c - k1 * a, d - k1 * b
        out[i] = x0
    return out


program(
    "kalman-matrices", n=50_000, inputs=lambda n: {"zs": np.cumsum(random(14).normal(0, 1, n))},
    check="floats", nesl="""
% A Kalman filter of two states, by products of small matrices. %
function mul(a, b) : ([[float]], [[float]]) -> [[float]] =
  {{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a};
function add(a, b) : ([[float]], [[float]]) -> [[float]] =
  {{x + y : x in r; y in s} : r in a; s in b};
function kalman(zs, x, p, i, out) : ([float], [float], [[float]], int, [float]) -> [float] =
  if i == #zs then out
  else let g = [[1.0, 1.0], [0.0, 1.0]];
           x = {sum({a * b : a in row; b in x}) : row in g};
           p = add(mul(mul(g, p), transpose(g)), [[0.01, 0.0], [0.0, 0.01]]);
           s = p[0][0] + 1.0;
           k = {row[0] / s : row in p};
           y = zs[i] - x[0];
           x = {a + b * y : a in x; b in k};
           p = mul([[1.0 - k[0], 0.0], [-k[1], 1.0]], p)
       in kalman(zs, x, p, i + 1, snoc(out, x[0]));
""", form="kalman(zs, [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 0, [] float)", numba=_kalman)


@loop
def _sand(g):
    n = len(g)
    g = g.copy()
    for _ in range(100000):
        new = g.copy()
        moved = False
        for i in range(n):
            for j in range(n):
                if g[i, j] >= 4:
                    moved = True
                    new[i, j] -= 4
                    if i > 0:
                        new[i - 1, j] += 1
                    if i < n - 1:
                        new[i + 1, j] += 1
                    if j > 0:
                        new[i, j - 1] += 1
                    if j < n - 1:
                        new[i, j + 1] += 1
        if not moved:
            return new
        g = new
    return g


def _sand_in(n):
    side = max(int((n / 200) ** 0.5), 8)
    return {"g": random(23).integers(0, 6, (side, side))}


program("sandpile", n=2_000_000, inputs=_sand_in, check="int rows", nesl="""
% Topples all cells of four grains or more at once, until there is none. %
function topple(g) : [[int]] -> [[int]] =
  let off = {{x / 4 : x in row} : row in {{if x >= 4 then 4 else 0 : x in row} : row in g}};
      none = dist(0, #g);
      up = cons(none, drop(off, -1)); down = snoc(drop(off, 1), none)
  in {{x - 4 * o + u + d + l + r
       : x in row; o in os; u in us; d in ds; l in previous(os, 0); r in next(os, 0)}
      : row in g; os in off; us in up; ds in down};
function settle(g) : [[int]] -> [[int]] =
  if all({all({x < 4 : x in row}) : row in g}) then g else settle(topple(g));
""", form="settle(g)", numba=_sand)


@loop
def _gotoh(a, b):
    m = len(b)
    h, e = np.empty(m + 1), np.empty(m + 1)
    h[0] = 0.0
    for j in range(1, m + 1):
        h[j] = -2.0 - 0.5 * j
    e[:] = -1e9
    for i in range(len(a)):
        diag = h[0]
        h[0] = -2.0 - 0.5 * (i + 1)
        f = -1e9
        for j in range(1, m + 1):
            e[j] = max(e[j] - 0.5, h[j] - 2.5)
            f = max(f - 0.5, h[j - 1] - 2.5)
            x = diag + (1.0 if a[i] == b[j - 1] else -1.0)
            diag = h[j]
            h[j] = max(x, max(e[j], f))
    return h[m]


def _seqs(n):
    k = max(int(n ** 0.5), 8)
    of = lambda seed: "".join(map(chr, random(seed).choice(list(b"ACGT"), k)))
    return {"a": of(11), "b": of(12)}


program("affine-gaps", n=1_000_000, inputs=_seqs, check="number", nesl="""
% Gotoh's alignment with affine gaps, cell by cell. %
function cells(c, b, h, e, j, diag, gap) : (char, [char], [float], [float], int, float, float) -> ([float], [float]) =
  if j > #b then (h, e)
  else let ej = max(e[j] - 0.5, h[j] - 2.5);
           gap = max(gap - 0.5, h[j - 1] - 2.5);
           x = max(diag + (if c == b[j - 1] then 1.0 else -1.0), max(ej, gap))
       in cells(c, b, rep(h, x, j), rep(e, ej, j), j + 1, h[j], gap);
function rows(a, b, h, e, i) : ([char], [char], [float], [float], int) -> float =
  if i == #a then h[#b]
  else let (h, e) = cells(a[i], b, rep(h, -2.0 - 0.5 * float(i + 1), 0), e, 1, h[0], -1.0e9)
       in rows(a, b, h, e, i + 1);
""", form="rows(a, b, {if j == 0 then 0.0 else -2.0 - 0.5 * float(j) : j in [0:#b + 1]}, dist(-1.0e9, #b + 1), 0)",
        numba=(lambda a, b: (letters(a), letters(b)), _gotoh))


@parallel
def _march(g):
    n = len(g)
    total = np.zeros(n)
    for i in prange(n - 1):
        s = 0.0
        for j in range(n - 1):
            a, b, c, d = g[i, j], g[i, j + 1], g[i + 1, j + 1], g[i + 1, j]
            code = (a > 0) + 2 * (b > 0) + 4 * (c > 0) + 8 * (d > 0)
            if code != 0 and code != 15:
                px, py, m = np.empty(4), np.empty(4), 0
                if (a > 0) != (b > 0):
                    px[m], py[m] = a / (a - b), 0.0
                    m += 1
                if (b > 0) != (c > 0):
                    px[m], py[m] = 1.0, b / (b - c)
                    m += 1
                if (c > 0) != (d > 0):
                    px[m], py[m] = 1.0 - c / (c - d), 1.0
                    m += 1
                if (d > 0) != (a > 0):
                    px[m], py[m] = 0.0, 1.0 - d / (d - a)
                    m += 1
                for k in range(0, m, 2):
                    s += np.sqrt((px[k] - px[k + 1]) ** 2 + (py[k] - py[k + 1]) ** 2)
        total[i] = s
    return total.sum()


def _field(n):
    s = max(int(n ** 0.5), 8)
    y, x = np.mgrid[:s, :s] / 17.0
    return {"g": np.sin(x) * np.cos(1.3 * y) + 0.1 + 0.001 * random(15).random((s, s))}


program("marching-squares", n=1_000_000, inputs=_field, check="number", nesl="""
% The length of a contour: short lists of crossings in each cell. %
function crossing(p, q, a, b) : ((float, float), (float, float), float, float) -> [(float, float)] =
  if (a > 0.0) xor (b > 0.0)
  then let k = a / (a - b); (px, py) = p; (qx, qy) = q in [(px + k * (qx - px), py + k * (qy - py))]
  else [] (float, float);
function segments(a, b, c, d) : (float, float, float, float) -> [((float, float), (float, float))] =
  let pa = (0.0, 0.0); pb = (1.0, 0.0); pc = (1.0, 1.0); pd = (0.0, 1.0);
      ps = crossing(pa, pb, a, b) ++ crossing(pb, pc, b, c) ++ crossing(pc, pd, c, d) ++
           crossing(pd, pa, d, a)
  in {(p, q) : p in even_elts(ps); q in odd_elts(ps)};
function contour(g) : [[float]] -> [((float, float), (float, float))] =
  flatten(flatten({{segments(a, b, c, d) : a in drop(up, -1); b in drop(up, 1); c in drop(down, 1);
                                           d in drop(down, -1)}
                   : up in drop(g, -1); down in drop(g, 1)}));
""", form="sum({sqrt((px - qx) ^ 2 + (py - qy) ^ 2) : ((px, py), (qx, qy)) in contour(g)})",
        numba=_march)


@parallel
def _bezier(ps, steps):
    out = np.empty(len(ps))
    for q in prange(len(ps)):
        s = 0.0
        lx = ly = 0.0
        w = np.empty((6, 2))
        for k in range(steps + 1):
            t = k / steps
            for i in range(6):
                w[i, 0], w[i, 1] = ps[q, i, 0], ps[q, i, 1]
            for l in range(5, 0, -1):
                for i in range(l):
                    w[i, 0] += t * (w[i + 1, 0] - w[i, 0])
                    w[i, 1] += t * (w[i + 1, 1] - w[i, 1])
            if k > 0:
                s += np.sqrt((w[0, 0] - lx) ** 2 + (w[0, 1] - ly) ** 2)
            lx, ly = w[0, 0], w[0, 1]
        out[q] = s
    return out


program(
    "bezier", n=1_000_000, inputs=lambda n: {"ps": random(16).random((max(n // 600, 2), 6, 2))},
    check="floats", nesl="""
% The lengths of curves, by de Casteljau's recursion over short lists. %
datatype point(float, float);
function between(p, q, s) : (point, point, float) -> point =
  let point(a, b) = p; point(c, d) = q in point(a + s * (c - a), b + s * (d - b));
function casteljau(ps, s) : ([point], float) -> point =
  if #ps == 1 then ps[0] else casteljau({between(p, q, s) : p in drop(ps, -1); q in drop(ps, 1)}, s);
function distance(p, q) : (point, point) -> float =
  let point(a, b) = p; point(c, d) = q in sqrt((a - c) ^ 2 + (b - d) ^ 2);
function arc(ps) : [point] -> float =
  let on = {casteljau(ps, float(k) / 20.0) : k in [0:21]}
  in sum({distance(p, q) : p in drop(on, -1); q in drop(on, 1)});
""", form="{arc({point(p[0], p[1]) : p in c}) : c in ps}", numba=lambda ps: _bezier(ps, 20))


@loop
def _rect(h):
    n = len(h)
    stack = np.empty(n + 1, np.int64)
    top = 0
    best = 0
    for i in range(n + 1):
        x = h[i] if i < n else 0
        while top > 0 and h[stack[top - 1]] >= x:
            top -= 1
            left = stack[top - 1] if top > 0 else -1
            best = max(best, h[stack[top]] * (i - left - 1))
        stack[top] = i
        top += 1
    return best


_RECTANGLE = """
% The largest rectangle below a histogram; the stack holds (start, height). %
function close(stack, x, i, from, best) : ([(int, int)], int, int, int, int) -> ([(int, int)], int, int) =
  if #stack == 0 then (stack, from, best)
  else let (s, h) = stack[#stack - 1]
       in if h >= x then close(drop(stack, -1), x, i, s, max(best, h * (i - s)))
          else (stack, from, best);
function largest(hs, stack, i, best) : ([int], [(int, int)], int, int) -> int =
  let x = if i < #hs then hs[i] else 0;
      (stack, from, best) = close(stack, x, i, i, best)
  in if i == #hs then best else largest(hs, snoc(stack, (from, x)), i + 1, best);
"""

program(
    "largest-rectangle", n=1_000_000, inputs=lambda n: {"h": random(7).integers(1, 1000, n)},
    check="number", nesl=_RECTANGLE, form="largest(h, [] (int, int), 0, 0)", numba=_rect)

# Nothing leaves the stack before the end.
program(
    "rising-heights", n=200_000, inputs=lambda n: {"h": np.arange(n)},
    check="number", nesl=_RECTANGLE, form="largest(h, [] (int, int), 0, 0)", numba=_rect)


def _sym(n):
    m = max(int((n / 6) ** (1 / 3)), 4)
    a = random(2).random((m, m))
    return {"a": a + a.T}


@loop
def _jacobi_eigen(a, sweeps):
    a = a.copy()
    n = len(a)
    for _ in range(sweeps):
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p, q]) > 1e-12:
                    theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                    t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                    if theta < 0:
                        t = -t
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(n):
                        x, y = a[p, k], a[q, k]
                        a[p, k] = c * x - s * y
                        a[q, k] = s * x + c * y
                    for k in range(n):
                        x, y = a[k, p], a[k, q]
                        a[k, p] = c * x - s * y
                        a[k, q] = s * x + c * y
    return np.sort(np.diag(a))


program("jacobi-eigen", n=1_000_000, inputs=_sym, check="floats", nesl="""
% Rows p and q are turned, then columns p and q. %
function turn_rows(a, p, q, c, s) : ([[float]], int, int, float, float) -> [[float]] =
  let x = a[p]; y = a[q]
  in rep(rep(a, {c * u - s * v : u in x; v in y}, p), {s * u + c * v : u in x; v in y}, q);
function turn_row(row, p, q, c, s) : ([float], int, int, float, float) -> [float] =
  let x = row[p]; y = row[q] in rep(rep(row, c * x - s * y, p), s * x + c * y, q);
function rotate_at(a, p, q) : ([[float]], int, int) -> [[float]] =
  if abs(a[p][q]) <= 1.0e-12 then a
  else let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
           u = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0));
           u = if theta < 0.0 then - u else u;
           c = 1.0 / sqrt(u * u + 1.0);
           s = u * c
       in {turn_row(row, p, q, c, s) : row in turn_rows(a, p, q, c, s)};
function sweep(a, p, q) : ([[float]], int, int) -> [[float]] =
  if p == #a then a
  else if q == #a then sweep(a, p + 1, p + 2)
  else sweep(rotate_at(a, p, q), p, q + 1);
function sweeps(a, k) : ([[float]], int) -> [[float]] = if k == 0 then a else sweeps(sweep(a, 0, 1), k - 1);
""", form="sort({row[i] : row in sweeps(a, 6); i in [0:#a]})", numba=lambda a: _jacobi_eigen(a, 6),
        numpy=lambda a: np.linalg.eigvalsh(a), tolerance=1e-5)


@loop
def _buckets(keys, k):
    counts = np.zeros(k, np.int64)
    for key in keys:
        counts[key % k] += 1
    starts = np.zeros(k, np.int64)
    for j in range(1, k):
        starts[j] = starts[j - 1] + counts[j - 1]
    out = np.empty(len(keys), np.int64)
    for key in keys:
        out[starts[key % k]] = key
        starts[key % k] += 1
    return out


program(
    "bucket-lists", n=500_000, inputs=lambda n: {"keys": random(24).integers(0, 1_000_000, n)},
    check="ints", nesl="""
% Buckets that grow one by one; the peer counts first. %
function fill(buckets, keys, i) : ([[int]], [int], int) -> [[int]] =
  if i == #keys then buckets
  else let j = rem(keys[i], #buckets)
       in fill(rep(buckets, snoc(buckets[j], keys[i]), j), keys, i + 1);
""", form="flatten(fill(dist([] int, 256), keys, 0))", numba=lambda keys: _buckets(keys, 256))
