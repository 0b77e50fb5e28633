//! Fits the weights of a network of one hidden layer, of which a position moves few inputs: by stochastic gradient
//! descent on the square of the error of a chance of winning (Kingma and Ba, "Adam: a method for stochastic
//! optimization", 2014), with steps that become smaller.
//!
//! The same seed makes the same weights: each batch is shared out among as many threads on whatever machine.

use std::thread;

use plyhouse_engine::search::ChessFeatures as Features;
use plyhouse_engine::search::seeded_rng::SeededRng;

const HIDDEN: usize = Features::HIDDEN;

/// How many positions one step follows from.
const BATCH: usize = 8192;

/// Among how many threads it is shared out.
const THREADS: usize = 2;

/// The weights of the hidden layer are no greater at first.
const BEGIN_MAX: f32 = 0.1;

/// By how much weights change with a step in the end.
const LAST_STEP: f32 = 0.000_01;

/// How much of itself a weight loses with a step, as a part of the step, so that what little is known of is not
/// learnt by heart (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
const PULL: f32 = 0.3;

/// How much of the means of slopes and of their squares is what they were before.
const MEAN: f32 = 0.9;
const MEAN_SQUARE: f32 = 0.999;

/// Where the weights lie: a row for each input, what the hidden layer begins with, the output for each bucket, and
/// what that begins with.
const BEGIN: usize = Features::INPUTS * HIDDEN;
const OUTPUT: usize = BEGIN + HIDDEN;
const OUTPUT_BEGIN: usize = OUTPUT + Features::BUCKETS * 2 * HIDDEN;
const WEIGHTS: usize = OUTPUT_BEGIN + Features::BUCKETS;

type Row = [f32; HIDDEN];

/// Positions with the chances of winning that are taught of them.
pub(crate) trait Samples: Sync {
    /// What a position shows, what is known of it as the logarithm of odds, and the chance of winning.
    fn get(&self, number: usize) -> (Features, f32, f32);

    fn count(&self) -> usize;
}

/// The weights, on their way.
pub(crate) struct Fit {
    weights: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
    /// For each thread.
    slopes: [Vec<f32>; THREADS],
    steps: i32,
}

impl Fit {
    /// What is known is right at first.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "chance may be as rough as it likes"
    )]
    pub(crate) fn new(chance: &mut SeededRng) -> Self {
        let mut weights = vec![0.0; WEIGHTS];
        for weight in &mut weights[..BEGIN] {
            *weight = BEGIN_MAX * (2.0 * chance.next_f64() as f32 - 1.0);
        }
        Self {
            weights,
            means: vec![0.0; WEIGHTS],
            squares: vec![0.0; WEIGHTS],
            slopes: std::array::from_fn(|_| vec![0.0; WEIGHTS]),
            steps: 0,
        }
    }

    /// Goes through all samples once, in a random order; `done` of `rounds` are over. Weights change with a step by
    /// so much at first, and hardly in the end. Returns the root of the mean square of the error.
    pub(crate) fn round(
        &mut self,
        samples: &impl Samples,
        (done, rounds): (u32, u32),
        first_step: f32,
        chance: &mut SeededRng,
    ) -> f64 {
        let mut order: Vec<usize> = (0..samples.count()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, chance.next_below(last + 1));
        }
        let batches = order.len().div_ceil(BATCH);
        let mut error = 0.0;
        for (number, batch) in order.chunks(BATCH).enumerate() {
            let weights = &self.weights;
            let parts = batch.chunks(BATCH / THREADS).zip(&mut self.slopes);
            error += thread::scope(|scope| {
                let threads: Vec<_> = parts
                    .map(|(part, slopes)| scope.spawn(|| learn(weights, slopes, samples, part)))
                    .collect();
                let errors = threads
                    .into_iter()
                    .map(|thread| thread.join().expect("it sums up"));
                errors.sum::<f64>()
            });
            let over = (done as f32 + number as f32 / batches as f32) / rounds as f32;
            let share = 0.5 + 0.5 * (over * std::f32::consts::PI).cos();
            self.step(LAST_STEP + (first_step - LAST_STEP) * share, batch.len());
        }
        (error / order.len() as f64).sqrt()
    }

    /// Changes the weights by what a batch of so many positions tells.
    fn step(&mut self, step: f32, batch: usize) {
        self.steps += 1;
        let unbiased = 1.0 / (1.0 - MEAN.powi(self.steps));
        let unbiased_square = 1.0 / (1.0 - MEAN_SQUARE.powi(self.steps));
        let each = 1.0 / batch as f32;
        let decay = 1.0 - step * PULL;
        let (first, rest) = self.slopes.split_first_mut().expect("there is a thread");
        for slopes in rest {
            for (sum, slope) in first.iter_mut().zip(slopes) {
                *sum += *slope;
                *slope = 0.0;
            }
        }
        let means = self.means.iter_mut().zip(&mut self.squares);
        for ((weight, slope), (mean, square)) in self.weights.iter_mut().zip(first).zip(means) {
            let of_each = *slope * each;
            *slope = 0.0;
            *mean = MEAN * *mean + (1.0 - MEAN) * of_each;
            *square = MEAN_SQUARE * *square + (1.0 - MEAN_SQUARE) * of_each * of_each;
            let by = step * *mean * unbiased / ((*square * unbiased_square).sqrt() + 1e-8);
            *weight = (*weight * decay - by).clamp(-Features::WEIGHT_MAX, Features::WEIGHT_MAX);
        }
    }

    /// The root of the mean square of the error.
    pub(crate) fn error(&self, samples: &impl Samples) -> f64 {
        let errors = (0..samples.count()).map(|number| {
            let (features, known, truth) = samples.get(number);
            let chance = odds_to_chance(known + glance(&self.weights, &features).0);
            f64::from(chance - truth).powi(2)
        });
        (errors.sum::<f64>() / samples.count().max(1) as f64).sqrt()
    }

    /// Rounds weights to what can be written, and writes them.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is written has been rounded to what fits"
    )]
    pub(crate) fn write(&mut self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * WEIGHTS);
        for (place, weight) in self.weights.iter_mut().enumerate() {
            let unit = unit(place);
            let written = (*weight * unit).round().clamp(-32_767.0, 32_767.0);
            *weight = written / unit;
            bytes.extend((written as i16).to_le_bytes());
        }
        bytes
    }
}

