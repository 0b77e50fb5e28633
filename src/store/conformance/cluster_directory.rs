//! Conformance tests for stores that several servers share.

mod account_deletion;
mod leases;
mod match_lists;
mod seeks;
mod takeovers;

use std::time::Duration;

use plyhouse_matches::{Event, EventKind, Occupant};
use plyhouse_protocol::{ClockControl, MatchId, PlayerId};
use uuid::Uuid;

pub(crate) use self::account_deletion::{
    ended_sessions_and_deleted_players_are_reported, player_deleted_during_writes_is_named_nowhere,
};
pub(crate) use self::leases::{
    connection_numbers_increase_across_servers, lease_expires_unless_renewed,
    match_is_unowned_when_its_owner_has_no_lease, withdrawn_server_is_not_listed,
};
pub(crate) use self::match_lists::{
    delayed_end_is_listed_once_it_is_shown, ended_matches_are_filtered_by_end_time,
    lists_are_filtered_and_paged, only_shown_matches_are_listed,
};
pub(crate) use self::seeks::{
    blocked_players_are_not_paired, concurrent_seeks_are_paired_once, deleted_player_is_not_paired,
    excluded_players_are_not_paired, new_seek_replaces_previous_seek,
    oldest_seek_with_same_key_is_paired, pairing_retries_with_new_match_code,
    seek_above_limit_is_paired_but_does_not_wait, seek_is_ended_only_by_its_own_server,
    seekers_are_listed_longest_wait_first, seeks_of_expired_servers_are_not_paired,
    seeks_outside_rating_range_are_not_paired, simultaneous_seeks_are_paired,
};
pub(crate) use self::takeovers::{
    abandoned_matches_are_listed, concurrent_takeovers_have_one_winner,
    involved_lists_live_matches_of_a_player, positions_before_a_takeover_are_refused,
    recent_takeover_is_not_reversed, route_reports_owner_epoch_and_end,
    takeover_from_wrong_owner_is_refused,
};
use super::{
    OTHER_NODE, OWNER_NODE, RESIGNATION, create_match, live_matches, match_record, move_event,
    player, start_events, unowned_matches,
};
use crate::port::cluster_directory::ClusterDirectory;
use crate::{MatchRecord, Store};

/// A store that two servers share.
pub(crate) trait SharedStore {
    type Store: Store + ClusterDirectory;

    /// Returns the store handles of the two servers.
    fn servers(&self) -> [&Self::Store; 2];

    /// Advances the store's clock by `duration`.
    async fn advance_time(&self, duration: Duration);
}

/// Generates all conformance tests of shared stores for one store. The argument is an expression
/// that creates the store, or returns `None` if the store is not available.
macro_rules! shared_conformance_tests {
    ($make:expr) => {
        shared_conformance_tests!($make; lease_expires_unless_renewed, withdrawn_server_is_not_listed,
            match_is_unowned_when_its_owner_has_no_lease, connection_numbers_increase_across_servers,
            route_reports_owner_epoch_and_end, takeover_from_wrong_owner_is_refused,
            recent_takeover_is_not_reversed, positions_before_a_takeover_are_refused,
            concurrent_takeovers_have_one_winner, abandoned_matches_are_listed, involved_lists_live_matches_of_a_player,
            oldest_seek_with_same_key_is_paired, new_seek_replaces_previous_seek, seeks_outside_rating_range_are_not_paired,
            seeks_of_expired_servers_are_not_paired, blocked_players_are_not_paired, excluded_players_are_not_paired, deleted_player_is_not_paired,
            player_deleted_during_writes_is_named_nowhere,
            ended_sessions_and_deleted_players_are_reported, seek_above_limit_is_paired_but_does_not_wait,
            seek_is_ended_only_by_its_own_server, seekers_are_listed_longest_wait_first, pairing_retries_with_new_match_code,
            simultaneous_seeks_are_paired, concurrent_seeks_are_paired_once, only_shown_matches_are_listed, lists_are_filtered_and_paged,
            delayed_end_is_listed_once_it_is_shown, ended_matches_are_filtered_by_end_time);
    };
    ($make:expr; $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                let Some(shared) = $make else { return };
                crate::conformance::$case(&shared).await;
            }
        )+
    };
}
pub(crate) use shared_conformance_tests;
