//! Who takes part in a contest, in the words of cutechess: `cmd=… proto=uci name=…` for a program,
//! `level=max` for the engine of this binary; and what they may spend on a move.

use std::path::Path;
use std::time::Duration;

use plyhouse_engine::game::EngineProtocol;
use plyhouse_engine::search::{Level, Limits};

/// How much later than allowed an answer may come, where nothing is said: what a busy machine needs.
const MARGIN: Duration = Duration::from_millis(100);

/// A player of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entrant {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) pace: Pace,
}

/// What a player is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The engine of this binary.
    Level(Level),
    /// Another program.
    Program(Program),
}

/// How another program is started and spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The program, and its arguments.
    pub(super) command: Vec<String>,
    pub(super) proto: Proto,
    /// Options of UCI, by name.
    pub(super) options: Vec<(String, String)>,
}

/// How another program is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proto {
    Uci,
    Gtp { komi: u32 },
    Piskvork,
}

/// What may be spent on a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) time: Time,
    pub(super) nodes: Option<u64>,
    pub(super) depth: Option<u32>,
    /// How much later an answer may come.
    pub(super) margin: Duration,
}

/// How time is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// It is not.
    Free,
    /// So much for each move.
    Move(Duration),
    /// So much for the game, and so much more after each move.
    Clock { main: Duration, increment: Duration },
}

/// A word of the command line: `st=0.5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    key: String,
    value: String,
}

impl Setting {
    /// Reads a word of the command line.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("it is to be KEY=VALUE")?;
        let known = [
            "cmd",
            "arg",
            "proto",
            "name",
            "level",
            "tc",
            "st",
            "nodes",
            "depth",
            "timemargin",
        ];
        if known.contains(&key) || key.starts_with("option.") {
            return Ok(Self {
                key: key.to_owned(),
                value: value.to_owned(),
            });
        }
        Err(format!(
            "{key} is none of {}, option.NAME",
            known.join(", ")
        ))
    }
}

/// What the settings of one player say, before it is known whether they fit together.
#[derive(Default)]
struct Draft {
    name: Option<String>,
    command: Option<Vec<String>>,
    arguments: Vec<String>,
    proto: Option<String>,
    level: Option<Level>,
    options: Vec<(String, String)>,
    time: Option<Time>,
    nodes: Option<u64>,
    depth: Option<u32>,
    margin: Option<Duration>,
}

impl Draft {
    /// Takes over a setting; the last of a kind counts.
    fn set(&mut self, Setting { key, value }: &Setting) -> Result<(), String> {
        match key.as_str() {
            "name" => self.name = Some(value.clone()),
            "cmd" => self.command = Some(value.split_whitespace().map(str::to_owned).collect()),
            "arg" => self.arguments.push(value.clone()),
            "proto" => self.proto = Some(value.clone()),
            "level" => {
                self.level = Some(
                    value
                        .parse()
                        .map_err(|_| format!("there is no level {value}"))?,
                )
            }
            "tc" => self.time = Some(clock(value)?),
            "st" => self.time = Some(Time::Move(seconds(value)?)),
            "nodes" => self.nodes = Some(count(value)?),
            "depth" => self.depth = Some(u32::try_from(count(value)?).unwrap_or(u32::MAX)),
            "timemargin" => {
                let ms = value
                    .parse()
                    .map_err(|_| format!("{value} are no milliseconds"))?;
                self.margin = Some(Duration::from_millis(ms));
            }
            option => {
                let name = option.trim_start_matches("option.").to_owned();
                self.options.push((name, value.clone()));
            }
        }
        Ok(())
    }
}

impl Entrant {
    /// The player that has these settings, those of all players first, in a game whose programs speak
    /// this protocol.
    pub(super) fn read<'a>(
        settings: impl Iterator<Item = &'a Setting>,
        spoken: EngineProtocol,
    ) -> Result<Self, String> {
        let mut draft = Draft::default();
        for setting in settings {
            draft.set(setting)?;
        }
        let pace = Pace {
            time: draft.time.unwrap_or(Time::Free),
            nodes: draft.nodes,
            depth: draft.depth,
            margin: draft.margin.unwrap_or(MARGIN),
        };
        let (kind, name) = match (draft.level, draft.command) {
            (Some(level), None) => (Kind::Level(level), level.id().to_owned()),
            (None, Some(mut command)) => {
                let program = command.first().ok_or("cmd= names no program")?;
                let name = Path::new(program).file_name().unwrap_or_default();
                let name = name.to_string_lossy().into_owned();
                command.append(&mut draft.arguments);
                let proto = proto(draft.proto.as_deref(), spoken)?;
                let options = draft.options;
                if proto != Proto::Uci && !options.is_empty() {
                    return Err("only UCI has options".to_owned());
                }
                let program = Program {
                    command,
                    proto,
                    options,
                };
                (Kind::Program(program), name)
            }
            _ => return Err("a player has cmd=, or level=, and not both".to_owned()),
        };
        let entrant = Self {
            name: draft.name.unwrap_or(name),
            kind,
            pace,
        };
        entrant.check_pace()?;
        Ok(entrant)
    }

    /// Whether what it may spend can be told to it, and has an end.
    fn check_pace(&self) -> Result<(), String> {
        let Pace {
            time, nodes, depth, ..
        } = self.pace;
        let is_free = time == Time::Free && nodes.is_none() && depth.is_none();
        match &self.kind {
            Kind::Level(Level::Max) if is_free => {
                Err("level=max needs a limit: tc=, st=, nodes= or depth=".to_owned())
            }
            Kind::Program(Program {
                proto: Proto::Uci, ..
            }) if is_free => Err("by UCI a limit is needed: tc=, st=, nodes= or depth=".to_owned()),
            Kind::Program(program)
                if program.proto != Proto::Uci && (nodes.is_some() || depth.is_some()) =>
            {
                Err("nodes= and depth= can be told by UCI alone".to_owned())
            }
            Kind::Level(_) | Kind::Program(_) => Ok(()),
        }
    }
}

