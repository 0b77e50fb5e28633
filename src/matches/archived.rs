//! What is told of an ended match without reading its events, and what openings are counted by.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{MatchResult, PlayerId, PlayerKind, Reason, ShownRating};
use serde::{Deserialize, Serialize};

use crate::{Match, Occupant, Stage};

/// How many plies of a match are counted as its opening.
pub const OPENING_PLIES: usize = 16;

/// What is told of an ended match without reading its events. It is kept as it is serialised here: names
/// are never changed, they are on disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    /// Who sat there at the start.
    pub seats: [SeatAtStart; 2],
    /// The seat that won, if one did.
    pub winner: Option<Seat>,
    /// Why it ended.
    pub reason: Reason,
    /// What more there is to say of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whose doing it was, where one seat broke it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Seat>,
    /// The points of the seats, where counting decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[u32; 2]>,
    /// The squares that made the win, in games that are won by a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<String>>,
    /// How many moves stood at the end.
    pub plies: u64,
    /// Its first plies, with a space between them: the line that stands for all that are the same on a
    /// board that is laid down otherwise. Only where openings of all are counted by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
}

/// Who sat in a seat when a match started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeatAtStart {
    /// A player.
    Player {
        /// The public id.
        player: PlayerId,
        /// The name at the time of sitting down.
        name: String,
        /// What the player was then.
        #[serde(default = "guest", skip_serializing_if = "is_guest")]
        kind: PlayerKind,
        /// How the account was rated then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<ShownRating>,
    },
    /// A bot of this level.
    Bot {
        /// How strong it was.
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
    /// The player, if it was one.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { player, .. } => Some(*player),
            Self::Bot { .. } => None,
        }
    }

    /// Whose seat this is. After the start it never comes to be another's: a bot only stands in.
    fn of(occupant: &Occupant) -> Option<Self> {
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

impl Archived {
    /// What this seat came away with.
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
    /// What is told of the match once it has ended, if it had begun and is to appear in histories.
    #[must_use]
    pub fn archived(&self) -> Option<Archived> {
        if !self.creation().terms.history {
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
        let [first, second] = Seat::ALL.map(|seat| SeatAtStart::of(self.occupant(seat)));
        let position = (reason == Reason::Rules).then(|| self.position());
        let by_rules = position.and_then(|position| position.ending());
        let way = by_rules.map(|ending| ending.detail);
        Some(Archived {
            seats: [first?, second?],
            winner,
            reason,
            detail: way
                .or_else(|| detail.map(|detail| detail.as_str()))
                .map(str::to_owned),
            by,
            scores: by_rules.and_then(|ending| ending.scores),
            line: position.and_then(|position| position.winning_line()),
            plies: self.ply().0,
            opening: self.opening_line(reason),
        })
    }

    fn opening_line(&self, reason: Reason) -> Option<String> {
        let creation = self.creation();
        // What is counted is told at once, and of these matches nothing may be.
        let is_told = creation.terms.is_public() && creation.terms.delay_ms == 0;
        // Nor does it tell of openings what was played from another position.
        let is_opening = creation.terms.start.is_none();
        if !is_told || !is_opening || reason == Reason::Aborted {
            return None;
        }
        let line: Vec<&str> = self.moves().take(OPENING_PLIES).collect();
        Some(creation.game.canonical_line(&line).0.join(" "))
    }
}

/// Whether a match that ended so, and that nobody won, is a draw.
pub(crate) const fn is_draw(reason: Reason) -> bool {
    matches!(reason, Reason::Rules | Reason::Agreement | Reason::Timeout)
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::catalog;
    use plyhouse_protocol::{MatchCode, MatchId};
    use uuid::Uuid;

    use super::*;
    use crate::{Creation, EventKind, Terms};

    fn ended(listed: bool, moves: &[&str], end: EventKind) -> Match {
        ended_on(Terms::plain(listed, 0, 0), moves, end)
    }

    fn ended_on(terms: Terms, moves: &[&str], end: EventKind) -> Match {
        let sits = |name: &str| Occupant::Player {
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
        let mut events = Match::opening(&creation.terms, [sits("ann"), sits("grace")], 5);
        let moved = |(ply, m): (usize, &&str)| EventKind::moved(Seat::ALL[ply % 2], (*m).into());
        events.extend(moves.iter().enumerate().map(moved).map(|kind| kind.at(6)));
        events.push(end.at(7));
        Match::replay(creation, &events).expect("it can have happened")
    }

    #[test]
    fn a_match_is_told_of_by_what_it_came_to() {
        let won = EventKind::ended(Some(Seat::First), Reason::Rules);
        let won = ended(true, &["c3", "a1", "b3", "a2", "a3"], won);
        let told = won.archived().expect("it has ended");
        assert_eq!(told.opening.as_deref(), Some("a1 c3 a2 b3 a3"));
        assert_eq!(
            told.line.as_deref(),
            Some(&["a3", "b3", "c3"].map(String::from)[..])
        );
        assert_eq!(told.plies, 5);
        assert_eq!(
            Seat::ALL.map(|seat| told.result(seat)),
            [MatchResult::Won, MatchResult::Lost]
        );
        let text = serde_json::to_string(&told).expect("texts and numbers");
        assert_eq!(serde_json::from_str::<Archived>(&text).ok(), Some(told));
    }

    #[test]
    fn a_match_without_history_is_not_archived() {
        let end = EventKind::ended(Some(Seat::First), Reason::Resignation);
        let terms = Terms {
            history: false,
            ..Terms::plain(true, 0, 0)
        };
        assert_eq!(ended_on(terms, &["b2", "a1"], end).archived(), None);
        // Terms of former versions do not have the field.
        let text = serde_json::to_string(&Terms::plain(true, 0, 0)).expect("texts and numbers");
        assert!(!text.contains("history"), "{text}");
        assert!(
            serde_json::from_str::<Terms>(&text)
                .expect("its own")
                .history
        );
    }

    #[test]
    fn openings_are_counted_of_what_all_may_see() {
        let opening = |listed, reason| {
            let state = ended(listed, &["b2"], EventKind::ended(None, reason));
            state.archived().expect("it has ended").opening
        };
        assert_eq!(opening(true, Reason::Agreement).as_deref(), Some("b2"));
        assert_eq!(opening(false, Reason::Agreement), None);
        assert_eq!(opening(true, Reason::Aborted), None);
        let aborted = ended(true, &[], EventKind::ended(None, Reason::Aborted));
        let told = aborted.archived().expect("it has ended");
        assert_eq!(told.result(Seat::First), MatchResult::None);
    }
}
