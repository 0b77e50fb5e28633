//! Describes the events of a match in sentences.

use std::time::Duration;

use plyhouse_protocol::{
    EndReason, Ending, MatchStatus, Occupant, OfferKind, OfferState, PlayerId, SeatNumber,
    ShownRating, Snapshot,
};

use super::end_reason;
use super::position_parser::first_seat_to_move;
use super::style::{STRONG, paint, seat_style};
use crate::conventions::Conventions;
use crate::sanitize::sanitize;

/// Symbol of a bot. If a player name contains this symbol, the symbol is replaced, so that the
/// player cannot imitate a bot.
const BOT_SYMBOL: &str = "⚙";

/// Formats the occupant of a seat: a name, the level of a bot, or an open seat.
pub(crate) fn occupant_text(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Open => "(open)".to_owned(),
        Occupant::Player { name, rating, .. } => player_text(name, *rating),
        Occupant::Bot { level, .. } => format!("{BOT_SYMBOL} {} bot", sanitize(level)),
    }
}

/// Formats the name of a player, with the rating if there is one.
pub(crate) fn player_text(name: &str, rating: Option<ShownRating>) -> String {
    let name = sanitize(name).replace(BOT_SYMBOL, "\u{fffd}");
    match rating {
        Some(rating) => format!("{name} ({})", rating_text(rating)),
        None => name,
    }
}

/// Formats a rating. A question mark means that the rating is provisional.
fn rating_text(rating: ShownRating) -> String {
    let provisional_mark = if rating.provisional { "?" } else { "" };
    format!("{}{provisional_mark}", rating.rating)
}

/// Formats the occupant of a seat for a list. A bot that replaces an absent player is shown with
/// the player's name.
pub(crate) fn occupant_list_text(state: &Occupant) -> String {
    let text = occupant_text(state);
    match state {
        Occupant::Bot {
            stand_in_for: Some(person),
            ..
        } => format!("{text} for {}", player_text(&person.name, None)),
        Occupant::Open | Occupant::Player { .. } | Occupant::Bot { .. } => text,
    }
}

/// Returns whether a bot replaces this player in the match.
pub(crate) fn has_stand_in(snapshot: &Snapshot, player: PlayerId) -> bool {
    snapshot.seats.iter().any(|state| {
        matches!(&state.occupant, Occupant::Bot { stand_in_for: Some(person), .. }
            if person.player == player)
    })
}

/// Returns the name of a seat's side, in its colour.
pub(crate) fn side_text(snapshot: &Snapshot, seat: SeatNumber) -> String {
    snapshot.seats.get(seat.index()).map_or_else(
        || "?".to_owned(),
        |state| {
            paint(
                seat_style(seat.index(), &state.side),
                &sanitize(&state.side),
            )
        },
    )
}

/// Returns the symbol of a seat's pieces in its colour, if the game has symbols.
pub(crate) fn piece_text(snapshot: &Snapshot, seat: SeatNumber) -> Option<String> {
    let piece = Conventions::for_game(&snapshot.game).seat_symbol(seat.index())?;
    let state = snapshot.seats.get(seat.index())?;
    let style = seat_style(seat.index(), &state.side);
    Some(paint(style, &piece.to_string()))
}

/// Formats the occupant and the side of a seat, for use as the subject of a sentence.
pub(crate) fn seat_subject(snapshot: &Snapshot, seat: SeatNumber) -> String {
    snapshot.seats.get(seat.index()).map_or_else(
        || "unknown player".to_owned(),
        |state| {
            let occupant = match &state.occupant {
                Occupant::Open => "an open seat".to_owned(),
                Occupant::Player { .. } | Occupant::Bot { .. } => occupant_text(&state.occupant),
            };
            format!("{occupant} ({})", side_text(snapshot, seat))
        },
    )
}

/// Describes whose turn it is. Returns an empty string if no seat is to move.
pub(crate) fn turn_text(snapshot: &Snapshot) -> String {
    match snapshot.turn {
        Some(seat) if snapshot.you == Some(seat) => {
            let is_capture = |m: &String| m.contains('x');
            let forced = if snapshot.legal == ["pass"] {
                " You have no legal move: pass."
            } else if Conventions::for_game(&snapshot.game) == Conventions::Draughts
                && !snapshot.legal.is_empty()
                && snapshot.legal.iter().all(is_capture)
            {
                " You must capture."
            } else if snapshot.check {
                " You are in check."
            } else {
                ""
            };
            format!(
                "{} You are {}.{forced}",
                paint(STRONG, "Your turn."),
                side_text(snapshot, seat)
            )
        }
        Some(seat) => format!("{} to move.", seat_subject(snapshot, seat)),
        None => String::new(),
    }
}

