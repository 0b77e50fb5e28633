//! Function keys that are available in the current state of a match.

use plyhouse_protocol::{ClockControl, MatchStatus, Occupant};

use crate::view::MatchView;

/// Maximum width of the line of function keys, in columns, including its leading space.
const KEY_LINE_COLUMNS_MAX: usize = 80;

/// Function keys that are omitted from a line that is too long. The keys are removed in this order
/// until the line fits. The help text lists the omitted keys as well.
const OMITTABLE_KEYS: [&str; 2] = ["F9 more time", "F4 hint"];

/// Returns the labels of the available function keys in numerical order, without F1 and F10.
pub(super) fn function_keys(match_view: &MatchView) -> Vec<&'static str> {
    let now = &match_view.snapshot;
    let running = now.status == MatchStatus::Running;
    let ended = now.status == MatchStatus::Ended;
    let has_draw_offers = match_view.game.as_ref().is_none_or(|game| game.draw_offers);
    let other = now.you.and_then(|you| now.seats.get(you.other().index()));
    let other = other.map(|seat| &seat.occupant);
    let has_hints = !now.rated && matches!(other, Some(Occupant::Bot { .. }));
    // Players cannot add time to a clock with a fixed time per move, and adding time for a bot is
    // not offered.
    let has_clock = !matches!(now.clock, None | Some(ClockControl::Move { .. }));
    let can_give_time = has_clock && !now.rated && matches!(other, Some(Occupant::Player { .. }));
    let rematch = now.rematch.as_ref();
    let has_offer = match ended {
        true => rematch.is_some_and(|rematch| rematch.offers.contains(&true)),
        false => running && !now.offers.is_empty(),
    };
    let keys = [
        ("F2 draw", running && has_draw_offers),
        ("F3 takeback", running && now.takebacks_allowed),
        ("F4 hint", running && has_hints),
        ("F5 resign", running),
        ("F6 pass", running && now.legal.iter().any(|m| m == "pass")),
        ("F7 decline", has_offer),
        ("F8 rematch", ended),
        ("F9 more time", running && can_give_time),
    ];
    let available = keys.into_iter().filter(|(_, is_available)| *is_available);
    available.map(|(key, _)| key).collect()
}

/// Returns the line below the board that lists the available function keys. Omits
/// [`OMITTABLE_KEYS`] if the line is too long.
pub(super) fn function_key_line(match_view: &MatchView) -> String {
    let mut keys = function_keys(match_view);
    keys.insert(0, "F1 help");
    if match_view.snapshot.status == MatchStatus::Ended {
        keys.push("PgUp scroll");
    }
    keys.push("F10 quit");
    for key in OMITTABLE_KEYS {
        if keys.join("  ").len() < KEY_LINE_COLUMNS_MAX {
            break;
        }
        keys.retain(|other| *other != key);
    }
    keys.join("  ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plyhouse_protocol::{OfferKind, OfferState, Ply, RematchState, SeatNumber};

    use super::*;
    use crate::view::tests::{game_summary, snapshot};

    /// Returns a running match against a bot, without a clock, in a game with draw offers.
    fn match_view() -> MatchView {
        MatchView {
            snapshot: snapshot("x../.o./..."),
            game: Some(game_summary("draughts", 8, 8)),
            elapsed: Duration::ZERO,
            absences: [None, None],
        }
    }

    fn clock_control(text: &str) -> Option<ClockControl> {
        Some(text.parse().expect("valid clock text"))
    }

    #[test]
    fn only_available_actions_have_a_key() {
        let mut match_view = match_view();
        assert_eq!(
            function_keys(&match_view),
            ["F2 draw", "F4 hint", "F5 resign"]
        );
        match_view.game.as_mut().expect("game summary").draw_offers = false;
        assert_eq!(function_keys(&match_view), ["F4 hint", "F5 resign"]);
        match_view.snapshot.takebacks_allowed = true;
        match_view.snapshot.clock = clock_control("5+3");
        let against_a_bot = ["F3 takeback", "F4 hint", "F5 resign"];
        assert_eq!(function_keys(&match_view), against_a_bot);
        match_view.snapshot.you = Some(SeatNumber(1));
        let against_a_person = ["F3 takeback", "F5 resign", "F9 more time"];
        assert_eq!(function_keys(&match_view), against_a_person);
        for (of_move, rated) in [("3d", false), ("5+3", true)] {
            (match_view.snapshot.clock, match_view.snapshot.rated) =
                (clock_control(of_move), rated);
            assert_eq!(function_keys(&match_view), ["F3 takeback", "F5 resign"]);
        }
        (match_view.snapshot.clock, match_view.snapshot.rated) = (clock_control("5+3"), false);
        match_view.snapshot.legal = vec!["pass".to_owned()];
        match_view.snapshot.offers = vec![draw_offer()];
        let keys = [
            "F3 takeback",
            "F5 resign",
            "F6 pass",
            "F7 decline",
            "F9 more time",
        ];
        assert_eq!(function_keys(&match_view), keys);
    }

    fn draw_offer() -> OfferState {
        OfferState {
            seat: SeatNumber(1),
            offer: OfferKind::Draw,
            ply: Ply(2),
            to_ply: None,
        }
    }

    #[test]
    fn ended_match_has_rematch_and_decline_keys() {
        let mut match_view = match_view();
        match_view.snapshot.status = MatchStatus::Ended;
        assert_eq!(function_keys(&match_view), ["F8 rematch"]);
        let mut rematch = RematchState {
            offers: [false, true],
            declined: [false; 2],
            present: [true; 2],
            next: None,
        };
        match_view.snapshot.rematch = Some(rematch.clone());
        assert_eq!(function_keys(&match_view), ["F7 decline", "F8 rematch"]);
        rematch.offers = [false; 2];
        match_view.snapshot.rematch = Some(rematch);
        assert_eq!(function_keys(&match_view), ["F8 rematch"]);
        assert_eq!(
            function_key_line(&match_view),
            "F1 help  F8 rematch  PgUp scroll  F10 quit"
        );
    }

    #[test]
    fn key_line_fits_smallest_terminal() {
        let mut match_view = match_view();
        match_view.snapshot.takebacks_allowed = true;
        match_view.snapshot.you = Some(SeatNumber(1));
        match_view.snapshot.clock = clock_control("5+3");
        match_view.snapshot.legal = vec!["pass".to_owned()];
        match_view.snapshot.offers = vec![draw_offer()];
        assert_eq!(function_keys(&match_view).len(), 6);
        let line = function_key_line(&match_view);
        assert!(line.len() < KEY_LINE_COLUMNS_MAX, "{line}");
        assert!(
            line.contains("F7 decline") && !line.contains("F9"),
            "{line}"
        );
    }
}
