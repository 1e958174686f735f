//! The launches of a call, as data: they follow from its arguments and the size of the device alone.

/// Memory that the launches of a call share, and that is free again for what is enqueued behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// The size, in bytes.
    pub bytes: u64,
    /// True if it is zeroed before the first launch.
    pub zeroed: bool,
}

/// An argument of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// An address or a number.
    Word(u64),
    /// The address of temporary memory, by its number.
    Temporary(usize),
}

/// A launch of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the entry.
    pub entry: usize,
    /// The number of blocks.
    pub blocks: u64,
    /// The arguments behind the hidden ones.
    pub args: Vec<Argument>,
}

/// The launches of a call, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The temporary memory.
    pub temporaries: Vec<Temporary>,
    /// The launches, each behind the one before.
    pub launches: Vec<Step>,
}

/// The number of elements that a service cannot take, with the most that it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// The number of elements.
    pub elements: u64,
    /// The most that the service takes.
    pub limit: u64,
}

impl Steps {
    /// Adds temporary memory, and returns its address as an argument.
    pub fn temporary(&mut self, bytes: u64, zeroed: bool) -> Argument {
        self.temporaries.push(Temporary { bytes, zeroed });
        Argument::Temporary(self.temporaries.len() - 1)
    }

    /// Adds a launch.
    pub fn launch(&mut self, entry: usize, blocks: u64, args: Vec<Argument>) {
        self.launches.push(Step { entry, blocks, args });
    }
}

impl From<u64> for Argument {
    fn from(word: u64) -> Argument {
        Argument::Word(word)
    }
}
