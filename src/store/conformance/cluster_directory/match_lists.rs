//! Tests for match lists.

use crate::{IdentityStore, JournalStore};
use plyhouse_engine::catalog::CATALOG;
use plyhouse_protocol::MatchStatus;

use super::*;
use crate::conformance::AT_MS;
use crate::port::cluster_directory::{MatchListPage, MatchListQuery, MatchListing};

fn listing(number: u128, status: MatchStatus) -> MatchListing {
    MatchListing {
        id: MatchId(Uuid::from_u128(number)),
        status,
        listed: true,
        summary: format!("{number} \u{2318}"),
    }
}

async fn list_numbers(store: &impl ClusterDirectory, query: MatchListQuery) -> (u64, Vec<u128>) {
    let MatchListPage { total, summaries } = store.list_matches(query).await.expect("readable");
    let number = |summary: &String| {
        let number = summary.split(' ').next().expect("a number");
        number.parse().expect("a number")
    };
    (total, summaries.iter().map(number).collect())
}

const UNFILTERED: MatchListQuery = MatchListQuery {
    game: None,
    status: None,
    after: None,
    ended_since_ms: 0,
    limit: 100,
};

/// If a match has a spectator delay, the match list must not show immediately that the match has
/// ended. The list shows the end once the owning server has updated the match's list entry.
pub(crate) async fn delayed_end_is_listed_once_it_is_shown(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    first.add_player(player(1), vec![]).await.expect("written");
    let mut written = match_record(90, &player(1));
    written.creation.terms.spectator_delay_ms = 1000;
    let id = written.creation.id;
    let position = first.create(OWNER_NODE, written).await.expect("written");
    let position = first
        .append(id, position, start_events())
        .await
        .expect("written");
    let running = vec![listing(90, MatchStatus::Running)];
    first.update_summaries(running).await.expect("written");
    let ended = first.append(id, position, vec![RESIGNATION]).await;
    ended.expect("written");
    let total_with_status = async |status| {
        let status = Some(status);
        list_numbers(
            second,
            MatchListQuery {
                status,
                ..UNFILTERED
            },
        )
        .await
        .0
    };
    assert_eq!(
        (
            total_with_status(MatchStatus::Running).await,
            total_with_status(MatchStatus::Ended).await
        ),
        (1, 0)
    );
    let ended = vec![listing(90, MatchStatus::Ended)];
    first.update_summaries(ended).await.expect("written");
    assert_eq!(
        (
            total_with_status(MatchStatus::Running).await,
            total_with_status(MatchStatus::Ended).await
        ),
        (0, 1)
    );
}

/// A match is listed once a server has stored a list entry for the match, unless the entry is
/// marked as unlisted. A new list entry replaces the previous entry of the match.
pub(crate) async fn only_shown_matches_are_listed(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    for number in 1..=3 {
        create_match(first, number).await;
    }
    assert_eq!(list_numbers(second, UNFILTERED).await, (0, vec![]));
    let unlisted = MatchListing {
        listed: false,
        ..listing(2, MatchStatus::Open)
    };
    let summaries = vec![
        listing(1, MatchStatus::Open),
        unlisted,
        listing(77, MatchStatus::Open),
    ];
    first.update_summaries(summaries).await.expect("written");
    first
        .update_summaries(Vec::new())
        .await
        .expect("an empty update succeeds");
    assert_eq!(list_numbers(second, UNFILTERED).await, (1, vec![1]));
    let update = MatchListing {
        summary: "news".to_owned(),
        ..listing(1, MatchStatus::Running)
    };
    first.update_summaries(vec![update]).await.expect("written");
    let MatchListPage { total, summaries } =
        second.list_matches(UNFILTERED).await.expect("readable");
    assert_eq!((total, summaries), (1, vec!["news".to_owned()]));
    let hidden = MatchListing {
        listed: false,
        ..listing(1, MatchStatus::Running)
    };
    first.update_summaries(vec![hidden]).await.expect("written");
    assert_eq!(list_numbers(second, UNFILTERED).await, (0, vec![]));
}

