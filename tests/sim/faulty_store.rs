//! Stores that break their promise, to see whether the checker finds out.

use plyhouse_matches::ratings::LedgerRow;
use plyhouse_matches::{Event, EventKind, Match};
use plyhouse_store::{MatchRecord, MemoryRatings, NeededRatings, RatingPost, RatingsChange};

use super::rng::SimRng;
use super::store::Tables;

/// How a store breaks its promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// A write is answered before its sync.
    AcksBeforeSync,
    /// A crash takes the last event of a match, although it was synced.
    LosesLastMove,
    /// A crash leaves a match's last move there twice.
    DuplicatesMove,
    /// A crash leaves a move that nobody made.
    InventsMove,
    /// A crash makes another seat the winner.
    ChangesWinner,
    /// A crash takes the players.
    LosesPlayers,
    /// A crash takes a match.
    LosesMatch,
    /// What it says it has not written it has.
    AppliesRejectedWrite,
    /// A crash leaves more time on a clock.
    AddsClockTime,
    /// No match is told that is to be woken.
    OmitsDueReminders,
    /// A crash has the last rated match rated once more.
    RatesTwice,
    /// A crash gives the last rated match one more number.
    NumbersRowTwice,
    /// Rated matches do not wait for their numbers until their delay is over.
    NumbersRowEarly,
}

impl StoreFault {
    /// Does to the tables what a crash is to do.
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

/// Posts the last row again, as if the cursor had not been kept with what it has changed.
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
    // Else it would be the same game again, which changes nothing.
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

/// Has a player move who has not.
fn invent_move(record: &mut MatchRecord) -> Option<()> {
    let state = Match::replay(record.creation.clone(), &record.events).ok()?;
    let seat = state.turn()?;
    state.occupant(seat).player()?;
    // The last of the list is what a player, who chooses at random, hardly tries.
    // Of a move that ends the game nothing could follow but its end.
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

/// Changes the first match that fits, beginning anywhere.
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