/// Describes the last move. `notation` is the move in protocol notation or in the game's usual
/// notation.
pub(crate) fn move_text(snapshot: &Snapshot, seat: SeatNumber, notation: &str) -> String {
    let is_me = snapshot.you == Some(seat);
    if notation == "pass" {
        return if is_me {
            "You pass.".to_owned()
        } else {
            format!("{} passes.", seat_subject(snapshot, seat))
        };
    }
    let m = paint(STRONG, &sanitize(notation));
    // A check that ends the game is mentioned only in the text about the outcome.
    let check = if snapshot.check && snapshot.turn.is_some() {
        ": check"
    } else {
        ""
    };
    if is_me {
        format!("You play {m}{check}.")
    } else {
        format!("{} plays {m}{check}.", seat_subject(snapshot, seat))
    }
}

/// Lists the moves. A move number precedes each move of seat 0. If seat 1 played the first move, a
/// number also precedes that move.
pub(crate) fn move_list(snapshot: &Snapshot) -> String {
    let conventions = Conventions::for_game(&snapshot.game);
    let moves = snapshot.san.as_ref().unwrap_or(&snapshot.moves);
    let first = snapshot
        .initial_position
        .as_ref()
        .map_or(0, |start| first_seat_to_move(conventions, start));
    let (unpaired, others) = moves.split_at(first.min(moves.len()));
    let alone = unpaired.iter().map(|m| format!("1. … {}", sanitize(m)));
    let pairs = others.chunks(2).zip(1 + first..);
    let pairs = pairs.map(|(pair, number)| format!("{number}. {}", sanitize(&pair.join(" "))));
    alone.chain(pairs).collect::<Vec<_>>().join(" ")
}

/// Describes the new occupant of a seat.
pub(crate) fn seated_text(snapshot: &Snapshot, seat: SeatNumber) -> String {
    let Some(state) = snapshot.seats.get(seat.index()) else {
        return String::new();
    };
    match &state.occupant {
        Occupant::Open => format!("The seat of {} is open again.", side_text(snapshot, seat)),
        Occupant::Bot {
            stand_in_for: Some(person),
            ..
        } => {
            let person = sanitize(&person.name).replace(BOT_SYMBOL, "\u{fffd}");
            let bot = occupant_text(&state.occupant);
            format!("{bot} now plays for {person}, who can take the seat back.")
        }
        Occupant::Player { .. } if snapshot.you == Some(seat) => {
            format!("You joined as {}.", side_text(snapshot, seat))
        }
        Occupant::Player { .. } if snapshot.status == MatchStatus::Running => {
            format!("{} is back in the seat.", seat_subject(snapshot, seat))
        }
        Occupant::Player { .. } | Occupant::Bot { .. } => {
            format!(
                "{} joined as {}.",
                occupant_text(&state.occupant),
                side_text(snapshot, seat)
            )
        }
    }
}

/// Formats a message saying that a player has disconnected or reconnected.
pub(crate) fn presence_text(
    snapshot: &Snapshot,
    seat: SeatNumber,
    absence_left: Option<Duration>,
) -> String {
    let is_connected = snapshot.seats.get(seat.index()).is_some_and(
        |state| matches!(state.occupant, Occupant::Player { connected, .. } if connected),
    );
    if is_connected {
        return format!("{} is back.", seat_subject(snapshot, seat));
    }
    // Round to whole seconds. The remaining time is already slightly shorter than the server's
    // value, so rounding down would show one second less.
    let patience = absence_left.map(|left| Duration::from_secs_f64(left.as_secs_f64().round()));
    let patience = patience.map_or_else(String::new, |patience| {
        format!(" and has {} to reconnect", duration_text(patience))
    });
    format!("{} disconnected{patience}.", seat_subject(snapshot, seat))
}

