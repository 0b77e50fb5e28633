//! Tests for blocks between players.

use super::player;
use crate::{Account, BLOCKS_MAX, Blocks, IdentityChanges, PlayerRecord, Store};

async fn add_players(store: &dyn Store, players: &[PlayerRecord]) {
    for player in players {
        let added = store.add_player(player.clone(), vec![]).await;
        added.expect("written");
    }
}

/// Makes players 1 and 2 block each other.
pub(crate) async fn add_mutual_block(store: &dyn Store) {
    let [first, second] = [1, 2].map(|number| player(number).id);
    for (one, other, since_ms) in [(second, first, 1000), (first, second, 999)] {
        assert_eq!(
            store.change_block(one, other, Some(since_ms)).await,
            Ok(true)
        );
    }
}

/// Blocking or unblocking a player a second time changes nothing.
pub(crate) async fn block_is_visible_to_both_players(store: &dyn Store) {
    let [ann, bob, cat] = [1, 2, 3].map(player);
    add_players(store, &[ann.clone(), bob.clone(), cat.clone()]).await;
    let block = async |blocker: &PlayerRecord, other: &PlayerRecord, since_ms| {
        let blocked = store.change_block(blocker.id, other.id, since_ms).await;
        assert_eq!(blocked, Ok(true));
    };
    let blocks_of = async |record: &PlayerRecord| store.blocks(record.id).await.expect("readable");
    block(&ann, &cat, Some(2000)).await;
    block(&ann, &bob, Some(1000)).await;
    block(&ann, &cat, Some(500)).await;
    block(&bob, &cat, Some(3000)).await;
    let (blocked, blocked_by) = (vec![bob.clone(), cat.clone()], vec![]);
    let unpairable = vec![bob.id, cat.id];
    assert_eq!(
        blocks_of(&ann).await,
        Blocks {
            blocked,
            blocked_by,
            unpairable
        }
    );
    let (blocked, blocked_by) = (vec![cat.clone()], vec![ann.id]);
    let unpairable = vec![ann.id, cat.id];
    assert_eq!(
        blocks_of(&bob).await,
        Blocks {
            blocked,
            blocked_by,
            unpairable
        }
    );
    let of_cat = blocks_of(&cat).await;
    assert_eq!(
        (&*of_cat.blocked, &*of_cat.blocked_by),
        (&[][..], &[ann.id, bob.id][..])
    );
    assert!(of_cat.is_unpairable_with(ann.id) && !of_cat.is_unpairable_with(cat.id));

    for _ in 0..2 {
        block(&ann, &cat, None).await;
    }
    assert_eq!(blocks_of(&ann).await.blocked, std::slice::from_ref(&bob));
    assert_eq!(blocks_of(&cat).await.blocked_by, [bob.id]);
}

pub(crate) async fn block_covers_bots_of_both_owners(store: &dyn Store) {
    let [ann, bob, cat, bot, second_bot, anns_bot] = [1, 2, 3, 4, 5, 6].map(player);
    for player in [&ann, &bob, &cat, &bot, &second_bot, &anns_bot] {
        add_players(store, std::slice::from_ref(player)).await;
    }
    for (bot, owner) in [(&bot, &bob), (&second_bot, &bob), (&anns_bot, &ann)] {
        let account = Account {
            owner: Some(owner.id),
            ..Account::default()
        };
        let stored = store.store_account(bot.id, account).await;
        stored.expect("written");
    }
    let unpairable_with =
        async |record: &PlayerRecord| store.blocks(record.id).await.expect("readable").unpairable;
    for (blocker, blocked) in [(&ann, &bob), (&ann, &second_bot), (&bob, &anns_bot)] {
        let block = async |since_ms| store.change_block(blocker.id, blocked.id, since_ms).await;
        assert_eq!(block(Some(1)).await, Ok(true));
        for one in [&ann, &anns_bot] {
            assert_eq!(unpairable_with(one).await, [bob.id, bot.id, second_bot.id]);
        }
        for one in [&bob, &bot, &second_bot] {
            assert_eq!(unpairable_with(one).await, [ann.id, anns_bot.id]);
        }
        assert_eq!(unpairable_with(&cat).await, []);
        assert_eq!(block(None).await, Ok(true));
        assert_eq!(unpairable_with(&bot).await, []);
    }
}

pub(crate) async fn block_above_limit_is_refused(store: &dyn Store) {
    let numbered_player = |n: usize| PlayerRecord {
        id: plyhouse_protocol::PlayerId(uuid::Uuid::from_u128(10_000 + n as u128)),
        ..player(9)
    };
    let ann = player(1);
    add_players(store, std::slice::from_ref(&ann)).await;
    for n in 0..=BLOCKS_MAX {
        add_players(store, &[numbered_player(n)]).await;
        let blocked = store
            .change_block(ann.id, numbered_player(n).id, Some(n as u64))
            .await;
        assert_eq!(blocked, Ok(n < BLOCKS_MAX), "{n}");
    }
    let repeated = store
        .change_block(ann.id, numbered_player(0).id, Some(7))
        .await;
    assert_eq!(repeated, Ok(true), "already blocked");
    let blocks = store.blocks(ann.id).await.expect("readable");
    assert_eq!(blocks.blocked.len(), BLOCKS_MAX);
    assert_eq!(
        store
            .change_block(ann.id, numbered_player(0).id, None)
            .await,
        Ok(true)
    );
    let last = store
        .change_block(ann.id, numbered_player(BLOCKS_MAX).id, Some(8))
        .await;
    assert_eq!(last, Ok(true), "below the limit");
}
