//! The scripted game that is played in all matches, with the expected content of each event.

use anyhow::bail;

/// A draw: five marks of `x` and four of `o`, without a line.
const DRAWN_GAME: [&str; 9] = ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"];

/// Moves of a game that `x` wins with three marks on the first file.
const WON_GAME: [&str; 5] = ["a1", "b1", "a2", "b2", "a3"];

/// A complete game of tic-tac-toe.
#[derive(Debug)]
pub(crate) struct GameScript {
    pub(crate) plies: Vec<ScriptedPly>,
}

/// A ply, and the expected state after it.
#[derive(Debug)]
pub(crate) struct ScriptedPly {
    pub(crate) m: &'static str,
    pub(crate) position: String,
    /// Seat to move next, or `None` if the game is over.
    pub(crate) turn: Option<u64>,
    /// Number of legal moves after the ply.
    pub(crate) legal_move_count: usize,
}

impl GameScript {
    /// Returns the scripted game with `plies` plies, which must be 5 or 9.
    pub(crate) fn new(plies: usize) -> anyhow::Result<Self> {
        let moves: &[&'static str] = match plies {
            5 => &WON_GAME,
            9 => &DRAWN_GAME,
            _ => bail!("invalid --plies {plies}: expected 5 or 9"),
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

/// Returns the byte index of a square in the position text, which lists the ranks from the highest
/// down, separated by slashes.
fn square_index(square: &str) -> usize {
    let square = square.as_bytes();
    usize::from(b'3' - square[1]) * 4 + usize::from(square[0] - b'a')
}
