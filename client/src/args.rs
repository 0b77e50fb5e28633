//! Definition of the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use plyhouse_protocol::{
    ClockControl, MatchCode, MatchResult, PlayerName, RatingPool, SpectatorAccess,
};
use serde::Deserialize;

use crate::clock_notation::parse_clock;
use crate::server_address::{DEFAULT_SERVER_URL, TrustedCa};

/// Port that is appended to a server address that has neither a scheme nor a port.
const DEFAULT_PORT_SUFFIX: &str = ":7878";

/// Game that is played if the command line does not name one.
pub(crate) const DEFAULT_GAME: &str = "tic-tac-toe";

/// Games and bot levels that current servers offer. `ply` uses these lists only for shell
/// completion.
const GAME_IDS: [&str; 7] = [
    "tic-tac-toe",
    "connect-four",
    "othello",
    "draughts",
    "chess",
    "gomoku",
    "go",
];
const LEVEL_IDS: [&str; 5] = ["beginner", "easy", "medium", "hard", "max"];

/// Returns the command-line definition for shell completion. Completion suggests only known games
/// and levels. `ply` itself accepts any name, because a server may offer others.
pub(crate) fn completion_command() -> clap::Command {
    let with_values = |argument: clap::Arg| match argument.get_id().as_str() {
        "game" => argument.value_parser(GAME_IDS),
        "bot" | "stand_in" | "against" => argument.value_parser(LEVEL_IDS),
        _ => argument,
    };
    let mut command = Arguments::command();
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .filter(|name| name != "key")
        .collect();
    for name in names {
        command = command.mut_subcommand(name, |command| command.mut_args(with_values));
    }
    command
}

/// Games, levels and examples that are printed below the help of `ply play`.
const PLAY_EXAMPLES: &str = "\
Games: tic-tac-toe, connect-four, othello, draughts, chess, gomoku, go
Levels, from the weakest: beginner, easy, medium, hard, max
(a server may have others, and names them if it has not what was asked for)

Examples:
  ply play                         be asked what to play, and against whom
  ply play chess --bot easy        against a bot
  ply play othello --bot max --as second
                                   a bot of the strongest level moves first
  ply play go --open               a friend joins by the code or the link that is
                                   shown; no bot comes by itself
  ply play chess --open --clock 10+5
                                   the same by the clock
  ply play chess --seek            whoever looks for the same
  ply play chess --seek --bot easy
                                   the same, or a bot if nobody comes
  ply play chess --seek --clock 5+3 --rated
                                   for ratings; `ply register NAME` comes first";

const JOIN_EXAMPLES: &str = "\
Examples:
  ply join K7QM2P
  ply join https://play.example.org/m/K7QM2P
                                   a link names the server, too

After a break, or when a bot has played on for you, the same command leads back to
your seat; `ply games` lists your matches.";

const WATCH_EXAMPLES: &str = "\
Levels, from the weakest: beginner, easy, medium, hard, max

Examples:
  ply watch K7QM2P                 look on at a match; `ply list` shows which there are
  ply watch --bots max,easy        two bots play tic-tac-toe
  ply watch chess --bots hard,medium --pace 2000
                                   two bots play chess, each for two seconds at least";

const LIST_EXAMPLES: &str = "\
Examples:
  ply list                         all games
  ply list chess --follow          chess only, and what changes from now on

Beside each match stands the command that joins or watches it. Your own matches are
listed by `ply games`, those that are over by `ply history`.";

const PLY_EXAMPLES: &str = "\
Examples:
  ply play                        be asked what to play, against whom and which side
  ply play --bot hard             play tic-tac-toe against a bot
  ply play connect-four           play Connect Four; be asked the rest
  ply play --open --as second     wait for a friend, who moves first
  ply join K7QM2P                 take the open seat, or go on after a break
  ply games                       your matches, those first in which it is your turn
  ply play --seek --bot medium    play anybody, or a bot if nobody comes
  ply play chess --open --clock 5+3 --stand-in hard
                                  five minutes, and three seconds for each move; a
                                  bot plays on for whoever loses the connection
  ply watch K7QM2P                look on
  ply watch --bots max,easy       let two bots play each other
  ply pair                        a code, by which `ply login CODE` elsewhere is you,
                                  too
  yes \"$(seq 9)\" | ply play --bot easy
                                  a script: it tries each square until one is free

