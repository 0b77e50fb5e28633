//! Options that a UCI engine declares, and checks of option values.

use std::fmt;

use crate::engine_error::EngineError;

/// Option that an engine declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UciOption {
    name: String,
    allowed_values: AllowedValues,
}

/// Values that an option accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AllowedValues {
    Any,
    /// The value must be in this list. Letter case is ignored.
    OneOf(Vec<String>),
    /// A number between two inclusive bounds.
    Range(i64, i64),
}

/// Checks the user's options against the options that the engine declares.
pub(super) fn check_options(
    options: &[(String, String)],
    declared_options: &[UciOption],
) -> Result<(), EngineError> {
    for (name, value) in options {
        let has_name = |option: &&UciOption| option.name.eq_ignore_ascii_case(name);
        let Some(option) = declared_options.iter().find(has_name) else {
            let names = declared_options.iter().map(|option| option.name.clone());
            return Err(EngineError::UnknownOption {
                name: name.clone(),
                known: names.collect(),
            });
        };
        if !option.allowed_values.accepts(value) {
            return Err(EngineError::InvalidOptionValue {
                name: name.clone(),
                expected: option.allowed_values.to_string(),
                value: value.clone(),
            });
        }
    }
    Ok(())
}

impl UciOption {
    /// Parses a line `option name NAME type TYPE …`. Returns `None` for other lines.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["option", "name", rest @ ..] = words.as_slice() else {
            return None;
        };
        let index = rest.iter().position(|word| *word == "type")?;
        let (name, kind) = (rest[..index].join(" "), &rest[index + 1..]);
        Some(Self {
            name,
            allowed_values: AllowedValues::parse(kind),
        })
    }
}

impl AllowedValues {
    fn parse(words: &[&str]) -> Self {
        match words.first() {
            Some(&"check") => Self::OneOf(["true", "false"].map(str::to_owned).into()),
            Some(&"combo") => {
                let values = words.split(|word| *word == "var").skip(1);
                Self::OneOf(values.map(|value| value.join(" ")).collect())
            }
            Some(&"spin") => {
                let number_after = |key: &str| {
                    let index = words.iter().position(|word| *word == key)?;
                    words.get(index + 1)?.parse().ok()
                };
                let (min, max) = (number_after("min"), number_after("max"));
                Self::Range(min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX))
            }
            _ => Self::Any,
        }
    }

    fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(values) => values.iter().any(|one| one.eq_ignore_ascii_case(value)),
            Self::Range(min, max) => value
                .parse()
                .is_ok_and(|number: i64| (*min..=*max).contains(&number)),
        }
    }
}

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any text"),
            Self::OneOf(values) => write!(f, "one of {}", values.join(", ")),
            Self::Range(i64::MIN, i64::MAX) => f.write_str("a number"),
            Self::Range(min, i64::MAX) => write!(f, "a number from {min}"),
            Self::Range(i64::MIN, max) => write!(f, "a number up to {max}"),
            Self::Range(min, max) => write!(f, "a number from {min} to {max}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTION_LINES: &str = "\
option name Hash type spin default 16 min 1 max 64
option name  Skill Level  type spin min -5 default 0
option name Nodes type spin default 0 max 9
option name Seed type spin default 7
option name Style type combo default Solid var Solid var Very Wild
option name Ponder type check default false
option name Book File type string default <empty>
option name Clear Hash type button
id name option name";

    /// Returns the error for an option, or `None` if the value is accepted.
    fn option_error(name: &str, value: &str) -> Option<String> {
        let declared_options: Vec<_> = OPTION_LINES.lines().filter_map(UciOption::parse).collect();
        assert_eq!(declared_options.len(), 8);
        let options = [(name.to_owned(), value.to_owned())];
        let fault = check_options(&options, &declared_options).err()?;
        Some(fault.to_string())
    }

    #[test]
    fn allowed_values_are_accepted() {
        for (name, value) in [
            ("Hash", "1"),
            ("hash", "64"),
            ("skill level", "-5"),
            ("Skill Level", "99999"),
            ("Nodes", "-7"),
            ("Seed", "-123"),
            ("Style", "very wild"),
            ("PONDER", "True"),
            ("Book File", "/tmp/a book"),
            ("Clear Hash", ""),
        ] {
            assert_eq!(option_error(name, value), None, "{name}={value}");
        }
    }

    #[test]
    fn invalid_values_and_unknown_options_are_rejected() {
        for (name, value, why) in [
            (
                "Hash",
                "99",
                "value '99' for UCI option 'Hash': expected a number from 1 to 64",
            ),
            ("Hash", "0", "expected a number from 1 to 64"),
            ("hash", "16 MB", "expected a number from 1 to 64"),
            ("Skill Level", "-6", "expected a number from -5"),
            ("Nodes", "10", "expected a number up to 9"),
            ("Seed", "x", "expected a number"),
            ("Style", "Wild", "expected one of Solid, Very Wild"),
            ("Ponder", "on", "expected one of true, false"),
            (
                "Hsah",
                "16",
                "unknown UCI option 'Hsah': expected one of Hash, Skill Level, Nodes",
            ),
            ("Skill", "1", "unknown UCI option 'Skill'"),
        ] {
            let error = option_error(name, value).expect(name);
            assert!(error.contains(why), "{name}={value}: {error}");
        }
    }
}
