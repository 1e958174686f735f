//! Faults of running kernels.

use std::fmt;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside of any variable or allocation.
    OutOfBounds,
    /// An access to released memory.
    UseAfterFree,
    /// An address that is not a multiple of the size of the access.
    Misaligned,
    /// A read of bytes that nobody wrote.
    Uninitialised,
    /// Two accesses without an order between them, of which one writes.
    Race,
    /// A barrier that not all lanes of a warp reach together.
    BarrierDivergence,
    /// A member mask that does not fit the lanes that execute the instruction.
    MemberMask,
    /// All threads wait for each other.
    Deadlock,
    /// The launch used up its budget of instructions.
    Budget,
    /// The kernel executed `trap`.
    Trap,
}

/// The kinds with their names.
const NAMES: [(FaultKind, &str); 10] = [
    (FaultKind::OutOfBounds, "out of bounds"),
    (FaultKind::UseAfterFree, "use after free"),
    (FaultKind::Misaligned, "misaligned"),
    (FaultKind::Uninitialised, "uninitialised"),
    (FaultKind::Race, "race"),
    (FaultKind::BarrierDivergence, "barrier divergence"),
    (FaultKind::MemberMask, "member mask"),
    (FaultKind::Deadlock, "deadlock"),
    (FaultKind::Budget, "budget"),
    (FaultKind::Trap, "trap"),
];

impl FaultKind {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Returns the kind with this name.
    pub fn parse(name: &str) -> Option<FaultKind> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// A fault before its place is known.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FaultKind,
    /// The thread of the block, if it is one thread's.
    pub thread: Option<u32>,
    /// The details for a reader.
    pub message: String,
}

impl Failure {
    /// A failure of a thread.
    pub fn of_thread(kind: FaultKind, thread: u32, message: impl Into<String>) -> Failure {
        Failure { kind, thread: Some(thread), message: message.into() }
    }

    /// A failure of several threads.
    pub fn of_block(kind: FaultKind, message: impl Into<String>) -> Failure {
        Failure { kind, thread: None, message: message.into() }
    }
}

/// A fault with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The name of the kernel.
    pub kernel: String,
    /// The line of the PTX text, from 1; 0 if there is none.
    pub line: u32,
    /// The text of that line.
    pub text: String,
    /// The block, by its three coordinates.
    pub block: [u32; 3],
    /// The thread's number within the block, if it is one thread's fault.
    pub thread: Option<u32>,
    /// The details for a reader.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(f, "{} in kernel {}, block ({x}, {y}, {z})", self.kind.name(), self.kernel)?;
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        write!(f, ": {}", self.message)?;
        if self.line > 0 {
            write!(f, "\n    line {}: `{}`", self.line, self.text)?;
        }
        Ok(())
    }
}
