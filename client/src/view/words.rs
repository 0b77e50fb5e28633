//! What happens in a match, in sentences.

use std::time::Duration;

use plyhouse_protocol::{
    EndReason, Ending, MatchStatus, Occupant, OfferKind, OfferState, PlayerId, SeatNumber,
    ShownRating, Snapshot,
};

use super::paint::{STRONG, of_seat, paint};
use super::position::first_to_move;
use super::way;
use crate::customs::Customs;
use crate::harmless::sanitize;

/// The sign of a bot. No name is shown with it, so a player called `max bot` is not taken for one.
const BOT: &str = "⚙";

/// An occupant as text: a name, a bot's level, or that the seat is open.
pub(crate) fn occupant(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Open => "(open)".to_owned(),
        Occupant::Player { name, rating, .. } => player(name, *rating),
        Occupant::Bot { level, .. } => format!("{BOT} {} bot", sanitize(level)),
    }
}

/// A player by name, with the rating if there is one.
pub(crate) fn player(name: &str, rating: Option<ShownRating>) -> String {
    let name = sanitize(name).replace(BOT, "\u{fffd}");
    match rating {
        Some(rating) => format!("{name} ({})", shown(rating)),
        None => name,
    }
}

/// A rating as text, with a question mark while it is unsure.
fn shown(rating: ShownRating) -> String {
    let unsure = if rating.provisional { "?" } else { "" };
    format!("{}{unsure}", rating.rating)
}

/// Who sits there, for a list: with the player for whom a bot plays on.
pub(crate) fn listed(state: &Occupant) -> String {
    let who = occupant(state);
    match state {
        Occupant::Bot {
            stand_in_for: Some(person),
            ..
        } => format!("{who} for {}", player(&person.name, None)),
        Occupant::Open | Occupant::Player { .. } | Occupant::Bot { .. } => who,
    }
}

/// Whether a bot keeps a seat of the match for this player.
pub(crate) fn is_stood_in(now: &Snapshot, player: PlayerId) -> bool {
    now.seats.iter().any(|state| {
        matches!(&state.occupant, Occupant::Bot { stand_in_for: Some(person), .. }
            if person.player == player)
    })
}

/// The name of a seat's side, in its colour.
pub(crate) fn side(now: &Snapshot, seat: SeatNumber) -> String {
    now.seats.get(seat.index()).map_or_else(
        || "?".to_owned(),
        |state| paint(of_seat(seat.index(), &state.side), &sanitize(&state.side)),
    )
}

/// What a seat's pieces look like, in its colour, where its side's name does not tell.
pub(crate) fn piece(now: &Snapshot, seat: SeatNumber) -> Option<String> {
    let piece = Customs::of(&now.game).piece(seat.index())?;
    let state = now.seats.get(seat.index())?;
    let style = of_seat(seat.index(), &state.side);
    Some(paint(style, &piece.to_string()))
}

/// The occupant of a seat, as the subject of a sentence in the third person.
pub(crate) fn who(now: &Snapshot, seat: SeatNumber) -> String {
    now.seats.get(seat.index()).map_or_else(
        || "somebody".to_owned(),
        |state| {
            let who = match &state.occupant {
                Occupant::Open => "nobody yet".to_owned(),
                Occupant::Player { .. } | Occupant::Bot { .. } => occupant(&state.occupant),
            };
            format!("{who} ({})", side(now, seat))
        },
    )
}

/// Whose turn it is; empty if it is nobody's.
pub(crate) fn turn(now: &Snapshot) -> String {
    match now.turn {
        Some(seat) if now.you == Some(seat) => {
            let is_capture = |m: &String| m.contains('x');
            let forced = if now.legal == ["pass"] {
                " You cannot move: pass."
            } else if Customs::of(&now.game) == Customs::Draughts
                && !now.legal.is_empty()
                && now.legal.iter().all(is_capture)
            {
                " You must capture."
            } else if now.check {
                " You are in check."
            } else {
                ""
            };
            format!(
                "{} You are {}.{forced}",
                paint(STRONG, "Your turn."),
                side(now, seat)
            )
        }
        Some(seat) => format!("{} to move.", who(now, seat)),
        None => String::new(),
    }
}

/// A move that was played last, by its notation on the wire or as its players write it.
pub(crate) fn moved(now: &Snapshot, seat: SeatNumber, m: &str) -> String {
    let is_me = now.you == Some(seat);
    if m == "pass" {
        return if is_me {
            "You pass.".to_owned()
        } else {
            format!("{} passes.", who(now, seat))
        };
    }
    let m = paint(STRONG, &sanitize(m));
    // That a game has ended is told with its end.
    let check = if now.check && now.turn.is_some() {
        ": check"
    } else {
        ""
    };
    if is_me {
        format!("You play {m}{check}.")
    } else {
        format!("{} plays {m}{check}.", who(now, seat))
    }
}

