//! Gomoku: the odds of a win are learnt, by a small network of what each side has.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::gomoku::Gomoku;
use plyhouse_engine::game::{GameHistory, Outcome, Position};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{GomokuFeatures, Limits, Score, Stop, TranspositionTable, search};

use crate::Args;
use crate::kept::{self, Kept};

const INPUTS: usize = GomokuFeatures::INPUTS;
const HIDDEN: usize = GomokuFeatures::HIDDEN;

/// A game begins with so many random plies.
const RANDOM_PLIES: usize = 8;

/// In a game each side visits so many positions a move, and up to so many more: a number for each side, so that
/// games from the same moves differ.
const NODES: u64 = 1_500;
const MORE_NODES: usize = 3_000;

/// One game of so many is not learnt from: its positions tell by how much the weights err.
const HELD_OUT: usize = 20;

/// How much of what is taught of a position is how its game ended. The rest is what the search said of it.
const ENDED: f32 = 0.7;

/// So many positions are looked at for a step, which is so large at first and the smaller the later, and a
/// weight loses so much of itself with each.
const BATCH: usize = 256;
const STEP: f32 = 0.003;
const PULL: f32 = 1e-4;

/// How fast the averages fade that steps follow: of slopes and of their squares (Kingma and Ba, "Adam: a method for
/// stochastic optimization", 2014).
const FADES: [f32; 2] = [0.9, 0.999];

/// How many weights there are: those of the inputs, for each the units in a row, between the biases of the units and
/// the weights of these; then a last bias.
const WEIGHTS: usize = HIDDEN * (INPUTS + 2) + 1;

/// How many bytes a lesson takes in a file: the inputs, the chance, and whether it is held out.
const LESSON_BYTES: usize = INPUTS + 3;

/// What is written for a chance of one.
const CERTAIN: f32 = 65_535.0;

/// The roots of the numbers of a position, and the chance of the side to move.
struct Lesson {
    roots: [f32; INPUTS],
    chance: f32,
    is_held_out: bool,
}

impl Lesson {
    fn read(bytes: &[u8; LESSON_BYTES]) -> Self {
        let mut roots = [0.0; INPUTS];
        for (root, number) in roots.iter_mut().zip(bytes) {
            *root = f32::from(*number).sqrt();
        }
        let [.., low, high, is_held_out] = *bytes;
        Self {
            roots,
            chance: f32::from(u16::from_le_bytes([low, high])) / CERTAIN,
            is_held_out: is_held_out != 0,
        }
    }
}

/// Plays, fits and writes.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = kept::path(args, "gomoku");
    if args.games > 0 {
        play(args, &positions)?;
    }
    let Kept { files, hash } = Kept::read(args, positions)?;
    let lessons = files.iter().flat_map(|(_, read)| read).map(Lesson::read);
    let (held_out, taught): (Vec<_>, Vec<_>) = lessons.partition(|lesson| lesson.is_held_out);
    eprintln!(
        "{} positions, {} held out, sha256 {hash}...",
        taught.len(),
        held_out.len()
    );
    let net = fitted(args, &taught);
    eprintln!(
        "misses them by {:.4} nats, and those held out by {:.4}",
        miss(&net, &taught),
        miss(&net, &held_out)
    );
    let bytes: Vec<u8> = net.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    fs::write(&args.out, bytes).with_context(|| args.out.display().to_string())
}

/// Plays games, and keeps their positions in a file.
fn play(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut table = TranspositionTable::new(1 << 22);
    let mut chance = SeededRng::new(args.seed, "gomoku");
    for number in 1..=args.games as usize {
        if number % 100 == 0 {
            eprint!("\rgame {number} of {}    ", args.games);
        }
        let is_held_out = number % HELD_OUT == 0;
        for mut lesson in game(&mut chance, &mut table) {
            lesson[LESSON_BYTES - 1] = is_held_out.into();
            file.write_all(&lesson)?;
        }
    }
    eprintln!();
    Ok(file.flush()?)
}