/// What one is written as, in this place.
fn unit(place: usize) -> f32 {
    let [one, output_one] = Features::QUANTIZATION_UNITS.map(|unit| unit as f32);
    match place {
        ..OUTPUT => one,
        OUTPUT..OUTPUT_BEGIN => output_one,
        _ => one * output_one,
    }
}

fn odds_to_chance(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

fn row(weights: &[f32], from: usize) -> &Row {
    weights[from..].first_chunk().expect("rows are whole")
}

/// What the weights say of a position, as the logarithm of odds, and what the hidden layer has summed up.
#[inline]
fn glance(weights: &[f32], features: &Features) -> (f32, [Row; 2]) {
    let mut odds = weights[OUTPUT_BEGIN + features.output_bucket];
    let sums = features.rows().map(|rows| {
        let mut sums = *row(weights, BEGIN);
        for input in rows {
            let row = row(weights, usize::from(*input) * HIDDEN);
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += weight;
            }
        }
        sums
    });
    for (side, sums) in sums.iter().enumerate() {
        let output = row(weights, output(features, side));
        let mut parts = [0.0; 16];
        for (sums, output) in sums.as_chunks::<16>().0.iter().zip(output.as_chunks().0) {
            let output: &[f32; 16] = output;
            for lane in 0..16 {
                let cut = sums[lane].clamp(0.0, 1.0);
                parts[lane] += cut * cut * output[lane];
            }
        }
        odds += parts.iter().sum::<f32>();
    }
    (odds, sums)
}

/// Where the output of a position begins for a side.
const fn output(features: &Features, side: usize) -> usize {
    OUTPUT + (2 * features.output_bucket + side) * HIDDEN
}

/// Adds up how the square of the error grows with each weight, and returns the sum of its squares.
fn learn(weights: &[f32], slopes: &mut [f32], samples: &impl Samples, numbers: &[usize]) -> f64 {
    let mut errors = 0.0;
    for number in numbers {
        let (features, known, truth) = samples.get(*number);
        let (odds, sums) = glance(weights, &features);
        let chance = odds_to_chance(known + odds);
        let error = chance - truth;
        errors += f64::from(error * error);
        let slope = 2.0 * error * chance * (1.0 - chance);
        slopes[OUTPUT_BEGIN + features.output_bucket] += slope;
        for (side, (sums, inputs)) in sums.iter().zip(features.rows()).enumerate() {
            let from = output(&features, side);
            let output = row(weights, from);
            let output_slopes = &mut slopes[from..from + HIDDEN];
            let mut of_sums = [0.0; HIDDEN];
            for place in 0..HIDDEN {
                let cut = sums[place].clamp(0.0, 1.0);
                output_slopes[place] += slope * cut * cut;
                let is_within = sums[place] > 0.0 && sums[place] < 1.0;
                of_sums[place] = if is_within {
                    2.0 * slope * output[place] * cut
                } else {
                    0.0
                };
            }
            let rows = inputs.iter().map(|input| usize::from(*input) * HIDDEN);
            for from in rows.chain([BEGIN]) {
                for (sum, slope) in slopes[from..from + HIDDEN].iter_mut().zip(of_sums) {
                    *sum += slope;
                }
            }
        }
    }
    errors
}
