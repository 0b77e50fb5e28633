//! State of all ratings after the ledger rows that have been posted so far.

use std::collections::BTreeMap;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{PlayerId, RatingPool, UnratedReason};

use super::abort_penalties::AMNESTY_MS;
use super::glicko::{Rating, rate_game};
use super::{AbortPenalties, Contender, LedgerRow, PairHistory, RatedGame};

/// Key of a rating: a player, a game and a rating pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RatingKey {
    /// Rated player.
    pub player: PlayerId,
    /// Id of the game.
    pub game: String,
    /// Rating pool.
    pub pool: RatingPool,
}

/// Rating of a player, with the number of rated games and the time of the last rated game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingEntry {
    /// Current rating.
    pub rating: Rating,
    /// Number of rated games.
    pub games: u64,
    /// Time of the last rated game, in milliseconds since 1970.
    pub last_ms: u64,
}

/// Players whose matches are excluded from the ratings. Each entry contains a player and the number
/// of a ledger row. All matches of the player in ledger rows before that row are excluded.
pub type RatingExclusions = Vec<(PlayerId, u64)>;

/// Rating change of one player.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerRatingChange {
    /// Seat of the player.
    pub seat: Seat,
    /// Key of the rating.
    pub key: RatingKey,
    /// Rating before the match.
    pub before: Rating,
    /// Rating after the match.
    pub after: Rating,
}

/// Result of posting a ledger row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PostOutcome {
    /// Time of the row, in milliseconds since 1970. It is never earlier than the time of the
    /// previous row.
    pub at_ms: u64,
    /// Rating changes, by seat.
    pub changes: Vec<PlayerRatingChange>,
    /// Reason why the match changed no rating; `None` if ratings changed, or if the players need no
    /// explanation.
    pub reason: Option<UnratedReason>,
}

/// State that results from all ledger rows posted so far. The state may be partial and contain only
/// the entries that the next rows need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatingState {
    /// Time of the last row, in milliseconds since 1970. This time never decreases.
    pub last_ms: u64,
    /// Time of the last server start, in milliseconds since 1970.
    pub started_ms: u64,
    /// Rating of each player in each game and pool.
    pub ratings: BTreeMap<RatingKey, RatingEntry>,
    /// Recent matches of each pair of opponents. In each key, the smaller player id comes first.
    pub pair_histories: BTreeMap<[PlayerId; 2], PairHistory>,
    /// Aborts and penalties of each player.
    pub abort_penalties: BTreeMap<PlayerId, AbortPenalties>,
}

