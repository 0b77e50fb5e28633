//! Definition of the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::{ArgAction, ArgGroup, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use plyhouse_cli::number_in;
use plyhouse_protocol::{
    ClockControl, MatchCode, MatchResult, PlayerName, RatingPool, SpectatorAccess,
};
use serde::Deserialize;

use crate::clock_notation::parse_clock;
use crate::server_address::{DEFAULT_SERVER_URL, ServerAddress};

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
Levels, weakest first: beginner, easy, medium, hard, max
Some servers offer other games and levels.

Examples:
  ply play                         choose a game and an opponent
  ply play chess --bot easy        play against a bot
  ply play othello --bot max --as second
                                   let the strongest bot move first
  ply play go --open               wait for a friend to join; no bot joins
  ply play chess --open --clock 10+5
                                   10 minutes, plus 5 seconds per move
  ply play chess --seek            find another player
  ply play chess --seek --bot easy
                                   find a player, or else play a bot
  ply play chess --seek --clock 5+3 --rated
                                   rated match; run `ply register` first";

const JOIN_EXAMPLES: &str = "\
Examples:
  ply join K7QM2P
  ply join https://play.example.org/m/K7QM2P
                                   the link also selects the server

After a break, or after a bot has taken over, the same command returns you to
your seat. `ply games` lists your matches.";

const WATCH_EXAMPLES: &str = "\
Levels, weakest first: beginner, easy, medium, hard, max

Examples:
  ply watch K7QM2P                 watch a match from `ply list`
  ply watch --bots max,easy        watch two bots play tic-tac-toe
  ply watch chess --bots hard,medium --pace 2000
                                   two bots, at least 2 seconds per move";

const LIST_EXAMPLES: &str = "\
Examples:
  ply list                         all games
  ply list chess --follow          chess only, with live updates

Each row ends with the command that joins or watches the match. `ply games`
lists your current matches, and `ply history` your finished ones.";

const PLY_EXAMPLES: &str = "\
Examples:
  ply play                        choose a game and an opponent
  ply play --bot hard             play tic-tac-toe against a bot
  ply play chess --open           wait for a friend to join
  ply join K7QM2P                 join a match, or return to it
  ply play go --seek --clock 10+5
                                  find an opponent for a timed game
  ply games                       list your current matches
  ply watch --bots max,easy       watch two bots play
  ply pair                        get a code to log in on another device
  yes \"$(seq 9)\" | ply play --bot easy
                                  script: try each square in turn

At the board:
  Type a move: b2, or 1 to 9 as on a number pad (tic-tac-toe), 4 (connect-four),
  e2e4 or Nf3 (chess), 11-15 or 22x15 (draughts), d3 (othello), h8 (gomoku),
  D4 or pass (go).
  Or type a command: draw, takeback, decline, hint, more time, say good game,
  abort, resign, rematch, board, moves, played, help, quit.
  While you wait for an opponent, `bot easy` seats a bot.

  In a terminal of at least 80 columns and 24 rows, a match fills the screen:
  move the cursor with the arrow keys, play with Enter, press F1 for help.

Settings:
  Put permanent settings in ~/.config/ply/config.toml (in $XDG_CONFIG_HOME, if
  set), or in the file that PLY_CONFIG names:

    server = \"wss://play.example.org\"
    name = \"ada\"
    ca = \"own-authority.pem\"
    ascii = false
    plain = false
    color = \"auto\"

  Environment variables override the file: PLYHOUSE_SERVER, PLY_NAME, PLY_CA,
  PLY_ASCII, PLY_PLAIN, PLY_COLOR. Options override both.

Exit codes:
  0  success (a match was played or watched to its end)
  1  stopped or failed
  2  invalid arguments or settings
  3  no connection to the server
  4  refused by the server";

/// Play board games against people or bots on a Plyhouse server
#[derive(Debug, Parser)]
#[command(name = "ply", version, after_help = PLY_EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) context: CommandContext,
}

