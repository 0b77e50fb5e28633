//! Trains the weights of the Othello evaluation, which predicts the final disc margin in every
//! stage of the game.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::othello::Othello;
use plyhouse_engine::game::{GameHistory, Position, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{
    Limits, OthelloFeatures, Report, Stop, TranspositionTable, search, solve,
};

use crate::Args;
use crate::pattern_trainer::{LearningParams, PatternTrainer, Sample, TargetScale};
use crate::position_files::{self, PositionFiles};

/// Minimum number of random plies at the beginning of a game. Each game has an additional random
/// number of random plies, below a limit that is chosen at random from `EXTRA_RANDOM_PLIES`. Games
/// with many random plies reach positions that good players avoid, in every stage of the game.
const RANDOM_PLIES: usize = 6;
const EXTRA_RANDOM_PLIES: [usize; 2] = [8, 28];

/// Default search depth in plies.
const DEFAULT_DEPTH: u32 = 3;

/// Every game whose number is a multiple of this interval is held out from training. The positions
/// of these games measure the error of the weights.
const HELD_OUT_INTERVAL: usize = 20;

/// Overlap between the training positions of adjacent stages, in discs. The overlap prevents jumps
/// of the evaluation between stages.
const STAGE_OVERLAP: u32 = 2;

/// Pattern weights are stored in eighths of a disc. Term weights are stored in 64ths of a disc.
const PATTERN_UNITS_PER_DISC: f32 = 8.0;
const TERM_UNITS_PER_DISC: f32 = 64.0;

/// Weight of later positions and the game result in a training target. The remaining weight applies
/// to the search score of the position (Sutton, "Learning to predict by the methods of temporal
/// differences", 1988).
const TD_LAMBDA: f32 = 0.9;

/// Learning parameters. The evaluation predicts a margin in discs. The learning rate of the terms
/// is low, because terms such as mobility can have values of ten or more.
const LEARNING_PARAMS: LearningParams = LearningParams {
    scale: TargetScale::Value,
    term_rate_factor: 0.002,
};

/// Engine score that corresponds to one disc.
const SCORE_PER_DISC: f32 = 12.0;

/// Stored value of one disc in a position file.
const FILE_UNITS_PER_DISC: f32 = 256.0;

/// Position with its training target, the disc margin for the side to move.
struct TrainingPosition {
    discs: [u64; 2],
    margin: f32,
    is_held_out: bool,
}

/// Size of a position in a file, in bytes.
const POSITION_BYTES: usize = 19;

impl TrainingPosition {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "margins are at most 64 discs"
    )]
    fn to_bytes(&self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        bytes[..8].copy_from_slice(&self.discs[0].to_le_bytes());
        bytes[8..16].copy_from_slice(&self.discs[1].to_le_bytes());
        let margin = (self.margin * FILE_UNITS_PER_DISC).round() as i16;
        bytes[16..18].copy_from_slice(&margin.to_le_bytes());
        bytes[18] = u8::from(self.is_held_out);
        bytes
    }

    fn from_bytes(bytes: &[u8; POSITION_BYTES]) -> Self {
        let discs =
            |from: usize| u64::from_le_bytes(*bytes[from..].first_chunk().expect("eight bytes"));
        Self {
            discs: [discs(0), discs(8)],
            margin: f32::from(i16::from_le_bytes([bytes[16], bytes[17]])) / FILE_UNITS_PER_DISC,
            is_held_out: bytes[18] != 0,
        }
    }
}

/// Plays the games, trains the weights and writes them.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = position_files::positions_path(args, "othello");
    if args.games > 0 {
        play_games(args, &positions)?;
    }
    let PositionFiles { files, hash } = PositionFiles::read(args, positions)?;
    let read = files.iter().flat_map(|(_, read)| read);
    let training_positions: Vec<_> = read.map(TrainingPosition::from_bytes).collect();
    eprintln!("{} positions, sha256 {hash}...", training_positions.len());
    let mut out = Vec::new();
    for stage in 0..OthelloFeatures::STAGE_COUNT {
        out.extend(train_stage(args, stage, &training_positions)?);
    }
    fs::write(&args.out, out).with_context(|| args.out.display().to_string())
}

/// Plays games and writes their positions to a file.
fn play_games(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut self_play = SelfPlay {
        depth: args.depth.unwrap_or(DEFAULT_DEPTH),
        solve_empties_max: args.solve_empties_max,
        stop: Stop::new(),
        table: TranspositionTable::new(1 << 20),
    };
    let mut rng = SeededRng::new(args.seed, "othello");
    for game_number in 1..=args.games as usize {
        if game_number % 1000 == 0 {
            eprint!("\rgame {game_number} of {}    ", args.games);
        }
        for mut position in self_play.play_game(&mut rng) {
            position.is_held_out = game_number % HELD_OUT_INTERVAL == 0;
            file.write_all(&position.to_bytes())?;
        }
    }
    eprintln!();
    Ok(file.flush()?)
}

/// Engine that plays both sides of a training game.
struct SelfPlay {
    depth: u32,
    solve_empties_max: u32,
    stop: Stop,
    table: TranspositionTable,
}

