//! The arguments of the command line.

use crate::folders;
use crate::runtimes::RUNTIMES;
use crate::stages::STAGES;
use anyhow::anyhow;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use nesl_engine::session::{Precision, Strategy, Version};
use nesl_engine::{Settings, ShownValues, Stage};
use nesl_interactive::display::{Style, limits};
use nesl_interactive::growth::{SEEDS_PER_SIZE, size};
use nesl_interactive::runtimes::{self, RuntimeRow};
use nesl_interactive::state::Setup;
use nesl_interactive::state::commands::{self, bytes};
use nesl_interactive::unknown::nearest;
use nesl_runtime::runtime::{self, Runtime};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  nesl                                        start an interactive session
  nesl eval '{sum(a) : a in [[2,3],[8,3,9],[7]]}'
                                              prints  it = [5, 20, 7] : [int]
  nesl run quicksort.nesl                     run a program
  nesl repl quicksort.nesl                    try what it defines
  nesl check --json *.nesl                    find errors without running, for editors
  nesl fmt --check *.nesl                     is everything formatted?
  nesl cost -e 'sum([0:n])' --sizes 1e3,1e4,1e5
                                              how work and depth grow
  nesl doc plus_scan                          what a function does

Exit codes: 0 all well; 1 errors in the program; 2 bad arguments or unreadable files;
70 a bug in nesl; 130 interrupted by Ctrl-C.";

const ABOUT: &str = "NESL, the nested data-parallel language: run, check, format, explain, explore.

Without a command, nesl starts an interactive session (or, if standard input is not a terminal,
runs the forms it reads there).";

/// The notation of flat programs, which `nesl ir --help` shows.
const FLAT_NOTATION: &str = "\
How to read the stages from flat to fused:
  s0                       the caller's index space: one element, or one for each call at once
  s1 = elements v0 of s0   an index space: the elements of the sequence v0, for each element of s0
  s1 = count v3 of s0      v3 elements for each element of s0: an apply-to-each over a range
  s2 = filter v6 of s1     the elements of s1 for which v6 is true (not v6: false)
  v4: int in s1 = mul(…)   a value for each element of s1, all of them at once
  element(v0)              the element of v0 itself; `after v7`: once v7 has been checked
  collect v4 from s1       the values v4 as sequences, one for each element of the space around s1
  reduce_sum v4 from s1    the same with their sums
  if v2 in s1 … else in s2 the elements for which v2 is true, then the others
  versions … or …          two ways to the same value; the sizes decide which one runs
  kernel 1 over s2 stores v4 { … }  steps in one pass over s2, of which only v4 is stored";

/// A notebook is shown about so many bytes of a value as text: some screens of a long string.
const MAX_BRIEF_BYTES: usize = 8 << 10;

/// A notebook is shown about so many bytes of a value that is asked for as a whole.
const MAX_FULL_BYTES: usize = 1 << 20;

/// A session that another program shows gives its device back once it was idle for so long.
const DEFAULT_IDLE: Duration = Duration::from_mins(15);

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "nesl", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The details shown about the forms of the session.
    #[command(flatten)]
    pub measures: Measures,
    /// The settings of every command.
    #[command(flatten)]
    pub global: Global,
}

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Use colours: auto, always or never (NO_COLOR is respected)
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        value_enum,
        hide_possible_values = true
    )]
    pub color: Color,
    /// Print only what programs print themselves, and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Show at most N elements of a sequence, or `all` [default: 100]
    #[arg(long, global = true, value_name = "N", value_parser = print_length)]
    pub print_length: Option<Length>,
    /// Bits of an int and of a float: 64 or 32
    #[arg(
        long,
        global = true,
        value_name = "BITS",
        default_value = "64",
        value_enum,
        hide_possible_values = true
    )]
    pub precision: Bits,
    /// Run programs on `cpu` (compiled), `ptx` (compiled, on an NVIDIA GPU), `reference` (the direct
    /// interpreter) or `kir` (the interpreter of kernels)
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        default_value = RUNTIMES[0].name,
        value_parser = runtime(),
        hide_possible_values = true
    )]
    pub runtime: &'static RuntimeRow,
    /// Compute on at most N threads, 1 to 1024 [default: one for each core]
    #[arg(long, global = true, value_name = "N", value_parser = commands::threads)]
    pub threads: Option<usize>,
    /// Let arrays take at most so many bytes, such as 500M or 4G [default: most of the memory]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Let calls within each other take at most so many bytes of a stack, such as 1G [default: 128M]
    #[arg(long, global = true, value_name = "BYTES", value_parser = commands::stack_bytes)]
    pub stack: Option<u64>,
    /// Use at most so many bytes of a GPU's memory, such as 500M or 20G [default: all it has]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub device_memory: Option<u64>,
    /// Compile every program, however small, instead of interpreting small ones first: for tests of a
    /// runtime
    #[arg(long, global = true, hide = true)]
    pub always_compile: bool,
    /// Version of multi-versioned computations: `auto` (the strategy decides once sizes are known),
    /// `sequential` (sequential code for each element) or `flattened` (all elements at once)
    #[arg(
        long,
        global = true,
        value_name = "VERSION",
        default_value = "auto",
        value_enum,
        hide_possible_values = true
    )]
    pub strategy: StrategyName,
    /// Stop fusing after N steps, to find the one that goes wrong [default: never]
    #[arg(long, global = true, value_name = "N")]
    pub fuel: Option<u32>,
    /// Write the pictures that programs draw to this folder [default: the current one]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    /// Seed of the random numbers
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// The details shown about forms besides their values.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Tell how long every form took, and how much of that was compiling, on standard error
    #[arg(long)]
    pub time: bool,
    /// At the end tell what the runtime did and where the variables are, on standard error
    #[arg(long)]
    pub stats: bool,
    /// At the end list the kernels and what each took, on standard error
    #[arg(long)]
    pub profile: bool,
    /// Print an object a line, for every form that is evaluated, instead of its value
    #[arg(long)]
    pub json: bool,
}