/// Options that apply to every command: the server, the player's name and the output format.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct CommandContext {
    #[command(flatten)]
    pub(crate) server: ServerAddress,

    /// Your name, as shown to others; each name is a separate player
    ///
    /// Without a name, you play as the player that is saved on this machine, or as a new guest.
    #[arg(long, global = true, env = "PLY_NAME", value_parser = parse_player_name)]
    pub(crate) name: Option<String>,

    /// Print only ASCII characters
    ///
    /// `K` is a king, `X` and `O` are stones and discs, and `%` is a bot. Other characters become
    /// `?`. This is the default if LC_ALL, LC_CTYPE or LANG selects an encoding other than UTF-8.
    #[arg(long, global = true, env = "PLY_ASCII", value_name = "BOOL", action = ArgAction::Set,
          num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, hide_possible_values = true)]
    pub(crate) ascii: bool,

    /// Print matches line by line instead of using the full screen
    ///
    /// Terminals with fewer than 80 columns or 24 rows always show matches line by line.
    #[arg(long, global = true, env = "PLY_PLAIN", value_name = "BOOL", action = ArgAction::Set,
          num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, hide_possible_values = true)]
    pub(crate) plain: bool,

    /// When to use colors; `auto` uses them on terminals unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        env = "PLY_COLOR",
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        alias = "colour"
    )]
    pub(crate) color: ColorMode,

    /// Print the server's messages as JSON, one object per line
    ///
    /// The secret token of the `welcome` message is omitted.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ColorMode {
    /// On terminals, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Command of `ply`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a match, or continue an interrupted one
    #[command(group = ArgGroup::new("opponent").multiple(true), after_help = PLAY_EXAMPLES)]
    Play(PlayArguments),
    /// Join a match, or return to your seat
    #[command(after_help = JOIN_EXAMPLES)]
    Join {
        /// Code or ID of the match, or a link to it
        ///
        /// `ply play --open` and `ply list` print the code.
        code: String,
    },
    /// Watch a match to its end
    #[command(
        group = ArgGroup::new("what").required(true).multiple(true),
        after_help = WATCH_EXAMPLES
    )]
    Watch(WatchArguments),
    /// Connect a chess, Go or Gomoku engine to a match
    ///
    /// The engine starts before ply takes the seat, and stops after the last match. An engine that
    /// exits or exceeds its time limit is restarted, at most three times. After that, or if the
    /// engine plays an illegal or unreadable move, ply resigns the match and exits. Ctrl-C also
    /// resigns it. If the connection drops, ply reconnects. If ply itself is killed, the engine
    /// does not return to its seat.
    ///
    /// Takeback requests are accepted. A draw offer is accepted if the engine was at least half a
    /// pawn behind at its last move. Only UCI engines report this; for other engines, ply declines
    /// draws.
    #[command(after_help = BOT_EXAMPLES)]
    Bot(BotArguments),
    /// List matches to join or watch, and waiting players
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Show only this game
        game: Option<String>,

        /// Keep running and print updates
        #[arg(long)]
        follow: bool,
    },
    /// List your finished matches, newest first
    History(HistoryArguments),
    /// Show a player's results, ratings and recent matches
    Profile {
        /// Account name or player ID (default: yourself)
        #[arg(value_name = "NAME")]
        player: Option<String>,
    },
    /// Show the leaderboard of a game
    Leaders(LeadersArguments),
    /// List your current matches, your turn first
    Games,
    /// Show the position and the moves of a match
    Show {
        /// Code or ID of the match, or a link to it
        #[arg(value_name = "MATCH")]
        target: String,

        /// Show the position after N moves
        #[arg(long, value_name = "N", value_parser = number_in::<u64>(..))]
        ply: Option<u64>,
    },
    /// Analyse a finished match
    ///
    /// Prints the evaluation of each position, and explains the mistakes. By default, a
    /// server analyses a match only for its players.
    Analyse {
        /// Code or ID of the match, or a link to it
        #[arg(value_name = "MATCH")]
        target: String,

        /// Number of nodes to search per position (in Go, playouts)
        ///
        /// Without this option, the server chooses the number.
        #[arg(long, value_name = "N", value_parser = number_in::<u64>(100..=1_000_000))]
        nodes: Option<u64>,
    },
    /// Print a code to log in on another device
    ///
    /// The code works once, within five minutes.
    Pair,
    /// Log in by pairing code, password or recovery key
    ///
    /// The player that was saved on this machine until now stays available with `--name`.
    Login {
        /// Code from `ply pair`, or the name of an account; prompts for a code or recovery key if
        /// omitted
        ///
        /// The password of the account is read from PLYHOUSE_PASSWORD, or prompted for. A recovery
        /// key cannot be an argument, because other users of this machine could see it.
        #[arg(value_name = "CODE|NAME", value_parser = parse_login_target)]
        target: Option<LoginTarget>,

        /// Name for this device, shown by `ply devices`
        #[arg(long, value_name = "LABEL", value_parser = parse_player_name)]
        label: Option<String>,
    },
    /// Create an account with a name of your own
    ///
    /// You keep your matches. At a terminal, ply prompts for a password twice. A script passes the
    /// password as the next line of the input.
    Register {
        /// Name of the account
        #[arg(value_name = "NAME", value_parser = parse_player_name)]
        account_name: String,

        /// Set no password; log in elsewhere by pairing code or recovery key only
        #[arg(long)]
        no_password: bool,

        /// Prompt for an invitation code, which some servers require
        ///
        /// A script passes the code as the next line of the input, after the password.
        #[arg(long = "invited")]
        has_invitation: bool,
    },
    /// Change the name of your account
    Rename {
        /// New name
        #[arg(value_name = "NAME", value_parser = parse_player_name)]
        account_name: String,
    },
    /// Set or change your password
    ///
    /// Prompts for the new password, then for the current one unless PLYHOUSE_PASSWORD contains it.
    /// Your other devices are logged out. API keys stay valid.
    Password,
    /// Create API keys for programs that play for you
    #[command(subcommand)]
    Key(KeyCommand),
    /// Print a recovery key, in case you lose all devices
    ///
    /// The new key replaces an older one.
    Recovery,
    /// Delete your account
    ///
    /// Ends your sessions, and deletes your API keys and bots. Your games stay, under "someone".
    /// This cannot be undone.
    Forget {
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
    /// List your devices and API keys
    Devices,
    /// Log out on this or another device
    Logout {
        /// ID from `ply devices`, `others` or `all` (default: this device)
        #[arg(value_name = "DEVICE")]
        device: Option<String>,

        /// Allow logging out of your last device
        #[arg(long)]
        yes: bool,
    },
    /// Block a player
    ///
    /// You will not be paired, cannot challenge or join each other, and do not see each other's
    /// messages.
    Block {
        /// Account name or player ID
        #[arg(value_name = "NAME|ID")]
        player: String,
    },
    /// Unblock a player
    Unblock {
        /// Account name or player ID
        #[arg(value_name = "NAME|ID")]
        player: String,
    },
    /// List the players you have blocked
    Blocked,
    /// Send and receive protocol messages, one per line
    ///
    /// Each line of the input is sent unchanged. Each message of the server is printed on one line.
    Raw,
    /// Print a shell completion script
    Completions {
        /// Shell that will load the script
        shell: Shell,
    },
    /// Write the manual pages
    ///
    /// Writes `ply.1`, and one page for each command.
    Manual {
        /// Output directory (created if missing)
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
    },
}

