"""Programs as they are written without a thought of speed: geometry, groups, pictures, words and schedules."""

import numpy as np

from .suite import Ragged, check_floats, check_ints, letters, loop, parallel, prange, program, random


def _mesh(n):
    side = max(int((n / 2) ** 0.5), 3)
    rng = random(6)
    z = rng.random((side, side))
    pts = np.stack([np.repeat(np.arange(side), side), np.tile(np.arange(side), side), z.ravel()], 1).astype(float)
    i = np.arange(side * side).reshape(side, side)
    a = np.stack([i[:-1, :-1], i[1:, :-1], i[:-1, 1:]], -1).reshape(-1, 3)
    b = np.stack([i[1:, 1:], i[:-1, 1:], i[1:, :-1]], -1).reshape(-1, 3)
    return {"places": pts, "corners": np.concatenate([a, b])}


@loop
def _normals(p, faces):
    out = np.zeros_like(p)
    for i in range(len(faces)):
        a, b, c = faces[i]
        ux = p[b, 0] - p[a, 0]; uy = p[b, 1] - p[a, 1]; uz = p[b, 2] - p[a, 2]
        vx = p[c, 0] - p[a, 0]; vy = p[c, 1] - p[a, 1]; vz = p[c, 2] - p[a, 2]
        nx = uy * vz - uz * vy; ny = uz * vx - ux * vz; nz = ux * vy - uy * vx
        for k in (a, b, c):
            out[k, 0] += nx; out[k, 1] += ny; out[k, 2] += nz
    for i in range(len(p)):
        l = np.sqrt(out[i, 0] ** 2 + out[i, 1] ** 2 + out[i, 2] ** 2)
        out[i, 0] /= l; out[i, 1] /= l; out[i, 2] /= l
    return out


program("mesh-normals", n=200_000, inputs=_mesh,
        check=("check_floats(flatten({[x, y, z] : vec(x, y, z) in r}))", lambda r: check_floats(r)), nesl="""
datatype vec(float, float, float);
function minus(vec(a, b, c), vec(d, e, g)) : (vec, vec) -> vec = vec(a - d, b - e, c - g);
function cross(vec(a, b, c), vec(d, e, g)) : (vec, vec) -> vec = vec(b * g - c * e, c * d - a * g, a * e - b * d);
function total(vs) : [vec] -> vec =
  vec(sum({x : vec(x, y, z) in vs}), sum({y : vec(x, y, z) in vs}), sum({z : vec(x, y, z) in vs}));
function unit(vec(a, b, c)) : vec -> vec = let l = sqrt(a * a + b * b + c * c) in vec(a / l, b / l, c / l);
points = {vec(p[0], p[1], p[2]) : p in places};
faces = {(c[0], c[1], c[2]) : c in corners};
function face_normal(ps, (a, b, c)) : ([vec], (int, int, int)) -> vec = cross(minus(ps[b], ps[a]), minus(ps[c], ps[a]));
function normals(ps, faces) : ([vec], [(int, int, int)]) -> [vec] =
  let ns = {face_normal(ps, fc) : fc in faces};
      uses = flatten({[(a, n), (b, n), (c, n)] : (a, b, c) in faces; n in ns})
  in {unit(total(vs)) : (k, vs) in int_collect(uses)};
""", form="normals(points, faces)", numba=(lambda places, corners: (places, corners), _normals))


def _tracks(n):
    rng = random(3)
    lengths = rng.integers(1, 40, n // 20)
    m = lengths.sum()
    return {"lats": Ragged(rng.uniform(40, 50, m), lengths), "lons": Ragged(rng.uniform(0, 10, m), lengths)}


@parallel
def _track(starts, lat, lon):
    n = len(starts) - 1
    out = np.empty((n, 4))
    for i in prange(n):
        total = 0.0; longest = 0.0; lo = np.inf; hi = -np.inf
        for j in range(starts[i], starts[i + 1]):
            lo = min(lo, lat[j]); hi = max(hi, lat[j])
            if j > starts[i]:
                a = lat[j - 1] * np.pi / 180; b = lat[j] * np.pi / 180
                dl = (lon[j] - lon[j - 1]) * np.pi / 180
                h = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(dl / 2) ** 2
                d = 2 * 6371.0 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))
                total += d; longest = max(longest, d)
        out[i, 0] = total; out[i, 1] = longest; out[i, 2] = lo; out[i, 3] = hi
    return out


