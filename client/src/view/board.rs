//! Renders a board from the text of its position. This module knows the squares of a board, but not
//! the rules of any game.

use anstyle::{Effects, Style};
use plyhouse_protocol::{GameSummary, SeatNumber, Snapshot};

use super::position_parser;
use super::position_parser::{BOARD_SIDE_MAX, Square, draughts_square, last_square, parse_vertex};
use super::style;
use super::style::{FAINT, LAST_MOVE, PLAIN, WINNING_LINE, paint};
use super::text_width;
use crate::conventions::Conventions;
use crate::sanitize::sanitize;

/// Boards with at least this many ranks have no lines between the ranks by default. Such a board
/// fits a small screen.
const UNRULED_RANKS_MIN: usize = 5;

/// Renders the board, with labels above the files and on the left of the ranks.
///
/// The last move is in brackets and a winning line in asterisks, so both are visible without
/// colour. If the board is wider than `columns`, this function renders a narrower variant. If the
/// position is not a valid board, it returns the text of the position.
pub(crate) fn board_lines(
    snapshot: &Snapshot,
    game: Option<&GameSummary>,
    columns: Option<usize>,
) -> Vec<String> {
    let Some(drawing) = BoardRenderer::from_snapshot(snapshot, game) else {
        return vec![sanitize(&snapshot.position)];
    };
    let fits = |lines: &[String]| {
        let widest = lines.iter().map(|line| text_width(line)).max();
        columns.is_none_or(|columns| widest.unwrap_or(0) <= columns)
    };
    // In the narrowest variant of the board, only styles mark the last move and the winning line.
    let variants = [
        drawing.render(false).lines,
        drawing.unruled_lines(" "),
        drawing.unruled_lines(""),
    ];
    let widest = variants.iter().find(|lines| fits(lines));
    widest.unwrap_or(&variants[2]).clone()
}

/// Rendered board that can map each square to a place on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenderedBoard {
    pub(crate) lines: Vec<String>,
    /// Squares in screen order: from top to bottom, and from left to right.
    pub(crate) rows: Vec<Vec<Square>>,
    /// Column and line where the content of the first square is drawn.
    origin: (usize, usize),
    /// Distance between neighbouring squares, in columns and in lines.
    step: (usize, usize),
}

impl RenderedBoard {
    /// Returns the column and the line where the content of a square is drawn.
    pub(crate) fn screen_position(&self, square: Square) -> Option<(usize, usize)> {
        let (row, column) = self.grid_position(square)?;
        let screen_column = self.origin.0 + column * self.step.0;
        Some((screen_column, self.origin.1 + row * self.step.1))
    }

    /// Returns the row and the column of a square on the drawn board. Both are indices: row 0 is at
    /// the top, and column 0 is on the left.
    pub(crate) fn grid_position(&self, square: Square) -> Option<(usize, usize)> {
        let mut rows = self.rows.iter().enumerate();
        rows.find_map(|(row, squares)| {
            let column = squares.iter().position(|other| *other == square)?;
            Some((row, column))
        })
    }

    /// Returns the number of columns and lines of the rendered board.
    pub(crate) fn size(&self) -> (usize, usize) {
        let widest = self.lines.iter().map(|line| text_width(line)).max();
        (widest.unwrap_or(0), self.lines.len())
    }
}

pub(super) struct BoardRenderer {
    ranks: Vec<Vec<char>>,
    conventions: Conventions,
    /// Whether the board is drawn as the player in the second seat sees it.
    flipped: bool,
    sides: [String; 2],
    last_move: Option<Square>,
    winning_line: Vec<Square>,
}

