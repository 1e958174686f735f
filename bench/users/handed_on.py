"""Sequences that a recursion hands on and takes back, groups that are kept by their size, and filters of what is computed."""

import numpy as np

from .suite import loop, program, random

MODULUS = 1_000_000_007


def _side(n):
    return {"n": max(int(n ** 0.5), 2)}


@loop
def _path(i, j, n, memo):
    if i == 0 or j == 0:
        return 1
    k = i * n + j
    if memo[k] < 0:
        memo[k] = (_path(i - 1, j, n, memo) + _path(i, j - 1, n, memo)) % MODULUS
    return memo[k]


@loop
def _paths(n):
    return np.array([_path(n - 1, n - 1, n, np.full(n * n, -1))])


program("memo-paths", n=90_000, inputs=_side, check="ints", nesl="""
% The number of paths through a grid, with a table of the results that are known. %
function paths(i, j, n, memo) : (int, int, int, [int]) -> (int, [int]) =
  if i == 0 or j == 0 then (1, memo)
  else let k = i * n + j in
    if memo[k] >= 0 then (memo[k], memo)
    else let (a, memo) = paths(i - 1, j, n, memo); (b, memo) = paths(i, j - 1, n, memo); s = rem(a + b, 1000000007)
         in (s, rep(memo, s, k));
function grid(n) : int -> int = let (v, memo) = paths(n - 1, n - 1, n, dist(-1, n * n)) in v;
""", form="[grid(n)]", numba=_paths)


def _tree(n):
    parent = np.zeros(n, np.int64)
    parent[1:] = (random(1).random(n - 1) * np.arange(1, n)).astype(np.int64)
    order = np.argsort(parent[1:], kind="stable") + 1
    return {"children": order, "degree": np.bincount(parent[1:], minlength=n)}


@loop
def _walk(u, children, first, degree, number, count):
    number[u] = count
    count += 1
    for k in range(degree[u]):
        count = _walk(children[first[u] + k], children, first, degree, number, count)
    return count


@loop
def _numbers(children, degree):
    first = np.cumsum(degree) - degree
    number = np.zeros(len(degree), np.int64)
    _walk(0, children, first, degree, number, 0)
    return number


program("tree-walk", n=100_000, inputs=_tree, check="ints", nesl="""
% The vertices of a tree, numbered in the order of a walk. %
function walk(tree, u, k, number, count) : ([[int]], int, int, [int], int) -> ([int], int) =
  if k == #tree[u] then (number, count)
  else let v = tree[u][k];
           (number, count) = walk(tree, v, 0, rep(number, count, v), count + 1)
       in walk(tree, u, k + 1, number, count);
function numbers(tree) : [[int]] -> [int] =
  let (number, count) = walk(tree, 0, 0, dist(0, #tree), 1) in number;
""", form="numbers(partition(children, degree))", numba=_numbers)


def _keys(n):
    return {"keys": (random(1).random(n) ** 3 * 5000).astype(np.int64), "values": random(2).random(n)}


@loop
def _often(keys, values):
    count = np.zeros(5000, np.int64)
    total = np.zeros(5000)
    for i in range(len(keys)):
        count[keys[i]] += 1
        total[keys[i]] += values[i]
    kept = [total[k] / count[k] for k in range(5000) if count[k] >= 200]
    return np.array(kept)


program("kept-groups", n=1_000_000, inputs=_keys, check="floats", nesl="""
% The means of the keys that occur often. %
function often(kv, least) : ([(int, float)], int) -> [float] =
  {sum(vs) / float(#vs) : (k, vs) in int_collect(kv) | #vs >= least};
""", form="often(zip(keys, values), 200)", numba=_often)


def _rows(n):
    return {"rows": random(1).integers(0, 100, (max(n // 1000, 1), 1000))}


@loop
def _small(rows):
    out = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        kept = np.empty(rows.shape[1], np.int64)
        count = 0
        for x in rows[i]:
            if x < 50:
                kept[count] = 2 * x + 1
                count += 1
        total = 0
        for j in range(count):
            total += kept[j] * j
        out[i] = total
    return out


program("computed-filters", n=2_000_000, inputs=_rows, check="ints", nesl="""
% What is computed of the small elements of each row, weighted by its places. %
function weighted(r) : [int] -> int = let s = {2 * x + 1 : x in r | x < 50} in sum({x * i : x in s; i in [0:#s]});
""", form="{weighted(r) : r in rows}", numba=_small)


def _turns(n):
    return {"turns": n}


@loop
def _automaton(turns):
    width = 128
    cells = np.zeros(width * width, np.int64)
    x, y, way = 64, 64, 0
    for _ in range(turns):
        at = y * width + x
        way = (way + (1 if cells[at] == 0 else 3)) % 4
        cells[at] = 1 - cells[at]
        x = (x + (1 if way == 1 else 0) + (width - 1 if way == 3 else 0)) % width
        y = (y + (1 if way == 2 else 0) + (width - 1 if way == 0 else 0)) % width
    return cells


program("turning-ant", n=300_000, inputs=_turns, check="ints", nesl="""
% Langton's ant on a torus, whose width the recursion hands on. %
function ant(cells, w, x, y, way, k) : ([int], int, int, int, int, int) -> [int] =
  if k == 0 then cells
  else let at = y * w + x; c = cells[at];
           way = rem(way + (if c == 0 then 1 else 3), 4);
           nx = rem(x + (if way == 1 then 1 else 0) + (if way == 3 then w - 1 else 0), w);
           ny = rem(y + (if way == 2 then 1 else 0) + (if way == 0 then w - 1 else 0), w)
       in ant(rep(cells, 1 - c, at), w, nx, ny, way, k - 1);
""", form="ant(dist(0, 128 * 128), 128, 64, 64, 0, turns)", numba=_automaton)
