"""Arrays that are updated in loops: tables of dynamic programming, sieves, merges, heaps, flags."""

import numpy as np

from peers import numpy_peers
from peers.shared import components, components_scipy, sieve

from .suite import letters, loop, program, random


def _items(n):
    rng = random(1)
    return {"weights": rng.integers(1, 1000, 100), "values": rng.integers(1, 1000, 100), "capacity": n // 100}


def _knapsack_numpy(weights, values, capacity):
    best = np.zeros(capacity + 1, np.int64)
    for w, v in zip(weights, values):
        if w <= capacity:
            best[w:] = np.maximum(best[w:], best[:len(best) - w] + v)
    return best


@loop
def _knapsack_numba(weights, values, capacity):
    best = np.zeros(capacity + 1, np.int64)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best


program(
    "knapsack-rows", n=4_000_000, inputs=_items, check="ints",
    nesl="""
% The best value for each capacity, item by item; a new row for each item. %
function with_item(best, w, v) : ([int], int, int) -> [int] =
  {(if c < w then b else max(b, best[c - w] + v)) : b in best; c in [0:#best]};
function knapsack(best, weights, values, i) : ([int], [int], [int], int) -> [int] =
  if i == #weights then best
  else knapsack(with_item(best, weights[i], values[i]), weights, values, i + 1);
""",
    form="knapsack(dist(0, capacity + 1), weights, values, 0)",
    numpy=_knapsack_numpy, numba=_knapsack_numba)

program(
    "knapsack-loop", n=4_000_000, inputs=_items, check="ints",
    nesl="""
% The same as two loops that update one row from right to left. %
function item(best, w, v, c) : ([int], int, int, int) -> [int] =
  if c < w then best
  else item(rep(best, max(best[c], best[c - w] + v), c), w, v, c - 1);
function knapsack(best, weights, values, i) : ([int], [int], [int], int) -> [int] =
  if i == #weights then best
  else knapsack(item(best, weights[i], values[i], #best - 1), weights, values, i + 1);
""",
    form="knapsack(dist(0, capacity + 1), weights, values, 0)",
    numpy=_knapsack_numpy, numba=_knapsack_numba)


def _two_words(n):
    rng, side = random(2), int(n ** 0.5)
    return {name: "".join("acgt"[k] for k in rng.integers(0, 4, side)) for name in "ab"}


@loop
def _edit_distance(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal, row[0] = i, i + 1
        for j in range(1, len(b) + 1):
            above = row[j]
            row[j] = min(min(above, row[j - 1]) + 1, diagonal + (a[i] != b[j - 1]))
            diagonal = above
    return row[len(b)]


program(
    "edit-distance-loop", n=4_000_000, inputs=_two_words, check="number",
    nesl="""
% `row` is updated from left to right; `diagonal` is what stood to the left of j before. %
function along(row, c, b, j, diagonal) : ([int], char, [char], int, int) -> [int] =
  if j > #b then row
  else let above = row[j];
           best = min(min(above, row[j - 1]) + 1, diagonal + btoi(c /= b[j - 1]))
       in along(rep(row, best, j), c, b, j + 1, above);
function rows(row, a, b, i) : ([int], [char], [char], int) -> [int] =
  if i == #a then row else rows(along(rep(row, i + 1, 0), a[i], b, 1, i), a, b, i + 1);
""",
    form="let last = rows([0:#b + 1], a, b, 0) in last[#b]",
    numba=(lambda a, b: (letters(a), letters(b)), _edit_distance))


@loop
def _lcs(a, b):
    width = len(b) + 1
    table = np.zeros((len(a) + 1) * width, np.int64)
    for k in range(len(table)):
        i, j = k // width, k % width
        if i > 0 and j > 0:
            if a[i - 1] == b[j - 1]:
                table[k] = table[k - width - 1] + 1
            else:
                table[k] = max(table[k - width], table[k - 1])
    return table[-1]


program(
    "lcs-table", n=1_000_000, inputs=_two_words, check="number",
    nesl="""
% The longest common subsequence by a whole table, which is filled in by `rep`, row by row. %
function fill(table, a, b, k) : ([int], [char], [char], int) -> [int] =
  let width = #b + 1 in
  if k == #table then table
  else let i = k / width; j = rem(k, width) in
       if i == 0 or j == 0 then fill(table, a, b, k + 1)
       else if a[i - 1] == b[j - 1] then fill(rep(table, table[k - width - 1] + 1, k), a, b, k + 1)
       else fill(rep(table, max(table[k - width], table[k - 1]), k), a, b, k + 1);
""",
    form="let table = fill(dist(0, (#a + 1) * (#b + 1)), a, b, 0) in table[#table - 1]",
    numba=(lambda a, b: (letters(a), letters(b)), _lcs))


program(
    "sieve-rep", n=2_000_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
function strike(flags, m, p) : ([bool], int, int) -> [bool] =
  if m >= #flags then flags else strike(rep(flags, f, m), m + p, p);
function sieve(flags, p) : ([bool], int) -> [bool] =
  if p * p >= #flags then flags
  else sieve((if flags[p] then strike(flags, p * p, p) else flags), p + 1);
""",
    form="drop(pack_index(sieve(dist(t, n), 2)), 2)", numba=sieve, numpy=lambda n: numpy_peers.primes(n)())

program(
    "sieve-write", n=2_000_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
% The multiples of each prime are crossed out at once. %
function sieve(flags, p) : ([bool], int) -> [bool] =
  if p * p >= #flags then flags
  else if flags[p] then sieve(flags <- {(m, f) : m in [p * p:#flags:p]}, p + 1)
  else sieve(flags, p + 1);
""",
    form="drop(pack_index(sieve(dist(t, n), 2)), 2)", numba=sieve, numpy=lambda n: numpy_peers.primes(n)())


def _two_sorted(n):
    rng = random(3)
    return {"a": np.sort(rng.integers(0, n, n // 2)), "b": np.sort(rng.integers(0, n, n // 2))}


@loop
def _merge(a, b):
    out = np.empty(len(a) + len(b), np.int64)
    i = j = 0
    while i + j < len(out):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            out[i + j] = a[i]
            i += 1
        else:
            out[i + j] = b[j]
            j += 1
    return out


def _merge_numpy(a, b):
    return np.sort(np.concatenate([a, b]), kind="stable")


program(
    "merge-rep", n=1_000_000, inputs=_two_sorted, check="ints",
    nesl="""
function merge(a, b, out, i, j) : ([int], [int], [int], int, int) -> [int] =
  if i + j == #out then out
  else if i == #a then merge(a, b, rep(out, b[j], i + j), i, j + 1)
  else if j == #b then merge(a, b, rep(out, a[i], i + j), i + 1, j)
  else if a[i] <= b[j] then merge(a, b, rep(out, a[i], i + j), i + 1, j)
  else merge(a, b, rep(out, b[j], i + j), i, j + 1);
""",
    form="merge(a, b, dist(0, #a + #b), 0, 0)", numba=_merge, numpy=_merge_numpy)

program(
    "merge-snoc", n=1_000_000, inputs=_two_sorted, check="ints",
    nesl="""
% The result grows by one element in each step. %
function merge(a, b, out, i, j) : ([int], [int], [int], int, int) -> [int] =
  if i == #a then out ++ drop(b, j)
  else if j == #b then out ++ drop(a, i)
  else if a[i] <= b[j] then merge(a, b, snoc(out, a[i]), i + 1, j)
  else merge(a, b, snoc(out, b[j]), i, j + 1);
""",
    form="merge(a, b, [] int, 0, 0)", numba=_merge, numpy=_merge_numpy)


@loop
def _cycles(successor):
    seen, n = np.zeros(len(successor), np.bool_), 0
    for i in range(len(seen)):
        if not seen[i]:
            n += 1
            while not seen[i]:
                seen[i] = True
                i = successor[i]
    return n


program(
    "cycles", n=500_000, inputs=lambda n: {"successor": random(4).permutation(n)}, check="number",
    nesl="""
% The number of cycles of a permutation; flags say which elements were visited. %
function follow(successor, seen, i) : ([int], [bool], int) -> [bool] =
  if seen[i] then seen else follow(successor, rep(seen, t, i), successor[i]);
function cycles(successor, seen, i, found) : ([int], [bool], int, int) -> int =
  if i == #seen then found
  else if seen[i] then cycles(successor, seen, i + 1, found)
  else cycles(successor, follow(successor, seen, i), i + 1, found + 1);
""",
    form="cycles(successor, dist(f, #successor), 0, 0)", numba=_cycles)


@loop
def _sift(h, i, n):
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and h[child + 1] > h[child]:
            child += 1
        if h[child] <= h[i]:
            break
        h[i], h[child] = h[child], h[i]
        i = child


@loop
def _heap_sort(a):
    h = a.copy()
    for i in range(len(h) // 2 - 1, -1, -1):
        _sift(h, i, len(h))
    for n in range(len(h) - 1, 0, -1):
        h[0], h[n] = h[n], h[0]
        _sift(h, 0, n)
    return h


program(
    "heap-sort", n=100_000, inputs=lambda n: {"a": random(5).integers(0, 1 << 40, n)}, check="ints",
    nesl="""
function swap(h, i, j) : ([int], int, int) -> [int] = let x = h[i] in rep(rep(h, h[j], i), x, j);
function sift(h, i, n) : ([int], int, int) -> [int] =
  let left = 2 * i + 1
  in if left >= n then h
     else let child = if left + 1 == n then left
                      else if h[left + 1] > h[left] then left + 1 else left
          in if h[child] <= h[i] then h else sift(swap(h, i, child), child, n);
function heapify(h, i) : ([int], int) -> [int] =
  if i < 0 then h else heapify(sift(h, i, #h), i - 1);
function take_out(h, n) : ([int], int) -> [int] =
  if n < 2 then h else take_out(sift(swap(h, 0, n - 1), 0, n - 1), n - 1);
""",
    form="take_out(heapify(a, #a / 2 - 1), #a)", numba=_heap_sort)


def _edges(n):
    rng = random(6)
    return {"us": rng.integers(0, n, n), "vs": rng.integers(0, n, n)}


program(
    "union-find", n=200_000, inputs=_edges, check="ints",
    nesl="""
% Returns the root of v, and the parents with the path to it halved. %
function find_root(parent, v) : ([int], int) -> ([int], int) =
  if parent[v] == v then (parent, v)
  else let grand = parent[parent[v]] in find_root(rep(parent, grand, v), grand);
function unite(parent, us, vs, i) : ([int], [int], [int], int) -> [int] =
  if i == #us then parent
  else let (parent, a) = find_root(parent, us[i]);
           (parent, b) = find_root(parent, vs[i])
       in unite(rep(parent, min(a, b), max(a, b)), us, vs, i + 1);
function root(parent, v) : ([int], int) -> int =
  if parent[v] == v then v else root(parent, parent[v]);
""",
    form="let parent = unite([0:#us], us, vs, 0) in {root(parent, v) : v in [0:#us]}",
    numba=lambda us, vs: components(us, vs, len(us)), scipy=lambda us, vs: components_scipy(us, vs, len(us)))


@loop
def _prefixes(p):
    table = np.zeros(len(p), np.int64)
    for i in range(1, len(p)):
        k = table[i - 1]
        while k > 0 and p[k] != p[i]:
            k = table[k - 1]
        table[i] = k + 1 if p[k] == p[i] else 0
    return table


program(
    "prefix-table", n=1_000_000, check="ints",
    inputs=lambda n: {"p": "".join("ab"[k] for k in random(7).integers(0, 2, n))},
    nesl="""
% The table of Knuth, Morris and Pratt: the longest proper prefix that ends at each letter. %
function matched(p, table, k, c) : ([char], [int], int, char) -> int =
  if p[k] == c then k + 1 else if k == 0 then 0 else matched(p, table, table[k - 1], c);
function fill(p, table, i) : ([char], [int], int) -> [int] =
  if i == #p then table else fill(p, rep(table, matched(p, table, table[i - 1], p[i]), i), i + 1);
""",
    form="fill(p, dist(0, #p), 1)", numba=(lambda p: (letters(p),), _prefixes))


def _board(n):
    side = max(int((n / 10) ** 0.5), 3)
    return {"board": random(8).integers(0, 2, side * side), "side": side, "steps": 10}


@loop
def _life(board, side, steps):
    for _ in range(steps):
        new = np.empty_like(board)
        for i in range(side):
            up, down = (i - 1) % side, (i + 1) % side
            for j in range(side):
                left, right = (j - 1) % side, (j + 1) % side
                n = (board[up * side + left] + board[up * side + j] + board[up * side + right]
                     + board[i * side + left] + board[i * side + right]
                     + board[down * side + left] + board[down * side + j] + board[down * side + right])
                new[i * side + j] = 1 if n == 3 or (n == 2 and board[i * side + j] == 1) else 0
        board = new
    return board


def _life_numpy(board, side, steps):
    b = board.reshape(side, side)
    for _ in range(steps):
        n = sum(np.roll(b, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - b
        b = ((n == 3) | ((n == 2) & (b == 1))).astype(np.int64)
    return b


program(
    "life-rep", n=2_000_000, inputs=_board, check="ints",
    nesl="""
% The game of life on a torus, cell by cell into a new board. %
function next_cell(board, side, k) : ([int], int, int) -> int =
  let i = k / side; j = rem(k, side);
      up = rem(i + side - 1, side) * side; down = rem(i + 1, side) * side; here = i * side;
      left = rem(j + side - 1, side); right = rem(j + 1, side);
      n = board[up + left] + board[up + j] + board[up + right] + board[here + left]
          + board[here + right] + board[down + left] + board[down + j] + board[down + right]
  in btoi(n == 3 or (n == 2 and board[k] == 1));
function fill(board, side, new, k) : ([int], int, [int], int) -> [int] =
  if k == #board then new
  else fill(board, side, rep(new, next_cell(board, side, k), k), k + 1);
function generations(board, side, steps) : ([int], int, int) -> [int] =
  if steps == 0 then board
  else generations(fill(board, side, dist(0, #board), 0), side, steps - 1);
""",
    form="generations(board, side, steps)", numba=_life, numpy=_life_numpy)


@loop
def _insertion_rows(rows):
    out = rows.copy()
    for row in out:
        for i in range(1, len(row)):
            j = i
            while j > 0 and row[j - 1] > row[j]:
                row[j - 1], row[j] = row[j], row[j - 1]
                j -= 1
    return out


program(
    "insertion-sort-rows", n=300_000, check="int rows",
    inputs=lambda n: {"rows": random(9).integers(0, 1000, (n // 30, 30))},
    nesl="""
function swap(a, i, j) : ([int], int, int) -> [int] = let x = a[i] in rep(rep(a, a[j], i), x, j);
function sink(a, i) : ([int], int) -> [int] =
  if i == 0 then a else if a[i - 1] <= a[i] then a else sink(swap(a, i - 1, i), i - 1);
function insertion_sort(a, i) : ([int], int) -> [int] =
  if i == #a then a else insertion_sort(sink(a, i), i + 1);
""",
    form="{insertion_sort(row, 1) : row in rows}", numba=_insertion_rows,
    numpy=lambda rows: np.sort(rows, axis=1))


@loop
def _tally(a, k):
    counts = np.zeros(k, np.int64)
    for x in a:
        counts[x] += 1
    return counts


program(
    "tally", n=4_000_000, inputs=lambda n: {"a": random(10).integers(0, 1000, n)}, check="ints",
    nesl="""
function tally(counts, a, i) : ([int], [int], int) -> [int] =
  if i == #a then counts else tally(rep(counts, counts[a[i]] + 1, a[i]), a, i + 1);
""",
    form="tally(dist(0, 1000), a, 0)", numba=lambda a: _tally(a, 1000),
    numpy=lambda a: np.bincount(a, minlength=1000))


@loop
def _hofstadter(n):
    q = np.empty(n, np.int64)
    q[0] = q[1] = 1
    for i in range(2, n):
        q[i] = q[i - q[i - 1]] + q[i - q[i - 2]]
    return q


program(
    "recurrence-snoc", n=1_000_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
% Hofstadter's sequence: each element says how far back the next is to be looked up. %
function grow(q, n) : ([int], int) -> [int] =
  let i = #q in if i == n then q else grow(snoc(q, q[i - q[i - 1]] + q[i - q[i - 2]]), n);
""",
    form="grow([1, 1], n)", numba=_hofstadter)


@loop
def _shuffle(n):
    a, seed = np.arange(n), 12345
    for i in range(n - 1, 0, -1):
        seed = (seed * 1103515245 + 12345) % 2147483648
        j = seed % (i + 1)
        a[i], a[j] = a[j], a[i]
    return a


program(
    "shuffle", n=500_000, inputs=lambda n: {"n": n}, check="ints",
    nesl="""
% The shuffle of Fisher and Yates, with a linear congruential generator. %
function swap(a, i, j) : ([int], int, int) -> [int] = let x = a[i] in rep(rep(a, a[j], i), x, j);
function shuffle(a, i, seed) : ([int], int, int) -> [int] =
  if i == 0 then a
  else let seed = rem(seed * 1103515245 + 12345, 2147483648)
       in shuffle(swap(a, i, rem(seed, i + 1)), i - 1, seed);
""",
    form="shuffle([0:n], n - 1, 12345)", numba=_shuffle)


def _intervals(n):
    return {"places": random(11).integers(0, n - 100, n // 100), "size": n}


@loop
def _paint(places, size):
    board = np.zeros(size, np.int64)
    for k in range(len(places)):
        for i in range(places[k], places[k] + 100):
            board[i] = k
    return board


def _paint_numpy(places, size):
    board = np.zeros(size, np.int64)
    for k, place in enumerate(places):
        board[place:place + 100] = k
    return board


program(
    "paint", n=1_000_000, inputs=_intervals, check="ints",
    nesl="""
% Intervals of 100 cells are painted one after the other. %
function paint(board, places, k) : ([int], [int], int) -> [int] =
  if k == #places then board
  else paint(board <- {(i, k) : i in [places[k]:places[k] + 100]}, places, k + 1);
""",
    form="paint(dist(0, size), places, 0)", numba=_paint, numpy=_paint_numpy)


def _bookings(n):
    rng = random(12)
    return {"accounts": rng.integers(0, 5000, n), "amounts": rng.integers(-100, 100, n)}


@loop
def _balances(accounts, amounts):
    balance, refused = np.full(5000, 50), np.zeros(5000, np.int64)
    for i in range(len(accounts)):
        a = accounts[i]
        if balance[a] + amounts[i] < 0:
            refused[a] += 1
        else:
            balance[a] += amounts[i]
    return np.concatenate((balance, refused))


program(
    "bookings", n=1_000_000, inputs=_bookings, check="ints",
    nesl="""
% A record of two arrays: bookings that would overdraw an account are refused and counted. %
datatype bank([int], [int]);
function book(bank(balance, refused), account, amount) : (bank, int, int) -> bank =
  if balance[account] + amount < 0
  then bank(balance, rep(refused, refused[account] + 1, account))
  else bank(rep(balance, balance[account] + amount, account), refused);
function all_bookings(b, accounts, amounts, i) : (bank, [int], [int], int) -> bank =
  if i == #accounts then b
  else all_bookings(book(b, accounts[i], amounts[i]), accounts, amounts, i + 1);
""",
    form="let bank(balance, refused) = "
         "all_bookings(bank(dist(50, 5000), dist(0, 5000)), accounts, amounts, 0) in balance ++ refused",
    numba=_balances)


@loop
def _gauss_seidel(b, sweeps):
    x = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(1, len(b) - 1):
            x[i] = 0.5 * (x[i - 1] + x[i + 1] + b[i])
    return x


program(
    "gauss-seidel", n=1_000_000, inputs=lambda n: {"b": random(13).random(n // 10), "sweeps": 10}, check="floats",
    nesl="""
function sweep(x, b, i) : ([float], [float], int) -> [float] =
  if i == #b - 1 then x
  else sweep(rep(x, 0.5 * (x[i - 1] + x[i + 1] + b[i]), i), b, i + 1);
function sweep_all(x, b, n) : ([float], [float], int) -> [float] =
  if n == 0 then x else sweep_all(sweep(x, b, 1), b, n - 1);
""",
    form="sweep_all(dist(0.0, #b), b, sweeps)", numba=_gauss_seidel)
