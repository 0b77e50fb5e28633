//! The parts of the search that can be left out.

/// Which parts are used. What a part may change is said beside it: tests leave out whatever may
/// change a value, and compare the rest with plain minimax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchOptions {
    /// The transposition table. Changes no value, as long as keys differ.
    pub(super) transposition_table: bool,
    /// Aspiration windows. Change no value.
    pub(super) aspiration_windows: bool,
    /// What was found by looking farther ahead is taken for what is found by looking less far.
    /// Changes values for the better, where looks end before the game does.
    pub(super) accept_deeper_entries: bool,
    /// What the game knows: bounds, and which moves are worth considering. Changes values for the
    /// better, where looks end before the game does.
    pub(super) game_knowledge: bool,
    /// Values are estimated where looks end; without it they are draws there, and only the end of the
    /// game counts.
    pub(super) evaluate_leaves: bool,
    /// Where the values of all moves are asked for, only those that are worth considering are looked
    /// at. What is left out has no value.
    pub(super) selective_root: bool,
    /// Noisy moves are followed beyond the depth. Changes estimates for the better.
    pub(super) quiescence: bool,
    /// Conclusions are drawn from passing. May change values for the worse.
    pub(super) null_move: bool,
    /// Late moves are looked at less deeply, and tense ones more. May change values for the worse.
    pub(super) late_move_reductions: bool,
    /// Conclusions are drawn from estimates where a look goes on. May change values for the worse.
    pub(super) futility: bool,
}

impl SearchOptions {
    /// All parts; of those that may do harm, what the game asks for.
    pub(super) const ALL: Self = Self {
        transposition_table: true,
        aspiration_windows: true,
        accept_deeper_entries: true,
        game_knowledge: true,
        evaluate_leaves: true,
        selective_root: false,
        quiescence: true,
        null_move: true,
        late_move_reductions: true,
        futility: true,
    };

    /// Every part that changes no value: what is found is what plain minimax would find.
    pub(super) const EXACT: Self = Self {
        accept_deeper_entries: false,
        game_knowledge: false,
        quiescence: false,
        null_move: false,
        late_move_reductions: false,
        futility: false,
        ..Self::ALL
    };

    /// What it takes to prove that there is a win within some plies, or that there is none.
    pub(super) const PROOF: Self = Self {
        accept_deeper_entries: true,
        game_knowledge: true,
        evaluate_leaves: false,
        ..Self::EXACT
    };
}