/// The positions of a game, as they are written.
fn game(chance: &mut SeededRng, table: &mut TranspositionTable) -> Vec<[u8; LESSON_BYTES]> {
    let mut pos = Gomoku::initial();
    let mut moves = Vec::new();
    for _ in 0..RANDOM_PLIES {
        moves.clear();
        pos.legal_moves(&mut moves);
        pos.play_unchecked(moves[chance.next_below(moves.len())]);
    }
    let limits = [(); 2].map(|()| Limits::nodes(NODES + chance.next_below(MORE_NODES) as u64));
    let mut seen = Vec::new();
    while pos.outcome().is_none() {
        table.clear();
        let limits = &limits[pos.turn().index()];
        let report = search(&GameHistory::from(pos), limits, &Stop::new(), table);
        let report = report.expect("the game goes on");
        if let Some(features) = GomokuFeatures::from_quiet_position(&pos) {
            seen.push((features, pos.turn(), report.score));
        }
        pos.play_unchecked(report.pv[0]);
    }
    let outcome = pos.outcome().expect("it is over");
    let written = seen.iter().map(|(features, seat, score)| {
        let ended = match outcome {
            Outcome::Decisive { winner } => f32::from(u8::from(winner == *seat)),
            Outcome::Draw => 0.5,
        };
        written(features, ENDED * ended + (1.0 - ENDED) * said(*score))
    });
    written.collect()
}

/// The chance of winning that a score tells.
fn said(score: Score) -> f32 {
    squashed(score.value() as f32 / GomokuFeatures::SCALE)
}

fn written(features: &GomokuFeatures, chance: f32) -> [u8; LESSON_BYTES] {
    let mut bytes = [0; LESSON_BYTES];
    for (byte, number) in bytes.iter_mut().zip(features.0) {
        *byte = u8::try_from(number).unwrap_or(u8::MAX);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is a share of the whole"
    )]
    let chance = (chance * CERTAIN).round() as u16;
    bytes[INPUTS..INPUTS + 2].copy_from_slice(&chance.to_le_bytes());
    bytes
}

fn squashed(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// What a network says of a position, and what its units are at that.
fn asked(net: &[f32], lesson: &Lesson) -> (f32, [f32; HIDDEN]) {
    let mut units = [0.0; HIDDEN];
    units.copy_from_slice(&net[..HIDDEN]);
    for (root, weights) in lesson.roots.iter().zip(net[HIDDEN..].chunks_exact(HIDDEN)) {
        for (unit, weight) in units.iter_mut().zip(weights) {
            *unit += root * weight;
        }
    }
    let units = units.map(|unit| unit.max(0.0));
    let seen = units.iter().zip(&net[HIDDEN * (INPUTS + 1)..]);
    let odds = net[WEIGHTS - 1] + seen.map(|(unit, weight)| unit * weight).sum::<f32>();
    (squashed(odds), units)
}

/// By how much a network misses what is taught, as cross entropy.
fn miss(net: &[f32], lessons: &[Lesson]) -> f64 {
    let each = lessons.iter().map(|lesson| {
        let (chance, truth) = (f64::from(asked(net, lesson).0), f64::from(lesson.chance));
        -truth * chance.max(1e-9).ln() - (1.0 - truth) * (1.0 - chance).max(1e-9).ln()
    });
    each.sum::<f64>() / lessons.len().max(1) as f64
}

/// Fits a network. Inputs are measured by how much each varies.
fn fitted(args: &Args, taught: &[Lesson]) -> Vec<f32> {
    let mut chance = SeededRng::new(args.seed, "network");
    #[expect(
        clippy::cast_possible_truncation,
        reason = "as precise as what is multiplied by it"
    )]
    let mut drawn = |width: f32| width * (2.0 * chance.next_f64() as f32 - 1.0);
    let (means, spreads) = spreads(taught);
    let mut net = vec![0.0; WEIGHTS];
    for (index, weight) in net.iter_mut().enumerate() {
        *weight = match index / HIDDEN {
            row if (1..=INPUTS).contains(&row) => drawn(0.25),
            row if row == INPUTS + 1 => drawn(0.5),
            _ => 0.0,
        };
    }
    // At first the units are about as often above nothing as below.
    for (input, (mean, spread)) in means.iter().zip(&spreads).enumerate() {
        let (biases, weights) = net.split_at_mut(HIDDEN);
        for (bias, weight) in biases.iter_mut().zip(&weights[HIDDEN * input..]) {
            *bias -= mean / spread * weight;
        }
    }
    let mut averages = vec![[0.0; 2]; WEIGHTS];
    let mut order: Vec<usize> = (0..taught.len()).collect();
    let steps = args.rounds as usize * taught.len().div_ceil(BATCH);
    let mut step = 0;
    for _ in 0..args.rounds {
        for at in 0..order.len() {
            let other = at + chance.next_below(order.len() - at);
            order.swap(at, other);
        }
        for batch in order.chunks(BATCH) {
            let slopes = slopes(&net, &spreads, batch.iter().map(|index| &taught[*index]));
            step += 1;
            let width = STEP * (1.0 - 0.95 * step as f32 / steps as f32);
            let grown = FADES.map(|fade| 1.0 - fade.powf(step as f32));
            for ((weight, average), slope) in net.iter_mut().zip(&mut averages).zip(slopes) {
                for ((average, fade), sign) in
                    average.iter_mut().zip(FADES).zip([slope, slope * slope])
                {
                    *average += (1.0 - fade) * (sign - *average);
                }
                *weight -=
                    width * (average[0] / grown[0]) / ((average[1] / grown[1]).sqrt() + 1e-8);
            }
        }
    }
    scaled(&net, &spreads)
}