/// The match list starts with the newest match. The total counts the matches on all pages.
pub(crate) async fn lists_are_filtered_and_paged(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    first.add_player(player(1), vec![]).await.expect("written");
    for number in 1..=30 {
        let mut written = match_record(number, &player(1));
        written.creation.game = &CATALOG[usize::from(number % 3 == 0)];
        first.create(OWNER_NODE, written).await.expect("written");
    }
    let status = |number: u128| match number % 2 {
        0 => MatchStatus::Open,
        _ => MatchStatus::Running,
    };
    let summaries = (1..=30).map(|number| listing(number, status(number)));
    first
        .update_summaries(summaries.collect())
        .await
        .expect("written");
    let newest = |fits: fn(u128) -> bool| -> Vec<u128> {
        (1..=30).rev().filter(|number| fits(*number)).collect()
    };
    let game = Some(CATALOG[1].info.id.to_owned());
    for (game, status, fits) in [
        (None, None, (|_| true) as fn(u128) -> bool),
        (game.clone(), None, |number| number % 3 == 0),
        (None, Some(MatchStatus::Open), |number| number % 2 == 0),
        (game, Some(MatchStatus::Running), |number| number % 6 == 3),
        (None, Some(MatchStatus::Ended), |_| false),
        (Some("no such game".to_owned()), None, |_| false),
    ] {
        let query = MatchListQuery {
            game,
            status,
            ..UNFILTERED
        };
        let expected = newest(fits);
        let total = expected.len() as u64;
        assert_eq!(
            list_numbers(second, query.clone()).await,
            (total, expected.clone())
        );
        // Reads the match list page by page.
        let mut pages = Vec::new();
        loop {
            let page_query = MatchListQuery {
                limit: 4,
                after: pages.last().map(|last| MatchId(Uuid::from_u128(*last))),
                ..query.clone()
            };
            let (page_total, page) = list_numbers(second, page_query).await;
            assert_eq!(page_total, total);
            assert!(page.len() <= 4);
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(pages, expected);
    }
}

/// The filter by end time applies to a match that has ended, even if the list entry still says that
/// the match is running.
pub(crate) async fn ended_matches_are_filtered_by_end_time(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let summaries = (1..=4).map(|number| listing(number, MatchStatus::Running));
    let mut matches = Vec::new();
    for number in 1..=4 {
        matches.push(create_match(first, number).await);
    }
    first
        .update_summaries(summaries.collect())
        .await
        .expect("written");
    for (ended, (id, position)) in matches.iter().take(3).enumerate() {
        let mut end = RESIGNATION;
        end.at_ms = AT_MS + 10 * (ended as u64 + 1);
        first
            .append(*id, *position, vec![end])
            .await
            .expect("written");
    }
    // A list entry that describes a match as running may arrive after the match has ended. The
    // match list must still show the match as ended.
    let late_update = MatchListing {
        summary: "9".to_owned(),
        ..listing(2, MatchStatus::Running)
    };
    let summaries = vec![late_update, listing(3, MatchStatus::Ended)];
    first.update_summaries(summaries).await.expect("written");
    let ended = |ended_since_ms| MatchListQuery {
        status: Some(MatchStatus::Ended),
        ended_since_ms,
        ..UNFILTERED
    };
    assert_eq!(list_numbers(second, ended(0)).await, (3, vec![3, 2, 1]));
    assert_eq!(
        list_numbers(second, ended(AT_MS + 20)).await,
        (2, vec![3, 2])
    );
    assert_eq!(list_numbers(second, ended(AT_MS + 31)).await, (0, vec![]));
    let running = MatchListQuery {
        status: Some(MatchStatus::Running),
        ended_since_ms: AT_MS + 31,
        ..UNFILTERED
    };
    assert_eq!(
        list_numbers(second, running).await,
        (1, vec![4]),
        "live matches are not filtered by end time"
    );
    let all = MatchListQuery {
        ended_since_ms: AT_MS + 30,
        ..UNFILTERED
    };
    assert_eq!(list_numbers(second, all).await, (2, vec![4, 3]));
}