/// The protocol of this name, if programs of the game may speak it; without a name the game's own.
fn proto(name: Option<&str>, spoken: EngineProtocol) -> Result<Proto, String> {
    match (name, spoken) {
        (None | Some("gtp"), EngineProtocol::Gtp { komi }) => Ok(Proto::Gtp { komi }),
        (None | Some("piskvork"), EngineProtocol::Piskvork) => Ok(Proto::Piskvork),
        (None, EngineProtocol::Uci) | (Some("uci"), _) => Ok(Proto::Uci),
        (Some(name @ ("gtp" | "piskvork")), _) => {
            Err(format!("programs of this game are not spoken to by {name}"))
        }
        (Some(name), _) => Err(format!("there is no protocol {name}: uci, gtp or piskvork")),
    }
}

impl Pace {
    /// What a search that has so much time may spend.
    pub(super) fn limits(&self, time: Option<Duration>) -> Limits {
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time,
            threads: None,
        }
    }
}

/// Reads `10+0.1`, `60` or `inf`.
fn clock(text: &str) -> Result<Time, String> {
    if text == "inf" {
        return Ok(Time::Free);
    }
    let (main, increment) = text.split_once('+').unwrap_or((text, "0"));
    let increment = if increment == "0" {
        Duration::ZERO
    } else {
        seconds(increment)?
    };
    Ok(Time::Clock {
        main: seconds(main)?,
        increment,
    })
}

/// Seconds above 0, of less than a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let found = text
        .parse()
        .ok()
        .filter(|found| (0.001..86_400.0).contains(found));
    found
        .map(Duration::from_secs_f64)
        .ok_or(format!("{text} are no seconds"))
}

fn count(text: &str) -> Result<u64, String> {
    let found = text.parse().ok().filter(|found| *found > 0);
    found.ok_or(format!("{text} is no number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UCI: EngineProtocol = EngineProtocol::Uci;

    fn read(text: &str, spoken: EngineProtocol) -> Result<Entrant, String> {
        let settings: Result<Vec<_>, _> = text.split_whitespace().map(Setting::read).collect();
        Entrant::read(settings?.iter(), spoken)
    }

    #[test]
    fn players_are_told_in_the_words_of_cutechess() {
        let program = read(
            "tc=1 cmd=/usr/games/stockfish proto=uci tc=10+0.1 timemargin=5 option.UCI_Elo=2000 depth=8",
            UCI,
        );
        let expected = Entrant {
            name: "stockfish".to_owned(),
            kind: Kind::Program(Program {
                command: vec!["/usr/games/stockfish".to_owned()],
                proto: Proto::Uci,
                options: vec![("UCI_Elo".to_owned(), "2000".to_owned())],
            }),
            pace: Pace {
                time: Time::Clock {
                    main: Duration::from_secs(10),
                    increment: Duration::from_millis(100),
                },
                nodes: None,
                depth: Some(8),
                margin: Duration::from_millis(5),
            },
        };
        assert_eq!(program, Ok(expected));
        let own = read("st=0.5 level=max name=new nodes=9", UCI).expect("it is right");
        assert_eq!(
            (own.name.as_str(), own.kind),
            ("new", Kind::Level(Level::Max))
        );
        assert_eq!(own.pace.time, Time::Move(Duration::from_millis(500)));
        let go = read(
            "cmd=gnugo arg=--mode arg=gtp tc=inf",
            EngineProtocol::Gtp { komi: 7 },
        );
        let Kind::Program(go) = go.expect("it is right").kind else {
            panic!("it is a program");
        };
        assert_eq!(go.command, ["gnugo", "--mode", "gtp"]);
        assert_eq!(go.proto, Proto::Gtp { komi: 7 });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, why) in [
            ("level", "it is to be KEY=VALUE"),
            ("what=1", "what is none of"),
            ("name=a st=1", "cmd=, or level="),
            ("cmd=a level=max st=1", "cmd=, or level="),
            ("level=max", "needs a limit"),
            ("cmd=a proto=uci tc=inf", "by UCI a limit is needed"),
            ("cmd=a proto=gtp st=1", "not spoken to by gtp"),
            ("cmd=a proto=xboard st=1", "no protocol xboard"),
            ("level=best st=1", "no level best"),
            ("level=max st=0", "no seconds"),
            ("level=max tc=1+x", "no seconds"),
            ("level=max nodes=0", "no number above 0"),
        ] {
            let refused = read(text, UCI).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
        let gomoku = EngineProtocol::Piskvork;
        for text in ["cmd=a nodes=9", "cmd=a st=1 option.Hash=1"] {
            assert!(read(text, gomoku).is_err(), "{text}");
        }
    }
}