/// Arguments of `ply history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Show only this game
    pub(crate) game: Option<String>,

    /// Show the matches of the player with this ID instead of yours
    #[arg(long, value_name = "ID")]
    pub(crate) player: Option<String>,

    /// Show only matches against the player with this ID, or against any `bot`
    #[arg(long = "with", value_name = "ID|bot")]
    pub(crate) opponent: Option<String>,

    /// Show only this result: won, lost, drawn or none (aborted)
    #[arg(long, value_name = "RESULT",
        value_parser = word_parser::<MatchResult>("expected won, lost, drawn or none"))]
    pub(crate) result: Option<MatchResult>,

    /// Show only matches that ended before this one
    #[arg(long, value_name = "MATCH")]
    pub(crate) before: Option<String>,

    /// Maximum number of matches
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = number_in::<u64>(1..=100))]
    pub(crate) limit: u64,
}

/// Arguments of `ply leaders`.
#[derive(Debug, Args)]
pub(crate) struct LeadersArguments {
    /// Game of the leaderboard
    pub(crate) game: String,

    /// Rating pool: live, days (correspondence) or bots
    #[arg(long, value_name = "POOL", default_value = "live",
        value_parser = word_parser::<RatingPool>("expected live, days or bots"))]
    pub(crate) pool: RatingPool,

    /// Show only players below this place
    #[arg(long, value_name = "PLACE", value_parser = number_in::<u64>(..))]
    pub(crate) after: Option<u64>,

    /// Maximum number of players
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = number_in::<u64>(1..=100))]
    pub(crate) limit: u64,
}

/// Arguments of `ply play`.
#[derive(Debug, Args)]
pub(crate) struct PlayArguments {
    /// Game to play, such as `connect-four` (default: prompt for one, or tic-tac-toe in scripts)
    ///
    /// If an option selects the opponent, the default is `tic-tac-toe` too
    pub(crate) game: Option<String>,

