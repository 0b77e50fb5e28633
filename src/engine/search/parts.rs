//! The parts of the search that can be left out.

/// Which parts are used. What a part may change is said beside it: tests leave out whatever may
/// change a value, and compare the rest with plain minimax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The transposition table. Changes no value, as long as keys differ.
    pub(super) table: bool,
    /// Aspiration windows. Change no value.
    pub(super) aspiration: bool,
    /// What was found by looking farther ahead is taken for what is found by looking less far.
    /// Changes values for the better, where looks end before the game does.
    pub(super) deeper: bool,
    /// What the game knows: bounds, and which moves are worth considering. Changes values for the
    /// better, where looks end before the game does.
    pub(super) knowledge: bool,
    /// Values are estimated where looks end; without it they are draws there, and only the end of the
    /// game counts.
    pub(super) estimates: bool,
    /// Where the values of all moves are asked for, only those that are worth considering are looked
    /// at. What is left out has no value.
    pub(super) selection: bool,
    /// Noisy moves are followed beyond the depth. Changes estimates for the better.
    pub(super) quiescence: bool,
    /// Conclusions are drawn from passing. May change values for the worse.
    pub(super) null_move: bool,
    /// Late moves are looked at less deeply, and tense ones more. May change values for the worse.
    pub(super) reductions: bool,
    /// Conclusions are drawn from estimates where a look goes on. May change values for the worse.
    pub(super) futility: bool,
}

impl Parts {
    /// All parts; of those that may do harm, what the game asks for.
    pub(super) const ALL: Self = Self {
        table: true,
        aspiration: true,
        deeper: true,
        knowledge: true,
        estimates: true,
        selection: false,
        quiescence: true,
        null_move: true,
        reductions: true,
        futility: true,
    };

    /// Every part that changes no value: what is found is what plain minimax would find.
    pub(super) const EXACT: Self = Self {
        deeper: false,
        knowledge: false,
        quiescence: false,
        null_move: false,
        reductions: false,
        futility: false,
        ..Self::ALL
    };

    /// What it takes to prove that there is a win within some plies, or that there is none.
    pub(super) const PROOF: Self = Self {
        deeper: true,
        knowledge: true,
        estimates: false,
        ..Self::EXACT
    };
}
