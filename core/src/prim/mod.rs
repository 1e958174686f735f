//! The table of primitive operations, which cannot be defined in NESL itself.
//!
//! The rest of the library is written in NESL, in `core/prelude/`. A primitive's row gives its
//! name, its scheme in NESL's notation, its kind, documentation, example and cost; names, types,
//! hover, completion and the book read the table. It is divided by the kinds of primitives:
//!
//! | file | contents |
//! |---|---|
//! | `table` | a row of the table, and the kinds of primitives |
//! | `ops` | the operations behind the primitives, with the properties that the compiler uses |
//! | `scalars` | the rows of scalar operations and constants |
//! | `reductions` | the rows of reductions and scans; those of other sequence operations are in `ops::sequence` |
//! | `special` | the rows of all others: derived functions, checks, random numbers, effects |
//!
//! Invariants (tests below): names are unique and in lower case; a public row has a doc, an
//! example and a cost; a name that begins with `_` is reserved for the prelude.

pub(crate) mod ops;
mod reductions;
mod scalars;
mod special;
mod table;

pub use ops::{
    Cost, HostOp, HostRow, InterpreterTime, ReduceOp, ScalarProperties, ScalarRow, SeqOp, SeqRow,
    Signature, Trap, TypeClass, TypePattern, Work,
};
pub use table::{Constant, Derived, Prim, PrimKind, PrimRow};

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

const COUNT: usize =
    scalars::ROWS.len() + ops::sequence::NAMES.len() + reductions::ROWS.len() + special::ROWS.len();

/// The table of all primitives; [`Prim`] is an index into it.
pub static ROWS: [PrimRow; COUNT] = joined();

static BY_NAME: LazyLock<FxHashMap<&'static str, Prim>> =
    LazyLock::new(|| ROWS.iter().zip(0..).map(|(row, at)| (row.name, Prim(at))).collect());

/// Returns the primitive with a name in lower case, internal ones included.
pub fn find(name: &str) -> Option<Prim> {
    BY_NAME.get(name).copied()
}

/// Returns true for a name that only the prelude may use.
pub fn is_internal(name: &str) -> bool {
    name.starts_with('_')
}

impl Prim {
    /// Returns the primitive with a name in lower case, internal ones included.
    pub fn find(name: &str) -> Option<Prim> {
        find(name)
    }

    /// Returns every primitive, in the order of the table.
    pub fn all() -> impl Iterator<Item = Prim> {
        (0..).take(COUNT).map(Prim)
    }

    /// Returns its row of the table.
    pub fn row(self) -> &'static PrimRow {
        &ROWS[usize::from(self.0)]
    }

    /// Returns its name in programs.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns its kind.
    pub fn kind(self) -> PrimKind {
        self.row().kind
    }
}

const fn joined() -> [PrimRow; COUNT] {
    let mut all = [scalars::ROWS[0]; COUNT];
    let mut at = 0;
    let parts = [scalars::ROWS, reductions::ROWS, special::ROWS];
    let mut part = 0;
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            all[at] = parts[part][i];
            i += 1;
            at += 1;
        }
        part += 1;
    }
    let mut i = 0;
    while i < ops::sequence::NAMES.len() {
        let ops::sequence::SeqName { name, scheme, op, doc, example, cost } =
            ops::sequence::NAMES[i];
        all[at] = PrimRow { name, scheme, kind: PrimKind::Seq(op), doc, example, cost };
        i += 1;
        at += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;

    #[test]
    fn names_are_unique_and_in_lower_case() {
        let mut seen = FxHashSet::default();
        for row in &ROWS {
            assert!(seen.insert(row.name), "{} twice", row.name);
            assert_eq!(row.name, row.name.to_ascii_lowercase());
        }
    }

    #[test]
    fn every_row_is_found_by_its_name() {
        for prim in Prim::all() {
            assert_eq!(find(prim.name()), Some(prim));
        }
        assert_eq!(Prim::all().count(), ROWS.len());
        assert_eq!(find("no_such_primitive"), None);
    }

    #[test]
    fn public_rows_are_documented() {
        for row in &ROWS {
            assert!(!row.doc.is_empty(), "{}", row.name);
            assert!(row.cost.starts_with("W = "), "{}", row.name);
            let is_flat = row.cost.ends_with(", D = 1") || row.cost.ends_with(", D = O(1)");
            assert!(is_flat, "{}", row.name);
            if is_internal(row.name) {
                assert!(row.example.is_empty(), "{}", row.name);
            } else {
                let (source, value) = row.example.split_once(" → ").unwrap_or_default();
                assert!(!source.is_empty() && !value.is_empty(), "{}", row.name);
            }
        }
    }

    #[test]
    fn schemes_declare_their_variables() {
        for row in &ROWS {
            let (ty, context) = row.scheme.split_once(" :: ").unwrap_or((row.scheme, ""));
            let declared: Vec<&str> = context
                .trim_matches(['(', ')'])
                .split("; ")
                .filter_map(|part| part.split_once(" in "))
                .map(|(name, _)| name)
                .collect();
            let words = ty.split(|c: char| !c.is_ascii_alphabetic());
            for word in words.filter(|word| !word.is_empty()) {
                let known = ["int", "float", "bool", "char"].contains(&word);
                assert!(known || declared.contains(&word), "{}: {word}", row.name);
            }
            let opened = row.scheme.matches(['(', '[']).count();
            assert_eq!(opened, row.scheme.matches([')', ']']).count());
        }
    }
}
