//! Trains the weights of the draughts evaluation on self-play games. The targets are win
//! probabilities, derived from game results and shallow searches.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::{GameHistory, Outcome, Position, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{DraughtsFeatures, Limits, Report, Stop, TranspositionTable, search};

use crate::Args;
use crate::pattern_trainer::{LearningParams, PatternTrainer, Sample, TargetScale};
use crate::position_files::{self, PositionFiles};
use crate::win_probability::{self, WinProbabilityTargets};

/// Minimum number of random plies at the beginning of a game. Each game has an additional random
/// number of random plies, below a limit that is chosen at random from `EXTRA_RANDOM_PLIES`. Games
/// with many random plies reach positions that good players avoid, for example after the loss of
/// several men.
const RANDOM_PLIES: usize = 6;
const EXTRA_RANDOM_PLIES: [usize; 2] = [9, 23];

/// Maximum absolute score before the first training position. If either side has a larger
/// advantage, the game is discarded.
const OPENING_SCORE_MAX: i32 = 350;

/// Score above which a game is adjudicated as won. The score exceeds the value of all pieces, so
/// only a won endgame reaches it.
const WIN_SCORE: i32 = 4_900;

/// Maximum number of consecutive plies that are neither captures nor moves of a man. A game with
/// more such plies in a row is adjudicated as drawn.
const REVERSIBLE_PLIES_MAX: usize = 40;

/// Every game whose number is a multiple of this interval is held out from training. The positions
/// of these games measure the error of the weights.
const HELD_OUT_INTERVAL: usize = 20;

/// Default search depth in plies.
const DEFAULT_DEPTH: u32 = 6;

/// Weight of later positions and the game result in a training target. The remaining weight applies
/// to the search score of the position.
const TD_LAMBDA: f32 = 0.9;

/// Learning parameters. The evaluation predicts the logarithm of the odds of a win. Some terms are
/// counts of up to 12 men, so the learning rate of the terms is low.
const LEARNING_PARAMS: LearningParams = LearningParams {
    scale: TargetScale::Odds,
    term_rate_factor: 0.002,
};

/// Integer that the weight file stores for a weight of 1. A weight of 1 multiplies the odds of a
/// win by e.
const WEIGHT_SCALE: f32 = 128.0;

/// Position without a possible capture, from the perspective of the side to move.
#[derive(Clone, Copy)]
struct TrainingPosition {
    /// Bitboards of men and kings, first for the side to move, then for the opponent.
    bitboards: [u32; 4],
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

/// Size of a position in a file, in bytes.
const POSITION_BYTES: usize = 20;

impl TrainingPosition {
    fn to_bytes(self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        for (set, bytes) in self.bitboards.iter().zip(bytes.as_chunks_mut::<4>().0) {
            *bytes = set.to_le_bytes();
        }
        bytes[16..18].copy_from_slice(&self.score.to_le_bytes());
        bytes[18] = self.result;
        let flags = [self.is_first, self.is_second_seat, self.is_held_out];
        bytes[19] = flags
            .iter()
            .rev()
            .fold(0, |all, is| all << 1 | u8::from(*is));
        bytes
    }

    fn from_bytes(bytes: &[u8; POSITION_BYTES]) -> Self {
        let sets = bytes.as_chunks::<4>().0;
        let flags = bytes[19];
        Self {
            bitboards: std::array::from_fn(|set| u32::from_le_bytes(sets[set])),
            score: i16::from_le_bytes([bytes[16], bytes[17]]),
            result: bytes[18],
            is_first: flags & 1 != 0,
            is_second_seat: flags & 2 != 0,
            is_held_out: flags & 4 != 0,
        }
    }
}

/// Plays the games, trains the weights and writes them.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = position_files::positions_path(args, "draughts");
    if args.games > 0 {
        play_games(args, &positions)?;
    }
    let PositionFiles { files, hash } = PositionFiles::read(args, positions)?;
    let mut training_positions = Vec::new();
    for (name, read) in files {
        let read: Vec<_> = read.iter().map(TrainingPosition::from_bytes).collect();
        let slope =
            win_probability::fit_slope(read.iter().map(|lesson| (lesson.score, lesson.result)));
        eprintln!(
            "{name}: winning odds grow by a factor of e per {:.0} score units",
            1.0 / slope
        );
        training_positions.extend(with_targets(&read, slope));
    }
    let position_count = training_positions.len();
    let mut seen_positions = HashSet::new();
    training_positions.retain(|(lesson, _)| seen_positions.insert(lesson.bitboards));
    let unique_count = training_positions.len();
    eprintln!("{position_count} positions, {unique_count} distinct, sha256 {hash}...");
    fs::write(&args.out, train_weights(args, &training_positions))
        .with_context(|| args.out.display().to_string())
}

/// Computes the training targets of positions, which are win probabilities. The positions of each
/// game must be consecutive and in order.
fn with_targets(
    training_positions: &[TrainingPosition],
    slope: f32,
) -> Vec<(TrainingPosition, f32)> {
    let mut labelled = Vec::with_capacity(training_positions.len());
    let mut targets = WinProbabilityTargets::new(slope, TD_LAMBDA);
    for position in training_positions.iter().rev() {
        let score_and_result = (position.score, position.result);
        let target =
            targets.previous_target(score_and_result, position.is_second_seat, position.is_first);
        labelled.push((*position, target));
    }
    labelled.reverse();
    labelled
}