/// The moves, with a number before every one of seat 0; before the first, too, if that is seat 1's.
pub(crate) fn line(now: &Snapshot) -> String {
    let customs = Customs::of(&now.game);
    let moves = now.san.as_ref().unwrap_or(&now.moves);
    let first = now
        .initial_position
        .as_ref()
        .map_or(0, |start| first_to_move(customs, start));
    let (alone, others) = moves.split_at(first.min(moves.len()));
    let alone = alone.iter().map(|m| format!("1. … {}", sanitize(m)));
    let pairs = others.chunks(2).zip(1 + first..);
    let pairs = pairs.map(|(pair, number)| format!("{number}. {}", sanitize(&pair.join(" "))));
    alone.chain(pairs).collect::<Vec<_>>().join(" ")
}

/// A seat that has a new occupant.
pub(crate) fn seated(now: &Snapshot, seat: SeatNumber) -> String {
    let Some(state) = now.seats.get(seat.index()) else {
        return String::new();
    };
    match &state.occupant {
        Occupant::Open => format!("The seat of {} is open again.", side(now, seat)),
        Occupant::Bot {
            stand_in_for: Some(person),
            ..
        } => {
            let person = sanitize(&person.name).replace(BOT, "\u{fffd}");
            let bot = occupant(&state.occupant);
            format!("{bot} plays on for {person}, who may take the seat back.")
        }
        Occupant::Player { .. } if now.you == Some(seat) => {
            format!("You sit down as {}.", side(now, seat))
        }
        Occupant::Player { .. } if now.status == MatchStatus::Running => {
            format!("{} is back in the seat.", who(now, seat))
        }
        Occupant::Player { .. } | Occupant::Bot { .. } => {
            format!(
                "{} sits down as {}.",
                occupant(&state.occupant),
                side(now, seat)
            )
        }
    }
}

/// A player who has lost the connection or is back.
pub(crate) fn presence(now: &Snapshot, seat: SeatNumber, patience: Option<Duration>) -> String {
    let here = now.seats.get(seat.index()).is_some_and(
        |state| matches!(state.occupant, Occupant::Player { connected, .. } if connected),
    );
    if here {
        return format!("{} is back.", who(now, seat));
    }
    // It was whole when the server told it.
    let patience = patience.map(|left| Duration::from_secs_f64(left.as_secs_f64().round()));
    let patience = patience.map_or_else(String::new, |patience| {
        format!(" and has {} to come back", span(patience))
    });
    format!("{} has lost the connection{patience}.", who(now, seat))
}

/// How a match ended, and why.
pub(crate) fn ended(now: &Snapshot, outcome: &Ending) -> String {
    let Some(winner) = outcome.winner else {
        return match outcome.reason {
            Some(EndReason::Rules) => {
                let why = way::told(now, outcome).unwrap_or_default();
                format!("{} {why}", paint(STRONG, "A draw."))
                    .trim_end()
                    .to_owned()
            }
            Some(EndReason::Aborted) => aborted(now, outcome),
            Some(EndReason::Agreement) if outcome.detail.as_deref() == Some("flag") => format!(
                "{} Time ran out while a draw offer was open.",
                paint(STRONG, "A draw.")
            ),
            Some(EndReason::Agreement) => format!("{} By agreement.", paint(STRONG, "A draw.")),
            Some(EndReason::Timeout) => format!(
                "{} Time is up, and the other side cannot win.",
                paint(STRONG, "A draw.")
            ),
            Some(EndReason::Resignation | EndReason::Abandonment) | None => {
                "The match ended without a winner.".to_owned()
            }
        };
    };
    let loser = winner.other();
    let is_me = |seat| now.you == Some(seat);
    let headline = if is_me(winner) {
        paint(STRONG, "You win!")
    } else if is_me(loser) {
        paint(STRONG, "You lose.")
    } else {
        format!("{} {}", who(now, winner), paint(STRONG, "wins."))
    };
    let why = match outcome.reason {
        Some(EndReason::Rules) => match (&outcome.line, way::told(now, outcome)) {
            (Some(line), _) => sanitize(&Customs::of(&now.game).line(line)),
            (None, way) => way.unwrap_or_default(),
        },
        Some(EndReason::Resignation) if is_me(loser) => "You resigned.".to_owned(),
        Some(EndReason::Resignation) => format!("{} resigned.", who(now, loser)),
        Some(EndReason::Abandonment) if is_me(loser) => "You were away for too long.".to_owned(),
        Some(EndReason::Abandonment) => format!("{} did not come back.", who(now, loser)),
        Some(EndReason::Timeout) if is_me(loser) => "You ran out of time.".to_owned(),
        Some(EndReason::Timeout) => format!("{} ran out of time.", who(now, loser)),
        Some(EndReason::Aborted) => "The match was broken off.".to_owned(),
        Some(EndReason::Agreement) | None => String::new(),
    };
    format!("{headline} {why}").trim_end().to_owned()
}

