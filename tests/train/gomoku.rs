//! Trains the network of the Gomoku evaluation. This small network predicts the odds of a win from
//! features of both sides.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::gomoku::Gomoku;
use plyhouse_engine::game::{GameHistory, Outcome, Position};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{GomokuFeatures, Limits, Score, Stop, TranspositionTable, search};

use crate::Args;
use crate::position_files::{self, PositionFiles};

const INPUTS: usize = GomokuFeatures::INPUTS;
const HIDDEN: usize = GomokuFeatures::HIDDEN;

/// Number of random plies at the beginning of a game.
const RANDOM_PLIES: usize = 8;

/// Minimum number of nodes per move. In each game, both sides get node limits: this minimum plus a
/// random number below `EXTRA_NODES_MAX`. The random limits make games from the same opening
/// different.
const NODES_MIN: u64 = 1_500;
const EXTRA_NODES_MAX: usize = 3_000;

/// Every game whose number is a multiple of this interval is held out from training. The positions
/// of these games measure the error of the weights.
const HELD_OUT_INTERVAL: usize = 20;

/// Weight of the game result in a training target. The remaining weight applies to the search score
/// of the position.
const RESULT_WEIGHT: f32 = 0.7;

/// Hyperparameters: the number of positions per step, the initial learning rate and the L2 penalty.
/// The learning rate decreases linearly to 5% of its initial value.
const BATCH_SIZE: usize = 256;
const LEARNING_RATE: f32 = 0.003;
const WEIGHT_DECAY: f32 = 1e-4;

/// Decay rates of the moving averages of gradients and of squared gradients (Kingma and Ba, "Adam:
/// a method for stochastic optimization", 2014).
const ADAM_BETAS: [f32; 2] = [0.9, 0.999];

/// Number of weights. The weights are stored in this order: the hidden biases, a row of weights per
/// input, the output weight of each hidden unit, and the output bias.
const WEIGHT_COUNT: usize = HIDDEN * (INPUTS + 2) + 1;

/// Size of a position in a file, in bytes. A position is stored as the inputs, two bytes for the
/// target, and a flag that marks held-out positions.
const POSITION_BYTES: usize = INPUTS + 3;

/// Integer that represents a probability of 1 in a position file.
const PROBABILITY_SCALE: f32 = 65_535.0;

/// Training position from a position file. `input_roots` contains the square roots of the inputs.
/// `target` is the target win probability of the side to move.
struct TrainingPosition {
    input_roots: [f32; INPUTS],
    target: f32,
    is_held_out: bool,
}

impl TrainingPosition {
    fn from_bytes(bytes: &[u8; POSITION_BYTES]) -> Self {
        let mut input_roots = [0.0; INPUTS];
        for (root, number) in input_roots.iter_mut().zip(bytes) {
            *root = f32::from(*number).sqrt();
        }
        let [.., low, high, is_held_out] = *bytes;
        Self {
            input_roots,
            target: f32::from(u16::from_le_bytes([low, high])) / PROBABILITY_SCALE,
            is_held_out: is_held_out != 0,
        }
    }
}

/// Plays the games, trains the network and writes its weights.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = position_files::positions_path(args, "gomoku");
    if args.games > 0 {
        play_games(args, &positions)?;
    }
    let PositionFiles { files, hash } = PositionFiles::read(args, positions)?;
    let training_positions = files
        .iter()
        .flat_map(|(_, read)| read)
        .map(TrainingPosition::from_bytes);
    let (held_out, training_set): (Vec<_>, Vec<_>) =
        training_positions.partition(|lesson| lesson.is_held_out);
    eprintln!(
        "{} positions, {} held out, sha256 {hash}...",
        training_set.len(),
        held_out.len()
    );
    let network = fit_network(args, &training_set);
    eprintln!(
        "cross entropy {:.4} nats, held-out {:.4}",
        cross_entropy(&network, &training_set),
        cross_entropy(&network, &held_out)
    );
    let bytes: Vec<u8> = network
        .iter()
        .flat_map(|weight| weight.to_le_bytes())
        .collect();
    fs::write(&args.out, bytes).with_context(|| args.out.display().to_string())
}

/// Plays games and writes their positions to a file.
fn play_games(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut table = TranspositionTable::new(1 << 22);
    let mut rng = SeededRng::new(args.seed, "gomoku");
    for game_number in 1..=args.games as usize {
        if game_number % 100 == 0 {
            eprint!("\rgame {game_number} of {}    ", args.games);
        }
        let is_held_out = game_number % HELD_OUT_INTERVAL == 0;
        for mut position in play_game(&mut rng, &mut table) {
            position[POSITION_BYTES - 1] = is_held_out.into();
            file.write_all(&position)?;
        }
    }
    eprintln!();
    Ok(file.flush()?)
}