At the board:
  in tic-tac-toe b2, or 1 to 9 as on a number pad (7 8 9 is the top row);
  in connect-four 1 to 7, the number of a column;
  in chess e2e4, e2-e4 or Nf3, in draughts 11-15 or 22x15, in othello d3,
  in gomoku h8, in go D4 or pass;
  draw, takeback, decline, hint, more time, say good game, abort, resign;
  rematch when it is over; bot easy where nobody has sat down yet;
  help, board, moves, played, quit

  In a terminal of at least 80 columns and 24 rows a match takes the whole screen:
  arrows and Enter move there, too, F1 tells which keys do what, and --plain shows
  lines instead.

Settings:
  ~/.config/ply/config.toml ($XDG_CONFIG_HOME; PLY_CONFIG names another file) says
  what is always so, unless the environment or the command line says otherwise:

    server = \"wss://play.example.org\"
    name = \"ada\"
    ca = \"own-authority.pem\"
    ascii = false
    plain = false
    color = \"auto\"

Exit codes:
  0 played (or watched) to the end, 1 stopped or failed, 2 wrong usage,
  3 no connection, 4 refused by the server";

/// Heading of the options that every command has.
const GLOBAL_OPTIONS_HEADING: &str = "Options of all commands";

/// Play board games on a Plyhouse server, against people or bots.
#[derive(Debug, Parser)]
#[command(name = "ply", version, after_help = PLY_EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// The server. `host` or `host:port` is enough, with port 7878 unless told otherwise; of a whole
    /// URL the port is a part, and 80 if there is none, or 443 after wss://, by which a server is
    /// named that speaks TLS.
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL_OPTIONS_HEADING,
        env = "PLYHOUSE_SERVER",
        default_value = DEFAULT_SERVER_URL,
        value_name = "URL",
        value_parser = parse_server_url
    )]
    pub(crate) server: String,

    /// Whom to believe about a server at wss://: the authorities whose certificates this file holds, in
    /// PEM, and nobody else. Without it those whom the system trusts.
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS_HEADING, env = "PLY_CA", value_name = "FILE", value_parser = TrustedCa::read_file)]
    pub(crate) ca: Option<TrustedCa>,

    /// The name that others see. Another name is another player, with seats of its own; without
    /// one the server gives you a guest's.
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS_HEADING, env = "PLY_NAME", value_parser = parse_player_name)]
    pub(crate) name: Option<PlayerName>,

    /// Write ASCII only: `K` for a king, `X` and `O` for stones and discs, `%` for a bot, `?` for letters
    /// that others wrote and ASCII has not. So it is, too, where LC_ALL, LC_CTYPE or LANG name an encoding
    /// other than UTF-8.
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS_HEADING, env = "PLY_ASCII", value_name = "BOOL", action = ArgAction::Set,
          num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, hide_possible_values = true)]
    pub(crate) ascii: bool,

    /// Show matches line by line, also where a full screen would be: in a terminal of at least 80 columns
    /// and 24 rows.
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS_HEADING, env = "PLY_PLAIN", value_name = "BOOL", action = ArgAction::Set,
          num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, hide_possible_values = true)]
    pub(crate) plain: bool,

    /// When to use colours: `auto` does on a terminal, unless NO_COLOR is set.
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL_OPTIONS_HEADING,
        env = "PLY_COLOR",
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        alias = "colour"
    )]
    pub(crate) color: ColorMode,

    /// Print the server's messages as they come, one JSON object a line, instead of boards and
    /// sentences. What is secret of the `welcome` among them, the token, is left out.
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS_HEADING)]
    pub(crate) json: bool,
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ColorMode {
    /// Where it fits.
    Auto,
    /// In any case.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a match. Goes on with the one that was interrupted, if there is one.
    #[command(group = ArgGroup::new("opponent").multiple(true), after_help = PLAY_EXAMPLES)]
    Play(PlayArguments),
    /// Take the open seat of a match, or go on with one in which you already sit.
    #[command(after_help = JOIN_EXAMPLES)]
    Join {
        /// The match's code or id, as `ply play --open` and `ply list` print it, or a link to it.
        code: String,
    },
    /// Look on, to the end of the match.
    #[command(
        group = ArgGroup::new("what").required(true).multiple(true),
        after_help = WATCH_EXAMPLES
    )]
    Watch(WatchArguments),
    /// Seat a chess engine, or a program that plays Go or Gomoku, in a match.
    ///
    /// The program is started before the seat is taken, and ended with the match. One that ends early
    /// or takes too long is started anew and told the game, up to three times in a match; after that,
    /// and at once when it plays what is illegal or nothing that can be read, the match is resigned.
    /// So it is by Ctrl-C. A connection that drops is made again; but if `ply` itself is killed, nobody
    /// comes back to the seat.
    ///
    /// What the other side offers is answered: moves are taken back; a draw is taken where the program
    /// was half a pawn behind when it moved last (UCI tells that; of other programs a draw is declined).
    #[command(after_help = BOT_EXAMPLES)]
    Bot(BotArguments),
    /// Show the matches that can be joined or watched, and who looks for an opponent.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only this game.
        game: Option<String>,

        /// Go on telling what changes.
        #[arg(long)]
        follow: bool,
    },
    /// Show the matches that you have played to the end, the last first.
    History(HistoryArguments),
    /// Show what others may know of a player: what was won and lost, ratings, the last matches.
    Profile {
        /// The name of an account, or the id of any player; yourself if left out.
        #[arg(value_name = "NAME")]
        player: Option<String>,
    },
    /// Show who plays a game best, of those who play for ratings.
    Leaders {
        /// The game.
        game: String,

        /// Among whom: live, days (matches over days) or bots.
        #[arg(long, value_name = "POOL", default_value = "live", value_parser = parse_rating_pool)]
        pool: RatingPool,

        /// Only those behind this place.
        #[arg(long, value_name = "PLACE")]
        after: Option<u64>,

        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 20,
            value_parser = clap::value_parser!(u64).range(1..=100))]
        limit: u64,
    },
    /// Show the matches that you play, those first in which it is your turn.
    Games,
    /// Show a match, as it stands or as it stood.
    Show {
        /// Its id or its code.
        #[arg(value_name = "MATCH")]
        target: String,

        /// As it stood after so many moves.
        #[arg(long, value_name = "N")]
        ply: Option<u64>,
    },
    /// Have a match that you have played looked at again: what each position was worth, which moves were
    /// mistakes, and why.
    Analyse {
        /// Its id or its code.
        #[arg(value_name = "MATCH")]
        target: String,

        /// How many positions are visited to value one of the match (in Go: how many games are played out).
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
        nodes: Option<u64>,
    },
    /// Print a code by which another device becomes yours, too: once, within five minutes.
    Pair,
    /// Become the player of another device, whose `ply pair` prints a code, or come back by a name and its
    /// password, or by a recovery key. Whoever was known here stays so under `--name`.
    Login {
        /// The pairing code; or a name, whose password is asked for, unless PLYHOUSE_PASSWORD holds it. Without
        /// either, a code is asked for; so is a recovery key, which as an argument everybody on this machine
        /// could see.
        #[arg(value_name = "CODE|NAME", value_parser = parse_login_target)]
        target: Option<LoginTarget>,

        /// What this device is called in the list of yours.
        #[arg(long, value_name = "LABEL", value_parser = parse_player_name)]
        label: Option<PlayerName>,
    },
    /// Take a name that is yours alone. Everything that you play stays yours.
    ///
    /// A password is asked for, twice of a person; of a script it is the next line of the input.
    Register {
        /// The name.
        #[arg(value_name = "NAME", value_parser = parse_player_name)]
        account_name: PlayerName,

        /// Without a password: only your devices and your recovery key are you then.
        #[arg(long)]
        no_password: bool,

        /// By an invitation, where the server wants one: it is the next line of the input, after the password.
        #[arg(long = "invited")]
        has_invitation: bool,
    },
    /// Take another name instead of the one that is yours alone.
    Rename {
        /// The name.
        #[arg(value_name = "NAME", value_parser = parse_player_name)]
        account_name: PlayerName,
    },
    /// Set a password, or another one. It is asked for, and then the one until now, unless PLYHOUSE_PASSWORD
    /// holds that.
    Password,
    /// Keys by which programs of your own play as you.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Print a key by which you come back if all your devices are lost. An older key is void then.
    Recovery,
    /// Be forgotten: your sessions, keys, programs and account end, and `someone` stands for your name in all
    /// matches. It cannot be undone.
    Forget {
        /// That is meant.
        #[arg(long)]
        yes: bool,
    },
    /// List your devices.
    Devices,
    /// Sign out: here, or on another device.
    Logout {
        /// Device to sign out: an id from `ply devices`, `others` or `all`. Default: this device.
        #[arg(value_name = "DEVICE")]
        device: Option<String>,

        /// Also if no device is left then.
        #[arg(long)]
        yes: bool,
    },
    /// Meet somebody no more: neither is paired with the other, challenges or joins the other, or hears what
    /// the other says.
    Block {
        /// The name of an account, or anybody's id.
        #[arg(value_name = "NAME|ID")]
        player: String,
    },
    /// Meet somebody again.
    Unblock {
        /// The name of an account, or anybody's id.
        #[arg(value_name = "NAME|ID")]
        player: String,
    },
    /// List those whom you do not meet.
    Blocked,
    /// Speak the protocol by hand: each line of the input is sent as it is, each message of the
    /// server is one line of the output.
    Raw,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the manual pages: `ply.1`, and one for each command.
    Manual {
        /// Where to. It is made if it is not there.
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
    },
}

