//! Options that a UCI program reports.

use std::fmt;

/// Option of a UCI program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UciOption {
    pub(crate) name: String,
    pub(crate) allowed_values: AllowedValues,
}

/// Values that an option accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AllowedValues {
    /// Every value is accepted.
    Any,
    /// One of the listed values, ignoring case.
    OneOf(Vec<String>),
    /// A number between a minimum and a maximum, both inclusive.
    Range(i64, i64),
}

impl UciOption {
    /// Parses a line of the program's output. Returns `None` if the line does not declare an
    /// option.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (name, kind) = line.strip_prefix("option name ")?.split_once(" type ")?;
        Some(Self {
            name: name.to_owned(),
            allowed_values: AllowedValues::parse(kind),
        })
    }
}

impl AllowedValues {
    fn parse(kind: &str) -> Self {
        let one_of = |values: &[&str]| Self::OneOf(values.iter().map(|&v| v.to_owned()).collect());
        match kind.split(' ').next() {
            Some("check") => one_of(&["true", "false"]),
            Some("combo") => one_of(&kind.split(" var ").skip(1).collect::<Vec<_>>()),
            Some("spin") => {
                let after = |key: &str| {
                    let mut words = kind.split(' ').skip_while(|word| *word != key);
                    words.nth(1)?.parse().ok()
                };
                Self::Range(
                    after("min").unwrap_or(i64::MIN),
                    after("max").unwrap_or(i64::MAX),
                )
            }
            _ => Self::Any,
        }
    }

    /// Returns whether the option accepts `value`.
    pub(crate) fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(all) => all.iter().any(|one| one.eq_ignore_ascii_case(value)),
            Self::Range(least, greatest) => value
                .parse()
                .is_ok_and(|number: i64| (*least..=*greatest).contains(&number)),
        }
    }
}

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::OneOf(all) => write!(f, "one of {}", all.join(", ")),
            Self::Range(i64::MIN, i64::MAX) => f.write_str("a number"),
            Self::Range(least, i64::MAX) => write!(f, "a number from {least}"),
            Self::Range(i64::MIN, greatest) => write!(f, "a number up to {greatest}"),
            Self::Range(least, greatest) => write!(f, "a number from {least} to {greatest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_allowed_values(kind: &str) -> AllowedValues {
        let line = format!("option name Some Thing type {kind}");
        let option = UciOption::parse(&line).expect("an option");
        assert_eq!(option.name, "Some Thing");
        option.allowed_values
    }

    #[test]
    fn spin_option_accepts_numbers_in_its_range() {
        let hash = parse_allowed_values("spin default 16 min 1 max 1024");
        assert_eq!(hash, AllowedValues::Range(1, 1024));
        for (value, is_taken) in [("1", true), ("1024", true), ("0", false), ("x", false)] {
            assert_eq!(hash.accepts(value), is_taken, "{value}");
        }
        for (kind, value, is_taken, expected) in [
            ("spin default 1", "x", false, "a number"),
            ("spin default 1", "-9", true, "a number"),
            ("spin default 8 min 8", "7", false, "a number from 8"),
            ("spin max 9 default 8", "10", false, "a number up to 9"),
            (
                "spin max 9 min 2 default 8",
                "1",
                false,
                "a number from 2 to 9",
            ),
        ] {
            let values = parse_allowed_values(kind);
            assert_eq!(values.accepts(value), is_taken, "{kind}: {value}");
            assert_eq!(values.to_string(), expected);
        }
    }

    #[test]
    fn combo_and_check_values_are_case_insensitive() {
        let style = parse_allowed_values("combo default Solid var Solid var Very Wild");
        assert!(style.accepts("very wild") && !style.accepts("Wild"));
        assert_eq!(style.to_string(), "one of Solid, Very Wild");
        assert!(parse_allowed_values("check default true").accepts("false"));
        assert!(!parse_allowed_values("check default true").accepts("on"));
    }

    #[test]
    fn string_and_button_options_accept_any_value() {
        assert_eq!(
            parse_allowed_values("string default <empty>"),
            AllowedValues::Any
        );
        assert!(parse_allowed_values("button").accepts(""));
        assert_eq!(UciOption::parse("id name Somebody"), None);
    }
}
