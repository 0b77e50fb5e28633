//! Loads Go records in the Smart Game Format (SGF): the set-up, the moves of the main line and the
//! komi.

use std::fs::File;
use std::io::Read;

use plyhouse_engine::game::Seat;

use super::PASS_MOVE;
use super::scoring::Komi;
use super::sgf_syntax;
use super::sgf_syntax::{Node, Property, excerpt};

/// Maximum file size in bytes, more than any game on a 9x9 board needs.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Board size that SGF defines for a record without an `SZ` property.
const SIZE_DEFAULT: u32 = 19;

/// Main line and komi of a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GoRecord {
    pub(super) komi: Option<Komi>,
    /// Set-ups and moves in order. Consecutive set-ups are merged.
    pub(super) steps: Vec<Step>,
}

/// A step of a game record: a set-up or a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    SetUp(SetUp),
    /// A move and its vertex in GTP notation.
    Move(Seat, String),
}

/// A set-up: a change of the board other than a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SetUp {
    /// Effect of the set-up on each point of the board, listed row by row from the top. `None`
    /// leaves the point unchanged, and `Some(None)` empties it.
    points: Vec<Option<Option<Seat>>>,
    /// Number of points in a row.
    size: u8,
    /// Side to move, if the record states it.
    pub(super) turn: Option<Seat>,
}

impl SetUp {
    /// Applies the set-up to a board and returns the resulting position in wire notation. The
    /// initial position is returned as an empty string. `rows` are the rows of the board before the
    /// set-up, in wire notation.
    ///
    /// The record does not say which moves led to the set-up. The position therefore gets the
    /// smallest ply count that is possible for its stones.
    ///
    /// If the side that moved last has no stones, the position states that one stone of that side
    /// was captured. Without a captured stone, the position would imply that the last move was a
    /// pass. The next pass would then be the second in a row and end the game.
    pub(super) fn to_position(&self, rows: &str, turn: Seat) -> String {
        let old_points = rows.chars().filter(|point| *point != '/');
        let points: Vec<char> = old_points
            .zip(&self.points)
            .map(|(before, after)| match after {
                None => before,
                Some(None) => '.',
                Some(Some(seat)) => stone_letter(*seat),
            })
            .collect();
        let mut stone_counts = Seat::ALL.map(|seat| {
            let is_own = |point: &&char| **point == stone_letter(seat);
            points.iter().filter(is_own).count()
        });
        if stone_counts == [0, 0] && turn == Seat::First {
            return String::new();
        }
        let mut captured = [0, 0];
        let last_mover = turn.other();
        if stone_counts[last_mover.index()] == 0 {
            stone_counts[last_mover.index()] = 1;
            captured[turn.index()] = 1;
        }
        let [black, white] = stone_counts;
        let plies = match turn {
            Seat::First => 2 * black.max(white),
            Seat::Second => 2 * (black - 1).max(white) + 1,
        };
        let rows = points.chunks(self.size.into());
        let rows: Vec<String> = rows.map(|row| row.iter().collect()).collect();
        let [captured_by_black, by_white] = captured;
        format!(
            "{} {} {captured_by_black} {by_white} 0 {plies}",
            rows.join("/"),
            stone_letter(turn)
        )
    }

    /// Sets the content of a point.
    ///
    /// # Errors
    ///
    /// Returns an error if the same node has already set the point to a different content.
    fn set_point(&mut self, [column, row]: [u8; 2], content: Option<Seat>) -> Result<(), String> {
        let index = usize::from(row) * usize::from(self.size) + usize::from(column);
        let point = &mut self.points[index];
        if point.is_some_and(|before| before != content) {
            let vertex = to_vertex([column, row], self.size);
            return Err(format!("a node has conflicting set-ups of {vertex}"));
        }
        *point = Some(content);
        Ok(())
    }

