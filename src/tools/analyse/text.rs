//! Answers as people read them.

use std::fmt;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::search::{Certainty, Playouts, Report};

use super::answer::{Answer, Row, Value};

/// An answer on a page: a table of the moves, what it took, and the principal variation.
pub(super) struct Page<'a>(pub(super) &'a Answer<'a>);

/// An answer on a line.
pub(super) struct Line<'a>(pub(super) &'a Answer<'a>);

/// How far a search of the position has come, on a line.
pub(super) struct Progress<'a>(
    pub(super) &'a dyn AnyPosition,
    pub(super) &'a Report<String>,
);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = self.0;
        writeln!(f, "{}", answer.position)?;
        if answer.outcome.is_some() {
            return writeln!(f, "{}", Line(answer));
        }
        writeln!(f, "{} to move: {}\n", answer.turn, words(answer.value))?;

        let rows: Vec<_> = answer.moves.iter().map(|row| (row, of_move(row))).collect();
        let by_playouts = answer.report.playouts.is_some();
        let widest =
            |least: usize, widths: &mut dyn Iterator<Item = usize>| widths.fold(least, usize::max);
        let first = widest(4, &mut rows.iter().map(|(row, _)| row.m.len()));
        let second = widest(5, &mut rows.iter().map(|(_, words)| words.len()));
        write!(
            f,
            "{:<first$}  {:<second$}  {:>6}",
            "move", "value", "score"
        )?;
        f.write_str(if by_playouts {
            "  playouts     won\n"
        } else {
            "\n"
        })?;
        for (row, words) in rows {
            let score = row.value.score;
            write!(f, "{:<first$}  {words:<second$}  {score:>6}", row.m)?;
            if let Some(played) = row.playouts {
                write!(f, "  {:>8}  {:>6}", played.count, percent(played))?;
            }
            writeln!(f)?;
        }

        let report = answer.report;
        let what = if report.playouts.is_some() {
            "playouts"
        } else {
            "nodes"
        };
        write!(
            f,
            "\n{} {what} in {:.3} s ({} a second)",
            grouped(report.nodes),
            report.time.as_secs_f64(),
            grouped(report.nodes_per_second())
        )?;
        match (report.playouts, report.pruned) {
            (Some(played), _) => writeln!(f, ", the best move won {}", percent(played))?,
            (None, Some(pruned)) => writeln!(f, ", {} moves pruned", grouped(pruned))?,
            (None, None) => writeln!(
                f,
                ", {} found in the table, {:.1}% of its places filled",
                grouped(report.table_hits),
                f64::from(report.table_fill_per_mille) / 10.0
            )?,
        }
        writeln!(
            f,
            "depth {}, longest line {}",
            report.depth, report.selective_depth
        )?;
        writeln!(f, "pv {}", report.pv.join(" "))
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = self.0;
        let (value, report) = (answer.value, answer.report);
        if let Some(outcome) = &answer.outcome {
            return match outcome.winner {
                Some(_) => {
                    let end = if value.score > 0 { "won" } else { "lost" };
                    write!(f, "{} has {end}, score {}", answer.turn, value.score)
                }
                None => f.write_str("drawn, score 0"),
            };
        }
        write!(f, "{}, score {}", words(value), value.score)?;
        if let Some(best) = report.pv.first() {
            write!(f, ", best {best}")?;
        }
        write!(f, ", nodes {}", report.nodes)?;
        let mut before = "; ";
        for row in &answer.moves {
            write!(f, "{before}{}: {}", row.m, of_move(row))?;
            before = ", ";
        }
        Ok(())
    }
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            score,
            depth,
            nodes,
            time,
            pv,
            playouts,
            ..
        } = self.1;
        if let Some(played) = playouts {
            return write!(
                f,
                "{:>12} playouts  {:>6} won {:>8.3} s  {}",
                grouped(*nodes),
                percent(*played),
                time.as_secs_f64(),
                pv.join(" ")
            );
        }
        write!(
            f,
            "depth {depth:>2}  {:<12} {:>15} nodes {:>8.3} s  {}",
            match score.is_decided() {
                true => score.to_string(),
                false => signed(self.0.conventional_score(*score, *playouts)),
            },
            grouped(*nodes),
            time.as_secs_f64(),
            pv.join(" ")
        )
    }
}

