//! `nesl doc NAME…`

use crate::cli::Global;
use crate::exit::{FAILED, OK};
use crate::report::Reporter;
use anyhow::Result;
use nesl_interactive::unknown::unknown;

/// Prints the documentation of names.
pub fn run(global: &Global, names: &[String]) -> Result<u8> {
    let (reporter, mut session) = Reporter::new(global)?;
    let mut code = OK;
    for (index, name) in names.iter().enumerate() {
        match session.doc(name) {
            Some(text) => {
                if index > 0 {
                    reporter.output.line("");
                }
                reporter.output.line(&text);
            }
            None => {
                reporter.output.settle();
                eprintln!("{}", unknown(&mut session, name));
                code = FAILED;
            }
        }
    }
    reporter.output.settle();
    Ok(code)
}