/// Plays a game and returns its quiet positions, encoded as in the position file.
fn play_game(rng: &mut SeededRng, table: &mut TranspositionTable) -> Vec<[u8; POSITION_BYTES]> {
    let mut pos = Gomoku::initial();
    let mut moves = Vec::new();
    for _ in 0..RANDOM_PLIES {
        moves.clear();
        pos.legal_moves(&mut moves);
        pos.play_unchecked(moves[rng.next_below(moves.len())]);
    }
    let limits =
        [(); 2].map(|()| Limits::nodes(NODES_MIN + rng.next_below(EXTRA_NODES_MAX) as u64));
    let mut quiet_positions = Vec::new();
    while pos.outcome().is_none() {
        table.clear();
        let limits = &limits[pos.turn().index()];
        let report = search(&GameHistory::from(pos), limits, &Stop::new(), table);
        let report = report.expect("the game is not over");
        if let Some(features) = GomokuFeatures::from_quiet_position(&pos) {
            quiet_positions.push((features, pos.turn(), report.score));
        }
        pos.play_unchecked(report.pv[0]);
    }
    let outcome = pos.outcome().expect("the game is over");
    let encoded = quiet_positions.iter().map(|(features, seat, score)| {
        let result = match outcome {
            Outcome::Decisive { winner } => f32::from(u8::from(winner == *seat)),
            Outcome::Draw => 0.5,
        };
        encode_position(
            features,
            RESULT_WEIGHT * result + (1.0 - RESULT_WEIGHT) * score_to_probability(*score),
        )
    });
    encoded.collect()
}

/// Converts a search score to a win probability.
fn score_to_probability(score: Score) -> f32 {
    sigmoid(score.value() as f32 / GomokuFeatures::SCALE)
}

fn encode_position(features: &GomokuFeatures, target: f32) -> [u8; POSITION_BYTES] {
    let mut bytes = [0; POSITION_BYTES];
    for (byte, number) in bytes.iter_mut().zip(features.0) {
        *byte = u8::try_from(number).unwrap_or(u8::MAX);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is between 0 and PROBABILITY_SCALE"
    )]
    let target = (target * PROBABILITY_SCALE).round() as u16;
    bytes[INPUTS..INPUTS + 2].copy_from_slice(&target.to_le_bytes());
    bytes
}

fn sigmoid(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// Returns the win probability that the network predicts, and the activations of its hidden units.
fn forward(network: &[f32], position: &TrainingPosition) -> (f32, [f32; HIDDEN]) {
    let mut units = [0.0; HIDDEN];
    units.copy_from_slice(&network[..HIDDEN]);
    for (root, weights) in position
        .input_roots
        .iter()
        .zip(network[HIDDEN..].chunks_exact(HIDDEN))
    {
        for (unit, weight) in units.iter_mut().zip(weights) {
            *unit += root * weight;
        }
    }
    let units = units.map(|unit| unit.max(0.0));
    let weighted_units = units.iter().zip(&network[HIDDEN * (INPUTS + 1)..]);
    let odds = network[WEIGHT_COUNT - 1]
        + weighted_units
            .map(|(unit, weight)| unit * weight)
            .sum::<f32>();
    (sigmoid(odds), units)
}

/// Returns the mean cross entropy between the predictions and the targets, in nats.
fn cross_entropy(network: &[f32], training_positions: &[TrainingPosition]) -> f64 {
    let losses = training_positions.iter().map(|lesson| {
        let (predicted, target) = (
            f64::from(forward(network, lesson).0),
            f64::from(lesson.target),
        );
        -target * predicted.max(1e-9).ln() - (1.0 - target) * (1.0 - predicted).max(1e-9).ln()
    });
    losses.sum::<f64>() / training_positions.len().max(1) as f64
}

/// Trains a network. During training, each input is divided by its standard deviation.
fn fit_network(args: &Args, training_set: &[TrainingPosition]) -> Vec<f32> {
    let mut rng = SeededRng::new(args.seed, "network");
    #[expect(
        clippy::cast_possible_truncation,
        reason = "f32 is as precise as the other factor"
    )]
    let mut random_weight = |width: f32| width * (2.0 * rng.next_f64() as f32 - 1.0);
    let (means, spreads) = input_statistics(training_set);
    let mut network = vec![0.0; WEIGHT_COUNT];
    for (index, weight) in network.iter_mut().enumerate() {
        *weight = match index / HIDDEN {
            row if (1..=INPUTS).contains(&row) => random_weight(0.25),
            row if row == INPUTS + 1 => random_weight(0.5),
            _ => 0.0,
        };
    }
    // The initial biases center the inputs of the hidden units, so that about half of the hidden
    // units are active.
    for (input, (mean, spread)) in means.iter().zip(&spreads).enumerate() {
        let (biases, weights) = network.split_at_mut(HIDDEN);
        for (bias, weight) in biases.iter_mut().zip(&weights[HIDDEN * input..]) {
            *bias -= mean / spread * weight;
        }
    }
    let mut averages = vec![[0.0; 2]; WEIGHT_COUNT];
    let mut order: Vec<usize> = (0..training_set.len()).collect();
    let steps = args.epochs as usize * training_set.len().div_ceil(BATCH_SIZE);
    let mut step = 0;
    for _ in 0..args.epochs {
        for index in 0..order.len() {
            let other = index + rng.next_below(order.len() - index);
            order.swap(index, other);
        }
        for batch in order.chunks(BATCH_SIZE) {
            let gradient = gradient(
                &network,
                &spreads,
                batch.iter().map(|index| &training_set[*index]),
            );
            step += 1;
            let learning_rate = LEARNING_RATE * (1.0 - 0.95 * step as f32 / steps as f32);
            let bias_corrections = ADAM_BETAS.map(|fade| 1.0 - fade.powf(step as f32));
            for ((weight, average), derivative) in
                network.iter_mut().zip(&mut averages).zip(gradient)
            {
                for ((average, beta), sample) in average
                    .iter_mut()
                    .zip(ADAM_BETAS)
                    .zip([derivative, derivative * derivative])
                {
                    *average += (1.0 - beta) * (sample - *average);
                }
                *weight -= learning_rate * (average[0] / bias_corrections[0])
                    / ((average[1] / bias_corrections[1]).sqrt() + 1e-8);
            }
        }
    }
    fold_normalization(&network, &spreads)
}

