//! A session that forgets entries, beside one that forgets none.

use crate::{Event, Session, Settings, ShownValues};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;

/// A session; it forgets no entry unless `forgetful`.
fn session(forgetful: bool, lazy: bool) -> Session {
    let interpret_first = !lazy;
    let mut session = Session::new(Settings {
        interpret_first,
        shown: if interpret_first { ShownValues::All } else { ShownValues::Scalars },
        ..Settings::default()
    });
    if lazy {
        let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
        session.set_runtime(Some(Box::new(Reference::new(options))));
    }
    if !forgetful {
        session.entries.reachable = usize::MAX / 4;
    }
    session
}

/// Everything that an entry says: values, types, messages and the texts that these are about.
fn said(session: &mut Session, text: &str) -> String {
    let (mut said, mut events) = (String::new(), Vec::new());
    session.enter("<entry>", text, &mut |event| events.push(event));
    for event in events {
        match event {
            Event::Bound(binding) => {
                said += &format!("{} = {} : {}\n", binding.name, binding.value, binding.ty);
            }
            Event::Text(text) => said += &text,
            Event::Diagnostic(diagnostic) => {
                said += &format!("{}\n", diagnostic.message);
                for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels) {
                    let (_, source) = session.source(label.at.file);
                    let at = source.get(label.at.range.clone()).expect("a place in the text");
                    said += &format!("  {at:?} {}\n", label.text);
                }
            }
        }
    }
    said
}

/// The forms that are entered at random: they redefine, with the same type and another, and use
/// what others define.
const FORMS: [&str; 30] = [
    "a = 1;",
    "a = 2;",
    "a = 2.5;",
    "b = a;",
    "b = {i + 1 : i in [0:5]};",
    "b = {i * 2 : i in [0:7]};",
    "c = {x + x : x in b};",
    "c = sum(b);",
    "c = (a, b);",
    "(a, c) = (c, a);",
    "function f(x) = x + a;",
    "function f(x) = x - a;",
    "function f(x) = #x;",
    "function g(x) = f(f(x));",
    "function g(x) = f(x);",
    "function h(x) = if x > 0 then k(x - 1) else 0; function k(x) = if x > 0 then h(x - 1) else 1;",
    "datatype p(int, int);",
    "datatype p(float, int);",
    "q = p(1, 2);",
    "function first(p(x, y)) = x;",
    "first(q);",
    "g(b);",
    "g(a);",
    "h(3) + k(4);",
    "it;",
    "a; b; c; q;",
    "sum(c) + a;",
    "b[a];",
    "f(a) + undefined;",
    "c |= [1, 2, 3];",
];

fn compare(lazy: bool) {
    let (mut own, mut other) = (session(true, lazy), session(false, lazy));
    let mut random: u64 = 1;
    for round in 0..600 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Rounds of few forms, so that others are not used for a while.
        let form = (random >> 33) as usize % if round % 200 < 100 { 30 } else { 12 };
        let text = FORMS[form];
        assert_eq!(said(&mut own, text), said(&mut other, text), "{round}: {text}");
    }
    assert!(own.entries.files.len() < 300, "nothing was forgotten");
    assert!(other.entries.files.len() > 500);
}

#[test]
fn forgetting_entries_changes_nothing_that_is_said() {
    compare(false);
}

#[test]
fn forgetting_entries_changes_nothing_where_definitions_are_put_off() {
    compare(true);
}

#[test]
fn messages_show_definitions_of_long_ago() {
    let mut session = session(true, false);
    session.enter("<first>", "function third(xs) = xs[3];", &mut |_| {});
    for _ in 0..300 {
        session.enter("<entry>", "x = 5; x = 5.5;", &mut |_| {});
    }
    assert!(session.entries.files.len() <= super::MIN_ENTRIES + 2);
    assert!(said(&mut session, "third([1]);").contains("xs[3]"));
}
