//! Forms from a pipe: each is run as soon as it is whole, without banner or prompt.

use crate::exit::worse;
use crate::report::Reporter;
use crate::source::decode;
use anyhow::{Context, Result};
use nesl_core::syntax;
use nesl_engine::Session;
use std::io::BufRead;

/// Runs the forms of standard input; `code` is how it went so far.
pub fn run(mut reporter: Reporter, mut session: Session, mut code: u8) -> Result<u8> {
    let mut pending = Vec::new();
    // Lines that were run already: messages number lines as in the whole input.
    let mut lines = 0;
    loop {
        let before = pending.len();
        let read = std::io::stdin()
            .lock()
            .read_until(b'\n', &mut pending)
            .context("cannot read standard input")?;
        // Only a line with a terminator in it can end a form.
        let ends = pending[before..].iter().any(|byte| matches!(byte, b';' | b'$'));
        if read > 0 && !ends {
            continue;
        }
        let (text, _) = decode(pending.clone());
        if read > 0 && !syntax::is_complete(&text) {
            continue;
        }
        if !text.trim().is_empty() {
            let summary = reporter.enter_at(&mut session, "<stdin>", &text, lines);
            code = worse(code, &summary);
            if summary.exit || summary.interrupted {
                break;
            }
        }
        if read == 0 {
            break;
        }
        lines += pending.iter().filter(|byte| **byte == b'\n').count();
        pending.clear();
    }
    reporter.output.settle();
    reporter.stats(&session);
    reporter.write_pictures(&session)?;
    Ok(code)
}