impl SelfPlay {
    /// Plays a game. Returns the positions after the random plies that have more than one legal
    /// move.
    fn play_game(&mut self, rng: &mut SeededRng) -> Vec<TrainingPosition> {
        let mut pos = Othello::initial();
        let extra_plies = EXTRA_RANDOM_PLIES[rng.next_below(2)];
        let mut moves = Vec::new();
        for _ in 0..RANDOM_PLIES + rng.next_below(extra_plies) {
            moves.clear();
            pos.legal_moves(&mut moves);
            if moves.is_empty() {
                return Vec::new();
            }
            pos.play_unchecked(moves[rng.next_below(moves.len())]);
        }
        let mut scored_positions = Vec::new();
        while pos.outcome().is_none() {
            moves.clear();
            pos.legal_moves(&mut moves);
            let m = if moves.len() == 1 {
                moves[0]
            } else {
                let (m, predicted_margin) = self.choose_move(&pos);
                scored_positions.push((pos, predicted_margin));
                m
            };
            pos.play_unchecked(m);
        }
        let points = pos.ending().and_then(|ending| ending.scores);
        let [first, second] = points
            .expect("the game is over")
            .map(|points| points as f32);
        with_targets(&scored_positions, first - second)
    }

    /// Returns the engine's move and the predicted disc margin for the side to move. If at most
    /// `solve_empties_max` squares are empty, the move is optimal and the margin is exact.
    fn choose_move(&mut self, pos: &Othello) -> (<Othello as Position>::Move, f32) {
        self.table.clear();
        let game_history = GameHistory::from(*pos);
        let report = if pos.empties() <= self.solve_empties_max {
            solve(&game_history, &Limits::default(), &self.stop, &self.table)
        } else {
            search(
                &game_history,
                &Limits::depth(self.depth),
                &self.stop,
                &self.table,
            )
        };
        let Report { score, pv, .. } = report.expect("the game is not over");
        let predicted_margin = score
            .points()
            .map_or(score.value() as f32 / SCORE_PER_DISC, |points| {
                points as f32
            });
        (pv[0], predicted_margin)
    }
}

/// Computes the training targets of a game's positions. `scored_positions` contains each position
/// with the predicted margin for the side to move. `margin` is the final margin of the first
/// player. The returned positions are in reverse order.
fn with_targets(scored_positions: &[(Othello, f32)], margin: f32) -> Vec<TrainingPosition> {
    let mut target = margin;
    let mut training_positions = Vec::with_capacity(scored_positions.len());
    for (pos, predicted_margin) in scored_positions.iter().rev() {
        let sign = if pos.turn() == Seat::First { 1.0 } else { -1.0 };
        target = TD_LAMBDA * target + (1.0 - TD_LAMBDA) * sign * predicted_margin;
        training_positions.push(TrainingPosition {
            discs: pos.discs(),
            margin: sign * target,
            is_held_out: false,
        });
    }
    training_positions
}

/// Trains the weights of a stage, logs their errors and returns the quantized weights.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the weights were rounded to the range of the type"
)]
fn train_stage(
    args: &Args,
    stage: usize,
    training_positions: &[TrainingPosition],
) -> anyhow::Result<Vec<u8>> {
    let (mut training_set, mut held_out) = (Vec::new(), Vec::new());
    for position in training_positions {
        let discs = position.discs.map(u64::count_ones).iter().sum::<u32>();
        let empties = 64 - discs;
        let is_in_stage = |empties: u32| OthelloFeatures::stage_for_empties(empties) == stage;
        if !is_in_stage(empties)
            && (position.is_held_out
                || !is_in_stage(empties + STAGE_OVERLAP)
                    && !is_in_stage(empties.saturating_sub(STAGE_OVERLAP)))
        {
            continue;
        }
        let features = OthelloFeatures::from_discs(position.discs);
        let sample = Sample {
            patterns: features.patterns.map(u32::from),
            terms: features.terms.map(|term| term as f32),
            shares: [1.0],
            target: position.margin,
        };
        if position.is_held_out {
            held_out.push(sample);
        } else {
            training_set.push(sample);
        }
    }
    let mut rng = SeededRng::new(args.seed, &format!("stage {stage}"));
    let mut trainer = PatternTrainer::new(
        &training_set,
        OthelloFeatures::PATTERN_WEIGHT_COUNT,
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
    let clipped_count = trainer.quantize(PATTERN_UNITS_PER_DISC, TERM_UNITS_PER_DISC);
    eprintln!(
        "stage {stage}: {} positions, RMS error {:.2} discs, {error:.2} on {} held out, {:.2} after quantization; {clipped_count} weights clipped",
        training_set.len(),
        trainer.rms_error(&training_set),
        held_out.len(),
        trainer.rms_error(&held_out),
    );
    let mut bytes = Vec::new();
    for term in trainer.terms.as_flattened() {
        bytes.extend(((term * TERM_UNITS_PER_DISC) as i16).to_le_bytes());
    }
    let weight = |[weight]: &[f32; 1]| ((weight * PATTERN_UNITS_PER_DISC) as i8).cast_unsigned();
    bytes.extend(trainer.weights.iter().map(weight));
    Ok(bytes)
}