/// The share that was won.
fn percent(played: Playouts) -> String {
    format!("{:.1}%", f64::from(played.wins_per_mille) / 10.0)
}

/// The value of a move in words.
fn of_move(row: &Row<'_>) -> String {
    let words = words(row.value);
    match row.certainty {
        Certainty::Exact | Certainty::Estimate => words,
        Certainty::UpperBound => format!("at most {words}"),
    }
}

/// No material is worth so many hundredths: so high an ending is valued of which a table tells who wins, but not
/// whether it takes too many moves.
const AS_GOOD_AS_WON: i32 = 5000;

fn words(value: Value) -> String {
    match (value.result, value.plies) {
        (Some(wdl), Some(plies)) => format!("{} in {plies}", wdl.name()),
        (Some(wdl), None) => match value.points {
            Some(points) => format!("{} by {}", wdl.name(), points.abs()),
            None => wdl.name().to_owned(),
        },
        (None, _) if value.score >= AS_GOOD_AS_WON => "about a win".to_owned(),
        (None, _) if value.score <= -AS_GOOD_AS_WON => "about a loss".to_owned(),
        (None, _) => format!("about {}", signed(value.score)),
    }
}

/// A number with its sign.
fn signed(number: i32) -> String {
    match number {
        0 => "0".to_owned(),
        _ => format!("{number:+}"),
    }
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::search::minimax::Scale;
    use plyhouse_engine::search::{Limits, Score, Stop};

    use super::super::answer::Wdl;
    use super::*;

    #[test]
    fn a_page_tells_playouts_where_there_were_any() {
        let game = plyhouse_engine::catalog::find_game("go").expect("hosted");
        let mut analyst = game.analysis_board(1 << 20);
        let (stop, mut told) = (Stop::new(), Vec::new());
        let mut page = |limits| {
            let pos = analyst.position().clone_box();
            let mut watch =
                |report: &Report<String>| told.push(Progress(pos.as_ref(), report).to_string());
            let report = analyst.analyse(false, &limits, &stop, &mut watch);
            let report = report.expect("the game goes on");
            let answer = Answer::new(&game.info, analyst.as_ref(), "", Scale::Plies, &report);
            Page(&answer).to_string()
        };
        let played = page(Limits::nodes(1200));
        assert!(played.contains("score  playouts     won\n"), "{played}");
        assert!(played.contains("\n1,200 playouts in "), "{played}");
        assert!(played.contains(", the best move won "), "{played}");
        let searched = page(Limits::depth(1));
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
            told.iter()
                .zip(counts)
                .all(|(told, count)| told.contains(count)),
            "{told:?}"
        );
    }

    /// Whoever filled the board is also to move there.
    #[test]
    fn a_game_that_is_over_may_have_been_won() {
        let game = plyhouse_engine::catalog::find_game("othello").expect("hosted");
        let mut analyst = game.analysis_board(1 << 12);
        for (turn, told) in [
            ("*", "black has won, score 64"),
            ("O", "white has lost, score -64"),
        ] {
            let position = format!("{} {turn}", "*".repeat(64));
            analyst.set_up(&position).expect("readable");
            let pos = analyst.position();
            let outcome = pos.outcome().expect("it is over");
            let score = Score::from_game_end(outcome, pos.ending(), pos.turn(), 0);
            let report = Report::from_exact_score(score);
            let answer = Answer::new(&game.info, analyst.as_ref(), "", Scale::Plies, &report);
            assert_eq!(Line(&answer).to_string(), told);
        }
    }

    #[test]
    fn numbers_have_commas() {
        let texts = [0, 999, 1000, 549_946, 12_345_678].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "549,946", "12,345,678"]);
    }

    #[test]
    fn values_read_as_people_say_them() {
        for (result, plies, points, score, text) in [
            (Some(Wdl::Win), Some(7), None, 3, "win in 7"),
            (Some(Wdl::Loss), None, None, -1, "loss"),
            (Some(Wdl::Loss), None, Some(-18), -18, "loss by 18"),
            (Some(Wdl::Draw), None, None, 0, "draw"),
            (None, None, None, 35, "about +35"),
            (None, None, None, 0, "about 0"),
            (None, None, None, 17_042, "about a win"),
            (None, None, None, -15_083, "about a loss"),
        ] {
            let value = Value {
                score,
                result,
                plies,
                points,
            };
            assert_eq!(words(value), text);
        }
    }
}
