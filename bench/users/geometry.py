"""Points in the plane: hulls, closest pairs, polygons, intersections."""

import numpy as np

from .suite import loop, parallel, prange, program, random


def _circle(n):
    rng = random(1)
    angle, radius = 2.0 * np.pi * rng.random(n), np.sqrt(rng.random(n))
    return {"xs": radius * np.cos(angle), "ys": radius * np.sin(angle)}


def _hull_scipy(xs, ys):
    from scipy.spatial import ConvexHull

    at = ConvexHull(np.column_stack([xs, ys])).vertices
    return xs[at], ys[at]


program(
    "hull", n=500_000, inputs=_circle, check="points",
    nesl="""
function area(a, b, p) : ((float, float), (float, float), (float, float)) -> float =
  let (ax, ay) = a; (bx, by) = b; (px, py) = p in (bx - ax) * (py - ay) - (by - ay) * (px - ax);
function side(points, a, b) : ([(float, float)], (float, float), (float, float)) -> [(float, float)] =
  let areas = {area(a, b, p) : p in points};
      left = {p in points; x in areas | x > 0.0}
  in if #left == 0 then [a]
     else let far = points[max_index(areas)]
          in flatten({side(left, from, to) : (from, to) in [(a, far), (far, b)]});
function hull(points) : [(float, float)] -> [(float, float)] =
  let xs = {x : (x, y) in points};
      west = points[min_index(xs)]; east = points[max_index(xs)]
  in side(points, west, east) ++ side(points, east, west);
""",
    form="hull(zip(xs, ys))", scipy=_hull_scipy)


def _points(n):
    rng = random(2)
    return {"xs": rng.random(n), "ys": rng.random(n)}


def _closest_scipy(xs, ys):
    from scipy.spatial import cKDTree

    points = np.column_stack([xs, ys])
    return cKDTree(points).query(points, 2)[0][:, 1].min()


