//! Trains the network of the chess evaluation on quiet positions of self-play games. The targets
//! are win probabilities, derived from game results and shallow searches. The network learns only
//! the difference from the handcrafted evaluation.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::chess::Chess;
use plyhouse_engine::game::{GameHistory, Outcome, Position, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{
    ChessFeatures, Evaluate, Limits, Report, Stop, TranspositionTable, search,
};
use sha2::{Digest, Sha256};

use crate::Args;
use crate::network_trainer::{NetworkTrainer, TrainingSet};
use crate::position_files::{self, PositionFiles};
use crate::win_probability::{self, WinProbabilityTargets};

/// Number of random plies at the beginning of a game. About half of the games begin with one more
/// random ply. White therefore makes the first searched move in some games, and Black in the
/// others.
const RANDOM_PLIES: usize = 8;

/// Maximum absolute score before the first training position. If either side has a larger
/// advantage, the game is discarded.
const OPENING_SCORE_MAX: i32 = 250;

/// Minimum absolute score of a winning position. A game is adjudicated as won after
/// `WIN_SCORE_PLIES` consecutive plies with such scores.
const WIN_SCORE: i32 = 1_500;
const WIN_SCORE_PLIES: u32 = 4;

/// Maximum absolute score of a drawish position. A game is adjudicated as drawn after
/// `DRAW_SCORE_PLIES` consecutive plies with such scores, but not before ply `DRAW_PLIES_MIN`.
const DRAW_SCORE_MAX: i32 = 15;
const DRAW_SCORE_PLIES: u32 = 8;
const DRAW_PLIES_MIN: usize = 60;

/// Maximum number of plies. A longer game is adjudicated as drawn.
const PLIES_MAX: usize = 250;

/// Maximum absolute search score of a training position.
const SCORE_MAX: i32 = 3_000;

/// Maximum absolute score of the positions used to fit the slope of the log odds. Positions with
/// larger scores are omitted, because the side that is ahead wins regardless of the exact score.
const SLOPE_SCORE_MAX: u16 = 600;

/// Every game whose number is a multiple of this interval is held out from training. The positions
/// of these games measure the error of the weights.
const HELD_OUT_INTERVAL: usize = 20;

/// Weight of later positions and the game result in a training target. The remaining weight applies
/// to the search score of the position (Sutton, "Learning to predict by the methods of temporal
/// differences", 1988).
const TD_LAMBDA: f32 = 0.8;

/// Initial learning rate.
const LEARNING_RATE: f32 = 0.003;

/// Number of piece kinds: six for the side to move and six for the opponent.
const PIECE_KINDS: usize = 12;

/// Quiet position, from the perspective of the side to move. In a quiet position, the side to move
/// is not in check, and the best move does not change the material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TrainingPosition {
    /// Bitboard of each piece kind: six for the side to move, then six for the opponent.
    bitboards: [u64; PIECE_KINDS],
    /// Search score of the position.
    score: i16,
    /// Result of the game for the side to move: 0 lost, 1 drawn, 2 won.
    result: u8,
    /// Flags of the position. `is_first` marks the first training position of its game.
    /// `is_second_seat` is set if the second seat is to move. `is_held_out` is set if the game is
    /// held out from training.
    is_first: bool,
    is_second_seat: bool,
    is_held_out: bool,
}

/// Size of a position in a file, in bytes. A position is stored as the set of occupied squares,
/// half a byte per piece, the score, the result and the flags.
const POSITION_BYTES: usize = 28;

impl TrainingPosition {
    fn to_bytes(self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        let occupied = self.bitboards.iter().fold(0, |all, fields| all | fields);
        bytes[..8].copy_from_slice(&occupied.to_le_bytes());
        for (index, square) in squares(occupied).enumerate() {
            let kind = self
                .bitboards
                .iter()
                .position(|fields| fields >> square & 1 != 0);
            let kind = u8::try_from(kind.expect("the square is occupied"))
                .expect("there are twelve piece kinds");
            bytes[8 + index / 2] |= kind << (4 * (index % 2));
        }
        bytes[24..26].copy_from_slice(&self.score.to_le_bytes());
        bytes[26] = self.result;
        let flags = [self.is_first, self.is_second_seat, self.is_held_out];
        bytes[27] = flags
            .iter()
            .rev()
            .fold(0, |all, is| all << 1 | u8::from(*is));
        bytes
    }

    /// Reads the search score and the game result of a stored position.
    fn read_score_and_result(bytes: &[u8; POSITION_BYTES]) -> (i16, u8) {
        (i16::from_le_bytes([bytes[24], bytes[25]]), bytes[26])
    }

