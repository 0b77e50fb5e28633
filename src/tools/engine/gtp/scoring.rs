//! Text output of the board, and the final score.

use std::fmt::Write as _;
use std::str::FromStr;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::GameInfo;

/// Komi in half points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Komi(i32);

/// Maximum absolute value of a komi in points. GTP requires an engine to accept even an extreme
/// komi, so the limit is far higher than the number of points on a board. A still larger komi is
/// rejected, because it could overflow the score.
const KOMI_MAX: f64 = 10_000.0;

impl From<u32> for Komi {
    fn from(points: u32) -> Self {
        Self(2 * i32::try_from(points).expect("komi fits in i32"))
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
        Ok(Self(halves))
    }
}

/// Returns the final score as if both sides passed now. All stones on the board count as alive.
pub(super) fn final_score(pos: &dyn AnyPosition, komi: Komi, game_komi: u32) -> String {
    let mut ended = pos.clone_box();
    while ended.outcome().is_none() {
        let passed = ended.play(super::PASS_MOVE);
        passed.expect("a pass is always legal");
    }
    let scores = ended.ending().and_then(|ending| ending.scores);
    let [black, white] = scores.expect("the game is decided by counting");
    let half_points = |points| Komi::from(points).0;
    let white_without_komi = half_points(white) - half_points(game_komi);
    format_margin(half_points(black) - white_without_komi - komi.0)
}

/// Formats Black's lead in half points, which is negative if White leads.
fn format_margin(half_points: i32) -> String {
    let points = f64::from(half_points.abs()) / 2.0;
    match half_points {
        0 => "0".to_owned(),
        1.. => format!("B+{points}"),
        _ => format!("W+{points}"),
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
        let points = row.chars().zip(column_letters());
        let stones = points.filter(|(point, _)| *point != '.');
        let names = stones.map(|(_, column)| format!("{column}{number}"));
        names.collect::<Vec<_>>().join(" ")
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
        let points = row.chars().flat_map(|point| match point {
            'b' => [' ', 'X'],
            'w' => [' ', 'O'],
            _ => [' ', '.'],
        });
        let points: String = points.collect();
        let _ = writeln!(board, "{number:>2}{points} {number}");
    }
    board + "  " + &columns
}
