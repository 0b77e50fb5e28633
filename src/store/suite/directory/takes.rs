//! Whose a match is, and who is in it.

use std::collections::HashSet;

use futures::future::{join, join_all};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{DaysTurn, Part, Reminder};

use super::*;
use crate::directory::{LEASE, Route, TAKEN_MIN};
use crate::{JournalPosition, NodeId, PlayerRecord, WriteError};

async fn route(store: &impl Directory, id: MatchId) -> Route {
    store.route(id).await.expect("readable").expect("there")
}

/// A route follows a match from one owner to the next, and to its end.
pub(crate) async fn a_route_tells_whose_a_match_is(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let (id, _) = created(first, 1).await;
    let at_first = Route {
        owner: Some(OWNER),
        is_alive: false,
        epoch: 0,
        has_ended: false,
    };
    assert_eq!(route(second, id).await, at_first);
    first.renew(OWNER).await.expect("renewed");
    let alive = Route {
        is_alive: true,
        ..at_first
    };
    assert_eq!(route(second, id).await, alive);
    assert!(second.take(id, OTHER, Some(OWNER)).await.expect("taken"));
    let taken = Route {
        owner: Some(OTHER),
        is_alive: false,
        epoch: 1,
        has_ended: false,
    };
    assert_eq!(route(first, id).await, taken);
    let mark = second
        .load(id)
        .await
        .expect("readable")
        .expect("there")
        .mark;
    second
        .append(id, mark, vec![RESIGNED])
        .await
        .expect("written");
    let ended = Route {
        has_ended: true,
        ..taken
    };
    assert_eq!(route(first, id).await, ended);
    // Who wants a rematch asks its owner, and takes it over if there is none.
    shared.pass(TAKEN_MIN).await;
    assert_eq!(first.take(id, OWNER, Some(OTHER)).await, Ok(true));
    let loaded = second.load(id).await.expect("readable").expect("there");
    assert_eq!(loaded.record.events.last(), Some(&RESIGNED));
    assert_eq!(
        first.foreign(OTHER, vec![id]).await.expect("readable"),
        [id]
    );
    assert_eq!(first.foreign(OWNER, vec![id]).await.expect("readable"), []);
    let nowhere = MatchId(Uuid::from_u128(2));
    assert_eq!(first.route(nowhere).await.expect("readable"), None);
    assert_eq!(first.take(nowhere, OWNER, None).await, Ok(false));
}

/// Who believes that a match is somebody else's does not get it.
pub(crate) async fn a_match_is_taken_from_whom_it_is_said(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let (id, mark) = created(first, 1).await;
    for from in [None, Some(OTHER)] {
        assert_eq!(second.take(id, OTHER, from).await, Ok(false));
    }
    let next = first.append(id, mark, started()).await.expect("still good");
    first.release(id);
    while route(second, id).await.owner.is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.take(id, OTHER, Some(OWNER)).await, Ok(false));
    assert_eq!(second.take(id, OTHER, None).await, Ok(true));
    assert_eq!(route(first, id).await.owner, Some(OTHER));
    let late = first.append(id, next, vec![RESIGNED]).await;
    assert_eq!(late, Err(WriteError::Conflict));
}

/// A match stays for a while with whom it was taken by, unless that one lets go of it.
pub(crate) async fn a_take_that_is_fresh_is_not_undone(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let (id, _) = created(first, 1).await;
    assert_eq!(second.take(id, OTHER, Some(OWNER)).await, Ok(true));
    assert_eq!(first.take(id, OWNER, Some(OTHER)).await, Ok(false));
    shared.pass(TAKEN_MIN).await;
    assert_eq!(first.take(id, OWNER, Some(OTHER)).await, Ok(true));
    assert_eq!(route(first, id).await.epoch, 2);
    first.release(id);
    while route(second, id).await.owner.is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.take(id, OTHER, None).await, Ok(true));
}

