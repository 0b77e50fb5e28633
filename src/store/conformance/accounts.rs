//! Tests for accounts and unique names.

use plyhouse_protocol::{PlayerKind, SessionKind};

use super::{player, session, session_numbers};
use crate::{
    Account, IdentityChanges, IdentityProof, NameChange, NewApiKey, NewBotAccount, PasswordHash,
    PlayerRecord, SessionRecord, SessionSelection, Store, UniqueName,
};

fn password_hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

/// Returns a list that contains only the name itself. The tests use this list as the name's
/// skeletons, so that stored skeletons are easy to check.
fn single_skeleton(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

/// Returns the request of a guest to register under the given name.
pub(crate) fn registration(number: u8, name: &str, password: Option<&str>) -> NameChange {
    NameChange {
        player: PlayerRecord {
            name: name.to_uppercase(),
            kind: PlayerKind::Account,
            ..player(number)
        },
        skeletons: single_skeleton(name),
        invite: None,
        password: password.map(password_hash),
        expected: (PlayerKind::Guest, None),
        now_ms: 1000,
        old_name_reserved_until_ms: 1000,
    }
}

/// Returns the request of an account to change its name. The store must refuse the request if the
/// previous name change was not at `before_ms`.
fn renaming(number: u8, name: &str, before_ms: Option<u64>, now_ms: u64) -> NameChange {
    NameChange {
        expected: (PlayerKind::Account, before_ms),
        now_ms,
        old_name_reserved_until_ms: now_ms + 100,
        ..registration(number, name, None)
    }
}

async fn add_player_with_session(store: &dyn Store, number: u8) {
    let sessions = vec![session(number, number)];
    let added = store.add_player(player(number), sessions).await;
    added.expect("written");
}

/// Registers player 1 with a password, and then renames the player.
pub(crate) async fn register_and_rename_player(store: &dyn Store) {
    for naming in [
        registration(1, "ann", Some("first")),
        renaming(1, "anna", None, 2000),
    ] {
        assert_eq!(store.name_player(naming).await, Ok(true));
    }
}

pub(crate) async fn name_is_unique_and_reserved_after_rename(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    add_player_with_session(store, 2).await;
    let owner_of_name = async |name: &str, now_ms| {
        let owner = store.find_by_name_skeleton(name.to_owned(), now_ms).await;
        owner.expect("readable")
    };
    let name_player = async |naming: NameChange| store.name_player(naming).await.expect("written");
    let [ann, bob] = [1, 2].map(|number| player(number).id);
    assert_eq!(owner_of_name("ann", 1000).await, None);
    assert!(
        !name_player(renaming(1, "ann", None, 1000)).await,
        "still a guest"
    );
    assert!(name_player(registration(1, "ann", None)).await);
    assert!(
        !name_player(registration(1, "anna", None)).await,
        "no longer a guest"
    );
    assert!(
        !name_player(registration(2, "ann", None)).await,
        "name is taken"
    );
    assert!(
        !name_player(registration(3, "carl", None)).await,
        "no such player"
    );
    assert_eq!(owner_of_name("ann", 1000).await, Some((ann, true)));
    let (stored, _) = store
        .find_session(session(1, 1).token)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!((&*stored.name, stored.kind), ("ANN", PlayerKind::Account));
    assert_eq!(
        store.player_by_id(ann).await.expect("readable"),
        Some(stored)
    );

    assert!(name_player(registration(2, "bob", None)).await);
    assert!(!name_player(renaming(2, "ann", None, 1000)).await);
    assert!(
        !name_player(renaming(1, "anna", Some(7), 2000)).await,
        "was never renamed"
    );
    assert!(name_player(renaming(1, "anna", None, 2000)).await);
    assert!(
        !name_player(renaming(1, "annie", None, 2000)).await,
        "was renamed in the meantime"
    );
    assert_eq!(owner_of_name("anna", 2000).await, Some((ann, true)));
    assert_eq!(owner_of_name("ann", 2099).await, Some((ann, false)));
    assert_eq!(owner_of_name("ann", 2100).await, None);
    assert!(
        !name_player(renaming(2, "ann", None, 2099)).await,
        "name is reserved"
    );
    assert!(name_player(renaming(2, "ann", None, 2100)).await);
    assert_eq!(owner_of_name("ann", 2100).await, Some((bob, true)));
    // A player must be able to take back a former name that is still reserved.
    assert!(name_player(renaming(2, "bob", Some(2100), 2150)).await);
    let account = store.account(bob).await.expect("readable").expect("exists");
    let own_name = |skeleton: &str, until_ms| UniqueName {
        skeleton: skeleton.to_owned(),
        reserved_until_ms: until_ms,
    };
    assert_eq!(
        account.unique_names,
        [own_name("ann", Some(2250)), own_name("bob", None)]
    );
    assert_eq!(account.renamed_ms, Some(2150));
}

pub(crate) async fn names_sharing_any_skeleton_conflict(store: &dyn Store) {
    for number in 1..=3 {
        add_player_with_session(store, number).await;
    }
    let name_player = async |naming: NameChange| store.name_player(naming).await.expect("written");
    let with_skeletons = |naming: NameChange, skeletons: &[&str]| NameChange {
        skeletons: skeletons
            .iter()
            .map(|skeleton| (*skeleton).to_owned())
            .collect(),
        ..naming
    };
    let ann = with_skeletons(registration(1, "ann", None), &["ann", " ann", ".Ann"]);
    assert!(name_player(ann).await);
    for taken in [["other", " ann", ".Other"], ["other", " other", ".Ann"]] {
        let naming = registration(2, "other", None);
        assert!(
            !name_player(with_skeletons(naming, &taken)).await,
            "{taken:?}"
        );
        let bot = api_key_with_new_bot(9, 9, "other");
        let new = bot.bot.map(|new| NewBotAccount {
            skeletons: taken.map(str::to_owned).to_vec(),
            ..new
        });
        let key = NewApiKey {
            bot: new,
            proof: proof(1, None),
            ..bot
        };
        assert!(!store.add_api_key(key).await.expect("written"), "{taken:?}");
    }
    let skeletons = ["other", " other", ".Other"];
    assert!(name_player(with_skeletons(registration(2, "other", None), &skeletons)).await);
    // A new name may share skeletons with the player's previous name. A skeleton that only the
    // previous name has remains reserved until the reservation expires.
    let anna = with_skeletons(renaming(1, "anna", None, 2000), &["anna", " ann", ".Anna"]);
    assert!(name_player(anna).await);
    let owner_of_name = async |skeleton: &str, now_ms| {
        let owner = store
            .find_by_name_skeleton(skeleton.to_owned(), now_ms)
            .await;
        owner.expect("readable").map(|(player, _)| player)
    };
    let owner = Some(player(1).id);
    assert_eq!(owner_of_name(".Ann", 2099).await, owner);
    assert_eq!(owner_of_name(".Ann", 2100).await, None);
    assert_eq!(owner_of_name(" ann", 2100).await, owner);
}

/// Checks a store that was upgraded from a version with only one skeleton per name. Before the
/// upgrade, player 1 registered `BEN`, and player 2 registered the same name with a Cyrillic first
/// letter.
pub(crate) async fn check_upgraded_name_skeletons(store: &dyn Store) {
    let names = ["BEN", "\u{412}EN"];
    for (number, skeleton, is_current) in [
        (1, crate::name_skeleton(names[0]), true),
        (2, crate::name_skeleton(names[1]), true),
        (1, " ben".to_owned(), true),
        (1, ".BEN".to_owned(), true),
    ] {
        let owner = store.find_by_name_skeleton(skeleton.clone(), 0).await;
        let expected = Some((player(number).id, is_current));
        assert_eq!(owner.expect("readable"), expected, "{skeleton}");
    }
    add_player_with_session(store, 3).await;
    let third = NameChange {
        skeletons: crate::name_skeletons("B\u{395}N"),
        ..registration(3, "third", None)
    };
    assert_eq!(store.name_player(third).await, Ok(false));
}

pub(crate) async fn set_password_ends_other_sessions_except_keys(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    add_player_with_session(store, 4).await;
    let ann = player(1).id;
    let key = SessionRecord {
        kind: SessionKind::Key,
        from_recovery_key: true,
        ..session(3, 1)
    };
    for added in [session(2, 1), key.clone()] {
        store.add_session(added).await.expect("written");
    }
    let set_by_session = async |session_number, old_password: Option<&str>, password| {
        let result = store.set_password(
            ann,
            password_hash(password),
            proof(session_number, old_password),
        );
        result.await.expect("written")
    };
    let set = async |old_password, password| set_by_session(2, old_password, password).await;
    let password = async || {
        let account = store.account(ann).await.expect("readable")?;
        Some(account.password)
    };
    assert!(!set(None, "first").await, "still a guest");
    assert_eq!(password().await, None);
    assert_eq!(session_numbers(store, 1).await, [1, 2, 3]);
    let registered = store
        .name_player(registration(1, "ann", Some("first")))
        .await;
    assert_eq!(registered, Ok(true));
    assert_eq!(password().await, Some(Some(password_hash("first"))));
    let renamed = store.name_player(renaming(1, "anna", None, 2000)).await;
    assert_eq!(renamed, Ok(true));
    assert_eq!(
        password().await,
        Some(Some(password_hash("first"))),
        "password is unchanged"
    );
    assert!(!set(None, "second").await, "a password is set");
    assert!(!set(Some("other"), "second").await, "password has changed");
    assert!(
        !set_by_session(4, Some("first"), "second").await,
        "session of another player"
    );
    assert_eq!(password().await, Some(Some(password_hash("first"))));
    assert!(set(Some("first"), "second").await);
    assert_eq!(password().await, Some(Some(password_hash("second"))));
    assert_eq!(session_numbers(store, 1).await, [2, 3]);
    assert_eq!(session_numbers(store, 4).await, [4]);
    let found = store.find_session(key.token).await.expect("readable");
    assert_eq!(found.map(|(_, session)| session), Some(key));
    assert!(
        !set_by_session(1, Some("second"), "third").await,
        "session has ended"
    );
}

/// Returns an identity proof of player 1 that contains the given session and password.
pub(crate) fn proof(session_number: u8, password: Option<&str>) -> IdentityProof {
    IdentityProof {
        session: session(session_number, 1).id,
        password: password.map(password_hash),
    }
}

pub(crate) async fn renew_recovery_requires_valid_proof(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    let ann = player(1).id;
    let registered = store
        .name_player(registration(1, "ann", Some("first")))
        .await;
    assert_eq!(registered, Ok(true));
    let [first, second] = [session(1, 1), session(2, 1)].map(|session| session.token);
    let renew = async |key, session_number, password| {
        let renewed = store.renew_recovery_key(ann, key, proof(session_number, password));
        renewed.await.expect("written")
    };
    assert!(renew(first, 1, Some("first")).await);
    assert!(!renew(second, 1, Some("second")).await);
    assert!(!renew(second, 2, Some("first")).await);
    let key_owner = async |key| store.find_by_recovery_key(key).await.expect("readable");
    assert_eq!(
        (key_owner(first).await, key_owner(second).await),
        (Some(ann), None)
    );
}

fn bot_record(number: u8) -> PlayerRecord {
    PlayerRecord {
        kind: PlayerKind::Bot,
        ..player(number)
    }
}

/// Returns a new API key that player 1 owns. The key authenticates as the player with the number
/// `player_number`.
fn api_key(number: u8, player_number: u8) -> NewApiKey {
    NewApiKey {
        session: SessionRecord {
            kind: SessionKind::Key,
            ..session(number, player_number)
        },
        owner: player(1).id,
        proof: proof(1, Some("first")),
        bot: None,
        keys_max: 4,
    }
}

/// Returns a new API key of player 1 for a new bot account.
pub(crate) fn api_key_with_new_bot(number: u8, player_number: u8, name: &str) -> NewApiKey {
    let new = NewBotAccount {
        player: bot_record(player_number),
        skeletons: single_skeleton(name),
        now_ms: 2050,
        bots_max: 2,
    };
    NewApiKey {
        bot: Some(new),
        ..api_key(number, player_number)
    }
}

/// Adds a bot account of player 1. Player 1 must be registered already.
pub(crate) async fn add_bot(store: &dyn Store) {
    assert_eq!(
        store
            .add_api_key(api_key_with_new_bot(99, 98, "randy"))
            .await,
        Ok(true)
    );
}

pub(crate) async fn owner_has_api_keys_and_bot_accounts(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    add_player_with_session(store, 4).await;
    register_and_rename_player(store).await;
    let ann = player(1).id;
    let add_key = async |key: NewApiKey| store.add_api_key(key).await.expect("written");
    assert!(add_key(api_key(2, 1)).await);
    for refused in [
        NewApiKey {
            proof: proof(1, None),
            ..api_key(3, 1)
        },
        NewApiKey {
            proof: proof(9, Some("first")),
            ..api_key(3, 1)
        },
        // The store must refuse these keys. They are for the account of another player, for an
        // account that does not exist, and for a new bot account whose name is taken.
        api_key(3, 4),
        api_key(3, 5),
        api_key_with_new_bot(3, 5, "anna"),
        // The name `ann` is reserved, so the store must refuse this key.
        api_key_with_new_bot(3, 5, "ann"),
    ] {
        assert!(!add_key(refused.clone()).await, "{refused:?}");
    }
    assert!(add_key(api_key_with_new_bot(3, 5, "randy")).await);
    assert!(
        !add_key(api_key_with_new_bot(4, 6, "randy")).await,
        "name is taken"
    );
    assert!(add_key(api_key_with_new_bot(5, 6, "rudi")).await);
    assert!(!add_key(api_key_with_new_bot(6, 7, "roy")).await, "limit");
    assert!(add_key(api_key(7, 5)).await);
    assert!(!add_key(api_key(8, 5)).await, "fifth key");
    let account = store.account(ann).await.expect("readable").expect("exists");
    assert_eq!(
        (account.owner, account.bots),
        (None, vec![bot_record(5), bot_record(6)])
    );
    let account = store.account(bot_record(5).id).await.expect("readable");
    let owner = account.expect("exists").owner;
    assert_eq!(owner, Some(ann));
    let name_owner = store.find_by_name_skeleton("randy".to_owned(), 9000).await;
    assert_eq!(
        name_owner.expect("readable"),
        Some((bot_record(5).id, true))
    );
    let found = store
        .find_session(session(7, 5).token)
        .await
        .expect("readable");
    assert_eq!(found.map(|(player, _)| player), Some(bot_record(5)));
    let missing = store.player_by_id(player(7).id).await.expect("readable");
    assert_eq!(missing, None);

    // A player can also end the sessions of the player's bot accounts.
    let end = async |player_number, selection| {
        let ended = store
            .end_sessions(player(player_number).id, selection)
            .await;
        ended.expect("written");
    };
    end(1, SessionSelection::One(session(7, 5).id)).await;
    assert_eq!(session_numbers(store, 5).await, [3]);
    end(5, SessionSelection::All).await;
    assert_eq!(session_numbers(store, 5).await, [] as [u8; 0]);
    assert_eq!(session_numbers(store, 6).await, [5]);
    end(1, SessionSelection::AllBut(session(1, 1).id)).await;
    assert_eq!(session_numbers(store, 6).await, [] as [u8; 0]);
    assert_eq!(session_numbers(store, 1).await, [1]);
}

pub(crate) async fn only_guests_are_renamed_by_rename_guest(store: &dyn Store) {
    add_player_with_session(store, 1).await;
    let ann = player(1).id;
    let rename = async |name: &str| {
        let renamed = store.rename_guest(ann, name.to_owned()).await;
        let stored = store.player_by_id(ann).await.expect("readable");
        (renamed, stored.expect("exists").name)
    };
    assert_eq!(rename("guest-1").await, (Ok(true), "guest-1".to_owned()));
    let registered = store.name_player(registration(1, "ann", None)).await;
    assert_eq!(registered, Ok(true));
    assert_eq!(rename("guest-2").await, (Ok(false), "ANN".to_owned()));
}

pub(crate) async fn imported_account_is_stored_unchanged(store: &dyn Store) {
    let player = registration(1, "ann", None).player;
    let added = store.add_player(player.clone(), vec![]).await;
    added.expect("written");
    let own_name = |skeleton: &str, until_ms| UniqueName {
        skeleton: skeleton.to_owned(),
        reserved_until_ms: until_ms,
    };
    let account = Account {
        password: Some(password_hash("first")),
        renamed_ms: Some(7),
        unique_names: vec![
            own_name("Ann", Some(9)),
            own_name("ann", None),
            own_name("\u{e9}", Some(8)),
        ],
        ..Account::default()
    };
    let stored = store.store_account(player.id, account.clone()).await;
    stored.expect("written");
    let found = store.account(player.id).await.expect("readable");
    assert_eq!(found, Some(account));
    let found = store.player_by_id(player.id).await.expect("readable");
    assert_eq!(found, Some(player.clone()));
    let name_owner = store.find_by_name_skeleton("ann".to_owned(), 1000).await;
    assert_eq!(name_owner.expect("readable"), Some((player.id, true)));

    let account = Account {
        owner: Some(player.id),
        ..Account::default()
    };
    let added = store.add_player(bot_record(2), vec![]).await;
    added.expect("written");
    let stored = store.store_account(bot_record(2).id, account.clone()).await;
    stored.expect("written");
    let found = store.account(bot_record(2).id).await.expect("readable");
    assert_eq!(found, Some(account));
    let owner = store.account(player.id).await.expect("readable");
    assert_eq!(owner.expect("exists").bots, [bot_record(2)]);
}
