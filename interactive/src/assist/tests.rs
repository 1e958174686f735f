//! Tests of completion and inspection behind the entries of a session.

use super::*;
use nesl_engine::{Session, Settings};

fn assist(entry: &str) -> Assist {
    let mut session = Session::new(Settings::default());
    session.set_output(Box::new(std::io::sink()));
    session.enter("<entry>", entry, &mut |_| {});
    Assist::new(session.outlook())
}

fn labels(assist: &mut Assist, text: &str) -> Vec<String> {
    assist.complete(text, text.len()).all.into_iter().map(|completion| completion.text).collect()
}

#[test]
fn names_of_all_kinds_are_completed() {
    let mut assist = assist("zebra = [1, 2]; function zig(x) = x + 1;");
    assert_eq!(labels(&mut assist, "sum(zeb"), ["zebra"]);
    assert_eq!(labels(&mut assist, "let zest = 3 in zes"), ["zest"]);
    let all = assist.complete("1 + zi", 6);
    assert_eq!((all.range, &*all.all[0].ty, all.all[0].kind), (4..6, "int -> int", "function"));
    assert!(labels(&mut assist, "plus_sc").contains(&"plus_scan".to_owned()));
    assert_eq!(labels(&mut assist, ":ty"), [":type"]);
    // A cursor inside a character, and behind the end.
    assert_eq!(assist.complete("é", 1).all.len(), assist.complete("", 0).all.len());
    assist.complete("zeb", 99);
}

#[test]
fn files_are_completed_within_strings() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["values.npy", "valley.csv", "other.csv"] {
        std::fs::write(folder.path().join(name), "").expect("written");
    }
    std::fs::create_dir(folder.path().join("vault")).expect("made");
    let path = folder.path().to_str().expect("a name of letters");
    let mut assist = assist("value = 3;");
    let text = format!("read_npy([0], \"{path}/va");
    let found = assist.complete(&text, text.len());
    assert_eq!(found.range, text.len() - path.len() - 3..text.len());
    let names: Vec<&str> =
        found.all.iter().filter_map(|found| found.text.strip_prefix(path)).collect();
    assert_eq!(names, ["/valley.csv", "/values.npy", "/vault/"]);
    // Behind the string, names are meant again.
    assert_eq!(labels(&mut assist, &format!("f(\"{path}/va\", val")), ["value"]);
}

#[test]
fn names_are_inspected() {
    let mut assist = assist("function zig(x) = x + 1;");
    let zig = assist.inspect("zig(3)", 1).expect("it is known");
    assert!(zig.contains("function zig : int -> int"), "{zig}");
    assert!(zig.contains("*from <entry>*"), "{zig}");
    let sum = assist.inspect("sum(", 4).expect("the name before the parenthesis");
    assert!(sum.contains("sum") && sum.contains("Cost"), "{sum}");
    assert!(assist.inspect(":time", 2).is_some_and(|help| help.contains(":time [N] FORM")));
    assert_eq!(assist.inspect("nothing_known", 3), None);
}

#[test]
fn definitions_are_shown_as_they_were_written() {
    let mut assist = assist("function zig(x) = x + 1; zag = zig(2);");
    let mut definition = |text: &str, cursor| assist.definition(text, cursor);
    assert_eq!(definition("zig(3)", 3).as_deref(), Some("function zig(x) = x + 1"));
    assert_eq!(definition("zag", 1).as_deref(), Some("zag = zig(2)"));
    assert!(definition("reverse([1])", 2).is_some_and(|text| text.starts_with("function reverse")));
    assert_eq!(definition("nothing_known", 3), None);
    assert_eq!(definition("é", 1), None);
}