/// What `ply history` takes.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Only this game.
    pub(crate) game: Option<String>,

    /// Of another player, by the id.
    #[arg(long, value_name = "ID")]
    pub(crate) player: Option<String>,

    /// Only against this player, by the id, or against a `bot`.
    #[arg(long = "with", value_name = "ID|bot")]
    pub(crate) opponent: Option<String>,

    /// Only what came to this: won, lost, drawn or none.
    #[arg(long, value_name = "RESULT", value_parser = parse_match_result)]
    pub(crate) result: Option<MatchResult>,

    /// Only what ended before this match.
    #[arg(long, value_name = "MATCH")]
    pub(crate) before: Option<String>,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) limit: u64,
}

/// What `ply play` takes.
#[derive(Debug, Args)]
pub(crate) struct PlayArguments {
    /// What to play, `connect-four` for one. Without it a person is asked, unless the opponent was named: then,
    /// and in a script, it is `tic-tac-toe`.
    pub(crate) game: Option<String>,

    /// Play against a bot of this level (with --seek: only if nobody comes).
    #[arg(long, value_name = "LEVEL", group = "opponent")]
    pub(crate) bot: Option<String>,

    /// Open a match and wait for a friend, who joins by its code.
    #[arg(long, group = "opponent", conflicts_with_all = ["bot", "seek"])]
    pub(crate) open: bool,

