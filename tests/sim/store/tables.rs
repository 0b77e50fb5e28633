//! Tables of the simulated store, and the effect of each write on them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use plyhouse_matches::ratings::RatingState;
use plyhouse_matches::{Event, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::{
    Blocks, JournalPosition, LoadedMatch, MatchRecord, MemoryRatings, PlayerRecord, RatingsChange,
    RematchRecord, SessionRecord, SessionSelection, TokenHash, WriteError,
};

use crate::cluster::Journal;

/// Contents of the simulated store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) matches: BTreeMap<MatchId, MatchRecord>,
    pub(crate) players: BTreeMap<PlayerId, PlayerRecord>,
    pub(super) sessions: BTreeMap<[u8; 32], SessionRecord>,
    pub(super) reminders: BTreeMap<MatchId, Reminder>,
    /// Time of each block in milliseconds since 1970, keyed by the blocking and the blocked player.
    pub(crate) blocks: BTreeMap<(PlayerId, PlayerId), u64>,
    pub(crate) ratings: MemoryRatings,
}

/// Contents of the store at the end of a run, and the times of its writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct FinalState {
    pub(crate) matches: BTreeMap<MatchId, MatchRecord>,
    /// Keyed by match and event number. Number 0 is the creation of the match.
    pub(crate) write_times: BTreeMap<(MatchId, u64), WriteTimes>,
    pub(crate) write_failures: BTreeMap<MatchId, Vec<WriteFailure>>,
    /// Time of the last failed read.
    pub(crate) last_read_failure: Option<Duration>,
    /// Lag compensation setting of the server.
    pub(crate) lag_compensation: Duration,
    pub(crate) ratings: MemoryRatings,
    /// Rated matches in the order of their ledger rows, with the time at which each row was first
    /// seen.
    pub(crate) numbered_matches: Vec<(Duration, MatchId)>,
    /// Ratings at the start of the run.
    pub(crate) initial_ratings: RatingState,
    /// Additional state of a cluster run, `None` with one server.
    pub(crate) cluster: Option<ClusterState>,
}

/// State of a cluster run. In such a run, several servers share one store.
#[derive(Clone, Debug)]
pub(crate) struct ClusterState {
    pub(crate) journal: Journal,
    /// Time at which the clients stop observing the cluster after the last fault. A reply to a
    /// request after this time must contain every event that became visible before the request.
    pub(crate) settled_at: Duration,
}

/// Times of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteTimes {
    /// When the write was requested.
    pub(crate) started: Duration,
    pub(crate) durable_at: Duration,
}

/// Failed write to a match. Its outcome may be unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteFailure {
    pub(crate) started: Duration,
    /// When the match learned that the store had rejected the write. `None` if the outcome is
    /// unknown.
    pub(crate) rejected_at: Option<Duration>,
    /// When the server learned that the store works again.
    pub(crate) resolved_at: Option<Duration>,
}

#[derive(Clone, Debug)]
pub(super) enum Write {
    Create(MatchRecord),
    Append(MatchId, JournalPosition, Vec<Event>, Option<Reminder>),
    AddPlayer(PlayerRecord, Vec<SessionRecord>),
    EndSessions(PlayerId, SessionSelection),
    TouchSession(TokenHash, u64),
    ChangeBlock(PlayerId, PlayerId, Option<u64>),
    ChangeRatings(RatingsChange),
}

impl Tables {
    pub(super) fn apply(&mut self, write: Write) -> Result<(), WriteError> {
        match write {
            Write::Create(record) => {
                let id = record.creation.id;
                let previous = record.creation.terms.previous;
                let has_other =
                    previous.is_some_and(|previous| self.rematch_of(previous.id).is_some());
                if self.matches.contains_key(&id) || has_other {
                    return Err(WriteError::Conflict);
                }
                if self
                    .live_matches()
                    .any(|live| live.creation.code == record.creation.code)
                {
                    return Err(WriteError::CodeTaken);
                }
                let reminder = record.reminder();
                self.reminders
                    .extend(reminder.map(|reminder| (id, reminder)));
                self.matches.insert(id, record);
            }
            Write::Append(id, after, events, reminder) => match self.matches.get_mut(&id) {
                Some(record) if journal_end(record) == after => {
                    record.events.extend(events);
                    self.reminders
                        .extend(reminder.map(|reminder| (id, reminder)));
                    if record.has_ended() {
                        self.reminders.remove(&id);
                        if let Some(game) = record.rated_game() {
                            let numbered_ms = record.numbering_due_ms(game.at_ms);
                            self.ratings.add_game(game, numbered_ms);
                        }
                    }
                }
                Some(_) | None => return Err(WriteError::Conflict),
            },
            Write::AddPlayer(player, sessions) => {
                self.players.entry(player.id).or_insert(player);
                for session in sessions {
                    self.sessions.entry(session.token.0).or_insert(session);
                }
            }
            Write::EndSessions(player, which) => self.sessions.retain(|_, session| {
                session.player != player || !which.contains(session.id, session.kind)
            }),
            Write::ChangeBlock(player, other, Some(since_ms)) => {
                self.blocks.entry((player, other)).or_insert(since_ms);
            }
            Write::ChangeBlock(player, other, None) => {
                self.blocks.remove(&(player, other));
            }
            Write::ChangeRatings(change) => {
                if !self.ratings.change(change) {
                    return Err(WriteError::Conflict);
                }
            }
            Write::TouchSession(token, day) => {
                if let Some(session) = self.sessions.get_mut(&token.0) {
                    session.last_used_day = day;
                }
            }
        }
        Ok(())
    }

