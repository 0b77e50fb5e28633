//! What lists show.

use plyhouse_engine::catalog::CATALOG;
use plyhouse_protocol::Status;

use super::*;
use crate::directory::{Listed, Shown, Wanted};
use crate::suite::AT_MS;

fn shown(number: u128, status: Status) -> Shown {
    Shown {
        id: MatchId(Uuid::from_u128(number)),
        status,
        listed: true,
        card: format!("{number} \u{2318}"),
    }
}

async fn list(store: &impl Directory, wanted: Wanted) -> (u64, Vec<u128>) {
    let Listed { total, cards } = store.list(wanted).await.expect("readable");
    let number = |card: &String| {
        let number = card.split(' ').next().expect("a number");
        number.parse().expect("a number")
    };
    (total, cards.iter().map(number).collect())
}

const ALL: Wanted = Wanted {
    game: None,
    status: None,
    after: None,
    ended_since_ms: 0,
    limit: 100,
};

/// That a match has ended which is told with a delay is listed once it is shown, and not before.
pub(crate) async fn an_end_that_is_told_later_is_listed_later(shared: &impl Shared) {
    let [first, second] = shared.servers();
    first.add_player(player(1), vec![]).await.expect("written");
    let mut written = record(90, &player(1));
    written.creation.terms.delay_ms = 1000;
    let id = written.creation.id;
    let mark = first.create(OWNER, written).await.expect("written");
    let mark = first.append(id, mark, started()).await.expect("written");
    let running = vec![shown(90, Status::Running)];
    first.show(running).await.expect("written");
    let ended = first.append(id, mark, vec![RESIGNED]).await;
    ended.expect("written");
    let listed = async |status| {
        let status = Some(status);
        list(second, Wanted { status, ..ALL }).await.0
    };
    assert_eq!(
        (listed(Status::Running).await, listed(Status::Ended).await),
        (1, 0)
    );
    let ended = vec![shown(90, Status::Ended)];
    first.show(ended).await.expect("written");
    assert_eq!(
        (listed(Status::Running).await, listed(Status::Ended).await),
        (0, 1)
    );
}

/// A match is listed from when it is shown on, as it was shown last, and if it is to be listed at all.
pub(crate) async fn only_what_is_shown_is_listed(shared: &impl Shared) {
    let [first, second] = shared.servers();
    for number in 1..=3 {
        created(first, number).await;
    }
    assert_eq!(list(second, ALL).await, (0, vec![]));
    let unlisted = Shown {
        listed: false,
        ..shown(2, Status::Open)
    };
    let cards = vec![shown(1, Status::Open), unlisted, shown(77, Status::Open)];
    first.show(cards).await.expect("written");
    first.show(Vec::new()).await.expect("nothing to write");
    assert_eq!(list(second, ALL).await, (1, vec![1]));
    let news = Shown {
        card: "news".to_owned(),
        ..shown(1, Status::Running)
    };
    first.show(vec![news]).await.expect("written");
    let Listed { total, cards } = second.list(ALL).await.expect("readable");
    assert_eq!((total, cards), (1, vec!["news".to_owned()]));
    let hidden = Shown {
        listed: false,
        ..shown(1, Status::Running)
    };
    first.show(vec![hidden]).await.expect("written");
    assert_eq!(list(second, ALL).await, (0, vec![]));
}

/// The newest come first, a page at a time, and the total is of all pages.
pub(crate) async fn lists_are_filtered_and_paged(shared: &impl Shared) {
    let [first, second] = shared.servers();
    first.add_player(player(1), vec![]).await.expect("written");
    for number in 1..=30 {
        let mut written = record(number, &player(1));
        written.creation.game = &CATALOG[usize::from(number % 3 == 0)];
        first.create(OWNER, written).await.expect("written");
    }
    let status = |number: u128| match number % 2 {
        0 => Status::Open,
        _ => Status::Running,
    };
    let cards = (1..=30).map(|number| shown(number, status(number)));
    first.show(cards.collect()).await.expect("written");
    let newest = |fits: fn(u128) -> bool| -> Vec<u128> {
        (1..=30).rev().filter(|number| fits(*number)).collect()
    };
    let game = Some(CATALOG[1].info.id.to_owned());
    for (game, status, fits) in [
        (None, None, (|_| true) as fn(u128) -> bool),
        (game.clone(), None, |number| number % 3 == 0),
        (None, Some(Status::Open), |number| number % 2 == 0),
        (game, Some(Status::Running), |number| number % 6 == 3),
        (None, Some(Status::Ended), |_| false),
        (Some("no such game".to_owned()), None, |_| false),
    ] {
        let wanted = Wanted {
            game,
            status,
            ..ALL
        };
        let expected = newest(fits);
        let total = expected.len() as u64;
        assert_eq!(
            list(second, wanted.clone()).await,
            (total, expected.clone())
        );
        // Page after page.
        let mut pages = Vec::new();
        loop {
            let wanted = Wanted {
                limit: 4,
                after: pages.last().map(|last| MatchId(Uuid::from_u128(*last))),
                ..wanted.clone()
            };
            let (of_all, page) = list(second, wanted).await;
            assert_eq!(of_all, total);
            assert!(page.len() <= 4);
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(pages, expected);
    }
}

/// An ended match is listed if it has ended since the time that is asked for, whatever its card says.
pub(crate) async fn ended_matches_are_listed_since_a_time(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let cards = (1..=4).map(|number| shown(number, Status::Running));
    let mut marks = Vec::new();
    for number in 1..=4 {
        marks.push(created(first, number).await);
    }
    first.show(cards.collect()).await.expect("written");
    for (ended, (id, mark)) in marks.iter().take(3).enumerate() {
        let mut end = RESIGNED;
        end.at_ms = AT_MS + 10 * (ended as u64 + 1);
        first.append(*id, *mark, vec![end]).await.expect("written");
    }
    // The news of a running match may come after its end.
    let late = Shown {
        card: "9".to_owned(),
        ..shown(2, Status::Running)
    };
    let cards = vec![late, shown(3, Status::Ended)];
    first.show(cards).await.expect("written");
    let ended = |ended_since_ms| Wanted {
        status: Some(Status::Ended),
        ended_since_ms,
        ..ALL
    };
    assert_eq!(list(second, ended(0)).await, (3, vec![3, 2, 1]));
    assert_eq!(list(second, ended(AT_MS + 20)).await, (2, vec![3, 2]));
    assert_eq!(list(second, ended(AT_MS + 31)).await, (0, vec![]));
    let running = Wanted {
        status: Some(Status::Running),
        ended_since_ms: AT_MS + 31,
        ..ALL
    };
    assert_eq!(
        list(second, running).await,
        (1, vec![4]),
        "it has not ended"
    );
    let all = Wanted {
        ended_since_ms: AT_MS + 30,
        ..ALL
    };
    assert_eq!(list(second, all).await, (2, vec![4, 3]));
}
