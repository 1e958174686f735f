//! `nesl fmt FILE…`

use crate::cli::Global;
use crate::exit::{FAILED, OK};
use crate::output::Output;
use crate::source::{self, STDIN};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Formats files in place, or lists those that are not formatted.
pub fn run(global: &Global, files: &[PathBuf], check: bool) -> Result<u8> {
    let mut output = Output::stdout();
    let mut unformatted = 0;
    for path in files {
        let file = source::read(path)?;
        let formatted = nesl_core::syntax::format(&file.text);
        let changed = formatted != file.text;
        let stdin = path == Path::new(STDIN);
        if check {
            if changed {
                output.line(&file.name);
            }
        } else if stdin {
            output.write_all(&source::encode(&formatted, file.latin1))?;
        } else if changed {
            nesl_engine::write_whole(path, &source::encode(&formatted, file.latin1))
                .with_context(|| format!("cannot write {}", path.display()))?;
            if !global.quiet {
                eprintln!("formatted {}", path.display());
            }
        }
        unformatted += usize::from(changed);
    }
    output.show();
    Ok(if check && unformatted > 0 { FAILED } else { OK })
}
