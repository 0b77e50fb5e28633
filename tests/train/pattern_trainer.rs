//! Fits weights of which each position has few: by stochastic gradient descent on the square of the error,
//! with steps that become smaller, and with a pull to nothing ("ridge") that is the stronger the fewer positions
//! have a weight.

use plyhouse_engine::search::seeded_rng::SeededRng;

/// By how much of its error a position changes what is said of it, at first and in the end.
const LEARNING_RATES: [f32; 2] = [0.25, 0.01];

/// How an error follows from what is said of a position and what is true.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TargetScale {
    /// Both are values.
    Value,
    /// What is true is a chance of winning, and what is said its logarithm of odds.
    Odds,
}

/// How fast a game's weights are learnt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LearningParams {
    pub(crate) scale: TargetScale,
    /// Terms are larger than one, and their steps the smaller.
    pub(crate) term_rate_factor: f32,
}

/// A position, by what its value is made of, and the value that it has in truth. Each weight is there in as many
/// sets as there are shares, and counts by these.
pub(crate) struct Sample<const PATTERNS: usize, const TERMS: usize, const SETS: usize> {
    pub(crate) patterns: [u32; PATTERNS],
    pub(crate) terms: [f32; TERMS],
    pub(crate) shares: [f32; SETS],
    pub(crate) target: f32,
}

/// The weights, on their way.
pub(crate) struct PatternTrainer<const PATTERNS: usize, const TERMS: usize, const SETS: usize> {
    pub(crate) weights: Vec<[f32; SETS]>,
    pub(crate) terms: [[f32; TERMS]; SETS],
    /// The part of itself that a weight loses with each step, as a part of the step.
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

    /// What is said of a position.
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

    /// What is true, less what is said.
    fn residual(&self, sample: &Sample<PATTERNS, TERMS, SETS>) -> f32 {
        let value = self.predict(sample);
        match self.params.scale {
            TargetScale::Value => sample.target - value,
            TargetScale::Odds => sample.target - 1.0 / (1.0 + (-value).exp()),
        }
    }

    /// Goes through all samples once, in a random order; `done` of all rounds is over.
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
                // Where both are as likely to win, odds change four times as fast as chances.
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
                    // However few positions have it: no more than what there is of it is lost.
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

    /// The root of the mean square of the error.
    pub(crate) fn rms_error(&self, samples: &[Sample<PATTERNS, TERMS, SETS>]) -> f64 {
        let errors = samples
            .iter()
            .map(|sample| f64::from(self.residual(sample)));
        let squares: f64 = errors.map(|error| error * error).sum();
        (squares / samples.len().max(1) as f64).sqrt()
    }

    /// Rounds weights to what can be written. Tells how many are cut off since they are too large.
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
