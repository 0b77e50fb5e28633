//! `ply analyse`: shows the server's analysis of an ended match, move by move.

use std::borrow::Cow;
use std::time::Duration;

use plyhouse_protocol::{
    AnalysedPly, Analysis, ClientMessage, MatchRef, MoveJudgement, PositionEvaluation, SeatNumber,
    ServerMessage, Snapshot,
};
use textwrap::{Options, WordSplitter};
use tokio::time::timeout;

use crate::CommandContext;
use crate::exit::Failure;
use crate::line_terminal;
use crate::login_and_devices::{SignedInPlayer, unexpected_response};
use crate::request_client::refusal;
use crate::sanitize::sanitize;
use crate::view::{self, STRONG, paint};

/// Maximum time to wait for the next batch of analysed moves. The server analyses matches at low
/// priority, so a batch may take minutes.
const ANALYSIS_TIMEOUT: Duration = Duration::from_secs(700);

/// Width of the win probability bar, in columns.
const BAR_WIDTH: usize = 20;

/// Indentation of the comment on a move.
const COMMENT_INDENT: &str = "      ";

/// Requests the analysis of a match, waits until it is complete, and prints it.
pub(crate) async fn show_analysis(
    context: &CommandContext,
    code: &str,
    nodes: Option<u64>,
) -> Result<(), Failure> {
    let mut signed_in = SignedInPlayer::sign_in(context, true).await?;
    let target = MatchRef::from(code);
    let snapshot = signed_in.fetch_match(target).await?;
    let target = MatchRef::Id(snapshot.match_id);
    let message = ClientMessage::Analyse { target, nodes };
    let ServerMessage::Ok { .. } = signed_in.client.request(message).await? else {
        return Err(unexpected_response());
    };
    let (mut plies, mut accuracy, mut end) = (Vec::new(), None, None);
    loop {
        let batch = next_batch(&mut signed_in, &snapshot).await?;
        plies.extend(batch.plies);
        end = end.or(batch.final_evaluation);
        accuracy = batch.accuracy.or(accuracy);
        if batch.plies_done >= batch.plies_total {
            break;
        }
        signed_in.client.print(&format!(
            "Analysed {} of {} moves …",
            batch.plies_done, batch.plies_total
        ))?;
    }
    // The server analyses the last ply first, so the plies arrive in reverse order.
    plies.reverse();
    let mut games = signed_in.games.iter();
    let game = games.find(|game| game.game == snapshot.game);
    let headline = view::headline(&snapshot, game);
    signed_in.client.print(headline.trim_end())?;
    let width = line_terminal::columns().unwrap_or(usize::MAX);
    for row in analysis_lines(&snapshot, &plies, end.as_ref(), width) {
        signed_in.client.print(&row)?;
    }
    let summary = accuracy_summary(&snapshot, &plies, accuracy);
    signed_in.client.finish(&summary).await
}

/// Waits for the next part of the analysis of this match.
async fn next_batch(
    signed_in: &mut SignedInPlayer,
    snapshot: &Snapshot,
) -> Result<Analysis, Failure> {
    let batch = async {
        loop {
            match signed_in.client.receive().await? {
                Some(ServerMessage::Analysis(part)) if part.match_id == snapshot.match_id => {
                    return Ok(*part);
                }
                Some(ServerMessage::Error(error))
                    if error.re.is_none()
                        && error
                            .match_id
                            .as_deref()
                            .is_none_or(|id| *id == snapshot.match_id) =>
                {
                    return Err(refusal(&error));
                }
                _ => {}
            }
        }
    };
    let timed_out = |_| Failure::NoConnection("the analysis timed out; try again later".to_owned());
    timeout(ANALYSIS_TIMEOUT, batch).await.map_err(timed_out)?
}

/// Returns the analysis as lines of text. The first line evaluates the initial position. Each
/// further line shows a move and evaluates the position after it. Comments are wrapped to `width`
/// columns.
fn analysis_lines(
    snapshot: &Snapshot,
    plies: &[AnalysedPly],
    end: Option<&PositionEvaluation>,
    width: usize,
) -> Vec<String> {
    let first = plies
        .first()
        .map(|ply| evaluation_line("", "start", Some(&ply.evaluation), snapshot));
    let after = (plies.iter().skip(1)).map(|ply| Some(&ply.evaluation));
    let moves = plies.iter().zip(after.chain([end]));
    let moves = moves.map(|(ply, after)| move_line(snapshot, ply, after, width));
    first.into_iter().chain(moves).collect()
}

fn evaluation_line(
    number: &str,
    played: &str,
    after: Option<&PositionEvaluation>,
    snapshot: &Snapshot,
) -> String {
    let evaluation = after.map_or_else(String::new, |after| evaluation_text(snapshot, after));
    format!("{number:>4}  {played:12} {evaluation}")
}

/// Wraps a comment so that each line and its indentation fit into `width` columns. A word that is
/// too long for a line is not broken.
fn wrap_comment(comment: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.saturating_sub(COMMENT_INDENT.len()))
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    let lines = textwrap::wrap(comment, options);
    lines.into_iter().map(Cow::into_owned).collect()
}

/// Formats a move and the evaluation of the position after the move. The comment on the move, if
/// there is one, follows on separate lines.
fn move_line(
    snapshot: &Snapshot,
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
    let sans = snapshot.san.as_deref().unwrap_or_default();
    let at = usize::try_from(ply.ply.0).unwrap_or(usize::MAX);
    let move_text = format!("{}{mark}", sanitize(sans.get(at).unwrap_or(&ply.m)));
    let mut text = evaluation_line(&(ply.ply.0 + 1).to_string(), &move_text, after, snapshot);
    if let Some(comment) = &ply.english {
        let lines = wrap_comment(&sanitize(comment), width);
        text.extend(
            lines
                .iter()
                .map(|line| format!("\n{COMMENT_INDENT}{}", paint(STRONG, line))),
        );
    }
    text
}

