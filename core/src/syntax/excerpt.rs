//! Excerpts of code for titles and hovers: one line, with `…` in place of what is too much.

use super::lexer::{Kind, Token, lex};
use super::significant_tokens;
use std::ops::Range;

/// The number of characters that a cut beside an operand costs: `…` had better stand for a whole one.
const TORN_OPERAND_CHARS: usize = 10;
/// The number of characters that an excerpt without a beginning costs.
const NO_BEGINNING_CHARS: usize = 20;

/// Returns code in one line of at most so many characters. What is too much is left out between two tokens, and between
/// brackets as many are closed as are opened: `{sum(x) : x in …}`.
pub fn excerpt(code: &str, limit: usize) -> String {
    let mut line = one_line(code);
    loop {
        if line.chars().count() <= limit {
            return line;
        }
        let tokens = significant_tokens(&lex(&line));
        let cuts = Cuts::new(&line, &tokens, limit);
        match (cuts.best(), cuts.largest()) {
            (Some(cut), _) if cut != (0..tokens.len()) => return cuts.without(cut),
            // No part alone is so long that the rest fits.
            (_, Some(inside)) => line = cuts.without(inside),
            (_, None) => return shortened(&line, tokens.first(), limit),
        }
    }
}

/// Returns code in one line, in which one blank stands for several.
fn one_line(code: &str) -> String {
    let mut line = String::with_capacity(code.len());
    for token in lex(code) {
        match token.kind {
            Kind::Blank if line.is_empty() => {}
            Kind::Blank => line.push(' '),
            Kind::Text | Kind::Char => {
                line.extend(code[token.range].chars().map(|c| if c.is_control() { ' ' } else { c }))
            }
            // A comment may have several lines.
            _ => line.push_str(&code[token.range].split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Returns the beginning of a token that is longer than a line; of a string, with its end.
fn shortened(line: &str, first: Option<&Token>, limit: usize) -> String {
    let end = if first.is_some_and(|token| token.kind == Kind::Text) { "…\"" } else { "…" };
    let kept = line.chars().take(limit.saturating_sub(end.chars().count()));
    kept.chain(end.chars()).collect()
}

/// The places at which a line may be cut: before each of its tokens, and behind the last one.
struct Cuts<'a> {
    line: &'a str,
    tokens: &'a [Token],
    limit: usize,
    /// The number of brackets that are open before each token; it is negative behind one that was never opened.
    depths: Vec<isize>,
}

impl<'a> Cuts<'a> {
    fn new(line: &'a str, tokens: &'a [Token], limit: usize) -> Cuts<'a> {
        let mut depths = vec![0];
        let mut depth = 0;
        for token in tokens {
            depth += isize::from(token.kind.is_opening()) - isize::from(token.kind.is_closing());
            depths.push(depth);
        }
        Cuts { line, tokens, limit, depths }
    }

    /// Returns the tokens that are best left out: few, and whole operands.
    fn best(&self) -> Option<Range<usize>> {
        let count = self.tokens.len();
        // From the end, the widths of what is behind each place.
        let mut ends = Vec::new();
        for at in (1..=count).rev() {
            let width = self.tail(at).chars().count();
            if width >= self.limit {
                break;
            }
            ends.push((at, width));
        }
        let mut best = None;
        for start in 0..count {
            let head = self.head(start).chars().count();
            if head >= self.limit {
                break;
            }
            let last = ends.last().map_or(count, |(at, _)| *at);
            // What is left out closes no bracket that it does not open.
            let outer = |at: usize| self.depths[at] < self.depths[start];
            if (start..last).any(outer) {
                continue;
            }
            for (end, tail) in ends.iter().rev() {
                if *end <= start {
                    continue;
                }
                if outer(*end) {
                    break;
                }
                let kept = head + tail;
                if self.depths[*end] != self.depths[start] || kept + 1 > self.limit {
                    continue;
                }
                let value = (kept + 2 * NO_BEGINNING_CHARS).saturating_sub(self.cost(start, *end));
                if best.as_ref().is_none_or(|(most, _)| value >= *most) {
                    best = Some((value, start..*end));
                }
            }
        }
        best.map(|(_, cut)| cut)
    }

    /// Returns what is in the longest brackets that are in no others, if it can be shorter.
    fn largest(&self) -> Option<Range<usize>> {
        let mut largest: Option<(usize, Range<usize>)> = None;
        let mut open = None;
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind.is_opening() && self.depths[at] == 0 {
                open = Some(at + 1);
            } else if token.kind.is_closing()
                && self.depths[at] == 1
                && let Some(open) = open.take()
            {
                let start = self.tokens[open - 1].range.end();
                let length = usize::from(token.range.start() - start);
                let longer = largest.as_ref().is_none_or(|(longest, _)| length > *longest);
                if longer && length > "…".len() {
                    largest = Some((length, open..at));
                }
            }
        }
        largest.map(|(_, inside)| inside)
    }

    /// Returns how much worse a cut reads than one of whole operands behind a beginning, in characters.
    fn cost(&self, start: usize, end: usize) -> usize {
        let before = start.checked_sub(1).map(|at| self.tokens[at].kind);
        let after = self.tokens.get(end).map(|token| token.kind);
        let beginning = if before.is_none() { NO_BEGINNING_CHARS } else { 0 };
        let left = before.is_some_and(|kind| !kind.is_opening() && !separates(kind));
        let joins = |kind: Kind| kind.is_closing() || separates(kind) && kind != Kind::InKw;
        let right = after.is_some_and(|kind| !joins(kind));
        beginning + TORN_OPERAND_CHARS * (usize::from(left) + usize::from(right))
    }

    /// Returns what is before a place, with a blank behind it if there is one in the line.
    fn head(&self, at: usize) -> &'a str {
        let Some(before) = at.checked_sub(1) else { return "" };
        let end = usize::from(self.tokens[before].range.end());
        let blank = self.line[end..].starts_with(' ');
        &self.line[..end + usize::from(blank)]
    }

    /// Returns what is behind a place, with a blank before it if there is one in the line.
    fn tail(&self, at: usize) -> &'a str {
        let Some(token) = self.tokens.get(at) else { return "" };
        let start = usize::from(token.range.start());
        let blank = self.line[..start].ends_with(' ');
        &self.line[start - usize::from(blank)..]
    }

    fn without(&self, cut: Range<usize>) -> String {
        format!("{}…{}", self.head(cut.start), self.tail(cut.end))
    }
}

