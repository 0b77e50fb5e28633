//! Tests for account deletion, for accounts that an authenticating proxy identifies, and for
//! one-time tokens.

use std::ops::RangeInclusive;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{EventKind, Match, Occupant, SeatAtStart};
use plyhouse_protocol::PlayerKind;

use super::accounts::{api_key_with_new_bot, proof, register_and_rename_player, registration};
use super::{OWNER_NODE, RESIGNATION, match_record, player, session, session_numbers};
use crate::{
    Blocks, DELETED_PLAYER_NAME, EndedMatch, ExternalIdentity, HistoryQuery, IdentityChanges,
    MatchRecord, NameChange, OneTimeToken, PlayerDeletion, PlayerRecord, Store, TokenHash,
    WriteError,
};

async fn add_player_with_session(store: &dyn Store, number: u8) {
    let sessions = vec![session(number, number)];
    let added = store.add_player(player(number), sessions).await;
    added.expect("written");
}

/// Removes a player's name from all matches. Returns the number of calls to
/// `IdentityChanges::remove_names` that were needed.
async fn remove_names(store: &dyn Store, number: u8) -> u32 {
    let mut steps = 1;
    while store
        .remove_names(player(number).id)
        .await
        .expect("written")
    {
        steps += 1;
    }
    steps
}

/// Adds player 3, registers the name `carl` for this player, and deletes the player. The name
/// remains reserved.
pub(crate) async fn add_deleted_player(store: &dyn Store) {
    add_player_with_session(store, 3).await;
    assert_eq!(
        store.name_player(registration(3, "carl", None)).await,
        Ok(true)
    );
    let deletion = PlayerDeletion {
        player: player(3).id,
        proof: None,
        name_reserved_until_ms: u64::MAX >> 1,
    };
    assert_eq!(store.delete_player(deletion).await, Ok(true));
    remove_names(store, 3).await;
}

/// Numbers of the test matches between players 1 and 2. Matches with an even number have ended.
/// There are too many matches to process in a single step of name removal.
const MATCH_NUMBERS: RangeInclusive<u128> = 100..=310;

/// Deleting a player leaves only the player's id in the matches. The names of other players do not
/// change.
pub(crate) async fn deleted_player_leaves_no_personal_data(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    add_player_with_session(store, 2).await;
    register_and_rename_player(store).await;
    assert_eq!(
        store.add_api_key(api_key_with_new_bot(9, 5, "randy")).await,
        Ok(true)
    );
    let [ann, bob] = [1, 2].map(|number| player(number).id);
    store
        .store_recovery_key(ann, TokenHash([7; 32]))
        .await
        .expect("written");
    for (one, other) in [(ann, bob), (bob, ann)] {
        assert_eq!(store.change_block(one, other, Some(7)).await, Ok(true));
    }
    for number in MATCH_NUMBERS {
        write_two_player_match(store, number).await;
    }
    let deletion = |proved| PlayerDeletion {
        player: ann,
        proof: proved,
        name_reserved_until_ms: 9000,
    };
    let wrong = deletion(Some(proof(1, Some("second"))));
    let refused = store.delete_player(wrong).await;
    assert_eq!(refused, Ok(false), "proof has another password");
    let right = deletion(Some(proof(1, Some("first"))));
    assert_eq!(store.delete_player(right).await, Ok(true));
    assert_eq!(store.delete_player(deletion(None)).await, Ok(false));
    check_player_data_is_deleted(store).await;
    remove_names(store, 1).await;
    remove_names(store, 5).await;
    assert_eq!(store.account_deletions().await.expect("readable"), []);
    check_names_are_removed(store).await;
}

async fn delete_first_player(store: &dyn Store) {
    let deletion = PlayerDeletion {
        player: player(1).id,
        proof: None,
        name_reserved_until_ms: 9000,
    };
    assert_eq!(store.delete_player(deletion).await, Ok(true));
}