/// A take is an entry of the journal that is no event: its number is used, and no mark from before it is
/// good any more, neither that of the end nor one before; whoever reads goes on.
pub(crate) async fn marks_from_before_a_take_are_refused(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let (id, begun) = created(first, 1).await;
    let before = first.append(id, begun, started()).await.expect("written");
    assert_eq!(second.take(id, OTHER, Some(OWNER)).await, Ok(true));
    for mark in [begun, before] {
        let late = first.append(id, mark, vec![RESIGNED]).await;
        assert_eq!(late, Err(WriteError::Conflict), "{mark:?}");
        let probe = first.append(id, mark, Vec::new()).await;
        assert_eq!(probe, Err(WriteError::Conflict), "{mark:?}");
    }
    let tail = first
        .tail(id, begun)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!(tail.events, started());
    assert_eq!((tail.mark.seq(), tail.mark.epoch()), (before.seq(), 1));
    let next = vec![moved(Seat::First, "b2")];
    let after = second.append(id, tail.mark, next.clone()).await;
    let after = after.expect("whoever has read it goes on");
    for mark in [before, tail.mark] {
        let tail = first
            .tail(id, mark)
            .await
            .expect("readable")
            .expect("there");
        assert_eq!((tail.events, tail.mark), (next.clone(), after));
    }
    let loaded = first.load(id).await.expect("readable").expect("there");
    assert_eq!((loaded.mark, loaded.record.events.len()), (after, 4));
    // Places that the journal never had.
    let (n, seq) = (before.n, before.seq());
    for mark in [
        JournalPosition::new(n, seq, 1),
        JournalPosition::new(n + 1, seq, 0),
        JournalPosition::new(begun.n + 1, begun.seq(), 1),
        JournalPosition::new(after.n - 1, after.seq(), 0),
    ] {
        let tail = first.tail(id, mark).await.expect("readable");
        assert_eq!(tail, None, "{mark:?}");
    }
}

/// Of many servers that take one match at once, one gets it.
pub(crate) async fn of_many_takes_one_succeeds(shared: &impl Shared) {
    let (id, mut mark) = created(shared.servers()[0], 1).await;
    let mut from = OWNER;
    for round in 0..10 {
        let nodes = (0..8).map(|node| NodeId(Uuid::from_u128(100 * (round + 1) + node)));
        let nodes: Vec<NodeId> = nodes.collect();
        let takes = nodes.iter().enumerate().map(|(index, node)| {
            let server = shared.servers()[index % 2];
            server.take(id, *node, Some(from))
        });
        let late = shared.servers()[0].append(id, mark, vec![moved(Seat::First, "b2")]);
        let (taken, _) = join(join_all(takes), late).await;
        let won: Vec<usize> = (0..8).filter(|index| taken[*index] == Ok(true)).collect();
        let lost = taken.iter().filter(|taken| **taken == Ok(false)).count();
        assert_eq!((won.len(), lost), (1, 7), "{taken:?}");
        from = nodes[won[0]];
        let route = route(shared.servers()[1], id).await;
        assert_eq!(
            (route.owner, u128::from(route.epoch)),
            (Some(from), round + 1)
        );
        let loaded = shared.servers()[1].load(id).await.expect("readable");
        mark = loaded.expect("there").mark;
        assert_eq!(mark.epoch(), route.epoch);
        shared.pass(TAKEN_MIN).await;
    }
}

/// What is abandoned are the live matches of servers that are gone, but for those that are to be woken.
pub(crate) async fn abandoned_matches_are_found(shared: &impl Shared) {
    let [first, second] = shared.servers();
    first.add_player(player(1), vec![]).await.expect("written");
    for node in [OWNER, OTHER] {
        first.renew(node).await.expect("renewed");
    }
    let numbered = |number: u128| MatchId(Uuid::from_u128(number));
    for number in 1..=20 {
        let node = if number <= 10 { OWNER } else { OTHER };
        let made = first.create(node, record(number, &player(1))).await;
        let mark = made.expect("written");
        if number == 1 {
            first
                .append(numbered(1), mark, vec![RESIGNED])
                .await
                .expect("written");
        }
        if number == 2 {
            let days = Some(DaysTurn {
                turn: None,
                due_ms: Some(5),
            });
            let part = Part {
                player: player(1).id,
                seat: Some(Seat::First),
                stood_in: None,
                days,
                absent_ms: None,
            };
            let reminder = Reminder {
                wake_ms: Some(5),
                parts: vec![part],
            };
            let kept = first
                .append_with_reminder(numbered(2), mark, started(), Some(reminder))
                .await;
            kept.expect("written");
        }
    }
    assert_eq!(second.abandoned(100).await.expect("readable"), []);
    first.withdraw(OWNER).await.expect("withdrawn");
    let mut orders = HashSet::new();
    let expected: Vec<MatchId> = (3..=10).map(numbered).collect();
    for _ in 0..10 {
        let mut found = second.abandoned(100).await.expect("readable");
        orders.insert(found.clone());
        found.sort_unstable();
        assert_eq!(found, expected);
    }
    assert!(orders.len() > 1, "everybody would begin at one match");
    let some = second.abandoned(3).await.expect("readable");
    assert_eq!(some.len(), 3);
    shared.pass(LEASE).await;
    assert_eq!(second.abandoned(100).await.expect("readable").len(), 18);
    let taken = second.take(numbered(3), NodeId(Uuid::from_u128(9)), Some(OWNER));
    assert_eq!(taken.await, Ok(true));
    second
        .renew(NodeId(Uuid::from_u128(9)))
        .await
        .expect("renewed");
    assert_eq!(second.abandoned(100).await.expect("readable").len(), 17);
}

