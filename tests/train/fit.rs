//! Fits weights of which each position has few: by stochastic gradient descent on the square of the error,
//! with steps that become smaller, and with a pull to nothing ("ridge") that is the stronger the fewer positions
//! have a weight.

use plyhouse_engine::search::chance::Chance;

/// How many weights of patterns and of terms a position has.
const PATTERNS: usize = 38;
const TERMS: usize = 4;

/// By how much of its error a position changes what is said of it, at first and in the end.
const STEP: [f32; 2] = [0.25, 0.01];

/// Terms are larger than one, and their steps the smaller.
const TERM_STEP: f32 = 0.002;

/// A position, by what its value is made of, and the value that it has in truth.
pub(crate) struct Sample {
    pub(crate) patterns: [u16; PATTERNS],
    pub(crate) terms: [f32; TERMS],
    pub(crate) truth: f32,
}

/// The weights, on their way.
pub(crate) struct Fit {
    pub(crate) weights: Vec<f32>,
    pub(crate) terms: [f32; TERMS],
    /// The part of itself that a weight loses with each step, as a part of the step.
    pulls: Vec<f32>,
}

impl Fit {
    pub(crate) fn new(samples: &[Sample], weights: usize, restraint: f32) -> Self {
        let mut seen = vec![0_u32; weights];
        for number in samples.iter().flat_map(|sample| sample.patterns) {
            seen[usize::from(number)] += 1;
        }
        Self {
            weights: vec![0.0; weights],
            terms: [0.0; TERMS],
            pulls: seen
                .iter()
                .map(|seen| restraint / (*seen).max(1) as f32)
                .collect(),
        }
    }

    fn value(&self, sample: &Sample) -> f32 {
        let weights = sample
            .patterns
            .iter()
            .map(|number| self.weights[usize::from(*number)]);
        let terms = self.terms.iter().zip(sample.terms);
        weights.sum::<f32>() + terms.map(|(weight, term)| weight * term).sum::<f32>()
    }

    /// Goes through all samples once, in a random order; `done` of all rounds is over.
    pub(crate) fn round(&mut self, samples: &mut [Sample], done: f32, chance: &mut Chance) {
        let step = STEP[0] * (STEP[1] / STEP[0]).powf(done);
        let each = step / PATTERNS as f32;
        for at in 0..samples.len() {
            samples.swap(at, at + chance.below(samples.len() - at));
            let sample = &samples[at];
            let error = sample.truth - self.value(sample);
            for number in sample.patterns.map(usize::from) {
                let weight = &mut self.weights[number];
                // However few positions have it: no more than what there is of it is lost.
                let pull = self.pulls[number].min(1.0 / each);
                *weight += each * (error - pull * *weight);
            }
            for (weight, term) in self.terms.iter_mut().zip(sample.terms) {
                *weight += step * TERM_STEP * error * term;
            }
        }
    }

    /// The root of the mean square of the error.
    pub(crate) fn error(&self, samples: &[Sample]) -> f64 {
        let errors = samples
            .iter()
            .map(|sample| f64::from(sample.truth - self.value(sample)));
        let squares: f64 = errors.map(|error| error * error).sum();
        (squares / samples.len().max(1) as f64).sqrt()
    }

    /// Rounds weights to what can be written. Tells how many are cut off since they are too large.
    pub(crate) fn round_to(&mut self, patterns: f32, terms: f32) -> usize {
        let mut cut = 0;
        for weight in &mut self.weights {
            let whole = (*weight * patterns).round();
            let kept = whole.clamp(-127.0, 127.0);
            cut += usize::from(kept != whole);
            *weight = kept / patterns;
        }
        for weight in &mut self.terms {
            *weight = (*weight * terms).round().clamp(-32_767.0, 32_767.0) / terms;
        }
        cut
    }
}
