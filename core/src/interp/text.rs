//! Numbers as text (LANGUAGE 13.7).

use nesl_runtime::fault::{Fault, FaultCode};

/// A float as `@` prints it: 8 significant digits, without trailing zeros; with an exponent from
/// 10⁷ and below 0.001.
pub(super) fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    if x == 0.0 {
        return "0.0".to_owned();
    }
    // d.ddddddde±x, correctly rounded to 8 digits.
    let scientific = format!("{:.7e}", x.abs());
    let (mantissa, exponent) = scientific.split_once('e').expect("`e` is in `{:e}`");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let digits = digits.trim_end_matches('0');
    let sign = if x < 0.0 { "-" } else { "" };
    if (-3..7).contains(&exponent) {
        return format!("{sign}{}", plain(digits, exponent));
    }
    let rest = if digits.len() > 1 { &digits[1..] } else { "0" };
    let plus = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{}.{rest}e{plus}{}", &digits[..1], exponent.abs())
}

/// Digits with the point after the first `exponent + 1` of them.
fn plain(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{digits}{}.0", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

/// `exp_string`: exponential form with a number of digits after the point.
pub(super) fn exponential(x: f64, digits: i64) -> Result<String, Fault> {
    let digits = match usize::try_from(digits) {
        Ok(digits) if digits <= 8 => digits,
        _ => return Err(Fault::new(FaultCode::ExpString)),
    };
    if x == 0.0 || !x.is_finite() {
        return Ok(float(x));
    }
    let scientific = format!("{x:.digits$e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`e` is in `{:e}`");
    let plus = if exponent.starts_with('-') { "" } else { "+" };
    Ok(format!("{mantissa}e{plus}{exponent}"))
}

/// The float a string begins with (sign, digits, fraction, lower-case exponent), and whether that
/// is all of it. No digits are 0.
pub(super) fn parse_float(text: &[u8]) -> (f64, bool) {
    let digits = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut end = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let sign_end = end;
    end += digits(end);
    if text.get(end) == Some(&b'.') {
        end += 1;
        end += digits(end);
    }
    let any = text[sign_end..end].iter().any(u8::is_ascii_digit);
    if any && text.get(end) == Some(&b'e') {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let slice = std::str::from_utf8(&text[..end]).unwrap_or("0");
    let value = if any { slice.parse().unwrap_or(0.0) } else { 0.0 };
    (value, end == text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats() {
        for (x, text) in [
            (2.5, "2.5"),
            (0.001, "0.001"),
            (1e-5, "1.0e-5"),
            (1e10, "1.0e+10"),
            (1.0 / 3.0, "0.33333333"),
            (123456.789, "123456.79"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0e+7"),
            (-0.125, "-0.125"),
            (0.0, "0.0"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(x), text);
        }
    }

    #[test]
    fn exponentials() {
        assert_eq!(exponential(12345.678, 3).unwrap(), "1.235e+4");
        assert_eq!(exponential(0.05, 1).unwrap(), "5.0e-2");
        assert_eq!(exponential(0.0, 3).unwrap(), "0.0");
        assert!(exponential(1.5, 12).is_err());
        assert!(exponential(1.5, -1).is_err());
    }

    #[test]
    fn parsing() {
        for (text, value, whole) in [
            ("17", 17.0, true),
            ("2e3", 2000.0, true),
            ("", 0.0, true),
            ("-.5", -0.5, true),
            ("1.5x", 1.5, false),
            ("e5", 0.0, false),
            ("3e", 3.0, false),
        ] {
            assert_eq!(parse_float(text.as_bytes()), (value, whole), "{text}");
        }
    }
}
