//! Shortens texts to one line, for titles and messages.

/// Returns a text in one line of at most `limit` characters, blanks joined, with `…` if it was cut.
pub fn shorten(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    line.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}