/// Describes how a match ended, and why.
pub(crate) fn outcome_text(snapshot: &Snapshot, outcome: &Ending) -> String {
    let Some(winner) = outcome.winner else {
        return match outcome.reason {
            Some(EndReason::Rules) => {
                let reason = end_reason::rules_end_text(snapshot, outcome).unwrap_or_default();
                format!("{} {reason}", paint(STRONG, "Draw."))
                    .trim_end()
                    .to_owned()
            }
            Some(EndReason::Aborted) => abort_text(snapshot, outcome),
            Some(EndReason::Agreement) if outcome.detail.as_deref() == Some("flag") => format!(
                "{} Time ran out while a draw offer was open.",
                paint(STRONG, "Draw.")
            ),
            Some(EndReason::Agreement) => paint(STRONG, "Draw by mutual agreement."),
            Some(EndReason::Timeout) => format!(
                "{} Time ran out, but the other side cannot win.",
                paint(STRONG, "Draw.")
            ),
            Some(EndReason::Resignation | EndReason::Abandonment) | None => {
                "The match ended without a winner.".to_owned()
            }
        };
    };
    let loser = winner.other();
    let is_me = |seat| snapshot.you == Some(seat);
    let headline = if is_me(winner) {
        paint(STRONG, "You win!")
    } else if is_me(loser) {
        paint(STRONG, "You lose.")
    } else {
        format!(
            "{} {}",
            seat_subject(snapshot, winner),
            paint(STRONG, "wins.")
        )
    };
    let reason = match outcome.reason {
        Some(EndReason::Rules) => {
            match (&outcome.line, end_reason::rules_end_text(snapshot, outcome)) {
                (Some(line), _) => {
                    sanitize(&Conventions::for_game(&snapshot.game).winning_line_text(line))
                }
                (None, way) => way.unwrap_or_default(),
            }
        }
        Some(EndReason::Resignation) if is_me(loser) => "You resigned.".to_owned(),
        Some(EndReason::Resignation) => format!("{} resigned.", seat_subject(snapshot, loser)),
        Some(EndReason::Abandonment) if is_me(loser) => "You were away for too long.".to_owned(),
        Some(EndReason::Abandonment) => {
            format!("{} left the match.", seat_subject(snapshot, loser))
        }
        Some(EndReason::Timeout) if is_me(loser) => "You ran out of time.".to_owned(),
        Some(EndReason::Timeout) => format!("{} ran out of time.", seat_subject(snapshot, loser)),
        Some(EndReason::Aborted) => "The match was aborted.".to_owned(),
        Some(EndReason::Agreement) | None => String::new(),
    };
    format!("{headline} {reason}").trim_end().to_owned()
}

/// Describes why a match has no result.
fn abort_text(snapshot: &Snapshot, outcome: &Ending) -> String {
    let is_me = outcome.by.is_some() && outcome.by == snapshot.you;
    let subject = outcome.by.map(|seat| seat_subject(snapshot, seat));
    match (outcome.detail.as_deref(), subject) {
        (Some("declined"), _) => "Match aborted. The challenge was declined.".to_owned(),
        (_, None) => "The match was aborted.".to_owned(),
        (Some("no-first-move"), Some(_)) if is_me => {
            "Match aborted. You did not make your first move in time.".to_owned()
        }
        (Some("no-first-move"), Some(subject)) => {
            format!("Match aborted. {subject} did not move in time.")
        }
        (_, Some(_)) if is_me => "You aborted the match.".to_owned(),
        (_, Some(subject)) => format!("{subject} aborted the match."),
    }
}

/// Describes an offer, and how the other player can answer it.
pub(crate) fn offer_text(snapshot: &Snapshot, offer: &OfferState) -> String {
    let (verb, subject) = match (offer.offer, offer.to_ply) {
        (OfferKind::Draw, _) => ("offer", "a draw".to_owned()),
        (OfferKind::Takeback, Some(to)) if to.0 + 1 < offer.ply.0 => (
            "propose",
            format!("a takeback of {} moves", offer.ply.0 - to.0),
        ),
        (OfferKind::Takeback, _) => ("propose", "a takeback".to_owned()),
        (OfferKind::Rematch, _) => ("offer", "a rematch".to_owned()),
        (OfferKind::Challenge, _) => ("offer", "a match".to_owned()),
    };
    let keyword = paint(STRONG, offer.offer.as_str());
    match snapshot.you {
        Some(you) if you == offer.seat => format!("You {verb} {subject}."),
        Some(_) => {
            let (who, decline) = (seat_subject(snapshot, offer.seat), paint(STRONG, "decline"));
            format!("{who} {verb}s {subject}: type {keyword} to accept, or {decline}.")
        }
        None => format!("{} {verb}s {subject}.", seat_subject(snapshot, offer.seat)),
    }
}

