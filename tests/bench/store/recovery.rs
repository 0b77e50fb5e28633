//! Measures how long a server takes to load all live matches at startup.

use anyhow::{Context, ensure};
use plyhouse_engine::catalog::{self, GameEntry};
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, Event, EventKind, Occupant, Terms};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind};
use plyhouse_server::{RecoveryStats, Server, Settings};
use plyhouse_store::{
    IdentityStore, JournalStore, MatchRecord, PlayerRecord, SqliteInspector, SqliteStore,
    StoreMetrics,
};
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;
use uuid::Uuid;

use crate::load::OWNER;
use crate::print_line;

/// Number of plies played in each match.
const PLIES_PER_MATCH: usize = 10;

/// Number of matches written concurrently.
const WRITE_BATCH: usize = 1000;

/// Fills a store, then starts a server on it in each round and measures how long loading takes.
pub(crate) async fn measure_recovery(
    directory: &Path,
    live: usize,
    rounds: usize,
) -> anyhow::Result<()> {
    fill(directory, live).await?;
    let inspector = SqliteInspector::open(directory)?;
    let summary = plyhouse_store::verify(&inspector, &mut |_| {})?;
    ensure!(summary.faults == 0, "the store is damaged: {summary:?}");
    drop(inspector);
    for round in 1..=rounds {
        let begin = Instant::now();
        let store = SqliteStore::open(directory, None)?;
        let open_time = begin.elapsed();
        let server = Server::start(
            Settings::default(),
            Arc::new(store),
            &StoreMetrics::default(),
        )?;
        let recovered = server.recover().await?;
        let recovery_time = begin.elapsed();
        ensure!(
            recovered
                == RecoveryStats {
                    live,
                    ..RecoveryStats::default()
                },
            "{recovered:?}"
        );
        print_line(&format!(
            "{live} live matches, {} events  round {round}  {:.0} ms until all are loaded \
             ({:.0} ms until the store is open)",
            summary.events,
            recovery_time.as_secs_f64() * 1e3,
            open_time.as_secs_f64() * 1e3,
        ))?;
        server.stop().await;
    }
    Ok(())
}

/// Writes live matches of Connect Four. Each match has its own two players.
async fn fill(directory: &Path, live: usize) -> anyhow::Result<()> {
    let store = SqliteStore::open(directory, None)?;
    let game = connect_four()?;
    let numbers: Vec<usize> = (0..live).collect();
    for batch in numbers.chunks(WRITE_BATCH) {
        let added = batch.iter().flat_map(|number| [2 * number, 2 * number + 1]);
        let added = added.map(|number| store.add_player(player_record(number), vec![]));
        futures::future::try_join_all(added).await?;
        let created = batch.iter().map(|&number| {
            let host = player_record(2 * number);
            store.create(
                OWNER,
                MatchRecord {
                    creation: Creation {
                        id: MatchId(Uuid::from_u128(number as u128 + 1)),
                        code: MatchCode::from_number(number as u64),
                        game,
                        host: host.id,
                        terms: Terms::with_defaults(true, 0, 1),
                    },
                    events: match_events(number),
                },
            )
        });
        futures::future::try_join_all(created).await?;
    }
    Ok(())
}

fn connect_four() -> anyhow::Result<&'static GameEntry> {
    catalog::find_game("connect-four").context("Connect Four is not in the catalog")
}

pub(crate) fn player_record(number: usize) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(number as u128 + 1)),
        name: format!("player {number}"),
        kind: PlayerKind::Guest,
    }
}

/// Returns the events of a started match after [`PLIES_PER_MATCH`] plies. The moves differ between
/// matches.
fn match_events(number: usize) -> Vec<Event> {
    let seated = Seat::ALL.into_iter().enumerate().map(|(index, seat)| {
        let PlayerRecord { id, name, kind } = player_record(2 * number + index);
        let occupant = Occupant::Player {
            id,
            name,
            kind,
            rating: None,
        };
        EventKind::Seated { seat, occupant }
    });
    let mut events: Vec<EventKind> = seated.chain([EventKind::UNTIMED_START]).collect();
    let mut position = connect_four()
        .expect("catalog has Connect Four")
        .initial_position();
    for ply in 0..PLIES_PER_MATCH {
        let seat = position.turn();
        let mut legal = position.legal_moves();
        // Winning moves are skipped, so that the match does not end.
        let mut choice = number / 7_usize.pow(u32::try_from(ply % 5).unwrap_or(0)) + ply;
        let m = loop {
            let m = legal.swap_remove(choice % legal.len());
            let mut after = position.clone_box();
            after.play(&m).expect("a generated move is legal");
            if after.outcome().is_none() {
                position = after;
                break m;
            }
            choice += 1;
        };
        events.push(EventKind::untimed_move(seat, m));
    }
    events.into_iter().map(|kind| kind.at(0)).collect()
}
