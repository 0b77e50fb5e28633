//! Tests for match histories and opening statistics.

use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Event, EventKind, Match, Occupant, Terms};
use plyhouse_protocol::{EndReason, MatchId, MatchResult};
use uuid::Uuid;

use super::{AT_MS, OWNER_NODE, match_record, player};
use crate::{EndedMatch, HistoryQuery, Opponent, ResultCounts, Store, Tally};

/// Returns the ids of two games: the game of the test matches and another game.
fn game_ids() -> [&'static str; 2] {
    [0, 1].map(|number| catalog::CATALOG[number].info.id)
}

/// Returns the player with this number. Returns a bot if the number is 0.
fn occupant(number: u8) -> Occupant {
    if number == 0 {
        return Occupant::Bot(Level::Easy);
    }
    Occupant::Player {
        id: player(number).id,
        name: player(number).name,
        kind: player(number).kind,
        rating: None,
    }
}

/// Creates and ends a match. `number_and_end_ms` is a pair of the match number and the duration of
/// the match in milliseconds.
async fn write_ended_match(
    store: &dyn Store,
    number_and_end_ms: (u128, u64),
    seats: [u8; 2],
    moves: &[&str],
    end: EventKind,
) {
    write_ended_match_from(store, None, number_and_end_ms, seats, moves, end).await;
}

/// Creates and ends a match that starts from the given position.
async fn write_ended_match_from(
    store: &dyn Store,
    initial_position: Option<&str>,
    (number, ended_after_ms): (u128, u64),
    seats: [u8; 2],
    moves: &[&str],
    end: EventKind,
) {
    for number in [1, 2, 3] {
        let added = store.add_player(player(number), vec![]).await;
        added.expect("written");
    }
    let mut written = match_record(number, &player(1));
    written.creation.terms = Terms {
        initial_position: initial_position.map(str::to_owned),
        ..Terms::with_defaults(number < 100, 0, 0)
    };
    written.events = Match::initial_events(&written.creation.terms, seats.map(occupant), AT_MS);
    let state = Match::replay(written.creation.clone(), &written.events).expect("valid events");
    let position = store.create(OWNER_NODE, written).await.expect("written");
    let move_event =
        |(ply, m): (usize, &&str)| EventKind::untimed_move(Seat::ALL[ply % 2], (*m).into());
    let mut events: Vec<_> = moves.iter().enumerate().map(move_event).collect();
    events.push(end);
    let events = events
        .into_iter()
        .map(|kind| kind.at(AT_MS + ended_after_ms));
    let events: Vec<Event> = events.collect();
    // Half of the matches are filed from the journal.
    let ended = EndedMatch::after(&state, &events).filter(|_| number.is_multiple_of(2));
    let ended = match ended {
        Some(ended) => store.append_end(state.id(), position, events, Box::new(ended)),
        None => store.append(state.id(), position, events),
    };
    ended.await.expect("written");
}

const fn win_event(seat: Seat) -> EventKind {
    EventKind::untimed_end(Some(seat), EndReason::Resignation)
}

/// Returns the numbers of the matches that a query finds.
async fn history_numbers(store: &dyn Store, query: HistoryQuery) -> Option<Vec<u128>> {
    let matches = store.history(query).await.expect("readable")?;
    let number = |one: &crate::PastMatch| one.creation.id.0.as_u128();
    Some(matches.iter().map(number).collect())
}

/// Creates five matches that start and end, and one that ends before it starts. Player 1 plays in
/// four of the five matches.
async fn write_five_matches(store: &dyn Store) {
    let (first, second) = (Seat::First, Seat::Second);
    let drawn = EventKind::untimed_end(None, EndReason::Agreement);
    write_ended_match(store, (70, 10), [1, 2], &["b2"], win_event(first)).await;
    write_ended_match(store, (71, 30), [2, 1], &["b2", "a1"], win_event(first)).await;
    write_ended_match(store, (72, 20), [1, 0], &["a1"], drawn).await;
    let aborted = EventKind::untimed_end(None, EndReason::Aborted);
    write_ended_match(store, (73, 30), [3, 1], &[], aborted.clone()).await;
    let never_started = match_record(74, &player(1));
    let id = never_started.creation.id;
    let position = store
        .create(OWNER_NODE, never_started)
        .await
        .expect("written");
    let ended = store
        .append(id, position, vec![aborted.at(AT_MS + 50)])
        .await;
    ended.expect("written");
    write_ended_match(store, (75, 40), [2, 3], &["b2", "b1"], win_event(second)).await;
}

