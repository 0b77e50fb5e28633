//! What is said of a move, in English, for whoever has no words of their own.

use std::fmt::Write;

use super::{BetterOutcome, Finding, Judgement, Kind, Looked, Why};
use crate::catalog::GameEntry;

/// In one or two sentences, why the move was bad; nothing where it was not.
#[must_use]
pub fn english(game: &GameEntry, looked: &Looked) -> Option<String> {
    let (judgement, why) = looked.judged.as_ref()?;
    let mut text = headline(game, looked, *judgement, why);
    let other = game.info.sides[looked.turn.other().index()];
    for sign in &why.signs {
        text.push(' ');
        text.push_str(&seen(*sign, other));
    }
    let better = looked.san.as_ref().unwrap_or(&why.line);
    if better.len() > 1 {
        write!(text, " Better: {}.", better.join(" ")).expect("a text takes everything");
    }
    Some(text)
}

fn headline(game: &GameEntry, looked: &Looked, judgement: Judgement, why: &Why) -> String {
    let Why { plies, points, .. } = why;
    let sans = looked.san.as_ref();
    let better = sans.and_then(|sans| sans.first()).unwrap_or(&why.better);
    let m = why.played_san.as_ref().unwrap_or(&looked.m);
    let other = game.info.sides[looked.turn.other().index()];
    let by =
        |points: Option<u32>| points.map_or_else(String::new, |points| format!(" by {points}"));
    let within = |plies: Option<u32>| match plies {
        None => String::new(),
        Some(0 | 1) => " at once".to_owned(),
        Some(plies) => format!(" in {} moves", plies.div_ceil(2)),
    };
    let mut answer = why.san.as_ref().unwrap_or(&why.punished).join(" ");
    if why.goes_on && !answer.is_empty() {
        answer.push_str(" …");
    }
    match why.kind {
        Kind::MissesWin => {
            let (within, by) = (within(*plies), by(*points));
            let after = if answer.is_empty() {
                String::new()
            } else {
                format!(", after {answer}")
            };
            let end = stop(&after);
            // The chances are still good where that is all.
            let lost = match judgement {
                Judgement::Inaccuracy => "makes the win less sure",
                Judgement::Mistake | Judgement::Blunder => "lets the win go",
            };
            format!("{better} wins{within}{by}; {m} {lost}{after}{end}")
        }
        Kind::AllowsWin => {
            // From the answer on.
            let (within, by) = (
                within(plies.map(|plies| plies.saturating_sub(1))),
                by(*points),
            );
            let how = if answer.is_empty() {
                String::new()
            } else {
                format!(" by {answer}")
            };
            let keeps = kept(why.keeps);
            format!("After {m}, {other} wins{within}{by}{how}; {better} {keeps}.")
        }
        Kind::LosesPoints => {
            let (given, end) = (counted(points.unwrap_or(0)), stop(&answer));
            format!("{m} gives away {given}: {answer}{end} {better} was best.")
        }
        Kind::LosesMaterial => {
            let (lost, end) = (worth(game, why.material.unwrap_or(0)), stop(&answer));
            format!("{m} costs {lost}: {answer}{end} {better} does not.")
        }
        Kind::MissesMaterial => {
            let missed = worth(game, why.material.unwrap_or(0));
            format!("{m} does not win {missed}: {better} does.")
        }
        Kind::LosesGround => {
            let how = if answer.is_empty() {
                String::new()
            } else {
                format!(" after {answer}")
            };
            let own = game.info.sides[looked.turn.index()];
            let lost = match *points {
                None => format!("makes the chances of {own} worse"),
                Some(points) => format!("costs {own} about {}", counted(points)),
            };
            format!("{m} {lost}{how}; {better} was stronger.")
        }
    }
}

/// So many points, in words.
fn counted(points: u32) -> String {
    let s = if points == 1 { "" } else { "s" };
    format!("{points} point{s}")
}

/// What ends a sentence that ends so.
fn stop(text: &str) -> &'static str {
    if text.ends_with('…') { "" } else { "." }
}

/// What is to be seen on the board.
fn seen(sign: Finding, other: &str) -> String {
    match sign {
        Finding::Corner => format!("It lets {other} take a corner."),
        // There are some more than in place of them, so it is never one.
        Finding::Mobility { moves, instead } => {
            format!("It leaves {other} {moves} moves, not {instead}.")
        }
        Finding::Captured(1) => "A stone is captured.".to_owned(),
        Finding::Captured(stones) => format!("{stones} stones are captured."),
        Finding::Atari(1) => "A stone can be captured at once.".to_owned(),
        Finding::Atari(stones) => format!("{stones} stones can be captured at once."),
        Finding::Lost(1) => "A stone is as good as lost.".to_owned(),
        Finding::Lost(stones) => format!("{stones} stones are as good as lost."),
        Finding::Edge => "It stands alone on the edge, where it surrounds little.".to_owned(),
        Finding::Apart => "It stands apart from all other stones.".to_owned(),
        Finding::OpenThree => format!("It leaves {other} an open three."),
        Finding::Drawn => "The game is over with it: a draw.".to_owned(),
        Finding::TwoThreats => format!("It lets {other} threaten to win in two ways at once."),
    }
}

const fn kept(keeps: BetterOutcome) -> &'static str {
    match keeps {
        BetterOutcome::Win => "would have won",
        BetterOutcome::Draw => "would have drawn",
        BetterOutcome::Game => "holds",
        BetterOutcome::Loss => "holds out for longer",
    }
}

/// So much material, in words.
fn worth(game: &GameEntry, pawns: u32) -> String {
    let (unit, units) = match game.info.id {
        "chess" => ("pawn", "pawns"),
        _ => ("man", "men"),
    };
    match pawns {
        1 => format!("a {unit}"),
        _ => format!("the worth of {pawns} {units}"),
    }
}
