//! Describes how a game ended by its rules.

use plyhouse_protocol::{Ending, SeatNumber, Snapshot};

use crate::sanitize::sanitize;

/// Returns a sentence about the end of the game. Returns `None` if the server has not sent the
/// detail of the outcome.
pub(super) fn rules_end_text(snapshot: &Snapshot, outcome: &Ending) -> Option<String> {
    let detail = outcome.detail.as_deref()?;
    Some(match (detail, outcome.scores) {
        ("checkmate", _) => "Checkmate.".to_owned(),
        ("stalemate", _) => "Stalemate: there is no legal move, and no check.".to_owned(),
        ("fifty-moves", _) => {
            "Fifty moves on each side without a capture or a pawn's move.".to_owned()
        }
        ("forty-moves", _) => {
            "Forty moves on each side without a capture or a man's move.".to_owned()
        }
        ("repetition", _) => "The same position for the third time.".to_owned(),
        ("dead-position", _) => "Neither side has enough left to mate.".to_owned(),
        ("no-moves", _) => "There is no move left.".to_owned(),
        ("full", _) => "The board is full.".to_owned(),
        (_, Some([first, second])) => format!(
            "{} {first}, {} {second}.",
            side_name(snapshot, SeatNumber(0)),
            side_name(snapshot, SeatNumber(1)),
        ),
        // The server sent a detail that this client does not know.
        (other, None) => format!("It ended by {}.", sanitize(&other.replace('-', " "))),
    })
}

fn side_name(snapshot: &Snapshot, seat: SeatNumber) -> String {
    snapshot
        .seats
        .get(seat.index())
        .map_or_else(String::new, |state| sanitize(&state.side))
}

#[cfg(test)]
mod tests {
    use super::super::tests::snapshot;
    use super::*;
    use plyhouse_protocol::EndReason;

    fn check_text(detail: Option<&str>, scores: Option<[u32; 2]>, expect: Option<&str>) {
        let outcome = Ending {
            winner: None,
            reason: Some(EndReason::Rules),
            detail: detail.map(str::to_owned),
            by: None,
            scores,
            line: None,
        };
        let text = rules_end_text(&snapshot("x../.o./..."), &outcome);
        assert_eq!(text.as_deref(), expect);
    }

    #[test]
    fn known_end_detail_is_described() {
        check_text(None, None, None);
        check_text(Some("checkmate"), None, Some("Checkmate."));
        check_text(Some("score"), Some([40, 24]), Some("x 40, o 24."));
        check_text(
            Some("repetition"),
            None,
            Some("The same position for the third time."),
        );
    }

    #[test]
    fn unknown_end_detail_is_shown_by_name() {
        check_text(Some("bare-king"), None, Some("It ended by bare king."));
        check_text(
            Some("\u{1b}[31mred"),
            None,
            Some("It ended by \u{fffd}[31mred."),
        );
    }
}