/// The use of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If it is a terminal
    Auto,
    /// Use colours always
    Always,
    /// Use no colours at all
    Never,
}

/// The width of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bits {
    /// 32-bit ints and single floats
    #[value(name = "32")]
    Single,
    /// 64-bit ints and double floats
    #[value(name = "64")]
    Double,
}

/// The choice between the versions of a multi-versioned computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// The strategy decides when the sizes are known
    Auto,
    /// Sequential code for each element, wherever there is such a version
    #[value(alias = "whole")]
    Sequential,
    /// Flattened, all elements at once, wherever there is such a version
    #[value(alias = "flat")]
    Flattened,
}

/// A limit on what is shown; `None` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length(pub Option<usize>);

/// The commands of the tool.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run programs and print the result of every top-level form
    #[command(after_help = "\
Each form prints one line: `it = VALUE : TYPE` for an expression, `x = VALUE : TYPE` for a binding,
`f = fn : TYPE` for a function. Errors go to standard error with their place; forms after a failing
one still run. Several files run one after the other in the same session. At the end every window
that was drawn on is written as a picture, TITLE.svg.

With --json there is one object a line on standard output for every form that is evaluated, and what
programs print goes to standard error. Its fields:
  file, line       where the form is, counted from 1
  name, type       the variable or variables; the type as printed
  value            as printed; null for sequences if --quiet leaves them where they are
  data             the value as JSON if it is printed whole (all are with --print-length all), else null:
                   numbers, true and false, strings for chars and texts, arrays for tuples and sequences,
                   objects with one field, their name, for datatypes; floats that JSON lacks are the
                   strings nan, infinity and -infinity
  seconds          in all, without reading and printing the value
  compile_seconds  of these, from the text to the machine's code; what another thread compiles
                   meanwhile does not count
  run_seconds      the rest
  on_runtime       false if the direct interpreter did it
  launches, modules, transferred
                   kernels executed, modules compiled, bytes to and from the runtime
  reads, writes, drains
                   transfers to and from the runtime, and how often the host waited for it
  bytes, peak_bytes
                   of the runtime's arrays: afterwards, and the most so far
  work, depth      if the direct interpreter has counted them, as with --runtime reference
A problem is an object with the one field `problem`, whose fields are those of `nesl check --json`.
With --stats there is one more object at the end, with the one field `stats`: launches, modules,
cached (the modules whose code was on disk), compile_seconds, ahead_seconds (what another thread
compiled meanwhile, needed or not), transferred, reads, writes, drains, bytes, peak_bytes of the
session, its runtime, shares, objects with runtime and launches of a GPU and of the CPU that does what
the GPU cannot, refused, objects with kernel, reason and launches of what the GPU cannot, unsupported,
objects with reason and programs (how many one thread ran because they could not be flattened), and
variables, objects with name, type, host_bytes, runtime_bytes (null where the value is not) and
shadowed.
With --profile there is one with the one field `profile`: objects with kernel, launches, points (the
number of elements over all launches), seconds and compile_seconds. A kernel is named after its
function and its number in the output of `nesl ir --stage fused`; `form` is a form that one thread
executed sequentially.

