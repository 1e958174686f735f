//! The settings of the simulated device, with the same names everywhere.
//!
//! The environment variable `NESL_SIM_CHECK`, the option `check` of the client and the field
//! [`Options::check`] are one thing.

/// The order in which blocks start and warps take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockOrder {
    /// By increasing number.
    #[default]
    Forward,
    /// By decreasing number.
    Reverse,
    /// By a random permutation with random turns, the same for the same seed.
    Random,
}

/// The settings of the simulated device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Races and uninitialised reads are looked for; otherwise only addresses are checked.
    pub check: bool,
    /// The order of blocks and warps.
    pub order: BlockOrder,
    /// The seed of the random order.
    pub seed: u64,
    /// The number of blocks that run interleaved.
    pub resident_blocks: usize,
    /// The instructions that a warp executes before another one takes its turn.
    pub quantum: u32,
    /// The instructions that the warps of one launch may execute before it counts as endless.
    pub budget: u64,
    /// Nothing runs before the host waits for it.
    pub deferred: bool,
    /// In the deferred mode, work that the host polls for runs in a thread of its own, so that the host
    /// can do something meanwhile: stop a kernel, say.
    pub background: bool,
    /// The name of the simulated device, see `driver::device`; `none` for a machine without one.
    pub device: String,
    /// The bytes of device memory; 0 for what the device has.
    pub memory: usize,
    /// Every launch and every finding is printed to the standard error.
    pub log: bool,
    /// A bug put into the code or into the driver, for tests of tests.
    pub plant: Option<Plant>,
    /// The path of a real `ptxas` that must accept each module as well.
    pub ptxas: Option<String>,
    /// The path of a file without which the driver is not ready: its first call waits until the file is there.
    pub gate: Option<String>,
}

/// A bug that is put in on purpose. As text:
///
/// ```text
/// OLD => NEW      the text of modules, with one text replaced by another, everywhere
/// without OLD     the text of modules, without the lines that contain a text
/// no fills        fills of memory do nothing
/// late writes     copies to the device run when the host next waits, after what was enqueued since
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plant {
    /// One text is replaced by another in the text of modules.
    Replace(String, String),
    /// Lines that contain a text are left out of modules.
    Without(String),
    /// Fills of memory do nothing.
    NoFills,
    /// Copies to the device are not ordered with what is enqueued after them.
    LateWrites,
}

impl Plant {
    /// Reads a bug from text; returns none if the text describes none.
    fn parse(text: &str) -> Option<Plant> {
        match text {
            "no fills" => Some(Plant::NoFills),
            "late writes" => Some(Plant::LateWrites),
            _ => match (text.strip_prefix("without "), text.split_once(" => ")) {
                (Some(old), _) => Some(Plant::Without(old.to_owned())),
                (None, Some((old, new))) => Some(Plant::Replace(old.to_owned(), new.to_owned())),
                (None, None) => None,
            },
        }
    }

    /// Returns the bug as text that [`Plant::parse`] reads back.
    fn text(&self) -> String {
        match self {
            Plant::Replace(old, new) => format!("{old} => {new}"),
            Plant::Without(old) => format!("without {old}"),
            Plant::NoFills => "no fills".to_owned(),
            Plant::LateWrites => "late writes".to_owned(),
        }
    }

    /// Returns the text of a module with the bug.
    pub fn apply(&self, text: &str) -> String {
        match self {
            Plant::Replace(old, new) => text.replace(old, new),
            Plant::Without(old) => {
                text.split_inclusive('\n').filter(|line| !line.contains(old)).collect()
            }
            Plant::NoFills | Plant::LateWrites => text.to_owned(),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            check: false,
            order: BlockOrder::Forward,
            seed: 1,
            resident_blocks: 16,
            quantum: 256,
            budget: 1 << 32,
            deferred: false,
            background: false,
            device: "h100".to_owned(),
            memory: 0,
            log: false,
            plant: None,
            ptxas: None,
            gate: None,
        }
    }
}

/// The names of all options.
pub const NAMES: [&str; 14] = [
    "check",
    "order",
    "seed",
    "resident",
    "quantum",
    "budget",
    "defer",
    "background",
    "device",
    "memory",
    "log",
    "plant",
    "ptxas",
    "gate",
];

impl Options {
    /// Reads the environment: `NESL_SIM_` and the name in capitals.
    pub fn from_environment() -> Options {
        let mut options = Options::default();
        for name in NAMES {
            if let Ok(value) = std::env::var(format!("NESL_SIM_{}", name.to_uppercase()))
                && let Err(reason) = options.set(name, &value)
            {
                eprintln!("nesl-sim: {reason}");
            }
        }
        options
    }

    /// Sets one option from text.
    ///
    /// ```
    /// let mut options = nesl_sim::options::Options::default();
    /// options.set("order", "reverse").unwrap();
    /// options.set("check", "1").unwrap();
    /// assert!(options.check);
    /// assert!(options.set("order", "sideways").is_err());
    /// ```
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let bad = || format!("option `{name}` cannot be `{value}`");
        let number = || value.parse::<u64>().map_err(|_| bad());
        let switch = || match value {
            "0" | "false" | "" => Ok(false),
            "1" | "true" => Ok(true),
            _ => Err(bad()),
        };
        match name {
            "check" => self.check = switch()?,
            "order" => {
                self.order = match value {
                    "forward" => BlockOrder::Forward,
                    "reverse" => BlockOrder::Reverse,
                    "random" => BlockOrder::Random,
                    _ => return Err(bad()),
                }
            }
            "seed" => self.seed = number()?,
            "resident" => self.resident_blocks = (number()? as usize).max(1),
            "quantum" => self.quantum = (number()? as u32).max(1),
            "budget" => self.budget = number()?,
            "defer" => self.deferred = switch()?,
            "background" => self.background = switch()?,
            "device" => self.device = value.to_owned(),
            "memory" => self.memory = number()? as usize,
            "log" => self.log = switch()?,
            "plant" if value.is_empty() => self.plant = None,
            "plant" => self.plant = Some(Plant::parse(value).ok_or_else(bad)?),
            "ptxas" => self.ptxas = (!value.is_empty()).then(|| value.to_owned()),
            "gate" => self.gate = (!value.is_empty()).then(|| value.to_owned()),
            _ => return Err(format!("there is no option `{name}`")),
        }
        Ok(())
    }

    /// Returns all options as names and values, such that [`Options::set`] reads them back.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| u8::from(on).to_string();
        let order = match self.order {
            BlockOrder::Forward => "forward",
            BlockOrder::Reverse => "reverse",
            BlockOrder::Random => "random",
        };
        NAMES
            .into_iter()
            .map(|name| {
                let value = match name {
                    "check" => switch(self.check),
                    "order" => order.to_owned(),
                    "seed" => self.seed.to_string(),
                    "resident" => self.resident_blocks.to_string(),
                    "quantum" => self.quantum.to_string(),
                    "budget" => self.budget.to_string(),
                    "defer" => switch(self.deferred),
                    "background" => switch(self.background),
                    "device" => self.device.clone(),
                    "memory" => self.memory.to_string(),
                    "log" => switch(self.log),
                    "plant" => self.plant.as_ref().map(Plant::text).unwrap_or_default(),
                    "ptxas" => self.ptxas.clone().unwrap_or_default(),
                    _ => self.gate.clone().unwrap_or_default(),
                };
                (name, value)
            })
            .collect()
    }
}
