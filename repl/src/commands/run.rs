//! `nesl run FILE…`

use crate::cli::{FAILED, Global, INTERRUPTED, Measures, OK};
use crate::report::Reporter;
use crate::source;
use anyhow::Result;
use nesl_engine::Summary;
use std::path::PathBuf;

/// Runs files in order in one session.
pub fn run(global: &Global, files: &[PathBuf], measures: Measures) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global);
    reporter.measure(&mut session, global, measures);
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

/// The exit code after one more entry.
pub fn worse(code: u8, summary: &Summary) -> u8 {
    if summary.interrupted {
        INTERRUPTED
    } else if summary.errors > 0 {
        FAILED
    } else {
        code
    }
}
