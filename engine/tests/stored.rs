//! Tests stored variables (`x |= exp;`), whose values are kept in files.

use nesl_engine::{Event, Precision, Session, Settings};

/// Enters a text; returns its bindings and messages.
fn enter(session: &mut Session, text: &str) -> Vec<String> {
    let mut said = Vec::new();
    session.enter("text", text, &mut |event| match event {
        Event::Bound(binding) => said.push(format!("{} = {}", binding.name, binding.value)),
        Event::Text(text) => said.push(text),
        Event::Diagnostic(diagnostic) => said.push(diagnostic.message),
    });
    said
}

#[test]
fn a_stored_value_is_read_back_on_use() {
    let mut session = Session::new(Settings::default());
    assert_eq!(
        enter(&mut session, "x |= [[1, 2], [] int]; x ++ [[3]]; {sum(v) : v in x};"),
        ["x = [[1, 2], []]", "it = [[1, 2], [], [3]]", "it = [3, 0]"]
    );
    assert_eq!(
        enter(&mut session, "function g(y) = y + #x; g(1); x |= [[5]]; g(1);"),
        ["g = fn", "it = 3", "x = [[5]]", "it = 2"]
    );
}

#[test]
fn patterns_and_records() {
    let mut session = Session::new(Settings::default());
    let text = "datatype point(int, float);
        (p, s) |= (point(1, 2.5), \"caf\\\"e\");
        s; p;";
    assert_eq!(
        enter(&mut session, text),
        [
            "point = fn",
            "(p, s) = (point(1, 2.5), \"caf\\\"e\")",
            "it = \"caf\\\"e\"",
            "it = point(1, 2.5)"
        ]
    );
}

#[test]
fn a_value_of_other_numbers_says_so() {
    let mut session = Session::new(Settings::default());
    enter(&mut session, "x |= 5000000000;");
    session.settings_mut().precision = Precision::Bits32;
    let said = enter(&mut session, "x;");
    assert!(said[0].starts_with("the stored value of `x` cannot be read: "), "{said:?}");
}

#[test]
fn a_failed_form_stores_nothing() {
    let mut session = Session::new(Settings::default());
    let said = enter(&mut session, "x |= 1; x |= 1 / 0; x;");
    assert_eq!(said[2], "it = 1", "{said:?}");
}
