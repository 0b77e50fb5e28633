//! Who takes part in a contest, in the words of cutechess: `cmd=… proto=uci name=…` for a program,
//! `level=max` for the engine of this binary; and what they may spend on a move.

mod pace;

use std::path::Path;
use std::time::Duration;

use plyhouse_engine::game::EngineProtocol;
use plyhouse_engine::search::Level;

pub(super) use self::pace::{MoveLimits, Time, TimeControl};
use super::command::CommandLine;

/// A player of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entrant {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) pace: MoveLimits,
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
    pub(super) command: CommandLine,
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
            "dir",
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
    command: Option<String>,
    arguments: Vec<String>,
    directory: Option<String>,
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
            "cmd" => self.command = Some(value.clone()),
            "arg" => self.arguments.push(value.clone()),
            "dir" => self.directory = Some(value.clone()),
            "proto" => self.proto = Some(value.clone()),
            "level" => {
                self.level = Some(
                    value
                        .parse()
                        .map_err(|_| format!("there is no level {value}"))?,
                )
            }
            "tc" => self.time = Some(pace::time_control(value)?),
            "st" => self.time = Some(Time::Move(pace::seconds(value)?)),
            "nodes" => self.nodes = Some(pace::count(value)?),
            "depth" => self.depth = Some(u32::try_from(pace::count(value)?).unwrap_or(u32::MAX)),
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

    /// Whether these settings fit a level of this binary, which has no options and is not started.
    fn check_level(&self) -> Result<(), String> {
        if let Some((name, _)) = self.options.first() {
            return Err(format!(
                "option.{name}= is for programs: a level has no options"
            ));
        }
        if !self.arguments.is_empty() {
            return Err("arg= is for programs: a level takes no arguments".to_owned());
        }
        if self.directory.is_some() {
            return Err("dir= is for programs: a level has no working directory".to_owned());
        }
        Ok(())
    }

    /// The program of this `cmd=`, and the name of its file.
    fn into_program(self, command: &str, spoken: EngineProtocol) -> Result<(Kind, String), String> {
        let command = CommandLine::read(command, self.directory.as_deref(), self.arguments)?;
        let name = Path::new(&command.words[0]).file_name();
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let proto = proto(self.proto.as_deref(), spoken)?;
        let options = self.options;
        if proto != Proto::Uci && !options.is_empty() {
            return Err("only UCI has options".to_owned());
        }
        let program = Program {
            command,
            proto,
            options,
        };
        Ok((Kind::Program(program), name))
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
        let pace = MoveLimits {
            time: draft.time.unwrap_or(Time::Free),
            nodes: draft.nodes,
            depth: draft.depth,
            margin: draft.margin.unwrap_or(pace::MARGIN),
        };
        let given_name = draft.name.take();
        let (kind, name) = match (draft.level, draft.command.take()) {
            (Some(level), None) => {
                draft.check_level()?;
                (Kind::Level(level), level.id().to_owned())
            }
            (None, Some(command)) => draft.into_program(&command, spoken)?,
            _ => return Err("a player has cmd=, or level=, and not both".to_owned()),
        };
        let entrant = Self {
            name: given_name.unwrap_or(name),
            kind,
            pace,
        };
        entrant.check_pace()?;
        Ok(entrant)
    }

    /// Whether what it may spend can be told to it, and has an end.
    fn check_pace(&self) -> Result<(), String> {
        let MoveLimits {
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
            Kind::Program(program) => check_clock(program.proto, time),
            Kind::Level(_) => Ok(()),
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

/// Whether a protocol has words for this time.
fn check_clock(proto: Proto, time: Time) -> Result<(), String> {
    let Time::Clock(clock) = time else {
        return Ok(());
    };
    match proto {
        Proto::Gtp { .. } if clock.at_start() < Duration::from_secs(1) => {
            Err("GTP counts whole seconds: tc= needs at least one, or use st=".to_owned())
        }
        Proto::Piskvork if clock.moves.is_some() => Err(
            "the protocol of Gomocup has no words for a number of moves in tc=: \
             use tc=TIME+INCREMENT or st="
                .to_owned(),
        ),
        Proto::Uci | Proto::Gtp { .. } | Proto::Piskvork => Ok(()),
    }
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
                command: CommandLine {
                    words: vec!["/usr/games/stockfish".to_owned()],
                    directory: None,
                },
                proto: Proto::Uci,
                options: vec![("UCI_Elo".to_owned(), "2000".to_owned())],
            }),
            pace: MoveLimits {
                time: Time::Clock(TimeControl {
                    main: Duration::from_secs(10),
                    increment: Duration::from_millis(100),
                    moves: None,
                }),
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
        assert_eq!(go.command.words, ["gnugo", "--mode", "gtp"]);
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
            ("level=max tc=1+x", "the increment is in seconds"),
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

    /// What a level does not have was ignored before, and the user believed that it was set.
    #[test]
    fn settings_that_a_level_does_not_have_are_refused() {
        for (words, why) in [
            (
                ["level=hard", "option.Hash=16"],
                "option.Hash= is for programs",
            ),
            (["option.Threads=2", "level=easy"], "option.Threads= is for"),
            (
                ["level=easy", "option.Clear Hash="],
                "option.Clear Hash= is for",
            ),
            (["level=beginner", "arg=--fast"], "arg= is for programs"),
            (["dir=/", "level=medium"], "dir= is for programs"),
        ] {
            let settings = words.map(|word| Setting::read(word).expect(word));
            let refused = Entrant::read(settings.iter(), UCI).expect_err(why);
            assert!(refused.contains(why), "{words:?}: {refused}");
        }
    }

    /// A clock that the protocol cannot tell is refused, not told wrongly.
    #[test]
    fn clocks_that_a_protocol_has_no_words_for_are_refused() {
        let go = EngineProtocol::Gtp { komi: 7 };
        let gomoku = EngineProtocol::Piskvork;
        for (text, spoken, why) in [
            ("cmd=a tc=0+0.1", go, "GTP counts whole seconds"),
            ("cmd=a tc=40/0.5", go, "GTP counts whole seconds"),
            ("cmd=a tc=0:00.9", go, "GTP counts whole seconds"),
            ("cmd=a tc=40/60", gomoku, "no words for a number of moves"),
            (
                "cmd=a tc=1/0:05+1",
                gomoku,
                "no words for a number of moves",
            ),
        ] {
            let refused = read(text, spoken).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
        for (text, spoken) in [
            ("cmd=a tc=0+1", go),
            ("cmd=a tc=25/10:00", go),
            ("cmd=a tc=0/0.2+0.1", gomoku),
            ("cmd=a tc=40/0.5+0.01", UCI),
            ("level=max tc=40/0.5", gomoku),
        ] {
            read(text, spoken).expect(text);
        }
    }
}