`nesl FILE ARGUMENT …` is short for `nesl run FILE -- ARGUMENT …`, so that a program can begin with a line
`#!/usr/bin/env nesl`. Programs ask for their arguments by `arguments(0)`.

Examples:
  nesl run primes.nesl
  nesl run primes.nesl -- 1000
  nesl run library.nesl main.nesl
  nesl run --time --stats primes.nesl
  echo '1 + 2;' | nesl run -")]
    Run {
        /// Files to run in order; `-` is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Arguments of the programs, which they ask for by `arguments(0)`
        #[arg(last = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
        /// The details shown besides values
        #[command(flatten)]
        measures: Measures,
    },
    /// Start an interactive session that knows what files define
    #[command(after_help = "\
The definitions of the files are run in order, their expressions are not: `nesl run` is for those.
In the session `:reload` reads the files again.

Examples:
  nesl repl quicksort.nesl
  echo 'quicksort([3, 1, 2]);' | nesl repl quicksort.nesl")]
    Repl {
        /// Files with definitions
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Enter this first, as if it were typed
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        first: Option<String>,
        /// The details shown besides values
        #[command(flatten)]
        measures: Measures,
    },
    /// Evaluate expressions, or any forms, given as arguments
    #[command(after_help = "\
The closing `;` may be left out. Arguments are evaluated in order in one session; after `--` they
may begin with a minus sign.

Examples:
  nesl eval '{a * a : a in [3, -4, -9, 5]}'
  nesl eval 'function dbl(x) = x + x' 'dbl(21)'
  nesl eval --json --print-length all 'sqrt(2.0)'  as `nesl run --json` does")]
    Eval {
        /// Forms as NESL text
        #[arg(required = true, value_name = "EXPR", allow_negative_numbers = true)]
        texts: Vec<String>,
        /// The details shown besides values
        #[command(flatten)]
        measures: Measures,
    },
    /// Find errors without running anything
    #[command(after_help = "\
Several files are checked as if they ran one after the other in the same session, and the files that
they load are checked with them.

With --json every problem is one line, an object with these fields:
  kind      syntax, name, type or runtime
  severity  error or warning
  message   one line
  file, line, column, end_line, end_column
            the place; counted from 1, the end is exclusive, columns are characters
  label     what to say at that place, or an empty string
  labels    further places: objects with text and the fields of a place
  notes     sentences
  hints     ways out: objects with text and edit, which is null or the fields of a place and
            `replacement`, the text to put there

