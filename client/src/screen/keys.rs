//! The function keys that do something at a match as it stands now.

use plyhouse_protocol::{ClockControl, MatchStatus, Occupant};

use crate::view::MatchView;

/// The columns that the line of keys may take.
const COLUMNS: usize = 80;

/// Keys that the line leaves out first where it is too long. The help shows them all the same.
const LEFT_OUT_FIRST: [&str; 2] = ["F9 more time", "F4 hint"];

/// The function keys of a player in the order of their numbers, each with its word, except F1 and F10.
pub(super) fn function_keys(scene: &MatchView) -> Vec<&'static str> {
    let now = &scene.snapshot;
    let running = now.status == MatchStatus::Running;
    let ended = now.status == MatchStatus::Ended;
    let draws = scene.game.as_ref().is_none_or(|game| game.draw_offers);
    let other = now.you.and_then(|you| now.seats.get(you.other().index()));
    let other = other.map(|seat| &seat.occupant);
    let has_hints = !now.rated && matches!(other, Some(Occupant::Bot { .. }));
    // Each move of a `Move` clock has its own time, and a bot needs no more.
    let has_clock = !matches!(now.clock, None | Some(ClockControl::Move { .. }));
    let gives_time = has_clock && !now.rated && matches!(other, Some(Occupant::Player { .. }));
    let offered = match ended {
        true => now
            .rematch
            .as_ref()
            .is_some_and(|rematch| rematch.offers.contains(&true)),
        false => running && !now.offers.is_empty(),
    };
    let keys = [
        ("F2 draw", running && draws),
        ("F3 takeback", running && now.takebacks_allowed),
        ("F4 hint", running && has_hints),
        ("F5 resign", running),
        ("F6 pass", running && now.legal.iter().any(|m| m == "pass")),
        ("F7 decline", offered),
        ("F8 rematch", ended),
        ("F9 more time", running && gives_time),
    ];
    let available = keys.into_iter().filter(|(_, is_available)| *is_available);
    available.map(|(key, _)| key).collect()
}

/// The line below the board: the function keys between F1 and F10, as many as it has room for.
pub(super) fn line_of_keys(scene: &MatchView) -> String {
    let mut keys = function_keys(scene);
    keys.insert(0, "F1 help");
    if scene.snapshot.status == MatchStatus::Ended {
        keys.push("PgUp back");
    }
    keys.push("F10 quit");
    for key in LEFT_OUT_FIRST {
        if keys.join("  ").len() < COLUMNS {
            break;
        }
        keys.retain(|kept| *kept != key);
    }
    keys.join("  ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plyhouse_protocol::{OfferKind, OfferState, Ply, RematchState, SeatNumber};

    use super::*;
    use crate::view::tests::{game_summary, snapshot};

    /// A running match of a game with draws, against a bot, without a clock.
    fn scene() -> MatchView {
        MatchView {
            snapshot: snapshot("x../.o./..."),
            game: Some(game_summary("draughts", 8, 8)),
            elapsed: Duration::ZERO,
            absences: [None, None],
        }
    }

    fn clock(text: &str) -> Option<ClockControl> {
        Some(text.parse().expect("a clock"))
    }

    #[test]
    fn only_available_actions_have_a_key() {
        let mut scene = scene();
        assert_eq!(function_keys(&scene), ["F2 draw", "F4 hint", "F5 resign"]);
        scene.game.as_mut().expect("known").draw_offers = false;
        assert_eq!(function_keys(&scene), ["F4 hint", "F5 resign"]);
        scene.snapshot.takebacks_allowed = true;
        scene.snapshot.clock = clock("5+3");
        let against_a_bot = ["F3 takeback", "F4 hint", "F5 resign"];
        assert_eq!(function_keys(&scene), against_a_bot);
        scene.snapshot.you = Some(SeatNumber(1));
        let against_a_person = ["F3 takeback", "F5 resign", "F9 more time"];
        assert_eq!(function_keys(&scene), against_a_person);
        for (of_move, rated) in [("3d", false), ("5+3", true)] {
            (scene.snapshot.clock, scene.snapshot.rated) = (clock(of_move), rated);
            assert_eq!(function_keys(&scene), ["F3 takeback", "F5 resign"]);
        }
        (scene.snapshot.clock, scene.snapshot.rated) = (clock("5+3"), false);
        scene.snapshot.legal = vec!["pass".to_owned()];
        scene.snapshot.offers = vec![offer()];
        let keys = [
            "F3 takeback",
            "F5 resign",
            "F6 pass",
            "F7 decline",
            "F9 more time",
        ];
        assert_eq!(function_keys(&scene), keys);
    }

    fn offer() -> OfferState {
        OfferState {
            seat: SeatNumber(1),
            offer: OfferKind::Draw,
            ply: Ply(2),
            to_ply: None,
        }
    }

    #[test]
    fn an_ended_match_has_other_keys() {
        let mut scene = scene();
        scene.snapshot.status = MatchStatus::Ended;
        assert_eq!(function_keys(&scene), ["F8 rematch"]);
        let mut rematch = RematchState {
            offers: [false, true],
            declined: [false; 2],
            present: [true; 2],
            next: None,
        };
        scene.snapshot.rematch = Some(rematch.clone());
        assert_eq!(function_keys(&scene), ["F7 decline", "F8 rematch"]);
        rematch.offers = [false; 2];
        scene.snapshot.rematch = Some(rematch);
        assert_eq!(function_keys(&scene), ["F8 rematch"]);
        assert_eq!(
            line_of_keys(&scene),
            "F1 help  F8 rematch  PgUp back  F10 quit"
        );
    }

    #[test]
    fn the_line_has_room_in_the_least_of_terminals() {
        let mut scene = scene();
        scene.snapshot.takebacks_allowed = true;
        scene.snapshot.you = Some(SeatNumber(1));
        scene.snapshot.clock = clock("5+3");
        scene.snapshot.legal = vec!["pass".to_owned()];
        scene.snapshot.offers = vec![offer()];
        assert_eq!(function_keys(&scene).len(), 6);
        let line = line_of_keys(&scene);
        assert!(line.len() < COLUMNS, "{line}");
        assert!(
            line.contains("F7 decline") && !line.contains("F9"),
            "{line}"
        );
    }
}
