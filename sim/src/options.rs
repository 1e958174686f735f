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
    /// The name of the simulated device, see `driver::device`; `none` for a machine without one.
    pub device: String,
    /// The bytes of device memory; 0 for what the device has.
    pub memory: usize,
    /// Every launch and every finding is printed to the standard error.
    pub log: bool,
    /// The path of a real `ptxas` that must accept each module as well.
    pub ptxas: Option<String>,
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
            device: "h100".to_owned(),
            memory: 0,
            log: false,
            ptxas: None,
        }
    }
}

/// The names of all options.
pub const NAMES: [&str; 11] = [
    "check", "order", "seed", "resident", "quantum", "budget", "defer", "device", "memory", "log",
    "ptxas",
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
            "device" => self.device = value.to_owned(),
            "memory" => self.memory = number()? as usize,
            "log" => self.log = switch()?,
            "ptxas" => self.ptxas = (!value.is_empty()).then(|| value.to_owned()),
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
                    "device" => self.device.clone(),
                    "memory" => self.memory.to_string(),
                    "log" => switch(self.log),
                    _ => self.ptxas.clone().unwrap_or_default(),
                };
                (name, value)
            })
            .collect()
    }
}