impl RatingState {
    /// Returns the keys of the ratings, pairs and players that are needed to post these rows.
    #[must_use]
    pub fn needed_keys<'a>(
        rows: impl IntoIterator<Item = &'a LedgerRow>,
    ) -> (Vec<RatingKey>, Vec<[PlayerId; 2]>, Vec<PlayerId>) {
        let (mut keys, mut pairs, mut players) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let LedgerRow::Game(game) = row else { continue };
            pairs.push(player_pair(game));
            for player in game.seats.iter().filter_map(Contender::player) {
                players.push(player);
                keys.push(rating_key(game, player));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        pairs.sort_unstable();
        pairs.dedup();
        players.sort_unstable();
        players.dedup();
        (keys, pairs, players)
    }

    /// Posts the ledger row with the number `no`.
    pub fn post(&mut self, no: u64, row: &LedgerRow, exclusions: &RatingExclusions) -> PostOutcome {
        match row {
            LedgerRow::Game(game) => return self.post_game(no, game, exclusions),
            LedgerRow::PlayerExcluded { .. } => {}
            LedgerRow::ServerStarted { at_ms } => {
                self.last_ms = self.last_ms.max(*at_ms);
                self.started_ms = self.last_ms;
            }
        }
        PostOutcome {
            at_ms: self.last_ms,
            ..PostOutcome::default()
        }
    }

    fn post_game(
        &mut self,
        no: u64,
        game: &RatedGame,
        exclusions: &RatingExclusions,
    ) -> PostOutcome {
        self.last_ms = self.last_ms.max(game.at_ms);
        let at_ms = self.last_ms;
        let unchanged = |reason| PostOutcome {
            at_ms,
            changes: Vec::new(),
            reason,
        };
        let players = game.seats.iter().filter_map(Contender::player);
        let is_excluded = |player: PlayerId| {
            let mut exclusions_of_players = exclusions.iter();
            exclusions_of_players
                .any(|(excluded, up_to_row)| *excluded == player && *up_to_row > no)
        };
        if players.clone().any(is_excluded) {
            return unchanged(Some(UnratedReason::PlayerExcluded));
        }
        self.update_abort_penalties(game);
        if !game.changes_ratings {
            return unchanged(None);
        }
        let winner = game
            .winner
            .map(|seat| game.seats[seat.index()].pairing_id());
        let pair = self.pair_histories.entry(player_pair(game)).or_default();
        if pair.record_and_check_farming(&game.opening_line, winner, at_ms) {
            return unchanged(Some(UnratedReason::Farming));
        }
        PostOutcome {
            at_ms,
            changes: self.update_ratings(game),
            reason: None,
        }
    }

    /// Records for each player whether the player aborted or left the match. Shortly after a server
    /// start, an aborted or abandoned match does not count against a player.
    fn update_abort_penalties(&mut self, game: &RatedGame) {
        let is_in_amnesty = self.started_ms > 0 && self.last_ms - self.started_ms < AMNESTY_MS;
        for seat in Seat::ALL {
            if let Some(player) = game.seats[seat.index()].player() {
                let is_at_fault = game.abandoned_by == Some(seat) && !is_in_amnesty;
                let penalties = self.abort_penalties.entry(player).or_default();
                penalties.record_match(is_at_fault, self.last_ms);
            }
        }
    }

    /// Updates the ratings of both players. Each update uses the opponent's rating before the
    /// match.
    fn update_ratings(&mut self, game: &RatedGame) -> Vec<PlayerRatingChange> {
        let before = Seat::ALL.map(|seat| self.current_rating(game, seat));
        let mut changes = Vec::with_capacity(2);
        for seat in Seat::ALL {
            let Some(player) = game.seats[seat.index()].player() else {
                continue;
            };
            let score = match game.winner {
                None => 0.5,
                Some(winner) if winner == seat => 1.0,
                Some(_) => 0.0,
            };
            let key = rating_key(game, player);
            let previous = self.ratings.get(&key);
            let since_ms = previous.map(|known| self.last_ms - known.last_ms);
            let games = previous.map_or(0, |known| known.games);
            let own = before[seat.index()];
            let after = rate_game(&own, &before[seat.other().index()], score, since_ms);
            let updated = RatingEntry {
                rating: after,
                games: games + 1,
                last_ms: self.last_ms,
            };
            self.ratings.insert(key.clone(), updated);
            changes.push(PlayerRatingChange {
                seat,
                key,
                before: own,
                after,
            });
        }
        changes
    }

    fn current_rating(&self, game: &RatedGame, seat: Seat) -> Rating {
        match &game.seats[seat.index()] {
            Contender::Player { player } => {
                let entry = self.ratings.get(&rating_key(game, *player));
                entry.map_or(Rating::INITIAL, |known| known.rating)
            }
            Contender::Level { rating, .. } => Rating::fixed(f64::from(*rating)),
        }
    }
}

fn rating_key(game: &RatedGame, player: PlayerId) -> RatingKey {
    RatingKey {
        player,
        game: game.game.clone(),
        pool: game.pool,
    }
}

fn player_pair(game: &RatedGame) -> [PlayerId; 2] {
    let mut pair = [game.seats[0].pairing_id(), game.seats[1].pairing_id()];
    pair.sort_unstable();
    pair
}
