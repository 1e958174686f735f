//! Something to show, in every form that a front end may choose from.

pub use crate::html::escaped;
use serde_json::Value;

/// Something to show: always as plain text, and richer where that helps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// Plain text; may have several lines, and does not end with a line end.
    pub plain: String,
    /// The plain text with the colours of a terminal; `None` if it has none.
    pub ansi: Option<String>,
    /// A fragment of HTML, without scripts; all text in it is escaped.
    pub html: Option<String>,
    /// A picture.
    pub svg: Option<String>,
    /// A plot, as a specification of Vega-Lite 5.
    pub plot: Option<Value>,
}

impl Bundle {
    /// Makes a bundle of plain text.
    pub fn text(plain: impl Into<String>) -> Bundle {
        Bundle { plain: plain.into(), ..Bundle::default() }
    }

    /// Makes a bundle of text in the colours of a terminal.
    pub fn colored(ansi: String) -> Bundle {
        let plain = without_colors(&ansi);
        let html = crate::html::of_ansi(&ansi);
        Bundle { plain, ansi: Some(ansi), html: Some(html), ..Bundle::default() }
    }

    /// Adds a fragment of HTML.
    pub fn with_html(mut self, html: String) -> Bundle {
        self.html = Some(html);
        self
    }

    /// Returns the text for a terminal.
    pub fn terminal(&self, colors: bool) -> &str {
        self.ansi.as_deref().filter(|_| colors).unwrap_or(&self.plain)
    }
}

/// Returns a text without the sequences that set colours.
pub fn without_colors(ansi: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(ansi.len()), ansi);
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|c: char| c.is_ascii_alphabetic()).map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_an_extra() {
        let bundle = Bundle::colored("\x1b[1;31mNo:\x1b[0m a < b".to_owned());
        assert_eq!(bundle.plain, "No: a < b");
        assert_eq!(bundle.terminal(false), "No: a < b");
        assert!(bundle.terminal(true).starts_with('\x1b'));
        assert!(bundle.html.is_some_and(|html| html.contains("a &lt; b")));
    }
}
