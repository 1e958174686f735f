//! Tests of matrix products and transposes: which spellings the compiler finds, under which conditions, and that what the
//! runtime multiplies has the values of the program as it is written. The interpreter of kir is the runtime.

use expect_test::expect;
use nesl_engine::session::{Strategy, Version};
use nesl_engine::{Event, Precision, Session, Settings, Stages};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::profile::{Profile, Profiled};
use nesl_runtime::runtime::{Options, Runtime};
use std::fmt::Write as _;

/// Spellings of products: the name of each, and its definitions. The last function is dumped.
const SPELLINGS: &[(&str, &str)] = &[
    (
        "rows by columns of a transpose",
        "function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
           let bt = transpose(b) in {{sum({x * y : x in row; y in col}) : col in bt} : row in a};",
    ),
    (
        "a transpose for every row",
        "function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
           {{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a};",
    ),
    (
        "columns as a parameter",
        "function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
           {{sum({y * x : x in row; y in col}) : col in bt} : row in a};",
    ),
    (
        "a function of two vectors",
        "function dot(v, w) = sum({x * y : x in v; y in w});
         function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
           {{dot(row, col) : col in transpose(b)} : row in a};",
    ),
    (
        "a function of a row",
        "function dot(v, w) = sum({x * y : x in v; y in w});
         function times(row, columns) : ([float], [[float]]) -> [float] =
           {dot(row, column) : column in columns};
         function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
           let bt = transpose(b) in {times(row, bt) : row in a};",
    ),
    (
        "indices",
        "function multiply(a, b, n, m, l) : ([[float]], [[float]], int, int, int) -> [[float]] =
           {{sum({a[i][k] * b[k][j] : k in [0:l]}) : j in [0:m]} : i in [0:n]};",
    ),
    (
        "indices of the arrays",
        "function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
           {let row = a[i] in {sum({row[k] * b[k][j] : k in index(#row)}) : j in index(#b[0])}
            : i in index(#a)};",
    ),
    (
        "columns taken one by one",
        "function column(m, j) : ([[float]], int) -> [float] = {r[j] : r in m};
         function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
           {{sum({x * y : x in row; y in column(b, j)}) : j in [0:#b[0]]} : row in a};",
    ),
    (
        "pairs",
        "function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
           {{sum({x * y : (x, y) in zip(row, col)}) : col in bt} : row in a};",
    ),
    (
        "rows by rows",
        "function multiply(a) : [[float]] -> [[float]] =
           {{sum({x * y : x in r; y in s}) : s in a} : r in a};",
    ),
    (
        "columns by columns",
        "function multiply(a) : [[float]] -> [[float]] =
           let cols = transpose(a) in {{sum({x * y : x in c; y in d}) : d in cols} : c in cols};",
    ),
    (
        "columns by columns with indices",
        "function multiply(a) : [[float]] -> [[float]] =
           {{sum({r[i] * r[j] : r in a}) : j in [0:#a[0]]} : i in [0:#a[0]]};",
    ),
    (
        "a matrix by a vector is none",
        "function multiply(a, v) : ([[float]], [float]) -> [float] =
           {sum({x * y : x in row; y in v}) : row in a};",
    ),
    (
        "ints are none",
        "function multiply(a, bt) : ([[int]], [[int]]) -> [[int]] =
           {{sum({x * y : x in row; y in col}) : col in bt} : row in a};",
    ),
    (
        "distances are none",
        "function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
           {{sum({(x - y) * (x - y) : x in row; y in col}) : col in bt} : row in a};",
    ),
    (
        "maxima are none",
        "function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
           {{max_val({x * y : x in row; y in col}) : col in bt} : row in a};",
    ),
    (
        "columns of each row are none",
        "function multiply(a, bs) : ([[float]], [[[float]]]) -> [[float]] =
           {{sum({x * y : x in row; y in col}) : col in bt} : row in a; bt in bs};",
    ),
    (
        "a column that is chosen for the row is none",
        "function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
           {{sum({x * bt[rem(i + j, #bt)][k] : x in row; k in [0:#row]}) : j in [0:#bt]}
            : row in a; i in [0:#a]};",
    ),
];

/// The products that the compiler finds in a program, each in a line.
fn found(program: &str) -> String {
    let stage = Stages::default().find("products").expect("the stage exists");
    let mut session = Session::new(Settings::default());
    let text = session.dump("program.nesl", program, stage, None).expect("the program is correct");
    let last = text.rfind("flattened \"multiply").expect("the function is dumped");
    let mut out = String::new();
    for line in ["} product ", "} transpose "] {
        for (at, _) in text[last..].match_indices(line) {
            let rest = &text[last + at + 2..];
            let words: Vec<&str> =
                rest.split('}').next().unwrap_or_default().split_whitespace().collect();
            writeln!(out, "    {}", words.join(" ").trim_end_matches(" {")).expect("memory");
        }
    }
    if out.is_empty() { "    -\n".to_owned() } else { out }
}

#[test]
fn products_are_found_however_they_are_spelled() {
    let mut table = String::new();
    for (name, program) in SPELLINGS {
        write!(table, "{name}\n{}", found(program)).expect("memory");
    }
    expect![[r#"
        rows by columns of a transpose
            product v0 by v18 depth row_length v0 columns length v18 { equal row_length v0, row_length v18
            transpose v1 columns length v1 { at_most rows, row_length v1
        a transpose for every row
            product v0 by turned v1 depth row_length v0 columns row_length v1 { positive length v1 positive row_length v1 equal row_length v0, length v1
        columns as a parameter
            product v0 by v1 depth row_length v0 columns length v1 { equal row_length v0, row_length v1
        a function of two vectors
            product v0 by turned v1 depth row_length v0 columns row_length v1 { positive length v1 positive row_length v1 equal row_length v0, length v1
        a function of a row
            product v0 by v18 depth row_length v0 columns length v18 { equal row_length v0, row_length v18
            transpose v1 columns length v1 { at_most rows, row_length v1
        indices
            product v0 by turned v1 depth v4 columns v3 { positive v3 positive v4 at_most rows, length v0 at_most v4, row_length v0 at_most v4, length v1 at_most v3, row_length v1
        indices of the arrays
            product v0 by turned v1 depth row_length v0 columns row_length v1 { positive length v1 positive row_length v1 positive row_length v0 at_most rows, length v0 at_most row_length v0, length v1
        columns taken one by one
            product v0 by turned v1 depth row_length v0 columns row_length v1 { positive length v1 positive row_length v1 equal row_length v0, length v1
        pairs
            product v0 by v1 depth row_length v0 columns length v1 { equal row_length v0, row_length v1
        rows by rows
            product v0 by v0 depth row_length v0 columns length v0
        columns by columns
            product v17 by v17 depth row_length v17 columns length v17
            transpose v0 columns length v0 { at_most rows, row_length v0
        columns by columns with indices
            product turned v0 by turned v0 depth length v0 columns v2 { positive v2 at_most rows, row_length v0 at_most v2, row_length v0
        a matrix by a vector is none
            -
        ints are none
            -
        distances are none
            -
        maxima are none
            -
        columns of each row are none
            -
        a column that is chosen for the row is none
            -
    "#]].assert_eq(&table);
}

/// Definitions for the programs below. Sums of these numbers are exact, in any order.
const DATA: &str = "
    function matrix(rows, columns) : (int, int) -> [[float]] =
      {{float(rem(i * 37 + j * 101, 64) - 20) * 0.25 : j in [0:columns]} : i in [0:rows]};
    function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
      {{sum({x * y : x in row; y in col}) : col in bt} : row in a};
    function inline(a, b) : ([[float]], [[float]]) -> [[float]] =
      {{sum({x * y : x in row; y in col}) : col in transpose(b)} : row in a};
    function indexed(a, b, n, m, l) : ([[float]], [[float]], int, int, int) -> [[float]] =
      {{sum({a[i][k] * b[k][j] : k in [0:l]}) : j in [0:m]} : i in [0:n]};
    function squared(a) : [[float]] -> [[float]] =
      {{sum({r[i] * r[j] : r in a}) : j in [0:#a[0]]} : i in [0:#a[0]]};
    function ragged(n) : int -> [[float]] = {{float(j) : j in [0:rem(i, 9)]} : i in [0:n]};
    r = ragged(45);
    uneven = {dist(1.0, 20 + rem(i, 3)) : i in [0:20]};
    views = {drop(row, 1) : row in matrix(25, 31)};";

/// The sizes of matrices `m20x30` and so on.
const SIZES: &[(usize, usize)] = &[
    (0, 30),
    (1, 100),
    (1, 3000),
    (3, 30),
    (5, 3),
    (7, 3),
    (17, 17),
    (20, 0),
    (20, 20),
    (20, 25),
    (20, 30),
    (25, 0),
    (25, 30),
    (25, 31),
    (30, 8),
    (30, 9),
    (30, 25),
    (30, 40),
    (31, 25),
    (40, 30),
    (45, 25),
    (50, 12),
    (70, 12),
    (100, 1),
    (300, 30),
    (3000, 1),
];

/// Forms, each with the number of products that the runtime multiplies for it.
const FORMS: &[(&str, u64)] = &[
    ("multiply(m20x30, m25x30)", 1),
    ("inline(m20x30, m30x25)", 1),
    ("indexed(m20x30, m30x25, 20, 25, 30)", 1),
    ("squared(m70x12)", 1),
    // Views: rows that do not begin at their pool's beginning, in another order, and some of them.
    ("multiply(reverse(drop(m40x30, 7)), views)", 1),
    // Parts of matrices.
    ("indexed(m30x40, m45x25, 20, 21, 39)", 1),
    ("let a = m20x20; b = inline(a, a) in sum({sum(row) : row in inline(b, a)})", 2),
    // Too small.
    ("multiply(m3x30, m300x30)", 0),
    ("multiply(m7x3, m5x3)", 0),
    // Nothing to multiply.
    ("multiply(m0x30, m20x30)", 0),
    ("multiply(m20x0, m25x0)", 0),
    ("multiply(m20x30, m0x30)", 0),
    ("inline(m20x0, m0x30)", 0),
    ("indexed(m20x30, m30x25, 20, 25, 0)", 0),
    // A row, a column.
    ("inline(m1x3000, m3000x1)", 0),
    ("inline(m100x1, m1x100)", 1),
    // Lengths that do not agree, and indices out of bounds, are faults as before.
    ("multiply(m20x30, m25x31)", 0),
    ("inline(m20x30, m31x25)", 0),
    ("indexed(m20x30, m30x25, 20, 26, 30)", 0),
    ("indexed(m20x30, m30x25, 21, 25, 30)", 0),
    ("indexed(m20x30, m30x25, 20, 25, 31)", 0),
    ("indexed(m20x30, m30x25, 20, -1, 30)", 0),
    ("squared(m50x12 ++ [[1.0]])", 0),
    // Rows of different lengths, which may have a product all the same.
    ("multiply(r, m30x9)", 0),
    (" {{sum({x * y : x in r[i * 9 + 8]; y in col}) : col in m30x8} : i in [0:5]}", 0),
    ("indexed(uneven, m20x25, 20, 25, 20)", 0),
];

/// Returns what a program gives on a runtime, or on the direct interpreter, and the number of products
/// that the runtime multiplied.
fn run(form: &str, definitions: &str, precision: Precision, compiled: bool) -> (String, u64) {
    let settings = Settings {
        interpret_first: false,
        lazy: false,
        precision,
        print_length: None,
        ..Settings::default()
    };
    let mut session = Session::new(settings);
    session.set_output(Box::new(std::io::sink()));
    let profile = Profile::default();
    if compiled {
        let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
        let runtime: Box<dyn Runtime> = Box::new(Reference::new(options));
        session.set_runtime(Some(Box::new(Profiled::new(runtime, profile.clone()))));
    }
    let mut out = String::new();
    session.enter("program.nesl", &format!("{definitions} {form};"), &mut |event| match event {
        Event::Bound(binding) => out = binding.value,
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => out = diagnostic.message,
    });
    assert_eq!(session.stats().unsupported, [], "{form}");
    let kernels = profile.kernels();
    let product = kernels.iter().find(|kernel| kernel.name == "matrix product");
    (out, product.map_or(0, |product| product.launches))
}

#[test]
fn products_have_the_values_and_faults_of_the_program() {
    let mut data = DATA.to_owned();
    for (rows, columns) in SIZES {
        write!(data, " m{rows}x{columns} = matrix({rows}, {columns});").expect("memory");
    }
    for (form, expected) in FORMS {
        for precision in [Precision::Bits64, Precision::Bits32] {
            let (direct, _) = run(form, &data, precision, false);
            let (compiled, products) = run(form, &data, precision, true);
            assert_eq!(compiled, direct, "{form} at {precision:?}");
            assert_eq!(products, *expected, "{form} at {precision:?}");
        }
    }
}

#[test]
fn special_values_go_through_products() {
    let data = "
        inf = 1.0e300 * 1.0e300; none = inf - inf;
        a = rep({dist(1.0, 30) : i in [0:20]}, rep(dist(1.0, 30), none, 7), 3);
        b = rep({dist(2.0, 30) : i in [0:20]}, rep(dist(2.0, 30), -inf, 29), 5);
        c = rep(b, rep(b[5], inf, 0), 5);
        function multiply(a, bt) : ([[float]], [[float]]) -> [[float]] =
          {{sum({x * y : x in row; y in col}) : col in bt} : row in a};";
    for form in
        ["multiply(a, b)", "multiply(b, a)", "multiply(a, c)", "multiply(c, b)", "multiply(c, c)"]
    {
        let (direct, _) = run(form, data, Precision::Bits64, false);
        assert_eq!(run(form, data, Precision::Bits64, true), (direct, 1), "{form}");
    }
}

#[test]
fn forced_versions_multiply_nothing_by_themselves() {
    for version in [Version::Sequential, Version::Flattened] {
        let settings = Settings {
            interpret_first: false,
            lazy: false,
            strategy: Strategy::Always(version),
            ..Settings::default()
        };
        let mut session = Session::new(settings);
        let profile = Profile::default();
        let runtime: Box<dyn Runtime> = Box::new(Reference::new(Options::default()));
        session.set_runtime(Some(Box::new(Profiled::new(runtime, profile.clone()))));
        let text = format!("{DATA} a = matrix(20, 30); multiply(a, a);");
        session.enter("program.nesl", &text, &mut |_| {});
        assert!(profile.kernels().iter().all(|kernel| kernel.name != "matrix product"));
    }
}
