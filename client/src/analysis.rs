//! `ply analyse`: what the search thinks of a match that has ended, move by move.

use std::borrow::Cow;
use std::time::Duration;

use plyhouse_protocol::{
    AnalysedPly, Analysis, ClientMessage, MatchRef, MoveJudgement, PositionEvaluation, SeatNumber,
    ServerMessage, Snapshot,
};
use textwrap::{Options, WordSplitter};
use tokio::time::timeout;

use crate::CommandContext;
use crate::devices::{Known, unexpected};
use crate::dialogue::refused;
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::terminal;
use crate::view::{self, STRONG, paint};

/// How long the next part may take: matches are looked at when a server has nothing better to do.
const PATIENCE: Duration = Duration::from_secs(700);

/// How wide the bar of the chances is.
const BAR: usize = 20;

/// What stands before what is said of a move.
const SAID: &str = "      ";

/// Has a match looked at, and shows what is found.
pub(crate) async fn show(
    visit: &CommandContext,
    code: &str,
    nodes: Option<u64>,
) -> Result<(), Failure> {
    let mut known = Known::open(visit, true).await?;
    let target = MatchRef::from(code);
    let now = known.fetch_match(target).await?;
    let target = MatchRef::Id(now.match_id);
    let asked = ClientMessage::Analyse { target, nodes };
    let ServerMessage::Ok { .. } = known.dialogue.ask(asked).await? else {
        return Err(unexpected());
    };
    let (mut plies, mut accuracy, mut end) = (Vec::new(), None, None);
    loop {
        let part = next_part(&mut known, &now).await?;
        plies.extend(part.plies);
        end = end.or(part.final_evaluation);
        accuracy = part.accuracy.or(accuracy);
        if part.plies_done >= part.plies_total {
            break;
        }
        known.dialogue.say(&format!(
            "{} of {} moves looked at …",
            part.plies_done, part.plies_total
        ))?;
    }
    // They come from the last one on.
    plies.reverse();
    let game = known.games.iter().find(|game| game.game == now.game);
    known.dialogue.say(view::headline(&now, game).trim_end())?;
    let width = terminal::size().map_or(usize::MAX, |(columns, _)| columns);
    for row in rows(&now, &plies, end.as_ref(), width) {
        known.dialogue.say(&row)?;
    }
    known.dialogue.say(&summary(&now, &plies, accuracy))?;
    known.dialogue.close().await;
    Ok(())
}

/// The next part that is told of this match.
async fn next_part(known: &mut Known, now: &Snapshot) -> Result<Analysis, Failure> {
    let part = async {
        loop {
            match known.dialogue.receive().await? {
                Some(ServerMessage::Analysis(part)) if part.match_id == now.match_id => {
                    return Ok(*part);
                }
                Some(ServerMessage::Error(error))
                    if error.re.is_none()
                        && error
                            .match_id
                            .as_deref()
                            .is_none_or(|id| *id == now.match_id) =>
                {
                    return Err(refused(&error));
                }
                _ => {}
            }
        }
    };
    let silent = |_| Failure::NoConnection("the server found nothing in time".to_owned());
    timeout(PATIENCE, part).await.map_err(silent)?
}

/// What the first position was worth, and each move with what the position was worth after it, on a terminal of so many
/// columns.
fn rows(
    now: &Snapshot,
    plies: &[AnalysedPly],
    end: Option<&PositionEvaluation>,
    width: usize,
) -> Vec<String> {
    let first = plies
        .first()
        .map(|ply| row("", "start", Some(&ply.evaluation), now));
    let after = (plies.iter().skip(1)).map(|ply| Some(&ply.evaluation));
    let moves = plies.iter().zip(after.chain([end]));
    let moves = moves.map(|(ply, after)| line(now, ply, after, width));
    first.into_iter().chain(moves).collect()
}

fn row(number: &str, played: &str, after: Option<&PositionEvaluation>, now: &Snapshot) -> String {
    let worth = after.map_or_else(String::new, |after| worth(now, after));
    format!("{number:>4}  {played:12} {worth}")
}

/// The words as lines that, with what is before them, are no longer than so many columns, if that is possible.
fn wrap(said: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.saturating_sub(SAID.len()))
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    let lines = textwrap::wrap(said, options);
    lines.into_iter().map(Cow::into_owned).collect()
}

/// A move, what the position was worth after it, and what is to be said of it.
fn line(
    now: &Snapshot,
    ply: &AnalysedPly,
    after: Option<&PositionEvaluation>,
    width: usize,
) -> String {
    let mark = match ply.judgement {
        None => "",
        Some(MoveJudgement::Inaccuracy) => "?!",
        Some(MoveJudgement::Mistake) => "?",
        Some(MoveJudgement::Blunder) => "??",
    };
    let sans = now.san.as_deref().unwrap_or_default();
    let at = usize::try_from(ply.ply.0).unwrap_or(usize::MAX);
    let played = format!("{}{mark}", sanitize(sans.get(at).unwrap_or(&ply.m)));
    let mut text = row(&(ply.ply.0 + 1).to_string(), &played, after, now);
    if let Some(said) = &ply.english {
        let lines = wrap(&sanitize(said), width);
        text.extend(
            lines
                .iter()
                .map(|line| format!("\n{SAID}{}", paint(STRONG, line))),
        );
    }
    text
}

