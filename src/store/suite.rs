//! What every adapter of the port must do. Each runs all of it.

mod accounts;
mod analyses;
mod blocks;
mod directory;
pub(super) mod fixture;
mod history;
mod leaving;
mod ratings;
mod reminders;

pub(super) use self::accounts::*;
pub(super) use self::analyses::*;
pub(super) use self::blocks::*;
pub(super) use self::directory::*;
pub(super) use self::history::*;
pub(super) use self::leaving::*;
pub(super) use self::ratings::*;
pub(super) use self::reminders::{
    a_reminder_comes_with_its_match, a_reminder_is_kept_with_the_events,
};

use uuid::Uuid;

use super::{
    JournalPosition, Live, Loaded, NodeId, Pairing, PlayerRecord, Record, RematchRecord,
    SessionRecord, Sessions, Store, Tail, TokenHash, WriteError,
};
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Event, EventKind, Occupant, Previous, Terms};

use plyhouse_protocol::{
    MatchCode, MatchId, PlayerId, PlayerKind, Reason, Seq, SessionId, SessionKind,
};

pub(super) fn player(number: u8) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(number.into())),
        name: format!("player {number} \u{2318}"),
        kind: PlayerKind::Guest,
    }
}

/// A session of the player with this number.
pub(super) fn session(number: u8, of: u8) -> SessionRecord {
    SessionRecord {
        token: TokenHash([number; 32]),
        id: SessionId(Uuid::from_u128(1000 - u128::from(number))),
        player: player(of).id,
        label: format!("device {number} \u{2318}"),
        kind: SessionKind::Cli,
        created_ms: AT_MS + u64::from(number),
        seen_day: 20_000,
        recovered: false,
    }
}

/// When the matches of the suite begin, in milliseconds since 1970. What happens then has times of
/// its own, which an adapter keeps as they are.
pub(super) const AT_MS: u64 = 1_700_000_000_000;

/// A match that this player hosts and has sat down in.
pub(super) fn record(number: u128, host: &PlayerRecord) -> Record {
    Record {
        creation: Creation {
            id: MatchId(Uuid::from_u128(number)),
            code: MatchCode::from_number(u64::try_from(number).expect("small")),
            game: &catalog::CATALOG[0],
            host: host.id,
            terms: Terms::plain(number.is_multiple_of(2), 1500, u64::MAX - 5),
        },
        events: vec![
            EventKind::Seated {
                seat: Seat::First,
                occupant: Occupant::Player {
                    id: host.id,
                    name: host.name.clone(),
                    kind: PlayerKind::Guest,
                    rating: None,
                },
            }
            .at(AT_MS),
        ],
    }
}

pub(super) fn started() -> Vec<Event> {
    let occupant = Occupant::Bot(Level::Easy);
    let seat = Seat::Second;
    let seated = EventKind::Seated { seat, occupant };
    vec![seated.at(AT_MS + 1), EventKind::STARTED.at(AT_MS + 1)]
}

pub(super) fn moved(seat: Seat, m: &str) -> Event {
    EventKind::moved(seat, m.to_owned()).at(AT_MS + 2)
}

pub(super) const RESIGNED: Event =
    EventKind::ended(Some(Seat::Second), Reason::Resignation).at(AT_MS + 3);

/// Whose matches are created where nothing else is said.
pub(super) const OWNER: NodeId = NodeId(Uuid::from_u128(1));

/// Another run of a server.
const OTHER: NodeId = NodeId(Uuid::from_u128(2));

fn same(a: &Record, b: &Record) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

/// Has the match with this number written, and gives its id and its mark.
async fn created(store: &dyn Store, number: u128) -> (MatchId, JournalPosition) {
    store.add_player(player(1), vec![]).await.expect("written");
    let written = record(number, &player(1));
    let id = written.creation.id;
    (id, store.create(OWNER, written).await.expect("written"))
}

