//! `nesl`: one program to run, check, format, explain and explore NESL.
//!
//! A thin layer over [`nesl_engine::Session`]: it reads arguments and files, enters texts in a session and
//! prints the results. The semantics of programs is elsewhere.
//!
//! | module | what it does |
//! |---|---|
//! | [`cli`] | the command line and its help |
//! | [`commands`] | a file per subcommand |
//! | [`prompt`] | the interactive session, and forms read from a pipe |
//! | [`report`] | events of a session → lines on standard output and messages on standard error |
//! | [`json`] | diagnostics → JSON for programs |
//! | [`source`] | files → text |
//! | [`output`] | standard output, which remembers whether a line is begun |
//! | [`interrupt`] | Ctrl-C |
//! | [`parent`] | the end of the language server that started this process |
//! | [`runtimes`], [`stages`] | the runtimes and stages that this program is built with |
//! | [`exit`] | exit codes |
//! | [`folders`] | the folders for what is kept between runs |
//! | [`bug_report`] | panics → bug reports |
//! | [`allocator`] | settings of the memory allocator |

mod allocator;
mod bug_report;
mod cli;
mod commands;
mod exit;
mod folders;
mod interrupt;
mod json;
mod output;
mod parent;
mod prompt;
mod report;
mod runtimes;
mod source;
mod stages;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::compute();
    bug_report::install();
    parent::follow();
    nesl_engine::handle_ends();
    let arguments = cli::parse();
    match bug_report::catch(|| commands::run(&arguments)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("nesl: {error:#}");
            ExitCode::from(exit::USAGE)
        }
    }
}