fn seated(seat: Seat, occupant: Occupant) -> Event {
    EventKind::Seated { seat, occupant }.at(super::super::AT_MS)
}

fn sits(PlayerRecord { id, name, kind }: PlayerRecord) -> Occupant {
    Occupant::Player {
        id,
        name,
        kind,
        rating: None,
    }
}

fn stood_in(PlayerRecord { id, name, kind }: PlayerRecord) -> Occupant {
    Occupant::StandIn {
        level: Level::Easy,
        player: id,
        name,
        kind,
        rating: None,
    }
}

/// A player is involved in the live matches that they host, sit in or have a bot stand in, and in those to
/// which they are invited; not once they have left or the match has ended, nor in matches of days.
pub(crate) async fn players_are_involved(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let involved = async |number: u8| -> Vec<u128> {
        let found = second.involved(player(number).id).await;
        let found = found.expect("readable").into_iter();
        found.map(|id| id.0.as_u128()).collect()
    };
    for number in [12, 11] {
        let (id, _) = created(first, number).await;
        assert_eq!(id.0.as_u128(), number);
    }
    let mut invites = record(13, &player(2));
    invites.creation.terms.invited = Some(player(1).id);
    let thirteen = first.create(OWNER, invites).await.expect("written");
    let mut days = record(14, &player(1));
    days.creation.terms.clock = Some(ClockControl::Move {
        move_ms: 86_400_000,
    });
    first.create(OWNER, days).await.expect("written");
    assert_eq!(involved(1).await, [11, 12, 13]);
    // Of those it hosts two, and the one of days.
    let hosted = async |number: u8| second.hosted(player(number).id).await.expect("readable");
    assert_eq!(
        [hosted(1).await, hosted(2).await, hosted(3).await],
        [2, 1, 0]
    );
    assert_eq!(involved(2).await, [13]);

    // Somebody else sits down there, is stood in for, and leaves; the host stays involved without a seat.
    let id = MatchId(Uuid::from_u128(13));
    let mut mark = thirteen;
    for (event, expected) in [
        (seated(Seat::Second, sits(player(3))), vec![13]),
        (moved(Seat::First, "a1"), vec![13]),
        (seated(Seat::Second, stood_in(player(3))), vec![13]),
        (seated(Seat::Second, Occupant::Bot(Level::Easy)), vec![]),
        (seated(Seat::Second, sits(player(3))), vec![13]),
        (seated(Seat::Second, Occupant::Open), vec![]),
        (seated(Seat::First, Occupant::Open), vec![]),
        (seated(Seat::First, sits(player(3))), vec![13]),
    ] {
        mark = first.append(id, mark, vec![event]).await.expect("written");
        assert_eq!(involved(3).await, expected, "{mark:?}");
        assert_eq!(involved(2).await, [13]);
    }
    // Several at once, of which the last counts.
    let seats = [player(4), player(3), player(5)].map(|player| seated(Seat::Second, sits(player)));
    mark = first.append(id, mark, seats.into()).await.expect("written");
    assert_eq!((involved(4).await, involved(5).await), (vec![], vec![13]));
    first
        .append(id, mark, vec![RESIGNED])
        .await
        .expect("written");
    for number in 2..=5 {
        assert_eq!(involved(number).await, [0; 0]);
    }
    assert_eq!(involved(1).await, [11, 12]);
    assert_eq!([hosted(1).await, hosted(2).await], [2, 0]);
    assert_eq!(involved(9).await, [0; 0]);
}
