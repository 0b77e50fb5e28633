//! Trains a network with one hidden layer and sparse inputs. The trainer minimizes the squared
//! error of the win probability by stochastic gradient descent (Kingma and Ba, "Adam: a method for
//! stochastic optimization", 2014). The learning rate decreases over time.
//!
//! The weights depend on the seed but not on the machine, because each batch is divided among a
//! fixed number of threads.

use std::thread;

use plyhouse_engine::search::ChessFeatures as Features;
use plyhouse_engine::search::seeded_rng::SeededRng;

const HIDDEN: usize = Features::HIDDEN;

/// Number of positions per training step.
const BATCH_SIZE: usize = 8192;

/// Number of threads that share a batch.
const THREADS: usize = 2;

/// Maximum absolute value of the initial hidden-layer weights.
const INITIAL_WEIGHT_MAX: f32 = 0.1;

/// Learning rate at the end of the training.
const FINAL_LEARNING_RATE: f32 = 0.000_01;

/// Weight decay per step, relative to the learning rate. The decay prevents overfitting of rare
/// inputs (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
const WEIGHT_DECAY: f32 = 0.3;

/// Decay rates of the moving averages of gradients and of squared gradients.
const ADAM_BETA1: f32 = 0.9;
const ADAM_BETA2: f32 = 0.999;

/// Layout of the weights: a row per input, the hidden biases, the output weights per bucket, and
/// the output biases.
const HIDDEN_BIAS_OFFSET: usize = Features::INPUTS * HIDDEN;
const OUTPUT_WEIGHT_OFFSET: usize = HIDDEN_BIAS_OFFSET + HIDDEN;
const OUTPUT_BIAS_OFFSET: usize = OUTPUT_WEIGHT_OFFSET + Features::BUCKETS * 2 * HIDDEN;
const WEIGHT_COUNT: usize = OUTPUT_BIAS_OFFSET + Features::BUCKETS;

type Row = [f32; HIDDEN];

/// Training positions with their target win probabilities.
pub(crate) trait TrainingSet: Sync {
    /// Returns the features of a position, its log odds according to the handcrafted evaluation,
    /// and its target win probability.
    fn get(&self, index: usize) -> (Features, f32, f32);

    fn count(&self) -> usize;
}

/// Network that is being trained.
pub(crate) struct NetworkTrainer {
    weights: Vec<f32>,
    gradient_means: Vec<f32>,
    gradient_squares: Vec<f32>,
    /// Gradient sums, one vector per thread.
    gradients: [Vec<f32>; THREADS],
    step_count: i32,
}

impl NetworkTrainer {
    /// Creates a network whose output weights are zero. A new network therefore makes the same
    /// predictions as the handcrafted evaluation.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "random weights need no more precision"
    )]
    pub(crate) fn new(rng: &mut SeededRng) -> Self {
        let mut weights = vec![0.0; WEIGHT_COUNT];
        for weight in &mut weights[..HIDDEN_BIAS_OFFSET] {
            *weight = INITIAL_WEIGHT_MAX * (2.0 * rng.next_f64() as f32 - 1.0);
        }
        Self {
            weights,
            gradient_means: vec![0.0; WEIGHT_COUNT],
            gradient_squares: vec![0.0; WEIGHT_COUNT],
            gradients: std::array::from_fn(|_| vec![0.0; WEIGHT_COUNT]),
            step_count: 0,
        }
    }

    /// Trains on all samples once, in random order, and returns the RMS error. `epoch` is the
    /// zero-based number of this epoch. Over all epochs, the learning rate follows a cosine from
    /// `initial_learning_rate` to `FINAL_LEARNING_RATE`.
    pub(crate) fn run_epoch(
        &mut self,
        samples: &impl TrainingSet,
        (epoch, epochs): (u32, u32),
        initial_learning_rate: f32,
        rng: &mut SeededRng,
    ) -> f64 {
        let mut order: Vec<usize> = (0..samples.count()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.next_below(last + 1));
        }
        let batches = order.len().div_ceil(BATCH_SIZE);
        let mut error = 0.0;
        for (batch_number, batch) in order.chunks(BATCH_SIZE).enumerate() {
            let weights = &self.weights;
            let parts = batch.chunks(BATCH_SIZE / THREADS).zip(&mut self.gradients);
            error += thread::scope(|scope| {
                let threads: Vec<_> = parts
                    .map(|(part, slopes)| {
                        scope.spawn(|| accumulate_gradients(weights, slopes, samples, part))
                    })
                    .collect();
                let errors = threads
                    .into_iter()
                    .map(|thread| thread.join().expect("the worker thread does not panic"));
                errors.sum::<f64>()
            });
            let progress = (epoch as f32 + batch_number as f32 / batches as f32) / epochs as f32;
            let share = 0.5 + 0.5 * (progress * std::f32::consts::PI).cos();
            self.apply_gradients(
                FINAL_LEARNING_RATE + (initial_learning_rate - FINAL_LEARNING_RATE) * share,
                batch.len(),
            );
        }
        (error / order.len() as f64).sqrt()
    }

    /// Updates the weights with the summed gradients of a batch.
    fn apply_gradients(&mut self, step: f32, batch_size: usize) {
        self.step_count += 1;
        let unbiased = 1.0 / (1.0 - ADAM_BETA1.powi(self.step_count));
        let unbiased_square = 1.0 / (1.0 - ADAM_BETA2.powi(self.step_count));
        let batch_factor = 1.0 / batch_size as f32;
        let decay = 1.0 - step * WEIGHT_DECAY;
        let (first, rest) = self
            .gradients
            .split_first_mut()
            .expect("THREADS is not zero");
        for slopes in rest {
            for (sum, slope) in first.iter_mut().zip(slopes) {
                *sum += *slope;
                *slope = 0.0;
            }
        }
        let means = self
            .gradient_means
            .iter_mut()
            .zip(&mut self.gradient_squares);
        for ((weight, slope), (mean, square)) in self.weights.iter_mut().zip(first).zip(means) {
            let mean_gradient = *slope * batch_factor;
            *slope = 0.0;
            *mean = ADAM_BETA1 * *mean + (1.0 - ADAM_BETA1) * mean_gradient;
            *square = ADAM_BETA2 * *square + (1.0 - ADAM_BETA2) * mean_gradient * mean_gradient;
            let delta = step * *mean * unbiased / ((*square * unbiased_square).sqrt() + 1e-8);
            *weight = (*weight * decay - delta).clamp(-Features::WEIGHT_MAX, Features::WEIGHT_MAX);
        }
    }

    /// Returns the root mean square error of the predicted win probabilities.
    pub(crate) fn rms_error(&self, samples: &impl TrainingSet) -> f64 {
        let errors = (0..samples.count()).map(|number| {
            let (features, handcrafted_odds, target) = samples.get(number);
            let predicted =
                odds_to_probability(handcrafted_odds + forward(&self.weights, &features).0);
            f64::from(predicted - target).powi(2)
        });
        (errors.sum::<f64>() / samples.count().max(1) as f64).sqrt()
    }

    /// Quantizes the weights and returns them as bytes.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the weights were rounded to the range of i16"
    )]
    pub(crate) fn quantize(&mut self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * WEIGHT_COUNT);
        for (index, weight) in self.weights.iter_mut().enumerate() {
            let scale = quantization_unit(index);
            let quantized = (*weight * scale).round().clamp(-32_767.0, 32_767.0);
            *weight = quantized / scale;
            bytes.extend((quantized as i16).to_le_bytes());
        }
        bytes
    }
}