program("gps-tracks", n=100_000, inputs=_tracks,
        check=("check_floats(flatten({[a, b, c, d] : (a, b, c, d) in r}))", lambda r: check_floats(r)), nesl="""
% A track is a list of places; its length, its longest leg, and the latitudes between which it lies. %
function radians(d) : float -> float = d * pi / 180.0;
function leg((lat1, lon1), (lat2, lon2)) : ((float, float), (float, float)) -> float =
  let a = radians(lat1); b = radians(lat2); dl = radians(lon2 - lon1);
      h = sin((b - a) / 2.0) ^ 2 + cos(a) * cos(b) * sin(dl / 2.0) ^ 2
  in 2.0 * 6371.0 * asin(sqrt(h));
function summary(track) : [(float, float)] -> (float, float, float, float) =
  let legs = {leg(p, q) : p in take(track, #track - 1); q in drop(track, 1)};
      lats = {lat : (lat, lon) in track}
  in (sum(legs), max_val([0.0] ++ legs), min_val(lats), max_val(lats));
tracks = {zip(a, b) : a in lats; b in lons};
""", form="{summary(track) : track in tracks}",
        numba=(lambda lats, lons: (lats.starts, lats.values, lons.values), _track))


def _hands(n):
    rng = random(9)
    return {"cards": np.argsort(rng.random((n // 5, 52)), axis=1)[:, :5].copy()}


@parallel
def _poker(cards):
    n = len(cards)
    out = np.empty(n, np.int64)
    for i in prange(n):
        c = np.zeros(13, np.int64)
        flush = True; lo = 99; hi = -1; pairs = 0
        for j in range(5):
            r = cards[i, j] % 13
            pairs += c[r]; c[r] += 1
            lo = min(lo, r); hi = max(hi, r)
            flush &= cards[i, j] // 13 == cards[i, 0] // 13
        straight = pairs == 0 and hi - lo == 4
        out[i] = 8 if straight and flush else 7 if pairs == 6 else 6 if pairs == 4 else 5 if flush else \
            4 if straight else 3 if pairs == 3 else 2 if pairs == 2 else 1 if pairs == 1 else 0
    return out


program("poker", n=1_000_000, inputs=_hands, check="ints", nesl="""
% The kinds of hands in poker: 8 is a straight flush, 0 is nothing. Cards are numbers from 0 to 51. %
function kind(hand) : [int] -> int =
  let ranks = {rem(c, 13) : c in hand}; suits = {c / 13 : c in hand};
      pairs = sum({count({a == b : b in ranks}) - 1 : a in ranks}) / 2;
      flush = all({s == suits[0] : s in suits});
      straight = pairs == 0 and max_val(ranks) - min_val(ranks) == 4
  in if straight and flush then 8 else if pairs == 6 then 7 else if pairs == 4 then 6
     else if flush then 5 else if straight then 4 else pairs;
""", form="{kind(hand) : hand in cards}", numba=lambda cards: _poker(cards))


def _spell(n):
    rng = random(2)
    vocab = sorted({"".join(map(chr, rng.integers(97, 123, rng.integers(3, 10)))) for _ in range(max(n // 5000, 20))})
    bad = []
    for _ in range(100):
        w = list(vocab[rng.integers(0, len(vocab))])
        w[rng.integers(0, len(w))] = chr(rng.integers(97, 123))
        if rng.random() < .5:
            w.insert(1, "e")
        bad.append("".join(w))
    return {"vocabulary": vocab, "misspelt": bad}


def _pack(ws):
    text = "".join(ws)
    l = np.array([len(w) for w in ws])
    return letters(text), np.concatenate([[0], np.cumsum(l)])


@parallel
def _spell_numba(v, vs, b, bs):
    out = np.empty(len(bs) - 1, np.int64)
    for k in prange(len(bs) - 1):
        best = 10 ** 9
        m = bs[k + 1] - bs[k]
        row = np.empty(64, np.int64)
        for w in range(len(vs) - 1):
            n = vs[w + 1] - vs[w]
            if abs(n - m) > 2:
                continue
            for j in range(n + 1):
                row[j] = j
            for i in range(m):
                diag = row[0]; row[0] = i + 1
                for j in range(n):
                    c = diag + (b[bs[k] + i] != v[vs[w] + j])
                    diag = row[j + 1]
                    row[j + 1] = min(c, min(row[j], diag) + 1)
            if row[n] < best:
                best = row[n]; out[k] = w
    return out


program("spelling", n=5_000_000, inputs=_spell, check="ints", nesl="""
% The nearest word for each misspelt one, by edit distance. %
function next_row(row, w, c, j, left, out) : ([int], [char], char, int, int, [int]) -> [int] =
  if j == #w then out
  else let best = min(row[j] + btoi(w[j] /= c), min(left, row[j + 1]) + 1)
       in next_row(row, w, c, j + 1, best, snoc(out, best));
function distance(s, w, i, row) : ([char], [char], int, [int]) -> int =
  if i == #s then row[#w] else distance(s, w, i + 1, next_row(row, w, s[i], 0, i + 1, [i + 1]));
function correct(s) : [char] -> int =
  let close = {k : k in [0:#vocabulary]; w in vocabulary | diff(#w, #s) <= 2};
      far = {distance(s, vocabulary[k], 0, [0:#(vocabulary[k]) + 1]) : k in close}
  in close[min_index(far)];
""", form="{correct(s) : s in misspelt}",
        numba=(lambda vocabulary, misspelt: _pack(vocabulary) + _pack(misspelt), _spell_numba))


@loop
def _gosper(bits, weights, goal):
    n = len(weights)
    x = (1 << bits) - 1
    out = []
    while x < 1 << n:
        s = 0; y = x
        for j in range(n):
            if (x >> j) & 1:
                s += weights[j]
        if s == goal:
            out.append(x)
        c = x & -x
        r = x + c
        x = (((r ^ x) >> 2) // c) | r
    return np.array(out)


program("gosper", n=184_756, grows=False, check="ints",
        inputs=lambda n: {"weights": random(9).integers(1, 100, 20 if n > 100_000 else 8),
                          "goal": 500 if n > 100_000 else 200, "bits": 10 if n > 100_000 else 4}, nesl="""
% The subsets of a given size with a given sum, as bits, in Gosper's order. %
function next_subset(x) : int -> int =
  let c = x and -x; r = x + c in (rshift(r xor x, 2) / c) or r;
function weight_of(x) : int -> int = sum({w : w in weights; j in [0:#weights] | (rshift(x, j) and 1) == 1});
function subsets(x, out) : (int, [int]) -> [int] =
  if x >= lshift(1, #weights) then out
  else subsets(next_subset(x), if weight_of(x) == goal then snoc(out, x) else out);
""", form="subsets(lshift(1, bits) - 1, [] int)", numba=lambda weights, goal, bits: _gosper(bits, weights, goal))


def _project(n):
    rng = random(13)
    tasks = max(n // 8, 10)
    lengths = np.minimum(rng.integers(0, 9, tasks), np.arange(tasks))
    needs = [rng.integers(max(0, i - 1000), i, l) for i, l in enumerate(lengths)]
    needs = np.concatenate([*needs, np.array([], np.int64)])
    return {"needs": Ragged(needs.astype(np.int64), lengths), "durations": rng.integers(1, 50, tasks)}


@loop
def _critical(starts, needs, durations):
    n = len(durations)
    ends = np.empty(n, np.int64)
    for i in range(n):
        s = 0
        for j in range(starts[i], starts[i + 1]):
            s = max(s, ends[needs[j]])
        ends[i] = s + durations[i]
    return ends


program("critical-path", n=2_000_000, inputs=_project, check="ints", nesl="""
% When each task ends, if it begins when those are done that it needs; these come before it. %
function schedule(needs, durations, ends) : ([[int]], [int], [int]) -> [int] =
  let i = #ends
  in if i == #durations then ends
     else schedule(needs, durations, snoc(ends, max_val([0] ++ {ends[k] : k in needs[i]}) + durations[i]));
""", form="schedule(needs, durations, [] int)",
        numba=(lambda needs, durations: (needs.starts, needs.values, durations), _critical))


@loop
def _manacher(s):
    n = len(s)
    rad = np.zeros(n, np.int64)
    l = 0; r = -1
    for i in range(n):
        k = 1 if i > r else min(rad[l + r - i], r - i + 1)
        while i - k >= 0 and i + k < n and s[i - k] == s[i + k]:
            k += 1
        rad[i] = k
        if i + k - 1 > r:
            l = i - k + 1; r = i + k - 1
    return rad


program("manacher", n=1_000_000, check="ints",
        inputs=lambda n: {"word": "".join(map(chr, random(14).integers(97, 99, n)))}, nesl="""
% The radius of the longest palindrome around each letter. %
function grow(s, i, k) : ([char], int, int) -> int =
  if i - k < 0 or i + k >= #s then k else if s[i - k] == s[i + k] then grow(s, i, k + 1) else k;
function radii(s, l, r, out) : ([char], int, int, [int]) -> [int] =
  let i = #out
  in if i == #s then out
     else let k = grow(s, i, if i > r then 1 else min(out[l + r - i], r - i + 1))
          in if i + k - 1 > r then radii(s, i - k + 1, i + k - 1, snoc(out, k)) else radii(s, l, r, snoc(out, k));
""", form="radii(word, 0, -1, [] int)", numba=(lambda word: (letters(word),), _manacher))


def _noisy(n):
    side = max(int(n ** .5), 16)
    return {"noisy": random(16).random((side, side))}


@parallel
def _bilateral(a):
    n = len(a)
    out = np.empty((n, n))
    for i in prange(n):
        for j in range(n):
            s = 0.0; w = 0.0
            for p in range(max(i - 2, 0), min(i + 3, n)):
                for q in range(max(j - 2, 0), min(j + 3, n)):
                    d = a[p, q] - a[i, j]
                    x = np.exp(-((p - i) ** 2 + (q - j) ** 2) / 8.0 - d * d / 0.08)
                    s += x * a[p, q]; w += x
            out[i, j] = s / w
    return out


program("bilateral", n=250_000, inputs=_noisy, check="float rows", nesl="""
% Bilateral filter: a mean of the neighbours, of which those count more that are near and of like brightness. %
function smooth(a, i, j) : ([[float]], int, int) -> float =
  let c = a[i][j]; n = #a;
      near = flatten({{let x = a[p][q]; d = x - c
                       in (exp(-(float((p - i) ^ 2 + (q - j) ^ 2)) / 8.0 - d * d / 0.08), x)
                       : q in [max(j - 2, 0):min(j + 3, n)]} : p in [max(i - 2, 0):min(i + 3, n)]})
  in sum({w * x : (w, x) in near}) / sum({w : (w, x) in near});
""", form="{{smooth(noisy, i, j) : j in [0:#noisy]} : i in [0:#noisy]}", numba=lambda noisy: _bilateral(noisy))


def _log(n):
    rng = random(17)
    return {"users": rng.integers(0, max(n // 50, 5), n), "times": np.sort(rng.integers(0, 20 * n, n))}


@loop
def _sessions(users, times):
    m = users.max() + 1
    last = np.full(m, -1); begun = np.zeros(m, np.int64); count = np.zeros(m, np.int64); longest = np.zeros(m, np.int64)
    for i in range(len(users)):
        u = users[i]; x = times[i]
        if last[u] < 0 or x - last[u] > 500000:
            count[u] += 1; begun[u] = x
        last[u] = x
        longest[u] = max(longest[u], x - begun[u])
    out = np.empty((m, 2), np.int64)
    out[:, 0] = count; out[:, 1] = longest
    return out


program("sessions", n=500_000, inputs=_log,
        check=("check_ints(flatten({[a, b] : (a, b) in r}))", check_ints), nesl="""
% How many sessions each user had, and the longest: a session ends when nothing happens for a while. %
function sessions(ts) : [int] -> [[int]] =
  partition(ts, length_from_flags({x - p > 500000 : x in ts; p in previous(ts, ts[0])}));
function summary(ts) : [int] -> (int, int) =
  let ss = sessions(ts) in (#ss, max_val({s[#s - 1] - s[0] : s in ss}));
""", form="{summary(ts) : (u, ts) in int_collect(zip(users, times))}",
        numba=lambda users, times: _sessions(users, times))


@loop
def _amicable(n):
    s = np.ones(n, np.int64)
    s[0] = 0; s[1] = 0
    for d in range(2, n // 2 + 1):
        for m in range(2 * d, n, d):
            s[m] += d
    out = []
    for a in range(n):
        if s[a] > a and s[a] < n and s[s[a]] == a:
            out.append((a, s[a]))
    return np.array(out).ravel() if len(out) else np.zeros(0, np.int64)


program("amicable", n=200_000, inputs=lambda n: {"limit": n},
        check=("check_ints(flatten({[a, b] : (a, b) in r}))", check_ints), nesl="""
% Pairs of numbers, each the sum of the other's divisors. %
function divisor_sums(n) : int -> [int] =
  let pairs = flatten({{(m, d) : m in [2 * d:n:d]} : d in [1:(n + 1) / 2]})
  in dist(0, n) <- {(m, sum(ds)) : (m, ds) in int_collect(pairs)};
function amicable(n) : int -> [(int, int)] =
  let s = divisor_sums(n) in {(a, b) : a in [0:n]; b in s | b > a and b < n and s[min(b, n - 1)] == a};
""", form="amicable(limit)", numba=lambda limit: _amicable(limit))


def _signed(n):
    side = max(int(n ** (1 / 3)), 4)
    return {"grid": random(18).integers(-10, 11, (side, side))}


@parallel
def _best_rect(a):
    n = len(a)
    best = np.empty(n, np.int64)
    for top in prange(n):
        sums = np.zeros(n, np.int64)
        b = -10 ** 9
        for bottom in range(top, n):
            run = 0
            for j in range(n):
                sums[j] += a[bottom, j]
                run = max(run, 0) + sums[j]
                b = max(b, run)
        best[top] = b
    return best.max()


program("best-rectangle", n=8_000_000, inputs=_signed, check="number", nesl="""
% The greatest sum of a rectangle, from the sums above each place and Kadane's scan for all pairs of rows. %
function best_run(xs) : [int] -> int =
  let ends = {s + x : s in plus_scan(xs); x in xs};
      least = min_scan([0] ++ ends)
  in max_val({e - min(l, 0) : e in ends; l in take(least, #ends)});
function running(rows, sums, i) : ([[int]], [[int]], int) -> [[int]] =
  if i == #rows then sums else running(rows, snoc(sums, {s + x : s in sums[i]; x in rows[i]}), i + 1);
function best_rectangle(rows) : [[int]] -> int =
  let above = running(rows, [dist(0, #(rows[0]))], 0)
  in max_val({max_val({best_run({b - a : a in above[i]; b in above[j]}) : j in [i + 1:#above]}) : i in [0:#rows]});
""", form="best_rectangle(grid)", numba=lambda grid: _best_rect(grid))
