//! What a client may ask.

use serde::Serialize;

use super::archive::HistoryRequest;
use super::chat::ChatContent;
use super::clock::ClockControl;
use super::event::OfferKind;
use super::id::{Ply, RequestId, SeatNumber, Seq};
use super::ratings::LeaderboardRequest;
use super::validated_text::{MatchRef, Token};
use super::wire_enum::wire_enum;

/// One message of a client: a request and, if it wants to recognise the answer, a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Request {
    /// The number that the one direct answer will carry as `re`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// What is asked.
    #[serde(flatten)]
    pub message: ClientMessage,
}

/// What a client may ask. A match is named by its id or its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Says who is there. Answered by `welcome`.
    Hello(Box<Hello>),
    /// Asks for a sign of life. Answered by `pong`.
    Ping,
    /// Opens a match and follows it. Answered by `match`.
    Create(Box<CreateRequest>),
    /// Takes an open seat and follows the match. Answered by `match`.
    Join {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The seat; the first open one if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seat: Option<SeatNumber>,
    },
    /// Follows a match. Answered by `match`.
    Watch {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Stops following a match, and vacates the seat of one that is open.
    Leave {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// The host puts a bot into an open seat, or takes one out.
    Seat {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The seat.
        seat: SeatNumber,
        /// Who is to sit there.
        occupant: SeatFill,
    },
    /// Plays a move. A move sent twice is answered twice and played once.
    Move {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The ply that the client believes is next.
        ply: Ply,
        /// The move in the game's notation.
        #[serde(rename = "move")]
        m: String,
        /// How many takebacks the client has seen: with another number the ply is stale.
        #[serde(skip_serializing_if = "Option::is_none")]
        takebacks: Option<u64>,
    },
    /// Gives up: the other seat wins.
    Resign {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Ends a match that has hardly begun, without a result.
    Abort {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Offers the other seat something, or accepts what it offers.
    Offer {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// What.
        #[serde(flatten)]
        offer: Offer,
    },
    /// Turns the other's offer down, or withdraws one's own.
    Decline {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Which offer.
        offer: OfferKind,
    },
    /// Gives the other seat more time.
    GiveTime {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// How much.
        #[cfg_attr(test, schemars(range(min = 5_000, max = 60_000)))]
        ms: u64,
    },
    /// Asks for the best move. Answered by `hint`.
    Hint {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The ply that the client believes is next.
        ply: Ply,
    },
    /// Says something to those who follow a match.
    Say {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// What.
        #[serde(flatten)]
        content: ChatContent,
    },
    /// Has the player meet somebody no more, or again. Answered by `blocked`.
    Block {
        /// Whom, by the public id; if left out, nothing is changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        player: Option<String>,
        /// Whether from now on, or not any more; true if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "on")]
        enabled: Option<bool>,
    },
    /// Asks for the listed matches. Answered by `matches`.
    List {
        /// Only matches of this game.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<String>,
        /// Only matches at this stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<MatchStatus>,
        /// At most this many; 50 if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
        limit: Option<u64>,
        /// The last match of the page before.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<MatchRef>,
        /// Whether to be told, too, who looks for somebody to play; false if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seekers: Option<bool>,
    },
    /// Asks to be told when the listed matches change.
    WatchList {
        /// Only matches of this game.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<String>,
        /// Only matches at this stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<MatchStatus>,
        /// Whether to be told, too, who looks for somebody to play: at once, and when that changes; false if
        /// left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seekers: Option<bool>,
    },
    /// Ends that.
    UnwatchList,
    /// Looks for somebody to play, and waits.
    Seek(Box<SeekRequest>),
    /// Ends the seek.
    #[serde(rename = "unseek")]
    CancelSeek,
    /// Asks for every event after `since`. Answered by `events`, or by `match`.
    Resync {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The last event that the client knows; 0 for none.
        since: Seq,
    },
    /// Asks for ended matches of a player. Answered by `history`.
    History(Box<HistoryRequest>),
    /// Asks for a part of a leaderboard. Answered by `leaders`.
    #[serde(rename = "leaders")]
    Leaderboard(Box<LeaderboardRequest>),
    /// Asks how matches went on that began with these moves. Answered by `explore`.
    Explore {
        /// What was played.
        game: String,
        /// The moves from the start.
        #[cfg_attr(test, schemars(length(max = 15)))]
        moves: Vec<String>,
    },
    /// Asks what searches think of an ended match. Answered by `ok`, after which it is told bit by bit.
    Analyse {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// How many positions may be visited to value one of the match; as the server has it, if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(min = 100, max = 1_000_000)))]
        nodes: Option<u64>,
    },
    /// Asks what others may know of a player; of oneself, where nobody is named. Answered by `profile`.
    Profile {
        /// The name, if it is the player's alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Or the player's id, or `me`.
        #[serde(skip_serializing_if = "Option::is_none")]
        player: Option<String>,
    },
    /// Asks for one's sessions. Answered by `sessions`.
    Sessions,
    /// Asks for a code by which another device becomes one's own. Answered by `paired`.
    #[serde(rename = "pair")]
    LinkDevice,
    /// Asks for a key by which to come back having lost everything else. Answered by `recovery_key`.
    #[serde(rename = "recovery")]
    CreateRecoveryKey {
        /// That it is the player who asks.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Ends sessions of one's own.
    EndSession {
        /// The id of one; or `others`, or `all`.
        session: String,
        /// That it is the player who asks.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Takes a name for oneself alone.
    Register {
        /// The name.
        name: String,
        /// By which, with the name, the player comes back; 10 to 200 bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        password: Option<Token>,
        /// What the operator has given, where nobody registers without.
        #[serde(skip_serializing_if = "Option::is_none")]
        invite: Option<Token>,
    },
    /// Takes another name instead of one's own.
    Rename {
        /// The name.
        name: String,
    },
    /// Asks for a key by which a program plays as the player. Answered by `key`.
    #[serde(rename = "create_key")]
    CreateApiKey {
        /// What the player calls the session that it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The name of the program's own account, if it is to have one.
        #[serde(skip_serializing_if = "Option::is_none")]
        bot: Option<String>,
        /// That it is the player who asks.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Asks to be forgotten.
    #[serde(rename = "forget_me")]
    DeleteAccount {
        /// That it is the player who asks.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Sets the password.
    SetPassword {
        /// The new one; 10 to 200 bytes.
        new: Token,
        /// That it is the player who asks.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
}

/// By what a player proves anew who they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReauthProof {
    /// The password.
    Password(Token),
    /// The recovery key.
    #[serde(rename = "recovery")]
    RecoveryKey(Token),
}

impl ClientMessage {
    /// The `type` of every request.
    pub const TYPES: [&'static str; 36] = [
        "hello",
        "ping",
        "create",
        "join",
        "watch",
        "leave",
        "seat",
        "move",
        "resign",
        "abort",
        "offer",
        "decline",
        "give_time",
        "list",
        "watch_list",
        "unwatch_list",
        "seek",
        "unseek",
        "resync",
        "sessions",
        "end_session",
        "pair",
        "recovery",
        "register",
        "rename",
        "set_password",
        "history",
        "explore",
        "create_key",
        "say",
        "profile",
        "block",
        "leaders",
        "forget_me",
        "analyse",
        "hint",
    ];

    /// Those of them that only a server knows which has accounts.
    pub const ACCOUNT_TYPES: [&'static str; 5] = [
        "register",
        "rename",
        "set_password",
        "create_key",
        "forget_me",
    ];

    /// The place of this request's `type` in [`TYPES`](Self::TYPES).
    #[must_use]
    pub const fn type_index(&self) -> usize {
        match self {
            Self::Hello(_) => 0,
            Self::Ping => 1,
            Self::Create(_) => 2,
            Self::Join { .. } => 3,
            Self::Watch { .. } => 4,
            Self::Leave { .. } => 5,
            Self::Seat { .. } => 6,
            Self::Move { .. } => 7,
            Self::Resign { .. } => 8,
            Self::Abort { .. } => 9,
            Self::Offer { .. } => 10,
            Self::Decline { .. } => 11,
            Self::GiveTime { .. } => 12,
            Self::List { .. } => 13,
            Self::WatchList { .. } => 14,
            Self::UnwatchList => 15,
            Self::Seek(_) => 16,
            Self::CancelSeek => 17,
            Self::Resync { .. } => 18,
            Self::Sessions => 19,
            Self::EndSession { .. } => 20,
            Self::LinkDevice => 21,
            Self::CreateRecoveryKey { .. } => 22,
            Self::Register { .. } => 23,
            Self::Rename { .. } => 24,
            Self::SetPassword { .. } => 25,
            Self::History(_) => 26,
            Self::Explore { .. } => 27,
            Self::CreateApiKey { .. } => 28,
            Self::Say { .. } => 29,
            Self::Profile { .. } => 30,
            Self::Block { .. } => 31,
            Self::Leaderboard(_) => 32,
            Self::DeleteAccount { .. } => 33,
            Self::Analyse { .. } => 34,
            Self::Hint { .. } => 35,
        }
    }
}

/// Who says hello.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hello {
    /// The version that the client speaks; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u64>,
    /// The name to be shown to others; a guest's name if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The token of an earlier welcome: makes the client that same player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// A pairing code: makes the client one more session of whoever has shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "pair")]
    pub link_code: Option<Token>,
    /// A recovery key: makes the client one more session of whoever has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "recovery")]
    pub recovery_key: Option<Token>,
    /// The password of the account with this name: makes the client one more session of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<Token>,
    /// Whether other connections of the same session stay; false if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "beside")]
    pub keep_connections: Option<bool>,
    /// What the player calls the session, if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// What a new match is to be. What is left out is as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CreateRequest {
    /// What is played.
    pub game: String,
    /// Who sits where from the start; `["me","open"]` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<[SeatRequest; 2]>,
    /// Whether `list` shows the match, if anyone may watch it; true if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<bool>,
    /// Who may watch it; `anyone` if left out of a match that is listed or rated, else `code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "watch")]
    pub spectator_access: Option<SpectatorAccess>,
    /// So much later those see all of it who have no seat in it; 0 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(max = 600_000)))]
    #[serde(rename = "delay_ms")]
    pub spectator_delay_ms: Option<u64>,
    /// Whether to swap the two seats at random first; false if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<bool>,
    /// The least time that a bot lets pass before it moves; 0 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(max = 10_000)))]
    #[serde(rename = "pace_ms")]
    pub bot_delay_ms: Option<u64>,
    /// The clock; untimed if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether moves may be taken back; true if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "takeback")]
    pub takebacks_allowed: Option<bool>,
    /// How long a player may be absent before the match is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 10_000, max = 86_400_000)))]
    #[serde(rename = "patience_ms")]
    pub absence_limit_ms: Option<u64>,
    /// The level of the bot that takes the seat of whoever has gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Whether the match counts for ratings; false if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// Whether what bots think is told while they think; false if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "thinking")]
    pub shows_bot_thinking: Option<bool>,
    /// Whether the match appears in histories and profiles once it has ended; true if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "history")]
    pub in_histories: Option<bool>,
    /// The position with which the match begins, in the game's notation; the game's own first if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(length(max = 300)))]
    pub position: Option<String>,
    /// The player who alone may take the open seat.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub invited: Option<String>,
}

/// Whom a player looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeekRequest {
    /// What is to be played.
    pub game: String,
    /// The level of the bot that plays if nobody comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Bot>"))]
    pub bot: Option<String>,
    /// How long to wait for somebody; 10000 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(max = 60_000)))]
    pub bot_after_ms: Option<u64>,
    /// The clock; untimed if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether the match is to count for ratings; false if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// How much weaker and stronger than oneself the other may be in a rated match, at first; anybody if left
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "rating")]
    pub rating_range: Option<[i32; 2]>,
    /// The level of the bot that takes the seat of whoever has gone, if the other wants that, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
}

/// A bot by its level, or as in the seats of a new match.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Bot {
    Level(String),
    Seat { bot: String },
}

/// What a player offers the other, or accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "offer", rename_all = "snake_case")]
pub enum Offer {
    /// To end the match as a draw.
    Draw {
        /// The ply that the client believes is next.
        ply: Ply,
    },
    /// To take moves back.
    Takeback {
        /// The ply that the client believes is next.
        ply: Ply,
        /// The ply to go back to, one or two before; one's own last if left out, and what the other
        /// offers if it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        to_ply: Option<Ply>,
    },
    /// To play again.
    Rematch,
}

/// Who is to sit in a seat of a new match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeatRequest {
    /// Whoever creates the match.
    Me,
    /// Whoever joins.
    Open,
    /// A bot of this level.
    Bot(String),
}

impl SeatRequest {
    /// Who sits where unless a client says otherwise.
    pub const DEFAULT: [Self; 2] = [Self::Me, Self::Open];
}

/// Whom a host may put into a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeatFill {
    /// Nobody: the bot that sits there goes.
    Open,
    /// A bot of this level.
    Bot(String),
}

wire_enum! {
    /// Who may watch a match, beside those who play it.
    SpectatorAccess {
        /// Anyone: it is found in lists, by its players' names and by its moves.
        Anyone = "anyone",
        /// Whoever has its id or its code.
        Code = "code",
        /// Nobody, once it has started.
        Nobody = "nobody",
    }
}

impl Default for SpectatorAccess {
    /// As in servers that tell nothing of it.
    fn default() -> Self {
        Self::Anyone
    }
}

wire_enum! {
    /// The stage of a match.
    MatchStatus {
        /// A seat is empty.
        Open = "open",
        /// Both seats are filled and the game goes on.
        Running = "running",
        /// Over.
        Ended = "ended",
    }
}
