//! Tests for match ownership and takeovers.

use std::collections::HashSet;

use futures::future::{join, join_all};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{CorrespondenceTurn, Participation, Reminder};

use super::*;
use crate::port::cluster_directory::{LEASE_DURATION, MatchRoute, OWNERSHIP_MIN};
use crate::{IdentityStore, JournalPosition, JournalStore, NodeId, PlayerRecord, WriteError};

async fn load_route(store: &impl ClusterDirectory, id: MatchId) -> MatchRoute {
    store
        .find_route(id)
        .await
        .expect("readable")
        .expect("exists")
}

pub(crate) async fn route_reports_owner_epoch_and_end(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let (id, _) = create_match(first, 1).await;
    let at_first = MatchRoute {
        owner: Some(OWNER_NODE),
        is_lease_valid: false,
        epoch: 0,
        has_ended: false,
    };
    assert_eq!(load_route(second, id).await, at_first);
    first.renew_lease(OWNER_NODE).await.expect("renewed");
    let alive = MatchRoute {
        is_lease_valid: true,
        ..at_first
    };
    assert_eq!(load_route(second, id).await, alive);
    assert!(
        second
            .take_over(id, OTHER_NODE, Some(OWNER_NODE))
            .await
            .expect("taken")
    );
    let taken = MatchRoute {
        owner: Some(OTHER_NODE),
        is_lease_valid: false,
        epoch: 1,
        has_ended: false,
    };
    assert_eq!(load_route(first, id).await, taken);
    let position = second
        .load(id)
        .await
        .expect("readable")
        .expect("exists")
        .position;
    second
        .append(id, position, vec![RESIGNATION])
        .await
        .expect("written");
    let ended = MatchRoute {
        has_ended: true,
        ..taken
    };
    assert_eq!(load_route(first, id).await, ended);
    // An ended match can be taken over as well, for example to create its rematch.
    shared.advance_time(OWNERSHIP_MIN).await;
    assert_eq!(
        first.take_over(id, OWNER_NODE, Some(OTHER_NODE)).await,
        Ok(true)
    );
    let loaded = second.load(id).await.expect("readable").expect("exists");
    assert_eq!(loaded.record.events.last(), Some(&RESIGNATION));
    assert_eq!(
        first
            .foreign_matches(OTHER_NODE, vec![id])
            .await
            .expect("readable"),
        [id]
    );
    assert_eq!(
        first
            .foreign_matches(OWNER_NODE, vec![id])
            .await
            .expect("readable"),
        []
    );
    let missing = MatchId(Uuid::from_u128(2));
    assert_eq!(first.find_route(missing).await.expect("readable"), None);
    assert_eq!(first.take_over(missing, OWNER_NODE, None).await, Ok(false));
}

pub(crate) async fn takeover_from_wrong_owner_is_refused(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let (id, position) = create_match(first, 1).await;
    for from in [None, Some(OTHER_NODE)] {
        assert_eq!(second.take_over(id, OTHER_NODE, from).await, Ok(false));
    }
    let next = first
        .append(id, position, start_events())
        .await
        .expect("append by the current owner succeeds");
    first.release(id);
    while load_route(second, id).await.owner.is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        second.take_over(id, OTHER_NODE, Some(OWNER_NODE)).await,
        Ok(false)
    );
    assert_eq!(second.take_over(id, OTHER_NODE, None).await, Ok(true));
    assert_eq!(load_route(first, id).await.owner, Some(OTHER_NODE));
    let stale_append = first.append(id, next, vec![RESIGNATION]).await;
    assert_eq!(stale_append, Err(WriteError::Conflict));
}

/// A released match can be taken over immediately.
pub(crate) async fn recent_takeover_is_not_reversed(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let (id, _) = create_match(first, 1).await;
    assert_eq!(
        second.take_over(id, OTHER_NODE, Some(OWNER_NODE)).await,
        Ok(true)
    );
    assert_eq!(
        first.take_over(id, OWNER_NODE, Some(OTHER_NODE)).await,
        Ok(false)
    );
    shared.advance_time(OWNERSHIP_MIN).await;
    assert_eq!(
        first.take_over(id, OWNER_NODE, Some(OTHER_NODE)).await,
        Ok(true)
    );
    assert_eq!(load_route(first, id).await.epoch, 2);
    first.release(id);
    while load_route(second, id).await.owner.is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.take_over(id, OTHER_NODE, None).await, Ok(true));
}

