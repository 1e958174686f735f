//! Values as JSON, for programs.

use nesl_engine::data::{DataLimits, Node, Shown};
use serde_json::{Map, Number, Value, json};

/// The size in bytes up to which a value is read whole where sequences are abbreviated.
const MAX_READ_BYTES: u64 = 1 << 20;

/// Returns what a session must read of values for [`whole`].
pub fn limits(print_length: Option<usize>) -> DataLimits {
    let whole_bytes = if print_length.is_some() { MAX_READ_BYTES } else { u64::MAX };
    DataLimits { whole_bytes, head_elements: 0, tail_elements: 0 }
}

/// Returns a value as JSON: numbers, bools, strings for chars and texts, arrays for tuples and sequences,
/// an object with the fields under the name of a datatype, null for functions. Floats that JSON lacks are
/// the strings `nan`, `infinity` and `-infinity`. The whole is null if a sequence in it has more than
/// `max_length` elements or was not read.
pub fn whole(shown: &Shown, max_length: Option<usize>) -> Value {
    node(shown.root(), max_length.unwrap_or(usize::MAX)).unwrap_or(Value::Null)
}

fn node(value: Node<'_>, max_length: usize) -> Option<Value> {
    nesl_core::base::with_stack(|| {
        Some(match value {
            Node::Int(n) => json!(n),
            Node::Float(x) => float(x),
            Node::Bool(b) => json!(b),
            Node::Char(c) => json!(char::from(c).to_string()),
            Node::Function => Value::Null,
            Node::Tuple(fields) => Value::Array(all(fields, max_length)?),
            Node::Record(name, fields) => {
                let fields = Value::Array(all(fields, max_length)?);
                Value::Object(Map::from_iter([(name.to_owned(), fields)]))
            }
            Node::Text(text) if text.len() > max_length => return None,
            Node::Text(text) => json!(text_of(text)),
            Node::Sequence(elements) => {
                let count = elements.len();
                if count > max_length {
                    return None;
                }
                let mut values = Vec::with_capacity(count);
                for index in 0..count {
                    values.push(node(elements.get(index)?, max_length)?);
                }
                Value::Array(values)
            }
        })
    })
}

fn all(fields: Vec<Node<'_>>, max_length: usize) -> Option<Vec<Value>> {
    fields.into_iter().map(|field| node(field, max_length)).collect()
}

fn float(x: f64) -> Value {
    let name = if x.is_nan() {
        "nan"
    } else if x > 0.0 {
        "infinity"
    } else {
        "-infinity"
    };
    Number::from_f64(x).map_or_else(|| json!(name), Value::Number)
}

/// Returns a text: UTF-8, or else Latin-1.
fn text_of(text: &[u8]) -> String {
    std::str::from_utf8(text)
        .map_or_else(|_| text.iter().copied().map(char::from).collect(), str::to_owned)
}
