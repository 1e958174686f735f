//! Models of the functions in `strings.nesl`.

use crate::choices::Choices;
use crate::law::{Laws, MAX_LENGTH};
use crate::value::{Char, Text, text};
use nesl_engine::Precision;

pub fn laws(laws: &mut Laws) {
    padding(laws);
    capitals(laws);
    orders(laws);
    pieces(laws);
    parsing(laws);
    justifying(laws);
}

fn padding(laws: &mut Laws) {
    let choose = |c: &mut Choices| (c.text(), c.int_from(-25, 25));
    laws.expression(&["||"], "(s, n)", "s || n", choose, |(s, n)| {
        let blanks = (i128::from(n).abs() - s.len() as i128).max(0);
        if blanks > i128::from(MAX_LENGTH) {
            return Err("Out of memory");
        }
        let blanks = vec![Char(b' '); blanks as usize];
        Ok(if n < 0 { [blanks, s].concat() } else { [s, blanks].concat() })
    });
}

fn capitals(laws: &mut Laws) {
    fn codes(from: i64, convert: fn(&u8) -> u8) -> Vec<i64> {
        (from as u8..=255).map(|c| i64::from(convert(&c))).collect()
    }
    let from = |c: &mut Choices| c.below(b'A'.into()) as i64;
    let body = "{char_code(lowercase(code_char(i))) : i in [from:256]}";
    laws.expression(&["lowercase"], "from", body, from, |n| Ok(codes(n, u8::to_ascii_lowercase)));
    let body = "{char_code(uppercase(code_char(i))) : i in [from:256]}";
    laws.expression(&["uppercase"], "from", body, from, |n| Ok(codes(n, u8::to_ascii_uppercase)));
    let choose = |c: &mut Choices| {
        let a: Text = c.seq();
        let mut b = a.clone();
        for x in &mut b {
            if c.once_in(3) {
                x.0 ^= c.pick(&[0, 0, 0, 32]);
            }
        }
        if c.once_in(6) {
            b.pop();
        }
        (a, b)
    };
    laws.function("string_eql", choose, |(a, b): (Text, Text)| {
        let lower = |s: Text| s.into_iter().map(|c| c.0.to_ascii_lowercase()).collect::<Vec<u8>>();
        Ok(lower(a) == lower(b))
    });
}

fn orders(laws: &mut Laws) {
    laws.function("string_sort", Choices::seq::<Text>, |mut texts: Vec<Text>| {
        texts.sort_by_key(|text| text.iter().map(|c| c.0).collect::<Vec<u8>>());
        Ok(texts)
    });
}

fn is_blank(c: &Char) -> bool {
    [b' ', b'\t', b'\n'].contains(&c.0)
}

fn words(s: &[Char]) -> Vec<Text> {
    s.split(is_blank).filter(|word| !word.is_empty()).map(<[Char]>::to_vec).collect()
}

fn pieces(laws: &mut Laws) {
    laws.function("linify", Choices::text, |s: Text| {
        let mut lines: Vec<Text> = s.split(|c| c.0 == b'\n').map(<[Char]>::to_vec).collect();
        // An empty rest after the last newline is not a line.
        lines.pop_if(|last| last.is_empty());
        Ok(lines)
    });
    laws.function("wordify", Choices::text, |s: Text| Ok(words(&s)));
    laws.function("wordify", Choices::seq::<Char>, |s: Text| Ok(words(&s)));
}

/// Returns the int at the beginning of a text, if there is one, and true if the text ends after it.
fn int_in_front(s: &str, precision: Precision) -> (Option<i64>, bool) {
    let (sign, rest) = match s.split_at_checked(1) {
        Some(("-", rest)) => (-1, rest),
        Some(("+", rest)) => (1, rest),
        _ => (1, s),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    // The texts are short enough for an `i128`.
    let value = sign * rest[..end].parse::<i128>().unwrap_or(0);
    let range = i128::from(precision.min_int())..=i128::from(precision.max_int());
    let value = range.contains(&value).then_some(value as i64);
    (value, !s.is_empty() && end == rest.len() && value.is_some())
}

fn parsing(laws: &mut Laws) {
    let precision = laws.precision;
    let choose = move |c: &mut Choices| {
        let sign = c.pick(&["", "", "-", "+", "--", " "]);
        let limit = i128::from(precision.max_int());
        let digits = match c.below(6) {
            0 => String::new(),
            1 => (limit + c.below(4) as i128 - 1).to_string(),
            2 => (limit * 10 + c.below(20) as i128).to_string(),
            3 => format!("000{limit}"),
            _ => (0..c.below(12)).map(|_| c.pick(&['0', '1', '5', '9'])).collect(),
        };
        let end = c.pick(&["", "", "", "kg", " ", ".5", "-", "/", ":"]);
        let s = format!("{sign}{digits}{end}");
        let fits = int_in_front(&s, precision).0.is_some();
        (text(&s), fits)
    };
    // The result for a number that is not an int is unspecified.
    let body = "let (n, whole) = parse_int(s) in (if fits then n else 0), whole";
    laws.expression(&["parse_int"], "(s, fits)", body, choose, move |(s, _)| {
        let s: String = s.iter().map(|c| char::from(c.0)).collect();
        let (value, whole) = int_in_front(&s, precision);
        Ok((value.unwrap_or(0), whole))
    });
}

fn justifying(laws: &mut Laws) {
    let choose = |c: &mut Choices| (c.text(), c.int_from(-1, 20));
    laws.function("justify_text", choose, |(s, n)| {
        let mut lines: Vec<Text> = Vec::new();
        for word in words(&s) {
            match lines.last_mut() {
                Some(line) if ((line.len() + 1 + word.len()) as i64) <= n => {
                    line.push(Char(b' '));
                    line.extend(word);
                }
                _ => lines.push(word),
            }
        }
        Ok(lines)
    });
}
