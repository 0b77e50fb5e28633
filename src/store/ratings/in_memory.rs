//! Ratings of the in-memory store.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatedGame, RatingEntry, RatingExclusions, RatingKey, RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool};

use super::{
    LeaderboardPage, LeaderboardQuery, NeededRatings, POST_ROWS_MAX, PlayerRating, RatingPost,
    RatingProgress, RatingVersion, RatingsChange, SERIES_DAYS_MAX, daily_ratings, ledger_row_keys,
    to_rating_changes,
};
use crate::PlayerRecord;

/// Ledger and rating versions in memory. The ledger is never truncated, because a row takes no more
/// memory than a few moves.
#[derive(Clone, Debug, Default)]
pub struct MemoryRatings {
    ledger: Vec<LedgerRow>,
    /// Players that ledger rows exclude from the ratings.
    exclusions: RatingExclusions,
    /// Ledger row number of each match.
    row_numbers: BTreeMap<MatchId, u64>,
    /// Delayed matches that have no ledger number yet, ordered by the time at which each match gets
    /// its number.
    delayed_games: BTreeMap<(u64, MatchId), RatedGame>,
    live: VersionRatings,
    building: Option<VersionRatings>,
    last_version_id: u64,
}

/// Rating version with its rating state, its row outcomes and its daily ratings.
#[derive(Clone, Debug, Default)]
struct VersionRatings {
    version: RatingVersion,
    books: RatingState,
    posted: BTreeMap<u64, PostOutcome>,
    days: BTreeMap<RatingKey, BTreeMap<u64, f64>>,
}

impl MemoryRatings {
    /// Adds a rated match that has ended to the ledger. If `numbered_ms` is given, the match is not
    /// added before this Unix time in milliseconds.
    pub fn add_game(&mut self, game: RatedGame, numbered_ms: Option<u64>) {
        match numbered_ms {
            None => self.number_row(LedgerRow::Game(Box::new(game))),
            Some(due_ms) => {
                self.delayed_games.insert((due_ms, game.match_id), game);
            }
        }
    }

    /// Assigns ledger numbers to the delayed matches that are due at `until_ms`.
    fn number_due_rows(&mut self, until_ms: u64) {
        while let Some(first) = self.delayed_games.first_entry()
            && first.key().0 <= until_ms
        {
            let game = first.remove();
            self.number_row(LedgerRow::Game(Box::new(game)));
        }
    }

    /// Adds a row to the ledger with the next number.
    pub fn number_row(&mut self, row: LedgerRow) {
        let no = self.ledger.len() as u64 + 1;
        let (match_id, excluded_player) = ledger_row_keys(&row);
        if let Some(id) = match_id {
            self.delayed_games.retain(|(_, waiting), _| *waiting != id);
            self.row_numbers.insert(id, no);
        }
        self.exclusions
            .extend(excluded_player.map(|player| (player, no)));
        self.ledger.push(row);
    }

    /// Returns whether the match is in the ledger or waits for its ledger number. Such a match is
    /// never evicted.
    #[must_use]
    pub fn contains_match(&self, id: MatchId) -> bool {
        self.row_numbers.contains_key(&id)
            || self.delayed_games.keys().any(|(_, waiting)| *waiting == id)
    }

    /// See [`RatingStore::change_ratings`](crate::RatingStore::change_ratings).
    pub fn change(&mut self, change: RatingsChange) -> bool {
        match change {
            RatingsChange::Post(post) => return self.post_rows(*post),
            RatingsChange::BeginVersion { exclusions_cursor } => {
                self.last_version_id += 1;
                let version = RatingVersion {
                    id: self.last_version_id,
                    cursor: 0,
                    exclusions_cursor,
                };
                self.building = Some(VersionRatings {
                    version,
                    ..VersionRatings::default()
                });
            }
            RatingsChange::SwitchVersion(version) => {
                let built = self.building.take_if(|built| built.version == version);
                let Some(built) = built else { return false };
                self.live = built;
            }
            RatingsChange::ClearStaleVersions => {}
            RatingsChange::NumberRow(row) => self.number_row(row),
            RatingsChange::NumberDueRows(until_ms) => self.number_due_rows(until_ms),
            RatingsChange::CopyRows(rows) => return self.copy_rows(rows),
            RatingsChange::Reset => {
                let waiting = std::mem::take(&mut self.delayed_games);
                *self = Self {
                    delayed_games: waiting,
                    ..Self::default()
                };
            }
        }
        true
    }

