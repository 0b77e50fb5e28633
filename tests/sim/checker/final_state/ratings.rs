//! Checks that each ended rated match was rated exactly once according to the rules, and that
//! clients received correct ratings.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_matches::ratings::{
    Contender, LedgerRow, RatedGame, Rating, RatingKey as RatingRecord,
};
use plyhouse_matches::{EventKind, Occupant};
use plyhouse_protocol::{MatchId, PlayerId, RatingPool};
use plyhouse_store::MatchRecord;

use super::{FinalStateCheck, ViolationKind};
use crate::checker::observations::RatingNotification;

/// Maximum time until a match is rated while the store works, in microseconds. The limit allows for
/// several rating attempts, one per second.
const RATING_DELAY_MAX_US: u128 = 5_000_000;

impl FinalStateCheck<'_> {
    pub(super) fn check_ratings(&mut self) {
        self.check_ledger();
        self.check_ledger_replay();
        self.check_rating_notifications();
        self.check_numbering();
        self.check_displayed_ratings();
    }

    /// Checks that the ledger has exactly one row for each rated match that has ended.
    fn check_ledger(&mut self) {
        let stored = self.stored;
        let rows = stored.ratings.ledger(0, usize::MAX);
        let cursor = stored.ratings.progress().live.cursor;
        let mut rows_by_match: BTreeMap<MatchId, Vec<(u64, &RatedGame)>> = BTreeMap::new();
        for (no, row) in &rows {
            if let LedgerRow::Game(game) = row {
                let of_match = rows_by_match.entry(game.match_id).or_default();
                of_match.push((*no, game));
            }
        }
        for (id, record) in &stored.matches {
            let game = record.rated_game();
            let rows = rows_by_match.remove(id).unwrap_or_default();
            // A match is rated only after spectators may see its end.
            let due_ms = game.as_ref().map_or(0, |game| self.end_visible_ms(game));
            let now_ms = self.observations.wall_clock.unix_us(self.end_us) / 1000;
            let is_visible = u128::from(due_ms) <= now_ms;
            let delay_us = u128::from(record.creation.terms.spectator_delay_ms) * 1000;
            let end = (*id, record.events.len() as u64);
            let ended = stored
                .write_times
                .get(&end)
                .map(|end| end.durable_at.as_micros());
            let is_behind = stored.last_read_failure.is_none()
                && ended.is_some_and(|ended| ended + delay_us + RATING_DELAY_MAX_US < self.end_us);
            let may_be_unrated = rows.is_empty() && delay_us > 0 && !(is_visible && is_behind);
            self.tally.delayed_ratings += usize::from(delay_us > 0 && !rows.is_empty());
            let is_right = may_be_unrated || rows.iter().map(|(_, game)| *game).eq(&game);
            if !is_right {
                let about = format!("{id}: the ledger has {rows:?} for {game:?}");
                self.report(ViolationKind::WrongRating, about);
            }
            if is_behind && rows.iter().any(|(no, _)| *no > cursor) {
                self.report(
                    ViolationKind::WrongRating,
                    format!("{id} is not rated in time"),
                );
            }
        }
        for (id, rows) in rows_by_match {
            let about = format!("the ledger has {rows:?}, but the store has no match {id}");
            self.report(ViolationKind::WrongRating, about);
        }
    }

    /// Checks that replaying the ledger reproduces the stored ratings bit for bit.
    fn check_ledger_replay(&mut self) {
        let ratings = &self.stored.ratings;
        let state = ratings.progress();
        let posted = usize::try_from(state.live.cursor).unwrap_or(usize::MAX);
        let mut rating_state = self.stored.initial_ratings.clone();
        for (no, row) in ratings.ledger(0, posted) {
            let changes = rating_state.post(no, &row, &state.unrated).changes;
            self.tally.rated_matches += usize::from(!changes.is_empty());
            let stored_changes = ratings.posted_updates(no - 1, no).into_iter();
            let stored_changes: Vec<_> = stored_changes
                .flat_map(|(_, posted)| posted.changes)
                .collect();
            if stored_changes != changes {
                let about =
                    format!("{row:?} changed {stored_changes:?}, but should change {changes:?}");
                self.report(ViolationKind::WrongRating, about);
            }
        }
        let stored_ratings = ratings.ratings_after(None);
        let is_same = stored_ratings.len() == rating_state.ratings.len()
            && stored_ratings.iter().all(|(record, stored)| {
                rating_state.ratings.get(record).is_some_and(|folded| {
                    let counts = (stored.games, stored.last_ms) == (folded.games, folded.last_ms);
                    counts && stored.rating.is_bitwise_equal(&folded.rating)
                })
            });
        if !is_same {
            let about = format!(
                "{stored_ratings:?} are stored, {:?} are expected from the ledger",
                rating_state.ratings
            );
            self.report(ViolationKind::WrongRating, about);
        }
    }

    /// Checks that rating notifications and snapshots show the stored rating changes, and that no
    /// connection receives a notification twice.
    fn check_rating_notifications(&mut self) {
        let (reading, ratings) = (self.observations, &self.stored.ratings);
        let mut notified = BTreeSet::new();
        for RatingNotification {
            connection: on,
            at_us,
            id,
            changes,
        } in &reading.rating_notifications
        {
            self.check_delay_elapsed(*id, *at_us);
            let stored_changes = ratings.changes_of_match(*id);
            if stored_changes.as_ref() != Some(changes) || !notified.insert((*on, *id)) {
                let about =
                    format!("{on:?} received {changes:?} of {id}, {stored_changes:?} is stored");
                self.report(ViolationKind::WrongRating, about);
            }
        }
        for (id, observed) in &reading.matches {
            let stored_changes = ratings.changes_of_match(*id);
            for shown in &observed.snapshots {
                let changes = &shown.snapshot.rating_changes;
                if changes.is_some() {
                    self.check_delay_elapsed(*id, shown.times.1);
                }
                if changes.is_some() && *changes != stored_changes {
                    let about =
                        format!("{id} was sent with {changes:?}, {stored_changes:?} is stored");
                    self.report(ViolationKind::WrongRating, about);
                }
            }
        }
    }

    /// Returns when clients without a seat may see the end of a match, in milliseconds since 1970.
    fn end_visible_ms(&self, game: &RatedGame) -> u64 {
        let record = self.stored.matches.get(&game.match_id);
        game.at_ms + record.map_or(0, |record| record.creation.terms.spectator_delay_ms)
    }

    /// Checks that all clients could already see the end of the match at `at_us`. `at_us` is the
    /// time when the match was rated or its rating changes were sent.
    fn check_delay_elapsed(&mut self, id: MatchId, at_us: u128) {
        let game = self
            .stored
            .matches
            .get(&id)
            .and_then(MatchRecord::rated_game);
        let due_ms = game.as_ref().map_or(0, |game| self.end_visible_ms(game));
        let now_ms = self.observations.wall_clock.unix_us(at_us) / 1000;
        if now_ms < u128::from(due_ms) {
            let about =
                format!("{id} was rated or its rating was sent at {now_ms}, before {due_ms}");
            self.report(ViolationKind::EarlySpectatorUpdate, about);
        }
    }

    /// Checks that rated matches received their ledger rows only after the spectator delay.
    fn check_numbering(&mut self) {
        for (at, id) in &self.stored.numbered_matches {
            self.check_delay_elapsed(*id, at.as_micros());
        }
    }

    /// Checks that ratings in profiles, on leaderboards and at seats do not reveal results that are
    /// still delayed.
    fn check_displayed_ratings(&mut self) {
        let mut faults = Vec::new();
        for shown in &self.observations.displayed_ratings {
            let now_ms = self.observations.wall_clock.unix_us(shown.at_us) / 1000;
            let possible = self.possible_ratings(shown.player, (&shown.game, shown.pool), now_ms);
            if !possible.ratings.contains(&shown.rating) || shown.games > possible.games_max {
                faults.push(format!("{shown:?} is not among {possible:?} "));
            }
        }
        for record in self.stored.matches.values() {
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
                let possible = self.possible_ratings(*id, game, u128::from(event.at_ms));
                if !possible.ratings.contains(&rating.rating) {
                    faults.push(format!(
                        "{event:?} has a rating that is not among {possible:?}"
                    ));
                }
            }
        }
        for about in faults {
            self.report(ViolationKind::EarlySpectatorUpdate, about);
        }
    }

    /// Returns the ratings that clients may have seen for a player up to `now_ms`. `now_ms` is in
    /// milliseconds since 1970.
    fn possible_ratings(
        &self,
        player: PlayerId,
        (game, pool): (&str, RatingPool),
        now_ms: u128,
    ) -> PossibleRatings {
        let rating_key = RatingRecord {
            player,
            game: game.to_owned(),
            pool,
        };
        let initial = self.stored.initial_ratings.ratings.get(&rating_key);
        let mut possible = PossibleRatings {
            games_max: initial.map_or(0, |rated| rated.games),
            ratings: vec![
                initial
                    .map_or(Rating::INITIAL, |rated| rated.rating)
                    .rounded(),
            ],
        };
        for (_, row) in self.stored.ratings.ledger(0, usize::MAX) {
            let LedgerRow::Game(of) = row else { continue };
            let is_of_it = of.game == game && of.pool == pool;
            if !is_of_it || u128::from(self.end_visible_ms(&of)) > now_ms {
                continue;
            }
            let changes = self
                .stored
                .ratings
                .changes_of_match(of.match_id)
                .unwrap_or_default();
            let own = changes.iter().filter(|change| {
                let contender = &of.seats[change.seat.index()];
                matches!(contender, Contender::Player { player: one } if *one == player)
            });
            for change in own {
                possible.games_max += 1;
                possible.ratings.push(change.after);
            }
        }
        possible
    }
}

/// Ratings that clients may have seen for a player. `games_max` is the highest number of rated
/// games that clients may have seen for the player.
#[derive(Debug)]
struct PossibleRatings {
    games_max: u64,
    ratings: Vec<i32>,
}
