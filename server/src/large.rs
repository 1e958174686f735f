//! Answers that are too large to be built as values first.
//!
//! The dispatcher turns every answer into a tree of JSON values and that into text. The colours, the
//! outline, the lenses and the folds of a long file are asked after each key, and the tree takes most of the
//! time. So these answers are written as text at once and kept here; the dispatcher is given a short
//! token for each, in whose place the text is sent.

use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The requests with large answers, each with the name by which the dispatcher knows it.
pub const REQUESTS: [(&str, &str); 5] = [
    ("textDocument/semanticTokens/full", "nesl/large/tokens"),
    ("textDocument/semanticTokens/full/delta", "nesl/large/tokensDelta"),
    ("textDocument/documentSymbol", "nesl/large/outline"),
    ("textDocument/codeLens", "nesl/large/lenses"),
    ("textDocument/foldingRange", "nesl/large/folds"),
];

/// The beginning of an answer of the dispatcher that has a token for its result.
const HEAD: &[u8] = br#"{"jsonrpc":"2.0","result":"nesl-large-"#;

/// The answers that were written and not sent yet.
#[derive(Default)]
pub struct Large(Mutex<State>);

#[derive(Default)]
struct State {
    count: u64,
    waiting: HashMap<u64, Vec<u8>>,
}

impl Large {
    /// Writes an answer; returns its token.
    pub fn keep(&self, answer: &impl Serialize) -> Value {
        serde_json::to_vec(answer).map_or(Value::Null, |text| self.keep_text(text))
    }

    /// Keeps an answer that was written; returns its token.
    pub fn keep_text(&self, text: Vec<u8>) -> Value {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += 1;
        let number = state.count;
        state.waiting.insert(number, text);
        Value::String(format!("nesl-large-{number}"))
    }

    /// Puts the answer in the place of its token, if a message of the dispatcher has one.
    pub fn filled(&self, message: Vec<u8>) -> Vec<u8> {
        let Some(rest) = message.strip_prefix(HEAD) else { return message };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number =
            std::str::from_utf8(&rest[..digits]).ok().and_then(|number| number.parse().ok());
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = number.and_then(|number: u64| state.waiting.remove(&number));
        let Some(text) = text else { return message };
        let mut filled = br#"{"jsonrpc":"2.0","result":"#.to_vec();
        filled.reserve(text.len() + rest.len());
        filled.extend_from_slice(&text);
        // Behind the token and its quote.
        filled.extend_from_slice(&rest[digits + 1..]);
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tower_lsp_server::jsonrpc::{Id, Response};

    #[test]
    fn point_19_large_answers_are_what_small_ones_are() {
        let large = Large::default();
        for answer in [serde_json::json!([1, {"a": "\"}"}]), Value::Null] {
            let token = large.keep(&answer);
            let sent = serde_json::to_vec(&Response::from_ok(Id::Number(7), token)).expect("text");
            let plain = Response::from_ok(Id::Number(7), answer);
            let read: Response = serde_json::from_slice(&large.filled(sent)).expect("an answer");
            assert_eq!(read, plain);
        }
        let other = br#"{"jsonrpc":"2.0","result":"nesl-large-99","id":1}"#.to_vec();
        assert_eq!(large.filled(other.clone()), other);
    }
}