/// Formats a message saying that an offer was withdrawn or declined. `seat` made the offer, and
/// `by` withdrew or declined it.
pub(crate) fn declined_offer_text(
    snapshot: &Snapshot,
    seat: SeatNumber,
    offer: OfferKind,
    by: SeatNumber,
) -> String {
    let subject = match offer {
        OfferKind::Draw => "the draw",
        OfferKind::Takeback => "the takeback",
        OfferKind::Rematch => "the rematch",
        OfferKind::Challenge => "the challenge",
    };
    let is_me = snapshot.you == Some(by);
    match (seat == by, is_me) {
        (true, true) => "You withdraw your offer.".to_owned(),
        (true, false) => format!("{} withdraws the offer.", seat_subject(snapshot, by)),
        (false, true) => format!("You decline {subject}."),
        (false, false) => format!("{} declines {subject}.", seat_subject(snapshot, by)),
    }
}

/// Returns the score of a series of matches. Returns `None` in the first match of a series.
pub(crate) fn series_score(snapshot: &Snapshot) -> Option<String> {
    let series = snapshot.series?;
    let seats = snapshot.seats.each_ref();
    let [first, second] = seats.map(|state| occupant_text(&state.occupant));
    let [points, other_points] = series.points.map(points_text);
    Some(format!(
        "Game {}: {first} {points} : {other_points} {second}",
        series.game
    ))
}

/// Formats half-points as points, with the character `½`.
fn points_text(half_points: u64) -> String {
    match (half_points / 2, half_points % 2) {
        (whole, 0) => whole.to_string(),
        (0, _) => "½".to_owned(),
        (whole, _) => format!("{whole}½"),
    }
}

