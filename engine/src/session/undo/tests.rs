//! Tests of taking entries back.

use crate::session::{Event, Session, Settings};

/// Enters a text; returns the values that it shows, and what is wrong.
fn enter(session: &mut Session, text: &str) -> Vec<String> {
    let mut shown = Vec::new();
    session.enter("entry", text, &mut |event| match event {
        Event::Bound(binding) => shown.push(binding.value),
        Event::Diagnostic(diagnostic) => shown.push(diagnostic.message),
        Event::Text(text) => shown.push(text),
    });
    shown
}

#[test]
fn the_last_entry_that_changed_something_is_taken_back() {
    let mut session = Session::new(Settings::default());
    assert_eq!(session.undo(), None);
    enter(&mut session, "x = 1; function plus(a) = a + x;");
    enter(&mut session, "x = 5; y = 7;");
    assert_eq!(enter(&mut session, "plus(1);"), ["6"]);
    assert_eq!(session.undo(), Some(vec!["it".to_owned()]));
    assert!(enter(&mut session, "it;")[0].contains("`it`"));
    // That failed: it changed nothing.
    assert_eq!(session.undo(), None);
    enter(&mut session, "x = 6; y = 8;");
    assert!(enter(&mut session, "1 / 0;")[0].contains("Divide"));
    assert!(enter(&mut session, "x = nowhere;")[0].contains("nowhere"));
    assert_eq!(session.undo(), Some(vec!["x".to_owned(), "y".to_owned()]));
    assert_eq!(enter(&mut session, "(x, y, plus(1));"), ["(5, 7, 6)"]);
    // Once only.
    session.undo();
    assert_eq!(session.undo(), None);
}

#[test]
fn an_entry_of_several_texts_is_taken_back_whole() {
    let mut session = Session::new(Settings::default());
    let entry = |session: &mut Session, texts: &[&str]| {
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                session.go_on_entry();
            }
            enter(session, text);
            session.name_result(&format!("result{at}"));
        }
    };
    entry(&mut session, &["x = 5; 0;"]);
    entry(&mut session, &["1;", "x = 6; function same(a) = a; x + 1;", "y = 8; 9;"]);
    let names = ["it", "x", "same", "y"].map(str::to_owned);
    assert_eq!(session.undo(), Some(names.to_vec()));
    assert_eq!(enter(&mut session, "(x, it);"), ["(5, 0)"]);
    for gone in ["y;", "same(1);", "result1;"] {
        assert!(enter(&mut session, gone)[0].contains("undefined"), "{gone}");
    }
    // What changes nothing at first, the same twice, and what fails at its end.
    enter(&mut session, "0;");
    entry(&mut session, &["describe sum;", "1;", "1;"]);
    assert_eq!(session.undo(), Some(vec!["it".to_owned()]));
    assert_eq!(enter(&mut session, "it;"), ["0"]);
    entry(&mut session, &["2;", "1 / 0;"]);
    session.undo();
    assert_eq!(enter(&mut session, "it;"), ["0"]);
    // The entry after it is one by itself.
    entry(&mut session, &["3;", "4;"]);
    enter(&mut session, "5;");
    session.undo();
    assert_eq!(enter(&mut session, "it;"), ["4"]);
}

#[test]
fn functions_types_and_new_types_of_names_are_taken_back() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "function half(n) = n / 2; function use(n) = half(n);");
    enter(&mut session, "function half(n) = n / 2 + 100;");
    assert_eq!(session.undo(), Some(vec!["half".to_owned()]));
    assert_eq!(enter(&mut session, "(half(6), use(6));"), ["(3, 3)"]);
    enter(&mut session, "half = \"a text\";");
    session.undo();
    assert_eq!(enter(&mut session, "half(6);"), ["3"]);
    enter(&mut session, "datatype point(int, int);");
    assert_eq!(session.undo(), Some(vec!["point".to_owned()]));
    assert!(enter(&mut session, "point(1, 2);")[0].contains("point"));
}

#[test]
fn an_entry_that_is_entered_again_is_taken_back_to_its_last_values() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "x = 1;");
    // The second one takes the place of the first.
    for value in ["2", "3", "4"] {
        assert_eq!(enter(&mut session, "x = x + 1;"), [value]);
    }
    session.undo();
    assert_eq!(enter(&mut session, "x;"), ["3"]);
    enter(&mut session, "kept |= [1, 2];");
    enter(&mut session, "kept |= [3, 4];");
    session.undo();
    assert_eq!(enter(&mut session, "kept;"), ["[1, 2]"]);
}

#[test]
fn what_is_only_looked_at_changes_nothing() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "x = 1; 17;");
    session.settings_mut().defines_it = false;
    assert_eq!(enter(&mut session, "x + 1;"), ["2"]);
    session.settings_mut().defines_it = true;
    assert_eq!(enter(&mut session, "it;"), ["17"]);
}

#[test]
fn entries_after_one_that_was_taken_back_go_on() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "kept = [1, 2, 3];");
    for round in 0..300 {
        enter(&mut session, &format!("x = {round}; function f{round}(a) = a + x;"));
        if round % 3 == 0 {
            assert!(session.undo().is_some());
        }
    }
    assert_eq!(enter(&mut session, "(x, f299(1), sum(kept));"), ["(299, 300, 6)"]);
    assert!(enter(&mut session, "f297(1);")[0].contains("f297"));
}

#[test]
fn large_values_are_not_kept_for_it() {
    let mut session = Session::new(Settings { lazy: false, ..Settings::default() });
    enter(&mut session, "x = dist(1, 3000000);");
    enter(&mut session, "x = 2;");
    assert_eq!(session.undo(), None);
    enter(&mut session, "y = dist(1, 30);");
    enter(&mut session, "y = 2;");
    assert_eq!(session.undo(), Some(vec!["y".to_owned()]));
}