    /// Play a bot of this level; with --seek, only if no player is found
    #[arg(long, value_name = "LEVEL", group = "opponent")]
    pub(crate) bot: Option<String>,

    /// Wait for a friend, who joins with the match code
    ///
    /// The match is also listed in the lobby, unless --watch code hides it.
    #[arg(long, group = "opponent", conflicts_with_all = ["bot", "seek"])]
    pub(crate) open: bool,

    /// Wait for any opponent; sides are assigned at random
    #[arg(long, group = "opponent", conflicts_with = "side")]
    pub(crate) seek: bool,

    /// Side to play (`first` makes the first move)
    #[arg(long = "as", value_enum, value_name = "SIDE")]
    pub(crate) side: Option<SideChoice>,

    /// Clock, such as 5+3 (5 minutes, plus 3 seconds per move) or 3d (3 days per move)
    ///
    /// 5d3 is 5 minutes, and the first 3 seconds of each move are free. 10m+3x30s is 10 minutes,
    /// then 3 byo-yomi periods of 30 seconds. Without this option, the match has no clock.
    #[arg(long, value_name = "CLOCK", value_parser = parse_clock)]
    pub(crate) clock: Option<ClockControl>,

    /// Play for ratings; needs --clock, and --seek, --open or --for
    ///
    /// Both players need an account: see `ply register`.
    #[arg(long, requires_all = ["clock", "opponent"], conflicts_with_all = ["bot", "stand_in"])]
    pub(crate) rated: bool,

    /// Level of the bot that plays for an absent player until they return
    #[arg(long, value_name = "LEVEL")]
    pub(crate) stand_in: Option<String>,

    /// Number of seconds until an absent player loses the match
    ///
    /// With --stand-in, a bot takes over after this time instead. Without this option, the server
    /// sets the time.
    #[arg(long = "patience", value_name = "SECONDS", conflicts_with = "seek",
          value_parser = number_in::<u64>(10..=86_400))]
    pub(crate) absence_limit: Option<u64>,

    /// Show the bot's thinking
    #[arg(long = "thinking", conflicts_with_all = ["seek", "rated"])]
    pub(crate) show_thinking: bool,

    /// Do not allow takebacks
    #[arg(long, conflicts_with = "seek")]
    pub(crate) no_takeback: bool,

    /// Who can find and watch the match: `anyone`, `code` (those with the match code) or `nobody`
    ///
    /// Only matches that anyone may watch are listed. The default is `anyone`, but `code` for a
    /// match with --for that is not rated. Rated matches require `anyone`.
    #[arg(long = "watch", value_name = "WHO", conflicts_with = "seek",
          value_parser = word_parser::<SpectatorAccess>("expected anyone, code or nobody"))]
    pub(crate) spectator_access: Option<SpectatorAccess>,

    /// Delay for spectators, in seconds
    #[arg(long = "delay", value_name = "SECONDS", conflicts_with = "seek",
          value_parser = number_in::<u64>(0..=600))]
    pub(crate) spectator_delay: Option<u64>,

    /// Start from this position: FEN for chess, PDN FEN for draughts
    ///
    /// Each game uses the notation that `--json` prints. The position determines which side moves
    /// first. `--as first` is always the side that moves first in the standard position.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["seek", "rated"],
          value_parser = parse_position, allow_hyphen_values = true)]
    pub(crate) position: Option<String>,

    /// Challenge the player with this ID, and wait
    #[arg(long = "for", value_name = "PLAYER", group = "opponent",
          conflicts_with_all = ["bot", "seek", "open"])]
    pub(crate) invited_player: Option<String>,
}

/// Side to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideChoice {
    /// The side that moves first
    First,
    /// The side that moves second
    Second,
    /// A random side
    Random,
}

/// Arguments of `ply watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// Code, ID or link of the match; with --bots, the game
    #[arg(value_name = "CODE|GAME", group = "what")]
    pub(crate) target: Option<String>,

    /// Watch two bots of these levels play each other
    #[arg(long, value_name = "LEVEL,LEVEL", value_parser = parse_level_pair, group = "what")]
    pub(crate) bots: Option<[String; 2]>,

    /// Keep watching after a rematch starts
    #[arg(long = "series", conflicts_with = "bots")]
    pub(crate) follow_rematches: bool,

    /// With --bots: start from this position, as in `ply play`
    #[arg(long, value_name = "TEXT", requires = "bots", value_parser = parse_position,
          allow_hyphen_values = true)]
    pub(crate) position: Option<String>,

    /// With --bots: minimum time per move, in milliseconds
    #[arg(
        long = "pace",
        value_name = "MS",
        default_value_t = 700,
        requires = "bots",
        value_parser = number_in::<u64>(0..=10_000)
    )]
    pub(crate) min_move_interval_ms: u64,
}

