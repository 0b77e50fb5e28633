//! Parameters for the creation of a match.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{MatchCode, PlayerId, ShownRating};
use plyhouse_store::PlayerRecord;

use crate::connection::ip_limits::OpenMatchPermit;

/// Parameters of a new match.
#[derive(Debug)]
pub(crate) struct CreateParams {
    pub(crate) game: &'static GameEntry,
    pub(crate) host: PlayerId,
    pub(crate) seats: [Occupant; 2],
    /// Terms of the match. The random seed is replaced when the match is created.
    pub(crate) terms: Terms,
    /// Preferred code, such as the code of the previous match for a rematch. If another live match
    /// has this code, the server draws a new one.
    pub(crate) code: Option<MatchCode>,
    /// Maximum number of live matches that the host may have, including this match.
    pub(crate) hosted_max: usize,
    /// Permit that counts the match towards the limit on open matches.
    pub(crate) open_match_permit: Option<OpenMatchPermit>,
}

/// Returns the seat occupant for a player with the given rating.
pub(crate) fn player_occupant(player: PlayerRecord, rating: Option<ShownRating>) -> Occupant {
    let PlayerRecord { id, name, kind } = player;
    Occupant::Player {
        id,
        name,
        kind,
        rating,
    }
}
