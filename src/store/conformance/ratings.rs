//! Tests for the rating ledger and for ratings.

use plyhouse_engine::game::Seat;
use plyhouse_matches::ratings::{
    AbortPenalties, LedgerRow, PairHistory, Rating, RatingEntry, RatingKey, RatingState,
};
use plyhouse_matches::{Event, EventKind, Match, Occupant, RemainingTime, Terms};
use plyhouse_protocol::{ClockControl, EndReason, MatchId, PlayerKind, RatingPool};

use super::{AT_MS, OWNER_NODE, match_record, player};
use crate::{
    LeaderboardQuery, MatchRecord, NeededRatings, RatingMismatch, RatingPost, RatingStep,
    RatingsChange, Store, rebuild_ratings, run_rating_step, verify_ratings,
};

const DAY_MS: u64 = 86_400_000;

const CLOCK: ClockControl = ClockControl::Fischer {
    main_ms: 60_000,
    increment_ms: 0,
};

/// Returns a rated match between two accounts. The match has already started.
pub(crate) fn rated_record(number: u128, seats: [u8; 2]) -> MatchRecord {
    let mut written = match_record(number, &player(seats[0]));
    written.creation.terms = Terms {
        rated: true,
        takebacks_allowed: false,
        clock: Some(CLOCK),
        ..Terms::with_defaults(true, 0, 0)
    };
    let seats = seats.map(|number| Occupant::Player {
        id: player(number).id,
        name: player(number).name,
        kind: PlayerKind::Account,
        rating: None,
    });
    written.events = Match::initial_events(&written.creation.terms, seats, AT_MS);
    written
}

/// Returns the events from the first move to the end of a match. All events happen at the same
/// time, `after_ms` milliseconds after `AT_MS`.
pub(crate) fn rated_game_events(number: u128, end: &EventKind, after_ms: u64) -> Vec<Event> {
    const LINES: [[&str; 3]; 6] = [
        ["b2", "a1", "a2"],
        ["a1", "b2", "c3"],
        ["a1", "b2", "c1"],
        ["a2", "b2", "a1"],
        ["a2", "a1", "b2"],
        ["b2", "a2", "a1"],
    ];
    let line = LINES[usize::try_from(number % 6).expect("fits")];
    let remaining = RemainingTime::at_start(&CLOCK);
    let moves = line.iter().zip(Seat::ALL.iter().cycle());
    let moves = moves.map(|(m, seat)| EventKind::Moved {
        seat: *seat,
        m: (*m).to_owned(),
        spent_ms: Some(0),
        remaining: Some(remaining),
    });
    let mut kinds: Vec<EventKind> = moves.collect();
    kinds.push(end.clone());
    let at_ms = AT_MS + after_ms;
    kinds.into_iter().map(|kind| kind.at(at_ms)).collect()
}

pub(crate) fn end_event(winner: Option<Seat>, reason: EndReason) -> EventKind {
    EventKind::Ended {
        winner,
        reason,
        detail: None,
        by: None,
        remaining: Some(RemainingTime::at_start(&CLOCK)),
    }
}

/// Adds four accounts.
async fn add_accounts(store: &dyn Store) {
    for number in 1..=4 {
        let account = crate::PlayerRecord {
            kind: PlayerKind::Account,
            ..player(number)
        };
        let added = store.add_player(account, vec![]).await;
        added.expect("written");
    }
}

/// Creates a rated match and ends it `after_ms` milliseconds after `AT_MS`.
async fn write_rated_match(
    store: &dyn Store,
    number: u128,
    seats: [u8; 2],
    end: &EventKind,
    after_ms: u64,
) {
    write_delayed_rated_match(store, (number, 0), seats, end, after_ms).await;
}

/// Creates and ends a rated match with a spectator delay of `delay_ms` milliseconds.
async fn write_delayed_rated_match(
    store: &dyn Store,
    (number, delay_ms): (u128, u64),
    seats: [u8; 2],
    end: &EventKind,
    after_ms: u64,
) {
    let mut written = rated_record(number, seats);
    written.creation.terms.spectator_delay_ms = delay_ms;
    let id = written.creation.id;
    let position = store.create(OWNER_NODE, written).await.expect("written");
    let events = rated_game_events(number, end, after_ms);
    store.append(id, position, events).await.expect("written");
}