/// Returns the integer that represents a weight of 1 at this index.
fn quantization_unit(index: usize) -> f32 {
    let [one, output_one] = Features::QUANTIZATION_UNITS.map(|unit| unit as f32);
    match index {
        ..OUTPUT_WEIGHT_OFFSET => one,
        OUTPUT_WEIGHT_OFFSET..OUTPUT_BIAS_OFFSET => output_one,
        _ => one * output_one,
    }
}

fn odds_to_probability(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

fn row(weights: &[f32], offset: usize) -> &Row {
    weights[offset..]
        .first_chunk()
        .expect("the offset leaves a complete row")
}

/// Returns the log odds that the network adds for a position, and the sums in the hidden layer
/// before the activation.
#[inline]
fn forward(weights: &[f32], features: &Features) -> (f32, [Row; 2]) {
    let mut odds = weights[OUTPUT_BIAS_OFFSET + features.output_bucket];
    let hidden_sums = features.rows().map(|rows| {
        let mut sums = *row(weights, HIDDEN_BIAS_OFFSET);
        for input in rows {
            let row = row(weights, usize::from(*input) * HIDDEN);
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += weight;
            }
        }
        sums
    });
    for (side, sums) in hidden_sums.iter().enumerate() {
        let output = row(weights, output_offset(features, side));
        let mut parts = [0.0; 16];
        for (sums, output) in sums.as_chunks::<16>().0.iter().zip(output.as_chunks().0) {
            let output: &[f32; 16] = output;
            for lane in 0..16 {
                let activation = sums[lane].clamp(0.0, 1.0);
                parts[lane] += activation * activation * output[lane];
            }
        }
        odds += parts.iter().sum::<f32>();
    }
    (odds, hidden_sums)
}

/// Returns the index of a side's first output weight. The position determines the output bucket,
/// and each output bucket has separate weights.
const fn output_offset(features: &Features, side: usize) -> usize {
    OUTPUT_WEIGHT_OFFSET + (2 * features.output_bucket + side) * HIDDEN
}

/// Adds the gradients of the squared errors to `gradients`, and returns the sum of the squared
/// errors.
fn accumulate_gradients(
    weights: &[f32],
    gradients: &mut [f32],
    samples: &impl TrainingSet,
    indices: &[usize],
) -> f64 {
    let mut squared_error = 0.0;
    for index in indices {
        let (features, handcrafted_odds, target) = samples.get(*index);
        let (odds, sums) = forward(weights, &features);
        let predicted = odds_to_probability(handcrafted_odds + odds);
        let error = predicted - target;
        squared_error += f64::from(error * error);
        let output_gradient = 2.0 * error * predicted * (1.0 - predicted);
        gradients[OUTPUT_BIAS_OFFSET + features.output_bucket] += output_gradient;
        for (side, (sums, inputs)) in sums.iter().zip(features.rows()).enumerate() {
            let offset = output_offset(&features, side);
            let output = row(weights, offset);
            let output_gradients = &mut gradients[offset..offset + HIDDEN];
            let mut hidden_gradients = [0.0; HIDDEN];
            for index in 0..HIDDEN {
                let activation = sums[index].clamp(0.0, 1.0);
                output_gradients[index] += output_gradient * activation * activation;
                let is_unclipped = sums[index] > 0.0 && sums[index] < 1.0;
                hidden_gradients[index] = if is_unclipped {
                    2.0 * output_gradient * output[index] * activation
                } else {
                    0.0
                };
            }
            let rows = inputs.iter().map(|input| usize::from(*input) * HIDDEN);
            for from in rows.chain([HIDDEN_BIAS_OFFSET]) {
                for (sum, slope) in gradients[from..from + HIDDEN]
                    .iter_mut()
                    .zip(hidden_gradients)
                {
                    *sum += slope;
                }
            }
        }
    }
    squared_error
}
