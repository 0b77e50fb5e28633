//! What somebody wants who has a match created.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{MatchCode, PlayerId, ShownRating};
use plyhouse_store::PlayerRecord;

use crate::connection::ip_limits::OpenMatchPermit;

/// A match that somebody wants.
#[derive(Debug)]
pub(crate) struct CreateParams {
    pub(crate) game: &'static GameEntry,
    pub(crate) host: PlayerId,
    pub(crate) seats: [Occupant; 2],
    /// How it is played, but for its chance, which is drawn when it is created.
    pub(crate) terms: Terms,
    /// The code that it takes over, if no live match has it by then.
    pub(crate) code: Option<MatchCode>,
    /// How many live matches the host may have with this one.
    pub(crate) hosted_max: usize,
    /// The place that it takes while it waits for somebody.
    pub(crate) open_match_permit: Option<OpenMatchPermit>,
}

/// A player who sits down, who is rated so.
pub(crate) fn player_occupant(player: PlayerRecord, rating: Option<ShownRating>) -> Occupant {
    let PlayerRecord { id, name, kind } = player;
    Occupant::Player {
        id,
        name,
        kind,
        rating,
    }
}
