//! Draws a board from the text of its position. Knows squares, no rules.

use anstyle::{Effects, Style};
use plyhouse_protocol::{GameSummary, SeatNumber, Snapshot};

use super::paint::{self, FAINT, LAST, LINE, PLAIN, paint};
use super::position::{self, SIDE_MAX, Square, last_square, numbered, vertex};
use super::width;
use crate::customs::Customs;
use crate::harmless::sanitize;

/// From this many ranks on, no line is drawn between them, so that the board fits a small screen.
const OPEN_RANKS: usize = 5;

/// The lines of the board: files named above and ranks on the left, the last move in brackets, a
/// winning line in stars, so that both are seen without colour too. Where so many `columns` have no room
/// for it, it is drawn narrower. A position that is no such board is shown as the text that it is.
pub(crate) fn board(
    match_now: &Snapshot,
    game: Option<&GameSummary>,
    columns: Option<usize>,
) -> Vec<String> {
    let Some(drawing) = Drawing::of(match_now, game) else {
        return vec![sanitize(&match_now.position)];
    };
    let fits = |lines: &[String]| {
        let widest = lines.iter().map(|line| width(line)).max();
        columns.is_none_or(|columns| widest.unwrap_or(0) <= columns)
    };
    // On the narrowest only colours tell of the last move and of a line.
    let drawn = [Drawing::lines, Drawing::narrow, Drawing::narrowest].map(|draw| draw(&drawing));
    let widest = drawn.iter().find(|lines| fits(lines));
    widest.unwrap_or(&drawn[2]).clone()
}

/// A board as it is drawn, and where its squares stand in that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// The lines of the board.
    pub(crate) lines: Vec<String>,
    /// The squares as they are seen: from the top down, and from left to right.
    pub(crate) rows: Vec<Vec<Square>>,
    /// The column and the line of the first of them.
    first: (usize, usize),
    /// How many columns and lines it is from each to the next.
    step: (usize, usize),
}

impl Picture {
    /// Where a square stands: the column of what is on it, and the line.
    pub(crate) fn place(&self, square: Square) -> Option<(usize, usize)> {
        let (row, column) = self.seen_at(square)?;
        let along = self.first.0 + column * self.step.0;
        Some((along, self.first.1 + row * self.step.1))
    }

    /// In which row and which column a square is seen.
    pub(crate) fn seen_at(&self, square: Square) -> Option<(usize, usize)> {
        let mut rows = self.rows.iter().enumerate();
        rows.find_map(|(row, squares)| {
            let column = squares.iter().position(|other| *other == square)?;
            Some((row, column))
        })
    }

    /// How many columns and lines it takes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let widest = self.lines.iter().map(|line| width(line)).max();
        (widest.unwrap_or(0), self.lines.len())
    }
}

/// The board with the places of its squares; `ruled` with a line between the ranks, where the game's board
/// has lines between squares. Nothing for a position that is no such board.
pub(crate) fn picture(
    match_now: &Snapshot,
    game: Option<&GameSummary>,
    ruled: bool,
) -> Option<Picture> {
    Some(Drawing::of(match_now, game)?.picture(ruled))
}

struct Drawing {
    ranks: Vec<Vec<char>>,
    customs: Customs,
    /// Whether the board is seen from the second seat's side.
    turned: bool,
    sides: [String; 2],
    last: Option<Square>,
    line: Vec<Square>,
}

impl Drawing {
    /// How a position is drawn; nothing where it is no board of the game's size.
    fn of(match_now: &Snapshot, game: Option<&GameSummary>) -> Option<Self> {
        let summary = game?;
        let side = |n: u64| {
            let n = usize::try_from(n).ok();
            n.filter(|n| (1..=SIDE_MAX).contains(n))
        };
        let (files, ranks) = (side(summary.files)?, side(summary.ranks)?);
        let customs = Customs::of(&match_now.game);
        let ranks = position::read(customs, &match_now.position, files, ranks)?;
        Some(Self::new(match_now, game, customs, ranks))
    }

