//! The options that a client may choose (`docs/book/src/protocol.md`).

use nesl_core::ide;
use nesl_runtime::runtime;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The options; one that is missing or has a value of the wrong type has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    /// The runtime that programs run on; the program's default if none is known.
    #[serde(skip)]
    pub runtime: Option<RuntimeChoice>,
    /// Bits of an int and of a float.
    #[serde(deserialize_with = "lenient")]
    pub precision: Precision,
    /// The way in which values of runs come back.
    #[serde(deserialize_with = "lenient")]
    pub values: Values,
    /// Lenses above functions and expressions.
    #[serde(deserialize_with = "lenient")]
    pub lenses: Lenses,
    /// The client has the command `nesl.showIr`.
    #[serde(deserialize_with = "lenient")]
    pub preview: bool,
    /// The client has the command `nesl.runFunction`.
    #[serde(deserialize_with = "lenient")]
    pub ask_arguments: bool,
    /// The client can show texts of the scheme `nesl-library`.
    #[serde(deserialize_with = "lenient")]
    pub library: bool,
    /// The inlay hints that are shown.
    #[serde(deserialize_with = "lenient")]
    pub hints: Hints,
    /// The client asks for diagnostics, and is not sent any unasked.
    #[serde(deserialize_with = "lenient")]
    pub pull: bool,
}

/// The lenses that are shown: each kind unless it is turned off, or all of them by one switch.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "LensesGiven")]
pub struct Lenses {
    /// The lens that runs a form, and stops it.
    pub run: bool,
    /// The lens that shows the compiled form.
    pub ir: bool,
    /// The lens that measures work and depth.
    pub cost: bool,
}

impl Lenses {
    /// Returns true if there are any.
    pub fn any(self) -> bool {
        self.run || self.ir || self.cost
    }
}

/// One switch for all lenses, or one for each kind.
#[derive(Deserialize)]
#[serde(untagged)]
enum LensesGiven {
    All(bool),
    Each { run: Option<bool>, ir: Option<bool>, cost: Option<bool> },
}

impl From<LensesGiven> for Lenses {
    fn from(given: LensesGiven) -> Lenses {
        match given {
            LensesGiven::All(shown) => Lenses { run: shown, ir: shown, cost: shown },
            LensesGiven::Each { run, ir, cost } => Lenses {
                run: run.unwrap_or(true),
                ir: ir.unwrap_or(true),
                cost: cost.unwrap_or(true),
            },
        }
    }
}

impl Default for Lenses {
    fn default() -> Lenses {
        Lenses { run: true, ir: true, cost: true }
    }
}

/// A runtime that an editor can choose. The program that serves knows which there are.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeChoice {
    /// Its name in `nesl run --runtime`.
    pub name: &'static str,
    /// The device that it runs on, for a status bar.
    pub device: fn(&runtime::Options) -> String,
}

/// The way in which values of runs come back.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// As inlay hints at the ends of lines.
    #[default]
    Hints,
    /// As notifications `nesl/values`.
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
    /// Types of bindings, parameters and results.
    pub types: bool,
    /// Hints at lines that run in parallel.
    pub parallelism: bool,
}

impl Default for Hints {
    fn default() -> Hints {
        Hints { types: true, parallelism: false }
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
    /// Returns the number of bits of an int and of a float.
    pub fn bits(self) -> u32 {
        match self {
            Precision::Single => 32,
            Precision::Double => 64,
        }
    }

    /// Returns the compiler's value for it.
    pub fn core(self) -> ide::Precision {
        match self {
            Precision::Single => ide::Precision::Bits32,
            Precision::Double => ide::Precision::Bits64,
        }
    }
}

impl Options {
    /// Reads the options that the client sent; a runtime that is missing or unknown is the first of
    /// `runtimes`.
    pub fn read(value: Option<Value>, runtimes: &[RuntimeChoice]) -> Options {
        let name = value.as_ref().and_then(|value| value.get("runtime")?.as_str());
        let named = runtimes.iter().find(|runtime| Some(runtime.name) == name);
        let runtime = named.or(runtimes.first()).copied();
        let given: Option<Options> = value.and_then(|value| serde_json::from_value(value).ok());
        Options { runtime, ..given.unwrap_or_default() }
    }
}

/// Treats a value of the wrong type as missing: an editor must not fail to start because of a setting.
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
        let runtimes = ["cpu", "reference"]
            .map(|name| RuntimeChoice { name, device: |_| "a device".to_owned() });
        let read = |value| Options::read(value, &runtimes);
        let runtime = |value| read(value).runtime.map(|runtime| runtime.name);
        let options = read(Some(given.clone()));
        assert_eq!(runtime(Some(given)), Some("reference"));
        assert_eq!(options.precision, Precision::Double);
        assert_eq!(options.values, Values::Notification);
        assert!(options.lenses.run && !options.hints.types && !options.preview);
        assert_eq!(runtime(Some(json!({ "runtime": "abacus" }))), Some("cpu"));
        assert_eq!(runtime(Some(json!(3))), Some("cpu"));
        let lenses = |value| read(Some(json!({ "lenses": value }))).lenses;
        assert_eq!(lenses(json!(false)), Lenses { run: false, ir: false, cost: false });
        assert_eq!(lenses(json!({ "ir": false })), Lenses { run: true, ir: false, cost: true });
        assert_eq!(runtime(None), Some("cpu"));
    }
}
