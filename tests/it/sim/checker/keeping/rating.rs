//! Each rated match that has ended is rated once, and as the rules have it; and nothing else is told.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_matches::ratings::{Books, LedgerRow, RatedGame};
use plyhouse_protocol::MatchId;

use super::{Keeping, Kind};

/// For how long at most a match waits to be rated on a server that can read and write, in microseconds: some tries,
/// of which one is made each second.
const RATED_BY_US: u128 = 5_000_000;

impl Keeping<'_> {
    pub(super) fn ratings(&mut self) {
        self.ledger();
        self.fold();
        self.told_ratings();
    }

    /// The ledger has a row of each rated match that has ended, and one.
    fn ledger(&mut self) {
        let kept = self.kept;
        let rows = kept.ratings.ledger(0, usize::MAX);
        let cursor = kept.ratings.state().live.cursor;
        let mut numbered: BTreeMap<MatchId, Vec<(u64, &RatedGame)>> = BTreeMap::new();
        for (no, row) in &rows {
            if let LedgerRow::Game(game) = row {
                let of_match = numbered.entry(game.match_id).or_default();
                of_match.push((*no, game));
            }
        }
        for (id, record) in &kept.matches {
            let game = record.rated_game();
            let rows = numbered.remove(id).unwrap_or_default();
            let is_right = rows.iter().map(|(_, game)| *game).eq(&game);
            if !is_right {
                let about = format!("{id}: the ledger has {rows:?} for {game:?}");
                self.fault(Kind::WrongRating, about);
            }
            let end = (*id, record.events.len() as u64);
            let ended = kept.written.get(&end).map(|end| end.durable.as_micros());
            let waits = rows.iter().any(|(no, _)| *no > cursor)
                && kept.unread_at.is_none()
                && ended.is_some_and(|ended| ended + RATED_BY_US < self.ends_us);
            if waits {
                self.fault(Kind::WrongRating, format!("{id} is not rated in time"));
            }
        }
        for (id, rows) in numbered {
            let about = format!("the ledger has {rows:?}, and there is no {id}");
            self.fault(Kind::WrongRating, about);
        }
    }

    /// What was rated has come to what a fold of it comes to, bit for bit.
    fn fold(&mut self) {
        let ratings = &self.kept.ratings;
        let state = ratings.state();
        let posted = usize::try_from(state.live.cursor).unwrap_or(usize::MAX);
        let mut books = Books::default();
        for (no, row) in ratings.ledger(0, posted) {
            let changes = books.post(no, &row, &state.unrated).changes;
            self.tally.rated += usize::from(!changes.is_empty());
            let kept = ratings.posted(no - 1, no).into_iter();
            let kept: Vec<_> = kept.flat_map(|(_, posted)| posted.changes).collect();
            if kept != changes {
                let about = format!("{row:?} has changed {kept:?}, and is to change {changes:?}");
                self.fault(Kind::WrongRating, about);
            }
        }
        let kept = ratings.ratings_after(None);
        let is_same = kept.len() == books.ratings.len()
            && kept.iter().all(|(record, kept)| {
                books.ratings.get(record).is_some_and(|folded| {
                    let counts = (kept.games, kept.last_ms) == (folded.games, folded.last_ms);
                    counts && kept.rating.is_same(&folded.rating)
                })
            });
        if !is_same {
            let about = format!("{kept:?} are kept, {:?} are folded", books.ratings);
            self.fault(Kind::WrongRating, about);
        }
    }

    /// Everybody is told what is kept, and once.
    fn told_ratings(&mut self) {
        let (reading, ratings) = (self.reading, &self.kept.ratings);
        let mut once = BTreeSet::new();
        for (on, id, changes) in &reading.ratings {
            let kept = ratings.changes_of(*id);
            if kept.as_ref() != Some(changes) || !once.insert((*on, *id)) {
                let about = format!("{on:?} is told {changes:?} of {id}, {kept:?} is kept");
                self.fault(Kind::WrongRating, about);
            }
        }
        for (id, told) in &reading.matches {
            let kept = ratings.changes_of(*id);
            for shown in &told.snapshots {
                let changes = &shown.snapshot.changes;
                if changes.is_some() && *changes != kept {
                    let about = format!("{id} is shown with {changes:?}, {kept:?} is kept");
                    self.fault(Kind::WrongRating, about);
                }
            }
        }
    }
}
