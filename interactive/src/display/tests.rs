//! Tests of what is shown.

use super::*;
use expect_test::{Expect, expect};
use nesl_engine::{Event, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;
use std::time::{Duration, Instant};

/// Returns the last value of a text, read with these limits, on the direct interpreter or on a runtime.
fn evaluated(text: &str, limits: DataLimits, on_runtime: bool) -> Binding {
    let mut session = Session::new(Settings {
        data: Some(limits),
        print_length: Some(10),
        interpret_first: false,
        ..Settings::default()
    });
    if on_runtime {
        let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
        session.set_runtime(Some(Box::new(Reference::new(options))));
    }
    let mut last = None;
    session.enter("<entry>", text, &mut |event| match event {
        Event::Bound(binding) => last = Some(binding),
        Event::Text(_) => {}
        Event::Diagnostic(diagnostic) => panic!("{}", diagnostic.message),
    });
    last.expect("a form has a value")
}

pub(super) fn shown(text: &str) -> Shown {
    evaluated(text, limits(), false).data.expect("the settings ask for data")
}

/// Returns the HTML of a value without the rules of style.
fn html(text: &str) -> String {
    let Output::Value(bundle) = binding(&evaluated(text, limits(), false), Style { html: true })
    else {
        panic!("`{text}` is no expression")
    };
    bundle.html.expect("HTML is asked for").replace(html::STYLE, "")
}

fn check_rows(text: &str, expect: Expect) {
    expect.assert_eq(&format!("{}\n", rows(&shown(text), 10, 80)));
}

fn check_html(text: &str, expect: Expect) {
    expect.assert_eq(&format!("{}\n", html(text).replace("<t", "\n<t").replace("<d", "\n<d")));
}
