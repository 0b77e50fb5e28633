//! Tests for seeks and pairings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::{join, join_all};
use plyhouse_protocol::MatchCode;

use super::*;
use crate::port::cluster_directory::{
    LEASE_DURATION, MatchFactory, PairOutcome, RatingRange, SeekRecord, WIDENING_INTERVAL_MS,
};
use crate::{IdentityChanges, IdentityStore, JournalStore, NodeId, WriteError};

fn seeker_id(number: u128) -> PlayerId {
    PlayerId(Uuid::from_u128(number))
}

fn seek(number: u128, node: NodeId, key: &str) -> SeekRecord {
    SeekRecord {
        player: seeker_id(number),
        node,
        key: key.to_owned(),
        body: format!("{number} \u{2318}"),
        rating_range: RatingRange::default(),
        excluded: Vec::new(),
        is_retry: false,
    }
}

/// Returns a factory that creates the match between the player with this number and an opponent.
/// The match id is computed from the numbers of both players.
fn match_factory(number: u128) -> MatchFactory {
    Box::new(move |other: &SeekRecord| pair_record(number, other))
}

fn pair_record(number: u128, other: &SeekRecord) -> MatchRecord {
    let mut record = match_record(1000 * number + other.player.0.as_u128(), &player(1));
    record.creation.host = seeker_id(number);
    record
}

async fn pair_seek<D: ClusterDirectory>(server: &D, seek: SeekRecord) -> PairOutcome {
    let make_match = match_factory(seek.player.0.as_u128());
    server
        .pair_seek(seek, 100, make_match)
        .await
        .expect("written")
}

/// Returns the number of the opponent that the seek was paired with. Returns `None` if the seek is
/// still waiting.
fn opponent(paired: PairOutcome) -> Option<u128> {
    match paired {
        PairOutcome::Paired(pair) => Some(pair.0.player.0.as_u128()),
        PairOutcome::Waiting => None,
        PairOutcome::LimitReached | PairOutcome::SeekEnded => panic!("unexpected outcome"),
    }
}

async fn waiting_numbers(server: &impl ClusterDirectory, node: NodeId) -> Vec<u128> {
    let mut waiting = server.seekers_on_node(node).await.expect("readable");
    waiting.sort_unstable();
    waiting.iter().map(|player| player.0.as_u128()).collect()
}

/// Starts or renews the leases of both test servers.
async fn renew_leases(shared: &impl SharedStore) {
    for (server, node) in shared.servers().into_iter().zip([OWNER_NODE, OTHER_NODE]) {
        server.renew_lease(node).await.expect("renewed");
    }
}

async fn delete_player(store: &impl Store, player: PlayerId) {
    let deletion = crate::PlayerDeletion {
        player,
        proof: None,
        name_reserved_until_ms: 0,
    };
    assert_eq!(store.delete_player(deletion).await, Ok(true));
}

/// A deleted player must not be paired, whether the player's seek was already waiting or is new.
pub(crate) async fn deleted_player_is_not_paired(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    let record = crate::PlayerRecord {
        id: seeker_id(87),
        ..player(1)
    };
    first.add_player(record, vec![]).await.expect("written");
    assert_eq!(
        opponent(pair_seek(first, seek(87, OWNER_NODE, "x")).await),
        None
    );
    delete_player(second, seeker_id(87)).await;
    assert_eq!(waiting_numbers(first, OWNER_NODE).await, [] as [u128; 0]);
    let refused = first
        .pair_seek(seek(87, OWNER_NODE, "x"), 100, match_factory(87))
        .await;
    assert_eq!(refused.map(drop), Err(WriteError::PlayerDeleted));
    assert_eq!(
        opponent(pair_seek(second, seek(88, OTHER_NODE, "x")).await),
        None
    );
    assert_eq!(
        opponent(pair_seek(first, seek(89, OWNER_NODE, "x")).await),
        Some(88)
    );
}