    fn copy_rows(&mut self, rows: Vec<(u64, LedgerRow)>) -> bool {
        for (no, row) in rows {
            if no != self.ledger.len() as u64 + 1 {
                return false;
            }
            self.number_row(row);
        }
        true
    }

    fn post_rows(&mut self, post: RatingPost) -> bool {
        let building = self.building.iter_mut();
        let mut versions = building.chain([&mut self.live]);
        let Some(target) = versions.find(|folded| folded.version.id == post.version) else {
            return false;
        };
        if target.version.cursor != post.from_row {
            return false;
        }
        for (record, day, rating) in daily_ratings(&post) {
            let daily = target.days.entry(record.clone()).or_default();
            daily.insert(day, rating);
        }
        target.version.cursor = post.to_row;
        let (books, posted) = (&mut target.books, post.books);
        books.last_ms = posted.last_ms;
        books.started_ms = posted.started_ms;
        books.ratings.extend(posted.ratings);
        books.pair_histories.extend(posted.pair_histories);
        books.abort_penalties.extend(posted.abort_penalties);
        target.posted.extend(post.posted);
        true
    }

    /// See [`RatingStore::rating_progress`](crate::RatingStore::rating_progress).
    #[must_use]
    pub fn progress(&self) -> RatingProgress {
        RatingProgress {
            last_row: self.ledger.len() as u64,
            live: self.live.version,
            building: self.building.as_ref().map(|built| built.version),
            has_stale_version: false,
            unrated: self.exclusions.clone(),
            next_numbering_ms: self.delayed_games.keys().next().map(|(due_ms, _)| *due_ms),
        }
    }

    /// See [`RatingStore::ledger`](crate::RatingStore::ledger).
    #[must_use]
    pub fn ledger(&self, after: u64, limit: usize) -> Vec<(u64, LedgerRow)> {
        let first = usize::try_from(after).unwrap_or(usize::MAX);
        let rows = self.ledger.get(first..).unwrap_or_default();
        let rows = (after + 1..).zip(rows).take(limit);
        rows.map(|(no, row)| (no, row.clone())).collect()
    }

    /// See [`RatingStore::load_ratings_for`](crate::RatingStore::load_ratings_for).
    #[must_use]
    pub fn load_ratings_for(&self, id: u64, needed: &NeededRatings) -> RatingState {
        let mut versions = self.building.iter().chain([&self.live]);
        let Some(target) = versions.find(|folded| folded.version.id == id) else {
            return RatingState::default();
        };
        let all = &target.books;
        let ratings = needed.records.iter();
        let ratings =
            ratings.filter_map(|record| Some((record.clone(), *all.ratings.get(record)?)));
        let pairs = needed.pairs.iter();
        let pairs = pairs.filter_map(|pair| Some((*pair, all.pair_histories.get(pair)?.clone())));
        let players = needed.players.iter();
        let abort_penalties =
            players.filter_map(|player| Some((*player, all.abort_penalties.get(player)?.clone())));
        RatingState {
            last_ms: all.last_ms,
            started_ms: all.started_ms,
            ratings: ratings.collect(),
            pair_histories: pairs.collect(),
            abort_penalties: abort_penalties.collect(),
        }
    }

