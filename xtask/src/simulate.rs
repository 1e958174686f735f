//! Running everything that computes a value on the simulated GPU, with a report of the outcome.

use crate::shell::{root, run_and_capture, text_of};
use anyhow::{Context, Result, bail};
use std::fmt::Write;

/// The environment variable that names NVIDIA's assembler.
const ASSEMBLER: &str = "NESL_PTXAS";

/// The test whose output holds the table of the benchmarks' costs.
const TABLE_COMMAND: &str = "cargo test --package nesl --test gpu -- --nocapture";

/// A command line, and the variables that it needs.
type Part = (&'static str, &'static [(&'static str, &'static str)]);

const PARTS: [Part; 5] = [
    ("cargo test --package nesl-runtime-ptx --no-fail-fast", &[]),
    ("cargo test --package nesl --test simulated", &[("NESL_EVERY", "1")]),
    (TABLE_COMMAND, &[]),
    ("cargo test --package nesl --test waits", &[]),
    ("cargo test --package nesl --test programs -- simulated", &[("PROPTEST_CASES", "100")]),
];

/// Runs all parts, also after one has failed; prints how each ended, and writes that and the table
/// of costs to `bench/results/simulated-DATE.md`.
pub fn simulate() -> Result<()> {
    let (date, commit) = (text_of("date +%F")?, text_of("git rev-parse --short HEAD")?);
    let mut report = format!("# On the simulated GPU\n\nDate {date}, commit {commit}");
    report += match std::env::var_os(ASSEMBLER) {
        Some(_) => ". The texts were assembled by `ptxas`.\n",
        None => ". Nothing was assembled: `NESL_PTXAS` names no `ptxas`.\n",
    };
    let (mut closing, mut table, mut failed) = (String::new(), String::new(), Vec::new());
    for (command, environment) in PARTS {
        let (passed, output) = run_and_capture(command, environment)?;
        if !passed {
            failed.push(command);
        }
        if command == TABLE_COMMAND {
            table = table_of(&output);
        }
        let settings: String = environment.iter().map(|(k, v)| format!("{k}={v} ")).collect();
        let _ = write!(closing, "\n{settings}{command}\n{}", closing_lines(&output));
    }
    println!("{closing}");
    let _ = write!(report, "\n```text{closing}```\n\n## Costs of the benchmarks\n");
    let _ = write!(report, "\n```text\n{table}```\n");
    let path = root().join(format!("bench/results/simulated-{date}.md"));
    std::fs::write(&path, report).with_context(|| format!("cannot write {}", path.display()))?;
    println!("written to bench/results/simulated-{date}.md");
    if !failed.is_empty() {
        bail!("failed: {}", failed.join("; "));
    }
    Ok(())
}

/// The lines in which test programs say how they ended, less those that had no tests, and the names
/// of failed tests.
fn closing_lines(output: &str) -> String {
    let says = |line: &&str| {
        let ended = line.starts_with("test result:") && !line.contains(" 0 passed; 0 failed;");
        ended || line.starts_with("test ") && line.ends_with(" FAILED")
    };
    output.lines().filter(says).map(|line| format!("{line}\n")).collect()
}

/// The table that the test of the benchmarks prints, and the refused kernels below it.
fn table_of(output: &str) -> String {
    let begins = |line: &&str| !line.starts_with("program ");
    let ends = |line: &&str| !line.is_empty() && *line != "ok" && !line.starts_with("test ");
    let mut lines = output.lines().skip_while(begins);
    let rows: String = lines.by_ref().take_while(ends).map(|line| format!("{line}\n")).collect();
    let refused: String = lines.take_while(ends).map(|line| format!("{line}\n")).collect();
    if refused.is_empty() { rows } else { format!("{rows}\n{refused}") }
}

#[cfg(test)]
mod tests {
    use super::{closing_lines, table_of};

    const OUTPUT: &str = "\nrunning 1 test\ntest programs ... \nprogram  kernels\ndot  1\n\ndot: main: \
                          recursive functions\n\nok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n";

    #[test]
    fn the_table_ends_with_the_refused_kernels() {
        let table = "program  kernels\ndot  1\n\ndot: main: recursive functions\n";
        assert_eq!(table_of(OUTPUT), table);
        assert_eq!(table_of("running 1 test\n"), "");
    }

    #[test]
    fn closing_lines_name_what_failed() {
        assert_eq!(closing_lines(OUTPUT), "test result: ok. 1 passed; 0 failed; 0 ignored\n");
        let failed =
            "test a ... ok\ntest b ... FAILED\ntest result: ok. 0 passed; 0 failed; 0 ignored\n";
        assert_eq!(closing_lines(failed), "test b ... FAILED\n");
    }
}
