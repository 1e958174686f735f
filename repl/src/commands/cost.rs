//! `nesl cost`: work and depth of forms, and how they grow.

use crate::cli::{CostArgs, Global};
use crate::exit::worse;
use crate::exit::{FAILED, INTERRUPTED, OK};
use crate::interrupt;
use crate::report::Reporter;
use crate::source;
use anyhow::{Context, Result, anyhow, bail};
use nesl_core::base::Diagnostic;
use nesl_engine::{Binding, FileRange, Session, Summary};
use nesl_interactive::growth::{self, Asked, Point, parallelism};
use nesl_interactive::table::{Table, grouped, ratio};
use nesl_interactive::text::{Lines, own_start};
use serde_json::json;
use std::sync::atomic::Ordering;

/// Measures a file, an expression, or an expression at several sizes.
pub fn run(global: &Global, asked: &CostArgs) -> Result<u8> {
    if let (Some(file), Some(_)) = (&asked.file, &asked.expr) {
        let file = file.display();
        bail!(
            "`nesl cost` measures a file or an expression; `--setup {file}` loads definitions first"
        );
    }
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
        (None, Some(expr)) if !asked.given.is_empty() || !asked.sizes.is_empty() => {
            let what = Asked::new(&mut session, expr, &asked.given).map_err(|why| anyhow!(why))?;
            match asked.sizes.is_empty() {
                true => given(&mut reporter, &mut session, &what, asked.json),
                false => growth(&mut reporter, &mut session, &what, asked),
            }
        }
        (None, Some(expr)) => {
            let text = session.closed(expr);
            let (summary, bound) = measure(&mut reporter, &mut session, "<expression>", &text);
            show(&reporter, &session, &bound, asked.json);
            Ok(worse(OK, &summary))
        }
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

/// Measures an expression without what its inputs cost.
fn given(
    reporter: &mut Reporter,
    session: &mut Session,
    what: &Asked,
    is_json: bool,
) -> Result<u8> {
    let (seed, interrupt) = (session.settings().seed, session.interrupt_handle());
    let measured = interrupt::during(|| {
        let measured = what.cost(session, ENTRY, None, seed);
        measured.map_err(|diagnostics| (diagnostics, interrupt.load(Ordering::SeqCst)))
    });
    let cost = match measured {
        Ok(cost) => cost,
        Err(failed) => return Ok(refused(reporter, session, failed)),
    };
    let (work, depth) = (cost.work, cost.depth);
    let parallelism = parallelism(work, depth);
    if is_json {
        let object = json!({ "work": work, "depth": depth, "parallelism": parallelism });
        reporter.output.line(&object.to_string());
    } else {
        let mut table = Table::new(&["work", "depth", "parallelism"]);
        table.row([grouped(work), grouped(depth), ratio(parallelism)]);
        reporter.output.line(&table.to_string());
    }
    reporter.output.settle();
    Ok(OK)
}

/// The name of what `--expr` gives, in messages.
const ENTRY: &str = "<expression>";

/// Tells why nothing was measured; returns the exit code.
fn refused(
    reporter: &mut Reporter,
    session: &Session,
    (diagnostics, interrupted): (Vec<Diagnostic<FileRange>>, bool),
) -> u8 {
    for diagnostic in &diagnostics {
        reporter.diagnostic(session, diagnostic);
    }
    if interrupted { INTERRUPTED } else { FAILED }
}

/// Measures an expression at each of the sizes asked for.
fn growth(
    reporter: &mut Reporter,
    session: &mut Session,
    what: &Asked,
    asked: &CostArgs,
) -> Result<u8> {
    let output = reporter.output.clone();
    let mut seen = |point: &Point| {
        if asked.json {
            output.line(&point.object().to_string());
        }
    };
    let interrupt = session.interrupt_handle();
    let measured = interrupt::during(|| {
        let measured = growth::measure(session, ENTRY, what, &asked.sizes, asked.seeds, &mut seen);
        measured.map_err(|diagnostics| (diagnostics, interrupt.load(Ordering::SeqCst)))
    });
    let growth = match measured {
        Ok(growth) => growth,
        Err(failed) => return Ok(refused(reporter, session, failed)),
    };
    if asked.json {
        reporter.output.line(&growth.fit_object().to_string());
    } else {
        reporter.output.line(&growth.table().to_string());
        for line in growth.sentences() {
            reporter.output.line(&line);
        }
    }
    if asked.plot || asked.svg.is_some() {
        let plot = growth.plot();
        if asked.plot {
            reporter.output.line(&plot.plain);
        }
        if let Some((path, svg)) = asked.svg.as_ref().zip(plot.svg) {
            std::fs::write(path, svg)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    reporter.output.settle();
    Ok(OK)
}