/// Creates and ends `games` rated matches between players 1, 2 and 3, with varying results.
async fn write_season(store: &dyn Store, from: u128, games: u128) {
    for number in from..from + games {
        let seats = [[1, 2], [2, 3], [3, 1]][usize::try_from(number % 3).expect("fits")];
        let winner = [
            Some(Seat::First),
            Some(Seat::Second),
            None,
            Some(Seat::First),
        ];
        let end = end_event(
            winner[usize::try_from(number % 4).expect("fits")],
            EndReason::Agreement,
        );
        let end = match end {
            EventKind::Ended { winner: None, .. } => end,
            EventKind::Ended { winner, .. } => end_event(winner, EndReason::Resignation),
            _ => unreachable!("not an end event"),
        };
        let hours = u64::try_from(number).expect("fits");
        write_rated_match(store, number, seats, &end, hours * 3_600_000).await;
    }
}

/// Runs rating steps until no work is left. Returns the number of matches that were posted.
async fn post_ratings(store: &dyn Store) -> usize {
    post_ratings_at(store, 0).await
}

/// Runs rating steps until no work is left, with `now_ms` as the current time. Returns the number
/// of matches that were posted.
async fn post_ratings_at(store: &dyn Store, now_ms: u64) -> usize {
    let mut posted = 0;
    loop {
        match run_rating_step(store, now_ms).await.expect("succeeds") {
            RatingStep::Idle(_) => return posted,
            RatingStep::Posted(rows) => {
                let games = rows
                    .iter()
                    .filter(|(row, _)| matches!(row, LedgerRow::Game(_)));
                posted += games.count();
            }
            RatingStep::MoreWork => {}
        }
    }
}

/// Returns the ratings of players 1 to 3 as exact bits. Each entry also contains the player number,
/// the game, the game count and the length of the rating series.
async fn rating_bits(store: &dyn Store) -> Vec<(u8, String, u64, [u64; 3], usize)> {
    let mut all = Vec::new();
    for number in 1..=3 {
        for rating in store.ratings(player(number).id).await.expect("readable") {
            let single = store.rating(RatingKey {
                player: player(number).id,
                game: rating.game.clone(),
                pool: rating.pool,
            });
            assert_eq!(single.await.expect("readable"), Some(rating.rated));
            let bits = rating.rated.rating.bits();
            all.push((
                number,
                rating.game,
                rating.rated.games,
                bits,
                rating.series.len(),
            ));
        }
    }
    all
}

async fn rating_differences(store: &dyn Store) -> Vec<RatingMismatch> {
    let mut found = Vec::new();
    let verified = verify_ratings(store, &mut |difference| found.push(difference)).await;
    verified.expect("readable");
    found
}