/// Smallest absolute evaluation that is displayed as a likely win. Material alone never reaches
/// this value, so the search must have found a win. The win is still unproven, because it may take
/// more moves than the rules allow.
const WINNING_VALUE_MIN: i32 = 5000;

/// Formats an evaluation as one line of text. The line shows the win probability of seat 0 as a bar
/// and a percentage, then the result or the value.
fn evaluation_text(snapshot: &Snapshot, evaluation: &PositionEvaluation) -> String {
    let filled = (0..BAR_WIDTH)
        .filter(|at| (*at as f64 + 0.5) / (BAR_WIDTH as f64) < evaluation.win_probability.get());
    let filled = filled.count();
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR_WIDTH - filled));
    let side = |seat: SeatNumber| view::side_text(snapshot, seat);
    let known = match (evaluation.winner, evaluation.exact) {
        (Some(seat), _) => match (evaluation.points, evaluation.plies) {
            (Some(points), _) => format!("{} wins by {points}", side(seat)),
            (None, Some(1)) => format!("{} wins with the next move", side(seat)),
            (None, Some(plies)) if plies > 0 => format!("{} wins in {plies} plies", side(seat)),
            (None, Some(_)) => format!("{} has won", side(seat)),
            (None, None) => format!("{} wins", side(seat)),
        },
        (None, true) => "drawn".to_owned(),
        (None, false) if evaluation.value.abs() >= WINNING_VALUE_MIN => {
            let seat = SeatNumber(u8::from(evaluation.value < 0));
            format!("{} should win", side(seat))
        }
        (None, false) => format!("{:+}", evaluation.value),
    };
    format!(
        "{bar} {:3.0}%  {known}",
        100.0 * evaluation.win_probability.get()
    )
}

/// Returns a line for each player, with the player's accuracy and the counts of inaccuracies,
/// mistakes and blunders. Counts of zero are omitted.
fn accuracy_summary(
    snapshot: &Snapshot,
    plies: &[AnalysedPly],
    accuracy: Option<[Option<u8>; 2]>,
) -> String {
    let seat_summary = |index: u8| {
        let seat = SeatNumber(index);
        let of = accuracy.and_then(|accuracy| accuracy[seat.index()]);
        let of = of.map_or_else(|| "no moves".to_owned(), |of| format!("accuracy {of}%"));
        let counts = MoveJudgement::ALL.iter().map(|judged| {
            let own_plies = plies.iter().filter(|ply| ply.seat == seat);
            let count = own_plies
                .filter(|ply| ply.judgement == Some(*judged))
                .count();
            (judged, count)
        });
        let counts: Vec<String> = counts
            .filter(|(_, count)| *count > 0)
            .map(|(judged, count)| format!("{judged}: {count}"))
            .collect();
        let counts = counts.join(", ");
        let after = if counts.is_empty() { "" } else { ", " };
        format!("{}: {of}{after}{counts}", view::side_text(snapshot, seat))
    };
    format!("{}\n{}", seat_summary(0), seat_summary(1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;
    use crate::view::tests::{snapshot, strip_style};

    #[test]
    fn comment_wraps_at_words_within_width() {
        let comment =
            "Nf6 wins in 3 moves; O-O throws away the win, after Qxe5+ Be7 Qxg7 Rf8 Qxh7 d5.";
        let lines = wrap_comment(comment, 40);
        assert!(lines.iter().all(|line| line.len() <= 34), "{lines:?}");
        assert_eq!(lines.join(" "), comment);
        assert_eq!(wrap_comment(comment, usize::MAX), [comment]);
        assert_eq!(wrap_comment("Qxe5+", 3), ["Qxe5+"]);
    }

    /// The line of a blunder shows the mark `??` and evaluates the position after the blunder.
    #[test]
    fn move_line_shows_evaluation_after_the_move() {
        let evaluation = |wins: Value| json!({"value": 0, "win": 0.5, "exact": true, "wins": wins});
        let ply = |ply: u8, wins: Value, judged: Value| -> AnalysedPly {
            let mut fields_json = evaluation(wins);
            let ply_json = json!({"ply": ply, "seat": ply % 2, "move": "b2", "best": "b2", "pv": ["b2"], "judged": judged});
            let fields = ply_json
                .as_object()
                .expect("ply fields are a JSON object")
                .clone();
            fields_json
                .as_object_mut()
                .expect("evaluation is a JSON object")
                .extend(fields);
            from_value(fields_json).expect("valid analysed ply")
        };
        let plies = [
            ply(0, json!(null), json!("blunder")),
            ply(1, json!(1), json!(null)),
        ];
        let end: PositionEvaluation =
            from_value(evaluation(json!(0))).expect("valid position evaluation");
        let now = snapshot("x../.o./...");
        let rows: Vec<String> = (analysis_lines(&now, &plies, Some(&end), 80).iter())
            .map(|row| strip_style(row).replace(['█', '░'], ""))
            .collect();
        let words: Vec<Vec<&str>> = (rows.iter())
            .map(|row| row.split_whitespace().collect())
            .collect();
        assert_eq!(words[0][..2], ["start", "50%"]);
        assert_eq!(words[0].last(), Some(&"drawn"));
        assert_eq!(words[1], ["1", "b2??", "50%", "o", "wins"]);
        assert_eq!(words[2], ["2", "b2", "50%", "x", "wins"]);
    }
}
