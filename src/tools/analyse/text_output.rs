//! Human-readable text output.

use std::fmt;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::search::{Certainty, Playouts, Report};

use super::position_report::{Evaluation, MoveRow, PositionReport};

/// Multi-line report: a table of the moves, search statistics and the principal variation.
pub(super) struct FullReport<'a>(pub(super) &'a PositionReport<'a>);

/// Single-line report.
pub(super) struct OneLineReport<'a>(pub(super) &'a PositionReport<'a>);

/// A line that shows the progress of a search.
pub(super) struct ProgressLine<'a>(
    pub(super) &'a dyn AnyPosition,
    pub(super) &'a Report<String>,
);

impl fmt::Display for FullReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        writeln!(f, "{}", report.position)?;
        if report.outcome.is_some() {
            return writeln!(f, "{}", OneLineReport(report));
        }
        writeln!(
            f,
            "{} to move: {}\n",
            report.turn,
            format_evaluation(report.evaluation)
        )?;

        let rows = report.moves.iter().map(|row| (row, format_move_value(row)));
        let rows: Vec<_> = rows.collect();
        let by_playouts = report.search_report.playouts.is_some();
        let move_widths = rows.iter().map(|(row, _)| row.value.m.len());
        let value_widths = rows.iter().map(|(_, words)| words.len());
        let first = move_widths.fold("move".len(), usize::max);
        let second = value_widths.fold("value".len(), usize::max);
        let more_columns = if by_playouts {
            "  playouts     won"
        } else {
            ""
        };
        writeln!(
            f,
            "{:<first$}  {:<second$}   score{more_columns}",
            "move", "value"
        )?;
        for (row, words) in rows {
            let (m, score) = (&row.value.m, row.evaluation.score);
            write!(f, "{m:<first$}  {words:<second$}  {score:>6}")?;
            if let Some(played) = row.value.playouts {
                write!(f, "  {:>8}  {:>6}", played.count, format_win_rate(played))?;
            }
            writeln!(f)?;
        }

        let search = report.search_report;
        let what = if by_playouts { "playouts" } else { "nodes" };
        write!(
            f,
            "\n{} {what} in {:.3} s ({} per second)",
            format_thousands(search.nodes),
            search.time.as_secs_f64(),
            format_thousands(search.nodes_per_second())
        )?;
        match (search.playouts, search.pruned) {
            (Some(played), _) => writeln!(f, ", the best move won {}", format_win_rate(played))?,
            (None, Some(pruned)) => writeln!(f, ", {} moves pruned", format_thousands(pruned))?,
            (None, None) => writeln!(
                f,
                ", {} table hits, {:.1}% of the table filled",
                format_thousands(search.table_hits),
                f64::from(search.table_fill_per_mille) / 10.0
            )?,
        }
        writeln!(
            f,
            "depth {}, longest line {}",
            search.depth, search.selective_depth
        )?;
        writeln!(f, "pv {}", search.pv.join(" "))
    }
}

impl fmt::Display for OneLineReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        let (value, search) = (report.evaluation, report.search_report);
        if let Some(outcome) = &report.outcome {
            return match outcome.winner {
                Some(_) => {
                    let end = if value.score > 0 { "won" } else { "lost" };
                    write!(f, "{} has {end}, score {}", report.turn, value.score)
                }
                None => f.write_str("drawn, score 0"),
            };
        }
        write!(f, "{}, score {}", format_evaluation(value), value.score)?;
        if let Some(best) = search.pv.first() {
            write!(f, ", best {best}")?;
        }
        write!(f, ", nodes {}", search.nodes)?;
        let mut before = "; ";
        for row in &report.moves {
            write!(f, "{before}{}: {}", row.value.m, format_move_value(row))?;
            before = ", ";
        }
        Ok(())
    }
}

impl fmt::Display for ProgressLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(pos, report) = self;
        let (depth, score, nodes) = (report.depth, report.score, format_thousands(report.nodes));
        if let Some(played) = report.playouts {
            write!(
                f,
                "{nodes:>12} playouts  {:>6} won",
                format_win_rate(played)
            )?;
        } else {
            let score = match score.is_decided() {
                true => score.to_string(),
                false => format_signed(pos.conventional_score(score, None)),
            };
            write!(f, "depth {depth:>2}  {score:<12} {nodes:>15} nodes")?;
        }
        write!(
            f,
            " {:>8.3} s  {}",
            report.time.as_secs_f64(),
            report.pv.join(" ")
        )
    }
}

/// Returns the percentage of won playouts.
fn format_win_rate(played: Playouts) -> String {
    format!("{:.1}%", f64::from(played.wins_per_mille) / 10.0)
}

/// Returns the value of a move in words.
fn format_move_value(row: &MoveRow<'_>) -> String {
    let words = format_evaluation(row.evaluation);
    match row.value.certainty {
        Certainty::Exact | Certainty::Estimate => words,
        Certainty::UpperBound => format!("at most {words}"),
    }
}