/// Two players are not paired if either of them blocks the other. The order of their seeks does not
/// matter.
pub(crate) async fn blocked_players_are_not_paired(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    for number in 81..=86 {
        let added = first.add_player(
            crate::PlayerRecord {
                id: seeker_id(number),
                ..player(1)
            },
            vec![],
        );
        added.await.expect("written");
    }
    let blocked = first
        .change_block(seeker_id(81), seeker_id(82), Some(1))
        .await;
    assert_eq!(blocked, Ok(true));
    for (one, other, [third, fourth]) in [(81, 82, [83, 84]), (82, 81, [85, 86])] {
        assert_eq!(
            opponent(pair_seek(first, seek(one, OWNER_NODE, "x")).await),
            None
        );
        assert_eq!(
            opponent(pair_seek(second, seek(other, OTHER_NODE, "x")).await),
            None
        );
        let third = pair_seek(second, seek(third, OTHER_NODE, "x")).await;
        assert_eq!(opponent(third), Some(one));
        let fourth = pair_seek(first, seek(fourth, OWNER_NODE, "x")).await;
        assert_eq!(opponent(fourth), Some(other));
    }
}

pub(crate) async fn excluded_players_are_not_paired(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    assert_eq!(
        opponent(pair_seek(first, seek(91, OWNER_NODE, "x")).await),
        None
    );
    let excluding = |number, others: &[u128]| SeekRecord {
        excluded: others.iter().map(|number| seeker_id(*number)).collect(),
        ..seek(number, OTHER_NODE, "x")
    };
    assert_eq!(
        opponent(pair_seek(second, excluding(92, &[90, 91])).await),
        None
    );
    assert_eq!(
        opponent(pair_seek(second, excluding(93, &[91])).await),
        Some(92)
    );
    assert_eq!(
        opponent(pair_seek(second, excluding(94, &[])).await),
        Some(91)
    );
}

/// The match between the paired players is stored. The server that paired the players owns the
/// match.
pub(crate) async fn oldest_seek_with_same_key_is_paired(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    for (server, node, number, key) in [
        (second, OTHER_NODE, 11, "b"),
        (first, OWNER_NODE, 12, "a"),
        (second, OTHER_NODE, 13, "c"),
    ] {
        assert_eq!(
            opponent(pair_seek(server, seek(number, node, key)).await),
            None
        );
    }
    // The test has only one waiting seek per key, because a second seek with the same key would be
    // paired immediately. `seeks_of_expired_servers_are_not_paired` tests the pairing order of
    // several seeks with the same key.
    let PairOutcome::Paired(found) = pair_seek(first, seek(20, OWNER_NODE, "b")).await else {
        panic!("a seek is waiting")
    };
    let (other, record) = *found;
    assert_eq!(other, seek(11, OTHER_NODE, "b"));
    assert_eq!(
        format!("{record:?}"),
        format!("{:?}", pair_record(20, &other))
    );
    let stored = second.load(record.creation.id).await.expect("readable");
    let stored = stored.expect("exists").record;
    assert_eq!(format!("{stored:?}"), format!("{record:?}"));
    let route = second
        .find_route(record.creation.id)
        .await
        .expect("readable");
    assert_eq!(route.expect("exists").owner, Some(OWNER_NODE));
    assert_eq!(waiting_numbers(first, OWNER_NODE).await, [12]);
    assert_eq!(waiting_numbers(first, OTHER_NODE).await, [13]);
    assert_eq!(
        opponent(pair_seek(first, seek(20, OWNER_NODE, "b")).await),
        None
    );
    assert_eq!(
        opponent(pair_seek(second, seek(21, OTHER_NODE, "a")).await),
        Some(12)
    );
}

/// A new seek replaces the player's previous seek, even if the previous seek is on another server.
/// The two seeks of the player are not paired with each other.
pub(crate) async fn new_seek_replaces_previous_seek(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    for (server, node, key) in [
        (first, OWNER_NODE, "a"),
        (second, OTHER_NODE, "a"),
        (first, OWNER_NODE, "b"),
    ] {
        assert_eq!(opponent(pair_seek(server, seek(11, node, key)).await), None);
    }
    assert_eq!(waiting_numbers(second, OTHER_NODE).await, [0; 0]);
    assert_eq!(waiting_numbers(second, OWNER_NODE).await, [11]);
    assert_eq!(
        opponent(pair_seek(second, seek(12, OTHER_NODE, "a")).await),
        None
    );
    // A paired player has no waiting seek on any server.
    assert_eq!(
        opponent(pair_seek(first, seek(11, OWNER_NODE, "a")).await),
        Some(12)
    );
    for node in [OWNER_NODE, OTHER_NODE] {
        assert_eq!(waiting_numbers(first, node).await, [0; 0]);
    }
}

