//! Exact parsing of JSON integers.

use std::ops::RangeInclusive;

/// Maximum number of digits of an integer. No valid field value has more digits. Every number with
/// this many digits fits into a `u64`.
const DIGITS_MAX: usize = 19;

/// Parses an integer that is written in any JSON notation. For example, `3`, `3.0` and `30e-1` are
/// the same integer.
///
/// Returns `None` if the text is not a number, not a whole number, or not in the range.
pub(super) fn parse_integer(json: &str, range: RangeInclusive<u64>) -> Option<u64> {
    // Floating point is not used, because it would round large numbers.
    let number = match json.parse() {
        Ok(number) => number,
        Err(_) => parse_decimal_notation(json)?,
    };
    range.contains(&number).then_some(number)
}

/// Parses a number with a sign, a fraction or an exponent.
fn parse_decimal_notation(json: &str) -> Option<u64> {
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
    let magnitude = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (integer, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let digits = [integer, fraction].concat();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.is_empty() {
        return None;
    }
    let without_zeros = digits.trim_end_matches('0');
    let significant = without_zeros.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    // The number is `significant` followed by `zeros`. A negative count means that it is not whole.
    // Returns `None` if the exponent does not fit into 64 bits. With an exponent beyond 64 bits, a
    // nonzero number is out of range or is not a whole number.
    let removed_zeros = digits.len() - without_zeros.len();
    let shift = i64::try_from(removed_zeros).ok()? - i64::try_from(fraction.len()).ok()?;
    let zeros = usize::try_from(exponent.parse::<i64>().ok()?.checked_add(shift)?).ok()?;
    if mantissa.starts_with('-') || significant.len().checked_add(zeros)? > DIGITS_MAX {
        return None;
    }
    format!("{significant}{:0<zeros$}", "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::INTEGER_MAX;

    #[test]
    fn integers_in_any_json_notation_are_parsed() {
        for (json, number) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0", 0),
            ("0e99999999999999999999", 0),
            ("3.0", 3),
            ("1e4", 10_000),
            ("1.5E+1", 15),
            ("1200e-2", 12),
            ("0.0003e4", 3),
            ("9007199254740991", INTEGER_MAX),
            ("9007199254740991.000", INTEGER_MAX),
            ("900719925474099.1e1", INTEGER_MAX),
        ] {
            assert_eq!(parse_integer(json, 0..=INTEGER_MAX), Some(number), "{json}");
        }
    }

    #[test]
    fn non_integers_are_rejected_and_not_rounded() {
        for json in [
            "1e-400",
            "9007199254740991.4",
            "9007199254740992",
            "0.5",
            "-1",
            "-1.0",
            "1e400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "15e-1",
            "1e-1",
            "123456789012345678901234567890e-10",
            "\"1\"",
            "true",
            "[]",
        ] {
            assert_eq!(parse_integer(json, 0..=INTEGER_MAX), None, "{json}");
        }
    }
}