/// Lowest score that the text output shows as "likely a win". A material advantage alone never
/// reaches this score. In draughts, the evaluation exceeds this score in endgames that the endgame
/// table lists as won. Such an endgame is not a certain win, because winning it may take more moves
/// than the draw rule allows.
const NEAR_CERTAIN_SCORE: i32 = 5000;

fn format_evaluation(value: Evaluation) -> String {
    match (value.result, value.plies) {
        (Some(wdl), Some(plies)) => format!("{} in {plies}", wdl.name()),
        (Some(wdl), None) => match value.points {
            Some(points) => format!("{} by {}", wdl.name(), points.abs()),
            None => wdl.name().to_owned(),
        },
        (None, _) if value.score >= NEAR_CERTAIN_SCORE => "likely a win".to_owned(),
        (None, _) if value.score <= -NEAR_CERTAIN_SCORE => "likely a loss".to_owned(),
        (None, _) => format!("about {}", format_signed(value.score)),
    }
}

/// Formats a number with its sign.
fn format_signed(number: i32) -> String {
    match number {
        0 => "0".to_owned(),
        _ => format!("{number:+}"),
    }
}

/// Formats a number with commas as thousands separators.
fn format_thousands(number: u64) -> String {
    match number / 1000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", format_thousands(thousands), number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::search::minimax::Scale;
    use plyhouse_engine::search::{Limits, Score, Stop};

    use super::super::position_report::Wdl;
    use super::*;

    #[test]
    fn full_report_shows_playouts_only_for_playout_searches() {
        let game = plyhouse_engine::catalog::find_game("go").expect("the game is in the catalog");
        let mut analysis_board = game.analysis_board(1 << 20);
        let (stop, mut progress_lines) = (Stop::new(), Vec::new());
        let mut full_report = |limits| {
            let pos = analysis_board.position().clone_box();
            let mut watch = |report: &Report<String>| {
                progress_lines.push(ProgressLine(pos.as_ref(), report).to_string())
            };
            let report = analysis_board.analyse(false, &limits, &stop, &mut watch);
            let report = report.expect("the game is not over");
            let answer = PositionReport::new(
                &game.info,
                analysis_board.as_ref(),
                "",
                Scale::Plies,
                &report,
            );
            FullReport(&answer).to_string()
        };
        let played = full_report(Limits::nodes(1200));
        assert!(played.contains("score  playouts     won\n"), "{played}");
        assert!(played.contains("\n1,200 playouts in "), "{played}");
        assert!(played.contains(", the best move won "), "{played}");
        let searched = full_report(Limits::depth(1));
        assert!(
            !searched.contains("playouts") && searched.contains("nodes"),
            "{searched}"
        );
        let counts = [
            "128 playouts",
            "256 playouts",
            "512 playouts",
            "1,024 playouts",
        ];
        assert!(
            progress_lines
                .iter()
                .zip(counts)
                .all(|(line, count)| line.contains(count)),
            "{progress_lines:?}"
        );
    }

    /// In Othello, a position with a full board may name either player as the side to move. The
    /// report must show the result for that side.
    #[test]
    fn finished_game_is_reported_from_the_side_to_move() {
        let game =
            plyhouse_engine::catalog::find_game("othello").expect("the game is in the catalog");
        let mut analysis_board = game.analysis_board(1 << 12);
        for (turn, expected) in [
            ("*", "black has won, score 64"),
            ("O", "white has lost, score -64"),
        ] {
            let position = format!("{} {turn}", "*".repeat(64));
            analysis_board
                .set_up(&position)
                .expect("the position is valid");
            let pos = analysis_board.position();
            let outcome = pos.outcome().expect("the game is over");
            let score = Score::from_game_end(outcome, pos.ending(), pos.turn(), 0);
            let report = Report::from_exact_score(score);
            let answer = PositionReport::new(
                &game.info,
                analysis_board.as_ref(),
                "",
                Scale::Plies,
                &report,
            );
            assert_eq!(OneLineReport(&answer).to_string(), expected);
        }
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let texts = [0, 999, 1000, 549_946, 12_345_678].map(format_thousands);
        assert_eq!(texts, ["0", "999", "1,000", "549,946", "12,345,678"]);
    }

    #[test]
    fn evaluations_are_formatted_as_words() {
        for (result, plies, points, score, text) in [
            (Some(Wdl::Win), Some(7), None, 3, "win in 7"),
            (Some(Wdl::Loss), None, None, -1, "loss"),
            (Some(Wdl::Loss), None, Some(-18), -18, "loss by 18"),
            (Some(Wdl::Draw), None, None, 0, "draw"),
            (None, None, None, 35, "about +35"),
            (None, None, None, 0, "about 0"),
            (None, None, None, 17_042, "likely a win"),
            (None, None, None, -15_083, "likely a loss"),
        ] {
            let value = Evaluation {
                score,
                result,
                plies,
                points,
            };
            assert_eq!(format_evaluation(value), text);
        }
    }
}