/// A deleted player cannot host a match, join it or be invited to it. If a stand-in replaces a
/// deleted player, the events do not contain the player's name.
pub(crate) async fn deleted_player_cannot_enter_a_match(store: &dyn Store) {
    for number in [1, 2, 3] {
        add_player_with_session(store, number).await;
    }
    let [ann, bob] = [1, 2].map(player);
    let open = match_record(90, &bob);
    let open_match = store.create(OWNER_NODE, open).await.expect("written");
    let substituted = match_record(91, &ann);
    let substituted = store
        .create(OWNER_NODE, substituted)
        .await
        .expect("written");
    delete_first_player(store).await;
    remove_names(store, 1).await;

    let refused = Err(WriteError::PlayerDeleted);
    assert_eq!(
        store.create(OWNER_NODE, match_record(92, &ann)).await,
        refused
    );
    let mut paired = match_record(93, &bob);
    paired.events.push(seat_event(Seat::Second, 1).at(1000));
    assert_eq!(store.create(OWNER_NODE, paired).await, refused);
    let mut invites = match_record(94, &bob);
    invites.creation.terms.invited = Some(ann.id);
    assert_eq!(store.create(OWNER_NODE, invites).await, refused);
    for number in 92..=94 {
        let id = match_record(number, &bob).creation.id;
        assert!(store.load(id).await.expect("readable").is_none());
    }
    let id = match_record(90, &bob).creation.id;
    let join_events = vec![
        seat_event(Seat::Second, 1).at(1000),
        EventKind::UNTIMED_START.at(1000),
    ];
    assert_eq!(store.append(id, open_match, join_events).await, refused);
    let join_events = vec![seat_event(Seat::Second, 3).at(1000)];
    let joined = store.append(id, open_match, join_events).await;
    joined.expect("the position is still valid for another player");

    let id = match_record(91, &ann).creation.id;
    let stand_in_event = EventKind::Seated {
        seat: Seat::First,
        occupant: Occupant::StandIn {
            level: Level::Easy,
            player: ann.id,
            name: ann.name.clone(),
            kind: PlayerKind::Guest,
            rating: None,
        },
    };
    let appended = store
        .append(id, substituted, vec![stand_in_event.at(1000)])
        .await;
    appended.expect("written");
    let read = store.load(id).await.expect("readable").expect("exists");
    let events = format!("{:?}", read.record.events);
    assert!(!events.contains(&ann.name), "{events}");
}

fn seat_event(seat: Seat, number: u8) -> EventKind {
    EventKind::Seated {
        seat,
        occupant: Occupant::Player {
            id: player(number).id,
            name: player(number).name,
            kind: PlayerKind::Guest,
            rating: None,
        },
    }
}

/// If a match ends after one of its players was deleted, the summary of the match does not contain
/// the name of that player, even if the server that ends the match still has it.
pub(crate) async fn match_that_ends_after_deletion_is_filed_without_name(store: &dyn Store) {
    for number in [1, 2] {
        add_player_with_session(store, number).await;
    }
    let written = two_player_match(90);
    let state = Match::replay(written.creation.clone(), &written.events).expect("valid events");
    let position = store.create(OWNER_NODE, written).await.expect("written");
    delete_first_player(store).await;

    let ended = EndedMatch::after(&state, &[RESIGNATION]).expect("it ends");
    let ended = store.append_end(state.id(), position, vec![RESIGNATION], Box::new(ended));
    ended.await.expect("written");
    remove_names(store, 1).await;
    let query = HistoryQuery::for_player(player(2).id, 9);
    let matches = store.history(query).await.expect("readable");
    let [ended] = &matches.expect("exists")[..] else {
        panic!("there is one match");
    };
    let name = |seat: Seat| match &ended.summary.seats[seat.index()] {
        SeatAtStart::Player { name, .. } => name.clone(),
        SeatAtStart::Bot { .. } => panic!("{seat:?} is a player"),
    };
    let names = Seat::ALL.map(name);
    assert_eq!(names, [DELETED_PLAYER_NAME.to_owned(), player(2).name]);
}

/// Returns a running match between players 1 and 2.
fn two_player_match(number: u128) -> MatchRecord {
    let mut record = match_record(number, &player(2));
    record.events = vec![
        seat_event(Seat::First, 1).at(1000),
        seat_event(Seat::Second, 2).at(1000),
        EventKind::UNTIMED_START.at(1000),
    ];
    record
}

/// Creates a match between players 1 and 2, and ends it if its number is even.
async fn write_two_player_match(store: &dyn Store, number: u128) {
    let written = two_player_match(number);
    let id = written.creation.id;
    let position = store.create(OWNER_NODE, written).await.expect("written");
    if number.is_multiple_of(2) {
        let ended = store.append(id, position, vec![RESIGNATION]).await;
        ended.expect("written");
    }
}

/// Checks that the data of player 1 is deleted, and also the data of player 5, who is the bot
/// account of player 1. The names of both players must remain reserved.
async fn check_player_data_is_deleted(store: &dyn Store) {
    for number in [1, 5] {
        let stored = store.player_by_id(player(number).id).await;
        assert_eq!(stored.expect("readable"), None);
        assert_eq!(session_numbers(store, number).await, [] as [u8; 0]);
    }
    let recovered = store.find_by_recovery_key(TokenHash([7; 32])).await;
    assert_eq!(recovered.expect("readable"), None);
    let account = store.account(player(1).id).await.expect("readable");
    let account = account.unwrap_or_default();
    assert_eq!((account.password, account.bots), (None, vec![]));
    for name in ["anna", "randy"] {
        let name_owner = async |now_ms| {
            let owner = store.find_by_name_skeleton(name.to_owned(), now_ms).await;
            owner.expect("readable").map(|(_, is_own)| is_own)
        };
        assert_eq!(
            (name_owner(8999).await, name_owner(9000).await),
            (Some(false), None)
        );
    }
    let blocks = store.blocks(player(2).id).await;
    assert_eq!(blocks.expect("readable"), Blocks::default());
}

