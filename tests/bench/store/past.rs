//! How long it takes to find ended matches again, of however many, while others move.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, EventKind, Match, Occupant, Terms};
use plyhouse_protocol::{EndReason, MatchCode, MatchId};
use plyhouse_store::{HistoryQuery, JournalPosition, MatchRecord, SqliteStore, Store};
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::{Instant, MissedTickBehavior, interval};
use uuid::Uuid;

use crate::figures::median;
use crate::load::{MOVE, OWNER};
use crate::recovery::player;
use crate::say;

/// How many matches are written at the same time: so many share what a transaction costs.
const AT_ONCE: usize = 2000;

/// How long a match is: a little longer than what is counted of its beginning. What is looked for is found without
/// its events, so more of them would only fill the disk.
const PLIES: usize = 18;

/// After how many matches it is told how many there are.
const TOLD_EACH: usize = 100_000;

/// One player for so many matches; the first plays in every tenth.
const PLAYER_EACH: usize = 50;

/// How many matches are busy, and how often each has a move.
const BUSY: usize = 100;
const MOVE_EACH: Duration = Duration::from_millis(100);

/// How often each question is asked.
const ASKED: usize = 2000;

/// When the first match ended, in milliseconds since 1970.
const BEGAN_MS: u64 = 1_700_000_000_000;

/// Chance that is the same every time (Marsaglia, "Xorshift RNGs", 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).expect("less than count")
    }
}

/// Fills a store with so many ended matches, and asks for some.
pub(crate) async fn measure(directory: &Path, matches: usize) -> anyhow::Result<()> {
    let store = Arc::new(SqliteStore::open(directory, None)?);
    let players = (matches / PLAYER_EACH).max(3);
    let begin = Instant::now();
    fill(&*store, matches, players).await?;
    let filled = begin.elapsed().as_secs_f64();
    let mut bytes = 0;
    for file in directory.read_dir()? {
        bytes += file?.metadata()?.len();
    }
    say(&format!(
        "{matches} ended matches of {players} players: {filled:.0} s to write, {} MiB, {} bytes a match",
        bytes >> 20,
        bytes / matches.max(1) as u64
    ))?;
    for moves in [0, BUSY] {
        let mut busy = JoinSet::new();
        for number in 0..moves {
            let live = record(matches + number, players, false);
            let id = live.creation.id;
            let mark = store.create(OWNER, live).await?;
            busy.spawn(play(Arc::clone(&store), id, mark));
        }
        ask(&*store, players, moves * 10).await?;
        busy.shutdown().await;
    }
    Ok(())
}

async fn fill(store: &dyn Store, matches: usize, players: usize) -> anyhow::Result<()> {
    let added = (0..players).map(|number| store.add_player(player(number), vec![]));
    futures::future::try_join_all(added).await?;
    let played = |from: usize| {
        let numbers = from..matches.min(from + AT_ONCE);
        spawn_blocking(move || {
            numbers
                .map(|number| record(number, players, true))
                .collect()
        })
    };
    let mut next: JoinHandle<Vec<MatchRecord>> = played(0);
    for from in (0..matches).step_by(AT_ONCE) {
        let some = next.await?;
        // While these are written, those after them are played.
        next = played(from + AT_ONCE);
        let written = some.into_iter().map(|record| store.create(OWNER, record));
        futures::future::try_join_all(written).await?;
        if from > 0 && from.is_multiple_of(TOLD_EACH) {
            say(&format!("{from} matches are written"))?;
        }
    }
    Ok(())
}

/// Has a move kept every now and then.
async fn play(store: Arc<SqliteStore>, id: MatchId, mut mark: JournalPosition) {
    let mut times = interval(MOVE_EACH);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        let moved = EventKind::untimed_move(Seat::First, MOVE.to_owned()).at(0);
        match store.append(id, mark, vec![moved]).await {
            Ok(after) => mark = after,
            Err(_) => return,
        }
    }
}