/// Why there is no result.
fn aborted(now: &Snapshot, outcome: &Ending) -> String {
    let who_did = |what: &str, you: &str| match outcome.by {
        Some(seat) if now.you == Some(seat) => format!("You {you}."),
        Some(seat) => format!("{} {what}.", who(now, seat)),
        None => String::new(),
    };
    let why = match outcome.detail.as_deref() {
        Some("no-first-move") => who_did("did not begin in time", "did not begin in time"),
        Some("declined") => "The challenge was declined.".to_owned(),
        Some(_) | None => who_did("broke it off", "broke it off"),
    };
    format!("The match was broken off without a result. {why}")
        .trim_end()
        .to_owned()
}

/// What a seat offers, and how it is answered.
pub(crate) fn offered(now: &Snapshot, offer: &OfferState) -> String {
    let what = match (offer.offer, offer.to_ply) {
        (OfferKind::Draw, _) => "a draw".to_owned(),
        (OfferKind::Takeback, Some(to)) if to.0 + 1 < offer.ply.0 => {
            format!("to take back the last {} moves", offer.ply.0 - to.0)
        }
        (OfferKind::Takeback, _) => "to take back the last move".to_owned(),
        (OfferKind::Rematch, _) => "a rematch".to_owned(),
        (OfferKind::Challenge, _) => "a match".to_owned(),
    };
    let word = paint(STRONG, offer.offer.as_str());
    match now.you {
        Some(you) if you == offer.seat => format!("You offer {what}."),
        Some(_) => {
            let (who, decline) = (who(now, offer.seat), paint(STRONG, "decline"));
            format!("{who} offers {what}: type {word} to accept, or {decline}.")
        }
        None => format!("{} offers {what}.", who(now, offer.seat)),
    }
}

/// An offer of `seat` that `by` has ended.
pub(crate) fn declined(
    now: &Snapshot,
    seat: SeatNumber,
    offer: OfferKind,
    by: SeatNumber,
) -> String {
    let what = match offer {
        OfferKind::Draw => "the draw",
        OfferKind::Takeback => "to take moves back",
        OfferKind::Rematch => "the rematch",
        OfferKind::Challenge => "the match",
    };
    let is_me = now.you == Some(by);
    match (seat == by, is_me) {
        (true, true) => "You withdraw your offer.".to_owned(),
        (true, false) => format!("{} withdraws the offer.", who(now, by)),
        (false, true) => format!("You decline {what}."),
        (false, false) => format!("{} declines {what}.", who(now, by)),
    }
}

/// How the series stands, from its second match on.
pub(crate) fn series(now: &Snapshot) -> Option<String> {
    let series = now.series?;
    let name = |seat: u8| {
        let state = now.seats.get(usize::from(seat));
        state.map_or_else(String::new, |state| occupant(&state.occupant))
    };
    let [first, second] = series.points.map(points);
    Some(format!(
        "Game {}: {} {first} : {second} {}",
        series.game,
        name(0),
        name(1)
    ))
}

/// Half-points as players write them.
fn points(halves: u64) -> String {
    match (halves / 2, halves % 2) {
        (whole, 0) => whole.to_string(),
        (0, _) => "½".to_owned(),
        (whole, _) => format!("{whole}½"),
    }
}

