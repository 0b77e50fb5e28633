//! Texts and boards that the full-screen interface shows for a match.

use std::time::Duration;

use plyhouse_protocol::{GameSummary, MatchStatus, SeatNumber, Snapshot};

use super::board::{self, BoardRenderer, RenderedBoard};
use super::clocks::{countdowns, remaining_times};
use super::{FAINT, STRONG, captures_text, paint, seat_label};

/// Current state of a match for display.
#[derive(Clone, Debug)]
pub(crate) struct MatchView {
    pub(crate) snapshot: Snapshot,
    /// Description of the game, if the server has sent it.
    pub(crate) game: Option<GameSummary>,
    /// Time since the last clock update.
    pub(crate) elapsed: Duration,
    /// Time that each absent player has left to return.
    pub(crate) absences: [Option<Duration>; 2],
}

impl MatchView {
    /// Returns the title of the match, the score of its series, and the number of spectators.
    pub(crate) fn title(&self) -> String {
        let title = super::match_title(&self.snapshot, self.game.as_ref());
        let series = super::series_score(&self.snapshot).map(|series| format!("   {series}"));
        let spectators = match self.snapshot.spectators {
            0 => String::new(),
            1 => paint(FAINT, "   1 spectator"),
            more => paint(FAINT, &format!("   {more} spectators")),
        };
        format!("{title}{}{spectators}", series.unwrap_or_default())
    }

    /// Renders the board. `ruled` requests lines between the ranks of the board. Returns `None` if
    /// the position is not a valid board.
    pub(crate) fn rendered_board(&self, ruled: bool) -> Option<RenderedBoard> {
        let renderer = BoardRenderer::from_snapshot(&self.snapshot, self.game.as_ref())?;
        Some(renderer.render(ruled))
    }

    /// Returns the board as lines of text. The caller uses these lines if
    /// [`rendered_board`](Self::rendered_board) returns `None`.
    pub(crate) fn board_lines(&self, columns: usize) -> Vec<String> {
        board::board_lines(&self.snapshot, self.game.as_ref(), Some(columns))
    }

    /// Returns two lines for each seat: first the occupant, then the clock and the captures.
    pub(crate) fn seat_lines(&self) -> [[String; 2]; 2] {
        let times = remaining_times(&self.snapshot, self.elapsed);
        [0, 1].map(|number| {
            let seat = SeatNumber(number);
            let clock = times.map(|both| both[usize::from(number)]);
            let clock = clock.map_or_else(String::new, |left| {
                let style = if left.is_running { STRONG } else { FAINT };
                paint(style, &left.to_text())
            });
            let captures = captures_text(&self.snapshot, seat);
            [
                seat_label(&self.snapshot, seat),
                format!("    {clock}{captures}"),
            ]
        })
    }

    pub(crate) fn move_list(&self) -> String {
        super::move_list(&self.snapshot)
    }

    /// Returns the lines about the state of the match: first the turn or the outcome, then the open
    /// offers and the countdowns. There is at least one line.
    pub(crate) fn status_lines(&self) -> Vec<String> {
        let now = &self.snapshot;
        let headline = match (now.status, &now.outcome) {
            (MatchStatus::Open, _) => "Waiting for an opponent …".to_owned(),
            (MatchStatus::Running, _) => super::turn_text(now),
            (MatchStatus::Ended, Some(outcome)) => {
                paint(STRONG, &super::outcome_text(now, outcome))
            }
            (MatchStatus::Ended, None) => "The match is over.".to_owned(),
        };
        let offers = now.offers.iter().map(|offer| super::offer_text(now, offer));
        let (countdowns, _) = countdowns(now, self.elapsed, self.absences);
        let countdowns = (!countdowns.is_empty()).then(|| countdowns.join("   "));
        std::iter::once(headline)
            .chain(offers)
            .chain(countdowns)
            .collect()
    }

    /// Returns two lines: the name of the match and its outcome. Returns `None` if there is no
    /// outcome yet.
    pub(crate) fn outcome_text(&self) -> Option<String> {
        let outcome = self.snapshot.outcome.as_ref()?;
        let headline = super::headline(&self.snapshot, self.game.as_ref());
        Some(format!(
            "{headline}\n{}",
            super::outcome_text(&self.snapshot, outcome)
        ))
    }

    pub(crate) fn is_my_turn(&self) -> bool {
        self.snapshot.turn.is_some() && self.snapshot.turn == self.snapshot.you
    }
}