/// Checks that no match contains the name of player 1, and that live matches can continue.
async fn check_names_are_removed(store: &dyn Store) {
    for number in MATCH_NUMBERS {
        let id = match_record(number, &player(2)).creation.id;
        let read = store.load(id).await.expect("readable").expect("exists");
        let events = format!("{:?}", read.record.events);
        assert!(!events.contains(&player(1).name), "{events}");
        assert!(events.contains(DELETED_PLAYER_NAME), "{events}");
        assert!(events.contains(&player(2).name), "{events}");
        if !number.is_multiple_of(2) {
            let ended = store.append(id, read.position, vec![RESIGNATION]).await;
            ended.expect("written");
        }
    }
    let found = store
        .history(HistoryQuery::for_player(player(2).id, 300))
        .await;
    let found = found.expect("readable").expect("matches");
    assert_eq!(found.len(), MATCH_NUMBERS.count());
    for past_match in found {
        let name = |seat: usize| match &past_match.summary.seats[seat] {
            SeatAtStart::Player { name, .. } => name.clone(),
            SeatAtStart::Bot { .. } => String::new(),
        };
        assert_eq!(
            (name(0), name(1)),
            (DELETED_PLAYER_NAME.to_owned(), player(2).name)
        );
    }
}

pub(crate) async fn external_identity_has_one_account(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    register_and_rename_player(store).await;
    let account = |number: u8| PlayerRecord {
        kind: PlayerKind::Account,
        ..player(number)
    };
    let new = |number, external: &str, skeleton: &str| ExternalIdentity {
        external_name: external.to_owned(),
        player: account(number),
        skeletons: vec![skeleton.to_owned()],
        now_ms: 2050,
    };
    let add_external = async |new| store.add_external_identity(new).await.expect("written");
    let external = async |name: &str| {
        store
            .find_external_identity(name.to_owned())
            .await
            .expect("readable")
    };
    assert_eq!(external("anna").await, None, "not an external name");
    assert!(
        !add_external(new(2, "ann@x", "anna")).await,
        "name is taken"
    );
    assert!(
        !add_external(new(2, "ann@x", "ann")).await,
        "name is reserved"
    );
    assert!(add_external(new(2, "ann@x", "ann-2")).await);
    assert!(
        !add_external(new(3, "ann@x", "ann-3")).await,
        "external name exists"
    );
    assert_eq!(external("ann@x").await, Some(account(2)));
    assert_eq!(external("ANN@x").await, None);
    let stored = store
        .account(player(2).id)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!(stored.external_name.as_deref(), Some("ann@x"));
    let deletion = PlayerDeletion {
        player: player(2).id,
        proof: None,
        name_reserved_until_ms: 9000,
    };
    assert_eq!(store.delete_player(deletion).await, Ok(true));
    assert_eq!(external("ann@x").await, None);
}

pub(crate) async fn one_time_token_is_used_once_before_it_expires(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    add_player_with_session(store, 2).await;
    let code = |number: u8| TokenHash([number; 32]);
    let token = |player| OneTimeToken {
        player,
        expires_ms: 2000,
    };
    let ann = player(1).id;
    let add_token = async |number, player, now_ms| {
        let added = store
            .add_one_time_token(code(number), token(player), now_ms, 2)
            .await;
        added.expect("written")
    };
    assert!(add_token(1, Some(ann), 1000).await);
    assert!(add_token(2, None, 1000).await);
    assert!(!add_token(3, None, 1999).await, "limit of two valid tokens");
    let find_token = async |number, now_ms| {
        let found = store.find_one_time_token(code(number), now_ms).await;
        found.expect("readable")
    };
    assert_eq!(find_token(1, 1999).await, Some(token(Some(ann))));
    assert_eq!(find_token(1, 2000).await, None);
    assert_eq!(find_token(3, 1000).await, None);
    let register = async |number: u8, name: &str, invite, now_ms| {
        let naming = NameChange {
            invite: Some(code(invite)),
            now_ms,
            ..registration(number, name, None)
        };
        store.name_player(naming).await.expect("written")
    };
    assert!(!register(1, "ann", 1, 1000).await, "not an invitation");
    assert!(!register(1, "ann", 3, 1000).await, "unknown token");
    assert!(!register(1, "ann", 2, 2000).await, "expired");
    assert!(register(1, "ann", 2, 1000).await);
    assert!(!register(2, "bob", 2, 1000).await, "already used");
    assert_eq!(store.take_one_time_token(code(1)).await, Ok(true));
    assert_eq!(store.take_one_time_token(code(1)).await, Ok(false));
    assert!(add_token(4, None, 1000).await);
    assert!(
        add_token(5, None, 2000).await,
        "expired tokens are not counted"
    );
}
