//! The program as a process of its own, run to its end.

use assert_cmd::Command;

/// The exit code and the output of a run.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Runs a command.
    pub fn of(command: &mut Command) -> Ran {
        let output = command.output().expect("it runs");
        Ran {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts that the run ended with an exit code.
    pub fn code(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }
}
