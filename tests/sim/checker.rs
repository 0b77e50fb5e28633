//! Whether what happened in a world may have happened.
//!
//! The checker is pure, and knows nothing of how the world came about: it takes what clients sent
//! and received and what the store holds in the end, and holds the one against the other and both
//! against the protocol's promises.

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

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) kind: ViolationKind,
    pub(crate) description: String,
}

/// The promises that may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ViolationKind {
    /// Something that somebody was told is not in the store.
    LostWrite,
    /// Two were told different things about the same event, or the store holds a third.
    Contradiction,
    /// Somebody who follows a match was not told an event, or was told one twice.
    SeqGap,
    /// Somebody was shown an older state than somebody had been told of before.
    StaleState,
    /// A snapshot is not what the events before it make.
    WrongSnapshot,
    /// The store holds an event that cannot have followed those before it.
    ImpossibleEvent,
    /// One move was played twice.
    DuplicateMove,
    /// A match has two results.
    ConflictingResults,
    /// Something was turned down, and came about.
    AppliedRejectedRequest,
    /// A move was played that only somebody without the seat had asked for.
    MoveWithoutSeat,
    /// Something came about that nobody had asked for.
    UnrequestedEvent,
    /// A match or a player is not known any more.
    UnknownMatchOrPlayer,
    /// A token made somebody another player.
    WrongPlayer,
    /// An answer to nothing, or a second one, or one of the wrong kind.
    InvalidReply,
    /// An answer came before the event that it is about.
    ReplyBeforeEvent,
    /// Something came that is no message of the protocol.
    InvalidMessage,
    /// A clock does not show what the rules make of the time that passed.
    WrongClock,
    /// A rematch that is none, or a second one.
    WrongRematch,
    /// A turn in a match of days that is not whose it is told to be, or of which nobody is told.
    WrongTurn,
    /// A rated match that was not rated once, or not as the rules have it, or of which something else was told.
    WrongRating,
    /// Somebody heard or met whom they do not.
    IgnoredBlock,
    /// Somebody without a seat was told of what is younger than the match's delay.
    EarlySpectatorUpdate,
    /// Somebody was not shown what is older than the match's delay.
    LateSpectatorUpdate,
    /// Somebody was told of a match that only its players may watch.
    PrivateMatchLeak,
    /// A list that shows what is not so, or that changes without a word to whoever watches it.
    WrongList,
    /// Something was written by a server that did not know that the match had been taken over.
    UnfencedWrite,
    /// The events of a match are not numbered one after the other.
    NonConsecutiveSeqs,
    /// A move that was sent when another had been answered comes before it.
    MovesOutOfOrder,
    /// A request has no answer, and its connection has not ended.
    MissingReply,
    /// Somebody who follows a match, or asks for it, is not told all of it.
    MissingUpdate,
}

/// What there was in a world: what is checked must also have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Moves that were answered `ok`.
    pub(crate) moves: usize,
    /// Of these, how many were asked for again and answered again.
    pub(crate) repeated_moves: usize,
    /// Matches that somebody came back to after a crash.
    pub(crate) resumed_matches: usize,
    /// Requests that were turned down.
    pub(crate) refusals: usize,
    /// Matches with a result.
    pub(crate) ended_matches: usize,
    /// Of these, how many by time.
    pub(crate) flags: usize,
    /// Of these, how many in matches of days.
    pub(crate) correspondence_flags: usize,
    /// Of those with a result, how many draws that were agreed on.
    pub(crate) agreed_draws: usize,
    /// Moves that were charged something.
    pub(crate) charged_moves: usize,
    /// How often moves were taken back.
    pub(crate) takebacks: usize,
    pub(crate) rematches: usize,
    /// How often a bot stood in for somebody.
    pub(crate) stand_ins: usize,
    /// Matches to which somebody was asked, and has come.
    pub(crate) accepted_challenges: usize,
    /// How often somebody was told of a turn in a match of days.
    pub(crate) turn_notifications: usize,
    /// How often a list was held against what somebody believed who had watched it.
    pub(crate) list_comparisons: usize,
    /// Matches that have changed ratings.
    pub(crate) rated_matches: usize,
    /// How often somebody was told what a match has changed.
    pub(crate) rating_notifications: usize,
    /// How often somebody heard what was said.
    pub(crate) received_chat: usize,
    /// How often somebody was told that they block somebody.
    pub(crate) confirmed_blocks: usize,
    /// How often somebody was told, later than its players, what happened in a match.
    pub(crate) delayed_updates: usize,
    /// How often somebody was kept from a match that only its players may watch.
    pub(crate) access_denials: usize,
    /// How often a match was shown that began with a position of its own.
    pub(crate) custom_positions: usize,
    /// Rated matches that got their numbers after their delay.
    pub(crate) delayed_ratings: usize,
    /// How often it was shown how well somebody plays.
    pub(crate) displayed_ratings: usize,
    /// Hints that were told.
    pub(crate) received_hints: usize,
    /// Parts that were told of what is thought of ended matches.
    pub(crate) analysis_updates: usize,
    /// Plies of which it was told what a bot thought.
    pub(crate) thinking_plies: usize,
}

impl Tally {
    /// Adds what there was in another world.
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
    /// Every promise of one server.
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

    /// Those that are looked at only where several servers share a store.
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

/// Everything that is wrong with a world, and what there was in it.
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
