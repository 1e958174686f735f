//! Forms and commands from a pipe: each is run as soon as it is whole, without banner or prompt.

use super::front::Shared;
use super::lines::question;
use crate::source::decode;
use anyhow::{Context, Result};
use nesl_core::syntax;
use nesl_core::syntax::entry::{Typed, typed};
use nesl_interactive::output::Outcome;
use nesl_interactive::state::State;
use nesl_interactive::state::commands::{Commands, Operand};
use std::io::BufRead;

/// Runs the forms of standard input; returns the exit code.
pub fn run(shared: &Shared, mut state: State) -> Result<u8> {
    let mut pending = Vec::new();
    loop {
        let before = pending.len();
        let read = std::io::stdin()
            .lock()
            .read_until(b'\n', &mut pending)
            .context("cannot read standard input")?;
        // A question about a name is a command, at whatever place a command may stand.
        let asked = pending[before..].contains(&b'?').then(|| decoded(&pending[before..]));
        if let Some(command) = asked.as_deref().and_then(question)
            && may_follow(&decoded(&pending[..before]))
        {
            let (above, _) = decode(pending.drain(..before).collect());
            pending.clear();
            // The line of the question counts.
            if !enter(shared, &mut state, &above)
                || !enter(shared, &mut state, &format!("{command}\n"))
                || read == 0
            {
                break;
            }
            continue;
        }
        // Only a line with a terminator in it can end a form, and only a line with a colon begins a
        // command. Any line can end the form of one.
        let ends = pending[before..].iter().any(|byte| matches!(byte, b';' | b'$' | b':'))
            || pending.trim_ascii_start().starts_with(b":");
        if read > 0 && !ends {
            continue;
        }
        // A command ends the form above it, as at the prompt.
        if read > 0
            && before > 0
            && pending[before..].starts_with(b":")
            && ends_form(
                state.commands(),
                &decoded(&pending[..before]),
                &decoded(&pending[before..]),
            )
        {
            let (text, _) = decode(pending.drain(..before).collect());
            if !enter(shared, &mut state, &text) {
                break;
            }
        }
        let (text, _) = decode(pending.clone());
        if read > 0 && !is_whole(state.commands(), &text) {
            continue;
        }
        if !enter(shared, &mut state, &text) || read == 0 {
            break;
        }
        pending.clear();
    }
    let mut reporter = shared.reporter.borrow_mut();
    reporter.output.settle();
    reporter.stats(&state.session);
    reporter.write_pictures(&state.session)?;
    Ok(shared.code.get())
}

/// Enters a text; returns false if the session ends with it.
fn enter(shared: &Shared, state: &mut State, text: &str) -> bool {
    if text.trim().is_empty() {
        shared.lines.set(shared.lines.get() + text.matches('\n').count());
        return true;
    }
    let outcome = shared.enter(state, "<stdin>", text);
    if !text.trim_start().starts_with(':') {
        shared.last.replace(text.trim().to_owned());
    }
    shared.lines.set(shared.lines.get() + text.matches('\n').count());
    !matches!(outcome, Outcome::Exit | Outcome::Interrupted)
}

fn decoded(bytes: &[u8]) -> String {
    decode(bytes.to_vec()).0
}

/// Returns true if a line is that of a command, and the forms above it are complete but for their last sign.
/// Above may also stand a command that lacks its forms.
pub(super) fn ends_form(commands: Commands, above: &str, line: &str) -> bool {
    if !line.starts_with(':') {
        return false;
    }
    let name = line.split_whitespace().next().unwrap_or_default();
    let is_command = commands.expand(name.trim_end_matches(';')).is_some();
    is_command && may_follow(above)
}

/// Returns true if a command may follow a text: its forms are complete but for their last sign.
fn may_follow(above: &str) -> bool {
    let above = above.trim();
    match above.strip_prefix(':') {
        Some(command) => !command.contains(char::is_whitespace),
        None => typed(above) != Typed::Part,
    }
}

/// Returns true if nothing more can belong to a text: it is a command on a line of its own, or its
/// forms are whole.
fn is_whole(commands: Commands, text: &str) -> bool {
    let own = text.trim();
    if !own.starts_with(':') {
        return syntax::is_complete(text);
    }
    let (name, operand) = own.split_once(char::is_whitespace).unwrap_or((own, ""));
    match commands.expand(name).map(|command| command.operand) {
        Some(Operand::Forms | Operand::CountedForms) if operand.trim().is_empty() => false,
        Some(Operand::Forms | Operand::CountedForms)
            if text.trim_start().lines().next() == Some(name) =>
        {
            syntax::is_complete(operand)
        }
        _ => typed(own) != Typed::Part,
    }
}
