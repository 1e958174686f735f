//! Files → text.

use crate::interrupt;
use anyhow::{Context, Result};
use nesl_engine::read_program;
use std::io::Read;
use std::path::Path;

/// The name of standard input.
pub const STDIN: &str = "-";

/// A file's text: UTF-8, or else every byte is a character (Latin-1), as the original read it.
pub struct Text {
    /// The name that messages use.
    pub name: String,
    /// The whole text of the file.
    pub text: String,
    /// True if the bytes were not UTF-8 and were read as Latin-1.
    pub latin1: bool,
}

/// Reads a file; `-` is standard input.
pub fn read(path: &Path) -> Result<Text> {
    let (name, bytes) = if path == Path::new(STDIN) {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
        // The language server says which file it is that it gives.
        let name = std::env::var(nesl_server::child::SOURCE);
        (name.unwrap_or_else(|_| "<stdin>".to_string()), bytes)
    } else {
        let bytes = read_program(path, &interrupt::is_pressed)
            .with_context(|| format!("cannot read {}", path.display()))?;
        (path.display().to_string(), bytes)
    };
    let (text, latin1) = decode(bytes);
    Ok(Text { name, text, latin1 })
}

/// Decodes bytes as UTF-8 or, if they are not valid UTF-8, as Latin-1; returns true in the second case.
pub fn decode(bytes: Vec<u8>) -> (String, bool) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (error.into_bytes().into_iter().map(char::from).collect(), true),
    }
}

/// Text as bytes, the inverse of [`decode`] for texts of which `latin1` was true.
pub fn encode(text: &str, latin1: bool) -> Vec<u8> {
    let bytes: Option<Vec<u8>> =
        if latin1 { text.chars().map(|c| u8::try_from(c).ok()).collect() } else { None };
    bytes.unwrap_or_else(|| text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_round_trips() {
        let bytes = vec![b'"', 0xe9, b'"'];
        let (text, latin1) = decode(bytes.clone());
        assert_eq!((text.as_str(), latin1), ("\"é\"", true));
        assert_eq!(encode(&text, latin1), bytes);
    }
}
