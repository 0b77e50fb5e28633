//! Engines of a match and their limits, in the syntax of cutechess-cli. `cmd=… proto=uci name=…`
//! describes an external program. `level=max` describes a level of the built-in engine.

mod move_limits;

use std::path::Path;
use std::time::Duration;

use plyhouse_engine::game::EngineProtocol;
use plyhouse_engine::search::Level;
use plyhouse_engine_host::{EngineConfig, Protocol};

pub(crate) use self::move_limits::{MoveLimits, TimeControl, TimeLimit};
use self::move_limits::{parse_move_time, parse_positive_count, parse_time_control};
use super::engine_command_line::parse_command;

/// Engine of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EngineSpec {
    pub(crate) name: String,
    pub(crate) kind: EngineKind,
    pub(crate) limits: MoveLimits,
}

/// Kind of engine: built-in or external.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineKind {
    /// Plays a uniformly random legal move.
    Random,
    /// Level of the built-in engine.
    Level(Level),
    /// External program.
    Program(EngineConfig),
}

/// Setting of an engine on the command line, such as `st=0.5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    key: String,
    value: String,
}

/// Keys of settings, except for `option.NAME`.
const KEYS: &str = "cmd, arg, dir, proto, name, level, tc, st, nodes, depth, timemargin";

