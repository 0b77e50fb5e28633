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
use super::store::Kept;

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) about: String,
}

/// The promises that may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Something that somebody was told is not in the store.
    Lost,
    /// Two were told different things about the same event, or the store holds a third.
    Contradiction,
    /// Somebody who follows a match was not told an event, or was told one twice.
    Gap,
    /// Somebody was shown an older state than somebody had been told of before.
    WentBack,
    /// A snapshot is not what the events before it make.
    WrongSnapshot,
    /// The store holds an event that cannot have followed those before it.
    Impossible,
    /// One move was played twice.
    PlayedTwice,
    /// A match has two results.
    TwoResults,
    /// Something was turned down, and came about.
    Refused,
    /// A move was played that only somebody without the seat had asked for.
    WithoutSeat,
    /// Something came about that nobody had asked for.
    FromNowhere,
    /// A match or a player is not known any more.
    Forgotten,
    /// A token made somebody another player.
    WrongPlayer,
    /// An answer to nothing, or a second one, or one of the wrong kind.
    BadAnswer,
    /// An answer came before the event that it is about.
    TooEarly,
    /// Something came that is no message of the protocol.
    Nonsense,
    /// A clock does not show what the rules make of the time that passed.
    WrongClock,
    /// A rematch that is none, or a second one.
    WrongRematch,
    /// A turn in a match of days that is not whose it is told to be, or of which nobody is told.
    WrongTurn,
    /// A rated match that was not rated once, or not as the rules have it, or of which something else was told.
    WrongRating,
    /// Somebody heard or met whom they do not.
    Met,
    /// Somebody without a seat was told of what is younger than the match's delay.
    TooSoon,
    /// Somebody was not shown what is older than the match's delay.
    TooLate,
    /// Somebody was told of a match that only its players may watch.
    NotTheirs,
    /// A list that shows what is not so, or that changes without a word to whoever watches it.
    WrongList,
    /// Something was written by a server that did not know that the match had been taken over.
    Fenced,
    /// The events of a match are not numbered one after the other.
    NotDense,
    /// A move that was sent when another had been answered comes before it.
    OutOfOrder,
    /// A request has no answer, and its connection has not ended.
    Unanswered,
    /// Somebody who follows a match, or asks for it, is not told all of it.
    Untold,
}

/// What there was in a world: what is checked must also have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Moves that were answered `ok`.
    pub(crate) moves: usize,
    /// Of these, how many were asked for again and answered again.
    pub(crate) repeats: usize,
    /// Matches that somebody came back to after a crash.
    pub(crate) resumed: usize,
    /// Requests that were turned down.
    pub(crate) refusals: usize,
    /// Matches with a result.
    pub(crate) ended: usize,
    /// Of these, how many by time.
    pub(crate) flags: usize,
    /// Of these, how many in matches of days.
    pub(crate) days_flags: usize,
    /// Of those with a result, how many draws that were agreed on.
    pub(crate) agreed: usize,
    /// Moves that were charged something.
    pub(crate) charged: usize,
    /// How often moves were taken back.
    pub(crate) takebacks: usize,
    pub(crate) rematches: usize,
    /// How often a bot stood in for somebody.
    pub(crate) stand_ins: usize,
    /// Matches to which somebody was asked, and has come.
    pub(crate) challenges: usize,
    /// How often somebody was told of a turn in a match of days.
    pub(crate) turns_told: usize,
    /// How often a list was held against what somebody believed who had watched it.
    pub(crate) lists: usize,
    /// Matches that have changed ratings.
    pub(crate) rated: usize,
    /// How often somebody was told what a match has changed.
    pub(crate) ratings_told: usize,
    /// How often somebody heard what was said.
    pub(crate) heard: usize,
    /// How often somebody was told that they block somebody.
    pub(crate) blocked: usize,
    /// How often somebody was told, later than its players, what happened in a match.
    pub(crate) delayed: usize,
    /// How often somebody was kept from a match that only its players may watch.
    pub(crate) kept_out: usize,
    /// How often a match was shown that began with a position of its own.
    pub(crate) apart: usize,
    /// Rated matches that got their numbers after their delay.
    pub(crate) rated_late: usize,
    /// How often it was shown how well somebody plays.
    pub(crate) ratings_shown: usize,
    /// Hints that were told.
    pub(crate) hints: usize,
    /// Parts that were told of what is thought of ended matches.
    pub(crate) analyses: usize,
    /// Plies of which it was told what a bot thought.
    pub(crate) thoughts: usize,
}

