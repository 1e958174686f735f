//! `nesl run FILE…`

use crate::cli::{Global, Measures};
use crate::exit::{OK, worse};
use crate::report::Reporter;
use crate::source;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Runs files in order in one session.
pub fn run(
    global: &Global,
    files: &[PathBuf],
    arguments: &[String],
    measures: Measures,
) -> Result<u8> {
    if let [first, others @ ..] = files
        && let Some(missing) = others.iter().find(|path| cannot_be_program(path))
    {
        let (first, missing) = (first.display(), missing.display());
        bail!(
            "there is no file {missing}; arguments of a program follow `--`, as in \
             `nesl run {first} -- {missing}`"
        );
    }
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

/// Returns true for what is no file, nor named like a program that one before it may write.
fn cannot_be_program(path: &Path) -> bool {
    let is_named_so = path.extension().is_some_and(|extension| extension == "nesl");
    path != Path::new(source::STDIN) && !is_named_so && !path.exists()
}