/// A length of time for people.
pub(crate) fn span(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{plain, snapshot};
    use super::*;

    fn check(sentence: String, expect: &str) {
        assert_eq!(plain(&sentence), expect);
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
    fn the_turn_is_told() {
        let mut now = snapshot("x../.o./...");
        check(turn(&now), "Your turn. You are x.");
        now.you = None;
        check(turn(&now), "ada (x) to move.");
        now.turn = Some(SeatNumber(1));
        check(turn(&now), "⚙ medium bot (o) to move.");
        now.turn = Some(SeatNumber(9));
        check(turn(&now), "somebody to move.");
    }

    #[test]
    fn a_pass_is_told() {
        let mut now = snapshot("x../.o./...");
        now.legal = vec!["pass".to_owned()];
        check(turn(&now), "Your turn. You are x. You cannot move: pass.");
        check(moved(&now, SeatNumber(0), "pass"), "You pass.");
        check(
            moved(&now, SeatNumber(1), "pass"),
            "⚙ medium bot (o) passes.",
        );
    }

    #[test]
    fn chess_is_told_as_in_books() {
        let mut now = snapshot("8/8/8/8/8/8/8/8 w - - 0 1");
        now.game = "chess".to_owned();
        now.moves = ["f2f3", "e7e5", "g2g4"].map(str::to_owned).to_vec();
        assert_eq!(line(&now), "1. f2f3 e7e5 2. g2g4");
        now.san = Some(["f3", "e5", "g4"].map(str::to_owned).to_vec());
        assert_eq!(line(&now), "1. f3 e5 2. g4");
        now.initial_position = Some("8/8/8/8/8/8/8/8 b - - 0 1".to_owned());
        assert_eq!(line(&now), "1. … f3 2. e5 g4");
        check(moved(&now, SeatNumber(0), "g4"), "You play g4.");
        now.check = true;
        check(turn(&now), "Your turn. You are x. You are in check.");
        check(
            moved(&now, SeatNumber(1), "Qh4+"),
            "⚙ medium bot (o) plays Qh4+: check.",
        );
        now.turn = None;
        check(moved(&now, SeatNumber(0), "Qh4#"), "You play Qh4#.");
    }

    #[test]
    fn a_capture_that_must_be_is_told() {
        let mut now = snapshot("B:W18:B15:H0:F2");
        now.game = "draughts".to_owned();
        now.legal = vec!["15x22".to_owned()];
        check(turn(&now), "Your turn. You are x. You must capture.");
        now.legal = vec!["11-15".to_owned()];
        check(turn(&now), "Your turn. You are x.");
    }

    #[test]
    fn an_end_is_told_with_its_reason() {
        let mut now = snapshot("x../.o./...");
        let line: Option<&[&str]> = Some(&["a1", "b2", "c3"]);
        check(
            ended(&now, &ending(Some(0), EndReason::Rules, line)),
            "You win! The line is a1 b2 c3.",
        );
        check(
            ended(&now, &ending(Some(1), EndReason::Abandonment, None)),
            "You lose. You were away for too long.",
        );
        check(
            ended(&now, &ending(None, EndReason::Rules, None)),
            "A draw.",
        );
        check(
            ended(&now, &ending(None, EndReason::Agreement, None)),
            "A draw. By agreement.",
        );
        let by_flag = Ending {
            detail: Some("flag".to_owned()),
            ..ending(None, EndReason::Agreement, None)
        };
        check(
            ended(&now, &by_flag),
            "A draw. Time ran out while a draw offer was open.",
        );
        // A later server knows more reasons.
        check(ended(&now, &ending(Some(0), None, None)), "You win!");
        check(
            ended(&now, &ending(None, None, None)),
            "The match ended without a winner.",
        );
        now.game = "connect-four".to_owned();
        check(
            ended(&now, &ending(Some(0), EndReason::Rules, line)),
            "You win! Four in a row.",
        );
        now.you = None;
        check(
            ended(&now, &ending(Some(1), EndReason::Resignation, None)),
            "⚙ medium bot (o) wins. ada (x) resigned.",
        );
    }

    #[test]
    fn presence_is_told() {
        let now = snapshot("x../.o./...");
        let patience = Some(Duration::from_mins(1));
        check(presence(&now, SeatNumber(0), patience), "ada (x) is back.");
        check(
            presence(&now, SeatNumber(1), patience),
            "⚙ medium bot (o) has lost the connection and has 60 s to come back.",
        );
        check(
            presence(&now, SeatNumber(1), None),
            "⚙ medium bot (o) has lost the connection.",
        );
        check(
            presence(&now, SeatNumber(1), Some(Duration::from_millis(299_600))),
            "⚙ medium bot (o) has lost the connection and has 5 min to come back.",
        );
    }

    #[test]
    fn a_span_is_told_in_what_people_count_it_in() {
        let text = |seconds| span(Duration::from_secs(seconds));
        let told = [1, 119, 120, 7199, 7200, 86_400].map(text);
        assert_eq!(told, ["1 s", "119 s", "2 min", "119 min", "2 h", "24 h"]);
    }

    #[test]
    fn it_is_listed_for_whom_a_bot_plays_on() {
        let player = snapshot("").host;
        let name = "bob".to_owned();
        let bot = |stands_for| Occupant::Bot {
            level: "easy".to_owned(),
            stand_in_for: stands_for,
        };
        let person = plyhouse_protocol::NamedPlayer { player, name };
        assert_eq!(listed(&bot(Some(person))), "⚙ easy bot for bob");
        assert_eq!(listed(&bot(None)), "⚙ easy bot");
    }

    #[test]
    fn names_cannot_disturb_the_terminal() {
        let name = "\u{1b}[2Jx\n\u{202e}".to_owned();
        let player = snapshot("").host;
        let shown = occupant(&Occupant::Player {
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
    fn nobody_can_pass_for_a_bot() {
        let player = |name: &str| {
            occupant(&Occupant::Player {
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
            occupant(&Occupant::Bot {
                level,
                stand_in_for: None
            }),
            "⚙ max bot"
        );
        assert_eq!(player("max bot"), "max bot");
        assert_eq!(player("⚙ max bot"), "� max bot");
    }
}
