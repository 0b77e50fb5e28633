//! What every store that several servers share must do. Each runs all of it.

mod forgetting;
mod leases;
mod lists;
mod seeks;
mod takes;

use std::time::Duration;

use plyhouse_matches::{Event, EventKind, Occupant};
use plyhouse_protocol::{ClockControl, MatchId, PlayerId};
use uuid::Uuid;

pub(crate) use self::forgetting::{
    ended_sessions_and_forgotten_players_are_known,
    whoever_is_forgotten_at_once_is_named_by_nothing,
};
pub(crate) use self::leases::{
    a_connection_is_later_than_those_before, a_lease_ends, a_withdrawn_server_is_gone,
    orphans_and_live_matches_go_by_leases,
};
pub(crate) use self::lists::{
    an_end_that_is_told_later_is_listed_later, ended_matches_are_listed_since_a_time,
    lists_are_filtered_and_paged, only_what_is_shown_is_listed,
};
pub(crate) use self::seeks::{
    a_code_that_is_taken_is_made_again, a_player_has_one_seek, a_seek_is_ended_where_it_was_made,
    as_many_wait_as_are_allowed, everybody_is_paired_once, seeks_of_dead_servers_are_not_paired,
    the_oldest_seek_with_the_key_is_paired, those_who_wait_are_found,
    two_who_come_at_once_are_paired, who_is_blocked_is_not_paired, who_is_not_to_be_paired_is_not,
    who_is_too_weak_is_not_paired, who_was_forgotten_is_not_paired,
};
pub(crate) use self::takes::{
    a_match_is_taken_from_whom_it_is_said, a_route_tells_whose_a_match_is,
    a_take_that_is_fresh_is_not_undone, abandoned_matches_are_found,
    marks_from_before_a_take_are_refused, of_many_takes_one_succeeds, players_are_involved,
};
use super::{OTHER, OWNER, RESIGNED, created, live, moved, orphans, player, record, started};
use crate::directory::Directory;
use crate::{Record, Store};

/// A store that two servers share.
pub(crate) trait Shared {
    type Store: Store + Directory;

    /// The store, as each of two servers has it.
    fn servers(&self) -> [&Self::Store; 2];

    /// Lets so much time pass, as the store reckons it.
    async fn pass(&self, time: Duration);
}

/// Runs the suite of stores that servers share with what this expression makes.
macro_rules! shared_suite {
    ($make:expr) => {
        shared_suite!($make; a_lease_ends, a_withdrawn_server_is_gone,
            orphans_and_live_matches_go_by_leases, a_connection_is_later_than_those_before,
            a_route_tells_whose_a_match_is, a_match_is_taken_from_whom_it_is_said,
            a_take_that_is_fresh_is_not_undone, marks_from_before_a_take_are_refused,
            of_many_takes_one_succeeds, abandoned_matches_are_found, players_are_involved,
            the_oldest_seek_with_the_key_is_paired, a_player_has_one_seek, who_is_too_weak_is_not_paired,
            seeks_of_dead_servers_are_not_paired, who_is_blocked_is_not_paired, who_is_not_to_be_paired_is_not, who_was_forgotten_is_not_paired,
            whoever_is_forgotten_at_once_is_named_by_nothing,
            ended_sessions_and_forgotten_players_are_known, as_many_wait_as_are_allowed,
            a_seek_is_ended_where_it_was_made, those_who_wait_are_found, a_code_that_is_taken_is_made_again,
            two_who_come_at_once_are_paired, everybody_is_paired_once, only_what_is_shown_is_listed, lists_are_filtered_and_paged,
            an_end_that_is_told_later_is_listed_later, ended_matches_are_listed_since_a_time);
    };
    ($make:expr; $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                let Some(shared) = $make else { return };
                crate::suite::$case(&shared).await;
            }
        )+
    };
}
pub(crate) use shared_suite;
