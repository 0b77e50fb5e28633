//! What the bots of a match think of it: whether they take a draw, and whether they give up. It is not
//! kept, and after a restart they have no opinion.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::DrawAssessment;
use plyhouse_matches::{Action, Match, Offer};

/// Worth this or less to its bot, in hundredths of the least piece, a position is without hope.
const HOPELESS_VALUE: i32 = -900;

/// For so many moves running there must have been none before a bot gives up.
const HOPELESS_MOVES_MIN: u32 = 3;

/// What the bots of a match think of it.
#[derive(Debug, Default)]
pub(super) struct BotOpinion {
    last_judgements: [Option<DrawAssessment>; 2],
    /// How many moves running each has been without hope.
    hopeless_moves: [u32; 2],
    /// When a bot was offered the draw that stands.
    draw_offered_at: Option<Instant>,
}

impl BotOpinion {
    /// A bot has found this; nothing, if it moves without thinking.
    pub(super) fn record_judgement(&mut self, seat: Seat, judgement: Option<DrawAssessment>) {
        let hopeless_moves = &mut self.hopeless_moves[seat.index()];
        match judgement {
            Some(judgement) if judgement.value <= HOPELESS_VALUE => *hopeless_moves += 1,
            Some(_) => *hopeless_moves = 0,
            None => {}
        }
        self.last_judgements[seat.index()] = judgement.or(self.last_judgements[seat.index()]);
    }

    /// Whether a bot has lost all hope.
    pub(super) fn wants_to_resign(&self, seat: Seat) -> bool {
        self.hopeless_moves[seat.index()] >= HOPELESS_MOVES_MIN
    }

    /// Moves were taken back: what was thought of them is no more than that.
    pub(super) const fn on_takeback(&mut self) {
        self.hopeless_moves = [0; 2];
    }

    /// Something was offered at this instant.
    pub(super) fn on_offer(&mut self, offer: Offer, at: Instant) {
        if offer == Offer::Draw {
            self.draw_offered_at = Some(at);
        }
    }

    /// When a bot says whether it takes the draw that it is offered, if nothing makes it do so before.
    pub(super) fn draw_answer_at(&self, state: &Match) -> Option<Instant> {
        state.bot_to_answer_draw()?;
        let pace = Duration::from_millis(state.creation().terms.bot_delay_ms);
        self.draw_offered_at.map(|at| at + pace)
    }

    /// What a bot says to the draw that it is offered; `None` if it is not.
    pub(super) fn draw_answer(&self, state: &Match) -> Option<Action> {
        let seat = state.bot_to_answer_draw()?;
        let level = state.occupant(seat).bot_level()?;
        let judgement = self.last_judgements[seat.index()];
        let accepts = judgement.is_some_and(|judgement| judgement.accepts_draw(level));
        Some(Action::AnswerDrawAsBot { seat, accepts })
    }
}