/// A takeover is a journal entry without an event. Journal positions before the takeover are no
/// longer valid for appends, but remain valid for reads.
pub(crate) async fn positions_before_a_takeover_are_refused(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let (id, created) = create_match(first, 1).await;
    let before = first
        .append(id, created, start_events())
        .await
        .expect("written");
    assert_eq!(
        second.take_over(id, OTHER_NODE, Some(OWNER_NODE)).await,
        Ok(true)
    );
    for position in [created, before] {
        let stale_append = first.append(id, position, vec![RESIGNATION]).await;
        assert_eq!(stale_append, Err(WriteError::Conflict), "{position:?}");
        let probe = first.append(id, position, Vec::new()).await;
        assert_eq!(probe, Err(WriteError::Conflict), "{position:?}");
    }
    let tail = first
        .tail(id, created)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!(tail.events, start_events());
    assert_eq!(
        (tail.position.seq(), tail.position.epoch()),
        (before.seq(), 1)
    );
    let next = vec![move_event(Seat::First, "b2")];
    let after = second.append(id, tail.position, next.clone()).await;
    let after = after.expect("append at the loaded position succeeds");
    for position in [before, tail.position] {
        let tail = first
            .tail(id, position)
            .await
            .expect("readable")
            .expect("exists");
        assert_eq!((tail.events, tail.position), (next.clone(), after));
    }
    let loaded = first.load(id).await.expect("readable").expect("exists");
    assert_eq!((loaded.position, loaded.record.events.len()), (after, 4));
    // None of the following positions was ever in the journal of the match.
    let (n, seq) = (before.entry_no, before.seq());
    for position in [
        JournalPosition::new(n, seq, 1),
        JournalPosition::new(n + 1, seq, 0),
        JournalPosition::new(created.entry_no + 1, created.seq(), 1),
        JournalPosition::new(after.entry_no - 1, after.seq(), 0),
    ] {
        let tail = first.tail(id, position).await.expect("readable");
        assert_eq!(tail, None, "{position:?}");
    }
}

pub(crate) async fn concurrent_takeovers_have_one_winner(shared: &impl SharedStore) {
    let (id, mut position) = create_match(shared.servers()[0], 1).await;
    let mut from = OWNER_NODE;
    for round in 0..10 {
        let nodes = (0..8).map(|node| NodeId(Uuid::from_u128(100 * (round + 1) + node)));
        let nodes: Vec<NodeId> = nodes.collect();
        let takeovers = nodes.iter().enumerate().map(|(index, node)| {
            let server = shared.servers()[index % 2];
            server.take_over(id, *node, Some(from))
        });
        let append = shared.servers()[0].append(id, position, vec![move_event(Seat::First, "b2")]);
        let (taken, _) = join(join_all(takeovers), append).await;
        let won: Vec<usize> = (0..8).filter(|index| taken[*index] == Ok(true)).collect();
        let lost = taken.iter().filter(|taken| **taken == Ok(false)).count();
        assert_eq!((won.len(), lost), (1, 7), "{taken:?}");
        from = nodes[won[0]];
        let route = load_route(shared.servers()[1], id).await;
        assert_eq!(
            (route.owner, u128::from(route.epoch)),
            (Some(from), round + 1)
        );
        let loaded = shared.servers()[1].load(id).await.expect("readable");
        position = loaded.expect("exists").position;
        assert_eq!(position.epoch(), route.epoch);
        shared.advance_time(OWNERSHIP_MIN).await;
    }
}

/// Matches with a wake time are not listed as abandoned.
pub(crate) async fn abandoned_matches_are_listed(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    first.add_player(player(1), vec![]).await.expect("written");
    for node in [OWNER_NODE, OTHER_NODE] {
        first.renew_lease(node).await.expect("renewed");
    }
    let match_id = |number: u128| MatchId(Uuid::from_u128(number));
    for number in 1..=20 {
        let node = if number <= 10 { OWNER_NODE } else { OTHER_NODE };
        let created = first.create(node, match_record(number, &player(1))).await;
        let position = created.expect("written");
        if number == 1 {
            first
                .append(match_id(1), position, vec![RESIGNATION])
                .await
                .expect("written");
        }
        if number == 2 {
            let correspondence = Some(CorrespondenceTurn {
                turn: None,
                deadline_ms: Some(5),
            });
            let participation = Participation {
                player: player(1).id,
                seat: Some(Seat::First),
                substituted_seat: None,
                correspondence_turn: correspondence,
                absent_since_ms: None,
            };
            let reminder = Reminder {
                wake_ms: Some(5),
                participations: vec![participation],
            };
            let appended = first
                .append_with_reminder(match_id(2), position, start_events(), Some(reminder))
                .await;
            appended.expect("written");
        }
    }
    assert_eq!(second.abandoned_matches(100).await.expect("readable"), []);
    first.withdraw_lease(OWNER_NODE).await.expect("withdrawn");
    let mut orders = HashSet::new();
    let expected: Vec<MatchId> = (3..=10).map(match_id).collect();
    for _ in 0..10 {
        let mut found = second.abandoned_matches(100).await.expect("readable");
        orders.insert(found.clone());
        found.sort_unstable();
        assert_eq!(found, expected);
    }
    assert!(orders.len() > 1, "the order is random");
    let limited = second.abandoned_matches(3).await.expect("readable");
    assert_eq!(limited.len(), 3);
    shared.advance_time(LEASE_DURATION).await;
    assert_eq!(
        second.abandoned_matches(100).await.expect("readable").len(),
        18
    );
    let taken = second.take_over(match_id(3), NodeId(Uuid::from_u128(9)), Some(OWNER_NODE));
    assert_eq!(taken.await, Ok(true));
    second
        .renew_lease(NodeId(Uuid::from_u128(9)))
        .await
        .expect("renewed");
    assert_eq!(
        second.abandoned_matches(100).await.expect("readable").len(),
        17
    );
}

