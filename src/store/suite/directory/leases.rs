//! Who is there.

use super::{OTHER, OWNER, Shared, created, live, orphans, started};
use crate::Store;
use crate::directory::{Directory, LEASE};

/// A lease holds for its time from when it was renewed last, and every server sees who has one.
pub(crate) async fn a_lease_ends(shared: &impl Shared) {
    let [first, second] = shared.servers();
    assert_eq!(first.renew(OWNER).await.expect("renewed"), [OWNER]);
    let mut both = second.renew(OTHER).await.expect("renewed");
    both.sort_unstable();
    assert_eq!(both, [OWNER, OTHER]);
    shared.pass(LEASE * 3 / 4).await;
    let mut both = first.renew(OWNER).await.expect("renewed");
    both.sort_unstable();
    assert_eq!(both, [OWNER, OTHER]);
    shared.pass(LEASE / 2).await;
    assert_eq!(first.renew(OWNER).await.expect("renewed"), [OWNER]);
    let mut again = second.renew(OTHER).await.expect("renewed");
    again.sort_unstable();
    assert_eq!(again, [OWNER, OTHER], "whoever was held up is back");
}

/// A server that stops is seen to be gone at once, and only that one.
pub(crate) async fn a_withdrawn_server_is_gone(shared: &impl Shared) {
    let [first, second] = shared.servers();
    for node in [OWNER, OTHER] {
        first.renew(node).await.expect("renewed");
    }
    first.withdraw(OWNER).await.expect("withdrawn");
    assert_eq!(second.renew(OTHER).await.expect("renewed"), [OTHER]);
    first.withdraw(OWNER).await.expect("once more");
}

/// What a server that holds a lease has is nobody else's to claim.
pub(crate) async fn orphans_and_live_matches_go_by_leases(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let (id, mark) = created(first, 1).await;
    first.append(id, mark, started()).await.expect("written");
    assert_eq!(orphans(second, OTHER).await, [1]);
    first.renew(OWNER).await.expect("renewed");
    assert_eq!(orphans(second, OTHER).await, [0; 0]);
    shared.pass(LEASE).await;
    assert_eq!(orphans(second, OTHER).await, [1]);
    second.claim(id, OTHER).await.expect("claimed");
    assert_eq!(live(first, OWNER).await.0, [0; 0]);
    assert_eq!(live(first, OTHER).await.0, [1]);
    second.release(id);
    while second
        .route(id)
        .await
        .expect("readable")
        .expect("there")
        .owner
        .is_some()
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(orphans(second, OTHER).await, [1], "it is nobody's");
}

/// Of two connections the later has the greater number, on whatever server it began.
pub(crate) async fn a_connection_is_later_than_those_before(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let mut last = 0;
    for _ in 0..10 {
        for server in [first, second, second] {
            let number = server.connection().await.expect("given");
            assert!(number > last, "{number} follows {last}");
            last = number;
        }
    }
}
