//! Describes how a game ended by its rules.

use plyhouse_protocol::{Ending, SeatNumber, Snapshot};

use crate::sanitize::sanitize;

/// Returns a sentence about the end of the game. Returns `None` if the server has not sent the
/// detail of the outcome.
pub(super) fn rules_end_text(snapshot: &Snapshot, outcome: &Ending) -> Option<String> {
    let detail = outcome.detail.as_deref()?;
    Some(match (detail, outcome.scores) {
        ("checkmate", _) => "Checkmate.".to_owned(),
        ("stalemate", _) => "Stalemate.".to_owned(),
        ("fifty-moves", _) => "Fifty moves without progress.".to_owned(),
        ("forty-moves", _) => "Forty moves without progress.".to_owned(),
        ("repetition", _) => "Threefold repetition.".to_owned(),
        ("dead-position", _) => "Insufficient material.".to_owned(),
        ("no-moves", _) => "The side to move has no legal moves.".to_owned(),
        ("full", _) => "The board is full.".to_owned(),
        (_, Some([first, second])) => format!(
            "{} {first}, {} {second}.",
            side_name(snapshot, SeatNumber(0)),
            side_name(snapshot, SeatNumber(1)),
        ),
        // The server sent a detail that this client does not know.
        (other, None) => format!("Reason: {}.", sanitize(&other.replace('-', " "))),
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
        check_text(Some("repetition"), None, Some("Threefold repetition."));
    }

    #[test]
    fn unknown_end_detail_is_shown_by_name() {
        check_text(Some("bare-king"), None, Some("Reason: bare king."));
        check_text(
            Some("\u{1b}[31mred"),
            None,
            Some("Reason: \u{fffd}[31mred."),
        );
    }
}
