//! Tests, by the bytes of the runtime's arrays, that a session releases definitions that were
//! replaced.

use nesl_engine::{Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;

fn session() -> Session {
    let mut session = Session::new(Settings { interpret_first: false, ..Settings::default() });
    let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
    session.set_runtime(Some(Box::new(Reference::new(options))));
    session
}

/// Enters texts in turn; returns the bytes of the runtime's arrays at the end.
fn bytes_after(session: &mut Session, texts: &[&str]) -> u64 {
    for text in texts {
        let summary = session.enter("<entry>", text, &mut |_| {});
        assert_eq!(summary.errors, 0, "{text}");
    }
    session.stats().counters.bytes
}

#[test]
fn n7_a_name_that_changes_its_type_leaves_no_arrays() {
    let round = [
        "xs = {i * 3 : i in [0:10000]};",
        "function total(k) = sum(xs) + k;",
        "function twice(k) = 2 * total(k);",
        "twice(1);",
        "xs = {float(i) * 0.5 : i in [0:10000]};",
        "function total(k) = sum(xs) + float(k);",
        "function twice(k) = 2.0 * total(k);",
        "twice(1);",
    ];
    let mut session = session();
    let first = bytes_after(&mut session, &round);
    for _ in 0..5 {
        let again = bytes_after(&mut session, &round);
        assert!(again <= first + 100, "{first} bytes after a round, {again} after more");
    }
    assert!(session.stats().variables.iter().all(|variable| !variable.shadowed));
}

#[test]
fn what_an_earlier_function_mentions_stays() {
    let mut session = session();
    let texts = [
        "xs = {i * 3 : i in [0:10000]};",
        "function total(k) = sum(xs) + k;",
        "function twice(k) = 2 * total(k);",
        "xs = 2.5;",
        "function total(a, b) = a + b;",
    ];
    assert!(bytes_after(&mut session, &texts) >= 10_000);
    // The function still refers to the first definition of each name, through the other function.
    let mut value = String::new();
    session.enter("<entry>", "twice(1);", &mut |event| {
        if let nesl_engine::Event::Bound(binding) = event {
            value = binding.value;
        }
    });
    assert_eq!(value, (2 * (3 * 9999 * 10_000 / 2 + 1)).to_string());
    let texts = ["function twice(k) = k;", "1;"];
    assert!(bytes_after(&mut session, &texts) < 1000);
}

#[test]
fn functions_that_call_each_other_keep_nothing_by_themselves() {
    let mut session = session();
    let texts = [
        "xs = {i * 3 : i in [0:10000]};",
        "function down(k) = if k == 0 then sum(xs) else down(k - 1);",
        "xs = 1.5;",
        "down(3);",
    ];
    assert!(bytes_after(&mut session, &texts) >= 10_000);
    // What an entry replaces is kept until the next one, so that it can be taken back.
    assert!(bytes_after(&mut session, &["function down(x) = not(x);", "1;"]) < 1000);
}
