//! Requests that clients send.

use serde::Serialize;

use super::archive::HistoryRequest;
use super::chat::ChatContent;
use super::event::OfferKind;
use super::id::{Ply, RequestId, SeatNumber, Seq};
use super::ratings::LeaderboardRequest;
use super::time_control::ClockControl;
use super::validated_text::{MatchRef, Token};
use super::wire_enum::wire_enum;

/// Message from a client: a request with an optional `id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Request {
    /// Number chosen by the client. The server returns this number in the field `re` of its direct
    /// answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// Type and parameters of the request.
    #[serde(flatten)]
    pub message: ClientMessage,
}

/// Request from a client. The field `match` accepts the id or the code of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Authenticates the client, or creates a guest. Answered by `welcome`.
    Hello(Box<Hello>),
    /// Checks that the server responds. Answered by `pong`.
    Ping,
    /// Creates a match and follows it. Answered by `match`.
    Create(Box<CreateRequest>),
    /// Takes a seat in a match and follows it. Answered by `match`.
    Join {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Requested seat. If the field is absent, the player takes back the seat in which a
        /// stand-in bot replaces the player. If no bot replaces the player, the player takes the
        /// first open seat.
        #[serde(skip_serializing_if = "Option::is_none")]
        seat: Option<SeatNumber>,
    },
    /// Follows a match as a spectator. Answered by `match`.
    Watch {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Stops following a match. Answered by `ok`.
    ///
    /// In an open match, the player's seat becomes open. In a running match, a stand-in takes the
    /// seat if the match terms allow stand-ins.
    Leave {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Puts a bot into an open seat, or removes a bot from its seat. Only the host may send this
    /// request. Answered by `ok`.
    Seat {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Seat to change.
        seat: SeatNumber,
        /// New occupant of the seat.
        occupant: SeatFill,
    },
    /// Plays a move. If the client repeats the request, the server answers again but plays the move
    /// only once. Answered by `ok`.
    Move {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Ply of the move. The client sends the number of moves played so far, according to its
        /// own state of the match.
        ply: Ply,
        /// The move, in the notation of the game.
        #[serde(rename = "move")]
        m: String,
        /// Number of accepted takebacks that the client knows of. If the match has a different
        /// number, the request fails with `stale_ply`. If absent, the server does not check the
        /// number of takebacks.
        #[serde(skip_serializing_if = "Option::is_none")]
        takebacks: Option<u64>,
    },
    /// Resigns the match, so that the other seat wins. Answered by `ok`.
    Resign {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Aborts a match with fewer than two plies. An aborted match has no result. Answered by `ok`.
    Abort {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Makes an offer to the opponent, or accepts the opponent's pending offer of the same kind.
    /// Answered by `ok`.
    Offer {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Kind and parameters of the offer.
        #[serde(flatten)]
        offer: Offer,
    },
    /// Declines the opponent's offer, or withdraws the player's own offer. Answered by `ok`.
    Decline {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Kind of the offer.
        offer: OfferKind,
    },
    /// Gives the opponent more time. Answered by `ok`.
    GiveTime {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Time to add, in milliseconds: 5,000 to 60,000.
        #[cfg_attr(test, schemars(range(min = 5_000, max = 60_000)))]
        ms: u64,
    },
    /// Requests the best move in the current position. Answered by `hint`.
    Hint {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Current ply of the match, as the client knows it.
        ply: Ply,
    },
    /// Sends a chat message to the followers of a match. Answered by `ok`.
    Say {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Content of the message.
        #[serde(flatten)]
        content: ChatContent,
    },
    /// Blocks or unblocks a player, or only lists the blocked players. Answered by `blocked`.
    Block {
        /// Public id of the player. If absent, the request only lists the blocked players.
        #[serde(skip_serializing_if = "Option::is_none")]
        player: Option<String>,
        /// True to block the player, false to unblock. Defaults to true.
        #[serde(rename = "on", skip_serializing_if = "Option::is_none")]
        enabled: Option<bool>,
    },
    /// Requests a page of the list of matches. Answered by `matches`.
    List {
        /// Name of a game. If absent, matches of all games are returned.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<String>,
        /// Status of the matches. If absent, matches of every status are returned.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<MatchStatus>,
        /// Maximum number of matches, from 1 to 100. Defaults to 50.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
        limit: Option<u64>,
        /// Id or code of the last match on the previous page. If absent, the first page is
        /// returned.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<MatchRef>,
        /// Whether the answer also contains the open seeks. Defaults to false.
        #[serde(skip_serializing_if = "Option::is_none")]
        seekers: Option<bool>,
    },
    /// Subscribes to changes of the list of matches. Answered by `ok`.
    WatchList {
        /// Name of a game. If absent, the subscription covers all games.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<String>,
        /// Status of the matches. If absent, the subscription covers every status.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<MatchStatus>,
        /// Whether the server also sends the open seeks, once immediately and then on each change.
        /// Defaults to false.
        #[serde(skip_serializing_if = "Option::is_none")]
        seekers: Option<bool>,
    },
    /// Ends the match list subscription that `watch_list` started. Answered by `ok`.
    UnwatchList,
    /// Seeks an opponent. The server pairs the player as soon as a matching seek exists. Answered
    /// by `ok`.
    Seek(Box<SeekRequest>),
    /// Cancels the player's seek. Answered by `ok`.
    #[serde(rename = "unseek")]
    CancelSeek,
    /// Requests all events after the event number in `since`. Answered by `events`, or by a
    /// snapshot (`match`) if the server cannot send these events.
    Resync {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Number of the last event that the client has; 0 if it has none.
        since: Seq,
    },
    /// Requests a page of a player's ended matches. Answered by `history`.
    History(Box<HistoryRequest>),
    /// Requests a page of a leaderboard. Answered by `leaders`.
    #[serde(rename = "leaders")]
    Leaderboard(Box<LeaderboardRequest>),
    /// Requests opening statistics from ended matches that began with the moves in `moves`. For
    /// each next move in these matches, the answer contains the number of matches with that move.
    /// Answered by `explore`.
    Explore {
        /// Name of the game, such as `chess`.
        game: String,
        /// Moves from the start of the game, at most 15.
        #[cfg_attr(test, schemars(length(max = 15)))]
        moves: Vec<String>,
    },
    /// Requests the analysis of an ended match. Answered by `ok`. The results follow in `analysis`
    /// messages.
    Analyse {
        /// Id or code of the match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// Size of the search for each position of the match: the number of positions to visit,
        /// from 100 to 1,000,000. In games that use playouts, such as Go, `nodes` is the number of
        /// playouts.
        ///
        /// If absent, the server sends the stored analysis. If no analysis is stored, the server
        /// searches with its default number of nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(min = 100, max = 1_000_000)))]
        nodes: Option<u64>,
    },
    /// Requests the profile of a player. If both fields are absent, the server returns the profile
    /// of the requesting player. Answered by `profile`.
    Profile {
        /// Name of a player with an account. It cannot be combined with `player`.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Id of a player, or `me`. It cannot be combined with `name`.
        #[serde(skip_serializing_if = "Option::is_none")]
        player: Option<String>,
    },
    /// Requests the player's sessions. Answered by `sessions`.
    Sessions,
    /// Requests a pairing code for adding another device to the player. Answered by `paired`.
    #[serde(rename = "pair")]
    LinkDevice,
    /// Requests a recovery key, which lets the player log in after losing all devices. The new key
    /// replaces any earlier key. Answered by `recovery_key`.
    #[serde(rename = "recovery")]
    CreateRecoveryKey {
        /// Proof of identity. Required only if the player has a password.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Ends one or more of the player's sessions. Answered by `ok`.
    EndSession {
        /// Id of the session to end, `others` for all sessions except the current one, or `all`.
        session: String,
        /// Proof of identity. Required only if the player has a password. No proof is needed to end
        /// only the current session.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Gives a guest an account with a reserved name. Answered by `ok`.
    Register {
        /// Name of the account.
        name: String,
        /// Password for logging in with the name, of 10 to 200 bytes in UTF-8. If absent, the
        /// account has no password.
        #[serde(skip_serializing_if = "Option::is_none")]
        password: Option<Token>,
        /// Invitation from the operator. Required if `accounts` in `welcome` is `invite`.
        #[serde(skip_serializing_if = "Option::is_none")]
        invite: Option<Token>,
    },
    /// Changes the name of the account. Answered by `ok`.
    Rename {
        /// New name of the account.
        name: String,
    },
    /// Creates an API key for a program. Answered by `key`.
    #[serde(rename = "create_key")]
    CreateApiKey {
        /// Label of the key's session. Defaults to `program`.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// Name of the bot account that uses the key. The server creates the account if needed. If
        /// absent, the program plays as the player.
        #[serde(skip_serializing_if = "Option::is_none")]
        bot: Option<String>,
        /// Proof of identity. Required only if the player has a password.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Deletes the player, including all sessions, API keys and the account. Answered by `ok`.
    #[serde(rename = "forget_me")]
    DeleteAccount {
        /// Proof of identity. Required only if the player has a password.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
    /// Sets or changes the password of the account. Answered by `ok`.
    SetPassword {
        /// New password, of 10 to 200 bytes in UTF-8.
        new: Token,
        /// Proof of identity. Required only if the player already has a password.
        #[serde(flatten)]
        proof: Option<ReauthProof>,
    },
}

/// Proof of identity for requests that need more than a valid session.
///
/// Players with a password must send this proof, except in the first hour of a session that was
/// started with the recovery key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReauthProof {
    /// The player's current password.
    Password(Token),
    /// The player's recovery key.
    #[serde(rename = "recovery")]
    RecoveryKey(Token),
}

/// Defines the list of the request types, and the index of a request's type in this list.
macro_rules! request_types {
    ($($variant:ident = $name:literal,)*) => {
        impl ClientMessage {
            /// Values of `type` for all requests.
            pub const TYPES: [&'static str; [$($name),*].len()] = [$($name),*];

            /// Returns the index of this request's `type` in [`TYPES`](Self::TYPES).
            #[must_use]
            pub const fn type_index(&self) -> usize {
                enum Index { $($variant),* }
                match self { $(Self::$variant { .. } => Index::$variant as usize,)* }
            }
        }
    };
}

request_types! {
    Hello = "hello",
    Ping = "ping",
    Create = "create",
    Join = "join",
    Watch = "watch",
    Leave = "leave",
    Seat = "seat",
    Move = "move",
    Resign = "resign",
    Abort = "abort",
    Offer = "offer",
    Decline = "decline",
    GiveTime = "give_time",
    List = "list",
    WatchList = "watch_list",
    UnwatchList = "unwatch_list",
    Seek = "seek",
    CancelSeek = "unseek",
    Resync = "resync",
    Sessions = "sessions",
    EndSession = "end_session",
    LinkDevice = "pair",
    CreateRecoveryKey = "recovery",
    Register = "register",
    Rename = "rename",
    SetPassword = "set_password",
    History = "history",
    Explore = "explore",
    CreateApiKey = "create_key",
    Say = "say",
    Profile = "profile",
    Block = "block",
    Leaderboard = "leaders",
    DeleteAccount = "forget_me",
    Analyse = "analyse",
    Hint = "hint",
}

impl ClientMessage {
    /// Request types that exist only on servers with accounts.
    pub const ACCOUNT_TYPES: [&'static str; 5] = [
        "register",
        "rename",
        "set_password",
        "create_key",
        "forget_me",
    ];
}

/// Parameters of `hello`. At most one of `token`, `pair`, `recovery` and `password` may be present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hello {
    /// Protocol version of the client. Defaults to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u64>,
    /// Name shown to other players, or name of the account if `password` is present. If absent, the
    /// server generates a name for a guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Token of an existing session, or an API key. The server resumes the session of this token or
    /// key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// Pairing code from another device of the player. The server creates a new session for that
    /// player.
    #[serde(rename = "pair", skip_serializing_if = "Option::is_none")]
    pub link_code: Option<Token>,
    /// Recovery key of a player. The server creates a new session for that player.
    #[serde(rename = "recovery", skip_serializing_if = "Option::is_none")]
    pub recovery_key: Option<Token>,
    /// Password of the account in `name`. The server creates a new session for that account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<Token>,
    /// Whether the session's other connections stay open after this `hello`. If false, the server
    /// closes the session's other connections. Defaults to false.
    #[serde(rename = "beside", skip_serializing_if = "Option::is_none")]
    pub keep_connections: Option<bool>,
    /// Label of the new session, if the request creates one. The default label is `browser` for a
    /// web page and `program` for other clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Parameters of a new match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CreateRequest {
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Occupants of the seats, in order of seat number. Defaults to `["me","open"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<[SeatRequest; 2]>,
    /// Whether `list` shows the match. Only a match that anyone may watch is listed. Defaults to
    /// true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<bool>,
    /// Who may watch the match. Defaults to `anyone` for a listed or rated match, and to `code`
    /// otherwise.
    #[serde(rename = "watch", skip_serializing_if = "Option::is_none")]
    pub spectator_access: Option<SpectatorAccess>,
    /// Delay in milliseconds before spectators receive messages about the match: 0 to 600,000 (10
    /// minutes). Defaults to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(max = 600_000)))]
    #[serde(rename = "delay_ms")]
    pub spectator_delay_ms: Option<u64>,
    /// Whether the server shuffles the two seats before the match. Defaults to false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<bool>,
    /// Minimum time between the previous move and the move of a bot, in milliseconds: 0 to 10,000.
    /// Defaults to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(max = 10_000)))]
    #[serde(rename = "pace_ms")]
    pub bot_delay_ms: Option<u64>,
    /// Clock of the match. If absent, the match is untimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether takebacks are allowed. Defaults to true, except in a rated match.
    #[serde(rename = "takeback", skip_serializing_if = "Option::is_none")]
    pub takebacks_allowed: Option<bool>,
    /// Time that a player may be absent before losing the match, in milliseconds: 10,000 to
    /// 86,400,000 (24 hours).
    ///
    /// If absent, the server's default applies. This field is not allowed in correspondence
    /// matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 10_000, max = 86_400_000)))]
    #[serde(rename = "patience_ms")]
    pub absence_limit_ms: Option<u64>,
    /// Level of the bot that replaces an absent player. If absent, the match has no stand-ins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Whether the match is rated. Defaults to false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// Whether followers receive the progress of the bots' searches. Defaults to false.
    #[serde(rename = "thinking", skip_serializing_if = "Option::is_none")]
    pub shows_bot_thinking: Option<bool>,
    /// Whether the ended match appears in histories, profiles and the opening explorer. Defaults to
    /// true.
    #[serde(rename = "history", skip_serializing_if = "Option::is_none")]
    pub in_histories: Option<bool>,
    /// Initial position in the game's notation, at most 300 bytes long. Defaults to the game's
    /// standard position.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(length(max = 300)))]
    pub position: Option<String>,
    /// Id of the challenged player. Only this player may take the open seat. If absent, any player
    /// may take the seat.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub invited: Option<String>,
}

/// Parameters of a `seek` request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeekRequest {
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Level of the bot that plays if no opponent is found within `bot_after_ms`. If absent, the
    /// seek waits for a player.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Bot>"))]
    pub bot: Option<String>,
    /// Time in milliseconds after which the requested bot becomes the opponent: 0 to 60,000.
    /// Defaults to 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(max = 60_000)))]
    pub bot_after_ms: Option<u64>,
    /// Clock of the match. If absent, the match is untimed. Only seeks with equal clocks are
    /// paired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether the match is rated. Defaults to false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// Lowest and highest rating difference that the player accepts, each from -1000 to 1000. The
    /// rating difference is the opponent's rating minus the player's own rating.
    ///
    /// The server widens the range while the seek waits. The field is allowed only in rated seeks.
    /// If absent, the player accepts opponents of any rating.
    #[serde(rename = "rating", skip_serializing_if = "Option::is_none")]
    pub rating_range: Option<[i32; 2]>,
    /// Level of the bot that replaces an absent player. The match has stand-ins only if both
    /// players request them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
}

/// Bot in a request, written either as the name of a level or as an object.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Bot {
    Level(String),
    Seat { bot: String },
}

/// Offer to the other player. If the other player has already made an offer of the same kind, this
/// request accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "offer", rename_all = "snake_case")]
pub enum Offer {
    /// Offer to end the match as a draw.
    Draw {
        /// Current ply of the match, as the client knows it.
        ply: Ply,
    },
    /// Offer to take back moves.
    Takeback {
        /// Current ply of the match, as the client knows it.
        ply: Ply,
        /// Ply to return to: `ply` minus 1 or `ply` minus 2. Defaults to the `to_ply` of the other
        /// player's pending takeback offer. If no such offer is pending, `to_ply` defaults to the
        /// player's own last ply.
        #[serde(skip_serializing_if = "Option::is_none")]
        to_ply: Option<Ply>,
    },
    /// Offer to play another match on the same terms.
    Rematch,
}

/// Requested occupant of a seat in a new match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeatRequest {
    /// The player who creates the match.
    Me,
    /// Open seat for the first player who joins.
    Open,
    /// Bot of the given level.
    Bot(String),
}

impl SeatRequest {
    /// Default occupants: the creator in seat 0, and an open seat 1.
    pub const DEFAULT: [Self; 2] = [Self::Me, Self::Open];

    /// Returns whether the seat is for a bot.
    #[must_use]
    pub const fn is_bot(&self) -> bool {
        matches!(self, Self::Bot(_))
    }
}

/// Occupant that the host can assign to a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeatFill {
    /// No occupant. The bot is removed, and the seat becomes open.
    Open,
    /// Bot of the given level.
    Bot(String),
}

wire_enum! {
    /// Who may watch a match, in addition to its players and host.
    SpectatorAccess {
        /// Anyone. The match is public, and appears in lists, histories and the opening explorer.
        Anyone = "anyone",
        /// Every client that knows the id or the code of the match may watch.
        Code = "code",
        /// Spectators may not watch the match once it has started.
        Nobody = "nobody",
    }
}

impl Default for SpectatorAccess {
    /// Returns `Anyone`. If an older server does not state who may watch a match, clients assume
    /// this value.
    fn default() -> Self {
        Self::Anyone
    }
}

wire_enum! {
    /// Stage of a match.
    MatchStatus {
        /// At least one seat is open.
        Open = "open",
        /// Both seats are filled, and the game has not ended.
        Running = "running",
        /// The match is over.
        Ended = "ended",
    }
}
