//! What was thought of ended matches.

use uuid::Uuid;

use super::{RESIGNED, created, player, started};
use crate::{AnalysisAsked, KeptAnalysis, Store};
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

/// What a player asks for is counted for as long as it counts, and not beyond what may be.
pub(crate) async fn analyses_are_counted(store: &dyn Store) {
    let [ann, bob] = [131, 132].map(|number| player(number).id);
    let ask = async |by, at_ms, since_ms| {
        let most = 3;
        let asked = AnalysisAsked {
            by,
            at_ms,
            since_ms,
            most,
        };
        store.ask_analysis(asked).await.expect("written")
    };
    let first = async |by, since_ms| store.analysis_asked(by, since_ms).await.expect("readable");
    assert_eq!(first(ann, 0).await, None);
    for at_ms in [10, 20, 30] {
        assert!(ask(ann, at_ms, 5).await, "{at_ms}");
    }
    assert!(!ask(ann, 40, 5).await, "three are enough");
    assert_eq!(
        (first(ann, 5).await, first(ann, 10).await),
        (Some(10), Some(20))
    );
    assert!(ask(bob, 40, 5).await, "of each player by itself");
    // What was refused is not counted, and one that counts no more makes room for one.
    assert!(!ask(ann, 45, 9).await);
    assert!(ask(ann, 50, 10).await);
    assert!(!ask(ann, 51, 10).await);
    assert_eq!(first(ann, 10).await, Some(20));
    assert!(ask(ann, 60, 30).await);
    assert_eq!(
        (first(ann, 30).await, first(bob, 30).await),
        (Some(50), Some(40))
    );
}
