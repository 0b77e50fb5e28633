//! Who looks for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::{join, join_all};
use plyhouse_protocol::MatchCode;

use super::*;
use crate::directory::{LEASE, Make, Paired, RatingRange, WIDENS_MS, Waiting};
use crate::{NodeId, WriteError};

fn seeking(number: u128) -> PlayerId {
    PlayerId(Uuid::from_u128(number))
}

fn seek(number: u128, node: NodeId, key: &str) -> Waiting {
    Waiting {
        player: seeking(number),
        node,
        key: key.to_owned(),
        body: format!("{number} \u{2318}"),
        fit: RatingRange::default(),
        not: Vec::new(),
        again: false,
    }
}

/// Makes the match of a player and whoever is found, which has the number of both.
fn make(number: u128) -> Make {
    Box::new(move |other: &Waiting| between(number, other))
}

fn between(number: u128, other: &Waiting) -> Record {
    let mut made = record(1000 * number + other.player.0.as_u128(), &player(1));
    made.creation.host = seeking(number);
    made
}

async fn pair<D: Directory>(server: &D, seek: Waiting) -> Paired {
    let make = make(seek.player.0.as_u128());
    server.pair(seek, 100, make).await.expect("written")
}

/// With whom it was paired.
fn partner(paired: Paired) -> Option<u128> {
    match paired {
        Paired::With(pair) => Some(pair.0.player.0.as_u128()),
        Paired::Waits => None,
        Paired::Full | Paired::Over => panic!("there is room"),
    }
}

async fn waiting(server: &impl Directory, node: NodeId) -> Vec<u128> {
    let mut waiting = server.waiting(node).await.expect("readable");
    waiting.sort_unstable();
    waiting.iter().map(|player| player.0.as_u128()).collect()
}

/// Both leases begin.
async fn begin(shared: &impl Shared) {
    for (server, node) in shared.servers().into_iter().zip([OWNER, OTHER]) {
        server.renew(node).await.expect("renewed");
    }
}

/// Forgets a player who is kept.
async fn forget(store: &impl Store, player: PlayerId) {
    let forget = crate::Forget {
        player,
        proved: None,
        kept_until_ms: 0,
    };
    assert_eq!(store.forget_player(forget).await, Ok(true));
}

/// Whoever was forgotten is paired with nobody, neither by a seek that waits nor by another.
pub(crate) async fn who_was_forgotten_is_not_paired(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    let record = crate::PlayerRecord {
        id: seeking(87),
        ..player(1)
    };
    first.add_player(record, vec![]).await.expect("written");
    assert_eq!(partner(pair(first, seek(87, OWNER, "x")).await), None);
    forget(second, seeking(87)).await;
    assert_eq!(waiting(first, OWNER).await, [] as [u128; 0]);
    let again = first.pair(seek(87, OWNER, "x"), 100, make(87)).await;
    assert_eq!(again.map(drop), Err(WriteError::Forgotten));
    assert_eq!(partner(pair(second, seek(88, OTHER, "x")).await), None);
    assert_eq!(partner(pair(first, seek(89, OWNER, "x")).await), Some(88));
}

/// Two of whom one blocks the other are not paired, whoever of them it is, and whoever comes second.
pub(crate) async fn who_is_blocked_is_not_paired(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    for number in 81..=86 {
        let added = first.add_player(
            crate::PlayerRecord {
                id: seeking(number),
                ..player(1)
            },
            vec![],
        );
        added.await.expect("written");
    }
    let blocked = first.block(seeking(81), seeking(82), Some(1)).await;
    assert_eq!(blocked, Ok(true));
    for (one, other, [third, fourth]) in [(81, 82, [83, 84]), (82, 81, [85, 86])] {
        assert_eq!(partner(pair(first, seek(one, OWNER, "x")).await), None);
        assert_eq!(partner(pair(second, seek(other, OTHER, "x")).await), None);
        let third = pair(second, seek(third, OTHER, "x")).await;
        assert_eq!(partner(third), Some(one));
        let fourth = pair(first, seek(fourth, OWNER, "x")).await;
        assert_eq!(partner(fourth), Some(other));
    }
}

/// Nor are those who are said not to be.
pub(crate) async fn who_is_not_to_be_paired_is_not(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    assert_eq!(partner(pair(first, seek(91, OWNER, "x")).await), None);
    let not = |number, others: &[u128]| Waiting {
        not: others.iter().map(|number| seeking(*number)).collect(),
        ..seek(number, OTHER, "x")
    };
    assert_eq!(partner(pair(second, not(92, &[90, 91])).await), None);
    assert_eq!(partner(pair(second, not(93, &[91])).await), Some(92));
    assert_eq!(partner(pair(second, not(94, &[])).await), Some(91));
}

