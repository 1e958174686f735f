//! `nesl eval 'EXPR'…`

use crate::cli::{Global, Measures};
use crate::exit::OK;
use crate::exit::worse;
use crate::report::Reporter;
use anyhow::Result;

/// Evaluates texts in order in one session.
pub fn run(global: &Global, texts: &[String], measures: Measures) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    reporter.measure(&mut session, measures);
    session.take_entries_as_one();
    let mut code = OK;
    for text in texts {
        let summary = {
            let text = session.closed(text.strip_prefix(' ').unwrap_or(text));
            reporter.enter(&mut session, "<expression>", &text)
        };
        code = worse(code, &summary);
        if summary.exit || summary.interrupted {
            break;
        }
    }
    reporter.output.settle();
    reporter.stats(&session);
    reporter.write_pictures(&session)?;
    Ok(code)
}
