//! The options that a UCI program says it has.

use std::fmt;

/// An option of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) name: String,
    pub(super) values: Values,
}

/// What an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Whatever is said.
    Any,
    /// One of these, in letters of either case.
    Listed(Vec<String>),
    /// A number from the first to the last.
    Between(i64, i64),
}

impl Offered {
    /// Reads a line of the program's, if it names an option.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (name, kind) = line.strip_prefix("option name ")?.split_once(" type ")?;
        Some(Self {
            name: name.to_owned(),
            values: Values::read(kind),
        })
    }
}

impl Values {
    fn read(kind: &str) -> Self {
        let listed = |values: &[&str]| Self::Listed(values.iter().map(|&v| v.to_owned()).collect());
        match kind.split(' ').next() {
            Some("check") => listed(&["true", "false"]),
            Some("combo") => listed(&kind.split(" var ").skip(1).collect::<Vec<_>>()),
            Some("spin") => {
                let after = |key: &str| {
                    let mut words = kind.split(' ').skip_while(|word| *word != key);
                    words.nth(1)?.parse().ok()
                };
                Self::Between(
                    after("min").unwrap_or(i64::MIN),
                    after("max").unwrap_or(i64::MAX),
                )
            }
            _ => Self::Any,
        }
    }

    /// Whether it takes this.
    pub(super) fn takes(&self, value: &str) -> bool {
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
            Self::Any => f.write_str("anything"),
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

    fn values(kind: &str) -> Values {
        let line = format!("option name Some Thing type {kind}");
        let offered = Offered::read(&line).expect("an option");
        assert_eq!(offered.name, "Some Thing");
        offered.values
    }

    #[test]
    fn a_number_is_taken_within_its_ends() {
        let hash = values("spin default 16 min 1 max 1024");
        assert_eq!(hash, Values::Between(1, 1024));
        for (value, is_taken) in [("1", true), ("1024", true), ("0", false), ("x", false)] {
            assert_eq!(hash.takes(value), is_taken, "{value}");
        }
        for (kind, value, is_taken, told) in [
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
            let values = values(kind);
            assert_eq!(values.takes(value), is_taken, "{kind}: {value}");
            assert_eq!(values.to_string(), told);
        }
    }

    #[test]
    fn what_is_listed_is_taken_in_either_case() {
        let style = values("combo default Solid var Solid var Very Wild");
        assert!(style.takes("very wild") && !style.takes("Wild"));
        assert_eq!(style.to_string(), "one of Solid, Very Wild");
        assert!(values("check default true").takes("false"));
        assert!(!values("check default true").takes("on"));
    }

    #[test]
    fn a_text_is_taken_as_it_is() {
        assert_eq!(values("string default <empty>"), Values::Any);
        assert!(values("button").takes(""));
        assert_eq!(Offered::read("id name Somebody"), None);
    }
}
