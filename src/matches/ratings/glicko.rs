//! The Glicko-2 rating system (Glickman, "Example of the Glicko-2 system", 2022), as lichess uses
//! it. Each game is a rating period of its own, and the deviation grows only with the time between
//! games.
//!
//! The code uses only `libm` and the four basic operations in a fixed order, so every machine
//! computes bitwise identical results.

/// Version of the algorithm. Increase it with every code change that alters the ratings computed
/// from an existing ledger.
pub const ALGORITHM_VERSION: u32 = 1;

/// Rating points per unit of the internal scale.
const SCALE: f64 = 173.7178;

const INITIAL_RATING: f64 = 1500.0;

/// System constant of Glicko-2. It determines how fast the volatility changes.
const TAU: f64 = 0.75;

const RATING_BOUNDS: (f64, f64) = (400.0, 4000.0);
const DEVIATION_BOUNDS: (f64, f64) = (45.0, 500.0);
const VOLATILITY_MAX: f64 = 0.1;

/// Maximum rating change in one game.
const RATING_CHANGE_MAX: f64 = 700.0;

/// Minimum deviation of a provisional rating.
const PROVISIONAL_DEVIATION_MIN: f64 = 110.0;

/// Maximum deviation of a rating that may appear on a leaderboard.
const LEADERBOARD_DEVIATION_MAX: f64 = 75.0;

/// Number of rating periods per day. With this value, the rating of an inactive player becomes
/// provisional after about a year.
const PERIODS_PER_DAY: f64 = 0.21436;

/// Tolerance of the iterative volatility computation. [`ITERATIONS_MAX`] limits the number of
/// iterations.
const CONVERGENCE_TOLERANCE: f64 = 0.000_001;
const ITERATIONS_MAX: u32 = 1000;

/// Estimate of a player's strength, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Rating in points.
    pub rating: f64,
    /// Rating deviation in points. A lower deviation means a more reliable rating.
    pub deviation: f64,
    /// Degree of fluctuation expected in the player's results.
    pub volatility: f64,
}

impl Rating {
    /// Rating of a new player.
    pub const INITIAL: Self = Self {
        rating: INITIAL_RATING,
        deviation: DEVIATION_BOUNDS.1,
        volatility: 0.09,
    };

    /// Returns the rating of a player whose strength never changes, such as a bot level.
    #[must_use]
    pub const fn fixed(rating: f64) -> Self {
        Self {
            rating,
            deviation: DEVIATION_BOUNDS.0,
            volatility: 0.0,
        }
    }

    /// Returns the rating rounded to an integer, as clients show it.
    #[must_use]
    pub fn rounded(&self) -> i32 {
        round_rating(self.rating)
    }

    /// Returns the deviation rounded to an integer, as clients show it.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it is between 45 and 500")]
    #[expect(clippy::cast_sign_loss, reason = "it is at least 45")]
    pub fn rounded_deviation(&self) -> u32 {
        libm::round(self.deviation) as u32
    }

    /// Returns whether the rating is still provisional because of its large deviation.
    #[must_use]
    pub fn is_provisional(&self) -> bool {
        self.deviation >= PROVISIONAL_DEVIATION_MIN
    }

    /// Returns the maximum deviation of a rating on a leaderboard.
    #[must_use]
    pub const fn leaderboard_deviation_max() -> f64 {
        LEADERBOARD_DEVIATION_MAX
    }

    /// Returns whether both ratings are bitwise equal.
    #[must_use]
    pub fn is_bitwise_equal(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }

    /// Returns the bits of the rating, the deviation and the volatility.
    #[must_use]
    pub const fn bits(&self) -> [u64; 3] {
        [
            self.rating.to_bits(),
            self.deviation.to_bits(),
            self.volatility.to_bits(),
        ]
    }
}

/// Rounds a rating to the integer that clients show.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is between 400 and 4000"
)]
pub fn round_rating(rating: f64) -> i32 {
    libm::round(rating) as i32
}

