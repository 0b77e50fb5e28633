//! English explanations of bad moves, for clients that do not generate explanations themselves.

use std::fmt::Write;

use super::{BetterMoveOutcome, Explanation, Finding, Judgement, MistakeKind, MoveReview};
use crate::catalog::GameEntry;

/// Returns an explanation of why the move was bad, in a few sentences. Returns `None` if the move
/// was not judged.
#[must_use]
pub fn english(game: &GameEntry, reviewed: &MoveReview) -> Option<String> {
    let (judgement, why) = reviewed.judgement.as_ref()?;
    let mut text = headline(game, reviewed, *judgement, why);
    let other = game.info.sides[reviewed.turn.other().index()];
    for finding in &why.findings {
        text.push(' ');
        text.push_str(&finding_to_text(*finding, other));
    }
    let better = reviewed.best_line_san.as_ref().unwrap_or(&why.better_line);
    if better.len() > 1 {
        write!(text, " Better: {}.", better.join(" ")).expect("writing to a String never fails");
    }
    Some(text)
}

/// Returns `text` with `prefix` before it, or an empty string if `text` is empty.
fn prefix_unless_empty(prefix: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{prefix}{text}")
    }
}

/// Returns the distance to a win in moves of the winner, with a space before it.
fn distance_to_text(plies: Option<u32>) -> String {
    match plies {
        None => String::new(),
        Some(0 | 1) => " at once".to_owned(),
        Some(2) => " in 1 move".to_owned(),
        Some(plies) => format!(" in {} moves", plies.div_ceil(2)),
    }
}

fn headline(
    game: &GameEntry,
    reviewed: &MoveReview,
    judgement: Judgement,
    why: &Explanation,
) -> String {
    let Explanation { plies, points, .. } = why;
    let sans = reviewed.best_line_san.as_ref();
    let better = sans
        .and_then(|sans| sans.first())
        .unwrap_or(&why.better_move);
    let m = why.played_san.as_ref().unwrap_or(&reviewed.m);
    let other = game.info.sides[reviewed.turn.other().index()];
    let by_points =
        |points: Option<u32>| points.map_or_else(String::new, |points| format!(" by {points}"));
    let mut refutation = why
        .refutation_san
        .as_ref()
        .unwrap_or(&why.refutation)
        .join(" ");
    if why.continues_after_refutation && !refutation.is_empty() {
        refutation.push_str(" …");
    }
    match why.kind {
        MistakeKind::MissesWin => {
            let (within, by) = (distance_to_text(*plies), by_points(*points));
            let after = prefix_unless_empty(", after ", &refutation);
            let end = closing_period(&after);
            // A player who made only an inaccuracy still has good winning chances. The text must
            // therefore not say that the win is gone.
            let lost = match judgement {
                Judgement::Inaccuracy => "makes the win less certain",
                Judgement::Mistake | Judgement::Blunder => "throws away the win",
            };
            format!("{better} wins{within}{by}; {m} {lost}{after}{end}")
        }
        MistakeKind::AllowsWin => {
            // `plies` is the number of plies to the win, counted from the bad move. The text counts
            // from the opponent's reply to the bad move, so its number of plies is one lower.
            let (within, by) = (
                distance_to_text(plies.map(|plies| plies.saturating_sub(1))),
                by_points(*points),
            );
            let how = prefix_unless_empty(" by ", &refutation);
            let better_outcome = better_outcome_to_text(why.better_outcome);
            format!("After {m}, {other} wins{within}{by}{how}; {better} {better_outcome}.")
        }
        MistakeKind::LosesPoints => {
            let (points_lost, end) = (
                points_to_text(points.unwrap_or(0)),
                closing_period(&refutation),
            );
            format!("{m} gives away {points_lost}: {refutation}{end} {better} was best.")
        }
        MistakeKind::LosesMaterial => {
            let (lost, end) = (
                material_to_text(game, why.material.unwrap_or(0)),
                closing_period(&refutation),
            );
            format!("{m} costs {lost}: {refutation}{end} {better} does not.")
        }
        MistakeKind::MissesMaterial => {
            let missed = material_to_text(game, why.material.unwrap_or(0));
            format!("{m} does not win {missed}: {better} does.")
        }
        MistakeKind::WorsensPosition => {
            let how = prefix_unless_empty(" after ", &refutation);
            let own = game.info.sides[reviewed.turn.index()];
            let lost = match *points {
                None => format!("worsens the chances of {own}"),
                Some(points) => format!("costs {own} about {}", points_to_text(points)),
            };
            format!("{m} {lost}{how}; {better} was stronger.")
        }
    }
}

/// Formats a number of points, such as `1 point` or `3 points`.
fn points_to_text(points: u32) -> String {
    let s = if points == 1 { "" } else { "s" };
    format!("{points} point{s}")
}

/// Returns the period that ends a sentence, or an empty string if `text` already ends with an
/// ellipsis.
fn closing_period(text: &str) -> &'static str {
    if text.ends_with('…') { "" } else { "." }
}

/// Returns the sentence that describes a finding.
fn finding_to_text(finding: Finding, other: &str) -> String {
    match finding {
        Finding::Corner => format!("It lets {other} take a corner."),
        // The number `moves` exceeds `moves_after_better` by at least 3, so the noun after it is
        // always plural.
        Finding::Mobility {
            moves,
            moves_after_better: instead,
        } => {
            format!("It leaves {other} {moves} moves instead of {instead}.")
        }
        Finding::Captured(1) => "A stone is captured.".to_owned(),
        Finding::Captured(stones) => format!("{stones} stones are captured."),
        Finding::Atari(1) => "A stone can be captured at once.".to_owned(),
        Finding::Atari(stones) => format!("{stones} stones can be captured at once."),
        Finding::Dead(1) => "A stone is as good as lost.".to_owned(),
        Finding::Dead(stones) => format!("{stones} stones are as good as lost."),
        Finding::Edge => {
            "It is isolated on the edge, where it surrounds little territory.".to_owned()
        }
        Finding::Isolated => "It is isolated from all other stones.".to_owned(),
        Finding::OpenThree => format!("It leaves {other} an open three."),
        Finding::Drawn => "It ends the game in a draw.".to_owned(),
        Finding::DoubleThreat => format!("It allows {other} a double threat."),
    }
}

const fn better_outcome_to_text(outcome: BetterMoveOutcome) -> &'static str {
    match outcome {
        BetterMoveOutcome::Win => "would have won",
        BetterMoveOutcome::Draw => "would have drawn",
        BetterMoveOutcome::Undecided => "holds",
        BetterMoveOutcome::Loss => "holds out for longer",
    }
}

/// Formats an amount of material, such as `a pawn` or `material worth 3 men`.
fn material_to_text(game: &GameEntry, pawns: u32) -> String {
    let (unit, units) = match game.info.id {
        "chess" => ("pawn", "pawns"),
        _ => ("man", "men"),
    };
    match pawns {
        1 => format!("a {unit}"),
        _ => format!("material worth {pawns} {units}"),
    }
}