    /// Merges a later set-up into this set-up. If both set-ups define the same point or the side to
    /// move, the later set-up wins.
    fn overlay(&mut self, later: Self) {
        for (point, after) in self.points.iter_mut().zip(later.points) {
            *point = after.or(*point);
        }
        self.turn = later.turn.or(self.turn);
    }
}

impl GoRecord {
    /// Loads a record from a file.
    ///
    /// # Errors
    ///
    /// Returns an error message if the file is unreadable or too large. The file must also be a Go
    /// record for a board with `size` rows and columns.
    pub(super) fn load(file: &str, size: u8) -> Result<Self, String> {
        let mut text = Vec::new();
        let file = File::open(file).map(|file| file.take(FILE_BYTES_MAX + 1));
        let result = file.and_then(|mut file| file.read_to_end(&mut text));
        if result.map_err(|error| error.to_string())? as u64 > FILE_BYTES_MAX {
            return Err(format!("the file is larger than {FILE_BYTES_MAX} bytes"));
        }
        Self::parse(&String::from_utf8_lossy(&text), size)
    }

    fn parse(text: &str, size: u8) -> Result<Self, String> {
        let nodes = sgf_syntax::parse_main_line(text)?;
        check_game(&nodes[0])?;
        check_size(&nodes[0], size)?;
        let mut record = Self::default();
        for node in &nodes {
            record.add_node(node, size)?;
        }
        Ok(record)
    }

    /// Adds the set-up, the moves and the komi of a node to the record. The properties of a node
    /// are unordered, so its set-up is applied before its moves.
    fn add_node(&mut self, node: &Node<'_>, size: u8) -> Result<(), String> {
        let mut set_up = SetUp {
            points: vec![None; usize::from(size).pow(2)],
            size,
            turn: None,
        };
        let mut turn = None;
        let mut moves = Vec::new();
        for Property { name, values } in node {
            for value in values {
                match name.as_str() {
                    "KM" => self.komi = Some(parse_komi(value)?),
                    "AB" => add_points(&mut set_up, name, value, Some(Seat::First))?,
                    "AW" => add_points(&mut set_up, name, value, Some(Seat::Second))?,
                    "AE" => add_points(&mut set_up, name, value, None)?,
                    "PL" => turn = parse_color(value),
                    "B" => moves.push(parse_move(Seat::First, name, value, size)?),
                    "W" => moves.push(parse_move(Seat::Second, name, value, size)?),
                    _ => {}
                }
            }
        }
        if set_up.points.iter().any(Option::is_some) {
            match self.steps.last_mut() {
                Some(Step::SetUp(before)) => before.overlay(set_up),
                _ => self.steps.push(Step::SetUp(set_up)),
            }
        }
        // A `PL` property takes effect only if the last step of the record is a set-up. Otherwise,
        // `PL` is ignored, and the moves determine the side to move.
        if let (Some(Step::SetUp(set_up)), Some(turn)) = (self.steps.last_mut(), turn) {
            set_up.turn = Some(turn);
        }
        self.steps.extend(moves);
        Ok(())
    }
}

/// Rejects records of other games. A record without a `GM` property is a Go record.
fn check_game(root: &Node<'_>) -> Result<(), String> {
    match first_value(root, "GM") {
        Some(game) if game.parse() != Ok(1) => Err(format!("GM[{}] is not Go", excerpt(game))),
        _ => Ok(()),
    }
}

/// Rejects records with a different board size.
fn check_size(root: &Node<'_>, size: u8) -> Result<(), String> {
    let supported = format!("this engine supports only {size}x{size}");
    let without_size =
        || format!("without SZ, the board is {SIZE_DEFAULT}x{SIZE_DEFAULT}, but {supported}");
    let value = first_value(root, "SZ").ok_or_else(without_size)?;
    let (columns, rows) = value.split_once(':').unwrap_or((value, value));
    let sides = [columns, rows].map(|side| side.trim().parse::<u32>());
    let [Ok(columns), Ok(rows)] = sides else {
        return Err(format!("SZ[{}] is not a size", excerpt(value)));
    };
    if [columns, rows] != [u32::from(size); 2] {
        return Err(format!("the board is {columns}x{rows}, but {supported}"));
    }
    Ok(())
}

