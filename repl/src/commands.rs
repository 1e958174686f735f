//! A file per subcommand. Each returns the exit code, or an error if the command could not be carried out.

mod check;
mod cost;
mod devices;
mod doc;
mod eval;
mod fmt;
mod ir;
mod kernel;
mod lsp;
mod run;
mod serve;

use crate::cli::{Cli, Command, Measures};
use crate::prompt;
use anyhow::{Result, bail};

/// Executes the command of the command line.
pub fn run(arguments: &Cli) -> Result<u8> {
    let global = &arguments.global;
    let measures = arguments.measures;
    let takes_forms = matches!(
        arguments.command,
        None | Some(Command::Run { .. } | Command::Repl { .. } | Command::Eval { .. })
    );
    if measures != Measures::default() && !takes_forms {
        bail!(
            "--time, --stats, --profile and --json before a command are for `run` and for sessions"
        );
    }
    match &arguments.command {
        None => prompt::run(global, measures, &[], None),
        Some(Command::Repl { files, first, measures: own }) => {
            prompt::run(global, measures.or(*own), files, first.as_deref())
        }
        Some(Command::Run { files, arguments, measures: own }) => {
            run::run(global, files, arguments, measures.or(*own))
        }
        Some(Command::Eval { texts, measures: own }) => eval::run(global, texts, measures.or(*own)),
        Some(Command::Check { files, json, types }) => check::run(global, files, *json, *types),
        Some(Command::Fmt { files, check }) => fmt::run(global, files, *check),
        Some(Command::Ir { file, stage, function }) => {
            ir::run(global, file, *stage, function.as_deref())
        }
        Some(Command::Cost(asked)) => cost::run(global, asked),
        Some(Command::Lsp { .. }) => lsp::run(),
        Some(Command::Serve) => serve::run(global),
        Some(Command::Kernel(asked)) => kernel::run(global, asked),
        Some(Command::Devices { json }) => Ok(devices::run(global, *json)),
        Some(Command::Doc { names }) => doc::run(global, names),
    }
}
