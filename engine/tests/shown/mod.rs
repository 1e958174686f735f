//! Shows what a session answers to a text.

use nesl_engine::{Event, Session};

/// Enters a text, and returns the last value or message.
pub fn shown(session: &mut Session, text: &str) -> String {
    let mut last = String::new();
    session.enter("program.nesl", text, &mut |event| match event {
        Event::Diagnostic(diagnostic) => last = diagnostic.message.to_string(),
        Event::Bound(binding) => last = binding.value,
        Event::Text(text) => last = text,
    });
    last
}
