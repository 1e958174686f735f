//! Type-checks arbitrary text. Checking must terminate without a panic, and the source positions
//! of all diagnostics must lie inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nesl_core::db::Database;
use std::cell::RefCell;

thread_local! {
    // One database serves all inputs, so that incremental edits of a file are tested as well.
    static STATE: RefCell<Option<(Database, nesl_core::db::FileId)>> = const { RefCell::new(None) };
}

fuzz_target!(|text: &str| {
    STATE.with_borrow_mut(|state| {
        let (db, file) = state.get_or_insert_with(|| {
            let mut db = Database::new();
            let file = db.add_file("fuzz.nesl", "", None);
            (db, file)
        });
        db.set_text(*file, text);
        for form in &db.outline(*file).forms {
            for diagnostic in db.diagnostics(form.id()) {
                if diagnostic.primary.at.file == *file {
                    let _ = &text[diagnostic.primary.at.range];
                }
            }
        }
    });
});
