//! A match as a full screen shows it, part by part.

use std::time::Duration;

use plyhouse_protocol::{GameSummary, MatchStatus, SeatNumber, Snapshot};

use super::board::{self, Picture};
use super::time::{asides, left};
use super::{FAINT, STRONG, paint, sitter, spoils};

/// A match as it stands now.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// The match.
    pub(crate) now: Snapshot,
    /// Its game, if the server has told of it.
    pub(crate) game: Option<GameSummary>,
    /// For how long its clocks have run since they were told.
    pub(crate) since: Duration,
    /// For how long who is gone may still be gone.
    pub(crate) gone: [Option<Duration>; 2],
}

impl Scene {
    /// What is played, and who looks on.
    pub(crate) fn title(&self) -> String {
        let title = super::title(&self.now, self.game.as_ref());
        let series = super::series(&self.now).map(|series| format!("   {series}"));
        let spectators = match self.now.spectators {
            0 => String::new(),
            1 => paint(FAINT, "   one spectator"),
            more => paint(FAINT, &format!("   {more} spectators")),
        };
        format!("{title}{}{spectators}", series.unwrap_or_default())
    }

    /// The board; `ruled` with lines between its ranks.
    pub(crate) fn picture(&self, ruled: bool) -> Option<Picture> {
        board::picture(&self.now, self.game.as_ref(), ruled)
    }

    /// The board where no [`picture`](Self::picture) of it can be drawn.
    pub(crate) fn board(&self, columns: usize) -> Vec<String> {
        board::board(&self.now, self.game.as_ref(), Some(columns))
    }

    /// Both seats: who sits there, and below what the clock shows and what was taken.
    pub(crate) fn seats(&self) -> [[String; 2]; 2] {
        let left = left(&self.now, self.since);
        [0, 1].map(|number| {
            let seat = SeatNumber(number);
            let clock = left.map(|both| both[usize::from(number)]);
            let clock = clock.map_or_else(String::new, |left| {
                let style = if left.runs { STRONG } else { FAINT };
                paint(style, &left.text())
            });
            let spoils = spoils(&self.now, seat);
            [sitter(&self.now, seat), format!("    {clock}{spoils}")]
        })
    }

    /// The moves that were played, in one text.
    pub(crate) fn moves(&self) -> String {
        super::line(&self.now)
    }

    /// How it stands: whose turn it is, or what it has come to; what is offered; and what runs down beside the
    /// clocks. It has one line at least.
    pub(crate) fn status(&self) -> Vec<String> {
        let now = &self.now;
        let main = match (now.status, &now.outcome) {
            (MatchStatus::Open, _) => "Waiting for somebody to sit down …".to_owned(),
            (MatchStatus::Running, _) => super::turn(now),
            (MatchStatus::Ended, Some(outcome)) => paint(STRONG, &super::ended(now, outcome)),
            (MatchStatus::Ended, None) => "The match is over.".to_owned(),
        };
        let offers = now.offers.iter().map(|offer| super::offered(now, offer));
        let (asides, _) = asides(now, self.since, self.gone);
        let asides = (!asides.is_empty()).then(|| asides.join("   "));
        std::iter::once(main).chain(offers).chain(asides).collect()
    }

    /// One line that names the match, and one with what it has come to; nothing while that is open.
    pub(crate) fn outcome(&self) -> Option<String> {
        let outcome = self.now.outcome.as_ref()?;
        let headline = super::headline(&self.now, self.game.as_ref());
        Some(format!("{headline}\n{}", super::ended(&self.now, outcome)))
    }

    /// Whether it is this client's turn to move.
    pub(crate) fn is_my_turn(&self) -> bool {
        self.now.turn.is_some() && self.now.turn == self.now.you
    }
}
