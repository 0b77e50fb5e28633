//! What was thought of ended matches.

use uuid::Uuid;

use super::{RESIGNED, created, started};
use crate::{KeptAnalysis, Store};
use plyhouse_protocol::MatchId;

fn thought(nodes: u64, text: &str) -> KeptAnalysis {
    KeptAnalysis {
        nodes,
        text: text.to_owned(),
    }
}

/// Has a match written that has ended, and what was thought of it.
pub(crate) async fn keeps_an_analysis(store: &dyn Store, number: u128) -> MatchId {
    let (id, mark) = created(store, number).await;
    let events = [started(), vec![RESIGNED]].concat();
    store.append(id, mark, events).await.expect("written");
    let kept = store.keep_analysis(id, thought(500, "\u{2318}")).await;
    assert_eq!(kept, Ok(true));
    id
}

/// Of an ended match is kept what was thought with the most effort; of others nothing.
pub(crate) async fn the_best_analysis_is_kept(store: &dyn Store) {
    let told = async |id| store.analysis(id).await.expect("readable");
    let id = keeps_an_analysis(store, 1201).await;
    assert_eq!(told(id).await, Some(thought(500, "\u{2318}")));
    for (nodes, text, left) in [
        (499, "less", "\u{2318}"),
        (500, "as much", "as much"),
        (501, "more", "more"),
    ] {
        assert_eq!(
            store.keep_analysis(id, thought(nodes, text)).await,
            Ok(true)
        );
        assert_eq!(told(id).await.map(|kept| kept.text), Some(left.to_owned()));
    }
    assert_eq!(told(id).await, Some(thought(501, "more")));

    let (live, _) = created(store, 1202).await;
    let nowhere = MatchId(Uuid::from_u128(1203));
    for id in [live, nowhere] {
        assert_eq!(store.keep_analysis(id, thought(1, "")).await, Ok(false));
        assert_eq!(told(id).await, None);
    }
}
