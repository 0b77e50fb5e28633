//! What all rows so far have come to.

use std::collections::BTreeMap;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{PlayerId, Pool, RatingWhy};

use super::conduct::AMNESTY_MS;
use super::glicko::{Rating, rated};
use super::{Conduct, Contender, LedgerRow, Pair, RatedGame};

/// What a rating is of: a player, a game, and among whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    /// Who.
    pub player: PlayerId,
    /// At what.
    pub game: String,
    /// Among whom.
    pub pool: Pool,
}

/// A rating, and what it was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    /// The rating.
    pub rating: Rating,
    /// How many matches it was made of.
    pub games: u64,
    /// When the last of them ended, in milliseconds since 1970.
    pub last_ms: u64,
}

/// Whose matches count for nobody, each up to which row.
pub type Unrated = Vec<(PlayerId, u64)>;

/// What a row has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The seat.
    pub seat: Seat,
    /// What changed.
    pub record: Record,
    /// Before.
    pub before: Rating,
    /// After.
    pub after: Rating,
}

/// What has come of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posted {
    /// When it happened, in the order of all, in milliseconds since 1970.
    pub at_ms: u64,
    /// What has changed, by seat.
    pub changes: Vec<Change>,
    /// Why nothing has, where somebody might expect it.
    pub why: Option<RatingWhy>,
}

/// What all rows so far have come to, or as much of that as the next rows need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    /// The time of the last row, in milliseconds since 1970. No row is earlier than the one before.
    pub last_ms: u64,
    /// When a server started last, in milliseconds since 1970.
    pub started_ms: u64,
    /// The ratings.
    pub ratings: BTreeMap<Record, Rated>,
    /// What was played between two, the lesser id first.
    pub pairs: BTreeMap<[PlayerId; 2], Pair>,
    /// How players have treated others.
    pub conduct: BTreeMap<PlayerId, Conduct>,
}

impl Books {
    /// What these rows need of the books: the ratings, the pairs and the players.
    #[must_use]
    pub fn needed<'a>(
        rows: impl IntoIterator<Item = &'a LedgerRow>,
    ) -> (Vec<Record>, Vec<[PlayerId; 2]>, Vec<PlayerId>) {
        let (mut records, mut pairs, mut players) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let LedgerRow::Game(game) = row else { continue };
            pairs.push(pair_of(game));
            for player in game.seats.iter().filter_map(Contender::player) {
                players.push(player);
                records.push(record_of(game, player));
            }
        }
        records.sort_unstable();
        records.dedup();
        pairs.sort_unstable();
        pairs.dedup();
        players.sort_unstable();
        players.dedup();
        (records, pairs, players)
    }

    /// Posts the row with this number.
    pub fn post(&mut self, no: u64, row: &LedgerRow, unrated: &Unrated) -> Posted {
        match row {
            LedgerRow::Game(game) => self.post_game(no, game, unrated),
            LedgerRow::Unrated { .. } => Posted {
                at_ms: self.last_ms,
                ..Posted::default()
            },
            LedgerRow::Started { at_ms } => {
                self.last_ms = self.last_ms.max(*at_ms);
                self.started_ms = self.last_ms;
                Posted {
                    at_ms: self.last_ms,
                    ..Posted::default()
                }
            }
        }
    }

    fn post_game(&mut self, no: u64, game: &RatedGame, unrated: &Unrated) -> Posted {
        self.last_ms = self.last_ms.max(game.at_ms);
        let at_ms = self.last_ms;
        let nothing = |why| Posted {
            at_ms,
            changes: Vec::new(),
            why,
        };
        let players = game.seats.iter().filter_map(Contender::player);
        let is_taken_out = |player: PlayerId| {
            let mut taken_out = unrated.iter();
            taken_out.any(|(who, until)| *who == player && *until > no)
        };
        if players.clone().any(is_taken_out) {
            return nothing(Some(RatingWhy::Unrated));
        }
        self.judge(game);
        if !game.counts {
            return nothing(None);
        }
        let winner = game.winner.map(|seat| game.seats[seat.index()].id());
        let pair = self.pairs.entry(pair_of(game)).or_default();
        if pair.is_farmed(&game.line, winner, at_ms) {
            return nothing(Some(RatingWhy::Farming));
        }
        Posted {
            at_ms,
            changes: self.change(game),
            why: None,
        }
    }

    /// Notes how a match was left by its players. After a start of a server nobody is blamed for a time.
    fn judge(&mut self, game: &RatedGame) {
        let is_amnesty = self.started_ms > 0 && self.last_ms - self.started_ms < AMNESTY_MS;
        for seat in Seat::ALL {
            if let Some(player) = game.seats[seat.index()].player() {
                let is_blamed = game.left == Some(seat) && !is_amnesty;
                let conduct = self.conduct.entry(player).or_default();
                conduct.note(is_blamed, self.last_ms);
            }
        }
    }

    /// Changes the ratings of both players, each by what the other's was before.
    fn change(&mut self, game: &RatedGame) -> Vec<Change> {
        let before = Seat::ALL.map(|seat| self.rating(game, seat));
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
            let record = record_of(game, player);
            let known = self.ratings.get(&record);
            let since_ms = known.map(|known| self.last_ms - known.last_ms);
            let games = known.map_or(0, |known| known.games);
            let own = before[seat.index()];
            let after = rated(&own, &before[seat.other().index()], score, since_ms);
            let now = Rated {
                rating: after,
                games: games + 1,
                last_ms: self.last_ms,
            };
            self.ratings.insert(record.clone(), now);
            changes.push(Change {
                seat,
                record,
                before: own,
                after,
            });
        }
        changes
    }

    fn rating(&self, game: &RatedGame, seat: Seat) -> Rating {
        match &game.seats[seat.index()] {
            Contender::Player { player } => {
                let known = self.ratings.get(&record_of(game, *player));
                known.map_or(Rating::NEW, |known| known.rating)
            }
            Contender::Level { rating, .. } => Rating::fixed(f64::from(*rating)),
        }
    }
}

fn record_of(game: &RatedGame, player: PlayerId) -> Record {
    Record {
        player,
        game: game.game.clone(),
        pool: game.pool,
    }
}

fn pair_of(game: &RatedGame) -> [PlayerId; 2] {
    let mut pair = [game.seats[0].id(), game.seats[1].id()];
    pair.sort_unstable();
    pair
}
