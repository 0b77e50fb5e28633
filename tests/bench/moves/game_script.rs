//! The game that everybody plays, with what is to be told of each ply.

use anyhow::bail;

/// Five marks for `x`, four for `o`, and no line.
const DRAWN_GAME: [&str; 9] = ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"];

/// The first file for `x`.
const WON_GAME: [&str; 5] = ["a1", "b1", "a2", "b2", "a3"];

/// A game of tic-tac-toe from the first ply to the last.
#[derive(Debug)]
pub(crate) struct GameScript {
    pub(crate) plies: Vec<ScriptedPly>,
}

/// One ply, and how things stand after it.
#[derive(Debug)]
pub(crate) struct ScriptedPly {
    pub(crate) m: &'static str,
    pub(crate) position: String,
    /// The seat that moves next, if the game goes on.
    pub(crate) turn: Option<u64>,
    /// How many moves there are then.
    pub(crate) legal_move_count: usize,
}

impl GameScript {
    /// The game of this length.
    pub(crate) fn new(plies: usize) -> anyhow::Result<Self> {
        let moves: &[&'static str] = match plies {
            5 => &WON_GAME,
            9 => &DRAWN_GAME,
            _ => bail!("games have 5 or 9 plies"),
        };
        let mut squares = b".../.../...".to_owned();
        let plies = moves.iter().enumerate().map(|(ply, &m)| {
            squares[square_index(m)] = b"xo"[ply % 2];
            let is_ongoing = ply + 1 < moves.len();
            ScriptedPly {
                m,
                position: String::from_utf8_lossy(&squares).into_owned(),
                turn: is_ongoing.then_some((ply as u64 + 1) % 2),
                legal_move_count: if is_ongoing { 9 - (ply + 1) } else { 0 },
            }
        });
        Ok(Self {
            plies: plies.collect(),
        })
    }
}

/// Where a square is in a position: the highest rank comes first, and a slash ends a rank.
fn square_index(square: &str) -> usize {
    let square = square.as_bytes();
    usize::from(b'3' - square[1]) * 4 + usize::from(square[0] - b'a')
}
