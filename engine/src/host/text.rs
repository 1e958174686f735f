//! Bytes of the outside world as text.

/// Decodes bytes as UTF-8, or else as Latin-1, as the original read files.
pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn what_is_not_utf8_is_latin1() {
        assert_eq!(decode("é".as_bytes().to_vec()), "é");
        assert_eq!(decode(vec![0xe9]), "é");
    }
}