impl BoardRenderer {
    /// Creates a renderer. Returns `None` if the position is not a board of the game's size.
    pub(super) fn from_snapshot(snapshot: &Snapshot, game: Option<&GameSummary>) -> Option<Self> {
        let game = game?;
        let side = |n: u64| {
            let n = usize::try_from(n).ok();
            n.filter(|n| (1..=BOARD_SIDE_MAX).contains(n))
        };
        let (files, ranks) = (side(game.files)?, side(game.ranks)?);
        let conventions = Conventions::for_game(&snapshot.game);
        let outcome = snapshot.outcome.iter();
        let line = outcome
            .filter_map(|outcome| outcome.line.as_ref())
            .flatten();
        let mut renderer = Self {
            ranks: position_parser::parse_board(conventions, &snapshot.position, files, ranks)?,
            conventions,
            flipped: conventions.flips_for_second_seat() && snapshot.you == Some(SeatNumber(1)),
            sides: game.sides.clone(),
            last_move: None,
            winning_line: line.filter_map(|text| last_square(text)).collect(),
        };
        renderer.last_move = snapshot.moves.last().and_then(|m| renderer.move_target(m));
        Some(renderer)
    }

    /// Returns the square where a move has put a piece.
    fn move_target(&self, move_text: &str) -> Option<Square> {
        match self.conventions {
            Conventions::ConnectFour => {
                let file = move_text.parse::<usize>().ok()?.checked_sub(1)?;
                let has_piece = |rank: &Vec<char>| rank.get(file).is_some_and(|&c| c != '.');
                let from_top = self.ranks.iter().position(has_piece)?;
                Some((file, self.ranks.len() - 1 - from_top))
            }
            Conventions::Draughts => draughts_square(move_text.rsplit(['-', 'x']).next()?),
            Conventions::Go => parse_vertex(move_text),
            _ => last_square(move_text),
        }
    }

