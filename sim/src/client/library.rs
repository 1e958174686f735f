//! The shared library: where it lies, and its functions.

use super::Report;
use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};

/// The file name of CUDA's driver.
pub const DRIVER_NAME: &str = "libcuda.so";

/// The file name of the simulator's library.
const FILE_NAME: &str = "libnesl_sim.so";

/// The environment variable that overrides the path of the library.
const PATH_VARIABLE: &str = "NESL_SIM_LIBRARY";

/// Returns the path of the simulator's library: cargo builds it beside the executables that
/// depend on this crate.
pub fn library_path() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(PATH_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    // Tests are in `deps`, programs above it, examples and doctests beside it or elsewhere.
    let mut candidates: Vec<PathBuf> = executable
        .ancestors()
        .skip(1)
        .take(3)
        .flat_map(|folder| [folder.join(FILE_NAME), folder.join("deps").join(FILE_NAME)])
        .collect();
    candidates.retain(|path| path.is_file());
    let missing = || {
        format!(
            "{FILE_NAME} is not beside {}; `cargo build -p nesl-sim` makes it, {PATH_VARIABLE} \
             overrides its path",
            executable.display()
        )
    };
    candidates.into_iter().next().ok_or_else(missing)
}

/// The functions of the loaded library.
pub struct Library {
    set: unsafe extern "C" fn(*const c_char, *const c_char) -> c_int,
    attach: extern "C" fn(),
    clear: extern "C" fn(),
    reset: extern "C" fn(),
    report: unsafe extern "C" fn(c_int, *mut u8, usize) -> usize,
}

impl Library {
    /// Loads the library; it stays until the process ends.
    pub fn load(path: &Path) -> Result<Library, String> {
        let failed = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: the library is this very crate, built by the same cargo; loading it runs no
        // code but Rust's own.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // SAFETY: the names and the types are those of `driver::control` in this same crate.
        let functions = unsafe {
            Library {
                set: *library.get(b"nesl_sim_set\0").map_err(failed)?,
                attach: *library.get(b"nesl_sim_attach\0").map_err(failed)?,
                clear: *library.get(b"nesl_sim_clear\0").map_err(failed)?,
                reset: *library.get(b"nesl_sim_reset\0").map_err(failed)?,
                report: *library.get(b"nesl_sim_report\0").map_err(failed)?,
            }
        };
        // The functions are called for as long as the process lives.
        std::mem::forget(library);
        Ok(functions)
    }

    /// Sets an option by its name; see `nesl_sim_set`.
    pub fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let text = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let (c_name, c_value) = (text(name)?, text(value)?);
        // SAFETY: both texts end with a zero and outlive the call.
        match unsafe { (self.set)(c_name.as_ptr(), c_value.as_ptr()) } {
            0 => Ok(()),
            _ => Err(format!("option `{name}` cannot be `{value}`")),
        }
    }

    /// Tells the simulator that a client reads its findings.
    pub fn attach(&self) {
        (self.attach)();
    }

    /// Forgets all counters and findings.
    pub fn clear(&self) {
        (self.clear)();
    }

    /// Destroys the context of the device.
    pub fn reset(&self) {
        (self.reset)();
    }

    /// Returns a report as text.
    pub fn report(&self, report: Report) -> String {
        let mut bytes = Vec::new();
        loop {
            let room: usize = bytes.len();
            // SAFETY: the buffer has `room` bytes.
            let needed = unsafe { (self.report)(report as c_int, bytes.as_mut_ptr(), room) };
            if needed <= room {
                bytes.truncate(needed);
                return String::from_utf8_lossy(&bytes).into_owned();
            }
            bytes.resize(needed, 0);
        }
    }
}
