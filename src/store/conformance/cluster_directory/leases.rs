//! Tests for server leases and connection numbers.

use super::{
    OTHER_NODE, OWNER_NODE, SharedStore, create_match, live_matches, start_events, unowned_matches,
};
use crate::JournalStore;
use crate::port::cluster_directory::{ClusterDirectory, LEASE_DURATION};

pub(crate) async fn lease_expires_unless_renewed(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    assert_eq!(
        first.renew_lease(OWNER_NODE).await.expect("renewed"),
        [OWNER_NODE]
    );
    let mut both = second.renew_lease(OTHER_NODE).await.expect("renewed");
    both.sort_unstable();
    assert_eq!(both, [OWNER_NODE, OTHER_NODE]);
    shared.advance_time(LEASE_DURATION * 3 / 4).await;
    let mut both = first.renew_lease(OWNER_NODE).await.expect("renewed");
    both.sort_unstable();
    assert_eq!(both, [OWNER_NODE, OTHER_NODE]);
    shared.advance_time(LEASE_DURATION / 2).await;
    assert_eq!(
        first.renew_lease(OWNER_NODE).await.expect("renewed"),
        [OWNER_NODE]
    );
    let mut again = second.renew_lease(OTHER_NODE).await.expect("renewed");
    again.sort_unstable();
    assert_eq!(
        again,
        [OWNER_NODE, OTHER_NODE],
        "a delayed server gets its lease back"
    );
}

pub(crate) async fn withdrawn_server_is_not_listed(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    for node in [OWNER_NODE, OTHER_NODE] {
        first.renew_lease(node).await.expect("renewed");
    }
    first.withdraw_lease(OWNER_NODE).await.expect("withdrawn");
    assert_eq!(
        second.renew_lease(OTHER_NODE).await.expect("renewed"),
        [OTHER_NODE]
    );
    first
        .withdraw_lease(OWNER_NODE)
        .await
        .expect("withdrawn again");
}

pub(crate) async fn match_is_unowned_when_its_owner_has_no_lease(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let (id, position) = create_match(first, 1).await;
    first
        .append(id, position, start_events())
        .await
        .expect("written");
    assert_eq!(unowned_matches(second, OTHER_NODE).await, [1]);
    first.renew_lease(OWNER_NODE).await.expect("renewed");
    assert_eq!(unowned_matches(second, OTHER_NODE).await, [0; 0]);
    shared.advance_time(LEASE_DURATION).await;
    assert_eq!(unowned_matches(second, OTHER_NODE).await, [1]);
    second.claim(id, OTHER_NODE).await.expect("claimed");
    assert_eq!(live_matches(first, OWNER_NODE).await.0, [0; 0]);
    assert_eq!(live_matches(first, OTHER_NODE).await.0, [1]);
    second.release(id);
    while second
        .find_route(id)
        .await
        .expect("readable")
        .expect("exists")
        .owner
        .is_some()
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        unowned_matches(second, OTHER_NODE).await,
        [1],
        "a released match is unowned"
    );
}

pub(crate) async fn connection_numbers_increase_across_servers(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let mut last = 0;
    for _ in 0..10 {
        for server in [first, second, second] {
            let number = server
                .next_connection_number()
                .await
                .expect("number is assigned");
            assert!(number > last, "{number} follows {last}");
            last = number;
        }
    }
}
