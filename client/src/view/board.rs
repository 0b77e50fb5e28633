//! Draws a board from the text of its position. Knows squares, no rules.

use plyhouse::protocol::{GameSummary, Snapshot};

use super::paint::{self, FAINT, LAST, LINE, PLAIN, paint};
use crate::customs::Customs;
use crate::harmless::{harmless, shown};

/// The most files and ranks that are drawn: there are 26 letters, and terminals have an end.
const SIDE_MAX: usize = 26;

/// From this many ranks on, no line is drawn between them, so that the board fits a small screen.
const OPEN_RANKS: usize = 5;

/// A square by file and rank, both counted from 0 at the lower left.
type Square = (usize, usize);

/// The lines of the board: files named above and ranks on the left, the last move in brackets, a
/// winning line in stars, so that both are seen without colour too. A position that is no such board is shown as
/// the text that it is.
pub(crate) fn board(match_now: &Snapshot, game: Option<&GameSummary>) -> Vec<String> {
    let size = game.and_then(|game| {
        let side = |n: u64| {
            usize::try_from(n)
                .ok()
                .filter(|n| (1..=SIDE_MAX).contains(n))
        };
        Some((side(game.files)?, side(game.ranks)?))
    });
    let ranks = size.and_then(|(files, ranks)| read_ranks(&match_now.position, files, ranks));
    let Some(ranks) = ranks else {
        return vec![harmless(&match_now.position)];
    };
    Drawing::new(match_now, game, ranks).lines()
}

/// Reads FEN-like ranks, the highest first: a character a square, `.` or a number of squares for
/// empty ones. What follows after a space is not the board.
fn read_ranks(position: &str, files: usize, ranks: usize) -> Option<Vec<Vec<char>>> {
    let board = position.split(' ').next()?;
    let read: Vec<Vec<char>> = board
        .split('/')
        .take(ranks + 1)
        .map(|rank| read_rank(rank, files))
        .collect();
    (read.len() == ranks && read.iter().all(|rank| rank.len() == files)).then_some(read)
}

/// Reads one rank; one that is too long comes out longer than `files`, and no longer than that.
fn read_rank(rank: &str, files: usize) -> Vec<char> {
    let mut squares = Vec::with_capacity(files + 1);
    let mut run = 0;
    for c in rank.chars() {
        if let Some(digit) = c.to_digit(10) {
            run = (run * 10 + digit as usize).min(SIDE_MAX + 1);
            continue;
        }
        squares.resize(squares.len() + run, '.');
        run = 0;
        squares.push(shown(c));
        if squares.len() > files {
            return squares;
        }
    }
    squares.resize(squares.len() + run, '.');
    squares
}

struct Drawing {
    ranks: Vec<Vec<char>>,
    customs: Customs,
    sides: [String; 2],
    last: Option<Square>,
    line: Vec<Square>,
}

impl Drawing {
    fn new(match_now: &Snapshot, game: Option<&GameSummary>, ranks: Vec<Vec<char>>) -> Self {
        let customs = Customs::of(&match_now.game);
        let line = match_now
            .outcome
            .as_ref()
            .and_then(|outcome| outcome.line.as_ref());
        let mut drawing = Self {
            customs,
            sides: game.map_or_else(Default::default, |game| game.sides.clone()),
            last: None,
            line: line
                .into_iter()
                .flatten()
                .filter_map(|text| last_square(text))
                .collect(),
            ranks,
        };
        drawing.last = match_now.moves.last().and_then(|m| drawing.target(m));
        drawing
    }

    /// The square on which a move has put something.
    fn target(&self, m: &str) -> Option<Square> {
        if !self.customs.drops {
            return last_square(m);
        }
        let file = m.parse::<usize>().ok()?.checked_sub(1)?;
        let from_top = self
            .ranks
            .iter()
            .position(|rank| rank.get(file).is_some_and(|&c| c != '.'))?;
        Some((file, self.ranks.len() - 1 - from_top))
    }

    fn lines(&self) -> Vec<String> {
        let count = self.ranks.len();
        let files = self.ranks.first().map_or(0, Vec::len);
        let label = |rank: usize| format!("{:>2}", self.customs.rank_label(rank));
        let rule = |left: &str, cross: &str, right: &str| {
            let rule = vec!["───"; files].join(cross);
            format!("   {}", paint(FAINT, &format!("{left}{rule}{right}")))
        };
        let letters: String = (0..files)
            .map(|file| format!("  {} ", self.customs.file_label(file)))
            .collect();
        let letters = format!("   {}", paint(FAINT, letters.trim_end()));
        let mut lines = vec![letters, rule("╭", "┬", "╮")];
        for (from_top, squares) in self.ranks.iter().enumerate() {
            let rank = count - 1 - from_top;
            let bar = paint(FAINT, "│");
            let squares: Vec<String> = (0..)
                .zip(squares)
                .map(|(file, &c)| self.square((file, rank), c))
                .collect();
            lines.push(format!(
                "{} {bar}{}{bar}",
                paint(FAINT, &label(rank)),
                squares.join(&bar)
            ));
            if rank > 0 && count < OPEN_RANKS {
                lines.push(rule("├", "┼", "┤"));
            }
        }
        lines.push(rule("╰", "┴", "╯"));
        lines
    }

    fn square(&self, square: Square, c: char) -> String {
        let empty = c == '.';
        let seat = self.seat_of(c);
        let piece = seat.and_then(|seat| self.customs.piece(seat));
        let content = if empty { ' ' } else { piece.unwrap_or(c) }.to_string();
        let style = seat.map_or(PLAIN, |seat| paint::of_seat(seat, &self.sides[seat]));
        if self.line.contains(&square) {
            return paint(style | LINE.get_effects(), &format!("*{content}*"));
        }
        if self.last == Some(square) {
            let (open, close) = (paint(FAINT, "["), paint(FAINT, "]"));
            let style = style | LAST.get_effects();
            return format!("{open}{}{close}", paint(style, &content));
        }
        format!(
            " {} ",
            if empty {
                content
            } else {
                paint(style, &content)
            }
        )
    }

