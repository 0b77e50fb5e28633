use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::ClockControl;

use super::*;
use crate::tests::{ANN, BOB, NOW_MS, Script, join, play};
use crate::{Action, Offer, Timestamp};

const DAY_MS: u64 = 24 * 3600 * 1000;
const DAY: ClockControl = ClockControl::Move { move_ms: DAY_MS };

fn part(player: PlayerId, seat: Option<Seat>, turn: Option<Seat>, due_ms: Option<u64>) -> Part {
    Part {
        player,
        seat,
        stood_in: None,
        days: Some(DaysTurn { turn, due_ms }),
        absent_ms: None,
    }
}

/// The script checks with every action that the reminder was known before it.
#[test]
fn a_reminder_tells_whose_turn_it_is_and_until_when() {
    let (first, second) = (Some(Seat::First), Some(Seat::Second));
    let mut script = Script::timed("tic-tac-toe", DAY);
    let open = Reminder {
        wake_ms: None,
        parts: vec![part(ANN, None, None, None)],
    };
    assert_eq!(script.state.reminder(), Some(open), "the host has a part");
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    let due = Some(NOW_MS + DAY_MS);
    let running = Reminder {
        wake_ms: due,
        parts: vec![part(ANN, first, first, due), part(BOB, second, first, due)],
    };
    assert_eq!(script.state.reminder(), Some(running));
    for (ply, player, m) in [(0, ANN, "a1"), (1, BOB, "b2"), (2, ANN, "c3")] {
        let now = Timestamp::free(NOW_MS + 1000 * (ply + 1));
        script.ok_at(&play(player, ply, m), now);
    }
    let due = Some(NOW_MS + 3000 + DAY_MS);
    let reminder = script.state.reminder().unwrap();
    assert_eq!(reminder.parts[1], part(BOB, second, second, due));
    let (ply, to_ply) = (script.state.ply(), None);
    for player in [ANN, BOB] {
        let now = Timestamp::free(NOW_MS + 9000);
        let takeback = Action::OfferTakeback {
            player,
            ply,
            to_ply,
        };
        script.ok_at(&takeback, now);
    }
    let due = Some(NOW_MS + 9000 + DAY_MS);
    assert_eq!(script.state.reminder().unwrap().wake_ms, due);
    script.ok(&Action::Resign { player: ANN });
    assert_eq!(script.state.reminder(), None);
}

/// A bot that stands in is not waited for.
#[test]
fn nobody_is_reminded_of_a_bot() {
    let mut script = Script::with("tic-tac-toe", |terms| {
        terms.clock = Some(DAY);
        terms.stand_in = Some(Level::Easy);
    });
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    let seat = Seat::First;
    script.ok(&Action::StandIn { seat });
    let reminder = script.state.reminder().unwrap();
    let expected = Part {
        stood_in: Some(seat),
        ..part(ANN, None, Some(seat), None)
    };
    assert_eq!((reminder.wake_ms, reminder.parts[0]), (None, expected));
}

/// What begins no turn leaves the reminder as it is, and other matches have none.
#[test]
fn offers_change_no_reminder() {
    let mut script = Script::timed("chess", DAY);
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    script.ok(&play(ANN, 0, "e2e4"));
    script.ok(&play(BOB, 1, "e7e5"));
    let (player, ply) = (BOB, script.state.ply());
    let offered = script.ok(&Action::OfferDraw { player, ply });
    let offered: Vec<Event> = offered.into_iter().map(|kind| kind.at(NOW_MS)).collect();
    assert_eq!(script.state.reminder_after(&offered), None);
    script.ok(&Action::Decline {
        player,
        offer: Offer::Draw,
    });
    assert_eq!(Script::new("chess").state.reminder(), None);
}
