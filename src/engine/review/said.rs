//! The same in English, for whoever has no words of their own.

use std::fmt::Write;

use super::{Keeps, Kind, Looked, Why};
use crate::catalog::Entry;

/// In one or two sentences, why the move was bad; nothing where it was not.
#[must_use]
pub fn said(game: &Entry, looked: &Looked) -> Option<String> {
    let (_, why) = looked.judged.as_ref()?;
    let mut text = headline(game, looked, why);
    let write = if why.line.len() > 1 {
        let line = why.line.join(" ");
        write!(text, " Better: {line}.")
    } else {
        Ok(())
    };
    write.expect("a text takes everything");
    Some(text)
}

fn headline(game: &Entry, looked: &Looked, why: &Why) -> String {
    let Why {
        better,
        plies,
        points,
        ..
    } = why;
    let m = &looked.m;
    let other = game.info.sides[looked.turn.other().index()];
    let by =
        |points: Option<u32>| points.map_or_else(String::new, |points| format!(" by {points}"));
    let within = |plies: Option<u32>| match plies {
        None => String::new(),
        Some(0 | 1) => " at once".to_owned(),
        Some(plies) => format!(" in {} moves", plies.div_ceil(2)),
    };
    let answer = why.punished.join(" ");
    match why.kind {
        Kind::MissesWin => {
            let (within, by) = (within(*plies), by(*points));
            let after = if answer.is_empty() {
                String::new()
            } else {
                format!(", after {answer}")
            };
            format!("{better} wins{within}{by}; {m} lets the win go{after}.")
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
            let points = points.unwrap_or(0);
            let s = if points == 1 { "" } else { "s" };
            format!("{m} gives away {points} point{s}: {answer}. {better} was best.")
        }
        Kind::LosesMaterial => {
            let lost = why.material.unwrap_or(0);
            format!(
                "{m} costs {}: {answer}. {better} does not.",
                worth(game, lost)
            )
        }
        Kind::LosesGround => {
            let how = if answer.is_empty() {
                String::new()
            } else {
                format!(" after {answer}")
            };
            format!("{m} leaves {other} better placed{how}; {better} was stronger.")
        }
    }
}

const fn kept(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::Win => "would have won",
        Keeps::Draw => "would have drawn",
        Keeps::Game => "holds",
        Keeps::Loss => "holds out for longer",
    }
}

/// So much material, in words.
fn worth(game: &Entry, pawns: u32) -> String {
    let (unit, units) = match game.info.id {
        "chess" => ("pawn", "pawns"),
        _ => ("man", "men"),
    };
    match pawns {
        1 => format!("a {unit}"),
        _ => format!("the worth of {pawns} {units}"),
    }
}
