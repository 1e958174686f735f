//! The exit codes of the process, and how entries change them.

use nesl_engine::Summary;

/// All went well.
pub const OK: u8 = 0;
/// The program, or what was checked, has errors.
pub const FAILED: u8 = 1;
/// The command itself could not be carried out: bad arguments, an unreadable file.
pub const USAGE: u8 = 2;
/// A panic, which is a bug of ours: `EX_SOFTWARE` of `sysexits.h`.
pub const BUG: u8 = 70;
/// Stopped by Ctrl-C, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// The exit code after one more entry.
pub fn worse(code: u8, summary: &Summary) -> u8 {
    if summary.interrupted {
        INTERRUPTED
    } else if summary.errors > 0 {
        FAILED
    } else {
        code
    }
}
