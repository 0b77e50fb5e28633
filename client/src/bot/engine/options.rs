//! The options that a UCI engine says it has.

use std::fmt;

use crate::bot::program::Fault;

/// An option of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offered {
    name: String,
    values: Values,
}

/// What an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
    /// Any text.
    Any,
    /// One of these, in letters of either case.
    Listed(Vec<String>),
    /// A number from the first to the last.
    Between(i64, i64),
}

/// Checks options that a user has set against those that the engine has.
pub(super) fn check(options: &[(String, String)], offered: &[Offered]) -> Result<(), Fault> {
    for (name, value) in options {
        let known = offered
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name));
        let option = known.ok_or_else(|| Fault::NoOption(name.clone()))?;
        if !option.values.takes(value) {
            return Err(Fault::BadValue {
                name: option.name.clone(),
                takes: option.values.to_string(),
                value: value.clone(),
            });
        }
    }
    Ok(())
}

impl Offered {
    /// Reads `option name NAME type TYPE …`; `None` for other lines.
    pub(super) fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["option", "name", rest @ ..] = words.as_slice() else {
            return None;
        };
        let place = rest.iter().position(|word| *word == "type")?;
        let (name, kind) = (rest[..place].join(" "), &rest[place + 1..]);
        Some(Self {
            name,
            values: Values::read(kind),
        })
    }
}

impl Values {
    fn read(words: &[&str]) -> Self {
        match words.first() {
            Some(&"check") => Self::Listed(["true", "false"].map(str::to_owned).into()),
            Some(&"combo") => {
                let values = words.split(|word| *word == "var").skip(1);
                Self::Listed(values.map(|value| value.join(" ")).collect())
            }
            Some(&"spin") => {
                let after = |key: &str| {
                    let place = words.iter().position(|word| *word == key)?;
                    words.get(place + 1)?.parse().ok()
                };
                let (least, greatest) = (after("min"), after("max"));
                Self::Between(least.unwrap_or(i64::MIN), greatest.unwrap_or(i64::MAX))
            }
            _ => Self::Any,
        }
    }

    fn takes(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(all) => all.iter().any(|one| one.eq_ignore_ascii_case(value)),
            Self::Between(least, greatest) => value
                .parse()
                .is_ok_and(|number: i64| (*least..=*greatest).contains(&number)),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any text"),
            Self::Listed(all) => write!(f, "one of {}", all.join(", ")),
            Self::Between(i64::MIN, i64::MAX) => f.write_str("a number"),
            Self::Between(least, i64::MAX) => write!(f, "a number from {least}"),
            Self::Between(i64::MIN, greatest) => write!(f, "a number up to {greatest}"),
            Self::Between(least, greatest) => write!(f, "a number from {least} to {greatest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
option name Hash type spin default 16 min 1 max 64
option name  Skill Level  type spin min -5 default 0
option name Nodes type spin default 0 max 9
option name Seed type spin default 7
option name Style type combo default Solid var Solid var Very Wild
option name Ponder type check default false
option name Book File type string default <empty>
option name Clear Hash type button
id name option name";

    /// What is wrong with an option; nothing if it is taken.
    fn refused(name: &str, value: &str) -> Option<String> {
        let offered: Vec<_> = LINES.lines().filter_map(Offered::read).collect();
        assert_eq!(offered.len(), 8);
        let options = [(name.to_owned(), value.to_owned())];
        let fault = check(&options, &offered).err()?;
        Some(fault.to_string())
    }

    #[test]
    fn values_that_an_option_takes_pass() {
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
            assert_eq!(refused(name, value), None, "{name}={value}");
        }
    }

    #[test]
    fn other_values_and_names_are_refused() {
        for (name, value, why) in [
            ("Hash", "99", "takes a number from 1 to 64, not \"99\""),
            ("Hash", "0", "takes a number from 1 to 64"),
            ("hash", "16 MB", "takes a number from 1 to 64"),
            ("Skill Level", "-6", "takes a number from -5,"),
            ("Nodes", "10", "takes a number up to 9,"),
            ("Seed", "x", "takes a number,"),
            ("Style", "Wild", "takes one of Solid, Very Wild"),
            ("Ponder", "on", "takes one of true, false"),
            ("Hsah", "16", "has no option \"Hsah\""),
            ("Skill", "1", "has no option"),
        ] {
            let told = refused(name, value).expect(name);
            assert!(told.contains(why), "{name}={value}: {told}");
        }
    }
}
