//! The declarations of the primitives as a text to which editors can jump.
//!
//! Primitives are rows of a table, not NESL code; their declarations are generated in NESL's notation.

use super::{Target, Text};
use crate::base::{TextRange, TextSize};
use crate::prim::{Prim, is_internal};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::LazyLock;

struct Primitives {
    text: String,
    /// The ranges of the whole declaration and of the name in it.
    places: FxHashMap<Prim, (TextRange, TextRange)>,
}

static PRIMITIVES: LazyLock<Primitives> = LazyLock::new(write);

/// The declarations of all primitives, with what they do.
pub fn primitives() -> &'static str {
    &PRIMITIVES.text
}

/// The place of the declaration of a primitive.
pub(super) fn target(prim: Prim) -> Option<Target> {
    let (range, focus) = *PRIMITIVES.places.get(&prim)?;
    Some(Target { text: Text::Primitives, range, focus })
}

fn write() -> Primitives {
    let mut text = String::from(
        "% The primitives: what cannot be said in NESL itself. The rest of the library is NESL. %\n",
    );
    let mut places = FxHashMap::default();
    for prim in Prim::all().filter(|prim| !is_internal(prim.name())) {
        let row = prim.row();
        text.push('\n');
        let start = text.len();
        text.push_str("function ");
        let name = text.len();
        text.push_str(row.name);
        let focus = range(name, text.len());
        let _ = write!(text, " : {}\n\"{}", row.scheme, row.doc.replace('"', "\\\""));
        let _ = write!(text, "\n Example: {}", row.example.replace('"', "\\\""));
        let _ = write!(text, "\n Cost: {}\"", row.cost);
        places.insert(prim, (range(start, text.len()), focus));
        text.push_str(";\n");
    }
    Primitives { text, places }
}

fn range(start: usize, end: usize) -> TextRange {
    TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_public_primitive_is_there() {
        for prim in Prim::all().filter(|prim| !is_internal(prim.name())) {
            let target = target(prim).expect("a place");
            assert_eq!(&primitives()[target.focus], prim.name());
            assert!(
                primitives()[target.range].contains(prim.row().doc.split('"').next().unwrap_or(""))
            );
        }
    }
}