fn first_value<'t>(node: &Node<'t>, name: &str) -> Option<&'t str> {
    let property = node.iter().find(|property| property.name == name)?;
    property.values.first().copied()
}

/// Parses a komi. Some programs write a decimal comma.
fn parse_komi(value: &str) -> Result<Komi, String> {
    let komi = value.replace(',', ".").parse();
    komi.map_err(|()| format!("KM[{}] is not a komi", excerpt(value)))
}

/// Parses the side to move from the first character of the value, such as `B` or `white`. SGF
/// version 1 uses the numbers 1 for black and 2 for white.
fn parse_color(value: &str) -> Option<Seat> {
    match value.bytes().next()?.to_ascii_lowercase() {
        b'b' | b'1' => Some(Seat::First),
        b'w' | b'2' => Some(Seat::Second),
        _ => None,
    }
}

/// Sets the content of one point, or of all points in a rectangle. The text `value` is a point, or
/// two opposite corners of a rectangle separated by a colon. An empty value has no effect.
fn add_points(
    set_up: &mut SetUp,
    name: &str,
    value: &str,
    content: Option<Seat>,
) -> Result<(), String> {
    if value.is_empty() {
        return Ok(());
    }
    let (from, to) = value.split_once(':').unwrap_or((value, value));
    let corners = [from, to].map(|corner| parse_point(corner.trim(), set_up.size));
    let [Some([left, top]), Some([right, bottom])] = corners else {
        return Err(off_board_error(name, value));
    };
    for row in top.min(bottom)..=top.max(bottom) {
        for column in left.min(right)..=left.max(right) {
            set_up.set_point([column, row], content)?;
        }
    }
    Ok(())
}

fn parse_move(seat: Seat, name: &str, value: &str, size: u8) -> Result<Step, String> {
    let vertex = match value {
        // Before SGF version 4, a pass was written as the point `tt`, which is outside the board.
        "" | "tt" => PASS_MOVE.to_owned(),
        point => {
            let point = parse_point(point, size).ok_or_else(|| off_board_error(name, value))?;
            to_vertex(point, size)
        }
    };
    Ok(Step::Move(seat, vertex))
}

fn off_board_error(name: &str, value: &str) -> String {
    format!("{name}[{}] is not on the board", excerpt(value))
}

/// Parses a point and returns its distances from the left edge and the top edge of the board.
fn parse_point(text: &str, size: u8) -> Option<[u8; 2]> {
    let [column, row] = text.as_bytes() else {
        return None;
    };
    let coordinate = |letter: &u8| letter.checked_sub(b'a').filter(|at| *at < size);
    Some([coordinate(column)?, coordinate(row)?])
}

/// Converts a point to its vertex in GTP notation, which skips the column letter I.
fn to_vertex([column, row]: [u8; 2], size: u8) -> String {
    let letter = char::from(b'A' + column + u8::from(column >= 8));
    format!("{letter}{}", size - row)
}

