//! Tests that a view sees what the next entry of the session would see.

use super::View;
use crate::{Session, Settings};
use nesl_core::base::TextSize;
use nesl_core::ide;

/// Returns the labels of the completions at the end of a text, with their types.
fn completions(view: &mut View, text: &str) -> Vec<String> {
    let (db, file) = view.with(text);
    let all = ide::completions(db, file, TextSize::of(text));
    let typed = text.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let own = all.into_iter().filter(|completion| completion.label.starts_with(typed));
    own.map(|c| format!("{} : {}", c.label, c.ty.unwrap_or_default())).collect()
}

#[test]
fn a_view_follows_the_session() {
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    let mut view = View::new(session.outlook());
    let mut enter = |text: &str| {
        session.enter("<entry>", text, &mut |_| {});
    };
    enter("zebra = 3; zoo = 1 / 0;");
    assert_eq!(completions(&mut view, "1 + zeb"), ["zebra : int"]);
    // A form that failed defines nothing.
    assert_eq!(completions(&mut view, "1 + zoo"), [""; 0]);
    enter("zebra = \"striped\";");
    assert_eq!(completions(&mut view, "zeb"), ["zebra : [char]"]);
    for round in 0..200 {
        enter(&format!("zed = {round}; function zig{round}(x) = x + zed;"));
    }
    assert_eq!(completions(&mut view, "zig19("), completions(&mut view, "zig19("));
    assert_eq!(completions(&mut view, "zig199"), ["zig199 : int -> int"]);
    assert_eq!(completions(&mut view, "zeb"), ["zebra : [char]"]);
}

#[test]
fn loaded_files_are_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("loaded.nesl");
    std::fs::write(&path, "function zing(x) = x * 2;").expect("the file can be written");
    let mut session = Session::new(Settings::default());
    let mut view = View::new(session.outlook());
    let text = format!("load \"{}\";", path.display());
    session.enter("<entry>", &text, &mut |_| {});
    assert_eq!(completions(&mut view, "zin"), ["zing : int -> int"]);
}
