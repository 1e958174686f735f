//! `nesl eval 'EXPR'…`

use crate::cli::Global;
use crate::exit::OK;
use crate::exit::worse;
use crate::report::Reporter;
use anyhow::Result;
use nesl_interactive::entry::close;

/// Evaluates texts in order in one session.
pub fn run(global: &Global, texts: &[String]) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    let mut code = OK;
    for text in texts {
        let summary = reporter.enter(&mut session, "<expression>", &close(text));
        code = worse(code, &summary);
        if summary.exit || summary.interrupted {
            break;
        }
    }
    reporter.output.settle();
    reporter.write_pictures(&session)?;
    Ok(code)
}
