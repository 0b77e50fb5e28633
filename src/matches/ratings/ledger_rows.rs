//! Rows of the rating ledger. The store numbers the rows in the order in which they are written.
//! Servers apply them to the ratings in numerical order. Rows are stored in this serialised form,
//! so serialised names must never change.

#[cfg(test)]
pub(crate) mod tests;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{EndReason, MatchId, PlayerId, PlayerKind, RatingPool};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Match, Occupant, Stage};

/// Number of opening plies that are compared with other matches between the same opponents.
const LINE_PLIES: usize = 20;

/// Minimum number of plies in a match that changes ratings.
const COUNTED_PLIES_MIN: u64 = 2;

/// Row of the rating ledger: the end of a rated match, or another event that affects ratings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LedgerRow {
    /// A rated match ended.
    Game(Box<RatedGame>),
    /// All earlier matches of a player are excluded from the ratings.
    #[serde(rename = "unrated")]
    PlayerExcluded {
        /// Excluded player.
        player: PlayerId,
    },
    /// A server started.
    #[serde(rename = "started")]
    ServerStarted {
        /// Time of the start, in milliseconds since 1970.
        at_ms: u64,
    },
}

/// Data about a rated match that is needed to compute the ratings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedGame {
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Id of the game.
    pub game: String,
    /// Rating pool of the match.
    pub pool: RatingPool,
    /// Time at which the match ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// Players or bot levels in the two seats.
    pub seats: [Contender; 2],
    /// Winning seat, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<Seat>,
    /// Whether the match can change ratings. Aborted and very short matches cannot.
    #[serde(rename = "counts")]
    pub changes_ratings: bool,
    /// Seat whose player aborted the match, did not play the first move in time or left, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "left")]
    pub abandoned_by: Option<Seat>,
    /// First plies of the match, separated by spaces.
    #[serde(rename = "line")]
    pub opening_line: String,
}

/// Player or bot level in a rated match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Contender {
    /// A player with an account.
    Player {
        /// Id of the player.
        player: PlayerId,
    },
    /// A bot that runs on the server, rated by its level.
    Level {
        /// Level of the bot.
        level: Level,
        /// Rating of the bot level at the time of the match.
        rating: i32,
    },
}

impl Contender {
    /// Returns the player, or `None` for a bot level.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { player } => Some(*player),
            Self::Level { .. } => None,
        }
    }

    /// Returns an id that is unique among all players and bot levels.
    pub(super) fn pairing_id(&self) -> PlayerId {
        match self {
            Self::Player { player } => *player,
            Self::Level { level, .. } => PlayerId(Uuid::from_u128(u128::MAX - *level as u128)),
        }
    }

    fn from_occupant(occupant: &Occupant, game: &'static str) -> Option<Self> {
        match occupant {
            Occupant::Open => None,
            Occupant::Player { id, .. } | Occupant::StandIn { player: id, .. } => {
                Some(Self::Player { player: *id })
            }
            Occupant::Bot(level) => Some(Self::Level {
                level: *level,
                rating: plyhouse_engine::catalog::level_rating(game, *level),
            }),
        }
    }
}

/// Returns the rating pool for a match between players of this kind.
#[must_use]
pub const fn rating_pool(kind: PlayerKind, is_correspondence: bool) -> RatingPool {
    match (kind, is_correspondence) {
        (PlayerKind::Bot, _) => RatingPool::Bots,
        (PlayerKind::Guest | PlayerKind::Account, true) => RatingPool::Correspondence,
        (PlayerKind::Guest | PlayerKind::Account, false) => RatingPool::Live,
    }
}

impl Match {
    /// Returns the ledger entry of an ended match. Returns `None` if the match was not rated or
    /// never started, or if an occupant cannot be rated. An account is rated only against another
    /// account. A bot account is also rated against a bot level. A server without accounts treats
    /// rated matches as casual.
    #[must_use]
    pub fn rated_game(&self) -> Option<RatedGame> {
        let Stage::Ended {
            winner, reason, by, ..
        } = self.stage()
        else {
            return None;
        };
        let creation = self.creation();
        if !creation.terms.rated {
            return None;
        }
        let kinds = Seat::ALL.map(|seat| self.occupant(seat).kind());
        let has = |kind| kinds.contains(&Some(kind));
        let is_mixed = has(PlayerKind::Account) && kinds != [Some(PlayerKind::Account); 2];
        if is_mixed || has(PlayerKind::Guest) {
            return None;
        }
        let game = creation.game.info.id;
        let [first, second] =
            Seat::ALL.map(|seat| Contender::from_occupant(self.occupant(seat), game));
        let line: Vec<&str> = self.moves().take(LINE_PLIES).collect();
        let kind = match has(PlayerKind::Bot) {
            true => PlayerKind::Bot,
            false => PlayerKind::Account,
        };
        let loser = winner.map(Seat::other);
        Some(RatedGame {
            match_id: self.id(),
            game: game.to_owned(),
            pool: rating_pool(kind, creation.terms.is_correspondence()),
            at_ms: self.ended_ms?,
            seats: [first?, second?],
            winner,
            changes_ratings: reason != EndReason::Aborted && self.ply().0 >= COUNTED_PLIES_MIN,
            abandoned_by: by.or(loser.filter(|_| reason == EndReason::Abandonment)),
            opening_line: line.join(" "),
        })
    }
}