async fn ask(store: &dyn Store, players: usize, moves: usize) -> anyhow::Result<()> {
    let mut chance = Chance(7);
    let (mut some, mut most, mut explored) = (Vec::new(), Vec::new(), Vec::new());
    let (mut known, mut best_known) = (Vec::new(), Vec::new());
    let millis = |begin: Instant| begin.elapsed().as_secs_f64() * 1e3;
    let mut found = 0;
    for _ in 0..ASKED {
        let begin = Instant::now();
        let one = HistoryQuery::for_player(player(chance.below(players)).id, 51);
        found += store.history(one).await?.context("it is there")?.len();
        some.push(millis(begin));

        let begin = Instant::now();
        let first = HistoryQuery::for_player(player(0).id, 51);
        store.history(first).await?.context("it is there")?;
        most.push(millis(begin));

        let (line, _) = line(&mut chance, 6);
        let plies = chance.below(line.len() + 1);
        let line: Vec<&str> = line[..plies].iter().map(String::as_str).collect();
        let (line, _) = game().canonical_line(&line);
        let begin = Instant::now();
        store.explore(game().info.id, line.join(" ")).await?;
        explored.push(millis(begin));
    }
    for number in (0..ASKED).map(|_| chance.below(players)) {
        for (number, times) in [(number, &mut known), (0, &mut best_known)] {
            let begin = Instant::now();
            let id = player(number).id;
            store.results(id, id).await?;
            store.history(HistoryQuery::for_player(id, 10)).await?;
            times.push(millis(begin));
        }
    }
    for (what, mut times) in [
        (format!("history ({} rows)", found / ASKED), some),
        ("history of the busiest".to_owned(), most),
        ("explore".to_owned(), explored),
        ("profile".to_owned(), known),
        ("profile of the busiest".to_owned(), best_known),
    ] {
        times.sort_by(f64::total_cmp);
        say(&format!(
            "beside {moves} moves/s: {what}: median {:.2} ms, 99 of 100 within {:.2} ms",
            median(&times),
            times[times.len() * 99 / 100],
        ))?;
    }
    Ok(())
}

fn game() -> &'static catalog::GameEntry {
    catalog::find_game("connect-four").expect("it is hosted")
}

/// A game by chance, of so many plies at most.
fn line(chance: &mut Chance, plies: usize) -> (Vec<String>, Option<Seat>) {
    let (mut board, mut line) = (game().initial_position(), Vec::new());
    while line.len() < plies && board.outcome().is_none() {
        let moves = board.legal_moves();
        // Rather in the centre, as people play.
        let m = &moves[(chance.below(moves.len()) + chance.below(moves.len())) / 2];
        line.push(board.play(m).expect("it is legal"));
    }
    let winner = match board.outcome() {
        Some(plyhouse_engine::game::Outcome::Decisive { winner }) => Some(winner),
        _ => None,
    };
    (line, winner)
}

/// A match, which has ended or has only begun.
fn record(number: usize, players: usize, ends: bool) -> MatchRecord {
    let mut chance = Chance((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let first = match number % 10 {
        0 => 0,
        _ => chance.below(players),
    };
    let second = (first + 1 + chance.below(players - 1)) % players;
    let creation = Creation {
        id: MatchId(Uuid::from_u128(number as u128 + 1)),
        code: MatchCode::from_number(number as u64),
        game: game(),
        host: player(first).id,
        terms: Terms::with_defaults(true, 0, 1),
    };
    let seats = [first, second].map(|number| {
        let player = player(number);
        Occupant::Player {
            id: player.id,
            name: player.name,
            kind: player.kind,
            rating: None,
        }
    });
    let at_ms = BEGAN_MS + number as u64;
    let mut events = Match::initial_events(&creation.terms, seats, at_ms);
    let (line, winner) = line(&mut chance, if ends { PLIES } else { 0 });
    let moved =
        |(ply, m): (usize, String)| EventKind::untimed_move(Seat::ALL[ply % 2], m).at(at_ms);
    events.extend(line.into_iter().enumerate().map(moved));
    if ends {
        let resigned = EventKind::untimed_end(Some(Seat::First), EndReason::Resignation);
        let won = winner.map(|winner| EventKind::untimed_end(Some(winner), EndReason::Rules));
        events.push(won.unwrap_or(resigned).at(at_ms));
    }
    MatchRecord { creation, events }
}
