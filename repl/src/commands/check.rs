//! `nesl check FILE…`

use crate::cli::Global;
use crate::exit::{FAILED, OK};
use crate::report::Reporter;
use crate::{json, source};
use anyhow::Result;
use nesl_core::base::Severity;
use std::path::PathBuf;

/// Checks files as if they ran in order in one session.
pub fn run(global: &Global, files: &[PathBuf], as_json: bool, types: bool) -> Result<u8> {
    let mut errors = 0;
    let mut warnings = 0;
    let (mut reporter, mut session) = Reporter::new(global)?;
    let all = files.iter().map(|path| source::read(path)).collect::<Result<Vec<_>>>()?;
    let texts: Vec<(&str, &str)> = all.iter().map(|file| (&*file.name, &*file.text)).collect();
    for (file, report) in all.iter().zip(session.check(&texts)) {
        let writer = json::Writer::new(&file.name, &file.text);
        for diagnostic in &report.diagnostics {
            match diagnostic.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
            if as_json {
                reporter.output.line(&writer.line(&session.sources(), diagnostic));
            } else {
                reporter.diagnostic(&session, diagnostic);
            }
        }
        reporter.more();
        if types {
            // What has no type has an error instead.
            for (name, ty) in report.definitions.iter().filter(|(_, ty)| ty != "?") {
                reporter.output.line(&format!("{name} : {ty}"));
            }
        }
        reporter.output.settle();
    }
    if !as_json && !global.quiet {
        eprintln!("{}", verdict(files.len(), errors, warnings));
    }
    Ok(if errors > 0 { FAILED } else { OK })
}

fn verdict(files: usize, errors: usize, warnings: usize) -> String {
    let checked = count(files, "file");
    match (errors, warnings) {
        (0, 0) => format!("{checked} checked: no errors"),
        (_, 0) => format!("{checked} checked: {}", count(errors, "error")),
        (0, _) => format!("{checked} checked: {}", count(warnings, "warning")),
        _ => {
            format!("{checked} checked: {}, {}", count(errors, "error"), count(warnings, "warning"))
        }
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