    /// Look for anybody who wants to play. Sides are drawn.
    #[arg(long, group = "opponent", conflicts_with = "side")]
    pub(crate) seek: bool,

    /// Which side to take; `first` moves first.
    #[arg(long = "as", value_enum, value_name = "SIDE")]
    pub(crate) side: Option<SideChoice>,

    /// Play by the clock: 5+3 (minutes, and seconds that a move adds), 5d3 (minutes, and seconds that
    /// a move has for nothing), 10m+3x30s (main time, and periods), 3d (a time for each move).
    #[arg(long, value_name = "CLOCK", value_parser = parse_clock)]
    pub(crate) clock: Option<ClockControl>,

    /// Play for ratings: by the clock, between accounts (`ply register`), with --seek, --open or --for.
    #[arg(long, requires_all = ["clock", "opponent"], conflicts_with_all = ["bot", "stand_in"])]
    pub(crate) rated: bool,

    /// A bot of this level plays on for whoever goes, until that player is back.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) stand_in: Option<String>,

    /// How long a player may be away before the match is lost, in seconds.
    #[arg(long = "patience", value_name = "SECONDS", conflicts_with = "seek",
          value_parser = clap::value_parser!(u64).range(10..=86_400))]
    pub(crate) absence_limit: Option<u64>,

    /// What the bot thinks is shown while it thinks.
    #[arg(long = "thinking", conflicts_with_all = ["seek", "rated"])]
    pub(crate) show_thinking: bool,

    /// Moves cannot be taken back.
    #[arg(long, conflicts_with = "seek")]
    pub(crate) no_takeback: bool,

    /// Who may watch: anyone (the match is in lists), whoever has its code, or nobody. Without it the
    /// server's usual: anyone, and of a match for one player alone whoever has its code.
    #[arg(long = "watch", value_name = "WHO", conflicts_with = "seek", value_parser = parse_spectator_access)]
    pub(crate) spectator_access: Option<SpectatorAccess>,

    /// Have all who look on see the match so much later, in seconds.
    #[arg(long = "delay", value_name = "SECONDS", conflicts_with = "seek",
          value_parser = clap::value_parser!(u64).range(0..=600))]
    pub(crate) spectator_delay: Option<u64>,

    /// Begin with this position instead of the first of the game, in the notation in which `--json` shows
    /// positions: FEN for chess, PDN's FEN for draughts. Whoever is to move in it moves first, and --as
    /// counts the sides as the game does.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["seek", "rated"],
          value_parser = parse_position, allow_hyphen_values = true)]
    pub(crate) position: Option<String>,

    /// Open a match for this player alone, by the id that the server gave it, and wait.
    #[arg(long = "for", value_name = "PLAYER", group = "opponent",
          conflicts_with_all = ["bot", "seek", "open"])]
    pub(crate) invited_player: Option<String>,
}