    fn from_bytes(bytes: &[u8; POSITION_BYTES]) -> Self {
        let flags = bytes[27];
        let (score, result) = Self::read_score_and_result(bytes);
        Self {
            bitboards: read_bitboards(bytes),
            score,
            result,
            is_first: flags & 1 != 0,
            is_second_seat: flags & 2 != 0,
            is_held_out: flags & 4 != 0,
        }
    }
}

/// Reads the bitboards of a stored position.
fn read_bitboards(bytes: &[u8; POSITION_BYTES]) -> [u64; PIECE_KINDS] {
    let mut bitboards = [0; PIECE_KINDS];
    let occupied = u64::from_le_bytes(*bytes.first_chunk().expect("eight bytes"));
    for (index, square) in squares(occupied).enumerate() {
        let kind = bytes[8 + index / 2] >> (4 * (index % 2)) & 15;
        bitboards[usize::from(kind)] |= 1 << square;
    }
    bitboards
}

/// Returns whether a side has only its king. The handcrafted evaluation alone scores such
/// positions.
fn has_bare_king(bitboards: &[u64; PIECE_KINDS]) -> bool {
    let count_pieces = |sides: &[u64]| sides.iter().map(|fields| fields.count_ones()).sum::<u32>();
    let (own, other) = bitboards.split_at(PIECE_KINDS / 2);
    count_pieces(own) == 1 || count_pieces(other) == 1
}

/// Returns the squares of a bitboard, in ascending order.
fn squares(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let square = set.trailing_zeros();
            set &= set - 1;
            square
        })
    })
}

/// Stored position with its training target.
#[derive(Clone, Copy)]
struct TrainingSample<'a> {
    bytes: &'a [u8; POSITION_BYTES],
    /// Logarithm of the odds of a win according to the handcrafted evaluation.
    handcrafted_odds: f32,
    target: f32,
}

impl TrainingSet for Vec<TrainingSample<'_>> {
    fn get(&self, number: usize) -> (ChessFeatures, f32, f32) {
        let TrainingSample {
            bytes: kept,
            handcrafted_odds: known,
            target: chance,
        } = self[number];
        (
            ChessFeatures::from_relative_bitboards(&read_bitboards(kept)),
            known,
            chance,
        )
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// Plays the games, trains the network and writes its weights.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = position_files::positions_path(args, "chess");
    if args.games > 0 {
        play_games(args, &positions)?;
    }
    let PositionFiles { files, hash } = PositionFiles::read(args, positions)?;
    let (mut position_count, mut seen_hashes) = (0, HashSet::new());
    let (mut training_set, mut held_out) = (Vec::new(), Vec::new());
    let scores = files
        .iter()
        .flat_map(|(_, read)| read)
        .map(TrainingPosition::read_score_and_result);
    let scores = scores.filter(|(score, _)| score.unsigned_abs() <= SLOPE_SCORE_MAX);
    let slope = win_probability::fit_slope(scores);
    eprintln!(
        "winning odds grow by a factor of e per {:.0} score units",
        1.0 / slope
    );
    for (_, read) in &files {
        let mut targets = WinProbabilityTargets::new(slope, TD_LAMBDA);
        for bytes in read.iter().rev() {
            position_count += 1;
            let position = TrainingPosition::from_bytes(bytes);
            let score_and_result = (position.score, position.result);
            let target = targets.previous_target(
                score_and_result,
                position.is_second_seat,
                position.is_first,
            );
            if !has_bare_king(&position.bitboards) && seen_hashes.insert(hash_of(&bytes[..24])) {
                let sample_set = if position.is_held_out {
                    &mut held_out
                } else {
                    &mut training_set
                };
                let pos = Chess::from_relative_bitboards(&position.bitboards)
                    .expect("the bitboards came from a position");
                let handcrafted_odds = slope * ChessFeatures::handcrafted_value(&pos) as f32;
                sample_set.push(TrainingSample {
                    bytes,
                    handcrafted_odds,
                    target,
                });
            }
        }
    }
    let unique_count = seen_hashes.len();
    drop(seen_hashes);
    eprintln!("{position_count} positions, {unique_count} distinct, sha256 {hash}...");
    fs::write(&args.out, train_weights(args, &training_set, &held_out))
        .with_context(|| args.out.display().to_string())
}

/// Trains the network, logs its errors and returns the weights.
fn train_weights(
    args: &Args,
    training_set: &Vec<TrainingSample<'_>>,
    held_out: &Vec<TrainingSample<'_>>,
) -> Vec<u8> {
    let mut rng = SeededRng::new(args.seed, "fit");
    let mut trainer = NetworkTrainer::new(&mut rng);
    eprintln!(
        "handcrafted evaluation only: held-out RMS error {:.4}",
        trainer.rms_error(held_out)
    );
    for round in 0..args.epochs {
        let error = trainer.run_epoch(training_set, (round, args.epochs), LEARNING_RATE, &mut rng);
        let held_out_error = trainer.rms_error(held_out);
        eprintln!(
            "round {}: RMS error {error:.4}, {held_out_error:.4} held out",
            round + 1
        );
    }
    let bytes = trainer.quantize();
    eprintln!(
        "{} positions, {} held out: held-out RMS error after quantization {:.4}",
        training_set.len(),
        held_out.len(),
        trainer.rms_error(held_out),
    );
    bytes
}

