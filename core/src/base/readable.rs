//! Strings of the language as text for people.

/// Decodes a string of the language: as UTF-8 if it is that, else each byte as one character.
pub fn readable(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_string(),
        Err(_) => text.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_utf_8_are_a_character_each() {
        assert_eq!(readable("no é".as_bytes()), "no é");
        assert_eq!(readable(b"no \xff"), "no ÿ");
    }
}
