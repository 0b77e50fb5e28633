//! What somebody wants who has a match created.

use plyhouse_engine::catalog::Entry;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{MatchCode, PlayerId};

use super::addresses::OpenMatchPermit;

/// A match that somebody wants.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) game: &'static Entry,
    pub(super) host: PlayerId,
    pub(super) seats: [Occupant; 2],
    /// How it is played, but for its chance, which is drawn when it is created.
    pub(super) terms: Terms,
    /// The code that it takes over, if no live match has it by then.
    pub(super) code: Option<MatchCode>,
    /// How many live matches the host may have with this one.
    pub(super) hosted_max: usize,
    /// The place that it takes while it waits for somebody.
    pub(super) open: Option<OpenMatchPermit>,
}
