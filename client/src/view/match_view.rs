//! A match as a full screen shows it, part by part.

use std::time::Duration;

use plyhouse_protocol::{GameSummary, MatchStatus, SeatNumber, Snapshot};

use super::board;
use super::board::RenderedBoard;
use super::clocks::{countdowns, remaining_times};
use super::{FAINT, STRONG, captures_text, paint, seat_label};

/// A match as it stands now.
#[derive(Clone, Debug)]
pub(crate) struct MatchView {
    /// The match.
    pub(crate) snapshot: Snapshot,
    /// Its game, if the server has told of it.
    pub(crate) game: Option<GameSummary>,
    /// For how long its clocks have run since they were told.
    pub(crate) elapsed: Duration,
    /// For how long who is gone may still be gone.
    pub(crate) absences: [Option<Duration>; 2],
}

impl MatchView {
    /// What is played, and who looks on.
    pub(crate) fn title(&self) -> String {
        let title = super::match_title(&self.snapshot, self.game.as_ref());
        let series = super::series_score(&self.snapshot).map(|series| format!("   {series}"));
        let spectators = match self.snapshot.spectators {
            0 => String::new(),
            1 => paint(FAINT, "   one spectator"),
            more => paint(FAINT, &format!("   {more} spectators")),
        };
        format!("{title}{}{spectators}", series.unwrap_or_default())
    }

    /// The board; `ruled` with lines between its ranks.
    pub(crate) fn rendered_board(&self, ruled: bool) -> Option<RenderedBoard> {
        board::render_board(&self.snapshot, self.game.as_ref(), ruled)
    }

    /// The board where no [`rendered_board`](Self::rendered_board) of it can be drawn.
    pub(crate) fn board_lines(&self, columns: usize) -> Vec<String> {
        board::board_lines(&self.snapshot, self.game.as_ref(), Some(columns))
    }

    /// Both seats: who sits there, and below what the clock shows and what was taken.
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

    /// The moves that were played, in one text.
    pub(crate) fn move_list(&self) -> String {
        super::move_list(&self.snapshot)
    }

    /// How it stands: whose turn it is, or what it has come to; what is offered; and what runs down beside the
    /// clocks. It has one line at least.
    pub(crate) fn status_lines(&self) -> Vec<String> {
        let now = &self.snapshot;
        let headline = match (now.status, &now.outcome) {
            (MatchStatus::Open, _) => "Waiting for somebody to sit down …".to_owned(),
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

    /// One line that names the match, and one with what it has come to; nothing while that is open.
    pub(crate) fn outcome_text(&self) -> Option<String> {
        let outcome = self.snapshot.outcome.as_ref()?;
        let headline = super::headline(&self.snapshot, self.game.as_ref());
        Some(format!(
            "{headline}\n{}",
            super::outcome_text(&self.snapshot, outcome)
        ))
    }

    /// Whether it is this client's turn to move.
    pub(crate) fn is_my_turn(&self) -> bool {
        self.snapshot.turn.is_some() && self.snapshot.turn == self.snapshot.you
    }
}
