"""Graphs, as rows of neighbours or as two sequences of ends of edges."""

import numpy as np

from peers.shared import bfs, components, components_scipy

from .suite import Ragged, loop, parallel, prange, program, random


def _graph(n, degree=8):
    """Returns a graph of n / degree vertices with n edges; the ends follow a power law."""
    count, rng = max(n // degree, 8), random(1)
    ends = (count * rng.random(count * degree) ** 2).astype(np.int64)
    return {"graph": Ragged(ends, np.full(count, degree))}


def _csr(graph):
    from scipy.sparse import csr_array

    count = len(graph.lengths)
    return (csr_array((np.ones(len(graph.values), np.int8), graph.values, graph.starts), (count, count)),)


_arrays = (lambda graph: (graph.starts, graph.values))

program(
    "bfs-levels", n=1_000_000, inputs=_graph, check="ints",
    nesl="""
function spread(graph, level, frontier, d) : ([[int]], [int], [int], int) -> [int] =
  if #frontier == 0 then level
  else let near = flatten(graph -> frontier);
           fresh = remove_duplicates({v in near | level[v] < 0})
       in spread(graph, level <- {(v, d) : v in fresh}, fresh, d + 1);
""",
    form="spread(graph, rep(dist(-1, #graph), 0, 0), [0], 1)", numba=(_arrays, bfs))


def _edges(n):
    rng, count = random(2), max(n // 2, 8)
    return {"us": rng.integers(0, count, n), "vs": rng.integers(0, count, n), "vertices": count}


program(
    "components-hooking", n=400_000, inputs=_edges, check="ints",
    nesl="""
% Roots hook to smaller roots along edges, and paths are shortened until all point at their root. %
function shorten(parent) : [int] -> [int] =
  let grand = parent -> parent in if eql(grand, parent) then parent else shorten(grand);
function hook(parent, us, vs) : ([int], [int], [int]) -> [int] =
  let a = parent -> us; b = parent -> vs;
      open = {(x, y) : x in a; y in b | x /= y}
  in if #open == 0 then parent
     else hook(shorten(parent <- {(max(x, y), min(x, y)) : (x, y) in open}), us, vs);
""",
    form="hook([0:vertices], us, vs)", numba=components, scipy=components_scipy)


@loop
def _propagate(us, vs, vertices):
    label, changed = np.arange(vertices), True
    while changed:
        new, changed = label.copy(), False
        for i in range(len(us)):
            u, v = us[i], vs[i]
            if label[u] < new[v]:
                new[v], changed = label[u], True
            if label[v] < new[u]:
                new[u], changed = label[v], True
        label = new
    return label


def _propagate_numpy(us, vs, vertices):
    label = np.arange(vertices)
    while True:
        new = label.copy()
        np.minimum.at(new, vs, label[us])
        np.minimum.at(new, us, label[vs])
        if np.array_equal(new, label):
            return label
        label = new


program(
    "label-propagation", n=300_000, inputs=_edges, check="ints",
    nesl="""
% Every vertex takes the least label among its own and its neighbours', until nothing changes. %
function step(label, edges) : ([int], [(int, int)]) -> [int] =
  label <- {(v, min(label[v], min_val(ls))) : (v, ls) in int_collect({(v, label[u]) : (u, v) in edges})};
function settle(label, edges) : ([int], [(int, int)]) -> [int] =
  let new = step(label, edges) in if eql(new, label) then label else settle(new, edges);
""",
    form="settle([0:vertices], zip(us, vs) ++ zip(vs, us))", numba=_propagate, numpy=_propagate_numpy)


def _ordered(n):
    """Returns a graph whose edges lead to greater vertices, sorted."""
    count, rng = max(n // 16, 8), random(3)
    u = rng.integers(0, count, n)
    v = (u + 1 + (count // 8 * rng.random(n) ** 2).astype(np.int64)) % count
    pairs = np.unique(np.minimum(u, v) * count + np.maximum(u, v))
    pairs = pairs[pairs // count != pairs % count]
    return {"graph": Ragged(pairs % count, np.bincount(pairs // count, minlength=count))}


@parallel
def _triangles(starts, ends):
    total = 0
    for u in prange(len(starts) - 1):
        for a in range(starts[u], starts[u + 1]):
            v = ends[a]
            i, j = starts[u], starts[v]
            while i < starts[u + 1] and j < starts[v + 1]:
                if ends[i] == ends[j]:
                    total += 1
                    i += 1
                    j += 1
                elif ends[i] < ends[j]:
                    i += 1
                else:
                    j += 1
    return total


def _triangles_scipy(matrix):
    return (matrix @ matrix).multiply(matrix).sum()


def _csr_wide(graph):
    (matrix,) = _csr(graph)
    return (matrix.astype(np.int64),)


program(
    "triangles", n=200_000, inputs=_ordered, check="number",
    nesl="""
% Two sorted rows are merged to count what they share. %
function shared(a, b, i, j, n) : ([int], [int], int, int, int) -> int =
  if i == #a or j == #b then n
  else if a[i] == b[j] then shared(a, b, i + 1, j + 1, n + 1)
  else if a[i] < b[j] then shared(a, b, i + 1, j, n)
  else shared(a, b, i, j + 1, n);
""",
    form="sum({sum({shared(near, graph[v], 0, 0, 0) : v in near}) : near in graph})",
    numba=(_arrays, _triangles), scipy=(_csr_wide, _triangles_scipy))


def _weighted(n):
    rng, count = random(4), max(n // 8, 8)
    us, vs = rng.integers(0, count, n), rng.integers(0, count, n)
    return {"us": us, "vs": vs, "costs": rng.random(n), "vertices": count}


@loop
def _shortest(us, vs, costs, vertices):
    d = np.full(vertices, 1e30)
    d[0], changed = 0.0, True
    while changed:
        new, changed = d.copy(), False
        for i in range(len(us)):
            if d[us[i]] + costs[i] < new[vs[i]]:
                new[vs[i]], changed = d[us[i]] + costs[i], True
        d = new
    return d


def _shortest_numpy(us, vs, costs, vertices):
    d = np.full(vertices, 1e30)
    d[0] = 0.0
    while True:
        new = d.copy()
        np.minimum.at(new, vs, d[us] + costs)
        if np.array_equal(new, d):
            return d
        d = new


program(
    "bellman-ford", n=200_000, inputs=_weighted, check="floats",
    nesl="""
function relax(d, edges) : ([float], [(int, int, float)]) -> [float] =
  d <- {(v, min(d[v], min_val(ways)))
        : (v, ways) in int_collect({(v, d[u] + cost) : (u, v, cost) in edges})};
function shortest(d, edges) : ([float], [(int, int, float)]) -> [float] =
  let new = relax(d, edges) in if eql(new, d) then d else shortest(new, edges);
""",
    form="shortest(rep(dist(1.0e30, vertices), 0.0, 0), zip3(us, vs, costs))",
    numba=_shortest, numpy=_shortest_numpy)


@loop
def _rank_edges(us, vs, vertices):
    outs = np.zeros(vertices)
    for u in us:
        outs[u] += 1.0
    ranks = np.full(vertices, 1.0 / vertices)
    for _ in range(10):
        new = np.full(vertices, 0.15 / vertices)
        for i in range(len(us)):
            new[vs[i]] += 0.85 * ranks[us[i]] / outs[us[i]]
        ranks = new
    return ranks


def _rank_edges_numpy(us, vs, vertices):
    outs, ranks = np.bincount(us, minlength=vertices), np.full(vertices, 1.0 / vertices)
    for _ in range(10):
        ranks = 0.15 / vertices + 0.85 * np.bincount(vs, (ranks / np.maximum(outs, 1))[us], vertices)
    return ranks


program(
    "pagerank-edges", n=300_000, inputs=_edges, check="floats",
    nesl="""
function step(ranks, outs, edges) : ([float], [int], [(int, int)]) -> [float] =
  let n = float(#ranks);
      share = {r / float(max(o, 1)) : r in ranks; o in outs}
  in dist(0.15 / n, #ranks)
       <- {(v, 0.15 / n + 0.85 * sum(s)) : (v, s) in int_collect({(v, share[u]) : (u, v) in edges})};
function page_rank(ranks, outs, edges, steps) : ([float], [int], [(int, int)], int) -> [float] =
  if steps == 0 then ranks else page_rank(step(ranks, outs, edges), outs, edges, steps - 1);
function ranks_of(edges, vertices) : ([(int, int)], int) -> [float] =
  let outs = dist(0, vertices) <- {(u, #vs) : (u, vs) in int_collect(edges)}
  in page_rank(dist(1.0 / float(vertices), vertices), outs, edges, 10);
""",
    form="ranks_of(zip(us, vs), vertices)", numba=_rank_edges, numpy=_rank_edges_numpy)

program(
    "degrees", n=2_000_000, inputs=_edges, check="ints",
    nesl="", form="dist(0, vertices) <- {(u, #vs) : (u, vs) in int_collect(zip(us, vs))}",
    numpy=lambda us, vs, vertices: np.bincount(us, minlength=vertices))


def _list(n):
    order = random(5).permutation(n)
    successor = np.empty(n, np.int64)
    successor[order[:-1]] = order[1:]
    successor[order[-1]] = order[-1]
    return {"successor": successor}


@loop
def _rank_list(successor):
    n = len(successor)
    seen = np.zeros(n, np.bool_)
    for i in range(n):
        if successor[i] != i:
            seen[successor[i]] = True
    at = 0
    while seen[at]:
        at += 1
    out, k = np.empty(n, np.int64), n - 1
    while True:
        out[at] = k
        if successor[at] == at:
            return out
        at, k = successor[at], k - 1


def _rank_list_numpy(successor):
    count = (successor != np.arange(len(successor))).astype(np.int64)
    while True:
        far = successor[successor]
        if np.array_equal(far, successor):
            return count
        count, successor = count + count[successor], far


program(
    "list-ranking", n=100_000, inputs=_list, check="ints",
    nesl="""
function jump(successor, count) : ([int], [int]) -> [int] =
  let far = successor -> successor
  in if eql(far, successor) then count
     else jump(far, {own + c : own in count; c in count -> successor});
""",
    form="jump(successor, {btoi(s /= i) : s in successor; i in [0:#successor]})",
    numba=_rank_list, numpy=_rank_list_numpy)


def _maze(n):
    side = max(int(n ** 0.5), 8)
    cells = (random(6).random((side, side)) < 0.25).astype(np.int64)
    cells[0, 0] = 0
    return {"cells": cells.ravel(), "side": side}


@loop
def _flood(cells, side):
    d = np.full(len(cells), -1)
    queue = np.empty(len(cells), np.int64)
    d[0], queue[0], head, tail = 0, 0, 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for k in range(4):
            i, j = u // side, u % side
            if k == 0:
                i -= 1
            elif k == 1:
                i += 1
            elif k == 2:
                j -= 1
            else:
                j += 1
            if 0 <= i < side and 0 <= j < side:
                v = i * side + j
                if cells[v] == 0 and d[v] < 0:
                    d[v] = d[u] + 1
                    queue[tail] = v
                    tail += 1
    return d


program(
    "maze", n=250_000, inputs=_maze, check="ints",
    nesl="""
% Distances in a maze; the frontier holds the cells that were reached last. %
function near(c, side) : (int, int) -> [int] =
  let i = c / side; j = rem(c, side)
  in {a * side + b : (a, b) in [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
      | a >= 0 and a < side and b >= 0 and b < side};
function flood(cells, side, d, frontier, step) : ([int], int, [int], [int], int) -> [int] =
  if #frontier == 0 then d
  else let reached = {v in flatten({near(c, side) : c in frontier}) | cells[v] == 0 and d[v] < 0};
           fresh = remove_duplicates(reached)
       in flood(cells, side, d <- {(v, step) : v in fresh}, fresh, step + 1);
""",
    form="flood(cells, side, rep(dist(-1, #cells), 0, 0), [0], 1)", numba=_flood)
