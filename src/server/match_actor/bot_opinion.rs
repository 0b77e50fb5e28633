//! How the bots of a match assess their position. The assessment decides whether a bot accepts a
//! draw or resigns. The assessment is not stored, so a bot has none after a restart until its next
//! search.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::DrawAssessment;
use plyhouse_matches::{Action, Match, Offer};

/// Highest search score that counts as hopeless for a bot. The unit is one hundredth of the value
/// of the game's least valuable piece.
const HOPELESS_VALUE: i32 = -900;

/// Minimum number of consecutive hopeless searches before a bot resigns.
const HOPELESS_MOVES_MIN: u32 = 3;

#[derive(Debug, Default)]
pub(super) struct BotOpinion {
    last_judgements: [Option<DrawAssessment>; 2],
    /// Number of consecutive hopeless searches of the bot in each seat.
    hopeless_moves: [u32; 2],
    /// Time of the last draw offer. When the match is reloaded, this field is set to the current
    /// time, so that the bot still answers a pending offer.
    draw_offered_at: Option<Instant>,
}

impl BotOpinion {
    /// Records a bot's position assessment after a search. If the search found no move, `judgement`
    /// is `None` and the bot keeps its previous assessment.
    pub(super) fn record_judgement(&mut self, seat: Seat, judgement: Option<DrawAssessment>) {
        let hopeless_moves = &mut self.hopeless_moves[seat.index()];
        match judgement {
            Some(judgement) if judgement.value <= HOPELESS_VALUE => *hopeless_moves += 1,
            Some(_) => *hopeless_moves = 0,
            None => {}
        }
        self.last_judgements[seat.index()] = judgement.or(self.last_judgements[seat.index()]);
    }

    /// Returns whether the bot has found its position hopeless often enough to resign.
    pub(super) fn wants_to_resign(&self, seat: Seat) -> bool {
        self.hopeless_moves[seat.index()] >= HOPELESS_MOVES_MIN
    }

    /// Resets the counts of hopeless searches after a takeback, because the match has returned to
    /// an earlier position.
    pub(super) const fn on_takeback(&mut self) {
        self.hopeless_moves = [0; 2];
    }

    /// Records the time of a draw offer, and ignores other offers.
    pub(super) fn on_offer(&mut self, offer: Offer, at: Instant) {
        if offer == Offer::Draw {
            self.draw_offered_at = Some(at);
        }
    }

    /// Returns the time by which a bot must answer a pending draw offer. The bot answers earlier if
    /// its move is due earlier.
    pub(super) fn draw_answer_at(&self, state: &Match) -> Option<Instant> {
        state.bot_to_answer_draw()?;
        let pace = Duration::from_millis(state.creation().terms.bot_delay_ms);
        self.draw_offered_at.map(|at| at + pace)
    }

    /// Returns a bot's answer to a pending draw offer, or `None` if no bot has to answer an offer.
    pub(super) fn draw_answer(&self, state: &Match) -> Option<Action> {
        let seat = state.bot_to_answer_draw()?;
        let level = state.occupant(seat).bot_level()?;
        let judgement = self.last_judgements[seat.index()];
        let accepts = judgement.is_some_and(|judgement| judgement.accepts_draw(level));
        Some(Action::AnswerDrawAsBot { seat, accepts })
    }
}
