//! Parses arbitrary text. The tokens, and the top-level items, must cover the text without gaps;
//! every syntax tree must reproduce its text; every source position must lie inside the text; and
//! the formatter must not fail and must be idempotent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nesl_core::syntax::{format, lex, parse_item, split, tree};

fuzz_target!(|text: &str| {
    let tokens: String = lex(text).iter().map(|t| &text[t.range]).collect();
    assert_eq!(tokens, text);
    let items = split(text);
    let tiled: String = items.iter().map(|item| &text[item.range]).collect();
    assert_eq!(tiled, text);
    for item in items {
        let slice = &text[item.range];
        let parsed = parse_item(slice);
        assert_eq!(tree(slice).to_string(), slice);
        for diagnostic in &parsed.diagnostics {
            let _ = &slice[diagnostic.primary.at];
            for label in &diagnostic.labels {
                let _ = &slice[label.at];
            }
        }
        for (_, span) in parsed.ast.expr_spans.iter() {
            let _ = &slice[parsed.range(*span)];
        }
    }
    let once = format(text);
    assert_eq!(format(&once), once);
});
