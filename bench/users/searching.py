"""Searches, tables of past steps, and codes: loops that look back at what they did."""

import numpy as np

from .suite import letters, loop, program, random


def _phrases(n):
    rng = random(11)
    words = ["".join(map(chr, rng.integers(97, 102, 7))) for _ in range(40)]
    return {"s": "".join(words[i] for i in rng.integers(0, 40, n // 7 + 1))[:n]}


@loop
def _matches(s):
    n = len(s)
    lengths = np.zeros(n, np.int64)
    backs = np.zeros(n, np.int64)
    for i in range(1, n):
        start = max(0, i - 64)
        best = -1
        place = 0
        for j in range(start, i):
            k = 0
            while k < 18 and i + k < n and s[i + k] == s[j + k]:
                k += 1
            if k > best:
                best = k
                place = j
        lengths[i] = best
        backs[i] = i - place
    return lengths * 64 + backs


program("window-matches", n=100_000, inputs=_phrases, check="ints", nesl="""
% For each place of a text the longest match that begins in the 64 places before it, as LZ77 needs it. %
function equal_letters(s, i, j, k) : ([char], int, int, int) -> int =
  if k == 18 or i + k >= #s then k
  else if s[i + k] == s[j + k] then equal_letters(s, i, j, k + 1) else k;
function longest(s, i) : ([char], int) -> int =
  if i == 0 then 0
  else let from = max(0, i - 64); lengths = {equal_letters(s, i, j, 0) : j in [from:i]}; best = max_index(lengths)
       in lengths[best] * 64 + i - from - best;
""", form="{longest(s, i) : i in [0:#s]}", numba=(lambda s: (letters(s),), _matches))


def _orders(n):
    rng = random(12)
    buyer = rng.integers(0, 2, n) == 1
    x = rng.integers(0, 20, n)
    q = rng.integers(1, 51, n)
    return {"prices": np.where(buyer, 85 + x, 95 + x), "amounts": np.where(buyer, q, -q)}


@loop
def _book(prices, amounts):
    asks = np.zeros(200, np.int64)
    bids = np.zeros(200, np.int64)
    traded = 0
    for i in range(len(prices)):
        p = prices[i]
        q = amounts[i]
        if q > 0:
            level = max(0, p - 20)
            while q > 0 and level <= p:
                x = min(q, asks[level])
                asks[level] -= x
                q -= x
                traded += x * level
                level += 1
            if q > 0:
                bids[p] += q
        else:
            q = -q
            level = min(199, p + 20)
            while q > 0 and level >= p:
                x = min(q, bids[level])
                bids[level] -= x
                q -= x
                traded += x * level
                level -= 1
            if q > 0:
                asks[p] += q
    return traded


program("order-book", n=200_000, inputs=_orders, check="number", nesl="""
% An order first takes what the other side offers, from the best price on; the rest is added to its own side. %
function buy(asks, bids, price, q, level, traded) : ([int], [int], int, int, int, int) -> ([int], [int], int) =
  if q == 0 then (asks, bids, traded)
  else if level > price then (asks, rep(bids, bids[price] + q, price), traded)
  else let x = min(q, asks[level])
       in buy((if x > 0 then rep(asks, asks[level] - x, level) else asks), bids, price, q - x, level + 1, traded + x * level);
function sell(asks, bids, price, q, level, traded) : ([int], [int], int, int, int, int) -> ([int], [int], int) =
  if q == 0 then (asks, bids, traded)
  else if level < price then (rep(asks, asks[price] + q, price), bids, traded)
  else let x = min(q, bids[level])
       in sell(asks, (if x > 0 then rep(bids, bids[level] - x, level) else bids), price, q - x, level - 1, traded + x * level);
function trade(prices, amounts, i, asks, bids, traded) : ([int], [int], int, [int], [int], int) -> int =
  if i == #prices then traded
  else let q = amounts[i]; price = prices[i];
           (a, b, v) = (if q > 0 then buy(asks, bids, price, q, max(0, price - 20), 0)
                        else sell(asks, bids, price, -q, min(199, price + 20), 0))
       in trade(prices, amounts, i + 1, a, b, traded + v);
""", form="trade(prices, amounts, 0, dist(0, 200), dist(0, 200), 0)", numba=_book)


@loop
def _gram_schmidt(m):
    a = m.T.copy()
    n = len(a)
    for k in range(n):
        a[k] *= 1 / np.sqrt(np.sum(a[k] * a[k]))
        for j in range(k + 1, n):
            p = 0.0
            for i in range(a.shape[1]):
                p += a[j, i] * a[k, i]
            for i in range(a.shape[1]):
                a[j, i] -= p * a[k, i]
    return a


def _nearly_diagonal(n):
    side = max(int(n ** (1 / 3)), 4)
    return {"m": random(13).random((side, side)) + np.eye(side)}


program("gram-schmidt", n=8_000_000, inputs=_nearly_diagonal, check="float rows", nesl="""
% Columns become orthonormal, one after the other. %
function dot(a, b) : ([float], [float]) -> float = sum({x * y : x in a; y in b});
function orthonormal(columns, q) : ([[float]], [[float]]) -> [[float]] =
  if #columns == 0 then q
  else let v = columns[0];
           k = 1.0 / sqrt(dot(v, v));
           u = {k * x : x in v};
           others = {let p = dot(c, u) in {x - p * y : x in c; y in u} : c in drop(columns, 1)}
       in orthonormal(others, snoc(q, u));
""", form="orthonormal(transpose(m), [] [float])", numba=_gram_schmidt)


def _chain(n):
    rng = random(14)
    trans = np.log(0.01 + rng.random((16, 16)) + 2.0 * np.eye(16))
    emit = np.log(0.01 + rng.random((16, 8)))
    return {"seen": np.repeat(rng.integers(0, 8, n // 768 + 2), 3)[:max(n // 256, 4)], "trans": trans, "emit": emit}


@loop
def _viterbi(seen, trans, emit):
    n = len(seen)
    states = len(trans)
    back = np.empty((n, states), np.int64)
    score = emit[:, seen[0]].copy()
    after = np.empty(states)
    for i in range(1, n):
        for s in range(states):
            best = 0
            value = -np.inf
            for j in range(states):
                v = score[j] + trans[s, j]
                if v > value:
                    value = v
                    best = j
            back[i, s] = best
            after[s] = value + emit[s, seen[i]]
        score[:] = after
    out = np.empty(n, np.int64)
    s = np.argmax(score)
    out[n - 1] = s
    for i in range(n - 1, 0, -1):
        s = back[i, s]
        out[i - 1] = s
    return out


program("viterbi", n=5_000_000, inputs=_chain, check="ints", nesl="""
% The likeliest states of a hidden Markov model. %
function forward(seen, i, score, back) : ([int], int, [float], [[int]]) -> ([float], [[int]]) =
  if i == #seen then (score, back)
  else let from = {max_index({s + p : s in score; p in column}) : column in trans};
           after = {score[j] + column[j] + e[seen[i]] : j in from; column in trans; e in emit}
       in forward(seen, i + 1, after, snoc(back, from));
function backward(back, i, s, states) : ([[int]], int, int, [int]) -> [int] =
  if i < 0 then states else backward(back, i - 1, back[i][s], rep(states, back[i][s], i));
function likeliest(seen) : [int] -> [int] =
  let (score, back) = forward(seen, 1, {e[seen[0]] : e in emit}, [] [int]);
      last = max_index(score)
  in backward(back, #back - 1, last, dist(last, #seen));
""", form="likeliest(seen)", numba=_viterbi)


_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@loop
def _base64(data, digits):
    n = len(data) // 3
    out = np.empty(4 * n, np.uint8)
    for i in range(n):
        v = (data[3 * i] * 256 + data[3 * i + 1]) * 256 + data[3 * i + 2]
        out[4 * i] = digits[(v >> 18) & 63]
        out[4 * i + 1] = digits[(v >> 12) & 63]
        out[4 * i + 2] = digits[(v >> 6) & 63]
        out[4 * i + 3] = digits[v & 63]
    return out


program("base64", n=3_000_000, inputs=lambda n: {"data": random(15).integers(0, 256, n // 3 * 3)}, check="text", nesl=f"""
digits = "{_DIGITS}";
""" + """
function base64(data) : [int] -> [char] =
  flatten({let v = (g[0] * 256 + g[1]) * 256 + g[2] in {digits[rshift(v, s) and 63] : s in [18, 12, 6, 0]}
           : g in group_by(data, 3)});
""", form="base64(data)", numba=(lambda data: (data, letters(_DIGITS)), _base64))


def _walls(n):
    side = max(int(n ** 0.5), 8)
    walls = random(16).random(side * side) < 0.25
    walls[0] = walls[-1] = False
    return {"wall": walls.astype(np.int64), "side": side}


@loop
def _a_star(wall, side):
    n = side
    priority = np.empty(4 * n * n, np.int64)
    cell = np.empty(4 * n * n, np.int64)
    far = np.full(n * n, 1 << 62)
    far[0] = 0
    priority[0] = 2 * n
    cell[0] = 0
    size = 1
    while size:
        at = cell[0]
        if at == n * n - 1:
            return far[at]
        size -= 1
        priority[0] = priority[size]
        cell[0] = cell[size]
        i = 0
        while 2 * i + 1 < size:
            left = 2 * i + 1
            right = min(left + 1, size - 1)
            j = left + 1 if priority[right] < priority[left] else left
            if priority[j] >= priority[i]:
                break
            priority[i], priority[j] = priority[j], priority[i]
            cell[i], cell[j] = cell[j], cell[i]
            i = j
        for k in range(4):
            y = at // n + (1 if k == 0 else -1 if k == 1 else 0)
            x = at % n + (1 if k == 2 else -1 if k == 3 else 0)
            if x < 0 or y < 0 or x >= n or y >= n:
                continue
            to = y * n + x
            d = far[at] + 1
            if wall[to] > 0 or d >= far[to]:
                continue
            far[to] = d
            i = size
            priority[i] = d + n - 1 - x + n - 1 - y
            cell[i] = to
            size += 1
            while i > 0:
                j = (i - 1) // 2
                if priority[i] >= priority[j]:
                    break
                priority[i], priority[j] = priority[j], priority[i]
                cell[i], cell[j] = cell[j], cell[i]
                i = j
    return -1


program("a-star", n=250_000, inputs=_walls, check="number", nesl="""
% The shortest path in a grid with walls: a heap of (priority, cell) in an array, distances in another. %
function up(heap, i) : ([(int, int)], int) -> [(int, int)] =
  if i == 0 then heap
  else let j = (i - 1) / 2; (p, x) = heap[i]; (q, y) = heap[j]
       in if p < q then up(rep(rep(heap, (q, y), i), (p, x), j), j) else heap;
function down(heap, size, i) : ([(int, int)], int, int) -> [(int, int)] =
  let l = 2 * i + 1
  in if l >= size then heap
     else let (pl, xl) = heap[l]; (pr, xr) = heap[min(l + 1, size - 1)];
              j = (if pr < pl then l + 1 else l);
              (p, x) = heap[i]; (q, y) = heap[j]
          in if q < p then down(rep(rep(heap, (q, y), i), (p, x), j), size, j) else heap;
function relax(heap, size, far, at, k) : ([(int, int)], int, [int], int, int) -> ([(int, int)], int, [int]) =
  if k == 4 then (heap, size, far)
  else let y = at / side + (if k == 0 then 1 else if k == 1 then -1 else 0);
           x = rem(at, side) + (if k == 2 then 1 else if k == 3 then -1 else 0)
       in if x < 0 or y < 0 or x >= side or y >= side then relax(heap, size, far, at, k + 1)
          else let to = y * side + x; d = far[at] + 1
               in if wall[to] > 0 or d >= far[to] then relax(heap, size, far, at, k + 1)
                  else relax(up(rep(heap, (d + 2 * side - 2 - x - y, to), size), size), size + 1, rep(far, d, to), at, k + 1);
function search(heap, size, far) : ([(int, int)], int, [int]) -> int =
  if size == 0 then -1
  else let (p, at) = heap[0]
       in if at == side * side - 1 then far[at]
          else let (h, s, d) = relax(down(rep(heap, heap[size - 1], 0), size - 1, 0), size - 1, far, at, 0)
               in search(h, s, d);
""", form="search(dist((2 * side, 0), 4 * side * side), 1, rep(dist(max_int, side * side), 0, 0))", numba=_a_star)


@loop
def _history(u, steps):
    out = np.empty((steps, len(u)))
    now = u.copy()
    for k in range(steps):
        after = now.copy()
        for i in range(1, len(u) - 1):
            after[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1]
        now = after
        out[k] = now
    return out


program("history", n=4_000_000, inputs=lambda n: {"u": random(17).random(max(n // 200, 8)), "steps": 200},
        check="float rows", nesl="""
% All steps of a simulation. %
function step(u) : [float] -> [float] =
  {(if i == 0 or i == #u - 1 then x else 0.25 * u[i - 1] + 0.5 * x + 0.25 * u[i + 1]) : x in u; i in [0:#u]};
function history(u, all, steps) : ([float], [[float]], int) -> [[float]] =
  if steps == 0 then all else let after = step(u) in history(after, snoc(all, after), steps - 1);
""", form="history(u, [] [float], steps)", numba=_history)