Examples:
  nesl check quicksort.nesl
  nesl check --types quicksort.nesl
  nesl check --json src/*.nesl")]
    Check {
        /// Files to check, each by itself; `-` is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print problems as JSON, one object a line, on standard output
        #[arg(long)]
        json: bool,
        /// Print every definition with its type
        #[arg(long, conflicts_with = "json")]
        types: bool,
    },
    /// Format programs in place
    #[command(after_help = "\
Examples:
  nesl fmt *.nesl
  nesl fmt --check *.nesl     list the files that are not formatted; exit code 1 if there are any
  nesl fmt - < a.nesl         format standard input to standard output")]
    Fmt {
        /// Files to format; `-` is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Change nothing; list what is not formatted
        #[arg(long)]
        check: bool,
    },
    /// Show a program as one of the compiler's stages sees it
    #[command(after_long_help = FLAT_NOTATION)]
    Ir {
        /// The file; `-` is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The stage of the compiler to show
        #[arg(long, value_parser = stage(), default_value = "ir")]
        stage: Stage,
        /// Only this function
        #[arg(long, short, value_name = "NAME")]
        function: Option<String>,
    },
    /// Measure work and depth, and how they grow
    #[command(after_help = "\
Work is the number of operations, depth the longest chain of them that must run one after the
other, parallelism their ratio: how many processors could be kept busy.

With --sizes, EXPR is a function's name, which is applied to each size, or an expression in which
`n` stands for the size. What EXPR does to make its input is measured, too; inputs that --given binds
are computed before and left out. A function's name is then called with these inputs.

A program that draws random numbers is run with several seeds at each size: that of the option --seed,
and those after it. The laws are fitted to the means.

Examples:
  nesl cost quicksort.nesl
  nesl cost -e 'sum([0:1000])'
  nesl cost -e 'sum([0:n])' --sizes 1e2,3e2,1e3,3e3,1e4
  nesl cost -e sort --given 'xs = {rand(n) : i in [0:n]}' --sizes 1e2,3e2,1e3,3e3,1e4 --plot
  nesl cost -e primes --sizes 1e3,3e3,1e4,3e4,1e5 --setup primes.nesl --svg primes.svg")]
    Cost(CostArgs),
    /// Serve an editor: a language server on standard input and output
    #[command(after_help = "\
Editors start this by themselves; see editors/ for how to set them up. It speaks LSP 3.17, and what
the book's page \"What the language server speaks\" says beyond that.")]
    Lsp {
        /// Accepted because clients pass it to other servers; this one uses it anyway
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Serve another program: a session on standard input and output, in JSON
    #[command(after_help = "\
The Python module `nesl` uses this. Requests and answers are objects, one a line; the head of
interactive/src/serve.rs describes them.")]
    Serve,
    /// Serve a notebook: a Jupyter kernel; install it for Jupyter
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "\
Jupyter starts kernels by itself, with a connection file, once `nesl kernel install` has told it how.
The options of every command that are given to `install` are those that the kernel starts with.

Examples:
  nesl kernel install                          for the user who runs it
  nesl kernel install --sys-prefix             into the active Python environment
  nesl kernel install --name nesl-gpu --display-name 'NESL on the GPU' --runtime ptx
  nesl kernel doctor                           what is wrong, and what to do"
    )]
    Kernel(KernelArgs),
    /// List the devices that programs can run on, and what was looked for
    #[command(after_help = "\
Examples:
  nesl devices
  nesl --runtime ptx run --stats primes.nesl")]
    Devices {
        /// Print an object a line
        #[arg(long)]
        json: bool,
    },
    /// Explain a function, operator or command
    Doc {
        /// The name of the function or operator
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}

/// The arguments of `nesl cost`.
#[derive(Args, Debug)]
pub struct CostArgs {
    /// A program whose forms are measured
    #[arg(value_name = "FILE", required_unless_present = "expr")]
    pub file: Option<PathBuf>,
    /// An expression to measure
    #[arg(long, short, value_name = "EXPR", allow_hyphen_values = true)]
    pub expr: Option<String>,
    /// An input that is computed before and left out of the cost; may see `n` and the inputs before it
    #[arg(long, value_name = "NAME = EXPR", requires = "expr")]
    pub given: Vec<String>,
    /// Sizes to measure it at, such as `1e3,3e3,1e4,3e4,1e5`: five or more to find how it grows
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = size, requires = "expr")]
    pub sizes: Vec<u64>,
    /// Definitions to load first
    #[arg(long, value_name = "FILE", requires = "expr")]
    pub setup: Option<PathBuf>,
    /// Seeds to measure each size with, if random numbers are drawn
    #[arg(long, value_name = "N", default_value_t = SEEDS_PER_SIZE, requires = "sizes",
        value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Plot work and depth over the sizes, in characters
    #[arg(long, requires = "sizes", conflicts_with = "json")]
    pub plot: bool,
    /// Plot work and depth over the sizes into an SVG file
    #[arg(long, value_name = "FILE", requires = "sizes")]
    pub svg: Option<PathBuf>,
    /// Charge a scan or reduction of n elements a depth of log₂ n instead of 1
    #[arg(long)]
    pub log_scan: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `nesl kernel`.
#[derive(Args, Debug)]
pub struct KernelArgs {
    /// The action besides serving
    #[command(subcommand)]
    pub action: Option<KernelAction>,
    /// The file in which Jupyter says where to listen
    #[arg(long, short = 'f', value_name = "FILE")]
    pub connection_file: Option<PathBuf>,
    /// Give the device back after so many seconds without a cell, or `off` [default: 900]
    #[arg(long, value_name = "SECONDS", value_parser = idle)]
    pub idle: Option<Idle>,
}

/// The time without a cell after which a kernel gives its device back; `None` for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle(pub Option<Duration>);

/// The actions of `nesl kernel` besides serving.
#[derive(Debug, Subcommand)]
pub enum KernelAction {
    /// Serve the clients of a connection file
    Start {
        /// The file in which Jupyter says where to listen
        #[arg(long, short = 'f', value_name = "FILE")]
        connection_file: PathBuf,
        /// Give the device back after so many seconds without a cell, or `off` [default: 900]
        #[arg(long, value_name = "SECONDS", value_parser = idle)]
        idle: Option<Idle>,
    },
    /// Tell Jupyter about the kernel: its kernelspec, and the colours for JupyterLab
    Install {
        /// The place to install to
        #[command(flatten)]
        place: KernelPlace,
        /// The name shown to people [default: NESL]
        #[arg(long, value_name = "TEXT")]
        display_name: Option<String>,
        /// Let kernels give the device back after so many seconds without a cell, or `off` [default: 900]
        #[arg(long, value_name = "SECONDS", value_parser = idle)]
        idle: Option<Idle>,
    },
    /// Take away what `install` has written
    Uninstall {
        /// The place that it was installed to
        #[command(flatten)]
        place: KernelPlace,
    },
    /// Find out why the kernel does not work, and what to do
    Doctor {
        /// The name of the kernel, as in `install`
        #[arg(long, value_name = "NAME", default_value = "nesl")]
        name: String,
    },
}

/// A place where Jupyter looks for kernels.
#[derive(Args, Clone, Debug)]
pub struct KernelPlace {
    /// For the user only; this is the default
    #[arg(long, conflicts_with_all = ["prefix", "sys_prefix"])]
    pub user: bool,
    /// Below this folder, in share/jupyter
    #[arg(long, value_name = "FOLDER", conflicts_with = "sys_prefix")]
    pub prefix: Option<PathBuf>,
    /// In the Python environment that is active
    #[arg(long)]
    pub sys_prefix: bool,
    /// The name that programs know the kernel by
    #[arg(long, value_name = "NAME", default_value = "nesl")]
    pub name: String,
}

impl Measures {
    /// The measures that either asks for.
    pub fn or(self, other: Measures) -> Measures {
        Measures {
            time: self.time || other.time,
            stats: self.stats || other.stats,
            profile: self.profile || other.profile,
            json: self.json || other.json,
        }
    }
}

/// Reads the command line; prints help, the version or what is wrong with it, and exits.
pub fn parse() -> Cli {
    let arguments = with_command(with_blanks(std::env::args_os().collect()));
    Cli::try_parse_from(&arguments).unwrap_or_else(|error| with_nearest(error, &arguments).exit())
}

/// Replaces the commands that an error about an unknown one suggests by those within a few keystrokes of it: clap
/// compares words by the letters that they share, and takes `rn` for `kernel`.
fn with_nearest(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let mut command = &Cli::command();
    for word in arguments.iter().skip(1).take_while(|word| **word != **unknown) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let names = command.get_subcommands().map(|known| known.get_name().to_owned());
    let near = nearest(unknown, names);
    error.remove(ContextKind::SuggestedSubcommand);
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
    error
}

/// Puts a blank before the expressions of `nesl eval` that begin with a minus sign and cannot be options:
/// `-7/2`, `-(x)`. An expression means the same with it, and an option may still follow.
fn with_blanks(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let eval = arguments[..end].iter().position(|argument| argument == "eval").unwrap_or(end);
    for argument in &mut arguments[eval..end] {
        let text = argument.to_str().unwrap_or_default();
        let after = text.strip_prefix('-').and_then(|rest| rest.chars().next());
        if after.is_some_and(|c| c != '-' && !c.is_ascii_alphabetic()) {
            *argument = format!(" {text}").into();
        }
    }
    arguments
}

/// Adds the command to `nesl FILE ARGUMENT …`, which is short for `nesl run FILE -- ARGUMENT …`: the
/// system calls a program so that begins with `#!/usr/bin/env nesl`.
fn with_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = arguments.get(1) else { return arguments };
    let is_command = first.to_str().is_some_and(|first| {
        first.starts_with('-') || first == "help" || Cli::command().find_subcommand(first).is_some()
    });
    // What is named like a program and is not there is reported as such.
    let is_program = Path::new(first).extension().is_some_and(|extension| extension == "nesl");
    if is_command || !(is_program || Path::new(first).is_file()) {
        return arguments;
    }
    if arguments.len() > 2 {
        arguments.insert(2, "--".into());
    }
    arguments.insert(1, "run".into());
    arguments
}

impl Global {
    /// The settings of a session.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings {
            precision: match self.precision {
                Bits::Single => Precision::Bits32,
                Bits::Double => Precision::Bits64,
            },
            seed: self.seed,
            strategy: match self.strategy {
                StrategyName::Auto => Strategy::Auto,
                StrategyName::Sequential => Strategy::Always(Version::Sequential),
                StrategyName::Flattened => Strategy::Always(Version::Flattened),
            },
            fuel: self.fuel,
            shown: if self.quiet { ShownValues::Scalars } else { ShownValues::All },
            interpret_first: self.runtime.interpret_first && !self.always_compile,
            ..Settings::default()
        };
        if let Some(Length(length)) = self.print_length {
            settings.print_length = length;
        }
        settings.max_bytes = self.memory.unwrap_or(settings.max_bytes);
        settings.max_stack_bytes = self.max_stack_bytes().unwrap_or(settings.max_stack_bytes);
        settings
    }

    /// Returns the way in which a session begins that another program shows.
    pub fn served(&self) -> Setup {
        Setup {
            settings: Settings {
                shown: ShownValues::Expressions,
                data: Some(limits()),
                print_bytes: Some(MAX_BRIEF_BYTES),
                ..self.settings()
            },
            runtimes: &RUNTIMES,
            runtime: self.runtime,
            options: self.options(),
            idle: Some(DEFAULT_IDLE),
            display: Style {
                html: true,
                brief_bytes: Some(MAX_BRIEF_BYTES),
                full_bytes: Some(MAX_FULL_BYTES),
                ..Style::default()
            },
            extra: &[],
        }
    }

    fn max_stack_bytes(&self) -> Option<usize> {
        self.stack.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// The limits of the runtime; its interrupt flag is to be set.
    pub fn options(&self) -> runtime::Options {
        let mut options = runtime::Options {
            device_memory: self.device_memory,
            cache: folders::cache(),
            ..runtime::Options::default()
        };
        options.memory = self.memory.unwrap_or(options.memory);
        options.max_stack_bytes = self.max_stack_bytes().unwrap_or(options.max_stack_bytes);
        options.threads = self.threads.unwrap_or(options.threads);
        options
    }

    /// Returns the options that were given of those that matter to a session of its own, as arguments
    /// of a command line.
    pub fn as_arguments(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                all.extend([format!("--{name}"), value]);
            }
        };
        let given = |given: bool, value: String| given.then_some(value);
        add("runtime", given(self.runtime.name != RUNTIMES[0].name, self.runtime.name.to_owned()));
        add("threads", self.threads.map(|threads| threads.to_string()));
        add("memory", self.memory.map(|bytes| bytes.to_string()));
        add("stack", self.stack.map(|bytes| bytes.to_string()));
        add("device-memory", self.device_memory.map(|bytes| bytes.to_string()));
        add("precision", given(self.precision == Bits::Single, "32".to_owned()));
        add("seed", given(self.seed != 0, self.seed.to_string()));
        add(
            "print-length",
            self.print_length.map(|Length(length)| {
                length.map_or_else(|| "all".to_owned(), |length| length.to_string())
            }),
        );
        all
    }

    /// Makes the runtime that the programs of a session run on; none for the direct interpreter.
    /// Fails if this machine does not have it.
    pub fn runtime(&self, interrupt: Arc<AtomicBool>) -> anyhow::Result<Option<Box<dyn Runtime>>> {
        let options = runtime::Options { interrupt, ..self.options() };
        (self.runtime.make)(options).map_err(|missing| self.missing(&missing))
    }

    /// The error for a runtime that this machine does not have.
    pub fn missing(&self, missing: &str) -> anyhow::Error {
        let name = self.runtime.name;
        anyhow!(
            "--runtime {name}: {missing}; `nesl devices` tells what was looked for, and \
             --runtime cpu runs on this machine"
        )
    }

    /// Returns true if output to `stream` is coloured.
    pub fn colors(&self, stream: &impl IsTerminal) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
                !unwanted && !dumb && stream.is_terminal()
            }
        }
    }
}

/// A stage of the compiler, or of a back end, by name.
fn stage() -> impl TypedValueParser<Value = Stage> {
    let names = STAGES.iter().map(|stage| PossibleValue::new(stage.name()).help(stage.about()));
    PossibleValuesParser::new(names).map(|name| Stage::of(STAGES, &name))
}

/// A runtime, by name.
fn runtime() -> impl TypedValueParser<Value = &'static RuntimeRow> {
    let names = RUNTIMES.iter().map(|row| PossibleValue::new(row.name).help(row.about));
    PossibleValuesParser::new(names)
        .try_map(|name| runtimes::named(&RUNTIMES, &name).ok_or("there is no such runtime"))
}

fn idle(text: &str) -> Result<Idle, String> {
    commands::idle(text).map(Idle)
}

fn print_length(text: &str) -> Result<Length, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(Length(None));
    }
    match text.parse() {
        Ok(length) => Ok(Length(Some(length))),
        Err(_) => Err("give a number, or `all`".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
