//! How players are forgotten, and what the operator gives and asks for.

use std::ops::RangeInclusive;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{EventKind, Occupant, SeatAtStart};
use plyhouse_protocol::PlayerKind;

use super::accounts::{names_a_player, proved, registers, with_bot};
use super::{OWNER, RESIGNED, player, record, session, sessions};
use crate::{
    Blocks, ExternalIdentity, Forget, HistoryQuery, Naming, OneTimeToken, PlayerRecord, SOMEONE,
    Store, TokenHash, WriteError,
};

async fn add(store: &dyn Store, number: u8) {
    let sessions = vec![session(number, number)];
    let added = store.add_player(player(number), sessions).await;
    added.expect("written");
}

/// Has the names of a player taken out, in however many steps.
async fn take_out(store: &dyn Store, number: u8) -> u32 {
    let mut steps = 1;
    while store
        .forget_names(player(number).id)
        .await
        .expect("written")
    {
        steps += 1;
    }
    steps
}

/// There was a third player, who was forgotten and whose name is kept from others.
pub(in super::super) async fn forgets_a_player(store: &dyn Store) {
    add(store, 3).await;
    assert_eq!(
        store.name_player(registers(3, "carl", None)).await,
        Ok(true)
    );
    let forget = Forget {
        player: player(3).id,
        proved: None,
        kept_until_ms: u64::MAX >> 1,
    };
    assert_eq!(store.forget_player(forget).await, Ok(true));
    take_out(store, 3).await;
}

/// The matches of the first two players, of which every other one has ended: more than are looked through at once.
const MATCHES: RangeInclusive<u128> = 100..=310;

/// Nothing is left of a player but the id, and somebody else's names stay.
pub(in super::super) async fn a_player_is_forgotten(store: &dyn Store) {
    add(store, 1).await;
    add(store, 2).await;
    names_a_player(store).await;
    assert_eq!(store.add_key(with_bot(9, 5, "randy")).await, Ok(true));
    let [ann, bob] = [1, 2].map(|number| player(number).id);
    store
        .keep_recovery(ann, TokenHash([7; 32]))
        .await
        .expect("written");
    for (one, other) in [(ann, bob), (bob, ann)] {
        assert_eq!(store.block(one, other, Some(7)).await, Ok(true));
    }
    for number in MATCHES {
        play(store, number).await;
    }
    let forget = |proved| Forget {
        player: ann,
        proved,
        kept_until_ms: 9000,
    };
    let wrong = forget(Some(proved(1, Some("second"))));
    let refused = store.forget_player(wrong).await;
    assert_eq!(refused, Ok(false), "it is proved by another password");
    let right = forget(Some(proved(1, Some("first"))));
    assert_eq!(store.forget_player(right).await, Ok(true));
    assert_eq!(store.forget_player(forget(None)).await, Ok(false));
    nothing_is_kept(store).await;
    take_out(store, 1).await;
    take_out(store, 5).await;
    assert_eq!(store.account_deletions().await.expect("readable"), []);
    names_are_gone(store).await;
}

/// Forgets the first player.
async fn forget_ann(store: &dyn Store) {
    let forget = Forget {
        player: player(1).id,
        proved: None,
        kept_until_ms: 9000,
    };
    assert_eq!(store.forget_player(forget).await, Ok(true));
}

