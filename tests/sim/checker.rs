//! Checks whether the history of a simulated run conforms to the guarantees of the protocol.
//!
//! The checker compares the recorded history with the final contents of the store, and checks both
//! against the protocol. It is a pure function of these inputs and does not use the plan of the
//! run.

mod clocks;
mod consent;
mod expected_events;
mod final_state;
mod move_requests;
mod observations;
mod wall_clock;

use std::fmt;

use self::final_state::FinalStateCheck;
use self::observations::Observations;
use super::history::History;
use super::store::FinalState;

/// Violation of a guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) kind: ViolationKind,
    pub(crate) description: String,
}

/// Kinds of violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ViolationKind {
    /// A client received an event or a confirmation that the store does not contain.
    LostWrite,
    /// Two clients received different versions of an event, or the stored event differs from the
    /// received one.
    Contradiction,
    /// A follower of a match missed an event or received one twice.
    SeqGap,
    /// The server sent an older state of a match than it had sent before.
    StaleState,
    /// A snapshot differs from the state that results from the events before it.
    WrongSnapshot,
    /// The store holds an event that cannot follow the events before it.
    ImpossibleEvent,
    /// A move was played twice.
    DuplicateMove,
    /// A match has two results.
    ConflictingResults,
    /// A request took effect although the server refused it.
    AppliedRejectedRequest,
    /// An event happened although only players without the required seat had requested it.
    MoveWithoutSeat,
    /// An event happened that no player had requested.
    UnrequestedEvent,
    /// The server no longer knows a match or a player.
    UnknownMatchOrPlayer,
    /// A client was logged in as the wrong player.
    WrongPlayer,
    /// A reply belongs to no pending request, or does not fit its request.
    InvalidReply,
    /// A reply arrived before the event that the request caused.
    ReplyBeforeEvent,
    /// A client received text that is not a message of the protocol.
    InvalidMessage,
    /// A clock differs from the value that follows from the rules and the elapsed time.
    WrongClock,
    /// A rematch is not valid, or a match has two rematches.
    WrongRematch,
    /// A turn notification or a list of correspondence matches is wrong or incomplete.
    WrongTurn,
    /// A rated match was not rated exactly once as the rules require, or a client received wrong
    /// rating changes.
    WrongRating,
    /// A player received chat from a blocked player, or was seated against one.
    IgnoredBlock,
    /// A client without a seat received an update before the match's spectator delay had passed.
    EarlySpectatorUpdate,
    /// A client without a seat did not receive an update although the match's spectator delay had
    /// passed.
    LateSpectatorUpdate,
    /// A client received data of a match that only the players may watch.
    PrivateMatchLeak,
    /// A match list contained a wrong row, or changed without an update to its subscriber.
    WrongList,
    /// A server wrote to a match although another server had taken the match over.
    UnfencedWrite,
    /// The events of a match are not numbered consecutively.
    NonConsecutiveSeqs,
    /// A move that was sent after the reply to an earlier move precedes the earlier move in the
    /// store.
    MovesOutOfOrder,
    /// A request has no reply although its connection has not ended.
    MissingReply,
    /// A client did not receive all events of a match that it follows or has requested.
    MissingUpdate,
}

/// Counts of what happened in a simulated world. The tests require a minimum for most counts, so
/// that the checker has enough to verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Moves that were answered `ok`.
    pub(crate) moves: usize,
    /// Number of accepted move requests that repeat an earlier request for the same move.
    pub(crate) repeated_moves: usize,
    /// Number of times that a match was resumed after a crash.
    pub(crate) resumed_matches: usize,
    /// Refused requests.
    pub(crate) refusals: usize,
    /// Matches with a result.
    pub(crate) ended_matches: usize,
    /// Matches that ended because a player ran out of time.
    pub(crate) flags: usize,
    /// Correspondence matches that ended because a player ran out of time.
    pub(crate) correspondence_flags: usize,
    /// Matches that ended in a draw by agreement.
    pub(crate) agreed_draws: usize,
    /// Moves for which the player was charged at least one millisecond of thinking time.
    pub(crate) charged_moves: usize,
    /// Accepted takebacks.
    pub(crate) takebacks: usize,
    pub(crate) rematches: usize,
    /// Number of times that a bot took the seat of an absent player.
    pub(crate) stand_ins: usize,
    /// Challenges that were accepted.
    pub(crate) accepted_challenges: usize,
    /// Turn notifications of correspondence matches.
    pub(crate) turn_notifications: usize,
    /// Number of received match lists that were compared with an expected list.
    pub(crate) list_comparisons: usize,
    /// Rated matches that changed ratings.
    pub(crate) rated_matches: usize,
    /// Notifications of rating changes.
    pub(crate) rating_notifications: usize,
    /// Chat messages that clients received.
    pub(crate) received_chat: usize,
    /// Blocks that the server confirmed.
    pub(crate) confirmed_blocks: usize,
    /// Delayed updates that spectators received.
    pub(crate) delayed_updates: usize,
    /// Refused requests of spectators for matches that only the players may watch.
    pub(crate) access_denials: usize,
    /// Snapshots of matches with a custom start position.
    pub(crate) custom_positions: usize,
    /// Rated matches with a spectator delay that were entered in the rating ledger.
    pub(crate) delayed_ratings: usize,
    /// Ratings that clients received in profiles and on leaderboards.
    pub(crate) displayed_ratings: usize,
    /// Hints that clients received.
    pub(crate) received_hints: usize,
    /// Analysis messages that clients received.
    pub(crate) analysis_updates: usize,
    /// Number of plies for which clients received a bot's thinking.
    pub(crate) thinking_plies: usize,
}