/// Which seat to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideChoice {
    /// The seat that moves first.
    First,
    /// The other.
    Second,
    /// Let chance decide.
    Random,
}

/// What `ply watch` takes.
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The match's code or id; with --bots the game.
    #[arg(value_name = "CODE|GAME", group = "what")]
    pub(crate) target: Option<String>,

    /// Let two bots of these levels play each other.
    #[arg(long, value_name = "LEVEL,LEVEL", value_parser = parse_level_pair, group = "what")]
    pub(crate) bots: Option<[String; 2]>,

    /// Go on with the rematches, as long as a player stays.
    #[arg(long = "series", conflicts_with = "bots")]
    pub(crate) follow_rematches: bool,

    /// With --bots: begin with this position, as in `ply play`.
    #[arg(long, value_name = "TEXT", requires = "bots", value_parser = parse_position,
          allow_hyphen_values = true)]
    pub(crate) position: Option<String>,

    /// How long the bots let pass before each move, in milliseconds.
    #[arg(
        long = "pace",
        value_name = "MS",
        default_value_t = 700,
        requires = "bots",
        value_parser = clap::value_parser!(u64).range(0..=10_000)
    )]
    pub(crate) min_move_interval_ms: u64,
}

/// What `ply bot` takes.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("match").required(true))]
pub(crate) struct BotArguments {
    /// Take the open seat of this match, by its code or id.
    #[arg(long, value_name = "CODE", group = "match")]
    pub(crate) join: Option<String>,