@loop
def _closest_numba(xs, ys):
    order = np.argsort(xs)
    x, y = xs[order], ys[order]
    best = np.inf
    for i in range(len(x)):
        j = i + 1
        while j < len(x) and x[j] - x[i] < best:
            d = np.sqrt((x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2)
            best = min(best, d)
            j += 1
    return best


program(
    "closest-pair", n=50_000, inputs=_points, check="number",
    nesl="""
function distance((ax, ay), (bx, by)) : ((float, float), (float, float)) -> float =
  sqrt((ax - bx) ^ 2 + (ay - by) ^ 2);
function neighbours(points) : [(float, float)] -> float =
  min_val({min_val({distance(points[i], points[j]) : j in [i + 1:min(i + 8, #points)]})
           : i in [0:#points - 1]});
function closest(points) : [(float, float)] -> float =
  if #points < 4 then neighbours(points)
  else let halves = bottop(points);
           best = min_val({closest(half) : half in halves});
           (border, height) = halves[1][0];
           strip = {(x, y) in points | abs(x - border) < best};
           upwards = permute(strip, rank({y : (x, y) in strip}))
       in if #upwards < 2 then best else min(best, neighbours(upwards));
function closest_pair(points) : [(float, float)] -> float =
  closest(permute(points, rank({x : (x, y) in points})));
""",
    form="closest_pair(zip(xs, ys))", scipy=_closest_scipy, numba=_closest_numba)


def _polygon(n):
    count = 100
    angle = 2.0 * np.pi * np.arange(count) / count
    radius = 0.3 + 0.15 * np.sin(7.0 * angle)
    return _points(n // count) | {"px": 0.5 + radius * np.cos(angle), "py": 0.5 + radius * np.sin(angle)}


@parallel
def _inside(xs, ys, px, py):
    out = np.empty(len(xs), np.int64)
    k = len(px)
    for i in prange(len(xs)):
        crossings = 0
        for a in range(k):
            b = a + 1 if a + 1 < k else 0
            if (py[a] > ys[i]) != (py[b] > ys[i]):
                if xs[i] < (px[b] - px[a]) * (ys[i] - py[a]) / (py[b] - py[a]) + px[a]:
                    crossings += 1
        out[i] = crossings % 2
    return out


def _inside_numpy(xs, ys, px, py):
    qx, qy = np.roll(px, -1), np.roll(py, -1)
    x, y = xs[:, None], ys[:, None]
    crossed = ((py > y) != (qy > y)) & (x < (qx - px) * (y - py) / (qy - py) + px)
    return crossed.sum(1) % 2


program(
    "point-in-polygon", n=4_000_000, inputs=_polygon, check="ints",
    nesl="""
function crosses(x, y, ax, ay, bx, by) : (float, float, float, float, float, float) -> bool =
  if (ay > y) xor (by > y) then x < (bx - ax) * (y - ay) / (by - ay) + ax else f;
function inside(x, y, sides) : (float, float, [((float, float), (float, float))]) -> int =
  rem(count({crosses(x, y, ax, ay, bx, by) : ((ax, ay), (bx, by)) in sides}), 2);
corners = zip(px, py);
sides = zip(corners, rotate(corners, -1));
""",
    form="{inside(x, y, sides) : x in xs; y in ys}", numba=_inside, numpy=_inside_numpy)


def _segments(n):
    rng, count = random(3), max(int(n ** 0.5), 8)
    x, y = rng.random(count), rng.random(count)
    return {"ax": x, "ay": y, "bx": x + 0.1 * rng.random(count), "by": y + 0.1 * rng.random(count)}


@parallel
def _crossings(ax, ay, bx, by):
    total, n = 0, len(ax)
    for i in prange(n):
        for j in range(n):
            ux, uy = bx[i] - ax[i], by[i] - ay[i]
            vx, vy = bx[j] - ax[j], by[j] - ay[j]
            c = ux * (ay[j] - ay[i]) - uy * (ax[j] - ax[i])
            d = ux * (by[j] - ay[i]) - uy * (bx[j] - ax[i])
            e = vx * (ay[i] - ay[j]) - vy * (ax[i] - ax[j])
            g = vx * (by[i] - ay[j]) - vy * (bx[i] - ax[j])
            if c * d < 0.0 and e * g < 0.0:
                total += 1
    return total


program(
    "segment-crossings", n=2_000_000, inputs=_segments, check="number",
    nesl="""
datatype segment(float, float, float, float);
function turn(ax, ay, bx, by, px, py) : (float, float, float, float, float, float) -> float =
  (bx - ax) * (py - ay) - (by - ay) * (px - ax);
function cross(segment(ax, ay, bx, by), segment(cx, cy, dx, dy)) : (segment, segment) -> bool =
  turn(ax, ay, bx, by, cx, cy) * turn(ax, ay, bx, by, dx, dy) < 0.0
  and turn(cx, cy, dx, dy, ax, ay) * turn(cx, cy, dx, dy, bx, by) < 0.0;
segments = {segment(a, b, c, d) : a in ax; b in ay; c in bx; d in by};
""",
    form="sum({count({cross(s, u) : u in segments}) : s in segments})", numba=_crossings)


@parallel
def _area(xs, ys):
    total, n = 0.0, len(xs)
    for i in prange(n):
        j = i + 1 if i + 1 < n else 0
        total += xs[i] * ys[j] - xs[j] * ys[i]
    return total / 2.0


program(
    "polygon-area", n=2_000_000, check="number",
    inputs=lambda n: {"xs": np.cos(2.0 * np.pi * np.arange(n) / n), "ys": np.sin(2.0 * np.pi * np.arange(n) / n)},
    nesl="",
    form="sum({a * d - c * b : a in xs; b in ys; c in rotate(xs, -1); d in rotate(ys, -1)}) / 2.0",
    numba=_area, numpy=lambda xs, ys: (xs * np.roll(ys, -1) - np.roll(xs, -1) * ys).sum() / 2.0)


def _queries(n):
    rng, side = random(4), max(int(n ** 0.5), 8)
    return {name: rng.random(side) for name in ("xs", "ys", "qx", "qy")}


@parallel
def _nearest_points(xs, ys, qx, qy):
    out = np.empty(len(qx), np.int64)
    for i in prange(len(qx)):
        best, least = 0, np.inf
        for j in range(len(xs)):
            d = (xs[j] - qx[i]) ** 2 + (ys[j] - qy[i]) ** 2
            if d < least:
                best, least = j, d
        out[i] = best
    return out


program(
    "nearest-points", n=4_000_000, inputs=_queries, check="ints",
    nesl="", form="{min_index({(x - a) ^ 2 + (y - b) ^ 2 : x in xs; y in ys}) : a in qx; b in qy}",
    numba=_nearest_points,
    numpy=lambda xs, ys, qx, qy: ((xs - qx[:, None]) ** 2 + (ys - qy[:, None]) ** 2).argmin(1))