    /// Returns the blocks that involve this player.
    pub(super) fn blocks_of(&self, player: PlayerId) -> Blocks {
        let all = || self.blocks.keys();
        let own = all().filter(|(one, _)| *one == player);
        let own = own.filter_map(|(_, other)| self.players.get(other).cloned());
        let by = all().filter(|(_, other)| *other == player);
        let (own, by): (Vec<PlayerRecord>, Vec<PlayerId>) =
            (own.collect(), by.map(|(one, _)| *one).collect());
        // Simulated players have no bot accounts, so a block affects only the two players.
        let unpairable = own.iter().map(|own| own.id).chain(by.iter().copied());
        let unpairable = unpairable.collect::<BTreeSet<_>>().into_iter().collect();
        Blocks {
            blocked: own,
            blocked_by: by,
            unpairable,
        }
    }

    /// Returns the rematch of a match, if one was created.
    pub(super) fn rematch_of(&self, id: MatchId) -> Option<RematchRecord> {
        let is_next =
            |record: &&MatchRecord| record.creation.terms.previous.is_some_and(|p| p.id == id);
        let next = &self.matches.values().find(is_next)?.creation;
        Some(RematchRecord {
            id: next.id,
            code: next.code,
        })
    }

    pub(super) fn load(&self, id: MatchId) -> Option<LoadedMatch> {
        let record = self.matches.get(&id)?.clone();
        Some(LoadedMatch {
            rematch: self.rematch_of(id),
            reminder: (self.reminders.get(&id).cloned())
                .filter(|reminder| reminder.wake_ms.is_some()),
            rating_changes: self.ratings.changes_of_match(id),
            ..record.into()
        })
    }

    pub(super) fn live_matches(&self) -> impl Iterator<Item = &MatchRecord> {
        self.matches.values().filter(|record| !record.has_ended())
    }

    /// Returns the live matches without a wake time.
    pub(super) fn awake_matches(&self) -> impl Iterator<Item = &MatchRecord> {
        self.live_matches().filter(|record| {
            let reminder = self.reminders.get(&record.creation.id);
            reminder.is_none_or(|reminder| reminder.wake_ms.is_none())
        })
    }

    /// Returns the matches with a wake time, ordered by that time.
    pub(super) fn due_reminders(&self) -> BTreeSet<(u64, MatchId)> {
        let reminders = self.reminders.iter();
        let due = reminders.filter_map(|(id, reminder)| Some((reminder.wake_ms?, *id)));
        due.collect()
    }
}

impl Write {
    /// Returns the match id and number of each written event. Number 0 is the creation of the
    /// match.
    pub(super) fn written_seqs(&self) -> impl Iterator<Item = (MatchId, u64)> + use<> {
        let numbered = match self {
            Self::Create(record) => Some((record.creation.id, 0..=record.events.len() as u64)),
            Self::Append(id, after, events, _) => {
                let after = after.seq().0;
                Some((*id, after + 1..=after + events.len() as u64))
            }
            Self::AddPlayer(..)
            | Self::EndSessions(..)
            | Self::TouchSession(..)
            | Self::ChangeBlock(..)
            | Self::ChangeRatings(_) => None,
        };
        let all =
            |(id, numbers): (MatchId, RangeInclusive<u64>)| numbers.map(move |number| (id, number));
        numbered.into_iter().flat_map(all)
    }
}

/// Returns the position at the end of a match's journal.
pub(super) fn journal_end(record: &MatchRecord) -> JournalPosition {
    JournalPosition::after_events(record.events.len() as u64)
}
