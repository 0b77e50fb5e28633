//! A match as it is kept in memory.

use std::collections::BTreeSet;

use plyhouse_matches::{Archived, Reminder};
use plyhouse_protocol::{MatchId, PlayerId, Seq};
use tokio::time::Instant;

use crate::directory::{Shown, TAKEN_MIN};
use crate::forgetting::{take_names_out, take_out_of_archived, without_name};
use crate::{JournalPosition, Loaded, NodeId, Record, RematchRecord, Tail};

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) record: Record,
    pub(super) owner: Option<NodeId>,
    pub(super) reminder: Option<Reminder>,
    /// What it came to, once it has ended.
    pub(super) archived: Option<Box<Archived>>,
    /// What lists show of it.
    pub(super) shown: Option<Shown>,
    /// How many events there were each time that it was taken over. Each time is an entry of its journal,
    /// too, so an entry's number is that of the event and of the epoch together.
    fences: Vec<u64>,
    taken_at: Option<Instant>,
}

impl Kept {
    pub(super) const fn new(record: Record, owner: NodeId) -> Self {
        Self {
            record,
            owner: Some(owner),
            reminder: None,
            archived: None,
            shown: None,
            fences: Vec::new(),
            taken_at: None,
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

    /// When it ended, in milliseconds since 1970.
    pub(super) fn ended_ms(&self) -> Option<u64> {
        let end = self.record.events.last().filter(|last| last.is_end());
        end.map(|end| end.at_ms)
    }

    /// How often it was taken over.
    pub(super) const fn epoch(&self) -> u64 {
        self.fences.len() as u64
    }

    const fn events(&self) -> u64 {
        self.record.events.len() as u64
    }

    pub(super) const fn mark(&self) -> JournalPosition {
        let (events, epoch) = (self.events(), self.epoch());
        JournalPosition::new(events + epoch, Seq(events), epoch)
    }

    /// The match with its rematch, which is this one.
    pub(super) fn loaded(&self, next: Option<RematchRecord>) -> Loaded {
        Loaded {
            record: self.record.clone(),
            mark: self.mark(),
            next,
            reminder: self.reminder.clone().filter(|_| self.wake_ms().is_some()),
            changes: None,
        }
    }

    /// What has happened since a mark; `None` if the journal has no such place.
    pub(super) fn tail(&self, after: JournalPosition) -> Option<Tail> {
        let (Seq(seq), epoch) = (after.seq(), after.epoch());
        let known = usize::try_from(seq).ok()?;
        let taken = usize::try_from(epoch).ok()?;
        let (before, later) = self.fences.split_at_checked(taken)?;
        let is_there = before.iter().all(|events| *events <= seq)
            && later.iter().all(|events| *events >= seq)
            && Some(after.n) == seq.checked_add(epoch);
        let events = self.record.events.get(known..)?;
        is_there.then(|| Tail {
            events: events.to_vec(),
            mark: self.mark(),
        })
    }

    /// Takes the name of a player out.
    pub(super) fn forget(&mut self, player: PlayerId) {
        let gone = BTreeSet::from([player]);
        take_names_out(&mut self.record.events, &gone);
        if let Some(archived) = &mut self.archived {
            take_out_of_archived(archived, &gone);
        }
        if let Some(shown) = &mut self.shown
            && let Some(card) = without_name(&shown.card, player)
        {
            shown.card = card;
        }
    }

    /// Makes this the owner, by an entry that is no event.
    pub(super) fn take(&mut self, owner: NodeId) {
        self.fences.push(self.events());
        self.owner = Some(owner);
        self.taken_at = Some(Instant::now());
    }

    /// Whether it was taken so lately that it is not to be taken again.
    pub(super) fn is_fresh(&self) -> bool {
        self.taken_at.is_some_and(|at| at.elapsed() < TAKEN_MIN)
    }

    /// Makes it nobody's.
    pub(super) const fn release(&mut self) {
        self.owner = None;
        self.taken_at = None;
    }
}
