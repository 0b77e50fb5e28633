//! Ratings in memory.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, RatedGame, Record};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange};

use super::{
    LeadersPage, LeadersQuery, Needed, POST_MAX, PlayerRating, Post, RatingState, RatingVersion,
    RatingsChange, SERIES_MAX, days, row_keys, told,
};
use crate::PlayerRecord;

/// The ledger and its folds, in memory: what a store in memory keeps. The ledger is never cut: a row is as much as
/// a few moves.
#[derive(Clone, Debug, Default)]
pub struct KeptRatings {
    ledger: Vec<LedgerRow>,
    /// The number of the row of each match.
    numbers: BTreeMap<MatchId, u64>,
    /// The matches that get their numbers later, by when.
    waiting: BTreeMap<(u64, MatchId), RatedGame>,
    live: Folded,
    building: Option<Folded>,
    last_fold: u64,
}

/// A fold, and all that it has come to.
#[derive(Clone, Debug, Default)]
struct Folded {
    fold: RatingVersion,
    books: Books,
    posted: BTreeMap<u64, Posted>,
    days: BTreeMap<Record, BTreeMap<u64, f64>>,
}

impl KeptRatings {
    /// Gives the next number to a rated match that has ended, or has it wait until this time, in milliseconds
    /// since 1970.
    pub fn file(&mut self, game: RatedGame, numbered_ms: Option<u64>) {
        match numbered_ms {
            None => self.number(LedgerRow::Game(Box::new(game))),
            Some(due_ms) => {
                self.waiting.insert((due_ms, game.match_id), game);
            }
        }
    }

    /// Gives their numbers to the matches that wait, as far as their time has come.
    fn number_due(&mut self, until_ms: u64) {
        while let Some(first) = self.waiting.first_entry()
            && first.key().0 <= until_ms
        {
            let game = first.remove();
            self.number(LedgerRow::Game(Box::new(game)));
        }
    }

    /// Gives the next number to a row.
    pub fn number(&mut self, row: LedgerRow) {
        let no = self.ledger.len() as u64 + 1;
        if let (Some(id), _) = row_keys(&row) {
            self.waiting.retain(|(_, waiting), _| *waiting != id);
            self.numbers.insert(id, no);
        }
        self.ledger.push(row);
    }

    /// Whether a match has a number or gets one: it was rated, and is kept for ever.
    #[must_use]
    pub fn has(&self, id: MatchId) -> bool {
        self.numbers.contains_key(&id) || self.waiting.keys().any(|(_, waiting)| *waiting == id)
    }

    /// See [`Store::change_ratings`](crate::Store::change_ratings).
    pub fn change(&mut self, change: RatingsChange) -> bool {
        match change {
            RatingsChange::Post(post) => return self.post(*post),
            RatingsChange::Begin { known } => {
                self.last_fold += 1;
                let fold = RatingVersion {
                    id: self.last_fold,
                    cursor: 0,
                    known,
                };
                self.building = Some(Folded {
                    fold,
                    ..Folded::default()
                });
            }
            RatingsChange::Switch(fold) => {
                let built = self.building.take_if(|built| built.fold == fold);
                let Some(built) = built else { return false };
                self.live = built;
            }
            RatingsChange::Clear => {}
            RatingsChange::Number(row) => self.number(row),
            RatingsChange::NumberDue(until_ms) => self.number_due(until_ms),
            RatingsChange::Copy(rows) => return self.copy(rows),
            RatingsChange::Forget => {
                let waiting = std::mem::take(&mut self.waiting);
                *self = Self {
                    waiting,
                    ..Self::default()
                };
            }
        }
        true
    }

    fn copy(&mut self, rows: Vec<(u64, LedgerRow)>) -> bool {
        for (no, row) in rows {
            if no != self.ledger.len() as u64 + 1 {
                return false;
            }
            self.number(row);
        }
        true
    }

    fn post(&mut self, post: Post) -> bool {
        let building = self.building.iter_mut();
        let mut folds = building.chain([&mut self.live]);
        let Some(folded) = folds.find(|folded| folded.fold.id == post.fold) else {
            return false;
        };
        if folded.fold.cursor != post.from {
            return false;
        }
        for (record, day, rating) in days(&post) {
            let of_record = folded.days.entry(record.clone()).or_default();
            of_record.insert(day, rating);
        }
        folded.fold.cursor = post.to;
        folded.books.last_ms = post.books.last_ms;
        folded.books.started_ms = post.books.started_ms;
        folded.books.ratings.extend(post.books.ratings);
        folded.books.pairs.extend(post.books.pairs);
        folded.books.conduct.extend(post.books.conduct);
        folded.posted.extend(post.posted);
        true
    }

    /// See [`Store::rating_progress`](crate::Store::rating_progress).
    #[must_use]
    pub fn state(&self) -> RatingState {
        let unrated = (1..).zip(&self.ledger).filter_map(|(no, row)| {
            let (_, player) = row_keys(row);
            Some((player?, no))
        });
        RatingState {
            last_no: self.ledger.len() as u64,
            live: self.live.fold,
            building: self.building.as_ref().map(|built| built.fold),
            has_stale: false,
            unrated: unrated.collect(),
            due_ms: self.waiting.keys().next().map(|(due_ms, _)| *due_ms),
        }
    }