/// Whoever has waited longest is paired first, and only with whoever wants what they want. The match is
/// there, and is of the server that has paired.
pub(crate) async fn the_oldest_seek_with_the_key_is_paired(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    for (server, node, number, key) in [
        (second, OTHER, 11, "b"),
        (first, OWNER, 12, "a"),
        (second, OTHER, 13, "c"),
    ] {
        assert_eq!(partner(pair(server, seek(number, node, key)).await), None);
    }
    // Two that want the same, which only a server's death leaves, are not needed to see an order: the
    // second of a key is paired at once, so the order shows across players who look again.
    let Paired::With(found) = pair(first, seek(20, OWNER, "b")).await else {
        panic!("somebody waits")
    };
    let (other, made) = *found;
    assert_eq!(other, seek(11, OTHER, "b"));
    assert_eq!(format!("{made:?}"), format!("{:?}", between(20, &other)));
    let kept = second.load(made.creation.id).await.expect("readable");
    let kept = kept.expect("there").record;
    assert_eq!(format!("{kept:?}"), format!("{made:?}"));
    let route = second.route(made.creation.id).await.expect("readable");
    assert_eq!(route.expect("there").owner, Some(OWNER));
    assert_eq!(waiting(first, OWNER).await, [12]);
    assert_eq!(waiting(first, OTHER).await, [13]);
    assert_eq!(partner(pair(first, seek(20, OWNER, "b")).await), None);
    assert_eq!(partner(pair(second, seek(21, OTHER, "a")).await), Some(12));
}

/// Who looks again does so in place of before, wherever that was, and is not paired with themselves.
pub(crate) async fn a_player_has_one_seek(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    for (server, node, key) in [
        (first, OWNER, "a"),
        (second, OTHER, "a"),
        (first, OWNER, "b"),
    ] {
        assert_eq!(partner(pair(server, seek(11, node, key)).await), None);
    }
    assert_eq!(waiting(second, OTHER).await, [0; 0]);
    assert_eq!(waiting(second, OWNER).await, [11]);
    assert_eq!(partner(pair(second, seek(12, OTHER, "a")).await), None);
    // Whoever is paired waits nowhere else any more.
    assert_eq!(partner(pair(first, seek(11, OWNER, "a")).await), Some(12));
    for node in [OWNER, OTHER] {
        assert_eq!(waiting(first, node).await, [0; 0]);
    }
}

/// Whoever waits on a server that is gone is not paired; one that was only held up finds its seeks again.
pub(crate) async fn seeks_of_dead_servers_are_not_paired(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    for (number, node, key) in [(11, OWNER, "a"), (12, OWNER, "b"), (13, OTHER, "c")] {
        assert_eq!(partner(pair(first, seek(number, node, key)).await), None);
    }
    shared.pass(LEASE).await;
    second.renew(OTHER).await.expect("renewed");
    assert_eq!(partner(pair(second, seek(21, OTHER, "a")).await), None);
    // Of two that want the same, the one that has waited longer is found first.
    first.renew(OWNER).await.expect("renewed");
    assert_eq!(waiting(first, OWNER).await, [11, 12]);
    assert_eq!(partner(pair(second, seek(22, OTHER, "a")).await), Some(11));
    assert_eq!(partner(pair(second, seek(23, OTHER, "a")).await), Some(21));
    first.withdraw(OWNER).await.expect("withdrawn");
    assert_eq!(waiting(second, OWNER).await, [0; 0]);
    assert_eq!(partner(pair(second, seek(22, OTHER, "b")).await), None);
    assert_eq!(partner(pair(second, seek(23, OTHER, "c")).await), Some(13));
}

/// With too many who wait nobody else does, but is paired all the same; who looked before waits no longer.
pub(crate) async fn as_many_wait_as_are_allowed(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    let few = async |number: u128, key: &str| {
        let seek = seek(number, OWNER, key);
        let paired = first.pair(seek, 2, make(number)).await;
        paired.expect("written")
    };
    assert_eq!(partner(few(11, "a").await), None);
    assert_eq!(partner(pair(second, seek(12, OTHER, "b")).await), None);
    assert!(matches!(few(13, "c").await, Paired::Full));
    assert_eq!(waiting(first, OWNER).await, [11]);
    assert_eq!(
        partner(few(11, "d").await),
        None,
        "in place of the one before"
    );
    assert_eq!(partner(few(14, "b").await), Some(12));
    assert_eq!(partner(few(13, "c").await), None);
    assert_eq!(waiting(first, OWNER).await, [11, 13]);
}

