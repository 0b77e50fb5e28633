//! Accounts, and names that are one player's alone.

use plyhouse_protocol::{PlayerKind, SessionKind};

use super::{player, session, sessions};
use crate::{
    Account, Naming, NewBot, NewKey, OwnName, PasswordHash, PlayerRecord, Proved, SessionRecord,
    Sessions, Store,
};

fn hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

/// That of a name alone, so that what is kept is easily told.
fn likenesses(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

/// The guest with this number takes a name.
pub(super) fn registers(number: u8, name: &str, password: Option<&str>) -> Naming {
    Naming {
        player: PlayerRecord {
            name: name.to_uppercase(),
            kind: PlayerKind::Account,
            ..player(number)
        },
        likenesses: likenesses(name),
        invite: None,
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

/// Names are alike that have anything in common, and all of it is the player's.
pub(in super::super) async fn names_have_more_than_one_likeness(store: &dyn Store) {
    for number in 1..=3 {
        add(store, number).await;
    }
    let take = async |naming: Naming| store.name_player(naming).await.expect("written");
    let alike = |naming: Naming, likenesses: &[&str]| Naming {
        likenesses: likenesses.iter().map(|like| (*like).to_owned()).collect(),
        ..naming
    };
    let ann = alike(registers(1, "ann", None), &["ann", " ann", ".Ann"]);
    assert!(take(ann).await);
    for taken in [["other", " ann", ".Other"], ["other", " other", ".Ann"]] {
        let naming = registers(2, "other", None);
        assert!(!take(alike(naming, &taken)).await, "{taken:?}");
        let bot = with_bot(9, 9, "other");
        let new = bot.bot.map(|new| NewBot {
            likenesses: taken.map(str::to_owned).to_vec(),
            ..new
        });
        let key = NewKey {
            bot: new,
            proved: proved(1, None),
            ..bot
        };
        assert!(!store.add_key(key).await.expect("written"), "{taken:?}");
    }
    let likenesses = ["other", " other", ".Other"];
    assert!(take(alike(registers(2, "other", None), &likenesses)).await);
    // One's own are in nobody's way; those of the name before are kept for a time.
    let anna = alike(renames(1, "anna", None, 2000), &["anna", " ann", ".Anna"]);
    assert!(take(anna).await);
    let named = async |likeness: &str, now_ms| {
        let named = store.named(likeness.to_owned(), now_ms).await;
        named.expect("readable").map(|(whose, _)| whose)
    };
    let whose = Some(player(1).id);
    assert_eq!(named(".Ann", 2099).await, whose);
    assert_eq!(named(".Ann", 2100).await, None);
    assert_eq!(named(" ann", 2100).await, whose);
}

/// What stands in a store in which `BEN` and a name that looks like it had been taken, by their likeness alone.
pub(in super::super) async fn names_are_looked_at_as_they_are_written(store: &dyn Store) {
    let names = ["BEN", "\u{412}EN"];
    for (number, likeness, own) in [
        (1, crate::name_skeleton(names[0]), true),
        (2, crate::name_skeleton(names[1]), true),
        (1, " ben".to_owned(), true),
        (1, ".BEN".to_owned(), true),
    ] {
        let named = store.named(likeness.clone(), 0).await;
        let expected = Some((player(number).id, own));
        assert_eq!(named.expect("readable"), expected, "{likeness}");
    }
    add(store, 3).await;
    let third = Naming {
        likenesses: crate::name_skeletons("B\u{395}N"),
        ..registers(3, "third", None)
    };
    assert_eq!(store.name_player(third).await, Ok(false));
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
    let set_by = async |by, before: Option<&str>, password| {
        let set = store.set_password(ann, hash(password), proved(by, before));
        set.await.expect("written")
    };
    let set = async |before, password| set_by(2, before, password).await;
    let password = async || {
        let account = store.account(ann).await.expect("readable")?;
        Some(account.password)
    };
    assert!(!set(None, "first").await, "it is a guest");
    assert_eq!(password().await, None);
    assert_eq!(sessions(store, 1).await, [1, 2, 3]);
    let named = store.name_player(registers(1, "ann", Some("first"))).await;
    assert_eq!(named, Ok(true));
    assert_eq!(password().await, Some(Some(hash("first"))));
    let renamed = store.name_player(renames(1, "anna", None, 2000)).await;
    assert_eq!(renamed, Ok(true));
    assert_eq!(password().await, Some(Some(hash("first"))), "it stays");
    assert!(!set(None, "second").await, "there is one");
    assert!(!set(Some("other"), "second").await, "it is another by now");
    assert!(!set_by(4, Some("first"), "second").await, "another's");
    assert_eq!(password().await, Some(Some(hash("first"))));
    assert!(set(Some("first"), "second").await);
    assert_eq!(password().await, Some(Some(hash("second"))));
    assert_eq!(sessions(store, 1).await, [2, 3]);
    assert_eq!(sessions(store, 4).await, [4]);
    let found = store.session(key.token).await.expect("readable");
    assert_eq!(found.map(|(_, session)| session), Some(key));
    assert!(
        !set_by(1, Some("second"), "third").await,
        "that session has ended"
    );
}

/// Proved by this session, with this password.
pub(super) fn proved(session_number: u8, password: Option<&str>) -> Proved {
    Proved {
        session: session(session_number, 1).id,
        password: password.map(hash),
    }
}

/// A recovery key is another's by then if what was proved is no longer so.
pub(in super::super) async fn a_recovery_key_is_proved(store: &dyn Store) {
    add(store, 1).await;
    let ann = player(1).id;
    let named = store.name_player(registers(1, "ann", Some("first"))).await;
    assert_eq!(named, Ok(true));
    let [first, second] = [session(1, 1), session(2, 1)].map(|session| session.token);
    let renew = async |key, by, password| {
        let renewed = store.renew_recovery(ann, key, proved(by, password));
        renewed.await.expect("written")
    };
    assert!(renew(first, 1, Some("first")).await);
    assert!(!renew(second, 1, Some("second")).await);
    assert!(!renew(second, 2, Some("first")).await);
    let whose = async |key| store.recovered(key).await.expect("readable");
    assert_eq!((whose(first).await, whose(second).await), (Some(ann), None));
}

/// The account of a program with this number.
fn bot(number: u8) -> PlayerRecord {
    PlayerRecord {
        kind: PlayerKind::Bot,
        ..player(number)
    }
}

/// A key with this number of the first player's, or of a program with this number.
fn key(number: u8, of: u8) -> NewKey {
    NewKey {
        session: SessionRecord {
            kind: SessionKind::Key,
            ..session(number, of)
        },
        owner: player(1).id,
        proved: proved(1, Some("first")),
        bot: None,
        max: 4,
    }
}

/// A key with this number of a new program with this number and name.
pub(super) fn with_bot(number: u8, of: u8, name: &str) -> NewKey {
    let new = NewBot {
        player: bot(of),
        likenesses: likenesses(name),
        now_ms: 2050,
        max: 2,
    };
    NewKey {
        bot: Some(new),
        ..key(number, of)
    }
}

/// The first player, who is an account by now, has a program.
pub(in super::super) async fn gives_a_bot(store: &dyn Store) {
    assert_eq!(store.add_key(with_bot(99, 98, "randy")).await, Ok(true));
}

/// The first player has keys, and programs with names of their own.
pub(in super::super) async fn programs_have_keys_and_accounts(store: &dyn Store) {
    add(store, 1).await;
    add(store, 4).await;
    names_a_player(store).await;
    let ann = player(1).id;
    let add_key = async |key: NewKey| store.add_key(key).await.expect("written");
    assert!(add_key(key(2, 1)).await);
    for refused in [
        NewKey {
            proved: proved(1, None),
            ..key(3, 1)
        },
        NewKey {
            proved: proved(9, Some("first")),
            ..key(3, 1)
        },
        // Of somebody else's account, or of nobody's.
        key(3, 4),
        key(3, 5),
        with_bot(3, 5, "anna"),
        // This name is kept for somebody.
        with_bot(3, 5, "ann"),
    ] {
        assert!(!add_key(refused.clone()).await, "{refused:?}");
    }
    assert!(add_key(with_bot(3, 5, "randy")).await);
    assert!(!add_key(with_bot(4, 6, "randy")).await, "it is taken");
    assert!(add_key(with_bot(5, 6, "rudi")).await);
    assert!(!add_key(with_bot(6, 7, "roy")).await, "the third");
    assert!(add_key(key(7, 5)).await);
    assert!(!add_key(key(8, 5)).await, "the fifth key");
    let account = store.account(ann).await.expect("readable").expect("there");
    assert_eq!((account.owner, account.bots), (None, vec![bot(5), bot(6)]));
    let account = store.account(bot(5).id).await.expect("readable");
    let owner = account.expect("there").owner;
    assert_eq!(owner, Some(ann));
    let whose = store.named("randy".to_owned(), 9000).await;
    assert_eq!(whose.expect("readable"), Some((bot(5).id, true)));
    let found = store.session(session(7, 5).token).await.expect("readable");
    assert_eq!(found.map(|(player, _)| player), Some(bot(5)));
    let nobody = store.player_by_id(player(7).id).await.expect("readable");
    assert_eq!(nobody, None);

    // They end as the player's own.
    let end = async |of, which| {
        let ended = store.end_sessions(player(of).id, which).await;
        ended.expect("written");
    };
    end(1, Sessions::One(session(7, 5).id)).await;
    assert_eq!(sessions(store, 5).await, [3]);
    end(5, Sessions::All).await;
    assert_eq!(sessions(store, 5).await, [] as [u8; 0]);
    assert_eq!(sessions(store, 6).await, [5]);
    end(1, Sessions::AllBut(session(1, 1).id)).await;
    assert_eq!(sessions(store, 6).await, [] as [u8; 0]);
    assert_eq!(sessions(store, 1).await, [1]);
}

/// Guests are called otherwise, and nobody else.
pub(in super::super) async fn a_guest_is_called_otherwise(store: &dyn Store) {
    add(store, 1).await;
    let ann = player(1).id;
    let call = async |name: &str| {
        let called = store.rename_guest(ann, name.to_owned()).await;
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
        ..Account::default()
    };
    let kept = store.keep_account(known.id, account.clone()).await;
    kept.expect("written");
    let found = store.account(known.id).await.expect("readable");
    assert_eq!(found, Some(account));
    let found = store.player_by_id(known.id).await.expect("readable");
    assert_eq!(found, Some(known.clone()));
    let whose = store.named("ann".to_owned(), 1000).await;
    assert_eq!(whose.expect("readable"), Some((known.id, true)));

    let account = Account {
        owner: Some(known.id),
        ..Account::default()
    };
    let added = store.add_player(bot(2), vec![]).await;
    added.expect("written");
    let kept = store.keep_account(bot(2).id, account.clone()).await;
    kept.expect("written");
    let found = store.account(bot(2).id).await.expect("readable");
    assert_eq!(found, Some(account));
    let owner = store.account(known.id).await.expect("readable");
    assert_eq!(owner.expect("there").bots, [bot(2)]);
}