/// What was written is there, event after event.
pub(super) async fn what_is_written_is_there(store: &dyn Store) {
    let mut written = record(10, &player(1));
    written.creation.terms.start = Some("x.o/.../...".to_owned());
    store.add_player(player(1), vec![]).await.expect("written");
    let id = written.creation.id;
    let made = store.create(OWNER, written.clone()).await;
    let mut mark = made.expect("written");
    for events in [started(), vec![moved(Seat::First, "b2")], vec![RESIGNED]] {
        let appended = store.append(id, mark, events.clone()).await;
        mark = appended.expect("written");
        written.events.extend(events);
        let read = store.load(id).await.expect("readable").expect("there");
        assert!(same(&read.record, &written), "{read:?} is not {written:?}");
        assert_eq!(read.mark, mark);
    }
    assert_eq!(mark.seq(), Seq(5));
    let nobody = store.load(MatchId(Uuid::from_u128(99))).await;
    assert!(nobody.expect("readable").is_none());
    assert!(store.is_healthy());
}

/// A match has one rematch, which is found with it once it has ended.
pub(super) async fn a_match_has_one_rematch(store: &dyn Store) {
    let (id, mark) = created(store, 30).await;
    let mark = store.append(id, mark, started()).await.expect("written");
    let ended = store.append(id, mark, vec![RESIGNED]).await;
    ended.expect("written");
    let rematch = |number| {
        let mut record = record(number, &player(1));
        record.creation.terms.previous = Some(Previous {
            id,
            game: 1,
            points: [2, 0],
        });
        record
    };
    let (first, code) = (MatchId(Uuid::from_u128(31)), rematch(31).creation.code);
    let mark = store.create(OWNER, rematch(31)).await.expect("written");
    let second = store.create(OWNER, rematch(32)).await;
    assert_eq!(second, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!(read.next, Some(RematchRecord { id: first, code }));
    // It may have one itself.
    let mut third = rematch(33);
    third.creation.terms.previous = third.creation.terms.previous.map(|previous| Previous {
        id: first,
        ..previous
    });
    store
        .append(first, mark, vec![RESIGNED])
        .await
        .expect("written");
    store.create(OWNER, third).await.expect("written");
    let read = store.load(first).await.expect("readable").expect("there");
    assert_eq!(
        read.next.map(|next| next.id),
        Some(MatchId(Uuid::from_u128(33)))
    );
}

/// Who believes something else than is there writes nothing.
pub(super) async fn a_write_names_the_mark_that_it_follows(store: &dyn Store) {
    let (id, mark) = created(store, 20).await;
    let others = [
        JournalPosition::after(0),
        JournalPosition::after(2),
        // Journals of other stores: with an entry that is no event, and taken over once.
        JournalPosition::new(2, Seq(1), 0),
        JournalPosition::new(1, Seq(1), 1),
    ];
    for after in others {
        let conflict = store.append(id, after, started()).await;
        assert_eq!(conflict, Err(WriteError::Conflict), "{after:?}");
    }
    let nowhere = MatchId(Uuid::from_u128(21));
    let conflict = store
        .append(nowhere, JournalPosition::after(0), started())
        .await;
    assert_eq!(conflict, Err(WriteError::Conflict));
    let again = store.create(OTHER, record(20, &player(1))).await;
    assert_eq!(again, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("there");
    assert!(same(&read.record, &record(20, &player(1))));
    let next = store.append(id, mark, started()).await.expect("written");
    let late = store.append(id, mark, started()).await;
    assert_eq!(late, Err(WriteError::Conflict), "the mark is used up");
    assert_ne!(next, mark);
}

/// Of many writers at the same place one wins, every time.
pub(super) async fn one_writer_wins(store: &dyn Store) {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 300;
    let (id, mut mark) = created(store, 25).await;
    for round in 0..ROUNDS {
        let writers = (0..WRITERS).map(|writer| {
            let m = format!("{round} by {writer}");
            store.append(id, mark, vec![moved(Seat::First, &m)])
        });
        let (won, lost): (Vec<_>, Vec<_>) = futures::future::join_all(writers)
            .await
            .into_iter()
            .partition(Result::is_ok);
        assert_eq!(lost, [Err(WriteError::Conflict); WRITERS - 1], "{round}");
        mark = won[0].expect("it won");
    }
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!((read.mark, read.record.events.len()), (mark, 1 + ROUNDS));
}

/// Many writes at once, of many matches, and every one is answered by itself.
pub(super) async fn writes_share_what_they_wait_for(store: &dyn Store) {
    store.add_player(player(1), vec![]).await.expect("written");
    let records: Vec<Record> = (100..200)
        .map(|number| record(number, &player(1)))
        .collect();
    let created = records.iter().cloned();
    let created = futures::future::join_all(created.map(|one| store.create(OWNER, one))).await;
    let appended = records.iter().zip(created).enumerate();
    let appended = appended.map(|(index, (one, mark))| {
        let mark = mark.expect("written");
        let after = [mark, JournalPosition::after(5)][index % 2];
        store.append(one.creation.id, after, started())
    });
    let appended = futures::future::join_all(appended).await;
    for (index, answer) in appended.into_iter().enumerate() {
        let expected = [Ok(JournalPosition::after(3)), Err(WriteError::Conflict)][index % 2];
        assert_eq!(answer, expected, "{index}");
    }
}

/// A tail is what has happened since a mark, and the mark to go on from.
pub(super) async fn a_tail_begins_at_a_mark(store: &dyn Store) {
    let (id, first) = created(store, 50).await;
    let second = store.append(id, first, started()).await.expect("written");
    let moves = vec![moved(Seat::First, "b2"), moved(Seat::Second, "a1")];
    let third = store.append(id, second, moves.clone()).await;
    let third = third.expect("written");
    let all = [record(50, &player(1)).events, started(), moves].concat();
    for (after, known) in [
        (JournalPosition::after(0), 0),
        (first, 1),
        (second, 3),
        (third, 5),
    ] {
        let tail = store.tail(id, after).await.expect("readable");
        let events = all[known..].to_vec();
        let mark = third;
        assert_eq!(tail, Some(Tail { events, mark }), "{after:?}");
    }
    let nowhere = MatchId(Uuid::from_u128(51));
    for (id, after) in [
        (id, JournalPosition::after(6)),
        (id, JournalPosition::after(u64::MAX)),
        (id, JournalPosition::new(6, Seq(5), 0)),
        (id, JournalPosition::new(5, Seq(5), 1)),
        (nowhere, JournalPosition::after(0)),
    ] {
        let tail = store.tail(id, after).await.expect("readable");
        assert_eq!(tail, None, "{id} {after:?}");
    }
}

/// Whoever does not know whether an append was made reads it back by the mark that it followed, and
/// goes on from there, whichever way it went.
pub(super) async fn an_ambiguous_append_is_read_back(store: &dyn Store) {
    let (id, mark) = created(store, 55).await;
    // As if `Unknown` had been the answer, of an append that was not made, and then of one that was.
    let tail = store.tail(id, mark).await.expect("readable");
    let (events, nothing) = (Vec::new(), tail.expect("there"));
    assert_eq!(nothing, Tail { events, mark });
    let _unknown = store.append(id, nothing.mark, started()).await;
    let tail = store.tail(id, mark).await.expect("readable");
    let tail = tail.expect("there");
    assert_eq!(tail.events, started());
    let again = store.append(id, mark, started()).await;
    assert_eq!(again, Err(WriteError::Conflict), "it is not made twice");
    let move_on = vec![moved(Seat::First, "b2")];
    let appended = store.append(id, tail.mark, move_on).await;
    assert_eq!(appended, Ok(JournalPosition::after(4)));
}

/// A player is known by the tokens of all sessions and by id, and by nothing else.
pub(super) async fn players_are_known_by_their_sessions(store: &dyn Store) {
    for number in [1, 2, 1] {
        let sessions = vec![session(number, number), session(number + 10, number)];
        let added = store.add_player(player(number), sessions).await;
        added.expect("written");
    }
    store.add_player(player(3), vec![]).await.expect("written");
    for number in [1, 2] {
        for of in [session(number, number), session(number + 10, number)] {
            let found = store.session(of.token).await.expect("readable");
            assert_eq!(found, Some((player(number), of)));
        }
        let found = store.player_by_id(player(number).id).await;
        assert_eq!(found.expect("readable"), Some(player(number)));
    }
    assert_eq!(sessions(store, 2).await, [2, 12]);
    assert_eq!(sessions(store, 3).await, [0; 0]);
    let nobody = store.session(TokenHash([3; 32])).await.expect("readable");
    assert_eq!(nobody, None);
}

/// A session that has ended is good for nothing, and others stay.
pub(super) async fn sessions_end(store: &dyn Store) {
    let first = vec![session(1, 1), session(2, 1)];
    store.add_player(player(1), first).await.expect("written");
    for _ in 0..2 {
        store.add_session(session(3, 1)).await.expect("written");
    }
    let other = vec![session(4, 2)];
    store.add_player(player(2), other).await.expect("written");
    let [first, second] = [1, 2].map(|number| session(number, 1).id);
    let end = async |of: u8, which| {
        let ended = store.end_sessions(player(of).id, which).await;
        ended.expect("written");
        sessions(store, 1).await
    };
    assert_eq!(end(2, Sessions::One(first)).await, [1, 2, 3], "not theirs");
    for _ in 0..2 {
        assert_eq!(end(1, Sessions::One(first)).await, [2, 3]);
    }
    let ended = store.session(session(1, 1).token).await.expect("readable");
    assert_eq!(ended, None);
    assert_eq!(end(1, Sessions::AllBut(second)).await, [2]);
    assert_eq!(end(1, Sessions::All).await, [0; 0]);
    assert_eq!(sessions(store, 2).await, [4], "another's is not touched");
    let known = store.player_by_id(player(1).id).await.expect("readable");
    assert_eq!(known, Some(player(1)));
}

/// A pairing is taken once, by its code, while its time lasts; a player has one.
pub(super) async fn a_pairing_is_taken_once(store: &dyn Store) {
    let offer = async |number: u8, of: u8, now_ms: u64| {
        let by = session(of, of);
        let added = store.add_player(player(of), vec![by.clone()]).await;
        added.expect("written");
        let pairing = Pairing {
            code: TokenHash([number; 32]),
            player: player(of).id,
            expires_ms: now_ms + 100,
        };
        let offered = store.offer_pairing(pairing, by.id, now_ms, 2).await;
        offered.expect("written").then_some(pairing)
    };
    let find = async |number: u8, now_ms| {
        let found = store.pairing(TokenHash([number; 32]), now_ms).await;
        found.expect("readable")
    };
    assert!(offer(1, 1, 1000).await.is_some());
    let second = offer(2, 1, 1000).await;
    assert_eq!(find(1, 1000).await, None, "a new one voids the old");
    assert_eq!(find(2, 1099).await, second);
    assert_eq!(find(2, 1100).await, None);
    assert!(offer(3, 2, 1000).await.is_some());
    assert_eq!(offer(4, 3, 1000).await, None, "no more than two");
    assert!(offer(5, 2, 1000).await.is_some(), "in place of one's own");
    let take = |number, begun| store.take_pairing(TokenHash([number; 32]), session(begun, 1));
    let taken = futures::future::join_all((11..16).map(|begun| take(2, begun))).await;
    let taken = taken.into_iter().filter(|taken| *taken == Ok(true));
    assert_eq!(taken.count(), 1);
    assert_eq!(take(4, 16).await, Ok(false));
    let begun = store.sessions(player(1).id).await.expect("readable");
    assert_eq!(begun.len(), 2, "by whoever has taken it");
    assert!(offer(6, 3, 1000).await.is_some());
    let last = offer(7, 4, 1100).await;
    assert!(last.is_some(), "the others are over");
    let [own, other] = [4, 9].map(|number| session(number, 4).id);
    for (which, is_void) in [
        (Sessions::One(other), false),
        (Sessions::One(own), true),
        (Sessions::AllBut(own), true),
    ] {
        let ended = store.end_sessions(player(4).id, which).await;
        ended.expect("written");
        let expected = last.filter(|_| !is_void);
        assert_eq!(find(7, 1100).await, expected, "{which:?}");
        store.add_session(session(4, 4)).await.expect("written");
        assert_eq!(offer(7, 4, 1100).await, last);
    }
    let ended = store.end_sessions(player(4).id, Sessions::All).await;
    ended.expect("written");
    let pairing = Pairing {
        code: TokenHash([8; 32]),
        player: player(4).id,
        expires_ms: 2000,
    };
    let offered = store
        .offer_pairing(pairing, session(4, 4).id, 1100, 2)
        .await;
    assert_eq!(offered, Ok(false), "by a session that has ended");
}

/// A recovery key is its player's until there is another.
pub(super) async fn a_player_has_one_recovery_key(store: &dyn Store) {
    let key = |number: u8| TokenHash([number; 32]);
    let whose = async |number: u8| store.recovered(key(number)).await.expect("readable");
    for (number, of) in [(1, 1), (2, 1), (3, 2)] {
        let added = store.add_player(player(of), vec![]).await;
        added.expect("written");
        let kept = store.keep_recovery(player(of).id, key(number)).await;
        kept.expect("written");
    }
    assert_eq!(whose(1).await, None);
    assert_eq!(whose(2).await, Some(player(1).id));
    assert_eq!(whose(3).await, Some(player(2).id));
}

/// The day on which a session was used is kept.
pub(super) async fn a_session_is_seen(store: &dyn Store) {
    let seen = vec![session(1, 1), session(2, 1)];
    store.add_player(player(1), seen).await.expect("written");
    for token in [session(1, 1).token, TokenHash([9; 32])] {
        let saw = store.touch_session(token, 20_001).await;
        saw.expect("written");
    }
    let days = store.sessions(player(1).id).await.expect("readable");
    let days: Vec<u64> = days.iter().map(|session| session.seen_day).collect();
    assert_eq!(days, [20_001, 20_000]);
}

/// The numbers of a player's sessions.
async fn sessions(store: &dyn Store, of: u8) -> Vec<u8> {
    let found = store.sessions(player(of).id).await.expect("readable");
    found.iter().map(|session| session.token.0[0]).collect()
}

/// What an owner has is the live matches that it created or claimed, in order, and who is in them.
/// All others are orphans.
pub(super) async fn live_matches_have_an_owner(store: &dyn Store) {
    for number in 1..=4 {
        store
            .add_player(player(number), vec![])
            .await
            .expect("written");
    }
    for (number, host, owner) in [
        (32, 1, OTHER),
        (31, 2, OWNER),
        (34, 4, OTHER),
        (33, 3, OWNER),
    ] {
        let written = record(number, &player(host));
        store.create(owner, written).await.expect("written");
    }
    let ended = MatchId(Uuid::from_u128(33));
    let end = store
        .append(ended, JournalPosition::after(1), vec![RESIGNED])
        .await;
    end.expect("written");
    assert_eq!(orphans(store, OWNER).await, [32, 34]);
    assert_eq!(orphans(store, OTHER).await, [31]);
    assert_eq!(
        live(store, OTHER).await,
        ([32, 34].into(), vec![player(1), player(4)])
    );

    let claimed = MatchId(Uuid::from_u128(32));
    for _ in 0..2 {
        store.claim(claimed, OWNER).await.expect("claimed");
    }
    assert_eq!(orphans(store, OWNER).await, [34]);
    assert_eq!(
        live(store, OWNER).await,
        ([31, 32].into(), vec![player(1), player(2)])
    );
    let read = store.load(claimed).await.expect("readable").expect("there");
    let appended = store.append(claimed, read.mark, started()).await;
    appended.expect("whoever has claimed and read it goes on");

    // A claim of nothing makes nothing.
    for gone in [ended, MatchId(Uuid::from_u128(35))] {
        store.claim(gone, OWNER).await.expect("claimed");
    }
    assert_eq!(live(store, OWNER).await.0, [31, 32]);
}

async fn orphans(store: &dyn Store, asking: NodeId) -> Vec<u128> {
    let orphans = store.unowned(asking).await.expect("readable");
    orphans.into_iter().map(|id| id.0.as_u128()).collect()
}

/// The numbers of an owner's matches, and the players in them.
async fn live(store: &dyn Store, owner: NodeId) -> (Vec<u128>, Vec<PlayerRecord>) {
    let Live {
        matches,
        mut players,
    } = store.live(owner).await.expect("readable");
    let numbers = matches.iter().map(|one| {
        let Loaded { record, mark, .. } = one.as_ref().expect("sound");
        assert_eq!(mark.seq(), Seq(record.events.len() as u64));
        record.creation.id.0.as_u128()
    });
    players.sort_by_key(|player| player.id);
    (numbers.collect(), players)
}

/// A code is one live match's alone, and leads to the last match that had it.
pub(super) async fn a_code_is_of_one_live_match(store: &dyn Store) {
    let code = record(40, &player(1)).creation.code;
    assert_eq!(store.by_code(code).await.expect("readable"), None);
    let (first, mark) = created(store, 40).await;
    let mut second = record(47, &player(1));
    second.creation.code = code;
    let taken = store.create(OWNER, second.clone()).await;
    assert_eq!(taken, Err(WriteError::CodeTaken));
    assert_eq!(store.by_code(code).await.expect("readable"), Some(first));
    let nothing = store.load(second.creation.id).await.expect("readable");
    assert!(nothing.is_none(), "{nothing:?}");
    let again = store.create(OWNER, record(40, &player(1))).await;
    assert_eq!(
        again,
        Err(WriteError::Conflict),
        "its own code is not the matter"
    );

    let ended = store.append(first, mark, vec![RESIGNED]).await;
    ended.expect("written");
    assert_eq!(store.by_code(code).await.expect("readable"), Some(first));
    store.create(OWNER, second).await.expect("the code is free");
    let found = store.by_code(code).await.expect("readable");
    assert_eq!(found, Some(MatchId(Uuid::from_u128(47))));
}

/// Runs the suite with a store made by this expression, which may keep something beside it, and may be
/// `None` where there can be no such store.
macro_rules! suite {
    ($make:expr) => {
        suite!($make; what_is_written_is_there, a_write_names_the_mark_that_it_follows,
            one_writer_wins, writes_share_what_they_wait_for, a_tail_begins_at_a_mark,
            an_ambiguous_append_is_read_back, players_are_known_by_their_sessions, sessions_end, a_session_is_seen,
            a_pairing_is_taken_once, a_player_has_one_recovery_key,
            a_name_is_one_players_alone, a_password_ends_other_sessions, names_have_more_than_one_likeness,
            a_block_is_known_to_both, a_block_is_of_programs_too, blocks_have_a_bound,
            a_guest_is_called_otherwise, an_account_is_kept_as_it_was,
            a_recovery_key_is_proved, programs_have_keys_and_accounts,
            a_player_is_forgotten, who_was_forgotten_gets_no_part, a_proxy_knows_its_people, passes_are_taken_once,
            live_matches_have_an_owner, a_code_is_of_one_live_match, a_match_has_one_rematch,
            ended_matches_are_found_by_their_players, what_is_not_public_is_found_by_its_players,
            openings_are_counted, the_best_analysis_is_kept, analyses_are_counted,
            a_reminder_is_kept_with_the_events,
            a_reminder_comes_with_its_match,
            the_end_of_a_rated_match_is_numbered, a_delayed_match_is_numbered_late, rows_are_posted_once,
            a_rebuild_gives_the_same_bits, matches_are_taken_out, leaders_are_in_their_order,
            a_series_has_one_point_a_day, who_leaves_is_barred, a_ledger_is_copied);
    };
    ($make:expr; $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                let Some((store, _kept)) = $make else { return };
                crate::suite::$case(&store).await;
            }
        )+
    };
}
pub(super) use suite;
