"""Loops that carry work to be done: stacks, queues and trees in arrays, and walks over graphs."""

import numpy as np

from .suite import Ragged, loop, program, random


def _graph(n):
    vertices, rng = max(n // 8, 8), random(1)
    return {"graph": Ragged(rng.integers(0, vertices, 8 * vertices), np.full(vertices, 8))}


def _arrays(graph):
    return graph.starts, graph.values


@loop
def _dfs(starts, ends):
    n = len(starts) - 1
    order = np.full(n, -1)
    stack = np.empty(len(ends) + 1, np.int64)
    stack[0] = 0
    top, k = 1, 0
    while top > 0:
        top -= 1
        u = stack[top]
        if order[u] < 0:
            order[u] = k
            k += 1
            for a in range(starts[u], starts[u + 1]):
                if order[ends[a]] < 0:
                    stack[top] = ends[a]
                    top += 1
    return order


program("depth-first-stack", n=40_000, inputs=_graph, check="ints", nesl="""
% Numbers the vertices in the order in which a search in depth finds them. %
function dfs(graph, order, stack, k) : ([[int]], [int], [int], int) -> [int] =
  if #stack == 0 then order
  else let u = stack[#stack - 1]; rest = take(stack, #stack - 1) in
       if order[u] >= 0 then dfs(graph, order, rest, k)
       else dfs(graph, rep(order, k, u), rest ++ {v in graph[u] | order[v] < 0}, k + 1);
""", form="dfs(graph, dist(-1, #graph), [0], 0)", numba=(_arrays, _dfs))


@loop
def _bfs_q(starts, ends):
    n = len(starts) - 1
    level = np.full(n, -1)
    queue = np.empty(n + 1, np.int64)
    queue[0] = 0
    level[0] = 0
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for a in range(starts[u], starts[u + 1]):
            v = ends[a]
            if level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return level


program("breadth-first-queue", n=160_000, inputs=_graph, check="ints", nesl="""
function bfs(graph, level, queue) : ([[int]], [int], [int]) -> [int] =
  if #queue == 0 then level
  else let u = queue[0];
           fresh = remove_duplicates({v in graph[u] | level[v] < 0})
       in bfs(graph, level <- {(v, level[u] + 1) : v in fresh}, drop(queue, 1) ++ fresh);
""", form="bfs(graph, rep(dist(-1, #graph), 0, 0), [0])", numba=(_arrays, _bfs_q))


@loop
def _queue(n):
    q = np.empty(3 * n, np.int64)
    for i in range(n):
        q[i] = i
    head, tail = 0, n
    out = np.empty(n, np.int64)
    k = 0
    while head < tail:
        if tail - head > 1:
            q[tail] = q[head]
            head += 1
            tail += 1
        out[k] = q[head]
        head += 1
        k += 1
    return out


program("josephus-queue", n=200_000, inputs=lambda n: {"k": n}, check="ints", nesl="""
% Every second one of a circle leaves; the others go to the end of the queue. %
function leave(queue, out) : ([int], [int]) -> [int] =
  if #queue == 0 then out
  else if #queue == 1 then snoc(out, queue[0])
  else leave(drop(queue, 2) ++ [queue[0]], snoc(out, queue[1]));
""", form="leave([0:k], [] int)", numba=lambda k: _queue(k))


def _wgraph(n):
    c, rng = max(int(n ** 0.5), 8), random(6)
    return {"ends": Ragged(rng.integers(0, c, c * 8), np.full(c, 8)), "costs": Ragged(rng.random(c * 8), np.full(c, 8))}


@loop
def _dijkstra(starts, ends, costs):
    n = len(starts) - 1
    d = np.full(n, 1e30)
    done = np.zeros(n, np.bool_)
    d[0] = 0.0
    for _ in range(n):
        u, best = -1, 1e31
        for i in range(n):
            if not done[i] and d[i] < best:
                u, best = i, d[i]
        if u < 0:
            break
        done[u] = True
        for a in range(starts[u], starts[u + 1]):
            if d[u] + costs[a] < d[ends[a]]:
                d[ends[a]] = d[u] + costs[a]
    return d


program("dijkstra-arrays", n=4_000_000, inputs=_wgraph, check="floats", nesl="""
% The simple algorithm of Dijkstra: each step looks for the nearest open vertex. %
function relax(d, near, i) : ([float], [(int, float)], int) -> [float] =
  if i == #near then d
  else let (v, way) = near[i]
       in relax((if way < d[v] then rep(d, way, v) else d), near, i + 1);
function dijkstra(graph, d, done, left) : ([[(int, float)]], [float], [bool], int) -> [float] =
  if left == 0 then d
  else let u = min_index({(if b then 1.0e31 else x) : x in d; b in done});
           du = d[u];
           near = {(v, du + cost) : (v, cost) in graph[u]}
       in dijkstra(graph, relax(d, near, 0), rep(done, t, u), left - 1);
""", form="""let graph = {zip(e, c) : e in ends; c in costs}
in dijkstra(graph, rep(dist(1.0e30, #ends), 0.0, 0), dist(f, #ends), #ends)""",
        numba=(lambda ends, costs: (ends.starts, ends.values, costs.values), _dijkstra))


def _dag(n):
    c, rng = max(n // 8, 8), random(7)
    u = np.sort(rng.integers(0, c, n))
    v = np.minimum(u + 1 + (rng.random(n) ** 3 * c).astype(np.int64), c)
    keep = v < c
    u, v = u[keep], v[keep]
    p = rng.permutation(c)
    us, vs = p[u], p[v]
    o = np.argsort(us, kind="stable")
    return {"graph": Ragged(vs[o], np.bincount(us, minlength=c))}


@loop
def _levels(starts, ends):
    n = len(starts) - 1
    indeg = np.zeros(n, np.int64)
    for v in ends:
        indeg[v] += 1
    level = np.zeros(n, np.int64)
    q = np.empty(n, np.int64)
    tail = 0
    for v in range(n):
        if indeg[v] == 0:
            q[tail] = v
            tail += 1
    head = 0
    while head < tail:
        u = q[head]
        head += 1
        for a in range(starts[u], starts[u + 1]):
            v = ends[a]
            level[v] = max(level[v], level[u] + 1)
            indeg[v] -= 1
            if indeg[v] == 0:
                q[tail] = v
                tail += 1
    return level


program("topological-levels", n=800_000, inputs=_dag, check="ints", nesl="""
% Levels of an acyclic graph: those without open predecessors are taken away, round by round. %
function peel(graph, open, level, frontier, d) : ([[int]], [int], [int], [int], int) -> [int] =
  if #frontier == 0 then level
  else let level = level <- {(v, d) : v in frontier};
           hits = int_collect({(v, 1) : v in flatten(graph -> frontier)});
           open = open <- {(v, open[v] - #ones) : (v, ones) in hits}
       in peel(graph, open, level, {v : (v, ones) in hits | open[v] == 0}, d + 1);
function levels(graph) : [[int]] -> [int] =
  let open = dist(0, #graph) <- {(v, #ones) : (v, ones) in int_collect({(v, 1) : v in flatten(graph)})}
  in peel(graph, open, dist(0, #graph), {i in [0:#graph]; o in open | o == 0}, 0);
""", form="levels(graph)", numba=(lambda graph: (graph.starts, graph.values), _levels))


@loop
def _knights(side, steps):
    ways = np.zeros((side, side), np.int64)
    ways[0, 0] = 1
    dx = (1, 1, 2, 2, -1, -1, -2, -2)
    dy = (2, -2, 1, -1, 2, -2, 1, -1)
    for _ in range(steps):
        new = np.zeros((side, side), np.int64)
        for i in range(side):
            for j in range(side):
                s = 0
                for k in range(8):
                    a, b = i + dx[k], j + dy[k]
                    if 0 <= a < side and 0 <= b < side:
                        s += ways[a, b]
                new[i, j] = s % 1000000007
        ways = new
    return ways


def _board(n):
    return {"side": max(int((n / 80) ** 0.5), 8), "steps": 10}


program("knight-ways", n=4_000_000, inputs=_board, check="int rows", nesl="""
moves = [(1, 2), (1, -2), (2, 1), (2, -1), (-1, 2), (-1, -2), (-2, 1), (-2, -1)];
function ways_to(ways, i, j) : ([[int]], int, int) -> int =
  let n = #ways;
      from = {(i + a, j + b) : (a, b) in moves}
  in rem(sum({ways[a][b] : (a, b) in from | a >= 0 and a < n and b >= 0 and b < n}), 1000000007);
function go(ways, steps) : ([[int]], int) -> [[int]] =
  if steps == 0 then ways
  else go({{ways_to(ways, i, j) : j in [0:#ways]} : i in [0:#ways]}, steps - 1);
""", form="go({{(if i + j == 0 then 1 else 0) : j in [0:side]} : i in [0:side]}, steps)", numba=_knights)


def _permutation(n):
    return {"a": random(8).permutation(max(n // 17, 4))}


@loop
def _inversions(a):
    tree = np.zeros(len(a) + 1, np.int64)
    total = 0
    for k in range(len(a)):
        before, i = 0, a[k] + 1
        while i > 0:
            before += tree[i]
            i -= i & -i
        total += k - before
        i = a[k] + 1
        while i < len(tree):
            tree[i] += 1
            i += i & -i
    return total


program("fenwick-inversions", n=1_000_000, inputs=_permutation, check="number", nesl="""
% Counts the inversions of a permutation by a tree of sums. %
function add(tree, i, x) : ([int], int, int) -> [int] =
  if i >= #tree then tree else add(rep(tree, tree[i] + x, i), i + (i and (-i)), x);
function total(tree, i, s) : ([int], int, int) -> int =
  if i == 0 then s else total(tree, i - (i and (-i)), s + tree[i]);
function inversions(tree, a, k, s) : ([int], [int], int, int) -> int =
  if k == #a then s
  else inversions(add(tree, a[k] + 1, 1), a, k + 1, s + k - total(tree, a[k] + 1, 0));
""", form="inversions(dist(0, #a + 1), a, 0, 0)", numba=_inversions)


@loop
def _spans(n):
    out = np.empty(1024, np.int64)
    size = 0
    for k in range(n // 16):
        if size + 16 > len(out):
            larger = np.empty(2 * len(out), np.int64)
            larger[:size] = out[:size]
            out = larger
        for j in range(16):
            out[size + j] = k * j
        size += 16
    return out[:size]


program("append-rows", n=1_000_000, inputs=lambda n: {"n": n}, check="ints", nesl="""
% Rows that are computed one after the other, put together in a loop. %
function spans(out, k, n) : ([int], int, int) -> [int] =
  if k == n then out else spans(out ++ {k * j : j in [0:16]}, k + 1, n);
""", form="spans([] int, 0, n / 16)", numba=_spans)
