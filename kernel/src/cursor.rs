//! Places in texts: clients count characters, the compiler counts bytes.

/// Returns the byte of a character, or the end of the text.
pub fn byte(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

/// Returns the number of characters before a byte.
pub fn character(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_bytes() {
        let text = "\"é🙂\" ++ su";
        for at in 0..=text.chars().count() {
            assert_eq!(character(text, byte(text, at)), at);
        }
        assert_eq!(byte(text, 1_000), text.len());
        assert_eq!(byte(text, 3), 7);
    }
}
