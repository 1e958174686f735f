//! Numbers about the program: its size, the time it takes to start, its lines.

use crate::shell::{root, run};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The number of starts of each command that are timed.
const STARTS_PER_COMMAND: usize = 50;

/// Builds the released program; reports its size and start-up times.
pub fn size() -> Result<()> {
    run("cargo build --release --package nesl", &[])?;
    let program = root().join("target/release/nesl");
    let bytes = std::fs::metadata(&program).context("the program was not built")?.len();
    println!("size        {:.1} MB", bytes as f64 / 1e6);
    for arguments in [&["--version"][..], &["eval", "1 + 2"], &["eval", "sort([3, 1, 2])"]] {
        let times = time(&program, arguments)?;
        let (best, median, worst) =
            (times[0], times[STARTS_PER_COMMAND / 2], times[STARTS_PER_COMMAND - 1]);
        let command = format!("nesl {}", arguments.join(" "));
        println!(
            "{command:<28} best {best:.1?}, median {median:.1?}, worst {worst:.1?} of {STARTS_PER_COMMAND}"
        );
    }
    Ok(())
}

/// Wall-clock times of many runs, in order of length.
fn time(program: &Path, arguments: &[&str]) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(STARTS_PER_COMMAND);
    for _ in 0..STARTS_PER_COMMAND {
        let begun = Instant::now();
        let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
        times.push(begun.elapsed());
        if !status.success() {
            bail!("`nesl {}` failed ({status})", arguments.join(" "));
        }
    }
    times.sort();
    Ok(times)
}

/// Lines of Rust and NESL by top folder: all, and those that are neither blank nor comment.
pub fn lines() -> Result<()> {
    println!("{:<12} {:>6} {:>8} {:>8}", "folder", "files", "lines", "code");
    let mut folders: Vec<_> = std::fs::read_dir(root())?
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter(|entry| {
            let name = entry.file_name();
            name != "target" && !name.to_string_lossy().starts_with('.')
        })
        .collect();
    folders.sort_by_key(std::fs::DirEntry::file_name);
    let mut total = Count::default();
    for folder in folders {
        let mut count = Count::default();
        count.folder(&folder.path())?;
        if count.files > 0 {
            count.print(&folder.file_name().to_string_lossy());
            total.files += count.files;
            total.lines += count.lines;
            total.code += count.code;
        }
    }
    total.print("all");
    Ok(())
}

#[derive(Default)]
struct Count {
    files: usize,
    lines: usize,
    code: usize,
}

impl Count {
    fn folder(&mut self, folder: &Path) -> Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.folder(&path)?;
            } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "nesl") {
                let Ok(text) = std::fs::read_to_string(&path) else {
                    continue;
                };
                let comment = |line: &str| line.starts_with("//") || line.starts_with('%');
                let code = |line: &&str| !line.is_empty() && !comment(line);
                self.files += 1;
                self.lines += text.lines().count();
                self.code += text.lines().map(str::trim).filter(code).count();
            }
        }
        Ok(())
    }

    fn print(&self, name: &str) {
        println!("{name:<12} {:>6} {:>8} {:>8}", self.files, self.lines, self.code);
    }
}
