//! Each rated match that has ended is rated once, and as the rules have it; and nothing else is told.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_matches::ratings::{
    Contender, LedgerRow, RatedGame, Rating, RatingKey as RatingRecord,
};
use plyhouse_matches::{EventKind, Occupant};
use plyhouse_protocol::{MatchId, PlayerId, RatingPool};
use plyhouse_store::MatchRecord;

use super::{Keeping, Kind};
use crate::checker::reading::RatingTold;

/// For how long at most a match waits to be rated on a server that can read and write, in microseconds: some tries,
/// of which one is made each second.
const RATED_BY_US: u128 = 5_000_000;

impl Keeping<'_> {
    pub(super) fn ratings(&mut self) {
        self.ledger();
        self.fold();
        self.told_ratings();
        self.numbered();
        self.shown_ratings();
    }

    /// The ledger has a row of each rated match that has ended, and one.
    fn ledger(&mut self) {
        let kept = self.kept;
        let rows = kept.ratings.ledger(0, usize::MAX);
        let cursor = kept.ratings.progress().live.cursor;
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
            // Strangers are to know of its end first.
            let due_ms = game.as_ref().map_or(0, |game| self.due_ms(game));
            let now_ms = self.reading.wall.shows_us(self.ends_us) / 1000;
            let is_due = u128::from(due_ms) <= now_ms;
            let delay_us = u128::from(record.creation.terms.spectator_delay_ms) * 1000;
            let end = (*id, record.events.len() as u64);
            let ended = kept.written.get(&end).map(|end| end.durable.as_micros());
            let is_behind = kept.unread_at.is_none()
                && ended.is_some_and(|ended| ended + delay_us + RATED_BY_US < self.ends_us);
            let is_waiting = rows.is_empty() && delay_us > 0 && !(is_due && is_behind);
            self.tally.rated_late += usize::from(delay_us > 0 && !rows.is_empty());
            let is_right = is_waiting || rows.iter().map(|(_, game)| *game).eq(&game);
            if !is_right {
                let about = format!("{id}: the ledger has {rows:?} for {game:?}");
                self.fault(Kind::WrongRating, about);
            }
            if is_behind && rows.iter().any(|(no, _)| *no > cursor) {
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
        let state = ratings.progress();
        let posted = usize::try_from(state.live.cursor).unwrap_or(usize::MAX);
        let mut books = self.kept.begun.clone();
        for (no, row) in ratings.ledger(0, posted) {
            let changes = books.post(no, &row, &state.unrated).changes;
            self.tally.rated += usize::from(!changes.is_empty());
            let kept = ratings.posted_updates(no - 1, no).into_iter();
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
                    counts && kept.rating.is_bitwise_equal(&folded.rating)
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
        for RatingTold {
            on,
            at_us,
            id,
            changes,
        } in &reading.ratings
        {
            self.known_by(*id, *at_us);
            let kept = ratings.changes_of_match(*id);
            if kept.as_ref() != Some(changes) || !once.insert((*on, *id)) {
                let about = format!("{on:?} is told {changes:?} of {id}, {kept:?} is kept");
                self.fault(Kind::WrongRating, about);
            }
        }
        for (id, told) in &reading.matches {
            let kept = ratings.changes_of_match(*id);
            for shown in &told.snapshots {
                let changes = &shown.snapshot.rating_changes;
                if changes.is_some() {
                    self.known_by(*id, shown.times.1);
                }
                if changes.is_some() && *changes != kept {
                    let about = format!("{id} is shown with {changes:?}, {kept:?} is kept");
                    self.fault(Kind::WrongRating, about);
                }
            }
        }
    }

    /// When those may know of a match's end who have no part in it, in milliseconds since 1970.
    fn due_ms(&self, game: &RatedGame) -> u64 {
        let record = self.kept.matches.get(&game.match_id);
        game.at_ms + record.map_or(0, |record| record.creation.terms.spectator_delay_ms)
    }

    /// A match is rated, and what it has changed is told, once all may know that it has ended.
    fn known_by(&mut self, id: MatchId, at_us: u128) {
        let game = self.kept.matches.get(&id).and_then(MatchRecord::rated_game);
        let due_ms = game.as_ref().map_or(0, |game| self.due_ms(game));
        let now_ms = self.reading.wall.shows_us(at_us) / 1000;
        if now_ms < u128::from(due_ms) {
            let about = format!("{id} is rated or told of at {now_ms}, before {due_ms}");
            self.fault(Kind::TooSoon, about);
        }
    }

    /// Matches get their numbers once their time has come.
    fn numbered(&mut self) {
        for (at, id) in &self.kept.numbered {
            self.known_by(*id, at.as_micros());
        }
    }

    /// How well people play is shown, and noted as they sit down, as it is without what not all may know.
    fn shown_ratings(&mut self) {
        let mut faults = Vec::new();
        for shown in &self.reading.ratings_shown {
            let now_ms = self.reading.wall.shows_us(shown.at_us) / 1000;
            let known = self.ratings_by(shown.player, (&shown.game, shown.pool), now_ms);
            if !known.ratings.contains(&shown.rating) || shown.games > known.games {
                faults.push(format!("{shown:?}, where {known:?} is known"));
            }
        }
        for record in self.kept.matches.values() {
            let terms = &record.creation.terms;
            let pool = if terms.is_correspondence() {
                RatingPool::Correspondence
            } else {
                RatingPool::Live
            };
            for event in &record.events {
                let EventKind::Seated {
                    occupant:
                        Occupant::Player {
                            id,
                            rating: Some(rating),
                            ..
                        },
                    ..
                } = &event.kind
                else {
                    continue;
                };
                let game = (record.creation.game.info.id, pool);
                let known = self.ratings_by(*id, game, u128::from(event.at_ms));
                if !known.ratings.contains(&rating.rating) {
                    faults.push(format!("{event:?} shows what is not in {known:?}"));
                }
            }
        }
        for about in faults {
            self.fault(Kind::TooSoon, about);
        }
    }

    /// How somebody was rated at some time up to this one, in milliseconds since 1970, and of how many matches
    /// at most.
    fn ratings_by(
        &self,
        player: PlayerId,
        (game, pool): (&str, RatingPool),
        now_ms: u128,
    ) -> Known {
        let record = RatingRecord {
            player,
            game: game.to_owned(),
            pool,
        };
        let begun = self.kept.begun.ratings.get(&record);
        let mut known = Known {
            games: begun.map_or(0, |rated| rated.games),
            ratings: vec![
                begun
                    .map_or(Rating::INITIAL, |rated| rated.rating)
                    .rounded(),
            ],
        };
        for (_, row) in self.kept.ratings.ledger(0, usize::MAX) {
            let LedgerRow::Game(of) = row else { continue };
            let is_of_it = of.game == game && of.pool == pool;
            if !is_of_it || u128::from(self.due_ms(&of)) > now_ms {
                continue;
            }
            let changes = self
                .kept
                .ratings
                .changes_of_match(of.match_id)
                .unwrap_or_default();
            let own = changes.iter().filter(|change| {
                let contender = &of.seats[change.seat.index()];
                matches!(contender, Contender::Player { player: one } if *one == player)
            });
            for change in own {
                known.games += 1;
                known.ratings.push(change.after);
            }
        }
        known
    }
}

/// How somebody may be known to play.
#[derive(Debug)]
struct Known {
    games: u64,
    ratings: Vec<i32>,
}