/// Whoever was forgotten hosts no match, sits down in none and is invited to none, and no bot stands in under
/// their name.
pub(in super::super) async fn who_was_forgotten_gets_no_part(store: &dyn Store) {
    for number in [1, 2, 3] {
        add(store, number).await;
    }
    let [ann, bob] = [1, 2].map(player);
    let open = record(90, &bob);
    let open = store.create(OWNER, open).await.expect("written");
    let stood_in = record(91, &ann);
    let stood_in = store.create(OWNER, stood_in).await.expect("written");
    forget_ann(store).await;
    take_out(store, 1).await;

    let refused = Err(WriteError::Forgotten);
    assert_eq!(store.create(OWNER, record(92, &ann)).await, refused);
    let mut paired = record(93, &bob);
    paired.events.push(seat(Seat::Second, 1).at(1000));
    assert_eq!(store.create(OWNER, paired).await, refused);
    let mut invites = record(94, &bob);
    invites.creation.terms.invited = Some(ann.id);
    assert_eq!(store.create(OWNER, invites).await, refused);
    for number in 92..=94 {
        let id = record(number, &bob).creation.id;
        assert!(store.load(id).await.expect("readable").is_none());
    }
    let id = record(90, &bob).creation.id;
    let joins = vec![seat(Seat::Second, 1).at(1000), EventKind::STARTED.at(1000)];
    assert_eq!(store.append(id, open, joins).await, refused);
    let joins = vec![seat(Seat::Second, 3).at(1000)];
    let joined = store.append(id, open, joins).await;
    joined.expect("the mark is good still, for another");

    let id = record(91, &ann).creation.id;
    let stands_in = EventKind::Seated {
        seat: Seat::First,
        occupant: Occupant::StandIn {
            level: Level::Easy,
            player: ann.id,
            name: ann.name.clone(),
            kind: PlayerKind::Guest,
            rating: None,
        },
    };
    let stood_in = store.append(id, stood_in, vec![stands_in.at(1000)]).await;
    stood_in.expect("written");
    let read = store.load(id).await.expect("readable").expect("there");
    let told = format!("{:?}", read.record.events);
    assert!(!told.contains(&ann.name), "{told}");
}

/// That this player sits down.
fn seat(at: Seat, number: u8) -> EventKind {
    EventKind::Seated {
        seat: at,
        occupant: Occupant::Player {
            id: player(number).id,
            name: player(number).name,
            kind: PlayerKind::Guest,
            rating: None,
        },
    }
}

/// Begins a match of the first two players, and ends it if its number is even.
async fn play(store: &dyn Store, number: u128) {
    let mut written = record(number, &player(2));
    written.events = vec![
        seat(Seat::First, 1).at(1000),
        seat(Seat::Second, 2).at(1000),
    ];
    written.events.push(EventKind::STARTED.at(1000));
    let id = written.creation.id;
    let mark = store.create(OWNER, written).await.expect("written");
    if number.is_multiple_of(2) {
        let ended = store.append(id, mark, vec![RESIGNED]).await;
        ended.expect("written");
    }
}

/// The first player and its bot, the fifth, are nobody any more, and their names are kept from others for a time.
async fn nothing_is_kept(store: &dyn Store) {
    for number in [1, 5] {
        let known = store.player_by_id(player(number).id).await;
        assert_eq!(known.expect("readable"), None);
        assert_eq!(sessions(store, number).await, [] as [u8; 0]);
    }
    let recovered = store.recovered(TokenHash([7; 32])).await;
    assert_eq!(recovered.expect("readable"), None);
    let account = store.account(player(1).id).await.expect("readable");
    let account = account.unwrap_or_default();
    assert_eq!((account.password, account.bots), (None, vec![]));
    for name in ["anna", "randy"] {
        let named = async |now_ms| {
            let named = store.named(name.to_owned(), now_ms).await;
            named.expect("readable").map(|(_, is_own)| is_own)
        };
        assert_eq!((named(8999).await, named(9000).await), (Some(false), None));
    }
    let blocks = store.blocks(player(2).id).await;
    assert_eq!(blocks.expect("readable"), Blocks::default());
}

