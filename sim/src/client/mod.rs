//! The client: finds and loads the simulated driver, sets its options, reads what it found.
//!
//! The state of the simulator is in the shared library, which cudarc and this client share within
//! a process. Once the library is loaded by its path, the loader finds it when cudarc asks for
//! `libcuda.so`, because it carries that name (`build.rs`). So call [`Client::load`] before
//! anything asks cudarc for the driver.
//!
//! ```no_run
//! let sim = nesl_sim::client::Client::load().unwrap();
//! sim.set("check", "1").unwrap();
//! // … a program that uses CUDA …
//! assert!(sim.findings().is_empty());
//! println!("{} launches", sim.counters().launches);
//! ```

mod library;

use crate::counters::{HostCounters, KernelCounters};
use crate::machine::{Fault, FaultKind};
use crate::options::Options;
use library::Library;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use library::{DRIVER_NAME, library_path};

/// The character that ends a record of a report.
pub(crate) const RECORD_END: char = '\u{1e}';

/// The character between the fields of a record.
pub(crate) const FIELD_SEPARATOR: char = '\u{1f}';

/// The reports of the simulator.
#[derive(Clone, Copy)]
pub(crate) enum Report {
    /// The options: name, value.
    Options,
    /// The counters of the host: name, value.
    Host,
    /// The counters of kernels: kernel, name, value.
    Kernels,
    /// The faults of kernels with their places.
    Findings,
}

/// The simulated driver in this process.
pub struct Client {
    library: Library,
}

impl Client {
    /// Loads the simulated driver, once per process.
    pub fn load() -> Result<&'static Client, String> {
        static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
        let client = CLIENT.get_or_init(|| {
            let library = Library::load(&library_path()?)?;
            library.attach();
            Ok(Client { library })
        });
        client.as_ref().map_err(Clone::clone)
    }

    /// Lets no other thread pass here until the guard is dropped: for tests that share the
    /// simulator of their process. The guard begins with the default options and without a
    /// context, counters or findings.
    pub fn exclusive(&'static self) -> Session {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let session = Session { client: self, _turn: turn };
        self.library.reset();
        self.library.clear();
        let _ = self.set_options(&Options::default());
        session
    }

    /// Sets one option by the name that its environment variable has, in small letters.
    pub fn set(&self, name: &str, value: &str) -> Result<(), String> {
        self.library.set(name, value)
    }

    /// Sets all options.
    pub fn set_options(&self, options: &Options) -> Result<(), String> {
        options.to_pairs().iter().try_for_each(|(name, value)| self.set(name, value))
    }

    /// Returns the options that hold.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        for fields in self.records(Report::Options) {
            if let [name, value] = &fields[..] {
                let _ = options.set(name, value);
            }
        }
        options
    }

    /// Returns what all launches did since the counters were cleared.
    pub fn counters(&self) -> KernelCounters {
        let mut sum = KernelCounters::default();
        for counters in self.counters_by_kernel().values() {
            sum.add(counters);
        }
        sum
    }

    /// Returns the same by the names of kernels.
    pub fn counters_by_kernel(&self) -> BTreeMap<String, KernelCounters> {
        let mut kernels: BTreeMap<String, KernelCounters> = BTreeMap::new();
        for fields in self.records(Report::Kernels) {
            if let [kernel, name, value] = &fields[..] {
                kernels.entry(kernel.clone()).or_default().set(name, number(value));
            }
        }
        kernels
    }

    /// Returns what the host did since the counters were cleared.
    pub fn host_counters(&self) -> HostCounters {
        let mut counters = HostCounters::default();
        for fields in self.records(Report::Host) {
            if let [name, value] = &fields[..] {
                counters.set(name, number(value));
            }
        }
        counters
    }

    /// Returns the faults since they were cleared, oldest first.
    pub fn findings(&self) -> Vec<Fault> {
        self.records(Report::Findings).iter().filter_map(|fields| fault(fields)).collect()
    }

    /// Forgets counters and findings; the peak of memory becomes what is in use now.
    pub fn clear(&self) {
        self.library.clear();
    }

    /// Destroys the context with all that it holds. Objects of cudarc that are still there get
    /// errors from then on.
    pub fn reset_device(&self) {
        self.library.reset();
    }

    fn records(&self, report: Report) -> Vec<Vec<String>> {
        let text = self.library.report(report);
        text.split_terminator(RECORD_END)
            .map(|record| record.split(FIELD_SEPARATOR).map(str::to_owned).collect())
            .collect()
    }
}

/// The simulator for one test alone.
pub struct Session {
    client: &'static Client,
    _turn: MutexGuard<'static, ()>,
}

impl std::ops::Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client
    }
}

/// Puts the simulated driver, under the name of the real one, into a folder, for the
/// `LD_LIBRARY_PATH` of another process.
pub fn install(folder: &Path) -> Result<PathBuf, String> {
    let target = folder.join(DRIVER_NAME);
    let failed = |error: std::io::Error| format!("{}: {error}", target.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::copy(library_path()?, &target).map_err(failed)?;
    Ok(target)
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

fn fault(fields: &[String]) -> Option<Fault> {
    let [kind, kernel, line, text, x, y, z, thread, message] = fields else { return None };
    Some(Fault {
        kind: FaultKind::parse(kind)?,
        kernel: kernel.clone(),
        line: number(line) as u32,
        text: text.clone(),
        block: [x, y, z].map(|extent| number(extent) as u32),
        thread: thread.parse().ok(),
        message: message.clone(),
    })
}