/// An unrated match gets no ledger number.
pub(crate) async fn ended_rated_match_is_numbered(store: &dyn Store) {
    add_accounts(store).await;
    let resigned = end_event(Some(Seat::Second), EndReason::Resignation);
    write_rated_match(store, 50, [1, 2], &resigned, 5).await;
    let casual = match_record(51, &player(1));
    let id = casual.creation.id;
    let position = store.create(OWNER_NODE, casual).await.expect("written");
    let aborted = EventKind::untimed_end(None, EndReason::Aborted).at(AT_MS);
    let ended = store.append(id, position, vec![aborted]).await;
    ended.expect("written");
    write_rated_match(store, 52, [2, 1], &end_event(None, EndReason::Aborted), 7).await;

    let rows = store.ledger(0, 9).await.expect("readable");
    let games = rows.iter().map(|(no, row)| match row {
        LedgerRow::Game(game) => (
            *no,
            game.match_id.0.as_u128(),
            game.at_ms - AT_MS,
            game.changes_ratings,
        ),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        games.collect::<Vec<_>>(),
        [(1, 50, 5, true), (2, 52, 7, false)]
    );
    assert_eq!(store.ledger(1, 9).await.expect("readable"), rows[1..]);
    assert_eq!(store.ledger(0, 1).await.expect("readable"), rows[..1]);
    let state = store.rating_progress().await.expect("readable");
    assert_eq!((state.last_row, state.live.cursor), (2, 0));
}

/// Other matches are rated without waiting for a delayed match.
pub(crate) async fn delayed_match_is_numbered_after_its_delay(store: &dyn Store) {
    add_accounts(store).await;
    let resigned = end_event(Some(Seat::Second), EndReason::Resignation);
    write_delayed_rated_match(store, (50, 9000), [1, 2], &resigned, 0).await;
    write_delayed_rated_match(store, (51, 2000), [1, 3], &resigned, 1000).await;
    write_rated_match(store, 52, [3, 2], &resigned, 2000).await;
    let state = async || store.rating_progress().await.expect("readable");
    let due_ms = AT_MS + 3000;
    assert_eq!(
        (state().await.last_row, state().await.next_numbering_ms),
        (1, Some(due_ms))
    );
    assert_eq!(post_ratings_at(store, due_ms - 1).await, 1);
    let ratings = store.ratings(player(1).id).await.expect("readable");
    assert_eq!(ratings, []);
    let first_match = MatchId(uuid::Uuid::from_u128(50));
    let changes = store.changes_of_match(first_match).await.expect("readable");
    assert_eq!(changes, None);

    assert_eq!(post_ratings_at(store, due_ms).await, 1);
    assert_eq!(post_ratings_at(store, AT_MS + 8999).await, 0);
    // A rebuild must include the delayed match that already has a ledger number.
    assert_eq!(rebuild_ratings(store).await.expect("succeeds"), 2);
    assert_eq!(state().await.next_numbering_ms, Some(AT_MS + 9000));
    assert_eq!(post_ratings_at(store, AT_MS + 60_000).await, 1);
    let rows = store.ledger(0, 9).await.expect("readable");
    let order = rows.iter().map(|(no, row)| match row {
        LedgerRow::Game(game) => (*no, game.match_id.0.as_u128()),
        other => panic!("{other:?}"),
    });
    assert_eq!(order.collect::<Vec<_>>(), [(1, 52), (2, 51), (3, 50)]);
    assert_eq!(state().await.next_numbering_ms, None);
    let changes = store.changes_of_match(first_match).await.expect("readable");
    assert_eq!(changes.map(|changes| changes.len()), Some(2));
    assert_eq!(post_ratings_at(store, AT_MS + 60_000).await, 0);
    assert_eq!(rating_differences(store).await, []);
}

pub(crate) async fn concurrent_posts_rate_each_match_once(store: &dyn Store) {
    add_accounts(store).await;
    write_season(store, 50, 12).await;
    let id = MatchId(uuid::Uuid::from_u128(50));
    let before = store.changes_of_match(id).await;
    assert_eq!(before.expect("readable"), None, "not rated yet");
    let live = store.rating_progress().await.expect("readable").live;
    let (one, other) = tokio::join!(post_ratings(store), post_ratings(store));
    assert_eq!(one + other, 12);
    let state = store.rating_progress().await.expect("readable");
    assert_eq!((state.live.cursor, state.building), (12, None));
    let ratings = rating_bits(store).await;
    assert_eq!(
        ratings.iter().map(|(.., games, _, _)| games).sum::<u64>(),
        24
    );
    assert_eq!(rating_differences(store).await, []);

    // If a post starts at an outdated cursor, the store must refuse the post.
    let rows = store.ledger(0, 3).await.expect("readable");
    let rating_state = store
        .load_ratings_for(live.id, NeededRatings::for_rows(&rows))
        .await;
    let stale_post = RatingPost {
        version: live.id,
        from_row: 0,
        to_row: 3,
        books: rating_state.expect("readable"),
        posted: Vec::new(),
    };
    let stale_post = store.change_ratings(RatingsChange::Post(Box::new(stale_post)));
    assert_eq!(stale_post.await, Ok(false));
    assert_eq!(post_ratings(store).await, 0);
    assert_eq!(rating_bits(store).await, ratings);

    let changes = store
        .changes_of_match(id)
        .await
        .expect("readable")
        .expect("rated");
    assert_eq!(changes.len(), 2);
    assert_eq!((changes[0].before, changes[1].before), (1500, 1500));
    assert!(changes[0].provisional);
    assert_eq!(changes[0].after - 1500, 1500 - changes[1].after);
    let posted = store.posted_updates(4, 7).await.expect("readable");
    assert!(posted.iter().all(|(no, _)| (5..=7).contains(no)) && !posted.is_empty());
}

/// After a rebuild, the data of the replaced rating version is deleted.
pub(crate) async fn rebuild_gives_identical_ratings(store: &dyn Store) {
    add_accounts(store).await;
    write_season(store, 50, 20).await;
    post_ratings(store).await;
    write_season(store, 70, 7).await;
    post_ratings(store).await;
    let before = rating_bits(store).await;
    let posted = store.posted_updates(0, 99).await.expect("readable");
    assert_eq!(rebuild_ratings(store).await.expect("rebuild succeeds"), 27);
    assert_eq!(rating_bits(store).await, before);
    assert_eq!(store.posted_updates(0, 99).await.expect("readable"), posted);
    assert_eq!(rating_differences(store).await, []);
    post_ratings(store).await;
    assert!(
        !store
            .rating_progress()
            .await
            .expect("readable")
            .has_stale_version
    );
    assert_eq!(rating_bits(store).await, before);
    write_season(store, 80, 3).await;
    assert_eq!(post_ratings(store).await, 3);
}

/// If a player is excluded from the ratings, the player's earlier matches no longer count, but
/// later matches do.
pub(crate) async fn excluded_matches_do_not_count(store: &dyn Store) {
    add_accounts(store).await;
    write_season(store, 50, 12).await;
    post_ratings(store).await;
    let before = rating_bits(store).await;
    store
        .exclude_from_ratings(player(3).id)
        .await
        .expect("written");
    write_season(store, 70, 3).await;
    assert_eq!(post_ratings(store).await, 3);
    let after = rating_bits(store).await;
    assert_ne!(before, after);
    let third_player = after.iter().find(|(number, ..)| *number == 3);
    assert_eq!(
        third_player.map(|(.., games, _, _)| *games),
        Some(2),
        "later matches count"
    );
    assert_eq!(rating_differences(store).await, []);
    rebuild_ratings(store).await.expect("rebuild succeeds");
    assert_eq!(rating_bits(store).await, after);
}

/// A leaderboard omits players who have not played recently or whose rating is too uncertain.
pub(crate) async fn leaderboard_is_sorted_and_filtered(store: &dyn Store) {
    add_accounts(store).await;
    write_season(store, 50, 90).await;
    write_rated_match(
        store,
        200,
        [4, 1],
        &end_event(Some(Seat::First), EndReason::Resignation),
        400_000_000,
    )
    .await;
    post_ratings(store).await;
    let query = LeaderboardQuery {
        game: rated_record(1, [1, 2]).creation.game.info.id,
        pool: RatingPool::Live,
        now_ms: AT_MS + 10 * DAY_MS,
        after: 0,
        limit: 10,
    };
    let page = store.leaderboard(query).await.expect("readable");
    assert_eq!((page.total, page.rows.len()), (3, 3), "{page:?}");
    let ratings: Vec<f64> = page
        .rows
        .iter()
        .map(|(_, rated)| rated.rating.rating)
        .collect();
    assert!(
        ratings.is_sorted_by(|one, other| one >= other),
        "{ratings:?}"
    );
    assert_eq!(page.rows[0].0.kind, PlayerKind::Account);
    let second_page = LeaderboardQuery {
        after: 1,
        limit: 1,
        ..query
    };
    let second_page = store.leaderboard(second_page).await.expect("readable");
    assert_eq!(
        (second_page.total, &second_page.rows[..]),
        (3, &page.rows[1..2])
    );
    let later = LeaderboardQuery {
        now_ms: AT_MS + 60 * DAY_MS,
        ..query
    };
    assert_eq!(store.leaderboard(later).await.expect("readable").total, 0);
    let bots = LeaderboardQuery {
        pool: RatingPool::Bots,
        ..query
    };
    assert_eq!(store.leaderboard(bots).await.expect("readable").total, 0);
}

/// The rating series of a player contains the last rating of each day, for at most 100 days.
pub(crate) async fn rating_series_has_one_point_per_day(store: &dyn Store) {
    add_accounts(store).await;
    for number in 0..105_u64 {
        for half in 0..2 {
            let at_ms = number * DAY_MS + half;
            let number = u128::from(number * 2 + half);
            let winner = Seat::ALL[usize::from(number % 4 < 2)];
            let end = end_event(Some(winner), EndReason::Resignation);
            write_rated_match(store, 1000 + number, [1, 2], &end, at_ms).await;
        }
    }
    post_ratings(store).await;
    let ratings = store.ratings(player(1).id).await.expect("readable");
    let [rating] = &ratings[..] else {
        panic!("{ratings:?}")
    };
    assert_eq!(rating.series.len(), 100);
    let last_day = AT_MS / DAY_MS + 104;
    let days = rating.series.iter().map(|(day, _)| *day);
    assert!(days.eq(last_day - 99..=last_day));
    assert_eq!(
        rating.series[99].1.to_bits(),
        rating.rated.rating.rating.to_bits()
    );
    assert_eq!(rating.pool, RatingPool::Live);
}

pub(crate) async fn repeated_abandonment_bans_from_rated_matches(store: &dyn Store) {
    add_accounts(store).await;
    let abandoned = end_event(Some(Seat::Second), EndReason::Abandonment);
    for number in 50..53 {
        assert_eq!(
            store.rated_ban_until(player(1).id).await.expect("readable"),
            0
        );
        write_rated_match(store, number, [1, 2], &abandoned, 1000).await;
        post_ratings(store).await;
    }
    let until = store.rated_ban_until(player(1).id).await;
    assert_eq!(until.expect("readable"), AT_MS + 1000 + 600_000);
    assert_eq!(
        store.rated_ban_until(player(2).id).await.expect("readable"),
        0
    );
    let started = LedgerRow::ServerStarted {
        at_ms: AT_MS + 2000,
    };
    let numbered = store
        .change_ratings(RatingsChange::NumberRow(started))
        .await;
    assert_eq!(numbered, Ok(true));
    write_rated_match(store, 60, [1, 2], &abandoned, 3000).await;
    post_ratings(store).await;
    let unchanged = store.rated_ban_until(player(1).id).await;
    assert_eq!(
        unchanged.expect("readable"),
        AT_MS + 601_000,
        "no abandonment is counted after a server start"
    );
}

/// The state contains more players than the other tests use, and `needed` also contains a player
/// without data.
pub(crate) async fn posted_rating_state_is_loaded(store: &dyn Store) {
    let version = store.rating_progress().await.expect("readable").live.id;
    let mut needed = NeededRatings::default();
    for number in 1..=100 {
        let player = player(number).id;
        needed.records.push(RatingKey {
            player,
            game: "test".to_owned(),
            pool: RatingPool::Live,
        });
        needed.pairs.push([player, player]);
        needed.players.push(player);
    }
    let entry = |games: u8| RatingEntry {
        rating: Rating::fixed(f64::from(games)),
        games: games.into(),
        last_ms: AT_MS,
    };
    let ratings = needed.records[1..].iter().cloned();
    let pairs = needed.pairs[1..].iter().copied();
    let players = needed.players[1..].iter().copied();
    let state = RatingState {
        last_ms: AT_MS,
        started_ms: AT_MS - 1,
        ratings: ratings.zip((1..).map(entry)).collect(),
        pair_histories: pairs.map(|pair| (pair, PairHistory::default())).collect(),
        abort_penalties: players
            .map(|player| (player, AbortPenalties::default()))
            .collect(),
    };
    let post = RatingPost {
        version,
        from_row: 0,
        to_row: 0,
        books: state.clone(),
        posted: Vec::new(),
    };
    let posted = store.change_ratings(RatingsChange::Post(Box::new(post)));
    assert_eq!(posted.await, Ok(true));
    let loaded = store.load_ratings_for(version, needed).await;
    assert_eq!(loaded.expect("readable"), state);
}

pub(crate) async fn copied_ledger_rows_keep_their_numbers(store: &dyn Store) {
    add_accounts(store).await;
    write_season(store, 50, 6).await;
    post_ratings(store).await;
    let before = rating_bits(store).await;
    let rows = store.ledger(0, 99).await.expect("readable");
    let change = async |change| store.change_ratings(change).await.expect("written");
    assert!(change(RatingsChange::Reset).await);
    assert_eq!(store.ledger(0, 9).await.expect("readable"), []);
    assert_eq!(rating_bits(store).await, []);
    assert!(
        !change(RatingsChange::CopyRows(rows[1..].to_vec())).await,
        "rows have a gap"
    );
    assert!(change(RatingsChange::CopyRows(rows[..4].to_vec())).await);
    assert!(change(RatingsChange::CopyRows(rows[4..].to_vec())).await);
    assert!(
        !change(RatingsChange::CopyRows(rows[4..].to_vec())).await,
        "rows already exist"
    );
    assert_eq!(store.ledger(0, 99).await.expect("readable"), rows);
    assert_eq!(post_ratings(store).await, 6);
    assert_eq!(rating_bits(store).await, before);
    assert_eq!(Rating::INITIAL.rounded(), 1500);
}
