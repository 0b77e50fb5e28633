//! Text output of the board, and the final score.

use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::GameInfo;

/// Komi in half points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Komi {
    half_points: i32,
}

/// Maximum absolute value of a komi in points. GTP requires an engine to accept even an extreme
/// komi, so the limit is far higher than the number of points on a board. A still larger komi is
/// rejected, because it could overflow the score.
const KOMI_MAX: f64 = 10_000.0;

impl From<u32> for Komi {
    fn from(points: u32) -> Self {
        let points = i32::try_from(points).expect("komi fits in i32");
        Self {
            half_points: 2 * points,
        }
    }
}

impl FromStr for Komi {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let points: f64 = text.parse().map_err(|_| ())?;
        // The range check also rejects NaN, because NaN is in no range.
        if !(-KOMI_MAX..=KOMI_MAX).contains(&points) {
            return Err(());
        }
        let halves = (2.0 * points).round();
        #[expect(clippy::cast_possible_truncation, reason = "it is small, and whole")]
        let halves = halves as i32;
        Ok(Self {
            half_points: halves,
        })
    }
}

/// Returns the final score as if both sides passed now. All stones on the board count as alive.
pub(super) fn final_score(pos: &dyn AnyPosition, komi: Komi, game_komi: u32) -> String {
    let mut ended = pos.clone_box();
    while ended.outcome().is_none() {
        ended
            .play(super::PASS_MOVE)
            .expect("a pass is always legal");
    }
    let scores = ended.ending().and_then(|ending| ending.scores);
    let [black, white] = scores.expect("the game is decided by counting");
    let points = |points| Komi::from(points).half_points;
    ScoreMargin(points(black) - (points(white) - points(game_komi)) - komi.half_points).to_string()
}

/// Black's lead in half points, negative if white leads.
struct ScoreMargin(i32);

impl fmt::Display for ScoreMargin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(halves) = *self;
        if halves == 0 {
            return f.write_str("0");
        }
        let winner = if halves > 0 { "B" } else { "W" };
        let size = halves.unsigned_abs();
        write!(f, "{winner}+{}", size / 2)?;
        f.write_str(if size.is_multiple_of(2) { "" } else { ".5" })
    }
}

/// Lists the stones that have the status requested with `final_status_list`. Each line lists the
/// stones in one row of the board. Returns `None` if the requested status is not `alive`, `dead` or
/// `seki`.
///
/// Under the rules of this engine, all stones on the board are alive.
pub(super) fn stones_by_status(
    words: &[&str],
    pos: &dyn AnyPosition,
    info: &GameInfo,
) -> Option<String> {
    match words {
        ["alive"] => {}
        ["dead" | "seki"] => return Some(String::new()),
        _ => return None,
    }
    let text = pos.to_string();
    let rows = text.split(' ').next().unwrap_or_default().split('/');
    let lines = rows.zip((1..=info.ranks).rev()).map(|(row, number)| {
        let stones = row
            .chars()
            .zip(column_letters())
            .filter(|(point, _)| *point != '.');
        let names: Vec<_> = stones
            .map(|(_, column)| format!("{column}{number}"))
            .collect();
        names.join(" ")
    });
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    Some(lines.join("\n"))
}

/// Returns the column letters of GTP, which skip I.
fn column_letters() -> impl Iterator<Item = char> {
    ('A'..='Z').filter(|column| *column != 'I')
}

/// Formats the board as text with coordinates. `X` is a black stone and `O` is a white stone.
pub(super) fn draw_board(pos: &dyn AnyPosition, info: &GameInfo) -> String {
    let columns: String = column_letters()
        .take(info.files.into())
        .flat_map(|column| [' ', column])
        .collect();
    let text = pos.to_string();
    let rows = text.split(' ').next().unwrap_or_default().split('/');
    let mut board = format!("\n  {columns}\n");
    for (row, number) in rows.zip((1..=info.ranks).rev()) {
        let _ = write!(board, "{number:>2}");
        for point in row.chars() {
            let stone = match point {
                'b' => 'X',
                'w' => 'O',
                _ => '.',
            };
            let _ = write!(board, " {stone}");
        }
        let _ = writeln!(board, " {number}");
    }
    board + "  " + &columns
}