/// Arguments of `ply bot`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("match").required(true))]
pub(crate) struct BotArguments {
    /// Join the match with this code, ID or link
    #[arg(long, value_name = "CODE", group = "match")]
    pub(crate) join: Option<String>,

    /// Create a match of --game, which is required, and print the code
    #[arg(long, group = "match", requires = "game")]
    pub(crate) create: bool,

    /// Game: chess, go or gomoku; with --join, other games are refused
    #[arg(long)]
    pub(crate) game: Option<String>,

    /// File with an API key from `ply key create` (environment variable: PLYHOUSE_KEY)
    ///
    /// The engine plays as the player or bot that the key was created for. Without this option, ply
    /// uses the key in PLYHOUSE_KEY. Without any key, the engine plays as a guest.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// With --create: play a bot of this level instead of waiting for a player
    #[arg(long, value_name = "LEVEL", requires = "create")]
    pub(crate) against: Option<String>,

    /// With --create: side to play (`first` makes the first move)
    #[arg(long = "as", value_enum, value_name = "SIDE", requires = "create")]
    pub(crate) side: Option<SideChoice>,

    /// Protocol of the engine; by default uci for chess, gtp for Go, piskvork for Gomoku
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<EngineProtocol>,

    /// UCI option to set; can be given several times
    ///
    /// An unknown name or an invalid value is an error.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_engine_option)]
    pub(crate) options: Vec<(String, String)>,

    /// Thinking time per move, in milliseconds (GTP engines get whole seconds)
    ///
    /// Without this option, the engine plans its time from the clock. It is given its remaining
    /// time minus 100 ms and the round trip to the server. It thinks for one second if the match
    /// has no clock or a fixed time per move.
    #[arg(long = "think", value_name = "MS", value_parser = number_in::<u64>(1..=3_600_000))]
    pub(crate) think_time_ms: Option<u64>,

    /// With --create: clock of the match, as in `ply play`
    #[arg(long, value_name = "CLOCK", value_parser = parse_clock, requires = "create")]
    pub(crate) clock: Option<ClockControl>,

    /// With --create: start from this position, as in `ply play`
    #[arg(long, value_name = "TEXT", value_parser = parse_position, requires = "create",
          allow_hyphen_values = true)]
    pub(crate) position: Option<String>,

    /// Number of matches to play, by rematches
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = number_in::<u32>(1..=100_000))]
    pub(crate) games: u32,

    /// Time limit for a move, in seconds
    ///
    /// If more time is left on the clock, the engine may use all of it. An engine that exceeds the
    /// limit is restarted.
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = number_in::<u64>(1..=86_400))]
    pub(crate) move_limit: u64,

    /// Time limit for the engine to start, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = number_in::<u64>(1..=3600))]
    pub(crate) start_limit: u64,

    /// Engine program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineProtocol {
    /// Universal Chess Interface
    Uci,
    /// Go Text Protocol, version 2
    Gtp,
    /// Gomocup protocol
    Piskvork,
}

const BOT_EXAMPLES: &str = "\
Examples:
  ply bot --join K7QM2P -- stockfish
  ply bot --create --game chess --against max --option UCI_LimitStrength=true \\
      --option UCI_Elo=1500 -- stockfish
  ply key create --bot randy > randy.key
  ply bot --key-file randy.key --join K7QM2P -- stockfish
  ply bot --join K7QM2P --think 2000 -- gnugo --mode gtp --chinese-rules \\
      --capture-all-dead --positional-superko";

