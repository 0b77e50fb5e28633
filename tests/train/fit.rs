//! Fits weights of which each position has few: by stochastic gradient descent on the square of the error,
//! with steps that become smaller, and with a pull to nothing ("ridge") that is the stronger the fewer positions
//! have a weight.

use plyhouse_engine::search::seeded_rng::SeededRng;

/// By how much of its error a position changes what is said of it, at first and in the end.
const STEP: [f32; 2] = [0.25, 0.01];

/// How an error follows from what is said of a position and what is true.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scale {
    /// Both are values.
    Value,
    /// What is true is a chance of winning, and what is said its logarithm of odds.
    Odds,
}

/// How fast a game's weights are learnt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) scale: Scale,
    /// Terms are larger than one, and their steps the smaller.
    pub(crate) term_step: f32,
}

/// A position, by what its value is made of, and the value that it has in truth. Each weight is there in as many
/// sets as there are shares, and counts by these.
pub(crate) struct Sample<const PATTERNS: usize, const TERMS: usize, const SETS: usize> {
    pub(crate) patterns: [u32; PATTERNS],
    pub(crate) terms: [f32; TERMS],
    pub(crate) shares: [f32; SETS],
    pub(crate) truth: f32,
}

/// The weights, on their way.
pub(crate) struct Fit<const PATTERNS: usize, const TERMS: usize, const SETS: usize> {
    pub(crate) weights: Vec<[f32; SETS]>,
    pub(crate) terms: [[f32; TERMS]; SETS],
    /// The part of itself that a weight loses with each step, as a part of the step.
    pulls: Vec<[f32; SETS]>,
    pace: Pace,
}

impl<const PATTERNS: usize, const TERMS: usize, const SETS: usize> Fit<PATTERNS, TERMS, SETS> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "as precise as what is divided by it"
    )]
    pub(crate) fn new(
        samples: &[Sample<PATTERNS, TERMS, SETS>],
        weights: usize,
        restraint: f32,
        pace: Pace,
    ) -> Self {
        let mut seen = vec![[0.0_f64; SETS]; weights];
        for sample in samples {
            for number in sample.patterns {
                for (seen, share) in seen[number as usize].iter_mut().zip(sample.shares) {
                    *seen += f64::from(share);
                }
            }
        }
        Self {
            weights: vec![[0.0; SETS]; weights],
            terms: [[0.0; TERMS]; SETS],
            pulls: seen
                .iter()
                .map(|seen| seen.map(|seen| restraint / seen.max(1.0) as f32))
                .collect(),
            pace,
        }
    }

    /// What is said of a position.
    fn value(&self, sample: &Sample<PATTERNS, TERMS, SETS>) -> f32 {
        let mut value = 0.0;
        for (set, share) in sample.shares.iter().enumerate() {
            let weights = sample.patterns.iter();
            let weights = weights.map(|number| self.weights[*number as usize][set]);
            let terms = self.terms[set].iter().zip(sample.terms);
            let terms = terms.map(|(weight, term)| weight * term);
            value += share * (weights.sum::<f32>() + terms.sum::<f32>());
        }
        value
    }

    /// What is true, less what is said.
    fn miss(&self, sample: &Sample<PATTERNS, TERMS, SETS>) -> f32 {
        let value = self.value(sample);
        match self.pace.scale {
            Scale::Value => sample.truth - value,
            Scale::Odds => sample.truth - 1.0 / (1.0 + (-value).exp()),
        }
    }

    /// Goes through all samples once, in a random order; `done` of all rounds is over.
    pub(crate) fn round(
        &mut self,
        samples: &mut [Sample<PATTERNS, TERMS, SETS>],
        done: f32,
        chance: &mut SeededRng,
    ) {
        let step = STEP[0] * (STEP[1] / STEP[0]).powf(done);
        let each = step / PATTERNS as f32;
        for at in 0..samples.len() {
            samples.swap(at, at + chance.next_below(samples.len() - at));
            let sample = &samples[at];
            let error = match self.pace.scale {
                Scale::Value => self.miss(sample),
                // Where both are as likely to win, odds change four times as fast as chances.
                Scale::Odds => 4.0 * self.miss(sample),
            };
            for number in sample.patterns {
                let (weights, pulls) = (
                    &mut self.weights[number as usize],
                    self.pulls[number as usize],
                );
                for ((weight, pull), share) in weights.iter_mut().zip(pulls).zip(sample.shares) {
                    // However few positions have it: no more than what there is of it is lost.
                    let pull = pull.min(1.0 / each);
                    *weight += each * share * (error - pull * *weight);
                }
            }
            for (terms, share) in self.terms.iter_mut().zip(sample.shares) {
                for (weight, term) in terms.iter_mut().zip(sample.terms) {
                    *weight += step * self.pace.term_step * share * error * term;
                }
            }
        }
    }

    /// The root of the mean square of the error.
    pub(crate) fn error(&self, samples: &[Sample<PATTERNS, TERMS, SETS>]) -> f64 {
        let errors = samples.iter().map(|sample| f64::from(self.miss(sample)));
        let squares: f64 = errors.map(|error| error * error).sum();
        (squares / samples.len().max(1) as f64).sqrt()
    }

    /// Rounds weights to what can be written. Tells how many are cut off since they are too large.
    pub(crate) fn round_to(&mut self, patterns: f32, terms: f32) -> usize {
        let mut cut = 0;
        for weight in self.weights.as_flattened_mut() {
            let whole = (*weight * patterns).round();
            let kept = whole.clamp(-127.0, 127.0);
            cut += usize::from(kept != whole);
            *weight = kept / patterns;
        }
        for weight in self.terms.as_flattened_mut() {
            *weight = (*weight * terms).round().clamp(-32_767.0, 32_767.0) / terms;
        }
        cut
    }
}