    /// See [`RatingStore::ratings`](crate::RatingStore::ratings).
    #[must_use]
    pub fn ratings(&self, player: PlayerId) -> Vec<PlayerRating> {
        let first = RatingKey {
            player,
            game: String::new(),
            pool: RatingPool::Live,
        };
        let from_first = self.live.books.ratings.range(first..);
        let theirs = from_first.take_while(|(record, _)| record.player == player);
        let player_ratings = theirs.map(|(record, rated)| {
            let days = self.live.days.get(record).into_iter().flatten();
            let mut series: Vec<(u64, f64)> = days.map(|(day, rating)| (*day, *rating)).collect();
            series.drain(..series.len().saturating_sub(SERIES_DAYS_MAX));
            PlayerRating {
                game: record.game.clone(),
                pool: record.pool,
                rated: *rated,
                series,
            }
        });
        player_ratings.collect()
    }

    /// See [`RatingStore::rating`](crate::RatingStore::rating).
    #[must_use]
    pub fn rating(&self, key: &RatingKey) -> Option<RatingEntry> {
        self.live.books.ratings.get(key).copied()
    }

    /// See [`RatingStore::leaderboard`](crate::RatingStore::leaderboard). The function `find` must
    /// return the record of the player with the given id. The leaderboard page omits a player if
    /// `find` returns `None` for the player.
    #[must_use]
    pub fn leaderboard(
        &self,
        query: &LeaderboardQuery,
        find: impl Fn(PlayerId) -> Option<PlayerRecord>,
    ) -> LeaderboardPage {
        let is_leader = |record: &RatingKey, rated: &RatingEntry| {
            (record.game == query.game && record.pool == query.pool)
                && rated.rating.deviation <= LeaderboardQuery::deviation_max()
                && rated.last_ms >= query.active_since_ms()
        };
        let all = self.live.books.ratings.iter();
        let all = all.filter(|(record, rated)| is_leader(record, rated));
        let known = all.filter_map(|(record, rated)| Some((find(record.player)?, *rated)));
        let mut leaders: Vec<(PlayerRecord, RatingEntry)> = known.collect();
        leaders.sort_by(|(one, rated), (other, others)| {
            let by_rating = others.rating.rating.total_cmp(&rated.rating.rating);
            by_rating.then(one.id.cmp(&other.id))
        });
        let total = leaders.len() as u64;
        let after = usize::try_from(query.after).unwrap_or(usize::MAX);
        LeaderboardPage {
            total,
            rows: leaders.into_iter().skip(after).take(query.limit).collect(),
        }
    }

    /// See [`RatingStore::rated_ban_until`](crate::RatingStore::rated_ban_until).
    #[must_use]
    pub fn rated_ban_until(&self, player: PlayerId) -> u64 {
        let penalties = self.live.books.abort_penalties.get(&player);
        penalties.map_or(0, |penalties| penalties.rated_ban_until_ms())
    }

    /// See [`RatingStore::changes_of_match`](crate::RatingStore::changes_of_match).
    #[must_use]
    pub fn changes_of_match(&self, id: MatchId) -> Option<Vec<RatingChange>> {
        let no = self.row_numbers.get(&id)?;
        if *no > self.live.version.cursor {
            return None;
        }
        let posted = self.live.posted.get(no);
        Some(posted.map_or_else(Vec::new, |posted| to_rating_changes(&posted.changes)))
    }

    /// See [`RatingStore::posted_updates`](crate::RatingStore::posted_updates).
    #[must_use]
    pub fn posted_updates(&self, after: u64, until: u64) -> Vec<(u64, PostOutcome)> {
        let found = self.live.posted.range(after + 1..=until.max(after + 1));
        found
            .filter(|(no, _)| **no <= until)
            .map(|(no, posted)| (*no, posted.clone()))
            .collect()
    }

    /// See [`RatingStore::ratings_after`](crate::RatingStore::ratings_after).
    #[must_use]
    pub fn ratings_after(&self, last: Option<RatingKey>) -> Vec<(RatingKey, RatingEntry)> {
        let begin = last.map_or(Unbounded, Excluded);
        let all = self.live.books.ratings.range((begin, Unbounded));
        all.take(POST_ROWS_MAX)
            .map(|(record, rated)| (record.clone(), *rated))
            .collect()
    }
}
