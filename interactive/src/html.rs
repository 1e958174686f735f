//! Text in the colours of a terminal → HTML.

/// The style of a run of text, by the codes of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Style {
    bold: bool,
    dim: bool,
    underline: bool,
    color: Option<&'static str>,
}

/// The colours 0 to 7, as they can be read on a white and on a black page.
const COLORS: [&str; 8] =
    ["#3e424d", "#d73a49", "#1a7f37", "#b08800", "#2f6feb", "#a04fd0", "#0f8a8a", "#8b949e"];

/// Returns a text as HTML shows it: with the characters escaped that mean something there.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The beginning of a preformatted element in the font of values, without the margins that pages give it.
pub const PRE: &str = concat!(
    "<pre style=\"font:var(--jp-code-font-size,13px)/1.45 ",
    "var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);margin:0;padding:0\">"
);

/// Returns the text as a preformatted element, with its colours as styles.
pub fn of_ansi(ansi: &str) -> String {
    let (mut out, mut style, mut rest) = (PRE.to_owned(), Style::default(), ansi);
    loop {
        let at = rest.find("\x1b[").unwrap_or(rest.len());
        run(&rest[..at], style, &mut out);
        let Some(after) = rest.get(at + 2..) else { break };
        let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        if after[end..].starts_with('m') {
            style = style.after(&after[..end]);
        }
        rest = after.get(end + 1..).unwrap_or("");
    }
    out + "</pre>"
}

/// Appends a run of text in one style.
fn run(text: &str, style: Style, out: &mut String) {
    if text.is_empty() {
        return;
    }
    let css = style.css();
    if css.is_empty() {
        out.push_str(&escaped(text));
    } else {
        *out += &format!("<span style=\"{css}\">{}</span>", escaped(text));
    }
}

impl Style {
    /// Returns the style after a sequence of codes.
    fn after(mut self, codes: &str) -> Style {
        let mut codes = codes.split(';').map(|code| code.parse().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => self = Style::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                4 => self.underline = true,
                22 => (self.bold, self.dim) = (false, false),
                24 => self.underline = false,
                30..=37 => self.color = Some(COLORS[code - 30]),
                // Grey: the text that is less important.
                90 => self.color = Some(COLORS[7]),
                91..=97 => self.color = Some(COLORS[code - 90]),
                // One of 256 colours: those beyond the first 16 are shades that ariadne uses for what
                // is less important.
                38 if codes.next() == Some(5) => {
                    let color = codes.next().unwrap_or(0);
                    self.color =
                        Some(COLORS.get(color % 8).filter(|_| color < 16).unwrap_or(&COLORS[7]));
                }
                39 => self.color = None,
                _ => {}
            }
        }
        self
    }

    fn css(self) -> String {
        let mut css = Vec::new();
        if self.bold {
            css.push("font-weight:bold".to_owned());
        }
        if self.dim {
            css.push("opacity:0.6".to_owned());
        }
        if self.underline {
            css.push("text-decoration:underline".to_owned());
        }
        if let Some(color) = self.color {
            css.push(format!("color:{color}"));
        }
        css.join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::PRE;

    #[test]
    fn codes_become_styles() {
        let of_ansi = |ansi: &str| super::of_ansi(ansi).replace(PRE, "<pre>");
        assert_eq!(of_ansi("a<b"), "<pre>a&lt;b</pre>");
        assert_eq!(
            of_ansi("\x1b[1;31mNo\x1b[0m yes"),
            "<pre><span style=\"font-weight:bold;color:#d73a49\">No</span> yes</pre>"
        );
        assert_eq!(
            of_ansi("\x1b[38;5;246m│\x1b[0m"),
            "<pre><span style=\"color:#8b949e\">│</span></pre>"
        );
        assert_eq!(of_ansi("cut \x1b[3"), "<pre>cut </pre>");
    }
}
