//! Search techniques that can be switched off.

/// Techniques that a search uses. The comment on each field states how the technique may change the
/// value of a position.
///
/// Tests switch off all techniques that can change a value, and then compare the result with plain
/// minimax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchOptions {
    /// Use the transposition table. This technique does not change values unless two positions have
    /// equal keys.
    pub(super) transposition_table: bool,
    /// Use aspiration windows. This technique does not change values.
    pub(super) aspiration_windows: bool,
    /// Accept table entries from deeper searches. If the search does not reach the end of the game,
    /// these entries make values more accurate.
    pub(super) accept_deeper_entries: bool,
    /// Use game knowledge: bounds and candidate moves. If the search does not reach the end of the
    /// game, this knowledge makes values more accurate.
    pub(super) game_knowledge: bool,
    /// Evaluate leaf nodes. If unset, a leaf node counts as a draw unless the game is over.
    pub(super) evaluate_leaves: bool,
    /// Search only the candidate moves at the root, even if the caller requests the values of all
    /// moves. The search then returns no value for other moves.
    pub(super) selective_root: bool,
    /// Search noisy moves beyond the depth limit (quiescence search). This technique improves
    /// estimates.
    pub(super) quiescence: bool,
    /// Use null-move pruning. This technique may make values less accurate.
    pub(super) null_move: bool,
    /// Reduce the depth of late moves and extend forced positions. This technique may make values
    /// less accurate.
    pub(super) late_move_reductions: bool,
    /// Prune inner nodes based on static evaluations (futility pruning). This technique may make
    /// values less accurate.
    pub(super) futility: bool,
}

impl SearchOptions {
    /// All techniques except `selective_root`. Techniques that may make values less accurate apply
    /// only in games that enable them.
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

    /// All techniques that do not change values. With these options, the search returns the values
    /// of plain minimax.
    pub(super) const EXACT: Self = Self {
        accept_deeper_entries: false,
        game_knowledge: false,
        quiescence: false,
        null_move: false,
        late_move_reductions: false,
        futility: false,
        ..Self::ALL
    };

    /// Techniques for a search that proves whether a win exists within a given number of plies.
    pub(super) const PROOF: Self = Self {
        accept_deeper_entries: true,
        game_knowledge: true,
        evaluate_leaves: false,
        ..Self::EXACT
    };
}