    /// Open a match of --game, and print its code.
    #[arg(long, group = "match", requires = "game")]
    pub(crate) create: bool,

    /// The game: chess, go or gomoku. A match of another game is not joined.
    #[arg(long)]
    pub(crate) game: Option<String>,

    /// Play by the key in this file, as `ply key create` prints one: as the player whose it is, instead of as
    /// a guest. Without it by the key in PLYHOUSE_KEY, if there is one.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// With --create: whom to play, a bot of this level instead of whoever joins.
    #[arg(long, value_name = "LEVEL", requires = "create")]
    pub(crate) against: Option<String>,

    /// With --create: which side to take; `first` moves first.
    #[arg(long = "as", value_enum, value_name = "SIDE", requires = "create")]
    pub(crate) side: Option<SideChoice>,

    /// What the program speaks. Without it that of the game: uci for chess, gtp for Go, piskvork for
    /// Gomoku.
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<EngineProtocol>,

    /// Set an option of a UCI engine. Can be given several times. A name that the engine does not have, or a value
    /// that it does not take, is an error.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_engine_option)]
    pub(crate) options: Vec<(String, String)>,

    /// What the program is told to think about a move, in milliseconds. (GTP counts seconds.) Without it
    /// a second where nobody keeps a clock, or where the clock is one of a time for each move; else as the
    /// program shares out its time, which is told to it 100 ms short, and short of the way to the server
    /// and back.
    #[arg(long = "think", value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub(crate) think_time_ms: Option<u64>,

    /// With --create: play by the clock, as in `ply play`.
    #[arg(long, value_name = "CLOCK", value_parser = parse_clock, requires = "create")]
    pub(crate) clock: Option<ClockControl>,

    /// With --create: begin with this position, as in `ply play`.
    #[arg(long, value_name = "TEXT", value_parser = parse_position, requires = "create",
          allow_hyphen_values = true)]
    pub(crate) position: Option<String>,

    /// How many matches to play: when one is over, a rematch is accepted until there were so many.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) games: u32,

    /// How long the program may take for a move in fact, in seconds; with a clock, as long as there is.
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) move_limit: u64,

    /// How long it may take to be ready, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) start_limit: u64,

    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// A protocol in which programs are asked for moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineProtocol {
    /// The Universal Chess Interface.
    Uci,
    /// The Go Text Protocol, version 2.
    Gtp,
    /// The protocol of Gomocup.
    Piskvork,
}

const BOT_EXAMPLES: &str = "\
Examples:
  ply bot --join K7QM2P -- stockfish
  ply bot --create --game chess --against max --option UCI_LimitStrength=true --option UCI_Elo=1500 -- stockfish
  ply key create --bot randy > randy.key && ply bot --key-file randy.key --join K7QM2P -- stockfish
  ply bot --join K7QM2P --think 2000 -- gnugo --mode gtp --chinese-rules --capture-all-dead --positional-superko";

/// Parses an engine option of the form `NAME=VALUE`.
fn parse_engine_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("an option looks like NAME=VALUE")?;
    if name.is_empty() || text.contains(char::is_control) {
        return Err("an option looks like NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn parse_player_name(text: &str) -> Result<PlayerName, String> {
    text.parse::<PlayerName>().map_err(|bad| bad.to_string())
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Print a key. A program hands it to the server in place of a token, and plays and reads as you.
    /// `ply devices` lists it, and `ply logout` with its id ends it.
    Create {
        /// What it is called in the list of your devices.
        #[arg(long, value_name = "LABEL", value_parser = parse_player_name)]
        label: Option<PlayerName>,

        /// Of a program with a name of its own, which is yours, and made if it is new; at most five.
        #[arg(long, value_name = "NAME", value_parser = parse_player_name)]
        bot: Option<PlayerName>,
    },
}

/// Code or account name that the user passes to `ply login`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoginTarget {
    /// A pairing code.
    PairingCode(String),
    /// The name of an account.
    AccountName(String),
}

