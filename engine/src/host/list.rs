//! Files of numbers in parentheses, in any layout: `( 22 33 11 )`.

use super::scan::{Scanner, float, int};
use nesl_runtime::scalar::Precision;

/// The ints of a text. `name` is the file's, for messages.
pub fn read_ints(text: &[u8], name: &str, precision: Precision) -> Result<Vec<i64>, String> {
    read(text, name, "an int", |word| int(word, precision))
}

/// The floats of a text; ints are accepted.
pub fn read_floats(text: &[u8], name: &str, precision: Precision) -> Result<Vec<f64>, String> {
    read(text, name, "a float", |word| float(word, precision))
}

fn read<T>(
    text: &[u8],
    name: &str,
    what: &str,
    parse: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut scanner = Scanner::new(text, name);
    scanner.expect(b'(')?;
    let mut values = Vec::new();
    while !scanner.take(b')') {
        let token = scanner.next();
        if token.text.is_empty() {
            return Err(scanner.expected(&format!("{what} or `)`"), token));
        }
        let value = parse(token.text).map_err(|message| scanner.error(token.at, &message))?;
        values.push(value);
    }
    scanner.end()?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Precision = Precision::Bits64;

    #[test]
    fn any_layout() {
        assert_eq!(read_ints(b"( 22 -33\n\t11)", "f", WIDE), Ok(vec![22, -33, 11]));
        assert_eq!(read_ints(b"()", "f", WIDE), Ok(vec![]));
        assert_eq!(
            read_floats(b"(1.5 2 -.25 1e2 inf)\n", "f", WIDE),
            Ok(vec![1.5, 2.0, -0.25, 100.0, f64::INFINITY])
        );
    }

    #[test]
    fn complaints_have_places() {
        for (text, message) in [
            (&b"( 1\n 2 abc )"[..], "f:2:4: expected an int, found `abc`"),
            (b"1 2", "f:1:1: expected `(`, found `1`"),
            (b"", "f:1:1: expected `(`, found nothing"),
            (b"(1 2", "f:1:5: expected an int or `)`, found nothing"),
            (b"(1 2) 3", "f:1:7: expected the end of the file, found `3`"),
            (b"(1.5)", "f:1:2: expected an int, found `1.5`"),
            (b"(99999999999999999999)", "f:1:2: `99999999999999999999` is too large for an int"),
            (b"((1))", "f:1:2: expected an int, found `(`"),
        ] {
            assert_eq!(read_ints(text, "f", WIDE), Err(message.to_owned()));
        }
        assert!(read_ints(b"(2147483648)", "f", Precision::Bits32).is_err());
        assert!(read_floats(b"(1e400)", "f", WIDE).is_err());
    }
}
