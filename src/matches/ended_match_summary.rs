//! Summaries of ended matches. A summary contains the first moves of a match for the opening
//! statistics. A summary can be read without the events of the match.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{EndReason, MatchResult, PlayerId, PlayerKind, ShownRating};
use serde::{Deserialize, Serialize};

use crate::{Match, Occupant, Stage};

/// Number of plies that form the opening of a match.
pub const OPENING_PLIES: usize = 16;

/// Summary of an ended match, which can be read without the events. It is stored in this serialised
/// form, so serialised names must never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedMatchSummary {
    /// Players or bots in the seats at the start of the match.
    pub seats: [SeatAtStart; 2],
    /// Winning seat, if any.
    pub winner: Option<Seat>,
    /// Reason why the match ended.
    pub reason: EndReason,
    /// Further detail on why the match ended, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Seat whose player aborted the match or did not play the first move in time, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Seat>,
    /// Points of each seat, if the game was decided by counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[u32; 2]>,
    /// Squares of the winning line, in games that are won by a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "line")]
    pub winning_line: Option<Vec<String>>,
    /// Number of moves at the end, without moves that were taken back.
    pub plies: u64,
    /// First plies of the match, separated by spaces. Openings that differ only by a symmetry of
    /// the board are stored in the same form. `None` if the match does not count in the public
    /// opening statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
}

/// Occupant of a seat at the start of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeatAtStart {
    /// A player.
    Player {
        /// Public id of the player.
        player: PlayerId,
        /// Name of the player at the time of joining.
        name: String,
        /// Kind of the player (guest, account or bot account) at the time of joining.
        #[serde(default = "guest", skip_serializing_if = "is_guest")]
        kind: PlayerKind,
        /// Rating of the player's account at the time of joining, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<ShownRating>,
    },
    /// A bot that runs on the server.
    Bot {
        /// Level of the bot.
        bot: Level,
    },
}

const fn guest() -> PlayerKind {
    PlayerKind::Guest
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_guest(kind: &PlayerKind) -> bool {
    *kind == PlayerKind::Guest
}

impl SeatAtStart {
    /// Returns the player, or `None` for a bot.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { player, .. } => Some(*player),
            Self::Bot { .. } => None,
        }
    }

    /// Converts an occupant of a started match to a [`SeatAtStart`]. The holder of a seat never
    /// changes after the start, because a bot that replaces an absent player is only a stand-in.
    fn from_occupant(occupant: &Occupant) -> Option<Self> {
        Some(match occupant {
            Occupant::Open => return None,
            Occupant::Player {
                id,
                name,
                kind,
                rating,
            }
            | Occupant::StandIn {
                player: id,
                name,
                kind,
                rating,
                ..
            } => Self::Player {
                player: *id,
                name: name.clone(),
                kind: *kind,
                rating: *rating,
            },
            Occupant::Bot(level) => Self::Bot { bot: *level },
        })
    }
}

impl EndedMatchSummary {
    /// Returns the result of the match for `seat`.
    #[must_use]
    pub fn result(&self, seat: Seat) -> MatchResult {
        match self.winner {
            Some(winner) if winner == seat => MatchResult::Won,
            Some(_) => MatchResult::Lost,
            None if is_draw(self.reason) => MatchResult::Drawn,
            None => MatchResult::None,
        }
    }
}

impl Match {
    /// Returns the summary of the match. Returns `None` if the match has not ended, never started,
    /// or must not appear in histories.
    #[must_use]
    pub fn ended_summary(&self) -> Option<EndedMatchSummary> {
        if !self.creation().terms.in_histories {
            return None;
        }
        let Stage::Ended {
            winner,
            reason,
            detail,
            by,
        } = self.stage()
        else {
            return None;
        };
        let [first, second] = Seat::ALL.map(|seat| SeatAtStart::from_occupant(self.occupant(seat)));
        let position = (reason == EndReason::Rules).then(|| self.position());
        let by_rules = position.and_then(|position| position.ending());
        let rules_detail = by_rules.map(|ending| ending.detail);
        Some(EndedMatchSummary {
            seats: [first?, second?],
            winner,
            reason,
            detail: rules_detail
                .or_else(|| detail.map(|detail| detail.as_str()))
                .map(str::to_owned),
            by,
            scores: by_rules.and_then(|ending| ending.scores),
            winning_line: position.and_then(|position| position.winning_line()),
            plies: self.ply().0,
            opening: self.opening_line(reason),
        })
    }