fn parse_login_target(text: &str) -> Result<LoginTarget, String> {
    let is_code_char = |c: char| {
        MatchCode::ALPHABET
            .iter()
            .any(|sign| sign.eq_ignore_ascii_case(&(c as u8)) && c.is_ascii())
    };
    let code_chars: Vec<char> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .collect();
    if code_chars.len() == 8 && code_chars.iter().all(|&sign| is_code_char(sign)) {
        return Ok(LoginTarget::PairingCode(text.to_owned()));
    }
    let name = parse_player_name(text).map_err(|bad| bad.to_string());
    name.map(|name| LoginTarget::AccountName(name.as_str().to_owned()))
}

fn parse_level_pair(text: &str) -> Result<[String; 2], String> {
    let levels: Vec<String> = text
        .split(',')
        .map(|level| level.trim().to_owned())
        .collect();
    <[String; 2]>::try_from(levels)
        .ok()
        .filter(|levels| levels.iter().all(|level| !level.is_empty()))
        .ok_or_else(|| "two levels with a comma between them: max,easy".to_owned())
}

/// Parses the URL of a server and fills in missing parts. The default scheme is `ws`, and the
/// default path is `/ws`. If both the scheme and the port are missing, the port 7878 is added. A
/// URL with `http` or `https` is the address of the web page, so `/ws` is appended to its path.
pub(crate) fn parse_server_url(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(DEFAULT_SERVER_URL.to_owned());
    }
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "ws" | "http" => ("ws", rest),
            "wss" | "https" => ("wss", rest),
            _ => {
                let begins = "a server's URL begins with ws:// or wss://";
                return Err(format!("{begins}, not {scheme}://"));
            }
        },
        None => ("ws", text),
    };
    let (host, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let port = port.filter(|port| !port.ends_with(']')); // Ignore the colons in an IPv6 host.
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err("a port is a number up to 65535".to_owned());
    }
    let port = match port {
        None if !text.contains("://") => DEFAULT_PORT_SUFFIX,
        None | Some(_) => "",
    };
    if host.is_empty() || host.starts_with(':') {
        return Err("a server's URL names a host: ws://127.0.0.1:7878/ws".to_owned());
    }
    if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("a server's URL has no spaces".to_owned());
    }
    let is_page_url = has_http_scheme(text) && !path.ends_with("/ws");
    let path = match path.trim_end_matches('/') {
        "" => "/ws".to_owned(),
        page if is_page_url => format!("{page}/ws"),
        _ => path.to_owned(),
    };
    Ok(format!("{scheme}://{host}{port}{path}"))
}

fn has_http_scheme(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    })
}

/// Splits a link to a match into the URL of the server and the match code. Returns `None` if the
/// text is not such a link.
pub(crate) fn parse_match_link(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let (base, rest) = text.rsplit_once("/m/").filter(|_| has_http_scheme(text))?;
    let target = rest.split(['/', '?', '#']).next()?;
    let server = parse_server_url(base).ok()?;
    (!target.is_empty()).then(|| (server, target.to_owned()))
}

fn parse_match_result(text: &str) -> Result<MatchResult, String> {
    let mut all = MatchResult::ALL.iter().copied();
    let matching = all.find(|result| result.as_str() == text);
    matching.ok_or_else(|| "there are won, lost, drawn and none".to_owned())
}

fn parse_rating_pool(text: &str) -> Result<RatingPool, String> {
    let mut all = RatingPool::ALL.iter().copied();
    let matching = all.find(|pool| pool.as_str() == text);
    matching.ok_or_else(|| "there are live, days and bots".to_owned())
}