    fn new(
        match_now: &Snapshot,
        game: Option<&GameSummary>,
        customs: Customs,
        ranks: Vec<Vec<char>>,
    ) -> Self {
        let line = match_now
            .outcome
            .as_ref()
            .and_then(|outcome| outcome.line.as_ref());
        let mut drawing = Self {
            customs,
            turned: customs.faces() && match_now.you == Some(SeatNumber(1)),
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
        match self.customs {
            Customs::ConnectFour => {}
            Customs::Draughts => return m.rsplit(['-', 'x']).next().and_then(numbered),
            Customs::Go => return vertex(m),
            Customs::TicTacToe
            | Customs::Othello
            | Customs::Chess
            | Customs::Gomoku
            | Customs::Other => return last_square(m),
        }
        let file = m.parse::<usize>().ok()?.checked_sub(1)?;
        let from_top = self
            .ranks
            .iter()
            .position(|rank| rank.get(file).is_some_and(|&c| c != '.'))?;
        Some((file, self.ranks.len() - 1 - from_top))
    }

    /// Without lines between the squares, which have a column each, and one between.
    fn narrow(&self) -> Vec<String> {
        self.without_lines(" ")
    }

    /// With nothing between the squares.
    fn narrowest(&self) -> Vec<String> {
        self.without_lines("")
    }

    fn without_lines(&self, gap: &str) -> Vec<String> {
        let (files, width) = (self.files(), self.label_width());
        let letters = files.iter().map(|&file| self.customs.file_label(file));
        let letters: Vec<String> = letters.map(String::from).collect();
        let letters = format!("{} {gap}{}", " ".repeat(width), letters.join(gap));
        let mut lines = Vec::new();
        if !letters.trim().is_empty() {
            lines.push(paint(FAINT, letters.trim_end()));
        }
        for rank in self.rows() {
            let label = format!("{:>width$}", self.customs.rank_label(rank, self.turned));
            let mut row = paint(FAINT, &label) + " ";
            // What stands before a square also stands after the one before it.
            let mut between = " ";
            for square in files.iter().map(|&file| (file, rank)) {
                let (signs, effects) = self.marks(square);
                let [open, close] = signs.unwrap_or([between, " "]);
                let (content, of_piece) = self.content(square, '·');
                if !gap.is_empty() {
                    row.push_str(open);
                }
                row.push_str(&paint(of_piece | effects, &content.to_string()));
                between = close;
            }
            if !gap.is_empty() {
                row.push_str(between);
            }
            lines.push(row);
        }
        lines
    }

    /// How many columns the widest name of a rank takes, at least two.
    fn label_width(&self) -> usize {
        let labels = self.rows();
        let labels = labels.map(|rank| self.customs.rank_label(rank, self.turned));
        labels.map(|label| label.len()).max().unwrap_or(0).max(2)
    }

    fn lines(&self) -> Vec<String> {
        self.picture(false).lines
    }

    /// With lines between the files, and between the ranks if these are few or it is wanted.
    fn picture(&self, ruled: bool) -> Picture {
        let count = self.ranks.len();
        let files = self.files();
        let width = self.label_width();
        let margin = " ".repeat(width + 1);
        // Where lines cross nothing stands between the squares.
        let crosses = self.customs.crosses();
        let rule = |left: &str, cross: &str, right: &str| {
            let rule = vec!["───"; files.len()].join(if crosses { "" } else { cross });
            format!("{margin}{}", paint(FAINT, &format!("{left}{rule}{right}")))
        };
        let letters = files.iter().map(|&file| self.customs.file_label(file));
        let letters: Vec<String> = letters.map(|letter| format!(" {letter} ")).collect();
        let letters = format!("{margin} {}", letters.join(if crosses { "" } else { " " }));
        let ruled = count < OPEN_RANKS || ruled && !crosses;
        let mut lines = vec![rule("╭", "┬", "╮")];
        if !letters.trim().is_empty() {
            lines.insert(0, paint(FAINT, letters.trim_end()));
        }
        // After the bar and the space before what stands there.
        let first = (width + 3, lines.len());
        for (row, rank) in self.rows().enumerate() {
            let squares: Vec<String> = files
                .iter()
                .map(|&file| self.square((file, rank)))
                .collect();
            let label = format!("{:>width$}", self.customs.rank_label(rank, self.turned));
            let bar = paint(FAINT, "│");
            let squares = squares.join(if crosses { "" } else { &bar });
            lines.push(format!("{} {bar}{squares}{bar}", paint(FAINT, &label)));
            if row + 1 < count && ruled {
                lines.push(rule("├", "┼", "┤"));
            }
        }
        lines.push(rule("╰", "┴", "╯"));
        let row = |rank| files.iter().map(|&file| (file, rank)).collect();
        Picture {
            lines,
            rows: self.rows().map(row).collect(),
            first,
            step: (if crosses { 3 } else { 4 }, if ruled { 2 } else { 1 }),
        }
    }

    /// The files from left to right.
    fn files(&self) -> Vec<usize> {
        let count = self.ranks.first().map_or(0, Vec::len);
        if self.turned {
            (0..count).rev().collect()
        } else {
            (0..count).collect()
        }
    }

    /// The ranks from the top down.
    fn rows(&self) -> impl Iterator<Item = usize> {
        let count = self.ranks.len();
        let rises = self.turned == self.customs.downwards();
        (0..count).map(move |row| if rises { count - 1 - row } else { row })
    }

    /// What stands there.
    fn at(&self, (file, rank): Square) -> char {
        let row = self.ranks.len().checked_sub(rank + 1);
        let row = row.and_then(|row| self.ranks.get(row));
        row.and_then(|row| row.get(file)).copied().unwrap_or('.')
    }

    /// What is drawn on a square, and how: `empty` where nothing stands.
    fn content(&self, square: Square, empty: char) -> (char, Style) {
        let c = self.at(square);
        if c == '.' {
            return (empty, FAINT);
        }
        let (seat, drawn) = match self.customs.figure(c) {
            Some((seat, figure)) => (Some(seat), figure),
            None => (self.seat_of(c), c),
        };
        let style = seat.map_or(PLAIN, |seat| paint::of_seat(seat, &self.sides[seat]));
        (drawn, style)
    }

    /// What stands on both sides of a square that is marked, and how it is drawn.
    fn marks(&self, square: Square) -> (Option<[&'static str; 2]>, Effects) {
        if self.line.contains(&square) {
            return (Some(["*", "*"]), LINE.get_effects());
        }
        if self.last == Some(square) {
            return (Some(["[", "]"]), LAST.get_effects());
        }
        (None, Effects::new())
    }

    fn square(&self, square: Square) -> String {
        let empty = if self.customs.crosses() { '·' } else { ' ' };
        let (content, style) = self.content(square, empty);
        let content = content.to_string();
        if self.line.contains(&square) {
            return paint(style | LINE.get_effects(), &format!("*{content}*"));
        }
        if self.last == Some(square) {
            let (open, close) = (paint(FAINT, "["), paint(FAINT, "]"));
            let style = style | LAST.get_effects();
            return format!("{open}{}{close}", paint(style, &content));
        }
        if content == " " {
            return "   ".to_owned();
        }
        format!(" {} ", paint(style, &content))
    }

    /// Whose piece it is: that of the side whose name begins with it.
    fn seat_of(&self, piece: char) -> Option<usize> {
        self.sides.iter().position(|side| side.starts_with(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{game, plain, snapshot};
    use super::*;

    fn check(match_now: &Snapshot, game: Option<&GameSummary>, expect: &str) {
        let drawn: Vec<String> = board(match_now, game, None)
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
        now.outcome = Some(plyhouse_protocol::Ending {
            winner: None,
            reason: Some(plyhouse_protocol::EndReason::Rules),
            detail: None,
            by: None,
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
        let line = &board(&now, Some(&game("tic-tac-toe", 3, 3)), None)[2];
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
        let lowest = &board(&now, Some(&game("connect-four", 7, 6)), None)[7];
        let red = paint(paint::of_seat(0, "red"), "●");
        assert!(lowest.contains(&red), "{lowest:?}");
    }

    #[test]
    fn a_line_of_discs_is_marked() {
        let mut now = snapshot("7/7/7/7/.yyy3/rrrr3");
        now.game = "connect-four".to_owned();
        now.moves = vec!["1".to_owned()];
        now.outcome = Some(plyhouse_protocol::Ending {
            winner: None,
            reason: Some(plyhouse_protocol::EndReason::Rules),
            detail: None,
            by: None,
            scores: None,
            line: Some(["a1", "b1", "c1", "d1"].map(str::to_owned).to_vec()),
        });
        let drawn = board(&now, Some(&game("connect-four", 7, 6)), None);
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

    fn of(
        id: &str,
        sides: [&str; 2],
        size: u64,
        position: &str,
        last: &str,
    ) -> (Snapshot, GameSummary) {
        let mut now = snapshot(position);
        id.clone_into(&mut now.game);
        now.moves = vec![last.to_owned()];
        let mut summary = game(id, size, size);
        summary.sides = sides.map(str::to_owned);
        (now, summary)
    }

    #[test]
    fn chess_is_seen_from_ones_own_side() {
        let fen = "r1bqk2r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4";
        let (mut now, summary) = of("chess", ["white", "black"], 8, fen, "e1g1");
        check(
            &now,
            Some(&summary),
            "
     a   b   c   d   e   f   g   h
   ╭───┬───┬───┬───┬───┬───┬───┬───╮
 8 │ ♜ │   │ ♝ │ ♛ │ ♚ │   │   │ ♜ │
 7 │ ♟ │ ♟ │ ♟ │ ♟ │   │ ♟ │ ♟ │ ♟ │
 6 │   │   │ ♞ │   │   │ ♞ │   │   │
 5 │   │   │   │   │ ♟ │   │   │   │
 4 │   │   │ ♗ │   │ ♙ │   │   │   │
 3 │   │   │   │   │   │ ♘ │   │   │
 2 │ ♙ │ ♙ │ ♙ │ ♙ │   │ ♙ │ ♙ │ ♙ │
 1 │ ♖ │ ♘ │ ♗ │ ♕ │   │ ♖ │[♔]│   │
   ╰───┴───┴───┴───┴───┴───┴───┴───╯",
        );
        now.you = Some(SeatNumber(1));
        let drawn: Vec<String> = board(&now, Some(&summary), None)
            .iter()
            .map(|l| plain(l))
            .collect();
        assert_eq!(drawn[0], "     h   g   f   e   d   c   b   a");
        assert_eq!(drawn[2], " 1 │   │[♔]│ ♖ │   │ ♕ │ ♗ │ ♘ │ ♖ │");
    }

    /// The numbers of its squares stand at the edge.
    #[test]
    fn draughts_is_drawn_by_numbers() {
        let position = "W:W21,22,K32:B1,K6:H0:F9";
        let (mut now, summary) = of("draughts", ["black", "white"], 8, position, "18x9x2x6");
        check(
            &now,
            Some(&summary),
            "
      ╭───┬───┬───┬───┬───┬───┬───┬───╮
32-29 │   │ ⛁ │   │   │   │   │   │   │
28-25 │   │   │   │   │   │   │   │   │
24-21 │   │   │   │   │   │ ⛀ │   │ ⛀ │
20-17 │   │   │   │   │   │   │   │   │
16-13 │   │   │   │   │   │   │   │   │
 12-9 │   │   │   │   │   │   │   │   │
  8-5 │   │   │   │   │   │[⛃]│   │   │
  4-1 │   │   │   │   │   │   │ ⛂ │   │
      ╰───┴───┴───┴───┴───┴───┴───┴───╯",
        );
        now.you = Some(SeatNumber(1));
        let drawn: Vec<String> = board(&now, Some(&summary), None)
            .iter()
            .map(|l| plain(l))
            .collect();
        assert_eq!(drawn[1], "  1-4 │   │ ⛂ │   │   │   │   │   │   │");
    }

    /// Its first rank lies on top, whoever looks.
    #[test]
    fn othello_is_drawn_downwards() {
        let position = "-------------------*-------**------*O--------------------------- O";
        let (mut now, summary) = of("othello", ["black", "white"], 8, position, "d3");
        now.you = Some(SeatNumber(1));
        let drawn: Vec<String> = board(&now, Some(&summary), None)
            .iter()
            .map(|l| plain(l))
            .collect();
        assert_eq!(drawn[2], " 1 │   │   │   │   │   │   │   │   │");
        assert_eq!(drawn[4], " 3 │   │   │   │[●]│   │   │   │   │");
        assert_eq!(drawn[6], " 5 │   │   │   │ ● │ ○ │   │   │   │");
    }

    #[test]
    fn stones_stand_on_crossings() {
        let position = "........./......w../........./........./....b..../.b......./........./........./......... b 0 0 0 3";
        let (now, summary) = of("go", ["black", "white"], 9, position, "B4");
        check(
            &now,
            Some(&summary),
            "
     A  B  C  D  E  F  G  H  J
   ╭───────────────────────────╮
 9 │ ·  ·  ·  ·  ·  ·  ·  ·  · │
 8 │ ·  ·  ·  ·  ·  ·  ○  ·  · │
 7 │ ·  ·  ·  ·  ·  ·  ·  ·  · │
 6 │ ·  ·  ·  ·  ·  ·  ·  ·  · │
 5 │ ·  ·  ·  ·  ●  ·  ·  ·  · │
 4 │ · [●] ·  ·  ·  ·  ·  ·  · │
 3 │ ·  ·  ·  ·  ·  ·  ·  ·  · │
 2 │ ·  ·  ·  ·  ·  ·  ·  ·  · │
 1 │ ·  ·  ·  ·  ·  ·  ·  ·  · │
   ╰───────────────────────────╯",
        );
    }

    #[test]
    fn a_large_board_fits_a_terminal() {
        let position = "15/15/15/15/15/15/15/5bbbbb5/6wwww5/15/15/15/15/15/15";
        let (now, summary) = of("gomoku", ["black", "white"], 15, position, "j8");
        let drawn: Vec<String> = board(&now, Some(&summary), None)
            .iter()
            .map(|l| plain(l))
            .collect();
        assert_eq!(
            drawn[9],
            " 8 │ ·  ·  ·  ·  ·  ●  ●  ●  ● [●] ·  ·  ·  ·  · │"
        );
        assert!(drawn.iter().all(|line| line.chars().count() <= 50));
    }

    fn check_narrow(now: &Snapshot, summary: &GameSummary, columns: usize, expect: &str) {
        let lines = board(now, Some(summary), Some(columns));
        let drawn: Vec<String> = lines
            .iter()
            .map(|line| plain(line).trim_end().to_owned())
            .collect();
        assert!(drawn.iter().all(|line| width(line) <= columns), "{drawn:?}");
        assert_eq!(drawn.join("\n"), expect.trim_matches('\n'));
    }

    #[test]
    fn a_board_that_has_no_room_is_drawn_narrower() {
        let position = "W:W21,22,K32:B1,K6:H0:F9";
        let (now, summary) = of("draughts", ["black", "white"], 8, position, "18x9x2x6");
        assert_eq!(width(&board(&now, Some(&summary), Some(39))[0]), 39);
        check_narrow(
            &now,
            &summary,
            38,
            "
32-29  · ⛁ · · · · · ·
28-25  · · · · · · · ·
24-21  · · · · · ⛀ · ⛀
20-17  · · · · · · · ·
16-13  · · · · · · · ·
 12-9  · · · · · · · ·
  8-5  · · · · ·[⛃]· ·
  4-1  · · · · · · ⛂ ·",
        );
        let position = "15/15/15/15/15/15/15/15/15/15/15/15/15/w14/bbbbb10";
        let (mut now, summary) = of("gomoku", ["black", "white"], 15, position, "e1");
        let last = |now: &Snapshot, columns| {
            let lines = board(now, Some(&summary), Some(columns));
            assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?}");
            plain(lines.last().expect("a rank")).trim_end().to_owned()
        };
        assert_eq!(last(&now, 34), " 1  ● ● ● ●[●]· · · · · · · · · ·");
        assert_eq!(last(&now, 33), " 1 ●●●●●··········");
        now.outcome = Some(plyhouse_protocol::Ending {
            winner: None,
            reason: Some(plyhouse_protocol::EndReason::Rules),
            detail: None,
            by: None,
            scores: None,
            line: Some(["a1", "b1", "c1", "d1", "e1"].map(str::to_owned).to_vec()),
        });
        assert_eq!(last(&now, 40), " 1 *●*●*●*●*●*· · · · · · · · · ·");
        let lines = board(&now, Some(&summary), Some(33));
        let of_line = paint::of_seat(0, "black") | LINE.get_effects();
        assert!(lines[15].contains(&paint(of_line, "●")), "{:?}", lines[15]);
    }
}
