//! Messages that the server sends.

use serde::{Deserialize, Serialize};

use super::analysis::{Analysis, Hint, Thinking};
use super::archive::{ExploredMove, HistoryRow, Profile};
use super::chat::{BlockedPlayer, ChatEntry};
use super::error::WireError;
use super::event::Event;
use super::id::{MatchId, Ply, RequestId, Seq, SessionId};
use super::player_sessions::{SessionKind, SessionSummary};
use super::ratings::{LeaderboardRow, RatingChange, UnratedReason};
use super::seek_list::SeekList;
use super::snapshot::{ClockState, ListedMatch, RematchState, Snapshot};
use super::validated_text::Token;
use super::welcome::{Challenge, PlayerSummary, Welcome};

/// Message from the server. An answer to a request contains the request's `id` in the field `re`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// Identity of the client, and the features and limits of the server.
    Welcome(Box<Welcome>),
    /// Answer to `ping`.
    Pong {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Time of the server, in milliseconds since the Unix epoch.
        now_ms: u64,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Snapshot of a match.
    Match(Box<Snapshot>),
    /// The request succeeded. The answer has no further data.
    Ok {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Number of the event that the request caused. Absent if the answer does not refer to an
        /// event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<Seq>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Page of the list of matches.
    Matches {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Total number of matches that satisfy the request's filters, over all pages.
        total: u64,
        /// Matches on this page, the most recently created first.
        matches: Vec<ListedMatch>,
        /// Open seeks. Present only if the request set `seekers` to true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seekers: Option<SeekList>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Page of a player's ended matches.
    History {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Matches on this page, the most recently ended first.
        rows: Vec<HistoryRow>,
        /// Whether more matches follow after this page.
        more: bool,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Opening statistics of ended matches.
    Explore {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Number of matches that began with the requested moves.
        #[serde(rename = "n")]
        count: u64,
        /// Next moves that were played, the most frequent first.
        moves: Vec<ExploredMove>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Profile of a player.
    Profile {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Public information about the player.
        #[serde(flatten)]
        profile: Box<Profile>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Block list of the player.
    Blocked {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Blocked players, in the order they were blocked.
        players: Vec<BlockedPlayer>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Part of the analysis of an ended match. The server sends each part when it is ready. This
    /// message has no `seq`.
    Analysis(Box<Analysis>),
    /// Answer to `hint`.
    Hint(Box<Hint>),
    /// Progress of a bot's search. This message has no `seq`.
    Thinking(Box<Thinking>),
    /// Page of a leaderboard.
    #[serde(rename = "leaders")]
    Leaderboard {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Number of players on the leaderboard.
        total: u64,
        /// Rows on this page, the best player first.
        rows: Vec<LeaderboardRow>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Rating changes after an ended match. The server sends this message once, to the followers of
    /// the match. This message has no `seq`.
    Rating {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Rating changes of the players with an account. Empty if the match does not affect
        /// ratings.
        changes: Vec<RatingChange>,
        /// Reason why the match does not affect ratings. Absent if the match affects ratings. The
        /// reason may also be absent if the match was aborted or had fewer than two plies.
        #[serde(rename = "why", default, skip_serializing_if = "Option::is_none")]
        reason: Option<UnratedReason>,
    },
    /// Sessions of the player.
    Sessions {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The sessions, oldest first.
        sessions: Vec<SessionSummary>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Pairing code for adding another device to the player.
    #[serde(rename = "paired")]
    LinkCode {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Pairing code of eight characters. The code can be used once.
        code: Token,
        /// Time until the code expires, in milliseconds.
        expires_ms: u64,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Recovery key of the player. The server shows it only once.
    RecoveryKey {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The recovery key.
        key: Token,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// API key for a program. The server shows it only once.
    #[serde(rename = "key")]
    ApiKey {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The API key.
        key: Token,
        /// Id of the session that the key belongs to.
        session: SessionId,
        /// Player or bot account that the program plays as.
        player: PlayerSummary,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A new session was added to the player. This message has no `seq`.
    SessionAdded {
        /// Id of the new session.
        session: SessionId,
        /// Label of the new session.
        label: String,
        /// Kind of client that uses the session.
        kind: SessionKind,
    },
    /// The player's name, account or password has changed. This message has no `seq`.
    Player {
        /// The player's current public data.
        player: PlayerSummary,
    },
    /// Events that the client missed.
    Events {
        /// The `id` of the request that this message answers. Absent if the request had no `id`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Missed events, in order of `seq`.
        events: Vec<Event>,
        /// Names of request fields that the server ignored, at most eight. Absent if the server
        /// ignored no field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Error reply to a request, or report of a failure that is not an answer to a request.
    Error(Box<WireError>),
    /// Which players are present, and how many spectators follow the match. The server sends this
    /// message when either value changes. This message has no `seq`.
    Presence {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Whether the player of each seat is present, in order of seat number. The value is `null`
        /// for a bot or an open seat.
        seats: [Option<bool>; 2],
        /// For each seat, the time in milliseconds within which the absent player must return.
        ///
        /// If the player does not return in time, the player loses the match, or a stand-in takes
        /// the seat. The value is `null` if no time limit is running for the seat.
        #[serde(rename = "gone_ms", default)]
        absence_remaining_ms: [Option<u64>; 2],
        /// Number of spectators: connections that follow the match but have no seat in it.
        spectators: u64,
    },
    /// The server paused or resumed the clock of the match, or restarted the current turn. This
    /// message has no `seq`.
    Clock {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Current state of the clock.
        #[serde(flatten)]
        clock: ClockState,
    },
    /// State of the rematch offers after a match. The server sends this message when the state
    /// changes. This message has no `seq`.
    Rematch {
        /// Id of the ended match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// State of the rematch offers.
        #[serde(flatten)]
        rematch: RematchState,
    },
    /// Chat message. This message has no `seq`.
    #[serde(rename = "said")]
    Chat {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Sender and content of the message.
        #[serde(flatten)]
        entry: ChatEntry,
    },
    /// It is the player's turn in a correspondence match that the connection does not follow. This
    /// message has no `seq`.
    YourTurn {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Name of the game, such as `chess`.
        game: String,
        /// Ply of the move that the player must make.
        ply: Ply,
        /// Deadline for the move, in milliseconds since the Unix epoch.
        #[serde(rename = "due_ms")]
        deadline_ms: u64,
    },
    /// Another player challenges this player. This message has no `seq`.
    Challenge(Box<Challenge>),
    /// A challenge is no longer open. This message has no `seq`.
    #[serde(rename = "challenge_over")]
    ChallengeEnded {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
    },
    /// The server has removed the connection from the followers of a match. This happens when a
    /// match without spectators starts, or when a player leaves a seat in a match with a spectator
    /// delay. This message has no `seq`.
    #[serde(rename = "watch_over")]
    WatchEnded {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
    },
    /// Changes to the match list that the connection subscribed to. This message has no `seq`.
    ListChanged {
        /// Matches that are new to the list or have changed.
        changed: Vec<ListedMatch>,
        /// Ids of the matches that are no longer in the list.
        #[serde(rename = "gone")]
        removed: Vec<MatchId>,
        /// Total number of matches in the list after the changes.
        total: u64,
        /// Whether there are too many changes to send. If true, the client must request the list
        /// again. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reset: bool,
    },
    /// Open seeks, sent to connections that subscribed to them with `watch_list`. This message has
    /// no `seq`.
    Seekers(SeekList),
    /// Event of a match.
    #[serde(untagged)]
    Event(Event),
}

/// Returns the field for the `id` of the request that a message answers, or `None` if such a message
/// is never an answer.
macro_rules! request_field {
    ($message:expr $(, $mutable:tt)?) => {
        match $message {
            ServerMessage::Welcome(welcome) => Some(&$($mutable)? welcome.re),
            ServerMessage::Match(snapshot) => Some(&$($mutable)? snapshot.re),
            ServerMessage::Error(error) => Some(&$($mutable)? error.re),
            ServerMessage::Hint(hint) => Some(&$($mutable)? hint.re),
            ServerMessage::Pong { re, .. }
            | ServerMessage::Ok { re, .. }
            | ServerMessage::Matches { re, .. }
            | ServerMessage::History { re, .. }
            | ServerMessage::Explore { re, .. }
            | ServerMessage::Profile { re, .. }
            | ServerMessage::Blocked { re, .. }
            | ServerMessage::Leaderboard { re, .. }
            | ServerMessage::Sessions { re, .. }
            | ServerMessage::LinkCode { re, .. }
            | ServerMessage::RecoveryKey { re, .. }
            | ServerMessage::ApiKey { re, .. }
            | ServerMessage::Events { re, .. } => Some(re),
            ServerMessage::Analysis(_)
            | ServerMessage::Thinking(_)
            | ServerMessage::Presence { .. }
            | ServerMessage::Clock { .. }
            | ServerMessage::Rematch { .. }
            | ServerMessage::Chat { .. }
            | ServerMessage::Rating { .. }
            | ServerMessage::YourTurn { .. }
            | ServerMessage::Challenge(_)
            | ServerMessage::ChallengeEnded { .. }
            | ServerMessage::WatchEnded { .. }
            | ServerMessage::SessionAdded { .. }
            | ServerMessage::Player { .. }
            | ServerMessage::ListChanged { .. }
            | ServerMessage::Seekers(_)
            | ServerMessage::Event(_) => None,
        }
    };
}

impl ServerMessage {
    /// Values of `type` for all server messages other than an [`Event`].
    pub const TYPES: [&'static str; 32] = [
        "welcome",
        "pong",
        "match",
        "ok",
        "matches",
        "history",
        "explore",
        "profile",
        "leaders",
        "rating",
        "blocked",
        "sessions",
        "paired",
        "recovery_key",
        "key",
        "session_added",
        "said",
        "player",
        "events",
        "analysis",
        "hint",
        "thinking",
        "error",
        "presence",
        "clock",
        "rematch",
        "your_turn",
        "challenge",
        "challenge_over",
        "watch_over",
        "list_changed",
        "seekers",
    ];

    /// Decodes a server message. Returns `None` for a message of an unknown type, which clients
    /// ignore.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a JSON object with a `type`, or if the fields are
    /// invalid for a message of this type.
    pub fn decode(text: &str) -> Result<Option<Self>, serde_json::Error> {
        #[derive(Deserialize)]
        struct Tag<'a> {
            #[serde(borrow, rename = "type")]
            kind: std::borrow::Cow<'a, str>,
        }
        let Tag { kind } = serde_json::from_str(text)?;
        if Self::TYPES.contains(&&*kind) || Event::TYPES.contains(&&*kind) {
            return serde_json::from_str(text).map(Some);
        }
        Ok(None)
    }

    /// Returns the `id` of the request that this message answers. Returns `None` if the message is
    /// not an answer, or if the request had no `id`.
    #[must_use]
    pub fn re(&self) -> Option<RequestId> {
        request_field!(self).copied().flatten()
    }

    /// Sets the `id` of the request that this message answers. Leaves a message that is never an
    /// answer unchanged.
    pub fn set_re(&mut self, request: Option<RequestId>) {
        if let Some(re) = request_field!(self, mut) {
            *re = request;
        }
    }
}
