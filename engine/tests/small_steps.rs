//! Tests that a recursion whose steps are small is left to one thread, also where a step goes over rows: a launch for
//! each kernel of each step would take longer than the step.

mod counted;

use nesl_engine::session::Strategy;

/// Programs of many small steps, and the most launches that they may take.
const PROGRAMS: &[(&str, &str, u64)] = &[
    // The forward algorithm of a hidden Markov model.
    (
        "function forward(p, k, m, o) : ([float], int, [[float]], [int]) -> [float] =
           if k == #o then p
           else let q = {sum({x * y : x in p; y in row}) * float(o[k]) : row in m}; s = sum(q)
                in forward({x / s : x in q}, k + 1, m, o);
         m = {{float(rem(i * j, 7) + 1) : j in [0:24]} : i in [0:24]};
         o = {rem(i, 4) + 1 : i in [0:500]};",
        "sum(forward(dist(1.0, 24), 0, m, o))",
        40,
    ),
    // Dynamic programming: the bounds of the inner loop are known, its length is no array's.
    (
        "function chain(m, d, l) : ([[int]], [int], int) -> int =
           if l > #d - 1 then m[#m - 1][0]
           else chain(m ++ [{min_val({m[k - 1][i] + m[l - k - 1][i + k] + d[i] * d[i + k] * d[i + l]
                                      : k in [1:l]}) : i in [0:#d - l]}], d, l + 1);
         d = {rem(i * 17, 50) + 1 : i in [0:60]};",
        "chain([dist(0, 59)], d, 2)",
        40,
    ),
    (
        "function power(v, m, k) : ([float], [[float]], int) -> [float] =
           if k == 0 then v else power({sum({x * y : x in row; y in v}) / 20.0 : row in m}, m, k - 1);
         m = {{float(rem(i + j, 3)) : j in [0:40]} : i in [0:40]};",
        "sum(power(dist(1.0, 40), m, 300))",
        40,
    ),
    // A long loop that no element executes.
    (
        "function step(v, m, n) : ([int], [int], int) -> int =
           if n == 0 then sum(v)
           else step({if x < 0 then sum({rem(i * x, 7) : i in m}) else x + 1 : x in v}, m, n - 1);
         m = {i : i in [0:4000]};",
        "step({i : i in [0:8]}, m, 300)",
        40,
    ),
    // Dynamic programming over sets of towns: few elements execute the loop, and it is short.
    (
        "function best(ways, d, n, m, j) : ([int], [[int]], int, int, int) -> int =
           let p = m - lshift(1, j) in
           if (m and lshift(1, j)) == 0 then 1000000
           else if p == 0 then d[0][j]
           else min_val({ways[p * n + i] + d[i][j] : i in [0:n] | oddp(rshift(p, i))});
         function go(ways, d, n, m) : ([int], [[int]], int, int) -> [int] =
           if m == lshift(1, n) then ways
           else go(ways <- {(m * n + j, best(ways, d, n, m, j)) : j in [0:n]}, d, n, m + 1);
         d = {{rem(i * 37 + j * 101 + i * j, 97) + 1 : j in [0:11]} : i in [0:11]};",
        "min_val(drop(go(dist(1000000, 11 * 2048), d, 11, 1), 11 * 2047))",
        60,
    ),
    // Dijkstra's algorithm by arrays: two cheap passes over all vertices in each turn, beside a large table.
    (
        "function relax(d, near, i) : ([int], [(int, int)], int) -> [int] =
           if i == #near then d
           else let (v, way) = near[i]
                in relax((if way < d[v] then rep(d, way, v) else d), near, i + 1);
         function dijkstra(graph, d, done, left) : ([[(int, int)]], [int], [bool], int) -> [int] =
           if left == 0 then d
           else let u = min_index({(if b then 1000000000 else x) : x in d; b in done});
                    near = {(v, d[u] + cost) : (v, cost) in graph[u]}
                in dijkstra(graph, relax(d, near, 0), rep(done, t, u), left - 1);
         graph = {{(rem(i * 7919 + j * 104729, 2000), rem(i * j, 97) + 1) : j in [0:12]} : i in [0:2000]};",
        "sum(dijkstra(graph, rep(dist(1000000000, 2000), 0, 0), dist(f, 2000), 300))",
        300,
    ),
    // A heap: what one thread does in each turn is no work for others.
    (
        "function up(h, i) : ([int], int) -> [int] =
           if i == 0 then h
           else let p = (i - 1) / 2; x = h[i]; y = h[p]
                in if x < y then up(rep(rep(h, x, p), y, i), p) else h;
         function add(h, x, i, n) : ([int], [int], int, int) -> [int] =
           if i == n then h
           else add(up(snoc(h, x[i]), #h), x, i + 1, n);
         function fill(h, x, n) : ([int], [int], int) -> [int] =
           if #h >= #x - 4 then h else fill(add(h, x, #h, #h + 4), x, n);
         x = {rem(i * 7919, 100003) : i in [0:20000]};",
        "sum(fill([] int, x, 20000))",
        400,
    ),
    // A product of small matrices, whose width is the length of a row, beside a long input.
    (
        "function mul(a, b) : ([[float]], [[float]]) -> [[float]] =
           {{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a};
         function go(zs, p, i) : ([float], [[float]], int) -> [[float]] =
           if i == 500 then p else go(zs, mul([[0.6, zs[i]], [-0.8, 0.6]], p), i + 1);
         zs = {float(rem(i * 7, 11)) / 11.0 : i in [0:20000]};",
        "sum(flatten(go(zs, [[1.0, 0.0], [0.0, 1.0]], 0)))",
        60,
    ),
    // A turn changes two places of each row of a table.
    (
        "function go(m, k) : ([[float]], int) -> [[float]] =
           if k == 0 then m
           else let p = rem(k, #m); q = rem(k * 7, #m)
                in go({rep(rep(r, r[p] - r[q], p), r[p] + r[q], q) : r in m}, k - 1);
         m = {{float(rem(i * j, 7)) : j in [0:160]} : i in [0:160]};",
        "sum({r[0] : r in go(m, 300)})",
        100,
    ),
    // Eight launches a turn, over light elements.
    (
        "function topple(g) : [[int]] -> [[int]] =
           let off = {{x / 4 : x in row} : row in {{if x >= 4 then 4 else 0 : x in row} : row in g}};
               none = dist(0, #g);
               up = cons(none, drop(off, -1)); down = snoc(drop(off, 1), none)
           in {{x - 4 * o + u + d + l + r : x in row; o in os; u in us; d in ds; l in previous(os, 0); r in next(os, 0)}
               : row in g; os in off; us in up; ds in down};
         function go(g, k) : ([[int]], int) -> [[int]] = if k == 0 then g else go(topple(g), k - 1);
         g = {{rem(i * 7 + j * 13, 6) : j in [0:140]} : i in [0:140]};",
        "sum(flatten(go(g, 100)))",
        250,
    ),
];

#[test]
fn small_steps_over_rows_are_taken_by_one_thread() {
    for (inputs, form, most) in PROGRAMS {
        let mut session = counted::session(Strategy::Auto);
        let before = counted::enter(&mut session, form, inputs).launches;
        let after = counted::enter(&mut session, form, &format!("{form};")).launches;
        assert!(after - before <= *most, "{form}: {} launches", after - before);
    }
}

#[test]
fn a_reduction_of_a_repetition_is_work() {
    let inputs = "function powers(v, k, n) : ([int], int, int) -> int =
           if n == 0 then sum(v)
           else powers({rem(product(dist(x, k)), 1001) : x in v}, k, n - 1);
         v = {rem(i, 5) + 1 : i in [0:100]};";
    let mut session = counted::session(Strategy::Auto);
    let before = counted::enter(&mut session, "powers", inputs).launches;
    let after = counted::enter(&mut session, "powers", "powers(v, 3000, 20);").launches;
    assert!(after - before >= 20, "{} launches", after - before);
}

#[test]
fn large_steps_over_rows_are_launched() {
    let inputs = "function power(v, m, k) : ([float], [[float]], int) -> [float] =
           if k == 0 then v else power({sum({x * y : x in row; y in v}) / 20.0 : row in m}, m, k - 1);
         m = {{float(rem(i + j, 3)) : j in [0:300]} : i in [0:300]};";
    let form = "sum(power(dist(1.0, 300), m, 30))";
    let mut session = counted::session(Strategy::Auto);
    let before = counted::enter(&mut session, form, inputs).launches;
    let after = counted::enter(&mut session, form, &format!("{form};")).launches;
    assert!(after - before >= 30, "{} launches", after - before);
}
