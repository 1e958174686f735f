//! Sessions whose work is counted: all that is entered is compiled and executed by the interpreter of
//! kir, which counts the launches, bytes, instructions and elements moved. The counters are exact.

use nesl_engine::session::Strategy;
use nesl_engine::{Event, Session, Settings, ShownValues};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Counters, Options};

/// Returns settings by which every entry is compiled at once, and shown only if it is a scalar.
pub fn settings(strategy: Strategy) -> Settings {
    Settings {
        shown: ShownValues::Scalars,
        lazy: false,
        interpret_first: false,
        strategy,
        ..Settings::default()
    }
}

/// Makes a session with these settings on the interpreter of kir. What its programs print is dropped.
pub fn session(strategy: Strategy) -> Session {
    session_of(1, strategy)
}

/// Makes a session as [`session`] does, in which what runs is decided as for so many threads.
pub fn session_of(threads: usize, strategy: Strategy) -> Session {
    let mut session = Session::new(settings(strategy));
    session.set_output(Box::new(std::io::sink()));
    let options = Options { interrupt: session.interrupt_handle(), ..Options::default() };
    session.set_runtime(Some(Box::new(Reference::new(options).with_threads(threads))));
    session
}

/// Enters a text and returns the counters after it.
///
/// # Panics
/// If the text is reported, or a part of it is not compiled; `what` says in whose measurement.
pub fn enter(session: &mut Session, what: &str, text: &str) -> Counters {
    session.enter("program.nesl", text, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            panic!("{what}: {}", diagnostic.message);
        }
    });
    let stats = session.stats();
    assert_eq!(stats.unsupported, [], "{what}");
    stats.counters
}