/// Returns true for the tokens between two operands.
fn separates(kind: Kind) -> bool {
    !(kind.is_operand() || kind.is_opening() || kind.is_closing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_cut_between_tokens_and_between_brackets() {
        let cases = [
            ("a + b", 5),
            ("{add(a, b) : a in even; b in odd} ++ {subtract(a, b) : a in even; b in odd}", 28),
            ("{sum({x * x : x in r}) : r in [[1, 2, 3], [4]]}", 28),
            ("function_with_a_name(first_argument, second, third)", 36),
            ("print_string(\"a long text, which has ( and ;\")", 24),
            ("\"a long text, which has ( and ;\"", 12),
            ("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", 20),
            ("if x > 1 then sum([0:x]) else product([1:x])", 30),
            ("let a = f(x); b = g(x) in {c * a + b : c in cs}", 30),
            ("a_variable * b_variable + c_variable * d_variable", 30),
            ("((((((((((((a))))))))))))", 9),
            ("averylongnamewithoutanyend", 9),
            ("a) + (b * c", 8),
            ("x +\n  % why %  y", 20),
            ("` + `\n + [` , `a, `b]", 12),
        ];
        let lines = cases.map(|(code, limit)| excerpt(code, limit)).join("\n");
        expect_test::expect![[r#"
            a + b
            {add(a, b) : a in …} ++ {…}
            {sum({x * x : x in r}) : …}
            function_with_a_name(…, third)
            print_string(…)
            "a long te…"
            [1, 2, 3, 4, …, 10]
            if x > … else product([1:x])
            let a = f(x); b = g(x) in {…}
            a_variable * b_variable + …
            ((((…))))
            averylon…
            a) + (…
            x + % why % y
            ` + `  + […]"#]]
        .assert_eq(&lines);
    }

    /// Excerpts of all expressions of the examples.
    #[test]
    fn no_excerpt_ends_inside_a_token_or_leaves_a_bracket_open() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let mut excerpts = 0;
        for entry in std::fs::read_dir(folder).expect("the examples").flatten() {
            if entry.path().extension().is_none_or(|extension| extension != "nesl") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("text");
            for item in crate::syntax::split(&text) {
                let text = &text[item.range];
                let parsed = crate::syntax::parse_item(text);
                for (_, span) in parsed.ast.expr_spans.iter() {
                    for limit in [28, 44, 60, 72] {
                        let code = &text[parsed.range(*span)];
                        let cut = excerpt(code, limit);
                        assert!(cut.chars().count() <= limit, "{cut}");
                        if cut.contains('…') {
                            excerpts += 1;
                            check(code, &cut);
                        }
                    }
                }
            }
        }
        assert!(excerpts > 1000, "{excerpts}");
    }

    /// Checks that an excerpt consists of whole tokens of the code, and that its brackets are closed.
    fn check(code: &str, cut: &str) {
        let words = |text: &str| {
            let tokens = significant_tokens(&lex(text));
            tokens.iter().map(|token| text[token.range].to_owned()).collect::<Vec<String>>()
        };
        let all = words(code);
        let mut from = 0;
        let mut depth = 0;
        for piece in cut.split('…') {
            let piece = words(piece);
            let found = (from..=all.len() - piece.len()).find(|at| all[*at..].starts_with(&piece));
            from = found.unwrap_or_else(|| panic!("{cut}")) + piece.len();
            for word in piece {
                match word.as_str() {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth -= 1,
                    _ => {}
                }
                assert!(depth >= 0, "{cut}");
            }
        }
        assert_eq!(depth, 0, "{cut}");
    }
}
