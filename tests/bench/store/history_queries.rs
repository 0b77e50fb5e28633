//! Measures the speed of queries over many ended matches, with and without concurrent moves.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, EventKind, Match, Occupant, Terms};
use plyhouse_protocol::{EndReason, MatchCode, MatchId};
use plyhouse_store::{
    HistoryQuery, JournalPosition, JournalStore, MatchRecord, SqliteStore, Store,
};
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::{Instant, MissedTickBehavior, interval};
use uuid::Uuid;

use crate::load::{MOVE_TEXT, OWNER};
use crate::measurement::median;
use crate::print_line;
use crate::recovery::player_record;

/// Number of matches written concurrently. Concurrent writes share transactions, which lowers the
/// cost per match.
const WRITE_BATCH: usize = 2000;

/// Maximum number of plies of a match. The limit is slightly higher than the number of plies that
/// the opening statistics cover. The queries do not read events, so longer matches would use disk
/// space without any effect on the results.
const PLIES_PER_MATCH: usize = 18;

/// Number of matches between two progress messages.
const PROGRESS_INTERVAL: usize = 100_000;

/// The number of players in the store is the number of matches divided by this constant. The first
/// player plays in at least a tenth of the matches.
const MATCHES_PER_PLAYER: usize = 50;

/// Number of busy matches. Each of them appends a move every [`MOVE_INTERVAL`].
const BUSY_MATCHES: usize = 100;
const MOVE_INTERVAL: Duration = Duration::from_millis(100);

/// Number of times that each query runs.
const QUERY_COUNT: usize = 2000;

/// Time at which the first stored match ends, in milliseconds since 1970.
const FIRST_END_MS: u64 = 1_700_000_000_000;

/// Deterministic pseudorandom number generator (Marsaglia, "Xorshift RNGs", 2003).
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).expect("index is below count")
    }
}

/// Fills a store with `matches` ended matches and runs the queries.
pub(crate) async fn measure_queries(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let store = Arc::new(SqliteStore::open(directory, None)?);
    let players = (matches / MATCHES_PER_PLAYER).max(3);
    let begin = Instant::now();
    fill(&*store, matches, players).await?;
    let fill_seconds = begin.elapsed().as_secs_f64();
    let mut bytes = 0;
    for file in directory.read_dir()? {
        bytes += file?.metadata()?.len();
    }
    print_line(&format!(
        "{matches} ended matches of {players} players: {fill_seconds:.0} s to write, {} MiB, {} bytes per match",
        bytes >> 20,
        bytes / matches.max(1) as u64
    ))?;
    for busy_matches in [0, BUSY_MATCHES] {
        let mut busy = JoinSet::new();
        for number in 0..busy_matches {
            let live = match_record(matches + number, players, false);
            let id = live.creation.id;
            let position = store.create(OWNER, live).await?;
            busy.spawn(append_moves(Arc::clone(&store), id, position));
        }
        run_queries(&*store, players, busy_matches * 10).await?;
        busy.shutdown().await;
    }
    Ok(())
}

async fn fill(store: &dyn Store, matches: usize, players: usize) -> anyhow::Result<()> {
    let added = (0..players).map(|number| store.add_player(player_record(number), vec![]));
    futures::future::try_join_all(added).await?;
    let play_batch = |from: usize| {
        let numbers = from..matches.min(from + WRITE_BATCH);
        spawn_blocking(move || {
            numbers
                .map(|number| match_record(number, players, true))
                .collect()
        })
    };
    let mut next: JoinHandle<Vec<MatchRecord>> = play_batch(0);
    for from in (0..matches).step_by(WRITE_BATCH) {
        let records = next.await?;
        // Generates the next batch while the current batch is written.
        next = play_batch(from + WRITE_BATCH);
        let written = records
            .into_iter()
            .map(|record| store.create(OWNER, record));
        futures::future::try_join_all(written).await?;
        if from > 0 && from.is_multiple_of(PROGRESS_INTERVAL) {
            print_line(&format!("{from} matches written"))?;
        }
    }
    Ok(())
}

/// Appends a move every [`MOVE_INTERVAL`] until an append fails.
async fn append_moves(store: Arc<SqliteStore>, match_id: MatchId, mut position: JournalPosition) {
    let mut times = interval(MOVE_INTERVAL);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        let moved = EventKind::untimed_move(Seat::First, MOVE_TEXT.to_owned()).at(0);
        match store.append(match_id, position, vec![moved]).await {
            Ok(after) => position = after,
            Err(_) => return,
        }
    }
}

