//! Accounts, and names that are one player's alone.

use plyhouse_protocol::{PlayerKind, SessionKind};

use super::{player, session, sessions};
use crate::{Account, Naming, OwnName, PasswordHash, PlayerRecord, SessionRecord, Store};

fn hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

/// The guest with this number takes a name.
fn registers(number: u8, name: &str, password: Option<&str>) -> Naming {
    Naming {
        player: PlayerRecord {
            name: name.to_uppercase(),
            kind: PlayerKind::Account,
            ..player(number)
        },
        likeness: name.to_owned(),
        password: password.map(hash),
        before: (PlayerKind::Guest, None),
        now_ms: 1000,
        kept_until_ms: 1000,
    }
}

/// The account with this number takes another name, having taken the one before then.
fn renames(number: u8, name: &str, before_ms: Option<u64>, now_ms: u64) -> Naming {
    Naming {
        before: (PlayerKind::Account, before_ms),
        now_ms,
        kept_until_ms: now_ms + 100,
        ..registers(number, name, None)
    }
}

async fn add(store: &dyn Store, number: u8) {
    let sessions = vec![session(number, number)];
    let added = store.add_player(player(number), sessions).await;
    added.expect("written");
}

/// The first player becomes an account that has had another name and has a password.
pub(in super::super) async fn names_a_player(store: &dyn Store) {
    for naming in [
        registers(1, "ann", Some("first")),
        renames(1, "anna", None, 2000),
    ] {
        assert_eq!(store.name_player(naming).await, Ok(true));
    }
}

/// A name is one player's alone, and stays so for a time when there is another.
pub(in super::super) async fn a_name_is_one_players_alone(store: &dyn Store) {
    add(store, 1).await;
    add(store, 2).await;
    let named = async |name: &str, now_ms| {
        let named = store.named(name.to_owned(), now_ms).await;
        named.expect("readable")
    };
    let take = async |naming: Naming| store.name_player(naming).await.expect("written");
    let [ann, bob] = [1, 2].map(|number| player(number).id);
    assert_eq!(named("ann", 1000).await, None);
    assert!(!take(renames(1, "ann", None, 1000)).await, "it is a guest");
    assert!(take(registers(1, "ann", None)).await);
    assert!(!take(registers(1, "anna", None)).await, "it is none");
    assert!(!take(registers(2, "ann", None)).await, "it is another's");
    assert!(!take(registers(3, "carl", None)).await, "it is nobody");
    assert_eq!(named("ann", 1000).await, Some((ann, true)));
    let (known, _) = store
        .session(session(1, 1).token)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!((&*known.name, known.kind), ("ANN", PlayerKind::Account));
    assert_eq!(
        store.player_by_id(ann).await.expect("readable"),
        Some(known)
    );

    assert!(take(registers(2, "bob", None)).await);
    assert!(!take(renames(2, "ann", None, 1000)).await);
    assert!(
        !take(renames(1, "anna", Some(7), 2000)).await,
        "it never did"
    );
    assert!(take(renames(1, "anna", None, 2000)).await);
    assert!(
        !take(renames(1, "annie", None, 2000)).await,
        "it has by now"
    );
    assert_eq!(named("anna", 2000).await, Some((ann, true)));
    assert_eq!(named("ann", 2099).await, Some((ann, false)));
    assert_eq!(named("ann", 2100).await, None);
    assert!(!take(renames(2, "ann", None, 2099)).await, "it is kept");
    assert!(take(renames(2, "ann", None, 2100)).await);
    assert_eq!(named("ann", 2100).await, Some((bob, true)));
    // One's own name of before may be taken again.
    assert!(take(renames(2, "bob", Some(2100), 2150)).await);
    let account = store.account(bob).await.expect("readable").expect("there");
    let own = |likeness: &str, until_ms| OwnName {
        likeness: likeness.to_owned(),
        until_ms,
    };
    assert_eq!(account.names, [own("ann", Some(2250)), own("bob", None)]);
    assert_eq!(account.renamed_ms, Some(2150));
}

/// A password ends all sessions but this one and those of programs.
pub(in super::super) async fn a_password_ends_other_sessions(store: &dyn Store) {
    add(store, 1).await;
    add(store, 4).await;
    let ann = player(1).id;
    let key = SessionRecord {
        kind: SessionKind::Key,
        recovered: true,
        ..session(3, 1)
    };
    for added in [session(2, 1), key.clone()] {
        store.add_session(added).await.expect("written");
    }
    let set = async |password| {
        let set = store.set_password(ann, hash(password), session(2, 1).id);
        set.await.expect("written")
    };
    let password = async || {
        let account = store.account(ann).await.expect("readable")?;
        Some(account.password)
    };
    assert!(!set("first").await, "it is a guest");
    assert_eq!(password().await, None);
    assert_eq!(sessions(store, 1).await, [1, 2, 3]);
    let named = store.name_player(registers(1, "ann", Some("first"))).await;
    assert_eq!(named, Ok(true));
    assert_eq!(password().await, Some(Some(hash("first"))));
    let renamed = store.name_player(renames(1, "anna", None, 2000)).await;
    assert_eq!(renamed, Ok(true));
    assert_eq!(password().await, Some(Some(hash("first"))), "it stays");
    assert!(set("second").await);
    assert_eq!(password().await, Some(Some(hash("second"))));
    assert_eq!(sessions(store, 1).await, [2, 3]);
    assert_eq!(sessions(store, 4).await, [4]);
    let found = store.session(key.token).await.expect("readable");
    assert_eq!(found.map(|(_, session)| session), Some(key));
}

/// Guests are called otherwise, and nobody else.
pub(in super::super) async fn a_guest_is_called_otherwise(store: &dyn Store) {
    add(store, 1).await;
    let ann = player(1).id;
    let call = async |name: &str| {
        let called = store.call_guest(ann, name.to_owned()).await;
        let known = store.player_by_id(ann).await.expect("readable");
        (called, known.expect("there").name)
    };
    assert_eq!(call("guest-1").await, (Ok(true), "guest-1".to_owned()));
    let named = store.name_player(registers(1, "ann", None)).await;
    assert_eq!(named, Ok(true));
    assert_eq!(call("guest-2").await, (Ok(false), "ANN".to_owned()));
}

/// What another store knew of an account is kept as it was.
pub(in super::super) async fn an_account_is_kept_as_it_was(store: &dyn Store) {
    let known = registers(1, "ann", None).player;
    let added = store.add_player(known.clone(), vec![]).await;
    added.expect("written");
    let own = |likeness: &str, until_ms| OwnName {
        likeness: likeness.to_owned(),
        until_ms,
    };
    let account = Account {
        password: Some(hash("first")),
        renamed_ms: Some(7),
        names: vec![
            own("Ann", Some(9)),
            own("ann", None),
            own("\u{e9}", Some(8)),
        ],
    };
    let kept = store.keep_account(known.id, account.clone()).await;
    kept.expect("written");
    let found = store.account(known.id).await.expect("readable");
    assert_eq!(found, Some(account));
    let found = store.player_by_id(known.id).await.expect("readable");
    assert_eq!(found, Some(known.clone()));
    let whose = store.named("ann".to_owned(), 1000).await;
    assert_eq!(whose.expect("readable"), Some((known.id, true)));
}
