//! Faults of the simulated store that the checker must detect.

use plyhouse_matches::ratings::LedgerRow;
use plyhouse_matches::{Event, EventKind, Match};
use plyhouse_store::{MatchRecord, MemoryRatings, NeededRatings, RatingPost, RatingsChange};

use super::rng::SimRng;
use super::store::Tables;

/// Violation of the store's guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// The store acknowledges a write before its sync.
    AcksBeforeSync,
    /// A crash removes the last move of a match, although it was synced.
    LosesLastMove,
    /// A crash duplicates the last move of a match.
    DuplicatesMove,
    /// A crash adds a move that no player made.
    InventsMove,
    /// A crash changes the winner of a match.
    ChangesWinner,
    /// A crash deletes all players.
    LosesPlayers,
    /// A crash deletes a match.
    LosesMatch,
    /// The store applies writes that it reports as rejected.
    AppliesRejectedWrite,
    /// A crash adds time to a clock.
    AddsClockTime,
    /// The store returns no due reminders.
    OmitsDueReminders,
    /// A crash applies the rating changes of the last rated match a second time.
    RatesTwice,
    /// A crash adds the last rated match to the ledger again, under a second row number.
    NumbersRowTwice,
    /// Rated matches receive their ledger row numbers before their spectator delay is over.
    NumbersRowEarly,
}

impl StoreFault {
    /// Applies the damage that this fault causes in a crash.
    pub(super) fn corrupt_tables(self, tables: &mut Tables, rng: &mut SimRng) {
        match self {
            Self::AcksBeforeSync
            | Self::AppliesRejectedWrite
            | Self::OmitsDueReminders
            | Self::NumbersRowEarly => {}
            Self::LosesLastMove => change_any_match(tables, rng, |record| {
                record.events.last().is_some_and(is_move) && {
                    record.events.pop();
                    true
                }
            }),
            Self::DuplicatesMove => {
                change_any_match(tables, rng, |record| match record.events.last() {
                    Some(last) if is_move(last) => {
                        record.events.push(last.clone());
                        true
                    }
                    Some(_) | None => false,
                })
            }
            Self::InventsMove => {
                change_any_match(tables, rng, |record| invent_move(record).is_some())
            }
            Self::ChangesWinner => change_any_match(tables, rng, |record| {
                match record.events.last_mut().map(|last| &mut last.kind) {
                    Some(EventKind::Ended {
                        winner: Some(winner),
                        ..
                    }) => {
                        *winner = winner.other();
                        true
                    }
                    Some(_) | None => false,
                }
            }),
            Self::AddsClockTime => change_any_match(tables, rng, |record| {
                match record.events.last_mut().map(|last| &mut last.kind) {
                    Some(EventKind::Moved {
                        seat,
                        remaining: Some(remaining),
                        ..
                    }) => {
                        *remaining = remaining.with_added_time(*seat, 1000);
                        true
                    }
                    Some(_) | None => false,
                }
            }),
            Self::RatesTwice => rate_last_game_again(&mut tables.ratings),
            Self::NumbersRowTwice => {
                let rows = tables.ratings.ledger(0, usize::MAX);
                let is_game = |(_, row): &(u64, LedgerRow)| matches!(row, LedgerRow::Game(_));
                if let Some((_, game)) = rows.into_iter().rfind(is_game) {
                    tables.ratings.number_row(game);
                }
            }
            Self::LosesPlayers => tables.players.clear(),
            Self::LosesMatch => {
                let ids: Vec<_> = tables.matches.keys().copied().collect();
                if let Some(id) = rng.pick(&ids) {
                    tables.matches.remove(id);
                }
            }
        }
    }
}

/// Applies the last rated match to the ratings again, as if the store had saved the new ratings
/// without the new cursor.
fn rate_last_game_again(ratings: &mut MemoryRatings) {
    let (state, live_version) = (ratings.progress(), ratings.progress().live);
    let posted = usize::try_from(live_version.cursor).unwrap_or(usize::MAX);
    let rows = ratings.ledger(0, posted);
    let is_game = |(_, row): &(u64, LedgerRow)| matches!(row, LedgerRow::Game(_));
    let Some((no, row)) = rows.into_iter().rfind(is_game) else {
        return;
    };
    let rows = [(no, row)];
    let mut rating_state =
        ratings.load_ratings_for(live_version.id, &NeededRatings::for_rows(&rows));
    // Otherwise the pair histories would identify the game as already rated, and the second rating
    // would change nothing.
    rating_state.pair_histories.clear();
    rating_state.post(no, &rows[0].1, &state.unrated);
    ratings.change(RatingsChange::Post(Box::new(RatingPost {
        version: live_version.id,
        from_row: live_version.cursor,
        to_row: live_version.cursor,
        books: rating_state,
        posted: Vec::new(),
    })));
}

/// Adds a move that the player on turn has not made.
fn invent_move(record: &mut MatchRecord) -> Option<()> {
    let state = Match::replay(record.creation.clone(), &record.events).ok()?;
    let seat = state.turn()?;
    state.occupant(seat).player()?;
    // Simulated clients pick moves at random, so a client is unlikely to have requested this move.
    // Moves that end the game are skipped because the match must continue.
    let game_continues = |m: &String| {
        let preview = state.position().preview_move(m);
        preview.is_ok_and(|(_, outcome)| outcome.is_none())
    };
    let m = state
        .position()
        .legal_moves()
        .into_iter()
        .rfind(game_continues)?;
    let at_ms = record.events.last().map_or(0, |last| last.at_ms);
    let moved = EventKind::Moved {
        seat,
        m,
        spent_ms: state.clock().map(|_| 0),
        remaining: state.remaining_time(),
    };
    record.events.push(moved.at(at_ms));
    Some(())
}

/// Applies `change` to one match after another, starting with a random match, until `change`
/// returns true.
fn change_any_match(
    tables: &mut Tables,
    rng: &mut SimRng,
    mut change: impl FnMut(&mut MatchRecord) -> bool,
) {
    let mut records: Vec<_> = tables.matches.values_mut().collect();
    if records.is_empty() {
        return;
    }
    let start = usize::try_from(rng.between(0..=records.len() as u64 - 1))
        .expect("index below records.len()");
    records.rotate_left(start);
    let _ = records.into_iter().any(&mut change);
}

fn is_move(event: &Event) -> bool {
    matches!(event.kind, EventKind::Moved { .. })
}