/// If a server renews its lease after the lease has expired, the seeks of the server must still be
/// waiting.
pub(crate) async fn seeks_of_expired_servers_are_not_paired(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    for (number, node, key) in [
        (11, OWNER_NODE, "a"),
        (12, OWNER_NODE, "b"),
        (13, OTHER_NODE, "c"),
    ] {
        assert_eq!(
            opponent(pair_seek(first, seek(number, node, key)).await),
            None
        );
    }
    shared.advance_time(LEASE_DURATION).await;
    second.renew_lease(OTHER_NODE).await.expect("renewed");
    assert_eq!(
        opponent(pair_seek(second, seek(21, OTHER_NODE, "a")).await),
        None
    );
    // Of two seeks with the same key, the seek with the longer wait is paired first.
    first.renew_lease(OWNER_NODE).await.expect("renewed");
    assert_eq!(waiting_numbers(first, OWNER_NODE).await, [11, 12]);
    assert_eq!(
        opponent(pair_seek(second, seek(22, OTHER_NODE, "a")).await),
        Some(11)
    );
    assert_eq!(
        opponent(pair_seek(second, seek(23, OTHER_NODE, "a")).await),
        Some(21)
    );
    first.withdraw_lease(OWNER_NODE).await.expect("withdrawn");
    assert_eq!(waiting_numbers(second, OWNER_NODE).await, [0; 0]);
    assert_eq!(
        opponent(pair_seek(second, seek(22, OTHER_NODE, "b")).await),
        None
    );
    assert_eq!(
        opponent(pair_seek(second, seek(23, OTHER_NODE, "c")).await),
        Some(13)
    );
}

/// A new seek of a waiting player replaces the previous seek even if the limit on waiting seeks is
/// reached.
pub(crate) async fn seek_above_limit_is_paired_but_does_not_wait(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    let pair_with_limit = async |number: u128, key: &str| {
        let seek = seek(number, OWNER_NODE, key);
        let paired = first.pair_seek(seek, 2, match_factory(number)).await;
        paired.expect("written")
    };
    assert_eq!(opponent(pair_with_limit(11, "a").await), None);
    assert_eq!(
        opponent(pair_seek(second, seek(12, OTHER_NODE, "b")).await),
        None
    );
    assert!(matches!(
        pair_with_limit(13, "c").await,
        PairOutcome::LimitReached
    ));
    assert_eq!(waiting_numbers(first, OWNER_NODE).await, [11]);
    assert_eq!(
        opponent(pair_with_limit(11, "d").await),
        None,
        "replaces the previous seek"
    );
    assert_eq!(opponent(pair_with_limit(14, "b").await), Some(12));
    assert_eq!(opponent(pair_with_limit(13, "c").await), None);
    assert_eq!(waiting_numbers(first, OWNER_NODE).await, [11, 13]);
}

pub(crate) async fn seek_is_ended_only_by_its_own_server(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    assert_eq!(
        opponent(pair_seek(first, seek(11, OWNER_NODE, "a")).await),
        None
    );
    assert_eq!(second.end_seek(seeker_id(11), OTHER_NODE).await, Ok(false));
    assert_eq!(second.end_seek(seeker_id(12), OWNER_NODE).await, Ok(false));
    assert_eq!(first.end_seek(seeker_id(11), OWNER_NODE).await, Ok(true));
    assert_eq!(first.end_seek(seeker_id(11), OWNER_NODE).await, Ok(false));
    assert_eq!(
        opponent(pair_seek(second, seek(12, OTHER_NODE, "a")).await),
        None
    );
}

/// If no attempt finds a free match code, the opponent's seek keeps waiting.
pub(crate) async fn pairing_retries_with_new_match_code(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    create_match(first, 1).await;
    let taken_code = match_record(1, &player(1)).creation.code;
    assert_eq!(
        opponent(pair_seek(first, seek(11, OWNER_NODE, "a")).await),
        None
    );
    let make_with_taken_code: MatchFactory = Box::new(move |other| {
        let mut record = pair_record(12, other);
        record.creation.code = taken_code;
        record
    });
    let refused = second
        .pair_seek(seek(12, OTHER_NODE, "a"), 100, make_with_taken_code)
        .await;
    assert_eq!(
        refused.expect_err("no code is available"),
        WriteError::Unavailable
    );
    assert_eq!(waiting_numbers(first, OWNER_NODE).await, [11]);
    let attempts = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&attempts);
    let make_with_free_code: MatchFactory = Box::new(move |other| {
        let mut record = pair_record(12, other);
        let number = counted.fetch_add(1, Ordering::Relaxed);
        record.creation.id = MatchId(Uuid::from_u128(5000 + u128::from(number)));
        record.creation.code = match number {
            0 | 1 => taken_code,
            _ => MatchCode::from_number(99),
        };
        record
    });
    let Ok(PairOutcome::Paired(found)) = second
        .pair_seek(seek(12, OTHER_NODE, "a"), 100, make_with_free_code)
        .await
    else {
        panic!("a seek is waiting")
    };
    assert_eq!(found.1.creation.id.0.as_u128(), 5002);
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
    for number in [5000, 5001] {
        let id = MatchId(Uuid::from_u128(number));
        assert!(second.load(id).await.expect("readable").is_none());
    }
}

