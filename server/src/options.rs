//! The options that a client may choose (`docs/book/src/protocol.md`).

use nesl_core::ide;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The options; whatever is missing, or is not what it should be, is as by default.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    /// The runtime that programs run on.
    #[serde(deserialize_with = "lenient")]
    pub runtime: Runtime,
    /// Bits of an int and of a float.
    #[serde(deserialize_with = "lenient")]
    pub precision: Precision,
    /// The way in which values of runs come back.
    #[serde(deserialize_with = "lenient")]
    pub values: Values,
    /// Lenses above functions and expressions.
    #[serde(deserialize_with = "lenient")]
    pub lenses: Shown,
    /// The client has the command `nesl.showIr`.
    #[serde(deserialize_with = "lenient")]
    pub preview: bool,
    /// The client has the command `nesl.runFunction`.
    #[serde(deserialize_with = "lenient")]
    pub ask_arguments: bool,
    /// The client can show texts of the scheme `nesl-library`.
    #[serde(deserialize_with = "lenient")]
    pub library: bool,
    /// Inlay hints.
    #[serde(deserialize_with = "lenient")]
    pub hints: Hints,
}

/// Something that is shown unless it is turned off.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub struct Shown(pub bool);

/// The runtime that programs run on, by its name in `nesl run --runtime`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "they are what the command line calls them")]
pub enum Runtime {
    #[default]
    Cpu,
    Reference,
    Kir,
}

/// The way in which values of runs come back.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// As inlay hints at the ends of lines.
    #[default]
    Hints,
    /// As `nesl/values`.
    Notification,
    /// Not at all.
    Off,
}

/// The width of numbers.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(try_from = "u32")]
pub enum Precision {
    /// 32-bit ints and single floats.
    Single,
    /// 64-bit ints and double floats.
    #[default]
    Double,
}

/// The inlay hints that are shown.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// Types.
    pub types: bool,
    /// Hints at lines that run in parallel.
    pub parallelism: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            runtime: Runtime::default(),
            precision: Precision::default(),
            values: Values::default(),
            lenses: Shown(true),
            preview: false,
            ask_arguments: false,
            library: false,
            hints: Hints::default(),
        }
    }
}

impl Default for Hints {
    fn default() -> Hints {
        Hints { types: true, parallelism: false }
    }
}

impl Default for Shown {
    fn default() -> Shown {
        Shown(true)
    }
}

impl TryFrom<u32> for Precision {
    type Error = String;

    fn try_from(bits: u32) -> Result<Precision, String> {
        match bits {
            32 => Ok(Precision::Single),
            64 => Ok(Precision::Double),
            other => Err(format!("{other} bits")),
        }
    }
}

impl Precision {
    /// Bits.
    pub fn bits(self) -> u32 {
        match self {
            Precision::Single => 32,
            Precision::Double => 64,
        }
    }

    /// As the compiler says it.
    pub fn core(self) -> ide::Precision {
        match self {
            Precision::Single => ide::Precision::Bits32,
            Precision::Double => ide::Precision::Bits64,
        }
    }
}

impl Runtime {
    /// As the command line says it.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Cpu => "cpu",
            Runtime::Reference => "reference",
            Runtime::Kir => "kir",
        }
    }

    /// For a status bar.
    pub fn device(self) -> String {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        match self {
            Runtime::Cpu if threads == 1 => "CPU, 1 thread".to_owned(),
            Runtime::Cpu => format!("CPU, {threads} threads"),
            Runtime::Reference => "direct interpreter".to_owned(),
            Runtime::Kir => "interpreter of kernels".to_owned(),
        }
    }
}

impl Options {
    /// From what the client sent.
    pub fn read(value: Option<Value>) -> Options {
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }
}

/// A value that is of the wrong sort is as if it were missing: an editor must not fail to start
/// because of a setting.
fn lenient<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + serde::de::DeserializeOwned,
    D: Deserializer<'de>,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wrong_is_as_by_default() {
        let given = json!({
            "runtime": "reference", "precision": 48, "values": "notification", "lenses": "yes",
            "hints": { "types": false }, "unheard": 1,
        });
        let options = Options::read(Some(given));
        assert_eq!(options.runtime, Runtime::Reference);
        assert_eq!(options.precision, Precision::Double);
        assert_eq!(options.values, Values::Notification);
        assert!(options.lenses.0 && !options.hints.types && !options.preview);
        assert_eq!(Options::read(Some(json!(3))).runtime, Runtime::Cpu);
        assert_eq!(Options::read(None).runtime, Runtime::Cpu);
    }
}
