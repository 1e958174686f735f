//! The runtimes that this program is built with, in one table: the choices of `--runtime`, which the
//! language server offers to editors, too.

use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_cpu::Cpu;
use nesl_server::options::RuntimeChoice;

/// A runtime as the command line and editors know it.
#[derive(Debug)]
pub struct RuntimeRow {
    /// Its name, and the device that it runs on.
    pub choice: RuntimeChoice,
    /// One line for `--help`.
    pub about: &'static str,
    /// True if small programs are interpreted first. Someone who asks for the interpreter of kernels wants
    /// to see kernels run.
    pub interpret_first: bool,
    /// Makes the runtime; none for the direct interpreter.
    make: fn(Options) -> Option<Box<dyn Runtime>>,
}

/// All runtimes; the first is the default.
pub static RUNTIMES: [RuntimeRow; 3] = [
    RuntimeRow {
        choice: RuntimeChoice { name: "cpu", device: cpu_device },
        about: "Compiled, on all cores",
        interpret_first: true,
        // On a machine that no code can be made for, the direct interpreter does.
        make: |options| Some(Box::new(Cpu::new(options).ok()?)),
    },
    RuntimeRow {
        choice: RuntimeChoice { name: "reference", device: || "direct interpreter".to_owned() },
        about: "The direct interpreter",
        interpret_first: false,
        make: |_| None,
    },
    RuntimeRow {
        choice: RuntimeChoice { name: "kir", device: || "interpreter of kernels".to_owned() },
        about: "The interpreter of kernels",
        interpret_first: false,
        make: |options| Some(Box::new(Reference::new(options))),
    },
];

impl RuntimeRow {
    /// Returns the runtime of a name.
    pub fn of(name: &str) -> Option<&'static RuntimeRow> {
        RUNTIMES.iter().find(|row| row.choice.name == name)
    }

    /// Makes the runtime; none for the direct interpreter.
    pub fn make(&self, options: Options) -> Option<Box<dyn Runtime>> {
        (self.make)(options)
    }
}

fn cpu_device() -> String {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => "CPU, 1 thread".to_owned(),
        threads => format!("CPU, {threads} threads"),
    }
}