pub(crate) async fn simultaneous_seeks_are_paired(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    for round in 0..50 {
        // On a busy machine, all rounds of this test together may take longer than a lease lasts.
        // The leases are therefore renewed every ten rounds.
        if round % 10 == 0 {
            renew_leases(shared).await;
        }
        let key = format!("{round}");
        let number = 1000 + 2 * round;
        let pairs = join(
            pair_seek(first, seek(number, OWNER_NODE, &key)),
            pair_seek(second, seek(number + 1, OTHER_NODE, &key)),
        );
        let (one, other) = pairs.await;
        let found = [opponent(one), opponent(other)];
        let expected = [[Some(number + 1), None], [None, Some(number)]];
        assert!(expected.contains(&found), "{key}: {found:?}");
    }
}

/// A seek is listed only if its server has a valid lease. If the query has a key prefix, only seeks
/// whose keys start with this prefix are listed.
pub(crate) async fn seekers_are_listed_longest_wait_first(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    let list_seekers = async |key_prefix: Option<&str>, limit| {
        let found = first
            .list_seekers(key_prefix.map(str::to_owned), limit)
            .await;
        let found = found.expect("readable");
        (found.total, found.bodies)
    };
    let body = |number: u128| seek(number, OWNER_NODE, "").body;
    assert_eq!(list_seekers(None, 9).await, (0, vec![]));
    let waiting_seek = |number, node, key, waited_ms| SeekRecord {
        rating_range: RatingRange {
            waited_ms,
            ..RatingRange::default()
        },
        ..seek(number, node, key)
    };
    assert_eq!(
        opponent(pair_seek(first, waiting_seek(61, OWNER_NODE, "x a", 0)).await),
        None
    );
    assert_eq!(
        opponent(pair_seek(second, waiting_seek(62, OTHER_NODE, "x b", 60_000)).await),
        None
    );
    assert_eq!(
        opponent(pair_seek(first, waiting_seek(63, OWNER_NODE, "xy", 90_000)).await),
        None
    );
    assert_eq!(
        list_seekers(None, 9).await,
        (3, [63, 62, 61].map(body).to_vec())
    );
    assert_eq!(list_seekers(None, 1).await, (3, vec![body(63)]));
    assert_eq!(
        list_seekers(Some("x "), 9).await,
        (2, [62, 61].map(body).to_vec())
    );
    assert_eq!(
        list_seekers(Some("x_"), 9).await,
        (0, vec![]),
        "the prefix is not a LIKE pattern"
    );
    assert_eq!(
        opponent(pair_seek(second, seek(64, OTHER_NODE, "xy")).await),
        Some(63)
    );
    assert_eq!(
        list_seekers(None, 9).await,
        (2, [62, 61].map(body).to_vec())
    );
    shared.advance_time(LEASE_DURATION).await;
    first.renew_lease(OWNER_NODE).await.expect("renewed");
    assert_eq!(list_seekers(None, 9).await, (1, vec![body(61)]));
}