    /// Renders the board without lines. Each square takes one column, and `gap` separates
    /// neighbouring squares. The gap is one space or empty.
    fn unruled_lines(&self, gap: &str) -> Vec<String> {
        let (files, width) = (self.files_left_to_right(), self.label_width());
        let letters = files.iter().map(|&file| self.conventions.file_label(file));
        let letters: Vec<String> = letters.map(String::from).collect();
        let letters = format!("{} {gap}{}", " ".repeat(width), letters.join(gap));
        let mut lines = Vec::new();
        if !letters.trim().is_empty() {
            lines.push(paint(FAINT, letters.trim_end()));
        }
        for rank in self.ranks_top_down() {
            let label = self.conventions.rank_label(rank, self.flipped);
            let label = paint(FAINT, &format!("{label:>width$}"));
            let mut row = label + " ";
            // The gap between two neighbouring squares is one column wide. If one of the squares is
            // marked, the gap shows its bracket or asterisk.
            let mut between = " ";
            for square in files.iter().map(|&file| (file, rank)) {
                let (marks, effects) = self.square_marks(square);
                let [open, close] = marks.unwrap_or([between, " "]);
                let (content, of_piece) = self.square_content(square, '·');
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

    /// Returns the width of the widest rank label, but at least two columns.
    fn label_width(&self) -> usize {
        let labels = self.ranks_top_down();
        let labels = labels.map(|rank| self.conventions.rank_label(rank, self.flipped));
        labels.map(|label| label.len()).max().unwrap_or(0).max(2)
    }

    /// Renders the board with a frame. In games that are played on crossings, no lines separate the
    /// files, and `ruled` is ignored. In other games, lines separate the files. Lines also separate
    /// the ranks if the board has few ranks or if `ruled` is set.
    pub(super) fn render(&self, ruled: bool) -> RenderedBoard {
        let count = self.ranks.len();
        let files = self.files_left_to_right();
        let width = self.label_width();
        let margin = " ".repeat(width + 1);
        // In games that are played on crossings, no lines separate the files.
        let on_crossings = self.conventions.is_played_on_crossings();
        let between_files = |text| if on_crossings { "" } else { text };
        let rule = |left: &str, cross: &'static str, right: &str| {
            let rule = vec!["───"; files.len()].join(between_files(cross));
            format!("{margin}{}", paint(FAINT, &format!("{left}{rule}{right}")))
        };
        let letters = files.iter().map(|&file| self.conventions.file_label(file));
        let letters: Vec<String> = letters.map(|letter| format!(" {letter} ")).collect();
        let letters = format!("{margin} {}", letters.join(between_files(" ")));
        let ruled = count < UNRULED_RANKS_MIN || ruled && !on_crossings;
        let mut lines = vec![rule("╭", "┬", "╮")];
        if !letters.trim().is_empty() {
            lines.insert(0, paint(FAINT, letters.trim_end()));
        }
        // The rank label, the left border and two spaces precede the content of the first square.
        let first = (width + 3, lines.len());
        for (row, rank) in self.ranks_top_down().enumerate() {
            let squares: Vec<String> = files
                .iter()
                .map(|&file| self.render_square((file, rank)))
                .collect();
            let label = self.conventions.rank_label(rank, self.flipped);
            let label = paint(FAINT, &format!("{label:>width$}"));
            let bar = paint(FAINT, "│");
            let squares = squares.join(if on_crossings { "" } else { &bar });
            lines.push(format!("{label} {bar}{squares}{bar}"));
            if row + 1 < count && ruled {
                lines.push(rule("├", "┼", "┤"));
            }
        }
        lines.push(rule("╰", "┴", "╯"));
        let row = |rank| files.iter().map(|&file| (file, rank)).collect();
        RenderedBoard {
            lines,
            rows: self.ranks_top_down().map(row).collect(),
            origin: first,
            step: (if on_crossings { 3 } else { 4 }, if ruled { 2 } else { 1 }),
        }
    }

    fn files_left_to_right(&self) -> Vec<usize> {
        let count = self.ranks.first().map_or(0, Vec::len);
        if self.flipped {
            (0..count).rev().collect()
        } else {
            (0..count).collect()
        }
    }

    fn ranks_top_down(&self) -> impl Iterator<Item = usize> {
        let count = self.ranks.len();
        let ascending = self.flipped == self.conventions.has_first_rank_on_top();
        (0..count).map(move |row| if ascending { count - 1 - row } else { row })
    }

    /// Returns the piece on a square, or `.` if it is empty.
    fn piece_at(&self, (file, rank): Square) -> char {
        let row = self.ranks.len().checked_sub(rank + 1);
        let row = row.and_then(|row| self.ranks.get(row));
        row.and_then(|row| row.get(file)).copied().unwrap_or('.')
    }

    /// Returns the character to draw on a square, and its style. An empty square is drawn as
    /// `empty`.
    fn square_content(&self, square: Square, empty: char) -> (char, Style) {
        let c = self.piece_at(square);
        if c == '.' {
            return (empty, FAINT);
        }
        let (seat, drawn) = match self.conventions.piece_symbol(c) {
            Some((seat, figure)) => (Some(seat), figure),
            None => (self.seat_of_piece(c), c),
        };
        let style = seat.map_or(PLAIN, |seat| style::seat_style(seat, &self.sides[seat]));
        (drawn, style)
    }

    /// Returns the marks to the left and right of a square, and the text effects of the square.
    /// Only the target square of the last move and the squares of the winning line have marks.
    fn square_marks(&self, square: Square) -> (Option<[&'static str; 2]>, Effects) {
        if self.winning_line.contains(&square) {
            return (Some(["*", "*"]), WINNING_LINE.get_effects());
        }
        if self.last_move == Some(square) {
            return (Some(["[", "]"]), LAST_MOVE.get_effects());
        }
        (None, Effects::new())
    }

    fn render_square(&self, square: Square) -> String {
        let empty = if self.conventions.is_played_on_crossings() {
            '·'
        } else {
            ' '
        };
        let (content, style) = self.square_content(square, empty);
        let content = content.to_string();
        if self.winning_line.contains(&square) {
            return paint(style | WINNING_LINE.get_effects(), &format!("*{content}*"));
        }
        if self.last_move == Some(square) {
            let (open, close) = (paint(FAINT, "["), paint(FAINT, "]"));
            let style = style | LAST_MOVE.get_effects();
            return format!("{open}{}{close}", paint(style, &content));
        }
        if content == " " {
            return "   ".to_owned();
        }
        format!(" {} ", paint(style, &content))
    }

    /// Returns the seat whose side name begins with this letter.
    fn seat_of_piece(&self, piece: char) -> Option<usize> {
        self.sides.iter().position(|side| side.starts_with(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{game_summary, snapshot, strip_style};
    use super::*;

    fn check_board(snapshot: &Snapshot, game: Option<&GameSummary>, expect: &str) {
        let drawn: Vec<String> = board_lines(snapshot, game, None)
            .iter()
            .map(|line| strip_style(line))
            .collect();
        assert_eq!(drawn.join("\n"), expect.trim_matches('\n'));
    }

    #[test]
    fn last_move_is_bracketed() {
        let mut now = snapshot("x../.o./...");
        now.moves = vec!["a3".to_owned(), "b2".to_owned()];
        check_board(
            &now,
            Some(&game_summary("tic-tac-toe", 3, 3)),
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
    fn winning_line_is_starred_and_highlighted() {
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
        check_board(
            &now,
            Some(&game_summary("tic-tac-toe", 3, 3)),
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
        let line = &board_lines(&now, Some(&game_summary("tic-tac-toe", 3, 3)), None)[2];
        let of_x = style::seat_style(0, "x") | WINNING_LINE.get_effects();
        assert!(line.contains(&paint(of_x, "*x*")), "{line:?}");
    }

    /// Checks that brackets mark the last disc, and that the discs of the two seats differ in shape
    /// and in colour. In Connect Four, only files have labels.
    #[test]
    fn last_dropped_disc_is_bracketed() {
        let mut now = snapshot("7/7/7/7/3y3/2rr3");
        now.game = "connect-four".to_owned();
        now.moves = vec!["4".to_owned()];
        check_board(
            &now,
            Some(&game_summary("connect-four", 7, 6)),
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
        let lowest = &board_lines(&now, Some(&game_summary("connect-four", 7, 6)), None)[7];
        let red = paint(style::seat_style(0, "red"), "●");
        assert!(lowest.contains(&red), "{lowest:?}");
    }

    #[test]
    fn winning_discs_are_starred() {
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
        let drawn = board_lines(&now, Some(&game_summary("connect-four", 7, 6)), None);
        assert_eq!(strip_style(&drawn[6]), "   │   │ ○ │ ○ │ ○ │   │   │   │");
        assert_eq!(strip_style(&drawn[7]), "   │*●*│*●*│*●*│*●*│   │   │   │");
    }

    #[test]
    fn invalid_board_position_is_shown_as_text() {
        let three = game_summary("tic-tac-toe", 3, 3);
        let huge = game_summary("tic-tac-toe", u64::MAX, 3);
        check_board(&snapshot("x../.o."), Some(&three), "x../.o.");
        check_board(&snapshot("x../.o./...."), Some(&three), "x../.o./....");
        check_board(
            &snapshot("x../.o./99999999999999999999"),
            Some(&three),
            "x../.o./99999999999999999999",
        );
        check_board(&snapshot("x\u{1b}/"), None, "x�/");
        check_board(&snapshot("x../.o./..."), Some(&huge), "x../.o./...");
    }

    fn snapshot_with_game(
        id: &str,
        sides: [&str; 2],
        size: u64,
        position: &str,
        last: &str,
    ) -> (Snapshot, GameSummary) {
        let mut now = snapshot(position);
        id.clone_into(&mut now.game);
        now.moves = vec![last.to_owned()];
        let mut summary = game_summary(id, size, size);
        summary.sides = sides.map(str::to_owned);
        (now, summary)
    }

    #[test]
    fn chess_board_is_shown_from_own_side() {
        let fen = "r1bqk2r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4";
        let (mut now, summary) = snapshot_with_game("chess", ["white", "black"], 8, fen, "e1g1");
        check_board(
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
        let drawn: Vec<String> = board_lines(&now, Some(&summary), None)
            .iter()
            .map(|l| strip_style(l))
            .collect();
        assert_eq!(drawn[0], "     h   g   f   e   d   c   b   a");
        assert_eq!(drawn[2], " 1 │   │[♔]│ ♖ │   │ ♕ │ ♗ │ ♘ │ ♖ │");
    }

    #[test]
    fn draughts_board_is_labelled_with_square_numbers() {
        let position = "W:W21,22,K32:B1,K6:H0:F9";
        let (mut now, summary) =
            snapshot_with_game("draughts", ["black", "white"], 8, position, "18x9x2x6");
        check_board(
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
        let drawn: Vec<String> = board_lines(&now, Some(&summary), None)
            .iter()
            .map(|l| strip_style(l))
            .collect();
        assert_eq!(drawn[1], "  1-4 │   │ ⛂ │   │   │   │   │   │   │");
    }

    #[test]
    fn othello_first_rank_is_on_top_for_both_seats() {
        let position = "-------------------*-------**------*O--------------------------- O";
        let (mut now, summary) =
            snapshot_with_game("othello", ["black", "white"], 8, position, "d3");
        now.you = Some(SeatNumber(1));
        let drawn: Vec<String> = board_lines(&now, Some(&summary), None)
            .iter()
            .map(|l| strip_style(l))
            .collect();
        assert_eq!(drawn[2], " 1 │   │   │   │   │   │   │   │   │");
        assert_eq!(drawn[4], " 3 │   │   │   │[●]│   │   │   │   │");
        assert_eq!(drawn[6], " 5 │   │   │   │ ● │ ○ │   │   │   │");
    }

    #[test]
    fn go_stones_are_drawn_on_line_crossings() {
        let position = "........./......w../........./........./....b..../.b......./........./........./......... b 0 0 0 3";
        let (now, summary) = snapshot_with_game("go", ["black", "white"], 9, position, "B4");
        check_board(
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
    fn large_board_fits_in_50_columns() {
        let position = "15/15/15/15/15/15/15/5bbbbb5/6wwww5/15/15/15/15/15/15";
        let (now, summary) = snapshot_with_game("gomoku", ["black", "white"], 15, position, "j8");
        let drawn: Vec<String> = board_lines(&now, Some(&summary), None)
            .iter()
            .map(|l| strip_style(l))
            .collect();
        assert_eq!(
            drawn[9],
            " 8 │ ·  ·  ·  ·  ·  ●  ●  ●  ● [●] ·  ·  ·  ·  · │"
        );
        assert!(drawn.iter().all(|line| line.chars().count() <= 50));
    }

    fn check_board_in_columns(now: &Snapshot, summary: &GameSummary, columns: usize, expect: &str) {
        let lines = board_lines(now, Some(summary), Some(columns));
        let drawn: Vec<String> = lines
            .iter()
            .map(|line| strip_style(line).trim_end().to_owned())
            .collect();
        assert!(
            drawn.iter().all(|line| text_width(line) <= columns),
            "{drawn:?}"
        );
        assert_eq!(drawn.join("\n"), expect.trim_matches('\n'));
    }

    #[test]
    fn board_is_drawn_narrower_when_columns_are_few() {
        let position = "W:W21,22,K32:B1,K6:H0:F9";
        let (now, summary) =
            snapshot_with_game("draughts", ["black", "white"], 8, position, "18x9x2x6");
        assert_eq!(
            text_width(&board_lines(&now, Some(&summary), Some(39))[0]),
            39
        );
        check_board_in_columns(
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
        let (mut now, summary) =
            snapshot_with_game("gomoku", ["black", "white"], 15, position, "e1");
        let last = |now: &Snapshot, columns| {
            let lines = board_lines(now, Some(&summary), Some(columns));
            assert!(
                lines.iter().all(|line| text_width(line) <= columns),
                "{lines:?}"
            );
            strip_style(lines.last().expect("board has at least one line"))
                .trim_end()
                .to_owned()
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
        let lines = board_lines(&now, Some(&summary), Some(33));
        let of_line = style::seat_style(0, "black") | WINNING_LINE.get_effects();
        assert!(lines[15].contains(&paint(of_line, "●")), "{:?}", lines[15]);
    }
}