/// Trains the weights, logs their errors and returns the quantized weights.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the weights were rounded to the range of the type"
)]
fn train_weights(args: &Args, training_positions: &[(TrainingPosition, f32)]) -> Vec<u8> {
    let (mut training_set, mut held_out) = (Vec::new(), Vec::new());
    for (position, target) in training_positions {
        let features =
            DraughtsFeatures::from_position(&Draughts::from_relative_bitboards(position.bitboards));
        let sample = Sample {
            patterns: features.patterns,
            terms: features.terms.map(|term| term as f32),
            shares: features.shares,
            target: *target,
        };
        if position.is_held_out {
            held_out.push(sample);
        } else {
            training_set.push(sample);
        }
    }
    let mut rng = SeededRng::new(args.seed, "fit");
    let mut trainer = PatternTrainer::new(
        &training_set,
        DraughtsFeatures::PATTERN_WEIGHT_COUNT,
        args.ridge_strength,
        LEARNING_PARAMS,
    );
    for round in 0..args.epochs {
        trainer.run_epoch(
            &mut training_set,
            round as f32 / args.epochs as f32,
            &mut rng,
        );
    }
    let error = trainer.rms_error(&held_out);
    let clipped_count = trainer.quantize(WEIGHT_SCALE, WEIGHT_SCALE);
    eprintln!(
        "{} positions, RMS error {:.4}, {error:.4} on {} held out, {:.4} after quantization; {clipped_count} weights clipped",
        training_set.len(),
        trainer.rms_error(&training_set),
        held_out.len(),
        trainer.rms_error(&held_out),
    );
    let terms = trainer.terms.as_flattened().iter();
    let terms = terms.flat_map(|term| ((term * WEIGHT_SCALE) as i16).to_le_bytes());
    let weights = trainer.weights.as_flattened().iter();
    let weights = weights.map(|weight| ((weight * WEIGHT_SCALE) as i8).cast_unsigned());
    terms.chain(weights).collect()
}

/// Plays games and writes their positions to a file.
fn play_games(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut self_play = SelfPlay {
        depth: args.depth.unwrap_or(DEFAULT_DEPTH),
        stop: Stop::new(),
        table: TranspositionTable::new(1 << 20),
    };
    let mut rng = SeededRng::new(args.seed, "draughts");
    let mut results = [0; 3];
    for game_number in 1..=args.games as usize {
        if game_number % 100 == 0 {
            eprint!("\rgame {game_number} of {}    ", args.games);
        }
        let training_positions = self_play.play_game(&mut rng);
        if let Some(first) = training_positions.first() {
            results[usize::from(first.result)] += 1;
        }
        for mut position in training_positions {
            position.is_held_out = game_number % HELD_OUT_INTERVAL == 0;
            file.write_all(&position.to_bytes())?;
        }
    }
    eprintln!("\nlosses, draws and wins of the first player: {results:?}");
    Ok(file.flush()?)
}

/// Engine that plays both sides of a training game.
struct SelfPlay {
    depth: u32,
    stop: Stop,
    table: TranspositionTable,
}

impl SelfPlay {
    /// Plays a game. Returns the positions without possible captures after the random plies.
    /// Returns no positions if the game is discarded.
    fn play_game(&mut self, rng: &mut SeededRng) -> Vec<TrainingPosition> {
        let mut game = GameHistory::<Draughts>::initial();
        let extra_plies = EXTRA_RANDOM_PLIES[rng.next_below(2)];
        let mut moves = Vec::new();
        for _ in 0..RANDOM_PLIES + rng.next_below(extra_plies) {
            moves.clear();
            game.legal_moves(&mut moves);
            if moves.is_empty() {
                return Vec::new();
            }
            game.play(moves[rng.next_below(moves.len())])
                .expect("the move is legal");
        }
        if game.outcome().is_some() {
            return Vec::new();
        }
        self.table.clear();
        let mut training_positions = Vec::new();
        let winner = loop {
            let pos = *game.position();
            match game.outcome() {
                Some(Outcome::Decisive { winner }) => break Some(winner),
                Some(Outcome::Draw) => break None,
                None => {}
            }
            moves.clear();
            pos.legal_moves(&mut moves);
            let must_capture = moves[0].is_capture();
            if must_capture && moves.len() == 1 {
                game.play(moves[0]).expect("the move is legal");
                continue;
            }
            self.table.start_search();
            let limits = Limits::depth(self.depth);
            let Report { score, pv, .. } =
                search(&game, &limits, &self.stop, &self.table).expect("the game is not over");
            let score_value = score.value();
            if training_positions.is_empty() && score_value.abs() > OPENING_SCORE_MAX {
                return Vec::new();
            }
            if score_value.abs() > WIN_SCORE {
                break Some(if score_value > 0 {
                    pos.turn()
                } else {
                    pos.turn().other()
                });
            }
            if pos.endgame_number().is_some() || pos.reversible_plies() > REVERSIBLE_PLIES_MAX {
                break None;
            }
            if !must_capture {
                training_positions.push(TrainingPosition {
                    bitboards: pos.relative_bitboards(),
                    score: i16::try_from(score_value).expect("the score is at most WIN_SCORE"),
                    result: 1,
                    is_first: training_positions.is_empty(),
                    is_second_seat: pos.turn() == Seat::Second,
                    is_held_out: false,
                });
            }
            game.play(pv[0]).expect("the move is legal");
        };
        if let Some(winner) = winner {
            for position in &mut training_positions {
                let has_won = position.is_second_seat == (winner == Seat::Second);
                position.result = if has_won { 2 } else { 0 };
            }
        }
        training_positions
    }
}