/// A seek is ended once, by the server on which it was made.
pub(crate) async fn a_seek_is_ended_where_it_was_made(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    assert_eq!(partner(pair(first, seek(11, OWNER, "a")).await), None);
    assert_eq!(second.end_seek(seeking(11), OTHER).await, Ok(false));
    assert_eq!(second.end_seek(seeking(12), OWNER).await, Ok(false));
    assert_eq!(first.end_seek(seeking(11), OWNER).await, Ok(true));
    assert_eq!(first.end_seek(seeking(11), OWNER).await, Ok(false));
    assert_eq!(partner(pair(second, seek(12, OTHER, "a")).await), None);
}

/// A match that cannot be created as it was made is made again; if none can, nothing has happened.
pub(crate) async fn a_code_that_is_taken_is_made_again(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    created(first, 1).await;
    let taken = record(1, &player(1)).creation.code;
    assert_eq!(partner(pair(first, seek(11, OWNER, "a")).await), None);
    let never: Make = Box::new(move |other| {
        let mut made = between(12, other);
        made.creation.code = taken;
        made
    });
    let refused = second.pair(seek(12, OTHER, "a"), 100, never).await;
    assert_eq!(refused.expect_err("no code"), WriteError::Unavailable);
    assert_eq!(waiting(first, OWNER).await, [11]);
    let tries = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&tries);
    let later: Make = Box::new(move |other| {
        let mut made = between(12, other);
        let number = counted.fetch_add(1, Ordering::Relaxed);
        made.creation.id = MatchId(Uuid::from_u128(5000 + u128::from(number)));
        made.creation.code = match number {
            0 | 1 => taken,
            _ => MatchCode::from_number(99),
        };
        made
    });
    let Ok(Paired::With(found)) = second.pair(seek(12, OTHER, "a"), 100, later).await else {
        panic!("somebody waits")
    };
    assert_eq!(found.1.creation.id.0.as_u128(), 5002);
    assert_eq!(tries.load(Ordering::Relaxed), 3);
    for number in [5000, 5001] {
        let id = MatchId(Uuid::from_u128(number));
        assert!(second.load(id).await.expect("readable").is_none());
    }
}

/// Two who come at once, each on a server of their own, do not both wait.
pub(crate) async fn two_who_come_at_once_are_paired(shared: &impl Shared) {
    let [first, second] = shared.servers();
    for round in 0..50 {
        // On a busy machine all rounds take longer than a server is taken to live without a renewal.
        if round % 10 == 0 {
            begin(shared).await;
        }
        let key = format!("{round}");
        let number = 1000 + 2 * round;
        let pairs = join(
            pair(first, seek(number, OWNER, &key)),
            pair(second, seek(number + 1, OTHER, &key)),
        );
        let (one, other) = pairs.await;
        let found = [partner(one), partner(other)];
        let expected = [[Some(number + 1), None], [None, Some(number)]];
        assert!(expected.contains(&found), "{key}: {found:?}");
    }
}

/// Those are found who wait on servers that are there, who has waited longest first, and of some keys alone if that
/// is asked for.
pub(crate) async fn those_who_wait_are_found(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    let found = async |key_begin: Option<&str>, limit| {
        let found = first.seekers(key_begin.map(str::to_owned), limit).await;
        let found = found.expect("readable");
        (found.total, found.bodies)
    };
    let body = |number: u128| seek(number, OWNER, "").body;
    assert_eq!(found(None, 9).await, (0, vec![]));
    let waited = |number, node, key, waited_ms| Waiting {
        fit: RatingRange {
            waited_ms,
            ..RatingRange::default()
        },
        ..seek(number, node, key)
    };
    assert_eq!(
        partner(pair(first, waited(61, OWNER, "x a", 0)).await),
        None
    );
    assert_eq!(
        partner(pair(second, waited(62, OTHER, "x b", 60_000)).await),
        None
    );
    assert_eq!(
        partner(pair(first, waited(63, OWNER, "xy", 90_000)).await),
        None
    );
    assert_eq!(found(None, 9).await, (3, [63, 62, 61].map(body).to_vec()));
    assert_eq!(found(None, 1).await, (3, vec![body(63)]));
    assert_eq!(found(Some("x "), 9).await, (2, [62, 61].map(body).to_vec()));
    assert_eq!(found(Some("x_"), 9).await, (0, vec![]), "it is no pattern");
    assert_eq!(partner(pair(second, seek(64, OTHER, "xy")).await), Some(63));
    assert_eq!(found(None, 9).await, (2, [62, 61].map(body).to_vec()));
    shared.pass(LEASE).await;
    first.renew(OWNER).await.expect("renewed");
    assert_eq!(found(None, 9).await, (1, vec![body(61)]));
}

