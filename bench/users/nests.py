"""Rows of rows in every element: small matrices and vectors as lists, and recursion that counts."""

import numpy as np

from .suite import loop, program, random


def _matrices(n):
    return {"ms": (random(31).random((max(n // 9, 1), 3, 3)) + 2 * np.eye(3))}


@loop
def _inverses(ms):
    out = np.empty(len(ms))
    q = np.empty((3, 3))
    for k in range(len(ms)):
        m = ms[k]
        for i in range(3):
            for j in range(3):
                a = (i + 1) % 3
                b = (i + 2) % 3
                c = (j + 1) % 3
                d = (j + 2) % 3
                q[j, i] = m[a, c] * m[b, d] - m[a, d] * m[b, c]
        det = 0.0
        for j in range(3):
            det += m[0, j] * q[j, 0]
        trace = 0.0
        for i in range(3):
            for j in range(3):
                q[i, j] /= det
                trace += q[i, j] * m[j, i]
        out[k] = trace + q[0, 1] + q[2, 0]
    return out


program("small-inverses", n=900_000, inputs=_matrices, check="floats", nesl="""
% The inverses of many small matrices by cofactors, multiplied by the matrices. %
function cofactor(m, i, j) : ([[float]], int, int) -> float =
  let a = rem(i + 1, 3); b = rem(i + 2, 3); c = rem(j + 1, 3); d = rem(j + 2, 3)
  in m[a][c] * m[b][d] - m[a][d] * m[b][c];
function inverse(m) : [[float]] -> [[float]] =
  let det = sum({x * cofactor(m, 0, j) : x in m[0]; j in [0:3]})
  in {{cofactor(m, j, i) / det : j in [0:3]} : i in [0:3]};
function times(a, b) : ([[float]], [[float]]) -> [[float]] =
  {{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a};
function trace(m) : [[float]] -> float = sum({m[i][i] : i in [0:#m]});
function checked(m) : [[float]] -> float = let q = inverse(m) in trace(times(q, m)) + q[0][1] + q[2][0];
""", form="{checked(m) : m in ms}", numba=_inverses)


def _rays(n):
    rng = random(32)
    rays = max(n // 48, 1)
    return {"origins": rng.random((rays, 3)), "directions": rng.random((rays, 3)) - 0.5,
            "triangles": rng.random((8, 3, 3)) * 2 - 0.5}


@loop
def _hits(origins, directions, triangles):
    out = np.empty(len(origins))
    e1 = np.empty(3)
    e2 = np.empty(3)
    s = np.empty(3)
    p = np.empty(3)
    q = np.empty(3)
    for i in range(len(origins)):
        o = origins[i]
        d = directions[i]
        best = 1e9
        for k in range(len(triangles)):
            t = triangles[k]
            for j in range(3):
                e1[j] = t[1, j] - t[0, j]
                e2[j] = t[2, j] - t[0, j]
                s[j] = o[j] - t[0, j]
            for j in range(3):
                a = (j + 1) % 3
                b = (j + 2) % 3
                p[j] = d[a] * e2[b] - d[b] * e2[a]
                q[j] = s[a] * e1[b] - s[b] * e1[a]
            det = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2]
            if abs(det) < 1e-12:
                continue
            u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det
            v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det
            if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
                best = min(best, (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det)
        out[i] = best
    return out


program("rays-triangles", n=2_880_000, inputs=_rays, check="floats", nesl="""
% Rays against triangles, with vectors as lists of three. %
function dot(a, b) : ([float], [float]) -> float = sum({x * y : x in a; y in b});
function minus(a, b) : ([float], [float]) -> [float] = {x - y : x in a; y in b};
function cross(a, b) : ([float], [float]) -> [float] =
  [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
function hit(o, d, tri) : ([float], [float], [[float]]) -> float =
  let e1 = minus(tri[1], tri[0]); e2 = minus(tri[2], tri[0]);
      p = cross(d, e2); det = dot(e1, p)
  in if abs(det) < 1.0e-12 then 1.0e9
     else let s = minus(o, tri[0]); u = dot(s, p) / det; q = cross(s, e1); v = dot(d, q) / det
          in if u < 0.0 or v < 0.0 or u + v > 1.0 then 1.0e9 else dot(e2, q) / det;
""", form="{min_val({hit(o, d, tri) : tri in triangles}) : o in origins; d in directions}", numba=_hits)


@loop
def _steps(n):
    out = np.empty(n, np.int64)
    for i in range(n):
        x = i + 1
        k = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            k += 1
        out[i] = k
    return out


program("counted-recursion", n=300_000, inputs=lambda n: {"n": n}, check="ints", nesl="""
% The lengths of Collatz sequences, as they are written first. %
function steps(x) : int -> int = if x == 1 then 0 else 1 + steps(if rem(x, 2) == 0 then x / 2 else 3 * x + 1);
""", form="{steps(i + 1) : i in [0:n]}", numba=_steps)


def _tree(n):
    parent = random(33).integers(0, np.maximum(np.arange(n), 1))
    depth = np.zeros(n, np.int64)
    for v in range(1, n):
        depth[v] = depth[parent[v]] + 1
    return {"parent": parent, "depth": depth}


@loop
def _sizes(parent, depth):
    n = len(parent)
    levels = depth.max() + 1
    start = np.zeros(levels + 1, np.int64)
    for v in range(n):
        start[depth[v] + 1] += 1
    for k in range(levels):
        start[k + 1] += start[k]
    order = np.empty(n, np.int64)
    at = start.copy()
    for v in range(n):
        order[at[depth[v]]] = v
        at[depth[v]] += 1
    size = np.ones(n, np.int64)
    for k in range(levels - 1, 0, -1):
        for i in range(start[k], start[k + 1]):
            v = order[i]
            size[parent[v]] += size[v]
    return size


program("subtree-sizes", n=100_000, inputs=_tree, check="ints", nesl="""
% The sizes of subtrees, level by level from below: few values of many keys in each step. %
function up(parent, levels, size, k) : ([int], [[int]], [int], int) -> [int] =
  if k == 0 then size
  else let groups = int_collect({(parent[v], size[v]) : v in levels[k]})
       in up(parent, levels, size <- {(q, size[q] + sum(s)) : (q, s) in groups}, k - 1);
function sizes(parent, depth) : ([int], [int]) -> [int] =
  let levels = {vs : (k, vs) in int_collect(zip(depth, [0:#parent]))}
  in up(parent, levels, dist(1, #parent), #levels - 1);
""", form="sizes(parent, depth)", numba=_sizes)


def _grey(n):
    side = max(int(n ** 0.5), 4)
    return {"image": random(34).integers(0, 256, (side, side))}


@loop
def _integral(image):
    rows, columns = image.shape
    out = np.empty((rows, columns), np.int64)
    for i in range(rows):
        total = 0
        for j in range(columns):
            total += image[i, j]
            out[i, j] = total + (out[i - 1, j] if i > 0 else 0)
    return out


program("integral-image", n=810_000, inputs=_grey, check="int rows", nesl="""
% Sums of all rectangles from a corner, by scans of rows and of columns. %
function inclusive(v) : [int] -> [int] = {s + x : s in plus_scan(v); x in v};
function integral(p) : [[int]] -> [[int]] = transpose({inclusive(c) : c in transpose({inclusive(r) : r in p})});
""", form="integral(image)", numba=_integral,
        numpy=lambda image: np.cumsum(np.cumsum(image, axis=1), axis=0))