/// Returns the player's rating after a game against `other` with a score of 0, ½ or 1. `since_ms`
/// is the time since the player's last game in milliseconds, or `None` before the first game.
#[must_use]
pub fn rate_game(own: &Rating, other: &Rating, score: f64, since_ms: Option<u64>) -> Rating {
    let days = since_ms.map_or(0.0, as_days);
    let new = compute(own, &[(*other, score)], days * PERIODS_PER_DAY);
    let change = (new.rating - own.rating).clamp(-RATING_CHANGE_MAX, RATING_CHANGE_MAX);
    Rating {
        rating: (own.rating + change).clamp(RATING_BOUNDS.0, RATING_BOUNDS.1),
        deviation: new.deviation.clamp(DEVIATION_BOUNDS.0, DEVIATION_BOUNDS.1),
        volatility: new.volatility.min(VOLATILITY_MAX),
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years")]
fn as_days(ms: u64) -> f64 {
    ms as f64 / super::DAY_MS as f64
}

/// Computes a player's new rating from the given results (steps 2 to 8 of the Glicko-2 paper). The
/// deviation grows with `periods`, the number of rating periods.
pub(super) fn compute(own: &Rating, results: &[(Rating, f64)], periods: f64) -> Rating {
    let mu = (own.rating - INITIAL_RATING) / SCALE;
    let phi = own.deviation / SCALE;
    let (mut certainty, mut surprise) = (0.0, 0.0);
    for (other, score) in results {
        let mu_other = (other.rating - INITIAL_RATING) / SCALE;
        let weight = deviation_weight(other.deviation / SCALE);
        let expected = 1.0 / (1.0 + libm::exp(-weight * (mu - mu_other)));
        certainty += weight * weight * expected * (1.0 - expected);
        surprise += weight * (score - expected);
    }
    let variance = 1.0 / certainty;
    let volatility = new_volatility(own.volatility, phi, variance, variance * surprise);
    let grown = phi * phi + periods * volatility * volatility;
    let new_phi = 1.0 / libm::sqrt(1.0 / grown + 1.0 / variance);
    Rating {
        rating: SCALE * (mu + new_phi * new_phi * surprise) + INITIAL_RATING,
        deviation: SCALE * new_phi,
        volatility,
    }
}

/// Computes the function `g` of the Glicko-2 paper. The function weights the result of a game: the
/// weight is lower if the opponent's rating is less certain.
fn deviation_weight(phi: f64) -> f64 {
    let pi = std::f64::consts::PI;
    1.0 / libm::sqrt(1.0 + 3.0 * phi * phi / (pi * pi))
}

/// Computes step 5 of the Glicko-2 paper with the Illinois algorithm.
fn new_volatility(volatility: f64, phi: f64, variance: f64, delta: f64) -> f64 {
    let start = 2.0 * libm::log(volatility);
    let objective = |x: f64| {
        let e = libm::exp(x);
        let sum = phi * phi + variance + e;
        let first = e * (delta * delta - sum) / (2.0 * sum * sum);
        first - (x - start) / (TAU * TAU)
    };
    let mut low = start;
    let excess = delta * delta - phi * phi - variance;
    let mut high = if excess > 0.0 {
        libm::log(excess)
    } else {
        let mut steps = 1.0;
        while objective(start - steps * TAU) < 0.0 {
            steps += 1.0;
        }
        start - steps * TAU
    };
    let (mut off_low, mut off_high) = (objective(low), objective(high));
    for _ in 0..ITERATIONS_MAX {
        if (high - low).abs() <= CONVERGENCE_TOLERANCE {
            break;
        }
        let between = low + (low - high) * off_low / (off_high - off_low);
        let off_between = objective(between);
        if off_between * off_high <= 0.0 {
            (low, off_low) = (high, off_high);
        } else {
            off_low /= 2.0;
        }
        (high, off_high) = (between, off_between);
    }
    libm::exp(low / 2.0)
}