fn seat_event(seat: Seat, occupant: Occupant) -> Event {
    EventKind::Seated { seat, occupant }.at(super::super::AT_MS)
}

fn player_occupant(PlayerRecord { id, name, kind }: PlayerRecord) -> Occupant {
    Occupant::Player {
        id,
        name,
        kind,
        rating: None,
    }
}

fn stand_in_occupant(PlayerRecord { id, name, kind }: PlayerRecord) -> Occupant {
    Occupant::StandIn {
        level: Level::Easy,
        player: id,
        name,
        kind,
        rating: None,
    }
}

/// The players involved in a match are the host, the invited player and the players who hold a
/// seat. Players who have left their seat are no longer involved. `involved_matches` does not
/// return ended matches or correspondence matches.
pub(crate) async fn involved_lists_live_matches_of_a_player(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let involved = async |number: u8| -> Vec<u128> {
        let found = second.involved_matches(player(number).id).await;
        let found = found.expect("readable").into_iter();
        found.map(|id| id.0.as_u128()).collect()
    };
    for number in [12, 11] {
        let (id, _) = create_match(first, number).await;
        assert_eq!(id.0.as_u128(), number);
    }
    let mut invites = match_record(13, &player(2));
    invites.creation.terms.invited = Some(player(1).id);
    let created_position = first.create(OWNER_NODE, invites).await.expect("written");
    let mut correspondence = match_record(14, &player(1));
    correspondence.creation.terms.clock = Some(ClockControl::Move {
        move_ms: 86_400_000,
    });
    let created = first.create(OWNER_NODE, correspondence).await;
    created.expect("written");
    assert_eq!(involved(1).await, [11, 12, 13]);
    // Player 1 hosts three matches, but `hosted_match_count` does not count the correspondence
    // match.
    let hosted = async |number: u8| {
        let count = second.hosted_match_count(player(number).id).await;
        count.expect("readable")
    };
    assert_eq!(
        [hosted(1).await, hosted(2).await, hosted(3).await],
        [2, 1, 0]
    );
    assert_eq!(involved(2).await, [13]);

    // Player 3 joins, is replaced by a stand-in, and later leaves. Player 2, who hosts the match,
    // remains involved even without a seat.
    let id = MatchId(Uuid::from_u128(13));
    let mut position = created_position;
    let append = async |position, events: Vec<Event>| {
        let appended = first.append(id, position, events).await;
        appended.expect("written")
    };
    let sit_down = |seat, number| seat_event(seat, player_occupant(player(number)));
    for (event, expected) in [
        (sit_down(Seat::Second, 3), vec![13]),
        (move_event(Seat::First, "a1"), vec![13]),
        (
            seat_event(Seat::Second, stand_in_occupant(player(3))),
            vec![13],
        ),
        (seat_event(Seat::Second, Occupant::Bot(Level::Easy)), vec![]),
        (sit_down(Seat::Second, 3), vec![13]),
        (seat_event(Seat::Second, Occupant::Open), vec![]),
        (seat_event(Seat::First, Occupant::Open), vec![]),
        (sit_down(Seat::First, 3), vec![13]),
    ] {
        position = append(position, vec![event]).await;
        assert_eq!(involved(3).await, expected, "{position:?}");
        assert_eq!(involved(2).await, [13]);
    }
    // If one append seats several players in the same seat, only the last of them holds the seat.
    let seats = [4, 3, 5].map(|number| sit_down(Seat::Second, number));
    position = append(position, seats.into()).await;
    assert_eq!((involved(4).await, involved(5).await), (vec![], vec![13]));
    append(position, vec![RESIGNATION]).await;
    for number in 2..=5 {
        assert_eq!(involved(number).await, [0; 0]);
    }
    assert_eq!(involved(1).await, [11, 12]);
    assert_eq!([hosted(1).await, hosted(2).await], [2, 0]);
    assert_eq!(involved(9).await, [0; 0]);
}