/// Returns the letter of a stone in wire notation.
const fn stone_letter(seat: Seat) -> char {
    match seat {
        Seat::First => 'b',
        Seat::Second => 'w',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the moves and set-ups of a record. A move is written in a form such as `bE5`. For a
    /// set-up, the text lists the changed points and the side to move. The sign `-` marks an
    /// emptied point.
    fn format_steps(text: &str) -> Result<String, String> {
        let record = GoRecord::parse(text, 9)?;
        let format_step = |step: &Step| match step {
            Step::Move(seat, vertex) => format!("{}{vertex}", stone_letter(*seat)),
            Step::SetUp(set_up) => {
                let points = set_up.points.iter().enumerate();
                let points = points.filter_map(|(index, content)| {
                    let point = [index % 9, index / 9]
                        .map(|at| u8::try_from(at).expect("the coordinate fits in u8"));
                    let content = content.as_ref()?.map_or('-', stone_letter);
                    Some(format!("{content}{}", to_vertex(point, 9)))
                });
                let turn = set_up.turn.map(stone_letter);
                let all: Vec<String> = points.chain(turn.map(String::from)).collect();
                format!("({})", all.join(" "))
            }
        };
        Ok(record
            .steps
            .iter()
            .map(format_step)
            .collect::<Vec<_>>()
            .join(" "))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(format_steps(text).as_deref(), Ok(expected), "{text}");
    }

    #[track_caller]
    fn check_refused(text: &str, reason: &str) {
        let error = format_steps(text).expect_err(text);
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn moves_and_set_ups_are_read_in_order() {
        let text = "(;GM[1]FF[4]SZ[9]KM[5.5]C[a \\] in a comment];B[ee];W[cc]\n\
                    (;B[aa];W[])(;B[ii]))";
        check(text, "bE5 wC7 bA9 wpass");
        let set_up = "(;SZ[9]AB[cc][gg]AW[aa:ba];W[tt];B[ie])";
        check(set_up, "(wA9 wB9 bC7 bG3) wpass bJ5");
        let middle = "(;SZ[9];B[aa];AE[aa]AW[bb]PL[W];W[cc])";
        check(middle, "bA9 (-A9 wB8 w) wC7");
        // Consecutive set-ups are merged, and the later one wins.
        let twice = "(;SZ[9]AB[aa][bb]PL[B];AW[aa]AE[bb];PL[white])";
        check(twice, "(wA9 -B8 w)");
        check("(;SZ[9]PL[W];W[aa])", "wA9");
        check("(;SZ[9]B[aa]AB[bb])", "(bB8) bA9");
    }

    #[test]
    fn rectangles_are_read_from_any_corner() {
        let all = "(bB8 bC8 bB7 bC7)";
        for text in [
            "bb:cc",
            "cc:bb",
            "bc:cb",
            "cb : bc",
            "bb:cb][bc:cc",
            "bb:cc][bb",
        ] {
            check(&format!("(;SZ[9]AB[{text}])"), all);
        }
        check("(;SZ[9]AB[]AW[aa]AE[])", "(wA9)");
        check_refused("(;SZ[9]AB[aa:aj])", "AB[aa:aj] is not on the board");
    }

    #[test]
    fn point_that_is_set_up_twice_is_refused() {
        for text in ["AB[aa]AW[aa]", "AE[bb]AB[aa:cc]", "AW[ab][cd]AB[aa:ac]"] {
            check_refused(&format!("(;SZ[9]{text})"), "conflicting set-ups");
        }
    }

    #[test]
    fn board_size_is_parsed_as_one_or_two_numbers() {
        for size in ["9", "09", "9:9", " 9 ", "009", "09:9", "9 : 9"] {
            check(&format!("(;SZ[{size}];B[aa])"), "bA9");
        }
        check("(;SiZe[9];Black[aa])", "bA9");
        for (text, reason) in [
            ("(;SZ[19];B[aa])", "the board is 19x19, but this engine"),
            ("(;SZ[9:13];B[aa])", "the board is 9x13, but this engine"),
            ("(;AB[ss]SZ[19])", "the board is 19x19, but this engine"),
            ("(;SZ[];B[aa])", "SZ[] is not a size"),
            ("(;SZ[nine];B[aa])", "SZ[nine] is not a size"),
            ("(;SZ[9:];B[aa])", "SZ[9:] is not a size"),
            ("(;SZ[-9];B[aa])", "SZ[-9] is not a size"),
        ] {
            check_refused(text, reason);
        }
    }

    #[test]
    fn record_without_a_size_is_refused_as_19x19() {
        for text in [
            "(;GM[1]FF[4];B[ed];W[de])",
            "(;B[aa])",
            "(;GM[1]AB[pd][dp])",
            // `SZ` is valid only in the root node.
            "(;GM[1];SZ[9];B[aa])",
        ] {
            check_refused(
                text,
                "without SZ, the board is 19x19, but this engine supports only 9x9",
            );
        }
    }

    #[test]
    fn komi_is_read_with_a_point_or_a_comma() {
        let komi = |text: &str| {
            let record = GoRecord::parse(&format!("(;SZ[9]{text};B[aa])"), 9)?;
            Ok::<_, String>(record.komi)
        };
        for (text, expected) in [
            ("KM[5.5]", "5.5"),
            ("KM[5,5]", "5.5"),
            ("KM[0,5]", "0.5"),
            ("KM[-3,5]", "-3.5"),
            ("KM[ +7 ]", "7"),
            ("KoMi[6.50]", "6.5"),
        ] {
            assert_eq!(komi(text), Ok(expected.parse().ok()), "{text}");
        }
        assert_eq!(komi(""), Ok(None));
        for value in ["", "much", "6.5 points", "1e9", "nan", "5,5,5", "6\u{bd}"] {
            let error = komi(&format!("KM[{value}]")).expect_err(value);
            assert!(error.contains("is not a komi"), "{value}: {error}");
        }
    }

    #[test]
    fn records_of_other_games_are_refused() {
        for game in ["1", "01", " 1 "] {
            check(&format!("(;GM[{game}]SZ[9];B[aa])"), "bA9");
        }
        check("(;SZ[9];B[aa])", "bA9");
        for game in ["4", "2", "11", "0", "-1", "", "Othello"] {
            let text = format!("(;GM[{game}]SZ[9];B[aa])");
            check_refused(&text, &format!("GM[{game}] is not Go"));
        }
        check_refused("(;GaMe[3]SZ[8])", "GM[3] is not Go");
    }

    #[test]
    fn points_off_the_board_are_refused() {
        for (text, reason) in [
            ("(;SZ[9];B[zz])", "B[zz] is not on the board"),
            ("(;SZ[9];W[e])", "W[e] is not on the board"),
            ("(;SZ[9];B[E5])", "B[E5] is not on the board"),
            ("(;SZ[9]AW[ja])", "AW[ja] is not on the board"),
            ("(;SZ[9]AE[tt])", "AE[tt] is not on the board"),
        ] {
            check_refused(text, reason);
        }
    }

    #[test]
    fn set_up_position_has_the_fewest_plies_and_no_pass() {
        let empty = ["........."; 9].join("/");
        let position = |text: &str, turn| {
            let record = GoRecord::parse(&format!("(;SZ[9]{text})"), 9).expect(text);
            let [Step::SetUp(set_up)] = &record.steps[..] else {
                panic!("{text} is no set-up");
            };
            set_up.to_position(&empty, turn)
        };
        let rest = &empty[9..];
        for (text, turn, expected) in [
            ("AB[aa]", Seat::First, format!("b........{rest} b 1 0 0 2")),
            ("AB[aa]", Seat::Second, format!("b........{rest} w 0 0 0 1")),
            (
                "AB[aa:ca]",
                Seat::Second,
                format!("bbb......{rest} w 0 0 0 5"),
            ),
            (
                "AW[aa:ca]",
                Seat::Second,
                format!("www......{rest} w 0 1 0 7"),
            ),
            (
                "AW[aa]AB[ca]",
                Seat::First,
                format!("w.b......{rest} b 0 0 0 2"),
            ),
            ("AE[aa]", Seat::Second, format!("{empty} w 0 1 0 1")),
            ("AE[aa]", Seat::First, String::new()),
        ] {
            assert_eq!(position(text, turn), expected, "{text}");
        }
    }
}