fn parse_spectator_access(text: &str) -> Result<SpectatorAccess, String> {
    let mut all = SpectatorAccess::ALL.iter().copied();
    let matching = all.find(|watch| watch.as_str() == text);
    matching.ok_or_else(|| "there are anyone, code and nobody".to_owned())
}

/// Maximum length of a position in bytes. The server rejects longer positions.
const POSITION_BYTES_MAX: usize = 300;

/// Minimum length in bytes of a position that begins with `-`. Othello positions may begin with
/// `-`. A shorter argument that begins with `-` is treated as a misplaced option.
const HYPHEN_POSITION_BYTES_MIN: usize = 64;

fn parse_position(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.starts_with('-') && text.len() < HYPHEN_POSITION_BYTES_MIN {
        return Err("an option comes where a position is wanted".to_owned());
    }
    if text.is_empty() || text.len() > POSITION_BYTES_MAX {
        return Err(format!("a position has 1 to {POSITION_BYTES_MAX} bytes"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    fn check_server_url(text: &str, expect: Result<&str, &str>) {
        let url = parse_server_url(text);
        match expect {
            Ok(expect) => assert_eq!(url.as_deref(), Ok(expect), "{text:?}"),
            Err(part) => assert!(url.unwrap_err().contains(part), "{text:?}"),
        }
    }

    #[test]
    fn short_server_urls_and_match_links_are_parsed() {
        check_server_url("ws://127.0.0.1:7878/ws", Ok(DEFAULT_SERVER_URL));
        check_server_url("127.0.0.1:7878", Ok(DEFAULT_SERVER_URL));
        check_server_url("ws://127.0.0.1:7878/", Ok(DEFAULT_SERVER_URL));
        check_server_url("", Ok(DEFAULT_SERVER_URL));
        check_server_url("http://127.0.0.1:7878", Ok(DEFAULT_SERVER_URL));
        check_server_url("https://h/house/", Ok("wss://h/house/ws"));
        assert_eq!(
            parse_match_link("https://h/house/m/K7QM2P?ply=3#x"),
            Some(("wss://h/house/ws".to_owned(), "K7QM2P".to_owned()))
        );
        assert_eq!(parse_match_link("K7QM2P"), None);
        assert_eq!(parse_match_link("http://h/player/ann"), None);
        check_server_url("WS://h", Ok("ws://h/ws"));
        check_server_url("HTTPS://h/house/", Ok("wss://h/house/ws"));
        assert_eq!(
            parse_match_link("Https://h/m/K7QM2P"),
            Some(("wss://h/ws".to_owned(), "K7QM2P".to_owned()))
        );
        check_server_url("localhost", Ok("ws://localhost:7878/ws"));
        check_server_url("[::1]", Ok("ws://[::1]:7878/ws"));
        check_server_url("[::1]:80", Ok("ws://[::1]:80/ws"));
        check_server_url(
            "games.example/house/ws",
            Ok("ws://games.example:7878/house/ws"),
        );
        check_server_url("ws://games.example", Ok("ws://games.example/ws"));
        check_server_url("wss://games.example", Ok("wss://games.example/ws"));
        check_server_url("wss://h:8443/", Ok("wss://h:8443/ws"));
        check_server_url("ws://127.0.0.1:99999", Err("up to 65535"));
        check_server_url("localhost:x", Err("up to 65535"));
        check_server_url("localhost:", Err("up to 65535"));
        check_server_url("ftp://games.example", Err("begins with ws://"));
        check_server_url("ws://", Err("names a host"));
        check_server_url("ws://a b", Err("no spaces"));
    }

    #[test]
    fn level_pair_requires_exactly_two_levels() {
        assert_eq!(
            parse_level_pair("max, easy"),
            Ok(["max".to_owned(), "easy".to_owned()])
        );
        for not in ["", "max", "max,", "a,b,c"] {
            assert!(parse_level_pair(not).is_err(), "{not:?}");
        }
    }
}