/// The mean of each input, and by how much it varies.
fn spreads(lessons: &[Lesson]) -> ([f32; INPUTS], [f32; INPUTS]) {
    let count = lessons.len().max(1) as f32;
    let mean = |of: &dyn Fn(&Lesson) -> f32| lessons.iter().map(of).sum::<f32>() / count;
    let means = std::array::from_fn(|input| mean(&|lesson| lesson.roots[input]));
    let spreads = means
        .iter()
        .enumerate()
        .map(|(input, middle): (usize, &f32)| {
            mean(&|lesson| (lesson.roots[input] - middle).powi(2)).sqrt()
        });
    let mut all = [1.0; INPUTS];
    for (spread, is) in all.iter_mut().zip(spreads).filter(|(_, is)| *is > 0.0) {
        *spread = is;
    }
    (means, all)
}

/// The network that does with inputs as they are what this does with inputs as they vary.
fn scaled(net: &[f32], spreads: &[f32; INPUTS]) -> Vec<f32> {
    let mut net = net.to_vec();
    for (weights, spread) in net[HIDDEN..].chunks_exact_mut(HIDDEN).zip(spreads) {
        for weight in weights {
            *weight /= spread;
        }
    }
    net
}

/// Where the miss rises, by each weight of a network of inputs as they vary.
fn slopes<'a>(
    net: &[f32],
    spreads: &[f32; INPUTS],
    lessons: impl ExactSizeIterator<Item = &'a Lesson>,
) -> Vec<f32> {
    let plain = scaled(net, spreads);
    let share = 1.0 / lessons.len() as f32;
    let mut slopes = vec![0.0; WEIGHTS];
    for (slope, weight) in slopes[HIDDEN..HIDDEN * (INPUTS + 1)]
        .iter_mut()
        .zip(&net[HIDDEN..])
    {
        *slope = PULL * weight;
    }
    for lesson in lessons {
        let (chance, units) = asked(&plain, lesson);
        let error = share * (chance - lesson.chance);
        slopes[WEIGHTS - 1] += error;
        for (unit, value) in units.into_iter().enumerate() {
            let out = HIDDEN * (INPUTS + 1) + unit;
            slopes[out] += error * value;
            if value > 0.0 {
                let error = error * net[out];
                slopes[unit] += error;
                for (input, (root, spread)) in lesson.roots.iter().zip(spreads).enumerate() {
                    slopes[HIDDEN * (input + 1) + unit] += error * root / spread;
                }
            }
        }
    }
    slopes
}
