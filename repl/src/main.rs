//! `nesl`: one program to run, check, format, explain and explore NESL.
//!
//! A thin face over [`nesl_engine::Session`]: it reads arguments and files, hands texts to a
//! session and shows what comes back. Nothing here knows what a program means.
//!
//! | module | what it does |
//! |---|---|
//! | [`cli`] | what can be said on the command line, and its help |
//! | [`commands`] | a file per subcommand |
//! | [`prompt`] | the interactive session, and forms read from a pipe |
//! | [`report`] | events of a session → lines on standard output and messages on standard error |
//! | [`render`] | diagnostics → text for people |
//! | [`measure`] | what forms took → lines and JSON |
//! | [`json`] | diagnostics → JSON for programs |
//! | [`source`] | files → text; offsets → lines and columns |
//! | [`table`] | columns of text |
//! | [`output`] | standard output, which remembers whether a line is begun |
//! | [`interrupt`] | Ctrl-C |
//! | [`exit`] | exit codes |
//! | [`unknown`] | names that nobody knows |
//! | [`allocator`] | how memory is asked for |

mod allocator;
mod cli;
mod commands;
mod exit;
mod interrupt;
mod json;
mod measure;
mod output;
mod prompt;
mod render;
mod report;
mod source;
mod stages;
mod table;
mod unknown;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::keep_large_blocks_apart();
    std::panic::set_hook(Box::new(report_bug));
    let arguments = cli::parse();
    match commands::run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("nesl: {error:#}");
            ExitCode::from(exit::USAGE)
        }
    }
}

/// Whatever a program contains, a panic is our fault; one where nobody needs the result yet is found
/// again when somebody does.
fn report_bug(info: &std::panic::PanicHookInfo<'_>) {
    if nesl_runtime_cpu::is_prefetching() {
        return;
    }
    let why = info.payload_as_str().unwrap_or("unknown");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    eprintln!("nesl: internal error: {why} ({place})");
    eprintln!("This is a bug in nesl; please report it together with the program.");
}
