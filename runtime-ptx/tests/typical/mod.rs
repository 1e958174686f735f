//! Typical kernels: their counters and registers are held by tests.

/// A sum of products.
pub const DOT: &str = "\
kernel \"dot\"(v0: [f64], v1: [f64], v2: i64, v3: [f64]) over flat v2 at v4 {
  v5: f64 = load v0[v4]
  v6: f64 = load v1[v4]
  v7: f64 = mul v5, v6
  reduce add v7 -> v3
}
";

/// A square of each element.
pub const MAP: &str = "\
kernel \"map\"(v0: [f64], v1: i64, v2: [f64]) over flat v1 at v3 {
  v4: f64 = load v0[v3]
  v5: f64 = mul v4, v4
  store v2[v3] = v5
}
";

/// A sum of the elements, of type `TY`.
pub const REDUCE: &str = "\
kernel \"reduce\"(v0: [TY], v1: i64, v2: [TY]) over flat v1 at v3 {
  v4: TY = load v0[v3]
  reduce add v4 -> v2
}
";

/// A scan of the elements, of type `TY`, with its total.
pub const SCAN: &str = "\
kernel \"scan\"(v0: [TY], v1: i64, v2: [TY], v3: [TY]) over flat v1 at v4 {
  v5: TY = load v0[v4]
  v6: TY = scan add v5 total v3
} then {
  store v2[v4] = v6
}
";

/// The elements greater than 0.
pub const PACK: &str = "\
kernel \"pack\"(v0: [i64], v1: i64, v2: [i64], v3: [i64]) over flat v1 at v4 {
  v5: i64 = load v0[v4]
  v6: i64 = const 0
  v7: bool = gt v5, v6
  pack v7 columns v5 -> v2 count v3
}
";

/// The sum of each row, all of the same length.
pub const ROWS: &str = "\
kernel \"rows\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over regular v0, v1 at v4, v5, v6 {
  v7: f64 = load v2[v6]
  reduce segment add v7 -> v3
}
";

/// The sum of each segment of any length.
pub const SEGMENTS: &str = "\
kernel \"segments\"(v0: i64, v1: [i64], v2: [f64], v3: [f64]) over segmented v0, v1 at v4, v5, v6 {
  v7: f64 = load v2[v6]
  reduce segment add v7 -> v3
}
";

/// The sum of each column, in a loop of its work item.
pub const COLUMNS: &str = "\
kernel \"columns\"(v0: i64, v1: i64, v2: [f64], v3: [f64]) over flat v1 at v4 {
  v5: f64 = for v6 < v0 reduce add {
    v7: i64 = mul v6, v1
    v8: i64 = add v7, v4
    v9: f64 = load v2[v8]
    yield v9
  }
  store v3[v4] = v5
}
";

/// Returns the text of a kernel for a type of its elements.
pub fn of_type(text: &str, ty: &str) -> String {
    text.replace("TY", ty)
}

/// The prices of options: a hundred operations on floats for each element, with the mathematical
/// functions that they call.
pub const BLACK_SCHOLES: &str = include_str!("../kernels/black_scholes.kir");