/// Parses an engine option of the form `NAME=VALUE`.
fn parse_engine_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() || text.contains(char::is_control) {
        return Err("expected NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Checks and normalizes the name of a player.
pub(crate) fn parse_player_name(text: &str) -> Result<String, String> {
    let name = text.parse::<PlayerName>();
    name.map(|name| name.as_str().to_owned())
        .map_err(|error| error.to_string())
}

/// Command of `ply key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create and print an API key
    ///
    /// A program that sends the key in place of a token can read and play as you. `ply devices`
    /// lists the key, and `ply logout` with its ID revokes it.
    Create {
        /// Name for the key, shown by `ply devices`
        #[arg(long, value_name = "LABEL", value_parser = parse_player_name)]
        label: Option<String>,

        /// Bot account that uses the key; a new name creates a bot of yours
        ///
        /// This needs an account (see `ply register`), which can own up to five bots.
        #[arg(long, value_name = "NAME", value_parser = parse_player_name)]
        bot: Option<String>,
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

/// Number of characters of a pairing code.
const PAIRING_CODE_CHARS: usize = 8;

fn parse_login_target(text: &str) -> Result<LoginTarget, String> {
    let is_code_byte = |byte: u8| MatchCode::ALPHABET.contains(&byte.to_ascii_uppercase());
    let is_separator = |c: char| c.is_whitespace() || c == '-';
    let code: String = text.chars().filter(|c| !is_separator(*c)).collect();
    let has_code_length = code.chars().count() == PAIRING_CODE_CHARS;
    if has_code_length && code.bytes().all(is_code_byte) {
        return Ok(LoginTarget::PairingCode(text.to_owned()));
    }
    // Names are compared without regard to case, so a name in capitals can be typed in lower case.
    let is_code_like = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    let has_capital = code.contains(|c: char| c.is_ascii_uppercase());
    if has_code_length && has_capital && code.chars().all(is_code_like) {
        return Err(
            "pairing codes do not contain I, L, O, 0 or 1; to log in by name, use lower-case letters"
                .to_owned(),
        );
    }
    parse_player_name(text).map(LoginTarget::AccountName)
}

fn parse_level_pair(text: &str) -> Result<[String; 2], String> {
    let levels: Vec<&str> = text.split(',').map(str::trim).collect();
    match levels[..] {
        [first, second] if !first.is_empty() && !second.is_empty() => {
            Ok([first, second].map(str::to_owned))
        }
        _ => Err("expected two levels, such as max,easy".to_owned()),
    }
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
                let expected = "expected ws://, wss://, http:// or https://";
                return Err(format!("unknown scheme {scheme}://: {expected}"));
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
    if let Some(invalid) = port.filter(|port| port.parse::<u16>().is_err()) {
        return Err(format!(
            "invalid port '{invalid}': expected a number up to 65535"
        ));
    }
    let port = match port {
        None if !text.contains("://") => DEFAULT_PORT_SUFFIX,
        None | Some(_) => "",
    };
    if host.is_empty() || host.starts_with(':') {
        return Err("missing host: expected a URL such as ws://127.0.0.1:7878/ws".to_owned());
    }
    if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("a server URL cannot contain spaces".to_owned());
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

/// Returns a parser for words of the protocol. `error` is the message for any other text.
fn word_parser<T: FromStr + Clone + Send + Sync + 'static>(
    error: &'static str,
) -> impl TypedValueParser<Value = T> {
    move |text: &str| text.parse::<T>().map_err(|_| error)
}

/// Maximum length of a position in bytes. The server rejects longer positions.
const POSITION_BYTES_MAX: usize = 300;

/// Minimum length in bytes of a position that begins with `-`. Othello positions may begin with
/// `-`. A shorter argument that begins with `-` is treated as a misplaced option.
const HYPHEN_POSITION_BYTES_MIN: usize = 64;

fn parse_position(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.starts_with('-') && text.len() < HYPHEN_POSITION_BYTES_MIN {
        return Err("expected a position, not an option".to_owned());
    }
    if text.is_empty() || text.len() > POSITION_BYTES_MAX {
        return Err(format!("expected 1 to {POSITION_BYTES_MAX} bytes"));
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
        check_server_url("ftp://games.example", Err("expected ws://"));
        check_server_url("ws://", Err("missing host"));
        check_server_url("ws://a b", Err("cannot contain spaces"));
    }

    #[test]
    fn login_target_is_a_code_or_a_name() {
        let code = |text: &str| Ok(LoginTarget::PairingCode(text.to_owned()));
        let name = |text: &str| Ok(LoginTarget::AccountName(text.to_owned()));
        for text in ["K7QM2PXR", "k7qm-2pxr", "K7QM 2PXR"] {
            assert_eq!(parse_login_target(text), code(text));
        }
        for text in ["ada", "rosalind", "K7QM2PX", "Rosalin1", "20240101"] {
            assert_eq!(parse_login_target(text), name(text));
        }
        for text in ["K7QM2PX0", "KOQM-2PXI", "K7QM2P1R"] {
            let error = parse_login_target(text).unwrap_err();
            assert!(error.contains("do not contain I, L, O, 0 or 1"), "{error}");
        }
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
