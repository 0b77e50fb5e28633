//! Matches, moves and spectators on a server. The server and light clients run in one thread with
//! in-memory streams (see [`world`](crate::world)); the counts include the clients.

use crate::world::{MatchKind, World};
use crate::{Benchmark, Work};

/// Number of matches that a benchmark plays.
const MATCH_COUNT: usize = 50;

/// Number of spectators of a match.
const SPECTATOR_COUNT: usize = 100;

/// Moves of a game that the first player wins.
const TIC_TAC_TOE_MOVES: [&str; 5] = ["a1", "b1", "a2", "b2", "a3"];

const CHESS_GAMES: &str = include_str!("../../data/chess.playthrough");
const GOMOKU_GAMES: &str = include_str!("../../data/gomoku.playthrough");
const CONNECT_FOUR_GAMES: &str = include_str!("../../data/connect-four.playthrough");

const CASUAL: MatchKind = MatchKind {
    game: "tic-tac-toe",
    fields: r#","listed":false"#,
};

const TIMED: MatchKind = MatchKind {
    game: "tic-tac-toe",
    fields: r#","listed":false,"clock":{"kind":"fischer","main_ms":300000,"increment_ms":3000}"#,
};

const RATED: MatchKind = MatchKind {
    game: "tic-tac-toe",
    fields: r#","rated":true,"clock":{"kind":"fischer","main_ms":300000,"increment_ms":3000}"#,
};

pub(crate) const BENCHMARKS: [Benchmark; 9] = [
    Benchmark {
        name: "matches",
        committed: 10_489_965,
        prepare: || prepare_matches(World::new(2), CASUAL),
    },
    Benchmark {
        name: "matches with a clock",
        committed: 11_521_581,
        prepare: || prepare_matches(World::new(2), TIMED),
    },
    Benchmark {
        name: "rated matches",
        committed: 13_346_010,
        prepare: || prepare_matches(World::new(2).with_accounts(), RATED),
    },
    Benchmark {
        name: "matches without moves",
        committed: 5_573_716,
        prepare: prepare_matches_without_moves,
    },
    Benchmark {
        name: "moves of chess",
        committed: 913_173,
        prepare: || prepare_moves("chess", CHESS_GAMES),
    },
    Benchmark {
        name: "moves of Gomoku",
        committed: 256_845,
        prepare: || prepare_moves("gomoku", GOMOKU_GAMES),
    },
    Benchmark {
        name: "moves of Connect Four",
        committed: 245_716,
        prepare: || prepare_moves("connect-four", CONNECT_FOUR_GAMES),
    },
    Benchmark {
        name: "watching a match",
        committed: 2_222_298,
        prepare: prepare_watching,
    },
    Benchmark {
        name: "moves of a watched match",
        committed: 1_045_802,
        prepare: prepare_watched_moves,
    },
];

fn play_match(world: &mut World, kind: MatchKind) {
    let id = world.start_match(kind);
    world.play(&id, &TIC_TAC_TOE_MOVES);
}

/// A first match is not counted, and thus nothing that happens only once, such as the creation of
/// tables.
fn prepare_matches(mut world: World, kind: MatchKind) -> Work {
    play_match(&mut world, kind);
    Box::new(move || {
        for _ in 0..MATCH_COUNT {
            play_match(&mut world, kind);
        }
        Box::new(world)
    })
}

fn prepare_matches_without_moves() -> Work {
    let mut world = World::new(2);
    play_match(&mut world, CASUAL);
    Box::new(move || {
        for _ in 0..MATCH_COUNT {
            let id = world.start_match(CASUAL);
            world.resign(&id);
        }
        Box::new(world)
    })
}

/// Prepares the moves of the first game in a file of golden games.
fn prepare_moves(game: &'static str, file: &'static str) -> Work {
    let mut world = World::new(2);
    let id = world.start_match(MatchKind { game, ..CASUAL });
    let moves = file.lines().find_map(|line| line.strip_prefix("game "));
    let moves: Vec<&str> = moves.expect("file has a game").split(' ').collect();
    Box::new(move || {
        world.play(&id, &moves);
        Box::new(world)
    })
}

fn prepare_watching() -> Work {
    let mut world = World::new(2 + SPECTATOR_COUNT);
    let id = world.start_match(CASUAL);
    Box::new(move || {
        world.watch(&id);
        Box::new(world)
    })
}

fn prepare_watched_moves() -> Work {
    let mut world = World::new(2 + SPECTATOR_COUNT);
    let id = world.start_match(CASUAL);
    world.watch(&id);
    Box::new(move || {
        world.play(&id, &TIC_TAC_TOE_MOVES);
        Box::new(world)
    })
}
