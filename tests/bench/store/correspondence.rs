//! Measures a server with many correspondence matches in its store. The results are the startup
//! time, the memory use, and the time to end the overdue matches.

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
use plyhouse_store::{
    IdentityStore, JournalStore, MatchRecord, SqliteInspector, SqliteStore, StoreInspector,
};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::load::OWNER;
use crate::print_line;
use crate::recovery::player_record;

/// Number of matches written concurrently.
const WRITE_BATCH: usize = 1000;

/// Time limit for a move, in milliseconds.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// One of every `MATCHES_PER_OVERDUE` matches is overdue when the server starts.
const MATCHES_PER_OVERDUE: usize = 100;

/// Moves already played in each match.
const OPENING_MOVES: [&str; 10] = [
    "e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7",
];

/// Period after the server's start during which no clock runs out.
const RESTART_GRACE: Duration = Duration::from_secs(1);

/// Starts a server on a store with `matches` matches. A child process fills the store, so that the
/// memory use of this process is only that of the server.
pub(crate) async fn measure_startup(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let fill_status = Command::new(std::env::current_exe()?)
        .args(["--fill-days", &matches.to_string(), "--directory"])
        .arg(directory)
        .status()?;
    ensure!(fill_status.success(), "cannot fill the store");
    let begin = Instant::now();
    let store = SqliteStore::open(directory, None)?;
    let metrics = store.metrics();
    let settings = Settings {
        restart_grace: RESTART_GRACE,
        ..Settings::default()
    };
    let server = Server::start(settings, Arc::new(store), &metrics)?;
    let recovered = server.recover().await?;
    let startup_time = begin.elapsed();
    ensure!(recovered.hibernating == matches as u64, "{recovered:?}");
    print_line(&format!(
        "{matches} correspondence matches: startup in {:.0} ms, {} MiB memory",
        startup_time.as_secs_f64() * 1e3,
        memory_mib("VmRSS")?,
    ))?;
    let overdue_count = matches.div_ceil(MATCHES_PER_OVERDUE);
    sleep(RESTART_GRACE.saturating_sub(begin.elapsed())).await;
    let begin = Instant::now();
    while hibernating_matches(&server)? > matches - overdue_count {
        sleep(Duration::from_millis(10)).await;
    }
    let took = begin.elapsed().as_secs_f64();
    print_line(&format!(
        "{overdue_count} overdue matches ended in {took:.1} s, {:.2} ms each; {} MiB peak memory",
        took * 1e3 / overdue_count as f64,
        memory_mib("VmHWM")?,
    ))?;
    server.stop().await;
    drop(server);
    check_end_order(directory, matches)
}

/// Returns the number of matches that are only in the store and not in the server's memory.
fn hibernating_matches(server: &Server) -> anyhow::Result<usize> {
    let metrics = server.metrics_text();
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("plyhouse_matches_dormant "));
    Ok(line.context("metric is missing")?.parse()?)
}

/// Returns a field of `/proc/self/status`, in MiB.
fn memory_mib(name: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kib
        .context("no such field in /proc/self/status")?
        .parse::<u64>()?
        / 1024)
}

/// Checks that exactly the overdue matches have ended, in the order of their deadlines.
fn check_end_order(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let inspector = SqliteInspector::open(directory)?;
    let mut ended = Vec::new();
    for number in 0..matches {
        let stored = inspector
            .inspect_match(match_id(number))?
            .context("match is missing")?;
        let is_overdue = number.is_multiple_of(MATCHES_PER_OVERDUE);
        ensure!(
            stored.record.has_ended() == is_overdue,
            "{number}: {:?}",
            stored.ended_ms
        );
        if is_overdue {
            let events = &stored.record.events;
            ended.push((events[events.len() - 2].at_ms, stored.ended_ms));
        }
    }
    ended.sort_unstable();
    ensure!(
        ended.is_sorted_by_key(|(_, ended_ms)| *ended_ms),
        "matches ended out of order"
    );
    print_line(&format!(
        "{} overdue matches ended in the order of their deadlines",
        ended.len()
    ))
}

/// Writes `matches` matches to the store.
pub(crate) async fn fill(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let store = SqliteStore::open(directory, None)?;
    let now_ms = SystemTime::UNIX_EPOCH.elapsed()?.as_millis();
    let now_ms = u64::try_from(now_ms)?;
    let numbers: Vec<usize> = (0..matches).collect();
    for batch in numbers.chunks(WRITE_BATCH) {
        let added = batch.iter().flat_map(|number| [2 * number, 2 * number + 1]);
        let added = added.map(|number| store.add_player(player_record(number), vec![]));
        futures::future::try_join_all(added).await?;
        let created = batch
            .iter()
            .map(|number| store.create(OWNER, match_record(*number, now_ms)));
        futures::future::try_join_all(created).await?;
    }
    Ok(())
}

fn match_id(number: usize) -> MatchId {
    MatchId(Uuid::from_u128(number as u128 + 1))
}

/// Creates a chess match. The current turn began at a pseudorandom time within the last 6 hours. If
/// the match is overdue, the turn began 25 to 31 hours ago.
fn match_record(number: usize, now_ms: u64) -> MatchRecord {
    let clock = ClockControl::Move { move_ms: DAY_MS };
    let creation = Creation {
        id: match_id(number),
        code: MatchCode::from_number(number as u64),
        game: catalog::find_game("chess").expect("catalog has chess"),
        host: player_record(2 * number).id,
        terms: Terms {
            clock: Some(clock),
            ..Terms::with_defaults(true, 0, 1)
        },
    };
    let shuffled = (number as u64).wrapping_mul(2_654_435_761) % (DAY_MS / 4);
    let turn_age_ms = match number.is_multiple_of(MATCHES_PER_OVERDUE) {
        true => DAY_MS + 3_600_000 + shuffled,
        false => shuffled,
    };
    let at_ms = now_ms - turn_age_ms;
    let seats = [0, 1].map(|index| {
        let player = player_record(2 * number + index);
        Occupant::Player {
            id: player.id,
            name: player.name,
            kind: player.kind,
            rating: None,
        }
    });
    let mut events = Match::initial_events(&creation.terms, seats, at_ms);
    let initial_time = Some(RemainingTime::at_start(&clock));
    events.extend(OPENING_MOVES.iter().enumerate().map(|(ply, m)| -> Event {
        let moved = EventKind::Moved {
            seat: Seat::ALL[ply % 2],
            m: (*m).to_owned(),
            spent_ms: Some(0),
            remaining: initial_time,
        };
        moved.at(at_ms)
    }));
    MatchRecord { creation, events }
}