/// Returns a 64-bit hash of `bytes`. Collisions are so unlikely that the caller can ignore them.
fn hash_of(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    u64::from_le_bytes(*digest.first_chunk().expect("32 bytes"))
}

/// Plays games and writes their positions to a file.
fn play_games(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut self_play = SelfPlay {
        nodes: args.nodes,
        stop: Stop::new(),
        table: TranspositionTable::new(1 << 20),
    };
    let mut rng = SeededRng::new(args.seed, "chess");
    let mut results = [0; 3];
    for game_number in 1..=args.games as usize {
        if game_number % 100 == 0 {
            eprint!("\rgame {game_number} of {}: {results:?}    ", args.games);
        }
        let training_positions = self_play.play_game(&mut rng);
        if let Some(first) = training_positions.first() {
            let for_first_seat = |result| {
                if first.is_second_seat {
                    2 - result
                } else {
                    result
                }
            };
            results[usize::from(for_first_seat(first.result))] += 1;
        }
        for mut position in training_positions {
            position.is_held_out = game_number % HELD_OUT_INTERVAL == 0;
            file.write_all(&position.to_bytes())?;
        }
        // The file is flushed after every game, so that an interrupted run leaves only complete
        // games.
        file.flush()?;
    }
    eprintln!("\nlosses, draws and wins of the first player: {results:?}");
    Ok(())
}

/// Engine that plays both sides of a training game.
struct SelfPlay {
    nodes: u64,
    stop: Stop,
    table: TranspositionTable,
}

impl SelfPlay {
    /// Plays a game and returns its quiet positions after the random plies. Returns no positions if
    /// the game is discarded.
    fn play_game(&mut self, rng: &mut SeededRng) -> Vec<TrainingPosition> {
        let mut game = GameHistory::<Chess>::initial();
        let mut moves = Vec::new();
        for _ in 0..RANDOM_PLIES + rng.next_below(2) {
            moves.clear();
            game.legal_moves(&mut moves);
            if moves.is_empty() {
                return Vec::new();
            }
            game.play(moves[rng.next_below(moves.len())])
                .expect("the move is legal");
        }
        self.table.clear();
        let mut positions = Vec::new();
        let (mut winning_plies, mut drawish_plies) = (0_i32, 0);
        let winner = loop {
            let pos = game.position().clone();
            match game.outcome() {
                Some(Outcome::Decisive { winner }) => break Some(winner),
                Some(Outcome::Draw) => break None,
                None => {}
            }
            self.table.start_search();
            let limits = Limits::nodes(self.nodes);
            let Report { score, pv, .. } =
                search(&game, &limits, &self.stop, &self.table).expect("the game is not over");
            let score_value = score.value();
            if positions.is_empty() && score_value.abs() > OPENING_SCORE_MAX {
                return Vec::new();
            }
            // Multiplying by `sign` converts a score for the side to move to a score for the first
            // seat.
            let sign = if pos.turn() == Seat::First { 1 } else { -1 };
            winning_plies = match sign * score_value {
                WIN_SCORE.. => winning_plies.max(0) + 1,
                value if value <= -WIN_SCORE => winning_plies.min(0) - 1,
                _ => 0,
            };
            drawish_plies = if score_value.abs() <= DRAW_SCORE_MAX {
                drawish_plies + 1
            } else {
                0
            };
            if winning_plies.unsigned_abs() >= WIN_SCORE_PLIES {
                let is_first = winning_plies > 0;
                break Some(if is_first { Seat::First } else { Seat::Second });
            }
            let plies = game.key_history().len();
            if plies >= PLIES_MAX || plies >= DRAW_PLIES_MIN && drawish_plies >= DRAW_SCORE_PLIES {
                break None;
            }
            let best = pv[0];
            let is_quiet = !pos.is_forced() && pos.after(best).material() == pos.material();
            if is_quiet && score_value.abs() <= SCORE_MAX {
                positions.push(TrainingPosition {
                    bitboards: pos.relative_bitboards(),
                    score: i16::try_from(score_value).expect("the score is below SCORE_MAX"),
                    result: 1,
                    is_first: positions.is_empty(),
                    is_second_seat: pos.turn() == Seat::Second,
                    is_held_out: false,
                });
            }
            game.play(best).expect("the move is legal");
        };
        if let Some(winner) = winner {
            for position in &mut positions {
                let has_won = position.is_second_seat == (winner == Seat::Second);
                position.result = if has_won { 2 } else { 0 };
            }
        }
        positions
    }
}
