//! `nesl ir FILE --stage STAGE`

use crate::cli::Global;
use crate::exit::{FAILED, OK};
use crate::report::Reporter;
use crate::source;
use anyhow::Result;
use nesl_engine::Stage;
use std::path::Path;

/// Prints a file as a stage of the compiler sees it.
pub fn run(global: &Global, path: &Path, stage: Stage, function: Option<&str>) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    let file = source::read(path)?;
    // The same stage, as the chosen runtime knows it.
    let stage = global.runtime.stages.find(stage.name()).unwrap_or(stage);
    match session.dump(&file.name, &file.text, stage, function) {
        Ok(text) => {
            reporter.output.line(text.trim_end());
            reporter.output.settle();
            Ok(OK)
        }
        Err(diagnostics) => {
            for diagnostic in &diagnostics {
                reporter.diagnostic(&session, diagnostic);
            }
            reporter.more();
            Ok(FAILED)
        }
    }
}