/// No match tells the first player's name, and those that were going on go on.
async fn names_are_gone(store: &dyn Store) {
    for number in MATCHES {
        let id = record(number, &player(2)).creation.id;
        let read = store.load(id).await.expect("readable").expect("there");
        let told = format!("{:?}", read.record.events);
        assert!(!told.contains(&player(1).name), "{told}");
        assert!(told.contains(SOMEONE), "{told}");
        assert!(told.contains(&player(2).name), "{told}");
        if !number.is_multiple_of(2) {
            let ended = store.append(id, read.mark, vec![RESIGNED]).await;
            ended.expect("written");
        }
    }
    let found = store.history(HistoryQuery::of(player(2).id, 300)).await;
    let found = found.expect("readable").expect("matches");
    assert_eq!(found.len(), MATCHES.count());
    for past in found {
        let name = |seat: usize| match &past.archived.seats[seat] {
            SeatAtStart::Player { name, .. } => name.clone(),
            SeatAtStart::Bot { .. } => String::new(),
        };
        assert_eq!((name(0), name(1)), (SOMEONE.to_owned(), player(2).name));
    }
}

/// Whom a proxy names has an account, and one only.
pub(in super::super) async fn a_proxy_knows_its_people(store: &dyn Store) {
    add(store, 1).await;
    names_a_player(store).await;
    let account = |number: u8| PlayerRecord {
        kind: PlayerKind::Account,
        ..player(number)
    };
    let new = |number, external: &str, likeness: &str| ExternalIdentity {
        external: external.to_owned(),
        player: account(number),
        likenesses: vec![likeness.to_owned()],
        now_ms: 2050,
    };
    let add_external = async |new| store.add_external(new).await.expect("written");
    let external = async |name: &str| store.external(name.to_owned()).await.expect("readable");
    assert_eq!(external("anna").await, None, "it is no name");
    assert!(!add_external(new(2, "ann@x", "anna")).await, "it is taken");
    assert!(!add_external(new(2, "ann@x", "ann")).await, "it is kept");
    assert!(add_external(new(2, "ann@x", "ann-2")).await);
    assert!(!add_external(new(3, "ann@x", "ann-3")).await, "it is known");
    assert_eq!(external("ann@x").await, Some(account(2)));
    assert_eq!(external("ANN@x").await, None);
    let kept = store
        .account(player(2).id)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!(kept.external.as_deref(), Some("ann@x"));
    let forget = Forget {
        player: player(2).id,
        proved: None,
        kept_until_ms: 9000,
    };
    assert_eq!(store.forget_player(forget).await, Ok(true));
    assert_eq!(external("ann@x").await, None);
}

/// What the operator gives is good once, and not for ever.
pub(in super::super) async fn passes_are_taken_once(store: &dyn Store) {
    add(store, 1).await;
    add(store, 2).await;
    let code = |number: u8| TokenHash([number; 32]);
    let pass = |player| OneTimeToken {
        player,
        expires_ms: 2000,
    };
    let ann = player(1).id;
    let add_pass = async |number, player, now_ms| {
        let added = store.add_pass(code(number), pass(player), now_ms, 2).await;
        added.expect("written")
    };
    assert!(add_pass(1, Some(ann), 1000).await);
    assert!(add_pass(2, None, 1000).await);
    assert!(!add_pass(3, None, 1999).await, "two are good");
    let found = async |number, now_ms| {
        let found = store.pass(code(number), now_ms).await;
        found.expect("readable")
    };
    assert_eq!(found(1, 1999).await, Some(pass(Some(ann))));
    assert_eq!(found(1, 2000).await, None);
    assert_eq!(found(3, 1000).await, None);
    let register = async |number: u8, name: &str, invite, now_ms| {
        let naming = Naming {
            invite: Some(code(invite)),
            now_ms,
            ..registers(number, name, None)
        };
        store.name_player(naming).await.expect("written")
    };
    assert!(!register(1, "ann", 1, 1000).await, "it is no invitation");
    assert!(!register(1, "ann", 3, 1000).await, "it is none");
    assert!(!register(1, "ann", 2, 2000).await, "it is over");
    assert!(register(1, "ann", 2, 1000).await);
    assert!(!register(2, "bob", 2, 1000).await, "it is used up");
    assert_eq!(store.take_pass(code(1)).await, Ok(true));
    assert_eq!(store.take_pass(code(1)).await, Ok(false));
    assert!(add_pass(4, None, 1000).await);
    assert!(add_pass(5, None, 2000).await, "what is over makes room");
}