/// A player's history must omit matches that never started. The history must start with the match
/// that ended last.
pub(crate) async fn history_lists_ended_matches_of_a_player(store: &dyn Store) {
    write_five_matches(store).await;
    let ann = HistoryQuery::for_player(player(1).id, 100);
    let check = async |query, expected: &[u128]| {
        let found = history_numbers(store, query).await;
        assert_eq!(found.as_deref(), Some(expected), "{query:?}");
    };
    check(ann, &[73, 71, 72, 70]).await;
    check(HistoryQuery { limit: 2, ..ann }, &[73, 71]).await;
    let before = |number| Some(MatchId(Uuid::from_u128(number)));
    for (number, expected) in [(73, &[71, 72, 70][..]), (72, &[70]), (70, &[])] {
        let before = before(number);
        check(HistoryQuery { before, ..ann }, expected).await;
    }
    let unknown_match = HistoryQuery {
        before: before(99),
        ..ann
    };
    assert_eq!(history_numbers(store, unknown_match).await, None);
    for (with, expected) in [
        (Opponent::Player(player(2).id), &[71, 70][..]),
        (Opponent::Player(player(3).id), &[73]),
        (Opponent::Bot, &[72]),
    ] {
        let with = Some(with);
        check(
            HistoryQuery {
                opponent: with,
                ..ann
            },
            expected,
        )
        .await;
    }
    for (result, expected) in [
        (MatchResult::Won, 70),
        (MatchResult::Lost, 71),
        (MatchResult::Drawn, 72),
        (MatchResult::None, 73),
    ] {
        let result = Some(result);
        check(HistoryQuery { result, ..ann }, &[expected]).await;
    }
    for (game, expected) in [(game_ids()[1], &[][..]), (game_ids()[0], &[73, 71, 72, 70])] {
        let game = Some(game);
        check(HistoryQuery { game, ..ann }, expected).await;
    }
    let counted = store.results(player(1).id, player(3).id).await;
    let counted = counted.expect("readable");
    for result in MatchResult::ALL {
        assert_eq!(counted.count(*result), 1, "{result:?}");
    }
    assert_eq!(counted.first_end_ms, Some(AT_MS + 10));
    let unknown_player = store.results(player(9).id, player(9).id).await;
    assert_eq!(unknown_player.expect("readable"), ResultCounts::default());

    let read = store.history(ann).await.expect("readable").expect("exists");
    let (second, record) = (&read[1], store.load(MatchId(Uuid::from_u128(71))).await);
    let record = record.expect("readable").expect("exists").record;
    let ended = record.to_ended_match().expect("ended");
    assert_eq!(second.summary, ended.summary);
    assert_eq!((second.seat, second.ended_ms), (Seat::Second, AT_MS + 30));
    assert_eq!(
        format!("{:?}", second.creation),
        format!("{:?}", record.creation)
    );
}

pub(crate) async fn private_matches_are_listed_only_for_their_players(store: &dyn Store) {
    write_ended_match(store, (170, 10), [1, 2], &["b2"], win_event(Seat::First)).await;
    write_ended_match(store, (71, 20), [1, 2], &["b2"], win_event(Seat::First)).await;
    for (viewer, expected) in [(1, &[71, 170][..]), (2, &[71, 170]), (3, &[71])] {
        let viewer = player(viewer).id;
        let query = HistoryQuery {
            viewer,
            ..HistoryQuery::for_player(player(1).id, 9)
        };
        assert_eq!(
            history_numbers(store, query).await.as_deref(),
            Some(expected)
        );
        let counted = store.results(player(1).id, viewer).await;
        let counted = counted.expect("readable");
        assert_eq!(counted.count(MatchResult::Won), expected.len() as u64);
        let first_ms = AT_MS + if expected.len() == 2 { 10 } else { 20 };
        assert_eq!(counted.first_end_ms, Some(first_ms));
    }
    let explored = store.explore(game_ids()[0], String::new()).await;
    assert_eq!(explored.expect("readable").matches, 1);
}

pub(crate) async fn openings_are_counted_once_for_all_symmetries(store: &dyn Store) {
    write_five_matches(store).await;
    write_ended_match(
        store,
        (80, 50),
        [2, 3],
        &["b2", "c3"],
        win_event(Seat::First),
    )
    .await;
    // A match that starts from a position other than the standard initial position is not counted
    // in the opening statistics.
    let initial_position = Some("x.o/.../...");
    write_ended_match_from(
        store,
        initial_position,
        (81, 60),
        [2, 3],
        &["b2"],
        win_event(Seat::First),
    )
    .await;
    let check = async |line: &str, n, expected: &[(&str, Tally)]| {
        let explored = store.explore(game_ids()[0], line.to_owned()).await;
        let explored = explored.expect("readable");
        let moves = explored.moves.iter().map(|(m, tally)| (m.as_str(), *tally));
        assert_eq!(moves.collect::<Vec<_>>(), expected, "{line}");
        assert_eq!(explored.matches, n, "{line}");
    };
    let tally = |n, won, drawn| Tally {
        matches: n,
        wins: won,
        draws: drawn,
    };
    let all = [("a1", tally(1, [0, 0], 1)), ("b2", tally(4, [3, 1], 0))];
    check("", 5, &all).await;
    let corner = ("a1", tally(2, [2, 0], 0));
    check("b2", 4, &[corner, ("a2", tally(1, [0, 1], 0))]).await;
    check("b2 a1", 2, &[]).await;
    check("c3", 0, &[]).await;
    let other = store.explore(game_ids()[1], String::new()).await;
    assert_eq!(other.expect("readable").matches, 0);
}