/// No material is worth so many hundredths: it is known who wins, but not whether that takes too many moves.
const AS_GOOD_AS_WON: i32 = 5000;

/// A bar of the chances, and what they are by.
fn worth(now: &Snapshot, worth: &PositionEvaluation) -> String {
    let filled =
        (0..BAR).filter(|at| (*at as f64 + 0.5) / (BAR as f64) < worth.win_probability.get());
    let filled = filled.count();
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    let side = |seat: SeatNumber| view::side_text(now, seat);
    let known = match (worth.winner, worth.exact) {
        (Some(seat), _) => match (worth.points, worth.plies) {
            (Some(points), _) => format!("{} wins by {points}", side(seat)),
            (None, Some(1)) => format!("{} wins with the next move", side(seat)),
            (None, Some(plies)) if plies > 0 => format!("{} wins in {plies} plies", side(seat)),
            (None, Some(_)) => format!("{} has won", side(seat)),
            (None, None) => format!("{} wins", side(seat)),
        },
        (None, true) => "drawn".to_owned(),
        (None, false) if worth.value.abs() >= AS_GOOD_AS_WON => {
            let seat = SeatNumber(u8::from(worth.value < 0));
            format!("{} should win", side(seat))
        }
        (None, false) => format!("{:+}", worth.value),
    };
    format!(
        "{bar} {:3.0}%  {known}",
        100.0 * worth.win_probability.get()
    )
}

/// How well each seat has played.
fn summary(now: &Snapshot, plies: &[AnalysedPly], accuracy: Option<[Option<u8>; 2]>) -> String {
    let of_seat = |index: u8| {
        let seat = SeatNumber(index);
        let of = accuracy.and_then(|accuracy| accuracy[seat.index()]);
        let of = of.map_or_else(|| "no moves".to_owned(), |of| format!("accuracy {of}%"));
        let counts = MoveJudgement::ALL.iter().map(|judged| {
            let own = plies.iter().filter(|ply| ply.seat == seat);
            let count = own.filter(|ply| ply.judgement == Some(*judged)).count();
            (judged, count)
        });
        let counts: Vec<String> = counts
            .filter(|(_, count)| *count > 0)
            .map(|(judged, count)| format!("{judged}: {count}"))
            .collect();
        let counts = counts.join(", ");
        let after = if counts.is_empty() { "" } else { ", " };
        format!("{}: {of}{after}{counts}", view::side_text(now, seat))
    };
    format!("{}\n{}", of_seat(0), of_seat(1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;
    use crate::view::tests::{snapshot, strip_style};

    /// No word and no move is broken in two, and nothing is longer than the terminal is wide.
    #[test]
    fn words_end_their_lines_whole() {
        let said = "Nf6 wins in 3 moves; O-O lets the win go, after Qxe5+ Be7 Qxg7 Rf8 Qxh7 d5.";
        let lines = wrap(said, 40);
        assert!(lines.iter().all(|line| line.len() <= 34), "{lines:?}");
        assert_eq!(lines.join(" "), said);
        assert_eq!(wrap(said, usize::MAX), [said]);
        assert_eq!(wrap("Qxe5+", 3), ["Qxe5+"]);
    }

    /// A blunder stands beside what has become of the position, and not beside what it was.
    #[test]
    fn a_move_stands_beside_what_the_position_is_worth_after_it() {
        let worth = |wins: Value| json!({"value": 0, "win": 0.5, "exact": true, "wins": wins});
        let ply = |ply: u8, wins: Value, judged: Value| -> AnalysedPly {
            let mut told = worth(wins);
            let more = json!({"ply": ply, "seat": ply % 2, "move": "b2", "best": "b2", "pv": ["b2"], "judged": judged});
            let fields = more.as_object().expect("an object").clone();
            told.as_object_mut().expect("an object").extend(fields);
            from_value(told).expect("a ply")
        };
        let plies = [
            ply(0, json!(null), json!("blunder")),
            ply(1, json!(1), json!(null)),
        ];
        let end: PositionEvaluation = from_value(worth(json!(0))).expect("a valuation");
        let now = snapshot("x../.o./...");
        let rows: Vec<String> = (rows(&now, &plies, Some(&end), 80).iter())
            .map(|row| strip_style(row).replace(['█', '░'], ""))
            .collect();
        let told: Vec<Vec<&str>> = (rows.iter())
            .map(|row| row.split_whitespace().collect())
            .collect();
        assert_eq!(told[0][..2], ["start", "50%"]);
        assert_eq!(told[0].last(), Some(&"drawn"));
        assert_eq!(told[1], ["1", "b2??", "50%", "o", "wins"]);
        assert_eq!(told[2], ["2", "b2", "50%", "x", "wins"]);
    }
}