    /// See [`Store::ledger`](crate::Store::ledger).
    #[must_use]
    pub fn ledger(&self, after: u64, limit: usize) -> Vec<(u64, LedgerRow)> {
        let rows = (1..).zip(&self.ledger);
        let rows = rows.skip(usize::try_from(after).unwrap_or(usize::MAX));
        rows.take(limit)
            .map(|(no, row)| (no, row.clone()))
            .collect()
    }

    /// See [`Store::books`](crate::Store::books).
    #[must_use]
    pub fn books(&self, fold: u64, needed: &Needed) -> Books {
        let mut folds = self.building.iter().chain([&self.live]);
        let Some(folded) = folds.find(|folded| folded.fold.id == fold) else {
            return Books::default();
        };
        let all = &folded.books;
        let ratings = needed.records.iter();
        let ratings =
            ratings.filter_map(|record| Some((record.clone(), *all.ratings.get(record)?)));
        let pairs = needed.pairs.iter();
        let pairs = pairs.filter_map(|pair| Some((*pair, all.pairs.get(pair)?.clone())));
        let players = needed.players.iter();
        let conduct =
            players.filter_map(|player| Some((*player, all.conduct.get(player)?.clone())));
        Books {
            last_ms: all.last_ms,
            started_ms: all.started_ms,
            ratings: ratings.collect(),
            pairs: pairs.collect(),
            conduct: conduct.collect(),
        }
    }

    /// See [`Store::ratings`](crate::Store::ratings).
    #[must_use]
    pub fn ratings(&self, player: PlayerId) -> Vec<PlayerRating> {
        let all = self.live.books.ratings.iter();
        let theirs = all.filter(|(record, _)| record.player == player);
        let told = theirs.map(|(record, rated)| {
            let days = self.live.days.get(record).into_iter().flatten();
            let mut series: Vec<(u64, f64)> = days.map(|(day, rating)| (*day, *rating)).collect();
            series.drain(..series.len().saturating_sub(SERIES_MAX));
            PlayerRating {
                game: record.game.clone(),
                pool: record.pool,
                rated: *rated,
                series,
            }
        });
        told.collect()
    }

    /// See [`Store::leaderboard`](crate::Store::leaderboard); with what is known of players.
    #[must_use]
    pub fn leaders(
        &self,
        wanted: &LeadersQuery,
        find: impl Fn(PlayerId) -> Option<PlayerRecord>,
    ) -> LeadersPage {
        let leads = |record: &Record, rated: &Rated| {
            (record.game == wanted.game && record.pool == wanted.pool)
                && rated.rating.deviation <= LeadersQuery::deviation_max()
                && rated.last_ms >= wanted.since_ms()
        };
        let all = self.live.books.ratings.iter();
        let all = all.filter(|(record, rated)| leads(record, rated));
        let known = all.filter_map(|(record, rated)| Some((find(record.player)?, *rated)));
        let mut leaders: Vec<(PlayerRecord, Rated)> = known.collect();
        leaders.sort_by(|(one, rated), (other, others)| {
            let by_rating = others.rating.rating.total_cmp(&rated.rating.rating);
            by_rating.then(one.id.cmp(&other.id))
        });
        let total = leaders.len() as u64;
        let after = usize::try_from(wanted.after).unwrap_or(usize::MAX);
        LeadersPage {
            total,
            rows: leaders.into_iter().skip(after).take(wanted.limit).collect(),
        }
    }

    /// See [`Store::rated_ban_until`](crate::Store::rated_ban_until).
    #[must_use]
    pub fn barred_until(&self, player: PlayerId) -> u64 {
        let conduct = self.live.books.conduct.get(&player);
        conduct.map_or(0, |conduct| conduct.until_ms())
    }

    /// See [`Store::changes_of_match`](crate::Store::changes_of_match).
    #[must_use]
    pub fn changes_of(&self, id: MatchId) -> Option<Vec<RatingChange>> {
        let no = self.numbers.get(&id)?;
        if *no > self.live.fold.cursor {
            return None;
        }
        let posted = self.live.posted.get(no);
        Some(posted.map_or_else(Vec::new, |posted| told(&posted.changes)))
    }

    /// See [`Store::posted_updates`](crate::Store::posted_updates).
    #[must_use]
    pub fn posted(&self, after: u64, until: u64) -> Vec<(u64, Posted)> {
        let found = self.live.posted.range(after + 1..=until.max(after + 1));
        found
            .filter(|(no, _)| **no <= until)
            .map(|(no, posted)| (*no, posted.clone()))
            .collect()
    }

    /// See [`Store::ratings_after`](crate::Store::ratings_after).
    #[must_use]
    pub fn ratings_after(&self, last: Option<Record>) -> Vec<(Record, Rated)> {
        let begin = last.map_or(Unbounded, Excluded);
        let all = self.live.books.ratings.range((begin, Unbounded));
        all.take(POST_MAX)
            .map(|(record, rated)| (record.clone(), *rated))
            .collect()
    }
}