impl Setting {
    /// Parses a setting of the form `KEY=VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        if !KEYS.split(", ").any(|known| known == key) && !key.starts_with("option.") {
            return Err(format!(
                "unknown key '{key}': expected {KEYS} or option.NAME"
            ));
        }
        Ok(Self {
            key: key.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Settings of one engine, not yet checked for consistency.
#[derive(Default)]
struct EngineSpecBuilder {
    name: Option<String>,
    command: Option<String>,
    arguments: Vec<String>,
    directory: Option<String>,
    protocol: Option<String>,
    level: Option<Level>,
    options: Vec<(String, String)>,
    limits: MoveLimits,
}

impl EngineSpecBuilder {
    /// Applies a setting. A repeated key overrides the earlier value, except that values of `arg=`
    /// and `option.NAME=` accumulate. `tc=` and `st=` set the same limit, so the later of the two
    /// applies.
    fn apply_setting(&mut self, Setting { key, value }: &Setting) -> Result<(), String> {
        match key.as_str() {
            "name" => self.name = Some(value.clone()),
            "cmd" => self.command = Some(value.clone()),
            "arg" => self.arguments.push(value.clone()),
            "dir" => self.directory = Some(value.clone()),
            "proto" => self.protocol = Some(value.clone()),
            "level" => {
                self.level = Some(value.parse().map_err(|_| {
                    let levels = Level::ALL.map(Level::id).join(", ");
                    format!("unknown level '{value}': expected one of {levels}")
                })?)
            }
            "tc" => self.limits.time = parse_time_control(value)?,
            "st" => self.limits.time = TimeLimit::PerMove(parse_move_time(value)?),
            "nodes" => self.limits.nodes = Some(parse_positive_count(value)?),
            "depth" => {
                let depth = parse_positive_count(value)?;
                self.limits.depth = Some(u32::try_from(depth).unwrap_or(u32::MAX));
            }
            "timemargin" => {
                let ms = value.parse().map_err(|_| {
                    format!("invalid timemargin '{value}': expected a number of milliseconds")
                })?;
                self.limits.time_margin = Duration::from_millis(ms);
            }
            option => {
                let name = option.trim_start_matches("option.").to_owned();
                self.options.push((name, value.clone()));
            }
        }
        Ok(())
    }

    /// Checks that the settings of a built-in level contain no options, arguments or working
    /// directory. Options, arguments and working directories only apply to external programs.
    fn check_level(&self) -> Result<(), String> {
        let (key, reason) = if let Some((name, _)) = self.options.first() {
            (format!("option.{name}"), "has no options")
        } else if !self.arguments.is_empty() {
            ("arg".to_owned(), "takes no arguments")
        } else if self.directory.is_some() {
            ("dir".to_owned(), "has no working directory")
        } else {
            return Ok(());
        };
        Err(format!("{key}= is valid only with cmd=: a level {reason}"))
    }

    /// Builds the specification of the program that `command` starts. Also returns the file name of
    /// the program, which is the default name of the engine.
    fn into_program_spec(
        self,
        command: &str,
        game_protocol: EngineProtocol,
    ) -> Result<(EngineKind, String), String> {
        let command = parse_command(command, self.directory.as_deref(), self.arguments)?;
        let name = Path::new(&command.words[0]).file_name();
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let protocol = choose_protocol(self.protocol.as_deref(), game_protocol)?;
        let options = self.options;
        if protocol != Protocol::Uci && !options.is_empty() {
            return Err("option.NAME= is valid only for UCI programs".to_owned());
        }
        let program = EngineConfig {
            command,
            protocol,
            options,
        };
        Ok((EngineKind::Program(program), name))
    }
}

impl EngineSpec {
    /// Builds an engine from its settings. The settings of `--each` must come first, because a
    /// later setting overrides an earlier setting. `game_protocol` is the protocol of an external
    /// program whose settings contain no protocol.
    pub(crate) fn from_settings<'a>(
        settings: impl Iterator<Item = &'a Setting>,
        game_protocol: EngineProtocol,
    ) -> Result<Self, String> {
        let mut builder = EngineSpecBuilder::default();
        for setting in settings {
            builder.apply_setting(setting)?;
        }
        let (limits, given_name) = (builder.limits, builder.name.take());
        let (kind, name) = match (builder.level, builder.command.take()) {
            (Some(level), None) => {
                builder.check_level()?;
                (EngineKind::Level(level), level.id().to_owned())
            }
            (None, Some(command)) => builder.into_program_spec(&command, game_protocol)?,
            _ => return Err("each player needs either cmd= or level=".to_owned()),
        };
        let spec = Self {
            name: given_name.unwrap_or(name),
            kind,
            limits,
        };
        spec.check_limits()?;
        Ok(spec)
    }

    /// Checks the search limits of the engine. The level `max` and UCI programs need at least one
    /// limit. Programs with another protocol can only have limits that the protocol can express.
    fn check_limits(&self) -> Result<(), String> {
        let MoveLimits {
            time, nodes, depth, ..
        } = self.limits;
        let is_free = time == TimeLimit::Unlimited && nodes.is_none() && depth.is_none();
        match &self.kind {
            EngineKind::Level(Level::Max) if is_free => {
                Err("level=max needs a limit: tc=, st=, nodes= or depth=".to_owned())
            }
            EngineKind::Program(program) => match program.protocol {
                Protocol::Uci if is_free => {
                    Err("UCI programs need a limit: tc=, st=, nodes= or depth=".to_owned())
                }
                Protocol::Gtp { .. } | Protocol::Piskvork if nodes.is_some() || depth.is_some() => {
                    Err("nodes= and depth= are valid only for UCI programs and levels".to_owned())
                }
                protocol => check_protocol_clock(protocol, time),
            },
            EngineKind::Random | EngineKind::Level(_) => Ok(()),
        }
    }
}

/// Returns the protocol called `name`, or the default protocol of the game if `name` is `None`.
/// Returns an error message if the protocol is unknown or cannot be used for the game.
fn choose_protocol(name: Option<&str>, game_protocol: EngineProtocol) -> Result<Protocol, String> {
    match (name, game_protocol) {
        (None | Some("gtp"), EngineProtocol::Gtp { komi }) => Ok(Protocol::Gtp { komi }),
        (None | Some("piskvork"), EngineProtocol::Piskvork) => Ok(Protocol::Piskvork),
        (None, EngineProtocol::Uci) | (Some("uci"), _) => Ok(Protocol::Uci),
        (Some(name @ ("gtp" | "piskvork")), _) => Err(format!(
            "proto={name} is not available for this game: use proto=uci"
        )),
        (Some(name), _) => Err(format!(
            "unknown protocol '{name}': expected uci, gtp or piskvork"
        )),
    }
}

/// Checks that the protocol can express the engine's time control.
fn check_protocol_clock(proto: Protocol, time: TimeLimit) -> Result<(), String> {
    let TimeLimit::Clock(clock) = time else {
        return Ok(());
    };
    match proto {
        Protocol::Gtp { .. } if clock.initial_time() < Duration::from_secs(1) => {
            Err("GTP counts whole seconds: use at least 1 second in tc=, or st=".to_owned())
        }
        Protocol::Piskvork if clock.moves.is_some() => Err(
            "the Gomocup protocol (Piskvork) does not support MOVES in tc=: \
             use tc=TIME+INCREMENT or st="
                .to_owned(),
        ),
        Protocol::Uci | Protocol::Gtp { .. } | Protocol::Piskvork => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_engine_host::EngineCommand;

    use super::*;

    const UCI: EngineProtocol = EngineProtocol::Uci;

    fn parse_spec(text: &str, spoken: EngineProtocol) -> Result<EngineSpec, String> {
        let settings: Result<Vec<_>, _> = text.split_whitespace().map(Setting::parse).collect();
        EngineSpec::from_settings(settings?.iter(), spoken)
    }

    #[test]
    fn cutechess_settings_are_parsed() {
        let program = parse_spec(
            "tc=1 cmd=/usr/games/stockfish proto=uci tc=10+0.1 timemargin=5 option.UCI_Elo=2000 depth=8",
            UCI,
        );
        let expected = EngineSpec {
            name: "stockfish".to_owned(),
            kind: EngineKind::Program(EngineConfig {
                command: EngineCommand {
                    words: vec!["/usr/games/stockfish".into()],
                    directory: None,
                    inherits_stderr: false,
                },
                protocol: Protocol::Uci,
                options: vec![("UCI_Elo".to_owned(), "2000".to_owned())],
            }),
            limits: MoveLimits {
                time: TimeLimit::Clock(TimeControl {
                    base: Duration::from_secs(10),
                    increment: Duration::from_millis(100),
                    moves: None,
                }),
                nodes: None,
                depth: Some(8),
                time_margin: Duration::from_millis(5),
            },
        };
        assert_eq!(program, Ok(expected));
        let level_spec =
            parse_spec("st=0.5 level=max name=new nodes=9", UCI).expect("the settings are valid");
        assert_eq!(
            (level_spec.name.as_str(), level_spec.kind),
            ("new", EngineKind::Level(Level::Max))
        );
        assert_eq!(
            level_spec.limits.time,
            TimeLimit::PerMove(Duration::from_millis(500))
        );
        let go_spec = parse_spec(
            "cmd=gnugo arg=--mode arg=gtp tc=inf",
            EngineProtocol::Gtp { komi: 7 },
        );
        let EngineKind::Program(go) = go_spec.expect("the settings are valid").kind else {
            panic!("the engine is a program");
        };
        assert_eq!(go.command.words, ["gnugo", "--mode", "gtp"]);
        assert_eq!(go.protocol, Protocol::Gtp { komi: 7 });
    }

    #[test]
    fn invalid_or_conflicting_settings_are_refused() {
        for (text, expected) in [
            ("level", "expected KEY=VALUE"),
            ("what=1", "unknown key 'what'"),
            ("name=a st=1", "either cmd= or level="),
            ("cmd=a level=max st=1", "either cmd= or level="),
            ("level=max", "needs a limit"),
            ("cmd=a proto=uci tc=inf", "UCI programs need a limit"),
            ("cmd=a proto=gtp st=1", "proto=gtp is not available"),
            ("cmd=a proto=xboard st=1", "unknown protocol 'xboard'"),
            ("level=best st=1", "unknown level 'best'"),
            ("level=max st=0", "invalid st=0"),
            ("level=max tc=1+x", "expected the increment in seconds"),
            ("level=max nodes=0", "invalid number '0'"),
        ] {
            let error = parse_spec(text, UCI).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let gomoku = EngineProtocol::Piskvork;
        for text in ["cmd=a nodes=9", "cmd=a st=1 option.Hash=1"] {
            assert!(parse_spec(text, gomoku).is_err(), "{text}");
        }
    }

    /// Regression test: the parser used to ignore settings for external programs if the engine was
    /// a built-in level. Such settings must be rejected with an error.
    #[test]
    fn program_settings_are_refused_for_levels() {
        for (words, expected) in [
            (
                ["level=hard", "option.Hash=16"],
                "option.Hash= is valid only with cmd=",
            ),
            (
                ["option.Threads=2", "level=easy"],
                "option.Threads= is valid only with cmd=",
            ),
            (
                ["level=easy", "option.Clear Hash="],
                "option.Clear Hash= is valid only with cmd=",
            ),
            (
                ["level=beginner", "arg=--fast"],
                "arg= is valid only with cmd=",
            ),
            (["dir=/", "level=medium"], "dir= is valid only with cmd="),
        ] {
            let settings = words.map(|word| Setting::parse(word).expect(word));
            let error = EngineSpec::from_settings(settings.iter(), UCI).expect_err(expected);
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }

    #[test]
    fn clocks_unsupported_by_the_protocol_are_refused() {
        let go = EngineProtocol::Gtp { komi: 7 };
        let gomoku = EngineProtocol::Piskvork;
        for (text, spoken, expected) in [
            ("cmd=a tc=0+0.1", go, "GTP counts whole seconds"),
            ("cmd=a tc=40/0.5", go, "GTP counts whole seconds"),
            ("cmd=a tc=0:00.9", go, "GTP counts whole seconds"),
            ("cmd=a tc=40/60", gomoku, "does not support MOVES in tc="),
            ("cmd=a tc=1/0:05+1", gomoku, "does not support MOVES in tc="),
        ] {
            let error = parse_spec(text, spoken).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (text, spoken) in [
            ("cmd=a tc=0+1", go),
            ("cmd=a tc=25/10:00", go),
            ("cmd=a tc=0/0.2+0.1", gomoku),
            ("cmd=a tc=40/0.5+0.01", UCI),
            ("level=max tc=40/0.5", gomoku),
        ] {
            parse_spec(text, spoken).expect(text);
        }
    }
}
