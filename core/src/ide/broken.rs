//! Tests that every feature returns (perhaps nothing) on texts that are cut off at any place.

use super::*;
use crate::base::{TextRange, TextSize};
use crate::db::Database;
use crate::syntax::format;
use nesl_runtime::scalar::Precision;

const TEXT: &str = "% About. %
function mean(a, n := (1)) : [float] -> float
\"The mean.
 Example: mean([1.0, 2.0]) → 1.5
 Cost: W = S(a), D = 1\" =
  let s = sum({x : x in a | x > 0.0});
      (p, q) = (#a, 'plus_scan)
  in if p == 0 then 0.0 else s / float(p + n);
datatype point (float, float);
% two
  lines % (u, v) = ([[2, 1], [] int], `a);
load \"other\"; {* (sum((r))) : r in u};
function twice(g, x) = g(g(x));
twice(y => y + 1, u[0][1]) $
set verbose on;
";

#[test]
fn texts_that_break_off() {
    let mut db = Database::new();
    let file = db.add_file("test.nesl", "", None);
    let cuts = TEXT.char_indices().map(|(at, _)| at).step_by(5).chain([TEXT.len()]);
    for cut in cuts {
        // The text without its end, and without its beginning.
        for text in [&TEXT[..cut], &TEXT[cut..]] {
            db.set_text(file, text);
            every_feature(&db, file, text);
        }
    }
}

fn every_feature(db: &Database, file: FileId, text: &str) {
    let all = TextRange::up_to(TextSize::of(text));
    let options = HintOptions { types: true, parallelism: true };
    let inside = |range: TextRange| assert!(all.contains_range(range), "{range:?} of {text:?}");
    outline(db, file).iter().for_each(|entry| inside(entry.range));
    search(db, &[file], "m");
    folds(db, file).iter().for_each(|fold| inside(fold.range));
    semantic_tokens(db, file, None).iter().for_each(|token| inside(token.range));
    for hint in inlay_hints(db, file, all, options, Precision::Bits64) {
        inside(TextRange::empty(hint.at));
    }
    links(db, file).iter().for_each(|link| inside(link.range));
    lenses(db, file).iter().for_each(|lens| inside(lens.range));
    let mut formatted = text.to_owned();
    for edit in format_document(db, file).iter().rev() {
        formatted.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.text);
    }
    assert_eq!(formatted, format(text), "{text:?}");
    let places = [0, text.len() / 3, text.len() / 2, text.len()];
    for at in places.into_iter().filter(|at| text.is_char_boundary(*at)) {
        let at = TextSize::new(at as u32);
        let found = selections(db, file, at);
        assert!(found.windows(2).all(|two| two[1].contains_range(two[0])), "{text:?}");
        for typed in [';', '\n', 'x'] {
            format_on_type(db, file, at, typed).iter().for_each(|edit| inside(edit.range));
        }
        format_range(db, file, TextRange::empty(at)).iter().for_each(|edit| inside(edit.range));
        if let Some(called) = call_item(db, file, at) {
            outgoing(db, called.item);
            incoming(db, &[file], called.item);
        }
        let _ = crate::explain::segments(db, file, at, Precision::Bits64);
        let _ = hover(db, file, TextRange::empty(at), Precision::Bits64);
        definition(db, file, at);
        highlights(db, file, at);
        let _ = rename(db, &[file], file, at, "other");
    }
}
