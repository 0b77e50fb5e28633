//! A match as the in-memory store holds it.

use std::collections::BTreeSet;

use plyhouse_matches::{EndedMatchSummary, Reminder};
use plyhouse_protocol::{MatchId, PlayerId, Seq};
use tokio::time::Instant;

use crate::account_deletion::{
    json_without_name, remove_names_from_events, remove_names_from_summary,
};
use crate::port::cluster_directory::{MatchListing, OWNERSHIP_MIN};
use crate::{JournalPosition, JournalTail, LoadedMatch, MatchRecord, NodeId, RematchRecord};

#[derive(Debug)]
pub(super) struct StoredMatch {
    pub(super) record: MatchRecord,
    pub(super) owner: Option<NodeId>,
    pub(super) reminder: Option<Reminder>,
    /// Summary of the match. `None` if the match has not ended, never started or is excluded from
    /// histories.
    pub(super) summary: Option<Box<EndedMatchSummary>>,
    /// Entry of the match in the match list.
    pub(super) listing: Option<MatchListing>,
    /// List with one number for each takeover of the match. The number is how many events the match
    /// had at the takeover. The journal contains an entry for each event and each takeover. A
    /// journal entry's number is therefore the number of events and takeovers up to and including
    /// this entry.
    fences: Vec<u64>,
    taken_over_at: Option<Instant>,
}

impl StoredMatch {
    pub(super) const fn new(record: MatchRecord, owner: NodeId) -> Self {
        Self {
            record,
            owner: Some(owner),
            reminder: None,
            summary: None,
            listing: None,
            fences: Vec::new(),
            taken_over_at: None,
        }
    }

    pub(super) const fn id(&self) -> MatchId {
        self.record.creation.id
    }

    pub(super) fn is_live(&self) -> bool {
        !self.record.has_ended()
    }

    pub(super) fn wake_ms(&self) -> Option<u64> {
        self.reminder.as_ref()?.wake_ms
    }

    /// Returns the time at which the match ended, as Unix time in milliseconds.
    pub(super) fn ended_ms(&self) -> Option<u64> {
        let end = self.record.events.last().filter(|last| last.is_end());
        end.map(|end| end.at_ms)
    }

    /// Returns the number of times that a server has taken over the match.
    pub(super) const fn epoch(&self) -> u64 {
        self.fences.len() as u64
    }

    const fn event_count(&self) -> u64 {
        self.record.events.len() as u64
    }

    pub(super) const fn position(&self) -> JournalPosition {
        let (events, epoch) = (self.event_count(), self.epoch());
        JournalPosition::new(events + epoch, Seq(events), epoch)
    }

    /// Converts the stored match to a loaded match with the given rematch. The loaded match
    /// contains no rating changes.
    pub(super) fn to_loaded(&self, rematch: Option<RematchRecord>) -> LoadedMatch {
        LoadedMatch {
            record: self.record.clone(),
            position: self.position(),
            rematch,
            reminder: self.reminder.clone().filter(|_| self.wake_ms().is_some()),
            rating_changes: None,
        }
    }

    /// Returns the events after a journal position. Returns `None` if the journal does not contain
    /// this position.
    pub(super) fn tail(&self, after: JournalPosition) -> Option<JournalTail> {
        let (Seq(seq), epoch) = (after.seq(), after.epoch());
        let known_events = usize::try_from(seq).ok()?;
        let takeovers = usize::try_from(epoch).ok()?;
        let (before, later) = self.fences.split_at_checked(takeovers)?;
        let is_consistent = before.iter().all(|events| *events <= seq)
            && later.iter().all(|events| *events >= seq)
            && Some(after.entry_no) == seq.checked_add(epoch);
        let events = self.record.events.get(known_events..)?;
        is_consistent.then(|| JournalTail {
            events: events.to_vec(),
            position: self.position(),
        })
    }

    /// Replaces the name of a deleted player in the match.
    pub(super) fn remove_name(&mut self, player: PlayerId) {
        let deleted = BTreeSet::from([player]);
        remove_names_from_events(&mut self.record.events, &deleted);
        if let Some(summary) = &mut self.summary {
            remove_names_from_summary(summary, &deleted);
        }
        if let Some(listing) = &mut self.listing
            && let Some(summary) = json_without_name(&listing.summary, player)
        {
            listing.summary = summary;
        }
    }

    /// Makes a server the owner of the match and adds a journal entry without an event.
    pub(super) fn take_over(&mut self, owner: NodeId) {
        self.fences.push(self.event_count());
        self.owner = Some(owner);
        self.taken_over_at = Some(Instant::now());
    }

    /// Returns whether the last takeover is so recent that another takeover is not allowed yet.
    pub(super) fn is_recently_taken_over(&self) -> bool {
        self.taken_over_at
            .is_some_and(|at| at.elapsed() < OWNERSHIP_MIN)
    }

    /// Removes the owner of the match, so that any server can take over the match immediately.
    pub(super) const fn release(&mut self) {
        self.owner = None;
        self.taken_over_at = None;
    }
}
