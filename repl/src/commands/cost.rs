//! `nesl cost`: work and depth of forms, and how they grow.

mod growth;

use crate::cli::{CostArgs, Global};
use crate::exit::worse;
use crate::exit::{FAILED, INTERRUPTED, OK};
use crate::report::Reporter;
use crate::source;
use anyhow::Result;
use nesl_engine::{Binding, Session, Summary};
use nesl_interactive::entry::close;
use nesl_interactive::table::{Table, grouped, ratio};
use nesl_interactive::text::{Lines, own_start};
use serde_json::json;

/// Measures a file, an expression, or an expression at several sizes.
pub fn run(global: &Global, asked: &CostArgs) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    // Only the direct interpreter counts.
    session.set_runtime(None);
    // The numbers are what is wanted, not what the program prints.
    session.set_output(Box::new(std::io::sink()));
    session.settings_mut().log_scan = asked.log_scan;
    if let Some(setup) = &asked.setup {
        let file = source::read(setup)?;
        let (summary, _) = measure(&mut reporter, &mut session, &file.name, &file.text);
        let code = worse(OK, &summary);
        if code != OK {
            return Ok(code);
        }
    }
    match (&asked.file, &asked.expr) {
        (Some(path), _) => {
            let file = source::read(path)?;
            let (summary, bound) = measure(&mut reporter, &mut session, &file.name, &file.text);
            show(&reporter, &session, &bound, asked.json);
            Ok(worse(OK, &summary))
        }
        (None, Some(expr)) if asked.sizes.is_empty() => {
            let (summary, bound) =
                measure(&mut reporter, &mut session, "<expression>", &close(expr));
            show(&reporter, &session, &bound, asked.json);
            Ok(worse(OK, &summary))
        }
        (None, Some(expr)) => growth::run(&mut reporter, &mut session, expr, asked),
        (None, None) => Ok(FAILED),
    }
}

/// Enters a text; what it defines, instead of being printed, is returned.
fn measure(
    reporter: &mut Reporter,
    session: &mut Session,
    name: &str,
    text: &str,
) -> (Summary, Vec<Binding>) {
    let mut bound = Vec::new();
    let summary = reporter.collect(session, name, text, &mut |binding| bound.push(binding));
    (summary, bound)
}

fn show(reporter: &Reporter, session: &Session, bound: &[Binding], json: bool) {
    let mut table = Table::new(&["line", "name", "work", "depth", "parallelism"]);
    for binding in bound {
        let Some((work, depth)) = binding.cost else {
            continue;
        };
        let (file, text) = session.source(binding.at.file);
        let at = own_start(&text, &binding.at.range);
        let line = Lines::new(text.clone()).position(at).line;
        if json {
            let object = json!({
                "file": &*file, "line": line, "name": binding.name,
                "work": work, "depth": depth, "parallelism": parallelism(work, depth),
                "seconds": binding.usage.seconds,
            });
            reporter.output.line(&object.to_string());
        } else {
            table.row([
                line.to_string(),
                binding.name.clone(),
                grouped(work),
                grouped(depth),
                ratio(parallelism(work, depth)),
            ]);
        }
    }
    if !json {
        reporter.output.line(&table.to_string());
    }
    reporter.output.settle();
}

fn parallelism(work: u64, depth: u64) -> f64 {
    work as f64 / depth.max(1) as f64
}

/// The exit code of a measurement that could not be finished.
fn failed(summary: &Summary) -> u8 {
    if summary.interrupted { INTERRUPTED } else { FAILED }
}