/// Returns the mean and the standard deviation of each input. A standard deviation of 0 is replaced
/// by 1 to avoid a division by zero.
fn input_statistics(training_positions: &[TrainingPosition]) -> ([f32; INPUTS], [f32; INPUTS]) {
    let count = training_positions.len().max(1) as f32;
    let mean = |feature: &dyn Fn(&TrainingPosition) -> f32| {
        training_positions.iter().map(feature).sum::<f32>() / count
    };
    let means = std::array::from_fn(|input| mean(&|lesson| lesson.input_roots[input]));
    let spreads = means
        .iter()
        .enumerate()
        .map(|(input, input_mean): (usize, &f32)| {
            mean(&|lesson| (lesson.input_roots[input] - input_mean).powi(2)).sqrt()
        });
    let mut nonzero_spreads = [1.0; INPUTS];
    for (spread, value) in nonzero_spreads
        .iter_mut()
        .zip(spreads)
        .filter(|(_, is)| *is > 0.0)
    {
        *spread = value;
    }
    (means, nonzero_spreads)
}

/// Converts a network for scaled inputs to the equivalent network for unscaled inputs. The
/// conversion divides the weights of each input by the input's standard deviation.
fn fold_normalization(network: &[f32], spreads: &[f32; INPUTS]) -> Vec<f32> {
    let mut network = network.to_vec();
    for (weights, spread) in network[HIDDEN..].chunks_exact_mut(HIDDEN).zip(spreads) {
        for weight in weights {
            *weight /= spread;
        }
    }
    network
}

/// Returns the gradient of the loss. The gradient is with respect to the weights of a network that
/// takes scaled inputs.
fn gradient<'a>(
    network: &[f32],
    spreads: &[f32; INPUTS],
    training_positions: impl ExactSizeIterator<Item = &'a TrainingPosition>,
) -> Vec<f32> {
    let denormalized = fold_normalization(network, spreads);
    let share = 1.0 / training_positions.len() as f32;
    let mut gradient = vec![0.0; WEIGHT_COUNT];
    for (derivative, weight) in gradient[HIDDEN..HIDDEN * (INPUTS + 1)]
        .iter_mut()
        .zip(&network[HIDDEN..])
    {
        *derivative = WEIGHT_DECAY * weight;
    }
    for position in training_positions {
        let (predicted, units) = forward(&denormalized, position);
        let error = share * (predicted - position.target);
        gradient[WEIGHT_COUNT - 1] += error;
        for (unit, value) in units.into_iter().enumerate() {
            let output_index = HIDDEN * (INPUTS + 1) + unit;
            gradient[output_index] += error * value;
            if value > 0.0 {
                let error = error * network[output_index];
                gradient[unit] += error;
                for (input, (root, spread)) in position.input_roots.iter().zip(spreads).enumerate()
                {
                    gradient[HIDDEN * (input + 1) + unit] += error * root / spread;
                }
            }
        }
    }
    gradient
}