    /// Whose piece it is: that of the side whose name begins with it.
    fn seat_of(&self, piece: char) -> Option<usize> {
        self.sides.iter().position(|side| side.starts_with(piece))
    }
}

/// The square that a text ends with, as `e4` in `e2e4`.
fn last_square(text: &str) -> Option<Square> {
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (before, rank) = text.split_at(text.len() - digits);
    let file = before.bytes().last().filter(u8::is_ascii_lowercase)?;
    let rank = rank.parse::<usize>().ok()?.checked_sub(1)?;
    Some((usize::from(file - b'a'), rank))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{game, plain, snapshot};
    use super::*;

    fn check(match_now: &Snapshot, game: Option<&GameSummary>, expect: &str) {
        let drawn: Vec<String> = board(match_now, game)
            .iter()
            .map(|line| plain(line))
            .collect();
        assert_eq!(drawn.join("\n"), expect.trim_matches('\n'));
    }

    #[test]
    fn the_last_move_is_marked() {
        let mut now = snapshot("x../.o./...");
        now.moves = vec!["a3".to_owned(), "b2".to_owned()];
        check(
            &now,
            Some(&game("tic-tac-toe", 3, 3)),
            "
     a   b   c
   ╭───┬───┬───╮
 3 │ x │   │   │
   ├───┼───┼───┤
 2 │   │[o]│   │
   ├───┼───┼───┤
 1 │   │   │   │
   ╰───┴───┴───╯",
        );
    }

    #[test]
    fn a_winning_line_is_marked() {
        let mut now = snapshot("xoo/.x./..x");
        now.moves = vec!["c1".to_owned()];
        now.outcome = Some(plyhouse::protocol::Ending {
            winner: None,
            reason: plyhouse::protocol::Reason::Rules,
            detail: None,
            scores: None,
            line: Some(["a3", "b2", "c1"].map(str::to_owned).to_vec()),
        });
        check(
            &now,
            Some(&game("tic-tac-toe", 3, 3)),
            "
     a   b   c
   ╭───┬───┬───╮
 3 │*x*│ o │ o │
   ├───┼───┼───┤
 2 │   │*x*│   │
   ├───┼───┼───┤
 1 │   │   │*x*│
   ╰───┴───┴───╯",
        );
        let line = &board(&now, Some(&game("tic-tac-toe", 3, 3)))[2];
        let of_x = paint::of_seat(0, "x") | LINE.get_effects();
        assert!(line.contains(&paint(of_x, "*x*")), "{line:?}");
    }

    /// Discs are told apart by their form as well, and numbers name files alone.
    #[test]
    fn a_dropped_disc_is_marked_where_it_lies() {
        let mut now = snapshot("7/7/7/7/3y3/2rr3");
        now.game = "connect-four".to_owned();
        now.moves = vec!["4".to_owned()];
        check(
            &now,
            Some(&game("connect-four", 7, 6)),
            "
     1   2   3   4   5   6   7
   ╭───┬───┬───┬───┬───┬───┬───╮
   │   │   │   │   │   │   │   │
   │   │   │   │   │   │   │   │
   │   │   │   │   │   │   │   │
   │   │   │   │   │   │   │   │
   │   │   │   │[○]│   │   │   │
   │   │   │ ● │ ● │   │   │   │
   ╰───┴───┴───┴───┴───┴───┴───╯",
        );
        let lowest = &board(&now, Some(&game("connect-four", 7, 6)))[7];
        let red = paint(paint::of_seat(0, "red"), "●");
        assert!(lowest.contains(&red), "{lowest:?}");
    }

    #[test]
    fn a_line_of_discs_is_marked() {
        let mut now = snapshot("7/7/7/7/.yyy3/rrrr3");
        now.game = "connect-four".to_owned();
        now.moves = vec!["1".to_owned()];
        now.outcome = Some(plyhouse::protocol::Ending {
            winner: None,
            reason: plyhouse::protocol::Reason::Rules,
            detail: None,
            scores: None,
            line: Some(["a1", "b1", "c1", "d1"].map(str::to_owned).to_vec()),
        });
        let drawn = board(&now, Some(&game("connect-four", 7, 6)));
        assert_eq!(plain(&drawn[6]), "   │   │ ○ │ ○ │ ○ │   │   │   │");
        assert_eq!(plain(&drawn[7]), "   │*●*│*●*│*●*│*●*│   │   │   │");
    }

    #[test]
    fn what_is_no_board_is_shown_as_text() {
        let three = game("tic-tac-toe", 3, 3);
        let huge = game("tic-tac-toe", u64::MAX, 3);
        check(&snapshot("x../.o."), Some(&three), "x../.o.");
        check(&snapshot("x../.o./...."), Some(&three), "x../.o./....");
        check(
            &snapshot("x../.o./99999999999999999999"),
            Some(&three),
            "x../.o./99999999999999999999",
        );
        check(&snapshot("x\u{1b}/"), None, "x�/");
        check(&snapshot("x../.o./..."), Some(&huge), "x../.o./...");
    }

    #[test]
    fn moves_end_on_a_square() {
        assert_eq!(last_square("b2"), Some((1, 1)));
        assert_eq!(last_square("e2e4"), Some((4, 3)));
        assert_eq!(last_square("a10"), Some((0, 9)));
        for not in ["", "pass", "4", "a0", "é1", "a99999999999999999999999"] {
            assert_eq!(last_square(not), None, "{not:?}");
        }
    }
}