    fn opening_line(&self, reason: EndReason) -> Option<String> {
        let creation = self.creation();
        // Opening statistics include a match as soon as it ends. They must not reveal a private
        // match or a match that spectators see with a delay.
        let is_public_live = creation.terms.is_public() && creation.terms.spectator_delay_ms == 0;
        // A match from a custom position does not count as an opening of the game.
        let is_opening = creation.terms.initial_position.is_none();
        if !is_public_live || !is_opening || reason == EndReason::Aborted {
            return None;
        }
        let line: Vec<&str> = self.moves().take(OPENING_PLIES).collect();
        Some(creation.game.canonical_line(&line).0.join(" "))
    }
}

/// Returns whether a match without a winner counts as a draw if it ended for the given reason.
pub(crate) const fn is_draw(reason: EndReason) -> bool {
    matches!(
        reason,
        EndReason::Rules | EndReason::Agreement | EndReason::Timeout
    )
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::catalog;
    use plyhouse_protocol::{MatchCode, MatchId};
    use uuid::Uuid;

    use super::*;
    use crate::{Creation, EventKind, Terms};

    fn ended_match(listed: bool, moves: &[&str], end: EventKind) -> Match {
        ended_match_on_terms(Terms::with_defaults(listed, 0, 0), moves, end)
    }

    fn ended_match_on_terms(terms: Terms, moves: &[&str], end: EventKind) -> Match {
        let player_occupant = |name: &str| Occupant::Player {
            id: PlayerId(Uuid::from_u128(name.len() as u128)),
            name: name.to_owned(),
            kind: PlayerKind::Guest,
            rating: None,
        };
        let creation = Creation {
            id: MatchId(Uuid::from_u128(1)),
            code: MatchCode::from_number(1),
            game: &catalog::CATALOG[0],
            host: PlayerId(Uuid::from_u128(3)),
            terms,
        };
        let mut events = Match::initial_events(
            &creation.terms,
            [player_occupant("ann"), player_occupant("grace")],
            5,
        );
        let move_event =
            |(ply, m): (usize, &&str)| EventKind::untimed_move(Seat::ALL[ply % 2], (*m).into());
        events.extend(
            moves
                .iter()
                .enumerate()
                .map(move_event)
                .map(|kind| kind.at(6)),
        );
        events.push(end.at(7));
        Match::replay(creation, &events).expect("valid events")
    }

    #[test]
    fn summary_has_result_opening_and_winning_line() {
        let won = EventKind::untimed_end(Some(Seat::First), EndReason::Rules);
        let ended = ended_match(true, &["c3", "a1", "b3", "a2", "a3"], won);
        let summary = ended.ended_summary().expect("match has ended");
        assert_eq!(summary.opening.as_deref(), Some("a1 c3 a2 b3 a3"));
        assert_eq!(
            summary.winning_line.as_deref(),
            Some(&["a3", "b3", "c3"].map(String::from)[..])
        );
        assert_eq!(summary.plies, 5);
        assert_eq!(
            Seat::ALL.map(|seat| summary.result(seat)),
            [MatchResult::Won, MatchResult::Lost]
        );
        let text = serde_json::to_string(&summary).expect("serialisable");
        assert_eq!(
            serde_json::from_str::<EndedMatchSummary>(&text).ok(),
            Some(summary)
        );
    }

    #[test]
    fn match_outside_histories_has_no_summary() {
        let end = EventKind::untimed_end(Some(Seat::First), EndReason::Resignation);
        let terms = Terms {
            in_histories: false,
            ..Terms::with_defaults(true, 0, 0)
        };
        assert_eq!(
            ended_match_on_terms(terms, &["b2", "a1"], end).ended_summary(),
            None
        );
        // Terms stored by earlier versions have no `history` field. Matches with such terms appear
        // in histories.
        let text = serde_json::to_string(&Terms::with_defaults(true, 0, 0)).expect("serialisable");
        assert!(!text.contains("history"), "{text}");
        assert!(
            serde_json::from_str::<Terms>(&text)
                .expect("serialised terms")
                .in_histories
        );
    }

    #[test]
    fn only_public_matches_with_result_have_an_opening() {
        let opening = |listed, reason| {
            let state = ended_match(listed, &["b2"], EventKind::untimed_end(None, reason));
            state.ended_summary().expect("match has ended").opening
        };
        assert_eq!(opening(true, EndReason::Agreement).as_deref(), Some("b2"));
        assert_eq!(opening(false, EndReason::Agreement), None);
        assert_eq!(opening(true, EndReason::Aborted), None);
        let aborted = ended_match(true, &[], EventKind::untimed_end(None, EndReason::Aborted));
        let summary = aborted.ended_summary().expect("match has ended");
        assert_eq!(summary.result(Seat::First), MatchResult::None);
    }
}
