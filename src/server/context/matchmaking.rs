//! Seeks and challenges.

use crate::matchmaking::challenges::Challenges;
use crate::matchmaking::seek_list::SeekListState;
use crate::matchmaking::seek_queue::Seeks;
use crate::settings::Settings;

/// Players who wait for an opponent.
#[derive(Debug)]
pub(crate) struct Matchmaking {
    pub(crate) seeks: Seeks,
    pub(crate) seek_list: SeekListState,
    pub(crate) challenges: Challenges,
}

impl Matchmaking {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            seeks: Seeks::new(settings.seeks_max),
            seek_list: SeekListState::default(),
            challenges: Challenges::default(),
        }
    }
}
