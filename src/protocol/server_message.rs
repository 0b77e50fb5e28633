//! What a server answers and tells.

use serde::{Deserialize, Serialize};

use super::analysis::{Analysis, Hint, Thinking};
use super::archive::{ExploredMove, HistoryRow, Profile};
use super::chat::{BlockedPlayer, ChatEntry};
use super::error::WireError;
use super::event::Event;
use super::id::{MatchId, Ply, RequestId, Seq, SessionId};
use super::ratings::{LeaderboardRow, RatingChange, UnratedReason};
use super::seek_list::SeekList;
use super::session::{SessionKind, SessionSummary};
use super::snapshot::{ClockState, ListedMatch, RematchState, Snapshot};
use super::validated_text::Token;
use super::welcome::{Challenge, PlayerSummary, Welcome};

/// One message of a server. `re` is the number of the request that it answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// Who the client is, and what the server offers.
    Welcome(Box<Welcome>),
    /// A sign of life.
    Pong {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The server's time in milliseconds since 1970.
        now_ms: u64,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A match as it stands.
    Match(Box<Snapshot>),
    /// Done.
    Ok {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The number of the event that it became, if it became one that the answer names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<Seq>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A page of the listed matches.
    Matches {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// How many matches fit, on all pages.
        total: u64,
        /// The page, newest created first.
        matches: Vec<ListedMatch>,
        /// Who looks for somebody to play, if that was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seekers: Option<SeekList>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A page of a player's ended matches.
    History {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The matches, the newest end first.
        rows: Vec<HistoryRow>,
        /// Whether there are more after these.
        more: bool,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// How matches went on that began alike.
    Explore {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// How many began so.
        #[serde(rename = "n")]
        count: u64,
        /// The next moves, the most frequent first.
        moves: Vec<ExploredMove>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// What others may know of a player.
    Profile {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// What that is.
        #[serde(flatten)]
        profile: Box<Profile>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// Whom the player blocks, in the order in which that began.
    Blocked {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// Those whom the player does not meet.
        players: Vec<BlockedPlayer>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// What searches think of an ended match: a part of it, as it is found. Not numbered.
    Analysis(Box<Analysis>),
    /// The best move.
    Hint(Box<Hint>),
    /// What a bot thinks while it thinks. Not numbered.
    Thinking(Box<Thinking>),
    /// A part of a leaderboard.
    #[serde(rename = "leaders")]
    Leaderboard {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// How many are on it.
        total: u64,
        /// The part, the best first.
        rows: Vec<LeaderboardRow>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// What a rated match that has ended has changed. Told once, to whoever follows it.
    Rating {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// What changed, by seat; nothing if it does not count.
        changes: Vec<RatingChange>,
        /// Why nothing has changed, where that is not plain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "why")]
        reason: Option<UnratedReason>,
    },
    /// The player's sessions, oldest first.
    Sessions {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The sessions.
        sessions: Vec<SessionSummary>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A code by which another device becomes the player's.
    #[serde(rename = "paired")]
    LinkCode {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The code.
        code: Token,
        /// For how long it is good.
        expires_ms: u64,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// The key by which the player comes back who has lost everything else. It is told once.
    RecoveryKey {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The key.
        key: Token,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A key by which a program plays as the player. It is told once.
    #[serde(rename = "key")]
    ApiKey {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The key.
        key: Token,
        /// The session that it is.
        session: SessionId,
        /// Whose it is.
        player: PlayerSummary,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// The player has one more session. Not numbered.
    SessionAdded {
        /// Which.
        session: SessionId,
        /// What the player calls it.
        label: String,
        /// What it is of.
        kind: SessionKind,
    },
    /// The player is called otherwise now, or has another password. Not numbered.
    Player {
        /// Who the client is to others.
        player: PlayerSummary,
    },
    /// What a client missed.
    Events {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The events in order.
        events: Vec<Event>,
        /// The request's fields that mean nothing in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<String>,
    },
    /// A request was turned down, and nothing has changed.
    Error(Box<WireError>),
    /// Who is there, whenever that changes. Not numbered.
    Presence {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Per seat, whether its player has a connection; `null` for a bot or an open seat.
        seats: [Option<bool>; 2],
        /// Per seat, for how long its player may still be gone before that loses the match or a bot takes
        /// the seat; `null` where nothing runs out.
        #[serde(default)]
        #[serde(rename = "gone_ms")]
        absence_remaining_ms: [Option<u64>; 2],
        /// How many connections follow without a seat.
        spectators: u64,
    },
    /// A clock stands, goes on, or counts from another instant. Not numbered.
    Clock {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// How it stands.
        #[serde(flatten)]
        clock: ClockState,
    },
    /// Who wants a rematch of a match that has ended, whenever that changes. Not numbered.
    Rematch {
        /// The match that has ended.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Who wants it.
        #[serde(flatten)]
        rematch: RematchState,
    },
    /// Somebody has said something. Not numbered.
    #[serde(rename = "said")]
    Chat {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Who, and what.
        #[serde(flatten)]
        entry: ChatEntry,
    },
    /// It is the player's turn in a match of days that the connection does not follow. Not numbered.
    YourTurn {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// What is played.
        game: String,
        /// The ply that is next.
        ply: Ply,
        /// By when it must be played, in milliseconds since 1970.
        #[serde(rename = "due_ms")]
        deadline_ms: u64,
    },
    /// Somebody wants to play the player. Not numbered.
    Challenge(Box<Challenge>),
    /// A challenge stands no longer. Not numbered.
    #[serde(rename = "challenge_over")]
    ChallengeEnded {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
    },
    /// The connection follows a match no longer, which nobody but its players may watch. Not numbered.
    #[serde(rename = "watch_over")]
    WatchEnded {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
    },
    /// What has changed in the list that the connection watches. Not numbered.
    ListChanged {
        /// The matches that are new or look otherwise now.
        changed: Vec<ListedMatch>,
        /// Those that do not fit any more.
        #[serde(rename = "gone")]
        removed: Vec<MatchId>,
        /// How many fit now.
        total: u64,
        /// Too much has changed to be told: list again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reset: bool,
    },
    /// Who looks for somebody to play, to whoever watches a list and has asked for it. Not numbered.
    Seekers(SeekList),
    /// Something happened in a match.
    #[serde(untagged)]
    Event(Event),
}

impl ServerMessage {
    /// The `type` of every answer and of everything told that is not an [`Event`].
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

    /// Reads one message of a server; `None` is a type of message that this build does not know
    /// and is to be ignored.
    ///
    /// # Errors
    ///
    /// The text is not a message of its type.
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

    /// The number of the request that this message answers.
    #[must_use]
    pub fn re(&self) -> Option<RequestId> {
        match self {
            Self::Welcome(welcome) => welcome.re,
            Self::Match(snapshot) => snapshot.re,
            Self::Error(error) => error.re,
            Self::Hint(hint) => hint.re,
            Self::Pong { re, .. }
            | Self::Ok { re, .. }
            | Self::Matches { re, .. }
            | Self::History { re, .. }
            | Self::Explore { re, .. }
            | Self::Profile { re, .. }
            | Self::Blocked { re, .. }
            | Self::Leaderboard { re, .. }
            | Self::Sessions { re, .. }
            | Self::LinkCode { re, .. }
            | Self::RecoveryKey { re, .. }
            | Self::ApiKey { re, .. }
            | Self::Events { re, .. } => *re,
            Self::Analysis(_)
            | Self::Thinking(_)
            | Self::Presence { .. }
            | Self::Clock { .. }
            | Self::Rematch { .. }
            | Self::Chat { .. }
            | Self::Rating { .. }
            | Self::YourTurn { .. }
            | Self::Challenge(_)
            | Self::ChallengeEnded { .. }
            | Self::WatchEnded { .. }
            | Self::SessionAdded { .. }
            | Self::Player { .. }
            | Self::ListChanged { .. }
            | Self::Seekers(_)
            | Self::Event(_) => None,
        }
    }
}