impl Tally {
    /// Adds what there was in another world.
    pub(crate) const fn add(&mut self, other: Self) {
        self.moves += other.moves;
        self.repeats += other.repeats;
        self.resumed += other.resumed;
        self.refusals += other.refusals;
        self.ended += other.ended;
        self.flags += other.flags;
        self.days_flags += other.days_flags;
        self.agreed += other.agreed;
        self.charged += other.charged;
        self.takebacks += other.takebacks;
        self.rematches += other.rematches;
        self.stand_ins += other.stand_ins;
        self.challenges += other.challenges;
        self.turns_told += other.turns_told;
        self.lists += other.lists;
        self.rated += other.rated;
        self.ratings_told += other.ratings_told;
        self.heard += other.heard;
        self.blocked += other.blocked;
        self.delayed += other.delayed;
        self.kept_out += other.kept_out;
        self.apart += other.apart;
        self.rated_late += other.rated_late;
        self.ratings_shown += other.ratings_shown;
        self.hints += other.hints;
        self.analyses += other.analyses;
        self.thoughts += other.thoughts;
    }
}

impl Kind {
    /// Every promise of one server.
    pub(crate) const ALL: [Self; 25] = [
        Self::Lost,
        Self::Contradiction,
        Self::Gap,
        Self::WentBack,
        Self::WrongSnapshot,
        Self::Impossible,
        Self::PlayedTwice,
        Self::TwoResults,
        Self::Refused,
        Self::WithoutSeat,
        Self::FromNowhere,
        Self::Forgotten,
        Self::WrongPlayer,
        Self::BadAnswer,
        Self::TooEarly,
        Self::Nonsense,
        Self::WrongClock,
        Self::WrongRematch,
        Self::WrongTurn,
        Self::WrongList,
        Self::Met,
        Self::WrongRating,
        Self::TooSoon,
        Self::TooLate,
        Self::NotTheirs,
    ];

    /// Those that are looked at only where several servers share a store.
    pub(crate) const OF_SEVERAL: [Self; 5] = [
        Self::Fenced,
        Self::NotDense,
        Self::OutOfOrder,
        Self::Unanswered,
        Self::Untold,
    ];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.about)
    }
}

/// Everything that is wrong with a world, and what there was in it.
pub(crate) fn check(history: &History, kept: &Kept) -> (Vec<Fault>, Tally) {
    let cluster = kept.cluster.as_ref();
    let mut reading = Observations::new(cluster.map(|cluster| cluster.settled));
    for (place, entry) in history.entries.iter().enumerate() {
        reading.process_entry(place, entry);
    }
    reading.check_plies();
    let ends_us = history.entries.last().map_or(0, |last| last.at_us);
    let mut keeping = FinalStateCheck::new(&reading, kept, ends_us);
    for (id, record) in &kept.matches {
        keeping.check_match(*id, record);
    }
    let (mut faults, mut tally) = keeping.finish();
    tally.resumed = reading.resumed_matches;
    tally.refusals = reading.refusals;
    tally.ratings_told = reading.rating_notifications.len();
    (tally.heard, tally.blocked) = reading.chat_blocks.counts();
    tally.kept_out = reading.access_denials;
    tally.apart = reading.custom_positions;
    tally.ratings_shown = reading.displayed_ratings.len();
    let mut all = reading.violations;
    all.append(&mut faults);
    (all, tally)
}
