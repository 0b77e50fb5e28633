//! Parameters for creating a match.

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
    /// Terms of the match. `create_match` replaces the random seed in the terms with a new seed.
    pub(crate) terms: Terms,
    /// Preferred match code. A rematch prefers the code of the previous match. If another live
    /// match has the preferred code, the server uses a random code instead.
    pub(crate) code: Option<MatchCode>,
    /// Maximum number of live matches that the host may have, including this match.
    pub(crate) hosted_max: usize,
    /// Permit for an open match, charged to the address of the client that creates the match.
    pub(crate) open_match_permit: Option<OpenMatchPermit>,
}

/// Creates the seat occupant that represents this player, with `rating` as the player's rating.
pub(crate) fn player_occupant(player: PlayerRecord, rating: Option<ShownRating>) -> Occupant {
    let PlayerRecord { id, name, kind } = player;
    Occupant::Player {
        id,
        name,
        kind,
        rating,
    }
}
