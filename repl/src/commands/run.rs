//! `nesl run FILE…`

use crate::cli::{Global, Measures};
use crate::exit::{OK, worse};
use crate::report::Reporter;
use crate::source;
use anyhow::Result;
use std::path::PathBuf;

/// Runs files in order in one session.
pub fn run(
    global: &Global,
    files: &[PathBuf],
    arguments: &[String],
    measures: Measures,
) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    session.set_arguments(arguments.to_vec());
    reporter.measure(&mut session, measures);
    let mut code = OK;
    for path in files {
        let file = source::read(path)?;
        let summary = reporter.enter(&mut session, &file.name, &file.text);
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