/// No player is paired twice, each pair has one match, and no two seeks with the same key remain
/// waiting.
pub(crate) async fn concurrent_seeks_are_paired_once(shared: &impl SharedStore) {
    const SEEKS: u128 = 250;
    const KEYS: u128 = 7;
    renew_leases(shared).await;
    let key = |number: u128| format!("key {}", number % KEYS);
    let seeks = (0..2 * SEEKS).map(|number| {
        let index = usize::from(number % 2 == 1);
        let (server, node) = (shared.servers()[index], [OWNER_NODE, OTHER_NODE][index]);
        async move {
            let seek = seek(number, node, &key(number));
            let number_of_match = 1_000_000 + number;
            let make_match: MatchFactory = Box::new(move |other| {
                let mut record = pair_record(number, other);
                record.creation.id = MatchId(Uuid::from_u128(number_of_match));
                record.creation.code = MatchCode::from_number(u64::try_from(number).expect("fits"));
                record
            });
            let paired = server
                .pair_seek(seek, 1000, make_match)
                .await
                .expect("written");
            (number, opponent(paired))
        }
    });
    let mut partners = BTreeMap::new();
    let (mut waiting, mut pairs) = (BTreeSet::new(), 0);
    for (number, partner) in join_all(seeks).await {
        let Some(partner) = partner else {
            waiting.insert(number);
            continue;
        };
        pairs += 1;
        assert_eq!(key(number), key(partner));
        for (one, other) in [(number, partner), (partner, number)] {
            let previous = partners.insert(one, other);
            assert_eq!(previous, None, "{one} is paired twice, also with {other}");
        }
        let id = MatchId(Uuid::from_u128(1_000_000 + number));
        let loaded = shared.servers()[0].load(id).await.expect("readable");
        let record = loaded.expect("exists").record;
        assert_eq!(record.creation.host, seeker_id(number));
    }
    waiting.retain(|number| !partners.contains_key(number));
    let mut stored = waiting_numbers(shared.servers()[0], OWNER_NODE).await;
    stored.extend(waiting_numbers(shared.servers()[0], OTHER_NODE).await);
    let stored: BTreeSet<u128> = stored.into_iter().collect();
    assert_eq!(stored, waiting);
    assert_eq!(partners.len() + waiting.len(), 500);
    let keys: BTreeSet<String> = waiting.iter().map(|number| key(*number)).collect();
    assert_eq!(keys.len(), waiting.len(), "two wait for each other");
    let mut match_ids = shared.servers()[0]
        .unowned(NodeId(Uuid::nil()))
        .await
        .expect("readable");
    assert_eq!(match_ids.len(), 0, "both servers have leases");
    for server in shared.servers() {
        for node in [OWNER_NODE, OTHER_NODE] {
            server.withdraw_lease(node).await.expect("withdrawn");
        }
    }
    match_ids.extend(
        shared.servers()[0]
            .abandoned_matches(1000)
            .await
            .expect("readable"),
    );
    assert_eq!(match_ids.len(), pairs);
}

/// The accepted rating range of a seek widens while the seek waits. A server can retry pairing a
/// waiting seek, but not a seek that has already been paired.
pub(crate) async fn seeks_outside_rating_range_are_not_paired(shared: &impl SharedStore) {
    renew_leases(shared).await;
    let [first, second] = shared.servers();
    let rated_seek = |number, node, (rating, range), waited_ms| SeekRecord {
        rating_range: RatingRange {
            rating,
            initial_offsets: range,
            waited_ms,
        },
        ..seek(number, node, "r")
    };
    let ann = rated_seek(11, OWNER_NODE, (1500, Some([-100, 100])), 0);
    assert_eq!(opponent(pair_seek(first, ann.clone()).await), None);
    // Player 12 is too strong for player 11, and player 11 is too strong for player 13. The store
    // therefore pairs none of them yet.
    let bob = rated_seek(12, OTHER_NODE, (1610, None), 0);
    assert_eq!(opponent(pair_seek(second, bob).await), None);
    let choosy = rated_seek(13, OTHER_NODE, (1450, Some([-10, 40])), 0);
    assert_eq!(opponent(pair_seek(second, choosy.clone()).await), None);
    let retried = |seek: &SeekRecord, waited_ms| SeekRecord {
        is_retry: true,
        rating_range: RatingRange {
            waited_ms,
            ..seek.rating_range
        },
        ..seek.clone()
    };
    let early_retry = retried(&ann, WIDENING_INTERVAL_MS - 1);
    assert_eq!(opponent(pair_seek(first, early_retry).await), None);
    let late_retry = retried(&ann, WIDENING_INTERVAL_MS);
    assert_eq!(
        opponent(pair_seek(first, late_retry.clone()).await),
        Some(12)
    );
    let outcome = first.pair_seek(late_retry, 100, match_factory(11)).await;
    assert!(matches!(outcome, Ok(PairOutcome::SeekEnded)), "{outcome:?}");
    let weak = rated_seek(14, OWNER_NODE, (1400, None), 0);
    assert_eq!(opponent(pair_seek(first, weak).await), None);
    let late_retry = retried(&choosy, WIDENING_INTERVAL_MS);
    assert_eq!(opponent(pair_seek(second, late_retry).await), Some(14));
}
