use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::ClockControl;

use super::*;
use crate::tests::{ANN, BOB, NOW_MS, Script, join_action, play_action};
use crate::{Action, Offer, Timestamp};

const DAY_MS: u64 = 24 * 3600 * 1000;
const DAY_PER_MOVE: ClockControl = ClockControl::Move { move_ms: DAY_MS };

fn participation(
    player: PlayerId,
    seat: Option<Seat>,
    turn: Option<Seat>,
    deadline_ms: Option<u64>,
) -> Participation {
    Participation {
        player,
        seat,
        substituted_seat: None,
        correspondence_turn: Some(CorrespondenceTurn { turn, deadline_ms }),
        absent_since_ms: None,
    }
}

/// `Script` also compares `reminder_after` with the reminder of the resulting match after every
/// action.
#[test]
fn reminder_has_turn_and_deadline() {
    let (first, second) = (Some(Seat::First), Some(Seat::Second));
    let mut script = Script::timed("tic-tac-toe", DAY_PER_MOVE);
    let open = Reminder {
        wake_ms: None,
        participations: vec![participation(ANN, None, None, None)],
    };
    assert_eq!(script.state.reminder(), Some(open), "the host participates");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    let deadline = Some(NOW_MS + DAY_MS);
    let running = Reminder {
        wake_ms: deadline,
        participations: vec![
            participation(ANN, first, first, deadline),
            participation(BOB, second, first, deadline),
        ],
    };
    assert_eq!(script.state.reminder(), Some(running));
    for (ply, player, m) in [(0, ANN, "a1"), (1, BOB, "b2"), (2, ANN, "c3")] {
        let now = Timestamp::uncharged(NOW_MS + 1000 * (ply + 1));
        script.apply_ok_at(&play_action(player, ply, m), now);
    }
    let deadline = Some(NOW_MS + 3000 + DAY_MS);
    let reminder = script.state.reminder().unwrap();
    assert_eq!(
        reminder.participations[1],
        participation(BOB, second, second, deadline)
    );
    let (ply, to_ply) = (script.state.ply(), None);
    for player in [ANN, BOB] {
        let now = Timestamp::uncharged(NOW_MS + 9000);
        let takeback = Action::OfferTakeback {
            player,
            ply,
            to_ply,
        };
        script.apply_ok_at(&takeback, now);
    }
    let deadline = Some(NOW_MS + 9000 + DAY_MS);
    assert_eq!(script.state.reminder().unwrap().wake_ms, deadline);
    script.apply_ok(&Action::Resign { player: ANN });
    assert_eq!(script.state.reminder(), None);
}

#[test]
fn reminder_has_no_wake_time_while_bot_moves() {
    let mut script = Script::with_terms("tic-tac-toe", |terms| {
        terms.clock = Some(DAY_PER_MOVE);
        terms.stand_in = Some(Level::Easy);
    });
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    let seat = Seat::First;
    script.apply_ok(&Action::StandIn { seat });
    let reminder = script.state.reminder().unwrap();
    let expected = Participation {
        substituted_seat: Some(seat),
        ..participation(ANN, None, Some(seat), None)
    };
    assert_eq!(
        (reminder.wake_ms, reminder.participations[0]),
        (None, expected)
    );
}

/// Events that do not start a turn leave the reminder unchanged. Matches that are not
/// correspondence matches have no reminder.
#[test]
fn offers_leave_reminder_unchanged() {
    let mut script = Script::timed("chess", DAY_PER_MOVE);
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    script.apply_ok(&play_action(ANN, 0, "e2e4"));
    script.apply_ok(&play_action(BOB, 1, "e7e5"));
    let (player, ply) = (BOB, script.state.ply());
    let offered = script.apply_ok(&Action::OfferDraw { player, ply });
    let offered: Vec<Event> = offered.into_iter().map(|kind| kind.at(NOW_MS)).collect();
    assert_eq!(script.state.reminder_after(&offered), None);
    script.apply_ok(&Action::Decline {
        player,
        offer: Offer::Draw,
    });
    assert_eq!(Script::new("chess").state.reminder(), None);
}
