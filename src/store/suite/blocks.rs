//! Who does not want to meet whom.

use super::player;
use crate::{Account, BLOCKS_MAX, Blocks, PlayerRecord, Store};

async fn add(store: &dyn Store, players: &[PlayerRecord]) {
    for player in players {
        let added = store.add_player(player.clone(), vec![]).await;
        added.expect("written");
    }
}

/// The second player blocks the first, and the first the second.
pub(in super::super) async fn blocks_a_player(store: &dyn Store) {
    let [first, second] = [1, 2].map(|number| player(number).id);
    for (one, other, since_ms) in [(second, first, 1000), (first, second, 999)] {
        assert_eq!(store.block(one, other, Some(since_ms)).await, Ok(true));
    }
}

/// Both sides know of a block, until it ends. To say so again changes nothing.
pub(in super::super) async fn a_block_is_known_to_both(store: &dyn Store) {
    let [ann, bob, cat] = [1, 2, 3].map(player);
    add(store, &[ann.clone(), bob.clone(), cat.clone()]).await;
    let block = async |of: &PlayerRecord, other: &PlayerRecord, since_ms| {
        let kept = store.block(of.id, other.id, since_ms).await;
        assert_eq!(kept, Ok(true));
    };
    let told = async |of: &PlayerRecord| store.blocks(of.id).await.expect("readable");
    block(&ann, &cat, Some(2000)).await;
    block(&ann, &bob, Some(1000)).await;
    block(&ann, &cat, Some(500)).await;
    block(&bob, &cat, Some(3000)).await;
    let (own, by) = (vec![bob.clone(), cat.clone()], vec![]);
    let apart = vec![bob.id, cat.id];
    assert_eq!(told(&ann).await, Blocks { own, by, apart });
    let (own, by) = (vec![cat.clone()], vec![ann.id]);
    let apart = vec![ann.id, cat.id];
    assert_eq!(told(&bob).await, Blocks { own, by, apart });
    let of_cat = told(&cat).await;
    assert_eq!(
        (&*of_cat.own, &*of_cat.by),
        (&[][..], &[ann.id, bob.id][..])
    );
    assert!(of_cat.has(ann.id) && !of_cat.has(cat.id));

    for _ in 0..2 {
        block(&ann, &cat, None).await;
    }
    assert_eq!(told(&ann).await.own, std::slice::from_ref(&bob));
    assert_eq!(told(&cat).await.by, [bob.id]);
}

/// Whoever blocks somebody meets no program of theirs, and whoever blocks a program does not meet its owner.
pub(in super::super) async fn a_block_is_of_programs_too(store: &dyn Store) {
    let [ann, bob, cat, robot, other, anns] = [1, 2, 3, 4, 5, 6].map(player);
    for player in [&ann, &bob, &cat, &robot, &other, &anns] {
        add(store, std::slice::from_ref(player)).await;
    }
    for (program, owner) in [(&robot, &bob), (&other, &bob), (&anns, &ann)] {
        let account = Account {
            owner: Some(owner.id),
            ..Account::default()
        };
        let kept = store.keep_account(program.id, account).await;
        kept.expect("written");
    }
    let apart = async |of: &PlayerRecord| store.blocks(of.id).await.expect("readable").apart;
    for (blocker, blocked) in [(&ann, &bob), (&ann, &other), (&bob, &anns)] {
        let block = async |since_ms| store.block(blocker.id, blocked.id, since_ms).await;
        assert_eq!(block(Some(1)).await, Ok(true));
        for one in [&ann, &anns] {
            assert_eq!(apart(one).await, [bob.id, robot.id, other.id]);
        }
        for one in [&bob, &robot, &other] {
            assert_eq!(apart(one).await, [ann.id, anns.id]);
        }
        assert_eq!(apart(&cat).await, []);
        assert_eq!(block(None).await, Ok(true));
        assert_eq!(apart(&robot).await, []);
    }
}

/// One more than may be is not kept, and changes nothing.
pub(in super::super) async fn blocks_have_a_bound(store: &dyn Store) {
    let number = |n: usize| PlayerRecord {
        id: plyhouse_protocol::PlayerId(uuid::Uuid::from_u128(10_000 + n as u128)),
        ..player(9)
    };
    let ann = player(1);
    add(store, std::slice::from_ref(&ann)).await;
    for n in 0..=BLOCKS_MAX {
        add(store, &[number(n)]).await;
        let kept = store.block(ann.id, number(n).id, Some(n as u64)).await;
        assert_eq!(kept, Ok(n < BLOCKS_MAX), "{n}");
    }
    let again = store.block(ann.id, number(0).id, Some(7)).await;
    assert_eq!(again, Ok(true), "it is there");
    let told = store.blocks(ann.id).await.expect("readable");
    assert_eq!(told.own.len(), BLOCKS_MAX);
    assert_eq!(store.block(ann.id, number(0).id, None).await, Ok(true));
    let last = store.block(ann.id, number(BLOCKS_MAX).id, Some(8)).await;
    assert_eq!(last, Ok(true), "there is room");
}
