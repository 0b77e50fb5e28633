//! Stores that break their promise, to see whether the checker finds out.

use plyhouse_matches::ratings::LedgerRow;
use plyhouse_matches::{Event, EventKind, Match};
use plyhouse_store::{MatchRecord, MemoryRatings, NeededRatings, RatingPost, RatingsChange};

use super::dice::Dice;
use super::store::Tables;

/// How a store breaks its promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A write is answered before its sync.
    AnswersEarly,
    /// A crash takes the last event of a match, although it was synced.
    LosesTail,
    /// A crash leaves a match's last move there twice.
    DoublesMove,
    /// A crash leaves a move that nobody made.
    InventsMove,
    /// A crash makes another seat the winner.
    ChangesWinner,
    /// A crash takes the players.
    ForgetsPlayers,
    /// A crash takes a match.
    ForgetsMatch,
    /// What it says it has not written it has.
    WritesWhatItRefuses,
    /// A crash leaves more time on a clock.
    GivesTime,
    /// No match is told that is to be woken.
    WakesNobody,
    /// A crash has the last rated match rated once more.
    RatesTwice,
    /// A crash gives the last rated match one more number.
    NumbersTwice,
    /// Rated matches do not wait for their numbers until their delay is over.
    NumbersEarly,
}

impl Flaw {
    /// Does to the tables what a crash is to do.
    pub(super) fn befall(self, tables: &mut Tables, dice: &mut Dice) {
        match self {
            Self::AnswersEarly
            | Self::WritesWhatItRefuses
            | Self::WakesNobody
            | Self::NumbersEarly => {}
            Self::LosesTail => change(tables, dice, |record| {
                record.events.last().is_some_and(is_move) && {
                    record.events.pop();
                    true
                }
            }),
            Self::DoublesMove => change(tables, dice, |record| match record.events.last() {
                Some(last) if is_move(last) => {
                    record.events.push(last.clone());
                    true
                }
                Some(_) | None => false,
            }),
            Self::InventsMove => change(tables, dice, |record| invent_move(record).is_some()),
            Self::ChangesWinner => change(tables, dice, |record| {
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
            Self::GivesTime => change(tables, dice, |record| {
                match record.events.last_mut().map(|last| &mut last.kind) {
                    Some(EventKind::Moved {
                        seat,
                        remaining: Some(left),
                        ..
                    }) => {
                        *left = left.with_added_time(*seat, 1000);
                        true
                    }
                    Some(_) | None => false,
                }
            }),
            Self::RatesTwice => rate_again(&mut tables.ratings),
            Self::NumbersTwice => {
                let rows = tables.ratings.ledger(0, usize::MAX);
                let is_game = |(_, row): &(u64, LedgerRow)| matches!(row, LedgerRow::Game(_));
                if let Some((_, game)) = rows.into_iter().rfind(is_game) {
                    tables.ratings.number_row(game);
                }
            }
            Self::ForgetsPlayers => tables.players.clear(),
            Self::ForgetsMatch => {
                let ids: Vec<_> = tables.matches.keys().copied().collect();
                if let Some(id) = dice.pick(&ids) {
                    tables.matches.remove(id);
                }
            }
        }
    }
}

/// Posts the last row again, as if the cursor had not been kept with what it has changed.
fn rate_again(ratings: &mut MemoryRatings) {
    let (state, fold) = (ratings.progress(), ratings.progress().live);
    let posted = usize::try_from(fold.cursor).unwrap_or(usize::MAX);
    let rows = ratings.ledger(0, posted);
    let is_game = |(_, row): &(u64, LedgerRow)| matches!(row, LedgerRow::Game(_));
    let Some((no, row)) = rows.into_iter().rfind(is_game) else {
        return;
    };
    let rows = [(no, row)];
    let mut books = ratings.load_ratings_for(fold.id, &NeededRatings::for_rows(&rows));
    // Else it would be the same game again, which changes nothing.
    books.pair_histories.clear();
    books.post(no, &rows[0].1, &state.unrated);
    ratings.change(RatingsChange::Post(Box::new(RatingPost {
        version: fold.id,
        from_row: fold.cursor,
        to_row: fold.cursor,
        books,
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
    let goes_on = |m: &String| {
        let tried = state.position().preview_move(m);
        tried.is_ok_and(|(_, outcome)| outcome.is_none())
    };
    let m = state.position().legal_moves().into_iter().rfind(goes_on)?;
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
fn change(tables: &mut Tables, dice: &mut Dice, mut change: impl FnMut(&mut MatchRecord) -> bool) {
    let mut records: Vec<_> = tables.matches.values_mut().collect();
    if records.is_empty() {
        return;
    }
    let start = usize::try_from(dice.between(0..=records.len() as u64 - 1)).expect("an index");
    records.rotate_left(start);
    let _ = records.into_iter().any(&mut change);
}

fn is_move(event: &Event) -> bool {
    matches!(event.kind, EventKind::Moved { .. })
}