async fn run_queries(
    store: &dyn Store,
    players: usize,
    moves_per_second: usize,
) -> anyhow::Result<()> {
    let mut rng = Xorshift(7);
    let (mut history_ms, mut busiest_history_ms, mut explore_ms) =
        (Vec::new(), Vec::new(), Vec::new());
    let (mut profile_ms, mut busiest_profile_ms) = (Vec::new(), Vec::new());
    let millis = |begin: Instant| begin.elapsed().as_secs_f64() * 1e3;
    let mut row_count = 0;
    for _ in 0..QUERY_COUNT {
        let begin = Instant::now();
        let query = HistoryQuery::for_player(player_record(rng.below(players)).id, 51);
        row_count += store.history(query).await?.context("no such player")?.len();
        history_ms.push(millis(begin));

        let begin = Instant::now();
        let query = HistoryQuery::for_player(player_record(0).id, 51);
        store.history(query).await?.context("no such player")?;
        busiest_history_ms.push(millis(begin));

        let (line, _) = random_line(&mut rng, 6);
        let plies = rng.below(line.len() + 1);
        let line: Vec<&str> = line[..plies].iter().map(String::as_str).collect();
        let (line, _) = connect_four().canonical_line(&line);
        let begin = Instant::now();
        store
            .explore(connect_four().info.id, line.join(" "))
            .await?;
        explore_ms.push(millis(begin));
    }
    for number in (0..QUERY_COUNT).map(|_| rng.below(players)) {
        for (number, times) in [(number, &mut profile_ms), (0, &mut busiest_profile_ms)] {
            let begin = Instant::now();
            let id = player_record(number).id;
            store.results(id, id).await?;
            store.history(HistoryQuery::for_player(id, 10)).await?;
            times.push(millis(begin));
        }
    }
    for (query, mut times) in [
        (
            format!("history ({} rows)", row_count / QUERY_COUNT),
            history_ms,
        ),
        (
            "history of the busiest player".to_owned(),
            busiest_history_ms,
        ),
        ("explore".to_owned(), explore_ms),
        ("profile".to_owned(), profile_ms),
        (
            "profile of the busiest player".to_owned(),
            busiest_profile_ms,
        ),
    ] {
        times.sort_by(f64::total_cmp);
        print_line(&format!(
            "at {moves_per_second} moves/s: {query}: median {:.2} ms, p99 {:.2} ms",
            median(&times),
            times[times.len() * 99 / 100],
        ))?;
    }
    Ok(())
}

fn connect_four() -> &'static catalog::GameEntry {
    catalog::find_game("connect-four").expect("catalog has Connect Four")
}

/// Plays a random game of at most `plies` plies. Returns its moves and its winner.
fn random_line(rng: &mut Xorshift, plies: usize) -> (Vec<String>, Option<Seat>) {
    let (mut board, mut line) = (connect_four().initial_position(), Vec::new());
    while line.len() < plies && board.outcome().is_none() {
        let moves = board.legal_moves();
        // The index of the move is the mean of two random indices. It therefore favours the central
        // columns, as human players do.
        let m = &moves[(rng.below(moves.len()) + rng.below(moves.len())) / 2];
        line.push(board.play(m).expect("a generated move is legal"));
    }
    let winner = match board.outcome() {
        Some(plyhouse_engine::game::Outcome::Decisive { winner }) => Some(winner),
        _ => None,
    };
    (line, winner)
}

/// Creates a match that has ended or has just begun.
fn match_record(number: usize, players: usize, has_ended: bool) -> MatchRecord {
    let mut rng = Xorshift((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let first = match number % 10 {
        0 => 0,
        _ => rng.below(players),
    };
    let second = (first + 1 + rng.below(players - 1)) % players;
    let creation = Creation {
        id: MatchId(Uuid::from_u128(number as u128 + 1)),
        code: MatchCode::from_number(number as u64),
        game: connect_four(),
        host: player_record(first).id,
        terms: Terms::with_defaults(true, 0, 1),
    };
    let seats = [first, second].map(|number| {
        let player = player_record(number);
        Occupant::Player {
            id: player.id,
            name: player.name,
            kind: player.kind,
            rating: None,
        }
    });
    let at_ms = FIRST_END_MS + number as u64;
    let mut events = Match::initial_events(&creation.terms, seats, at_ms);
    let (line, winner) = random_line(&mut rng, if has_ended { PLIES_PER_MATCH } else { 0 });
    let moved =
        |(ply, m): (usize, String)| EventKind::untimed_move(Seat::ALL[ply % 2], m).at(at_ms);
    events.extend(line.into_iter().enumerate().map(moved));
    if has_ended {
        let resigned = EventKind::untimed_end(Some(Seat::First), EndReason::Resignation);
        let won = winner.map(|winner| EventKind::untimed_end(Some(winner), EndReason::Rules));
        events.push(won.unwrap_or(resigned).at(at_ms));
    }
    MatchRecord { creation, events }
}
