//! Trains linear evaluations with sparse pattern weights by stochastic gradient descent with a
//! decreasing learning rate. Ridge regularization pulls weights towards zero. The pull is stronger
//! for weights that occur in fewer positions.

use plyhouse_engine::search::seeded_rng::SeededRng;

/// Learning rates at the beginning and at the end of the training. The learning rate is the
/// fraction of a prediction error that one training step corrects.
const LEARNING_RATES: [f32; 2] = [0.25, 0.01];

/// Specifies whether the evaluation predicts values or log odds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TargetScale {
    /// Predictions and targets are values of the evaluation, such as disc margins.
    Value,
    /// Predictions are the logarithms of odds, and targets are win probabilities.
    Odds,
}

/// Learning parameters for the evaluation of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LearningParams {
    pub(crate) scale: TargetScale,
    /// Factor by which the learning rate is multiplied for the terms. The factor is small because
    /// the values of terms can exceed 1.
    pub(crate) term_rate_factor: f32,
}

/// Features of a position and its target value. The evaluation has `SETS` sets of weights, and each
/// set predicts a value. The final prediction is the average of these values, weighted by `shares`.
pub(crate) struct Sample<const PATTERNS: usize, const TERMS: usize, const SETS: usize> {
    pub(crate) patterns: [u32; PATTERNS],
    pub(crate) terms: [f32; TERMS],
    pub(crate) shares: [f32; SETS],
    pub(crate) target: f32,
}

/// Weights that are being trained.
pub(crate) struct PatternTrainer<const PATTERNS: usize, const TERMS: usize, const SETS: usize> {
    pub(crate) weights: Vec<[f32; SETS]>,
    pub(crate) terms: [[f32; TERMS]; SETS],
    /// Fraction of each weight removed per step, relative to the learning rate.
    ridge_factors: Vec<[f32; SETS]>,
    params: LearningParams,
}

impl<const PATTERNS: usize, const TERMS: usize, const SETS: usize>
    PatternTrainer<PATTERNS, TERMS, SETS>
{
    #[expect(
        clippy::cast_possible_truncation,
        reason = "f32 is as precise as the dividend"
    )]
    pub(crate) fn new(
        samples: &[Sample<PATTERNS, TERMS, SETS>],
        weights: usize,
        ridge_strength: f32,
        params: LearningParams,
    ) -> Self {
        let mut occurrences = vec![[0.0_f64; SETS]; weights];
        for sample in samples {
            for index in sample.patterns {
                for (seen, share) in occurrences[index as usize].iter_mut().zip(sample.shares) {
                    *seen += f64::from(share);
                }
            }
        }
        Self {
            weights: vec![[0.0; SETS]; weights],
            terms: [[0.0; TERMS]; SETS],
            ridge_factors: occurrences
                .iter()
                .map(|seen| seen.map(|seen| ridge_strength / seen.max(1.0) as f32))
                .collect(),
            params,
        }
    }

    /// Returns the value that the weights predict for a sample.
    fn predict(&self, sample: &Sample<PATTERNS, TERMS, SETS>) -> f32 {
        let mut value = 0.0;
        for (set, share) in sample.shares.iter().enumerate() {
            let weights = sample.patterns.iter();
            let weights = weights.map(|index| self.weights[*index as usize][set]);
            let terms = self.terms[set].iter().zip(sample.terms);
            let terms = terms.map(|(weight, term)| weight * term);
            value += share * (weights.sum::<f32>() + terms.sum::<f32>());
        }
        value
    }

    /// Returns the target of a sample minus the prediction.
    fn residual(&self, sample: &Sample<PATTERNS, TERMS, SETS>) -> f32 {
        let value = self.predict(sample);
        match self.params.scale {
            TargetScale::Value => sample.target - value,
            TargetScale::Odds => sample.target - 1.0 / (1.0 + (-value).exp()),
        }
    }

    /// Trains on all samples once, in random order. `progress` is the completed fraction of the
    /// training, from 0 to 1.
    pub(crate) fn run_epoch(
        &mut self,
        samples: &mut [Sample<PATTERNS, TERMS, SETS>],
        progress: f32,
        rng: &mut SeededRng,
    ) {
        let learning_rate =
            LEARNING_RATES[0] * (LEARNING_RATES[1] / LEARNING_RATES[0]).powf(progress);
        let pattern_rate = learning_rate / PATTERNS as f32;
        for index in 0..samples.len() {
            samples.swap(index, index + rng.next_below(samples.len() - index));
            let sample = &samples[index];
            let error = match self.params.scale {
                TargetScale::Value => self.residual(sample),
                // At even odds, the log odds change four times as fast as the probability. The
                // factor 4 therefore converts a probability error to log odds.
                TargetScale::Odds => 4.0 * self.residual(sample),
            };
            for index in sample.patterns {
                let (weights, ridge_factors) = (
                    &mut self.weights[index as usize],
                    self.ridge_factors[index as usize],
                );
                for ((weight, ridge_factor), share) in
                    weights.iter_mut().zip(ridge_factors).zip(sample.shares)
                {
                    // The upper bound on the ridge factor prevents a step from removing more than
                    // the entire value of a rare weight.
                    let ridge_factor = ridge_factor.min(1.0 / pattern_rate);
                    *weight += pattern_rate * share * (error - ridge_factor * *weight);
                }
            }
            for (terms, share) in self.terms.iter_mut().zip(sample.shares) {
                for (weight, term) in terms.iter_mut().zip(sample.terms) {
                    *weight += learning_rate * self.params.term_rate_factor * share * error * term;
                }
            }
        }
    }

    /// Returns the root mean square error of the predictions.
    pub(crate) fn rms_error(&self, samples: &[Sample<PATTERNS, TERMS, SETS>]) -> f64 {
        let errors = samples
            .iter()
            .map(|sample| f64::from(self.residual(sample)));
        let squares: f64 = errors.map(|error| error * error).sum();
        (squares / samples.len().max(1) as f64).sqrt()
    }

    /// Rounds the weights to their stored precision. Returns the number of pattern weights that
    /// were clipped.
    pub(crate) fn quantize(&mut self, pattern_scale: f32, term_scale: f32) -> usize {
        let mut clipped_count = 0;
        for weight in self.weights.as_flattened_mut() {
            let rounded = (*weight * pattern_scale).round();
            let clamped = rounded.clamp(-127.0, 127.0);
            clipped_count += usize::from(clamped != rounded);
            *weight = clamped / pattern_scale;
        }
        for weight in self.terms.as_flattened_mut() {
            *weight = (*weight * term_scale).round().clamp(-32_767.0, 32_767.0) / term_scale;
        }
        clipped_count
    }
}
