//! Tests of the names of results.

use super::*;
use crate::{Event, Settings};

/// Enters a text; returns what it bound, or the errors.
fn enter(session: &mut Session, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    session.enter("entry", text, &mut |event| match event {
        Event::Bound(binding) => out.push(format!("{} = {}", binding.name, binding.value)),
        Event::Diagnostic(diagnostic) => out.push(diagnostic.message),
        Event::Text(text) => out.push(text),
    });
    out
}

#[test]
fn a_result_has_a_name_until_others_have_come() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "40 + 2;");
    session.name_result("it1");
    enter(&mut session, "[1, 2];");
    session.name_result("it2");
    assert_eq!(enter(&mut session, "it1 + sum(it2);"), ["it = 45"]);
    for number in 3..=MAX_RESULTS + 1 {
        enter(&mut session, "1;");
        session.name_result(&format!("it{number}"));
    }
    assert_eq!(enter(&mut session, "it1;"), ["`it1` is undefined"]);
    assert_eq!(enter(&mut session, "it2;"), ["it = [1, 2]"]);
}

#[test]
fn a_result_that_is_taken_back_has_no_name() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "1;");
    session.name_result("it1");
    enter(&mut session, "2;");
    session.name_result("it2");
    assert_eq!(session.undo(), Some(vec!["it".to_owned()]));
    assert_eq!(enter(&mut session, "it2;"), ["`it2` is undefined"]);
    assert_eq!(enter(&mut session, "it1 + it;"), ["it = 2"]);
}

#[test]
fn large_results_have_no_name() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "[0:200000];");
    session.name_result("it1");
    assert_eq!(enter(&mut session, "it1;"), ["`it1` is undefined"]);
}

#[test]
fn a_session_of_many_results_does_not_grow() {
    let mut session = Session::new(Settings::default());
    for number in 0..400 {
        enter(&mut session, &format!("{number};"));
        session.name_result(&format!("it{number}"));
    }
    assert!(session.entries.all().count() < 250, "{}", session.entries.all().count());
    assert_eq!(enter(&mut session, "it399 + it390;"), ["it = 789"]);
}
