//! Tests of forms that are entered again: the code of the first time serves them, and nothing else is taken from it.

use nesl_engine::{Event, Session, Settings};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::Options;
use std::time::Duration;

/// Makes a session that compiles what is entered.
fn session() -> Session {
    let settings = Settings { lazy: false, interpret_first: false, ..Settings::default() };
    let mut session = Session::new(settings);
    session.set_runtime(Some(Box::new(Reference::new(Options::default()))));
    session
}

/// Enters a text; returns what its forms gave: values, and messages with the lines that they name.
fn enter(session: &mut Session, text: &str) -> Vec<String> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let mut said = Vec::new();
    session.enter("program.nesl", text, &mut |event| match event {
        Event::Bound(binding) if binding.expression => said.push(binding.value),
        Event::Bound(_) | Event::Text(_) => {}
        Event::Diagnostic(error) => {
            let places = error.labels.iter().chain([&error.primary]);
            let lines: Vec<String> =
                places.map(|label| line(label.at.range.start).to_string()).collect();
            said.push(format!("{} in lines {}", error.message, lines.join(", ")));
        }
    });
    said
}

#[test]
fn it_gives_what_it_would_give_if_it_were_new() {
    let mut session = session();
    let said = enter(
        &mut session,
        "function at(x, i) : ([int], int) -> int = sum(x) + x[i];
         x = [1, 2, 3];
         at(x, 0); at(x, 0); at(x, 1);
         x = [4, 5];
         at(x, 0);
         function at(x, i) : ([int], int) -> int = sum(x) - x[i];
         at(x, 0);
         function g(x) : float -> float = {1.0 / v : v in dist(x, 2)}[0];
         g(0.5); g(-0.5); g(0.5);
         y = 7;
         let y = 8 in sum([y]); sum([y]);",
    );
    assert_eq!(said, ["7", "7", "8", "13", "5", "2.0", "-2.0", "2.0", "8", "7"]);
}

#[test]
fn its_failures_have_their_own_places() {
    let mut session = session();
    let said = enter(
        &mut session,
        "function at(x, i) : ([int], int) -> int = sum(x) + x[i];
         x = [1, 2, 3];
         at(x, 3);
         at(x, 3);
         {x[i + 1] : i in x};

         {x[i + 1] : i in x};",
    );
    let lines: Vec<&str> = said.iter().filter_map(|text| text.split(" in lines ").nth(1)).collect();
    assert_eq!(lines, ["3, 1", "4, 1", "5", "7"], "{said:?}");
}

#[test]
fn it_is_not_compiled_again() {
    let mut session = session();
    let function = "function step(x) : [int] -> [int] =
        {a + b : a in sort(x); b in reverse(x)} -> [0:#x];
        x = {rem(i * 7, 31) : i in [0:50]};";
    enter(&mut session, function);
    let mut compiling = |text: &str| {
        let mut seconds = 0.0;
        session.enter("program.nesl", text, &mut |event| {
            if let Event::Bound(binding) = event {
                seconds += binding.usage.compile_seconds;
            }
        });
        Duration::from_secs_f64(seconds)
    };
    let first = compiling("x = step(x);");
    let later: Vec<Duration> = (0..20).map(|_| compiling("x = step(x);")).collect();
    let least = later.iter().min().copied().unwrap_or_default();
    assert!(least * 4 < first, "{least:?} of {first:?}");
}
