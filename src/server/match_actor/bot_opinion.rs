//! What the bots of a match think of it: whether they take a draw, and whether they give up. It is not
//! kept, and after a restart they have no opinion.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::DrawAssessment;
use plyhouse_matches::{Action, Match, Offer};

/// Worth this or less to its bot, in hundredths of the least piece, a position is without hope.
const HOPELESS: i32 = -900;

/// For so many moves running there must have been none before a bot gives up.
const HOPELESS_MOVES: u32 = 3;

/// What the bots of a match think of it.
#[derive(Debug, Default)]
pub(super) struct BotOpinion {
    last: [Option<DrawAssessment>; 2],
    /// How many moves running each has been without hope.
    hopeless: [u32; 2],
    /// When a bot was offered the draw that stands.
    asked_at: Option<Instant>,
}

impl BotOpinion {
    /// A bot has found this; nothing, if it moves without thinking.
    pub(super) fn thought(&mut self, seat: Seat, found: Option<DrawAssessment>) {
        let hopeless = &mut self.hopeless[seat.index()];
        match found {
            Some(judgement) if judgement.value <= HOPELESS => *hopeless += 1,
            Some(_) => *hopeless = 0,
            None => {}
        }
        self.last[seat.index()] = found.or(self.last[seat.index()]);
    }

    /// Whether a bot has lost all hope.
    pub(super) fn gives_up(&self, seat: Seat) -> bool {
        self.hopeless[seat.index()] >= HOPELESS_MOVES
    }

    /// Moves were taken back: what was thought of them is no more than that.
    pub(super) const fn taken_back(&mut self) {
        self.hopeless = [0; 2];
    }

    /// Something was offered at this instant.
    pub(super) fn offered(&mut self, offer: Offer, at: Instant) {
        if offer == Offer::Draw {
            self.asked_at = Some(at);
        }
    }

    /// When a bot says whether it takes the draw that it is offered, if nothing makes it do so before.
    pub(super) fn answers_at(&self, state: &Match) -> Option<Instant> {
        state.bot_to_answer_draw()?;
        let pace = Duration::from_millis(state.creation().terms.pace_ms);
        self.asked_at.map(|at| at + pace)
    }

    /// What a bot says to the draw that it is offered; `None` if it is not.
    pub(super) fn answer(&self, state: &Match) -> Option<Action> {
        let seat = state.bot_to_answer_draw()?;
        let level = state.occupant(seat).bot()?;
        let judgement = self.last[seat.index()];
        let accepts = judgement.is_some_and(|judgement| judgement.accepts_draw(level));
        Some(Action::AnswerDrawAsBot { seat, accepts })
    }
}