/// Formats a duration as a whole number of a suitable unit, rounded down.
pub(crate) fn duration_text(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{snapshot, strip_style};
    use super::*;

    fn check_text(sentence: String, expect: &str) {
        assert_eq!(strip_style(&sentence), expect);
    }

    fn ending(
        winner: Option<u8>,
        reason: impl Into<Option<EndReason>>,
        line: Option<&[&str]>,
    ) -> Ending {
        Ending {
            winner: winner.map(SeatNumber),
            reason: reason.into(),
            detail: None,
            by: None,
            scores: None,
            line: line.map(|line| line.iter().map(|&square| square.to_owned()).collect()),
        }
    }

    #[test]
    fn turn_text_names_player_to_move() {
        let mut now = snapshot("x../.o./...");
        check_text(turn_text(&now), "Your turn. You are x.");
        now.you = None;
        check_text(turn_text(&now), "ada (x) to move.");
        now.turn = Some(SeatNumber(1));
        check_text(turn_text(&now), "⚙ medium bot (o) to move.");
        now.turn = Some(SeatNumber(9));
        check_text(turn_text(&now), "unknown player to move.");
    }

    #[test]
    fn forced_pass_and_passes_are_described() {
        let mut now = snapshot("x../.o./...");
        now.legal = vec!["pass".to_owned()];
        check_text(
            turn_text(&now),
            "Your turn. You are x. You have no legal move: pass.",
        );
        check_text(move_text(&now, SeatNumber(0), "pass"), "You pass.");
        check_text(
            move_text(&now, SeatNumber(1), "pass"),
            "⚙ medium bot (o) passes.",
        );
    }

    #[test]
    fn chess_moves_use_san_and_mention_check() {
        let mut now = snapshot("8/8/8/8/8/8/8/8 w - - 0 1");
        now.game = "chess".to_owned();
        now.moves = ["f2f3", "e7e5", "g2g4"].map(str::to_owned).to_vec();
        assert_eq!(move_list(&now), "1. f2f3 e7e5 2. g2g4");
        now.san = Some(["f3", "e5", "g4"].map(str::to_owned).to_vec());
        assert_eq!(move_list(&now), "1. f3 e5 2. g4");
        now.initial_position = Some("8/8/8/8/8/8/8/8 b - - 0 1".to_owned());
        assert_eq!(move_list(&now), "1. … f3 2. e5 g4");
        check_text(move_text(&now, SeatNumber(0), "g4"), "You play g4.");
        now.check = true;
        check_text(turn_text(&now), "Your turn. You are x. You are in check.");
        check_text(
            move_text(&now, SeatNumber(1), "Qh4+"),
            "⚙ medium bot (o) plays Qh4+: check.",
        );
        now.turn = None;
        check_text(move_text(&now, SeatNumber(0), "Qh4#"), "You play Qh4#.");
    }

    #[test]
    fn forced_capture_is_mentioned_in_turn_text() {
        let mut now = snapshot("B:W18:B15:H0:F2");
        now.game = "draughts".to_owned();
        now.legal = vec!["15x22".to_owned()];
        check_text(turn_text(&now), "Your turn. You are x. You must capture.");
        now.legal = vec!["11-15".to_owned()];
        check_text(turn_text(&now), "Your turn. You are x.");
    }

    #[test]
    fn outcome_text_gives_winner_and_reason() {
        let mut now = snapshot("x../.o./...");
        let line: Option<&[&str]> = Some(&["a1", "b2", "c3"]);
        check_text(
            outcome_text(&now, &ending(Some(0), EndReason::Rules, line)),
            "You win! Winning line: a1 b2 c3.",
        );
        check_text(
            outcome_text(&now, &ending(Some(1), EndReason::Abandonment, None)),
            "You lose. You were away for too long.",
        );
        check_text(
            outcome_text(&now, &ending(None, EndReason::Rules, None)),
            "Draw.",
        );
        check_text(
            outcome_text(&now, &ending(None, EndReason::Agreement, None)),
            "Draw by mutual agreement.",
        );
        let by_flag = Ending {
            detail: Some("flag".to_owned()),
            ..ending(None, EndReason::Agreement, None)
        };
        check_text(
            outcome_text(&now, &by_flag),
            "Draw. Time ran out while a draw offer was open.",
        );
        // The end reason is `None` if a newer server sent a reason that this client does not know.
        check_text(outcome_text(&now, &ending(Some(0), None, None)), "You win!");
        check_text(
            outcome_text(&now, &ending(None, None, None)),
            "The match ended without a winner.",
        );
        now.game = "connect-four".to_owned();
        check_text(
            outcome_text(&now, &ending(Some(0), EndReason::Rules, line)),
            "You win! Four in a row.",
        );
        now.you = None;
        check_text(
            outcome_text(&now, &ending(Some(1), EndReason::Resignation, None)),
            "⚙ medium bot (o) wins. ada (x) resigned.",
        );
    }

    #[test]
    fn presence_text_describes_disconnect_and_return() {
        let now = snapshot("x../.o./...");
        let patience = Some(Duration::from_mins(1));
        check_text(
            presence_text(&now, SeatNumber(0), patience),
            "ada (x) is back.",
        );
        check_text(
            presence_text(&now, SeatNumber(1), patience),
            "⚙ medium bot (o) disconnected and has 60 s to reconnect.",
        );
        check_text(
            presence_text(&now, SeatNumber(1), None),
            "⚙ medium bot (o) disconnected.",
        );
        check_text(
            presence_text(&now, SeatNumber(1), Some(Duration::from_millis(299_600))),
            "⚙ medium bot (o) disconnected and has 5 min to reconnect.",
        );
    }

    #[test]
    fn duration_is_rounded_down_to_readable_unit() {
        let text = |seconds| duration_text(Duration::from_secs(seconds));
        let texts = [1, 119, 120, 7199, 7200, 86_400].map(text);
        assert_eq!(texts, ["1 s", "119 s", "2 min", "119 min", "2 h", "24 h"]);
    }

    #[test]
    fn stand_in_is_listed_with_absent_player() {
        let player = snapshot("").host;
        let name = "bob".to_owned();
        let bot = |absent_player| Occupant::Bot {
            level: "easy".to_owned(),
            stand_in_for: absent_player,
        };
        let person = plyhouse_protocol::NamedPlayer { player, name };
        assert_eq!(occupant_list_text(&bot(Some(person))), "⚙ easy bot for bob");
        assert_eq!(occupant_list_text(&bot(None)), "⚙ easy bot");
    }

    #[test]
    fn control_characters_in_names_are_replaced() {
        let name = "\u{1b}[2Jx\n\u{202e}".to_owned();
        let player = snapshot("").host;
        let shown = occupant_text(&Occupant::Player {
            player,
            name,
            connected: true,
            account: false,
            bot: false,
            rating: None,
        });
        assert_eq!(shown, "�[2Jx��");
    }

    #[test]
    fn bot_symbol_in_player_name_is_replaced() {
        let player = |name: &str| {
            occupant_text(&Occupant::Player {
                player: snapshot("").host,
                name: name.to_owned(),
                connected: true,
                account: false,
                bot: false,
                rating: None,
            })
        };
        let level = "max".to_owned();
        assert_eq!(
            occupant_text(&Occupant::Bot {
                level,
                stand_in_for: None
            }),
            "⚙ max bot"
        );
        assert_eq!(player("max bot"), "max bot");
        assert_eq!(player("⚙ max bot"), "� max bot");
    }
}
