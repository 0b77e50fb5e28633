//! What many matches of days cost a server that has them on its disk: the time until it is up, its
//! memory, and how the flags fall that fell due while it was down.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, Event, EventKind, Match, Occupant, RemainingTime, Terms};
use plyhouse_protocol::{ClockControl, MatchCode, MatchId};
use plyhouse_server::{Server, Settings};
use plyhouse_store::{MatchRecord, SqliteInspector, SqliteStore, Store, StoreInspector};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::load::OWNER;
use crate::recovery::player;
use crate::say;

/// How many matches are written at the same time.
const AT_ONCE: usize = 1000;

/// How long a move may take.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// One match in so many is out of time when the server starts.
const DUE_EACH: usize = 100;

/// How far each match has got.
const MOVES: [&str; 10] = [
    "e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7",
];

/// For how long the server waits before flags fall.
const GRACE: Duration = Duration::from_secs(1);

/// Has another process fill a store, so that this one's memory is the server's, and lets a server begin
/// with it.
pub(crate) async fn measure(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let filled = Command::new(std::env::current_exe()?)
        .args(["--fill-days", &matches.to_string(), "--directory"])
        .arg(directory)
        .status()?;
    ensure!(filled.success(), "the store was not filled");
    let begin = Instant::now();
    let store = SqliteStore::open(directory, None)?;
    let metrics = store.metrics();
    let settings = Settings {
        restart_grace: GRACE,
        ..Settings::default()
    };
    let server = Server::start(settings, Arc::new(store), &metrics)?;
    let recovered = server.recover().await?;
    let up = begin.elapsed();
    ensure!(recovered.hibernating == matches as u64, "{recovered:?}");
    say(&format!(
        "{matches} matches of days: {:.0} ms until the server is up, {} MiB of memory",
        up.as_secs_f64() * 1e3,
        memory("VmRSS")?,
    ))?;
    let due = matches.div_ceil(DUE_EACH);
    sleep(GRACE.saturating_sub(begin.elapsed())).await;
    let begin = Instant::now();
    while dormant(&server)? > matches - due {
        sleep(Duration::from_millis(10)).await;
    }
    let took = begin.elapsed().as_secs_f64();
    say(&format!(
        "{due} flags have fallen in {took:.1} s, {:.2} ms each; {} MiB of memory at most",
        took * 1e3 / due as f64,
        memory("VmHWM")?,
    ))?;
    server.stop().await;
    drop(server);
    in_their_order(directory, matches)
}

/// How many matches are dormant.
fn dormant(server: &Server) -> anyhow::Result<usize> {
    let page = server.metrics_text();
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix("plyhouse_matches_dormant "));
    Ok(line.context("it is on the page")?.parse()?)
}

/// A figure of this process, in MiB.
fn memory(name: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kib.context("no such figure")?.parse::<u64>()? / 1024)
}

/// Whether those that fell due have ended, each after the one that was due before it, and no other.
fn in_their_order(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let archive = SqliteInspector::open(directory)?;
    let mut ended = Vec::new();
    for number in 0..matches {
        let kept = archive.inspect_match(id(number))?.context("it is there")?;
        let due = number.is_multiple_of(DUE_EACH);
        ensure!(
            kept.record.has_ended() == due,
            "{number}: {:?}",
            kept.ended_ms
        );
        if due {
            let events = &kept.record.events;
            ended.push((events[events.len() - 2].at_ms, kept.ended_ms));
        }
    }
    ended.sort_unstable();
    ensure!(
        ended.is_sorted_by_key(|(_, ended_ms)| *ended_ms),
        "out of order"
    );
    say(&format!(
        "{} ended in the order in which they were due",
        ended.len()
    ))
}

/// Writes so many matches.
pub(crate) async fn fill(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let store = SqliteStore::open(directory, None)?;
    let now_ms = SystemTime::UNIX_EPOCH.elapsed()?.as_millis();
    let now_ms = u64::try_from(now_ms)?;
    let numbers: Vec<usize> = (0..matches).collect();
    for some in numbers.chunks(AT_ONCE) {
        let added = some.iter().flat_map(|number| [2 * number, 2 * number + 1]);
        let added = added.map(|number| store.add_player(player(number), vec![]));
        futures::future::try_join_all(added).await?;
        let created = some
            .iter()
            .map(|number| store.create(OWNER, record(*number, now_ms)));
        futures::future::try_join_all(created).await?;
    }
    Ok(())
}

fn id(number: usize) -> MatchId {
    MatchId(Uuid::from_u128(number as u128 + 1))
}

/// A game of chess. When its turn began is as good as shuffled, some hours ago or a day and some more.
fn record(number: usize, now_ms: u64) -> MatchRecord {
    let clock = ClockControl::Move { move_ms: DAY_MS };
    let creation = Creation {
        id: id(number),
        code: MatchCode::from_number(number as u64),
        game: catalog::find_game("chess").expect("there is chess"),
        host: player(2 * number).id,
        terms: Terms {
            clock: Some(clock),
            ..Terms::with_defaults(true, 0, 1)
        },
    };
    let shuffled = (number as u64).wrapping_mul(2_654_435_761) % (DAY_MS / 4);
    let ago_ms = match number.is_multiple_of(DUE_EACH) {
        true => DAY_MS + 3_600_000 + shuffled,
        false => shuffled,
    };
    let at_ms = now_ms - ago_ms;
    let seats = [0, 1].map(|index| {
        let player = player(2 * number + index);
        Occupant::Player {
            id: player.id,
            name: player.name,
            kind: player.kind,
            rating: None,
        }
    });
    let mut events = Match::initial_events(&creation.terms, seats, at_ms);
    let left = Some(RemainingTime::at_start(&clock));
    events.extend(MOVES.iter().enumerate().map(|(ply, m)| -> Event {
        let moved = EventKind::Moved {
            seat: Seat::ALL[ply % 2],
            m: (*m).to_owned(),
            spent_ms: Some(0),
            remaining: left,
        };
        moved.at(at_ms)
    }));
    MatchRecord { creation, events }
}
