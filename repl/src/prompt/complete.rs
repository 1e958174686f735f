//! Is what was typed a whole number of forms?

use nesl_core::base::Severity;
use nesl_core::syntax;

/// What to do when Enter is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Run it.
    Whole,
    /// Run it once a `;` is put at its end.
    Unterminated,
    /// More is to come.
    Part,
}

/// Looks at what was typed. A form may leave out the last `;` if it cannot be anything but
/// whole; a blank line at the end says that it is, so that nobody is ever stuck.
pub fn typed(text: &str) -> Typed {
    if text.trim_start().starts_with(':') || is_blank(text) || syntax::is_complete(text) {
        return Typed::Whole;
    }
    let closed = terminated(text);
    let given_up = text.contains('\n') && text.ends_with('\n') || text.ends_with("\n ");
    if syntax::is_complete(&closed) && (given_up || parses(&closed)) {
        Typed::Unterminated
    } else if given_up {
        Typed::Whole
    } else {
        Typed::Part
    }
}

/// The text with the terminator it may lack.
pub fn close(text: &str) -> String {
    if is_blank(text) || syntax::is_complete(text) { text.to_string() } else { terminated(text) }
}

/// The terminator goes on the same line where possible, so that messages about the end of the
/// text point at something a person wrote.
fn terminated(text: &str) -> String {
    format!("{};", text.trim_end_matches([' ', '\n', '\r', '\t']))
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn parses(text: &str) -> bool {
    syntax::split(text).iter().all(|item| {
        let parsed = syntax::parse_item(&text[item.range]);
        parsed.diagnostics.iter().all(|d| d.severity != Severity::Error)
    })
}
