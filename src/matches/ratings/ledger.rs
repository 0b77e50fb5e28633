//! What ratings are reckoned from: rows that are numbered in the order in which they were written, the one
//! order of all. They are kept as they are serialised here: names are never changed, they are on disks.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{EndReason, MatchId, PlayerId, PlayerKind, RatingPool};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Match, Occupant, Stage};

/// How many plies of a match are compared with others of the same two.
const LINE_PLIES: usize = 20;

/// With fewer plies a match counts for nobody.
const COUNTED_PLIES_MIN: u64 = 2;

/// What is written when a rated match ends, and what else decides what ratings are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LedgerRow {
    /// A rated match ended.
    Game(Box<RatedGame>),
    /// All matches of a player up to here count for nobody.
    #[serde(rename = "unrated")]
    PlayerExcluded {
        /// Who.
        player: PlayerId,
    },
    /// A server has started.
    #[serde(rename = "started")]
    ServerStarted {
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
}

/// All of a rated match that ratings are reckoned from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedGame {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// What was played.
    pub game: String,
    /// Among whom it counts.
    pub pool: RatingPool,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who played.
    pub seats: [Contender; 2],
    /// The seat that won, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<Seat>,
    /// Whether it changes ratings at all.
    #[serde(rename = "counts")]
    pub changes_ratings: bool,
    /// The seat that broke it off, never began or went away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "left")]
    pub abandoned_by: Option<Seat>,
    /// How it began: its first plies.
    #[serde(rename = "line")]
    pub opening_line: String,
}

/// Who plays a rated match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Contender {
    /// An account.
    Player {
        /// Whose.
        player: PlayerId,
    },
    /// A level of the server's.
    Level {
        /// Which.
        level: Level,
        /// How it was rated then.
        rating: i32,
    },
}

impl Contender {
    /// The player, if it is one.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { player } => Some(*player),
            Self::Level { .. } => None,
        }
    }

    /// An id by which each is told from all others: no player has one like a level's.
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

/// Among whom a match of somebody of this kind counts, by whether it is played over days.
#[must_use]
pub const fn rating_pool(kind: PlayerKind, is_correspondence: bool) -> RatingPool {
    match (kind, is_correspondence) {
        (PlayerKind::Bot, _) => RatingPool::Bots,
        (PlayerKind::Guest | PlayerKind::Account, true) => RatingPool::Correspondence,
        (PlayerKind::Guest | PlayerKind::Account, false) => RatingPool::Live,
    }
}

impl Match {
    /// What is to be numbered of the match now that it has ended. `None` if it was not rated, or never began, or
    /// if somebody sat in it who plays for no ratings: a server without accounts takes it for one that is casual,
    /// and lets guests and levels sit down.
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
        let are_guests =
            Seat::ALL.map(|seat| self.occupant(seat).kind() == Some(PlayerKind::Guest));
        let is_mixed = Seat::ALL.into_iter().any(|seat| {
            let is_human = self.occupant(seat).kind() == Some(PlayerKind::Account);
            is_human && self.occupant(seat.other()).kind() != Some(PlayerKind::Account)
        });
        if is_mixed || are_guests.contains(&true) {
            return None;
        }
        let game = creation.game.info.id;
        let [first, second] =
            Seat::ALL.map(|seat| Contender::from_occupant(self.occupant(seat), game));
        let line: Vec<&str> = self.moves().take(LINE_PLIES).collect();
        let has_bot_account = Seat::ALL.into_iter().any(|seat| {
            let kind = self.occupant(seat).kind();
            kind == Some(PlayerKind::Bot)
        });
        let kind = if has_bot_account {
            PlayerKind::Bot
        } else {
            PlayerKind::Account
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

#[cfg(test)]
mod tests;
