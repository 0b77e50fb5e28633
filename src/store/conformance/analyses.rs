//! Tests for analyses and analysis quotas.

use uuid::Uuid;

use super::{RESIGNATION, create_match, player, start_events};
use crate::{AnalysisQuotaRequest, Store, StoredAnalysis};
use plyhouse_protocol::MatchId;

fn analysis(nodes: u64, text: &str) -> StoredAnalysis {
    StoredAnalysis {
        nodes,
        text: text.to_owned(),
    }
}

/// Creates an ended match with a stored analysis.
pub(crate) async fn add_analysed_match(store: &dyn Store, number: u128) -> MatchId {
    let (id, position) = create_match(store, number).await;
    let events = [start_events(), vec![RESIGNATION]].concat();
    store.append(id, position, events).await.expect("written");
    let stored = store.store_analysis(id, analysis(500, "\u{2318}")).await;
    assert_eq!(stored, Ok(true));
    id
}

/// Analyses of live or missing matches are not stored.
pub(crate) async fn analysis_with_most_nodes_is_stored(store: &dyn Store) {
    let stored = async |id| store.analysis(id).await.expect("readable");
    let id = add_analysed_match(store, 1201).await;
    assert_eq!(stored(id).await, Some(analysis(500, "\u{2318}")));
    for (nodes, text, expected) in [
        (499, "less", "\u{2318}"),
        (500, "as much", "as much"),
        (501, "more", "more"),
    ] {
        assert_eq!(
            store.store_analysis(id, analysis(nodes, text)).await,
            Ok(true)
        );
        assert_eq!(
            stored(id).await.map(|analysis| analysis.text),
            Some(expected.to_owned())
        );
    }
    assert_eq!(stored(id).await, Some(analysis(501, "more")));

    let (live, _) = create_match(store, 1202).await;
    let missing = MatchId(Uuid::from_u128(1203));
    for id in [live, missing] {
        assert_eq!(store.store_analysis(id, analysis(1, "")).await, Ok(false));
        assert_eq!(stored(id).await, None);
    }
}

pub(crate) async fn analysis_requests_are_limited_per_player(store: &dyn Store) {
    let [ann, bob] = [131, 132].map(|number| player(number).id);
    let request_analysis = async |player, at_ms, since_ms| {
        let most = 3;
        let request = AnalysisQuotaRequest {
            player,
            at_ms,
            since_ms,
            requests_max: most,
        };
        store
            .count_analysis_request(request)
            .await
            .expect("written")
    };
    let first_request_ms = async |player, since_ms| {
        store
            .first_analysis_request_ms(player, since_ms)
            .await
            .expect("readable")
    };
    assert_eq!(first_request_ms(ann, 0).await, None);
    for at_ms in [10, 20, 30] {
        assert!(request_analysis(ann, at_ms, 5).await, "{at_ms}");
    }
    assert!(!request_analysis(ann, 40, 5).await, "limit of three");
    assert_eq!(
        (
            first_request_ms(ann, 5).await,
            first_request_ms(ann, 10).await
        ),
        (Some(10), Some(20))
    );
    assert!(request_analysis(bob, 40, 5).await, "counted per player");
    // A refused request must not count against the quota. Once a counted request is older than the
    // quota period, another request is allowed.
    assert!(!request_analysis(ann, 45, 9).await);
    assert!(request_analysis(ann, 50, 10).await);
    assert!(!request_analysis(ann, 51, 10).await);
    assert_eq!(first_request_ms(ann, 10).await, Some(20));
    assert!(request_analysis(ann, 60, 30).await);
    assert_eq!(
        (
            first_request_ms(ann, 30).await,
            first_request_ms(bob, 30).await
        ),
        (Some(50), Some(40))
    );
}