impl Tally {
    /// Adds the counts of another world to this tally.
    pub(crate) const fn add(&mut self, other: Self) {
        self.moves += other.moves;
        self.repeated_moves += other.repeated_moves;
        self.resumed_matches += other.resumed_matches;
        self.refusals += other.refusals;
        self.ended_matches += other.ended_matches;
        self.flags += other.flags;
        self.correspondence_flags += other.correspondence_flags;
        self.agreed_draws += other.agreed_draws;
        self.charged_moves += other.charged_moves;
        self.takebacks += other.takebacks;
        self.rematches += other.rematches;
        self.stand_ins += other.stand_ins;
        self.accepted_challenges += other.accepted_challenges;
        self.turn_notifications += other.turn_notifications;
        self.list_comparisons += other.list_comparisons;
        self.rated_matches += other.rated_matches;
        self.rating_notifications += other.rating_notifications;
        self.received_chat += other.received_chat;
        self.confirmed_blocks += other.confirmed_blocks;
        self.delayed_updates += other.delayed_updates;
        self.access_denials += other.access_denials;
        self.custom_positions += other.custom_positions;
        self.delayed_ratings += other.delayed_ratings;
        self.displayed_ratings += other.displayed_ratings;
        self.received_hints += other.received_hints;
        self.analysis_updates += other.analysis_updates;
        self.thinking_plies += other.thinking_plies;
    }
}

impl ViolationKind {
    /// All kinds of violations that can occur with one server.
    pub(crate) const SINGLE_SERVER: [Self; 25] = [
        Self::LostWrite,
        Self::Contradiction,
        Self::SeqGap,
        Self::StaleState,
        Self::WrongSnapshot,
        Self::ImpossibleEvent,
        Self::DuplicateMove,
        Self::ConflictingResults,
        Self::AppliedRejectedRequest,
        Self::MoveWithoutSeat,
        Self::UnrequestedEvent,
        Self::UnknownMatchOrPlayer,
        Self::WrongPlayer,
        Self::InvalidReply,
        Self::ReplyBeforeEvent,
        Self::InvalidMessage,
        Self::WrongClock,
        Self::WrongRematch,
        Self::WrongTurn,
        Self::WrongList,
        Self::IgnoredBlock,
        Self::WrongRating,
        Self::EarlySpectatorUpdate,
        Self::LateSpectatorUpdate,
        Self::PrivateMatchLeak,
    ];

    /// Kinds of violations that are checked only in cluster runs.
    pub(crate) const CLUSTER_ONLY: [Self; 5] = [
        Self::UnfencedWrite,
        Self::NonConsecutiveSeqs,
        Self::MovesOutOfOrder,
        Self::MissingReply,
        Self::MissingUpdate,
    ];
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.description)
    }
}

/// Checks a history against the final state of the store. Returns the violations and the activity
/// counts.
pub(crate) fn check(history: &History, stored: &FinalState) -> (Vec<Violation>, Tally) {
    let cluster = stored.cluster.as_ref();
    let mut observations = Observations::new(cluster.map(|cluster| cluster.settled_at));
    for (index, entry) in history.entries.iter().enumerate() {
        observations.process_entry(index, entry);
    }
    observations.check_plies();
    let ends_us = history.entries.last().map_or(0, |last| last.at_us);
    let mut final_state_check = FinalStateCheck::new(&observations, stored, ends_us);
    for (id, record) in &stored.matches {
        final_state_check.check_match(*id, record);
    }
    let (mut violations, mut tally) = final_state_check.finish();
    tally.resumed_matches = observations.resumed_matches;
    tally.refusals = observations.refusals;
    tally.rating_notifications = observations.rating_notifications.len();
    (tally.received_chat, tally.confirmed_blocks) = observations.chat_blocks.counts();
    tally.access_denials = observations.access_denials;
    tally.custom_positions = observations.custom_positions;
    tally.displayed_ratings = observations.displayed_ratings.len();
    let mut all_violations = observations.violations;
    all_violations.append(&mut violations);
    (all_violations, tally)
}