/// Hundreds look on two servers at once. Nobody is paired twice and nobody forgotten: two who want the
/// same do not both wait. Each pair has one match.
pub(crate) async fn everybody_is_paired_once(shared: &impl Shared) {
    const SEEKS: u128 = 250;
    const KEYS: u128 = 7;
    begin(shared).await;
    let key = |number: u128| format!("key {}", number % KEYS);
    let seeks = (0..2 * SEEKS).map(|number| {
        let index = usize::from(number % 2 == 1);
        let (server, node) = (shared.servers()[index], [OWNER, OTHER][index]);
        async move {
            let seek = seek(number, node, &key(number));
            let number_of_match = 1_000_000 + number;
            let make: Make = Box::new(move |other| {
                let mut made = between(number, other);
                made.creation.id = MatchId(Uuid::from_u128(number_of_match));
                made.creation.code = MatchCode::from_number(u64::try_from(number).expect("small"));
                made
            });
            let paired = server.pair(seek, 1000, make).await.expect("written");
            (number, partner(paired))
        }
    });
    let mut partners = BTreeMap::new();
    let (mut waits, mut pairs) = (BTreeSet::new(), 0);
    for (number, partner) in join_all(seeks).await {
        let Some(partner) = partner else {
            waits.insert(number);
            continue;
        };
        pairs += 1;
        assert_eq!(key(number), key(partner));
        for (one, other) in [(number, partner), (partner, number)] {
            let before = partners.insert(one, other);
            assert_eq!(before, None, "{one} is paired with {other}, too");
        }
        let id = MatchId(Uuid::from_u128(1_000_000 + number));
        let made = shared.servers()[0].load(id).await.expect("readable");
        let made = made.expect("there").record;
        assert_eq!(made.creation.host, seeking(number));
    }
    waits.retain(|number| !partners.contains_key(number));
    let mut in_store = waiting(shared.servers()[0], OWNER).await;
    in_store.extend(waiting(shared.servers()[0], OTHER).await);
    let in_store: BTreeSet<u128> = in_store.into_iter().collect();
    assert_eq!(in_store, waits);
    assert_eq!(partners.len() + waits.len(), 500);
    let keys: BTreeSet<String> = waits.iter().map(|number| key(*number)).collect();
    assert_eq!(keys.len(), waits.len(), "two wait for each other");
    let mut made = shared.servers()[0]
        .unowned(NodeId(Uuid::nil()))
        .await
        .expect("readable");
    assert_eq!(made.len(), 0, "both servers are there");
    for server in shared.servers() {
        for node in [OWNER, OTHER] {
            server.withdraw(node).await.expect("withdrawn");
        }
    }
    made.extend(shared.servers()[0].abandoned(1000).await.expect("readable"));
    assert_eq!(made.len(), pairs);
}

/// Who has said whom they want to play is paired with nobody else, until both have waited for long enough; and who
/// looks again is paired only while they still wait.
pub(crate) async fn who_is_too_weak_is_not_paired(shared: &impl Shared) {
    begin(shared).await;
    let [first, second] = shared.servers();
    let rated = |number, node, (rating, range), waited_ms| Waiting {
        fit: RatingRange {
            rating,
            range,
            waited_ms,
        },
        ..seek(number, node, "r")
    };
    let ann = rated(11, OWNER, (1500, Some([-100, 100])), 0);
    assert_eq!(partner(pair(first, ann.clone()).await), None);
    // Too strong for the first; and one for whom the first is too strong.
    let bob = rated(12, OTHER, (1610, None), 0);
    assert_eq!(partner(pair(second, bob).await), None);
    let choosy = rated(13, OTHER, (1450, Some([-10, 40])), 0);
    assert_eq!(partner(pair(second, choosy.clone()).await), None);
    let again = |seek: &Waiting, waited_ms| Waiting {
        again: true,
        fit: RatingRange {
            waited_ms,
            ..seek.fit
        },
        ..seek.clone()
    };
    let soon = again(&ann, WIDENS_MS - 1);
    assert_eq!(partner(pair(first, soon).await), None);
    let later = again(&ann, WIDENS_MS);
    assert_eq!(partner(pair(first, later.clone()).await), Some(12));
    let over = first.pair(later, 100, make(11)).await;
    assert!(matches!(over, Ok(Paired::Over)), "{over:?}");
    let weak = rated(14, OWNER, (1400, None), 0);
    assert_eq!(partner(pair(first, weak).await), None);
    let later = again(&choosy, WIDENS_MS);
    assert_eq!(partner(pair(second, later).await), Some(14));
}
