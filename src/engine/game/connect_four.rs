//! Connect Four on 7 files and 6 ranks. A move is a file, `1` to `7`, and the disc lands on the
//! lowest free square of the file. A position is written rank by rank, starting with the highest
//! rank, as in FEN: `......./......./......./...r.../...y.../..yrr..`.
//!
//! A bitboard is a `u64` with seven bits for each file, and the lowest rank is the lowest bit. The
//! seventh bit of a file is always empty, so that no line wraps from one file to the next. Lines
//! are found by combining a bitboard with shifted copies of itself. The layout is taken from John
//! Tromp's solver "Fhourstones".

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use super::rank_text::RankText;
use super::{
    BoardStyle, GameInfo, IllegalMove, Outcome, ParseMoveError, ParsePositionError, PieceColor,
    Position, RecordFormat, Seat, Square, Symmetry, bit_index, fmt_ascii, single_squares,
};

const FILES: u8 = 7;
const RANKS: u8 = 6;
const SQUARES: u8 = FILES * RANKS;

/// Number of bits for each file, including the bit that is always empty. This is also the bit
/// distance between neighbours on a rank.
const FILE_BITS: u8 = RANKS + 1;

/// Bitboard of the lowest rank: the lowest square of every file.
const BOTTOM_RANK: u64 = ((1 << (FILES * FILE_BITS)) - 1) / ((1 << FILE_BITS) - 1);

/// All squares.
const ALL_SQUARES: u64 = BOTTOM_RANK * ((1 << RANKS) - 1);

/// Bit distances between neighbours on a line: upwards, along a rank, and on both diagonals.
const DIRECTIONS: [u8; 4] = [1, FILE_BITS, FILE_BITS - 1, FILE_BITS + 1];

/// A position of Connect Four that can occur in a game.
///
/// The position also stores the winning squares of both sides. Each move changes the winning
/// squares of only one side. The search uses the winning squares to test for immediate wins and
/// threats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectFour {
    /// Discs of the side to move.
    own: u64,
    /// Discs of the opponent, who made the last move.
    other: u64,
    /// Squares where the side to move would complete a line. The set can include squares that are
    /// not yet playable, occupied squares, and the empty bits between the files.
    own_winning_squares: u64,
    /// Squares where the opponent would complete a line. Like `own_winning_squares`, the set can
    /// include squares that are not playable.
    other_winning_squares: u64,
    /// Number of discs played.
    plies: u8,
    /// Whether the last disc completed a line.
    is_won: bool,
}

/// A move: the file that a disc is dropped into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// File number, counted from 0 on the left.
    file: u8,
}

impl Move {
    /// Returns all bits of the file, including the empty bit above its squares.
    const fn file_mask(self) -> u64 {
        ((1 << FILE_BITS) - 1) << (self.file * FILE_BITS)
    }

    /// Returns the file number, counted from 0 on the left.
    #[must_use]
    pub const fn file(self) -> u8 {
        self.file
    }

    /// Returns the move mirrored from left to right.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self {
            file: FILES - 1 - self.file,
        }
    }

    /// Returns the move into a file, counted from 0 on the left. Returns `None` if the board has no
    /// such file.
    #[must_use]
    pub fn from_file(file: u8) -> Option<Self> {
        (file < FILES).then_some(Self { file })
    }

    /// Returns the move that drops a disc into the file of a square.
    #[inline]
    pub(crate) const fn from_square(square: u64) -> Self {
        Self {
            file: bit_index(square) / FILE_BITS,
        }
    }
}

impl ConnectFour {
    pub(crate) const ALL_SQUARES: u64 = ALL_SQUARES;

    /// Returns the playable squares where the side to move can place a disc without letting the
    /// opponent win on the next turn.
    #[inline]
    pub(crate) const fn safe_squares(&self) -> u64 {
        let playable = self.playable_squares();
        let [_, other_wins] = self.free_winning_squares();
        let threatened = playable & other_wins;
        let squares = if threatened == 0 {
            playable
        } else if threatened & (threatened - 1) == 0 {
            threatened
        } else {
            0
        };
        squares & !(other_wins >> 1)
    }

    /// Returns the number of discs played.
    pub(crate) const fn plies(&self) -> u8 {
        self.plies
    }

    /// Returns all squares on the three given ranks. Ranks are numbered from 0 at the bottom.
    pub(crate) const fn ranks_mask(ranks: [u8; 3]) -> u64 {
        let [a, b, c] = ranks;
        BOTTOM_RANK << a | BOTTOM_RANK << b | BOTTOM_RANK << c
    }

    /// Returns all squares on the given file. Files are numbered from 0 on the left.
    pub(crate) const fn file_mask(file: u8) -> u64 {
        ALL_SQUARES & Move { file }.file_mask()
    }

    /// Returns the discs of the side to move and of its opponent, in this order.
    pub(crate) const fn discs(&self) -> [u64; 2] {
        [self.own, self.other]
    }

    /// Returns the discs of a seat.
    fn discs_of(&self, seat: Seat) -> u64 {
        if self.turn() == seat {
            self.own
        } else {
            self.other
        }
    }

    /// Returns the playable squares: the lowest free square of every file that is not full.
    pub(crate) const fn playable_squares(&self) -> u64 {
        (self.occupied() + BOTTOM_RANK) & ALL_SQUARES
    }

    /// Returns two sets of free squares: those where the side to move would complete a line, then
    /// those where its opponent would.
    pub(crate) const fn free_winning_squares(&self) -> [u64; 2] {
        let free = ALL_SQUARES ^ self.occupied();
        [
            self.own_winning_squares & free,
            self.other_winning_squares & free,
        ]
    }

    /// Returns all discs.
    pub(crate) const fn occupied(&self) -> u64 {
        self.own | self.other
    }

    /// Returns the square where a disc dropped into this file lands, or 0 if the file is full.
    pub(crate) const fn landing_square(&self, m: Move) -> u64 {
        self.playable_squares() & m.file_mask()
    }

    /// Returns the position that has the given discs. The side that owns `other` made the last
    /// move.
    fn from_discs(own: u64, other: u64) -> Self {
        Self {
            own,
            other,
            own_winning_squares: winning_squares(own),
            other_winning_squares: winning_squares(other),
            plies: count_discs(own | other),
            is_won: completed_lines(other) != 0,
        }
    }

    /// Returns a 49-bit number that is unique for each position. In every file, the highest bit
    /// that is set marks the lowest free square. The bits below that highest bit mark the discs of
    /// the side to move.
    #[inline]
    #[must_use]
    pub const fn unique_key(&self) -> u64 {
        self.own + self.occupied() + BOTTOM_RANK
    }

    /// Returns the unique key of the position's mirror image, with left and right swapped.
    #[inline]
    #[must_use]
    pub const fn mirror_key(&self) -> u64 {
        const FILE_MASK: u64 = (1 << FILE_BITS) - 1;
        let key = self.unique_key();
        (key & FILE_MASK) << 42
            | (key & FILE_MASK << 7) << 28
            | (key & FILE_MASK << 14) << 14
            | key & FILE_MASK << 21
            | (key >> 14) & FILE_MASK << 14
            | (key >> 28) & FILE_MASK << 7
            | (key >> 42) & FILE_MASK
    }

    /// Returns the position after the side to move places a disc on this square. `wins` must
    /// contain the squares where the side that places the disc would complete a line after this
    /// move.
    #[inline]
    pub(crate) const fn after_disc(&self, square: u64, wins: u64) -> Self {
        Self {
            own: self.other,
            other: self.own | square,
            own_winning_squares: self.other_winning_squares,
            other_winning_squares: wins,
            plies: self.plies + 1,
            is_won: self.own_winning_squares & square != 0,
        }
    }

    /// Rejects positions that cannot occur in a game.
    ///
    /// A position is reachable if its moves can be undone: the sides take turns to remove their
    /// discs from the tops of the files. The first line ends the game, so no line may exist before
    /// the last disc.
    fn check_reachable(&self) -> Result<(), ParsePositionError> {
        if completed_lines(self.own) != 0 {
            return Err(ParsePositionError("play continued after four in a row"));
        }
        if !can_be_emptied(self.own, self.other) {
            return Err(ParsePositionError(
                "alternating moves cannot reach this position",
            ));
        }
        Ok(())
    }
}

/// Returns the squares of all complete lines in a set of discs.
fn completed_lines(discs: u64) -> u64 {
    DIRECTIONS.into_iter().fold(0, |all, by| {
        let pairs = discs & (discs >> by);
        let starts = pairs & (pairs >> (2 * by));
        all | starts | (starts << by) | (starts << (2 * by)) | (starts << (3 * by))
    })
}

/// Returns the squares where one more disc would complete a line of four with three discs of the
/// given set. The result can include occupied squares and the empty bits between the files.
#[inline]
pub(crate) const fn winning_squares(discs: u64) -> u64 {
    // Discs stack upwards, so only the square above three discs can complete a vertical line.
    let mut squares = (discs << 1) & (discs << 2) & (discs << 3);
    squares |= completing_squares(discs, FILE_BITS);
    squares |= completing_squares(discs, FILE_BITS - 1);
    squares | completing_squares(discs, FILE_BITS + 1)
}

/// Returns the squares where one more disc would complete a line of four in the direction with the
/// bit distance `by`. The missing disc can be at any of the four positions in the line.
const fn completing_squares(discs: u64, by: u8) -> u64 {
    let below = (discs << by) & (discs << (2 * by));
    let above = (discs >> by) & (discs >> (2 * by));
    (below & ((discs << (3 * by)) | (discs >> by)))
        | (above & ((discs << by) | (discs >> (3 * by))))
}

/// Returns the number of discs.
fn count_discs(discs: u64) -> u8 {
    u8::try_from(discs.count_ones()).expect("a bitboard has at most 64 bits")
}

/// Returns whether all moves can be undone: the sides take turns to remove one of their discs from
/// the top of a file. `last` contains the discs of the side that removes a disc first. After each
/// removal, the side that owned the disc must have no complete line.
fn can_be_emptied(next: u64, last: u64) -> bool {
    let mut visited = HashSet::new();
    let mut open = vec![(next, last)];
    while let Some((next, last)) = open.pop() {
        if next | last == 0 {
            return true;
        }
        for file in 0..FILES {
            let discs = (next | last) & Move { file }.file_mask();
            let top = (1 << (u64::BITS - discs.leading_zeros())) >> 1;
            let rest = last ^ top;
            if top & last != 0 && completed_lines(rest) == 0 && visited.insert(next | rest) {
                open.push((rest, next));
            }
        }
    }
    false
}

/// Text of the board.
const RANK_TEXT: RankText = RankText {
    letters: *b"ry",
    shape_error: ParsePositionError("expected six ranks of seven squares"),
    letter_error: ParsePositionError("squares must be 'r', 'y' or '.'"),
};

impl Position for ConnectFour {
    type Move = Move;

    const INFO: GameInfo = GameInfo {
        id: "connect-four",
        title: "Connect Four",
        sides: ["red", "yellow"],
        files: FILES,
        ranks: RANKS,
        plies_max: SQUARES as u32,
    };

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Txt);

    const BOARD_STYLE: BoardStyle = BoardStyle::Holes;

    const PIECE_COLORS: [PieceColor; 2] = [PieceColor::Red, PieceColor::Yellow];

    const SYMMETRIES: &'static [Symmetry] = Symmetry::LEFT_RIGHT;

    fn initial() -> Self {
        Self {
            own: 0,
            other: 0,
            own_winning_squares: 0,
            other_winning_squares: 0,
            plies: 0,
            is_won: false,
        }
    }

    fn turn(&self) -> Seat {
        Seat::to_move_after(self.plies.into())
    }

    fn seat_at(&self, square: Square) -> Option<Seat> {
        let has = |seat: &Seat| self.discs_of(*seat) & square_bit(square) != 0;
        Seat::ALL.into_iter().find(has)
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.is_won {
            return Some(Outcome::won_by(self.turn().other()));
        }
        (self.plies == SQUARES).then_some(Outcome::Draw)
    }

    /// If a disc completes several lines, the result contains the squares of all these lines.
    fn winning_line(&self) -> Option<Vec<Square>> {
        let line = completed_lines(self.other);
        let squares = (0..RANKS).flat_map(|rank| (0..FILES).map(move |file| Square { file, rank }));
        (line != 0).then(|| {
            squares
                .filter(|square| line & square_bit(*square) != 0)
                .collect()
        })
    }

    /// A seat can win as long as some line contains no disc of the opponent.
    fn can_win(&self, seat: Seat) -> bool {
        completed_lines(ALL_SQUARES & !self.discs_of(seat.other())) != 0
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        let discs = Seat::ALL.map(|seat| single_squares(self.discs_of(seat)).map(square_of_bit));
        RANK_TEXT.append::<Self>(discs, text);
    }

    fn append_move_text(m: Move, text: &mut Vec<u8>) {
        text.push(b'1' + m.file);
    }

    fn transform_move(m: Move, symmetry: Symmetry) -> Move {
        let (file, rank) = (m.file, 0);
        let Square { file, .. } = symmetry.transform(Square { file, rank }, FILES, RANKS);
        Move { file }
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if !self.is_won {
            let files = (0..FILES).map(|file| Move { file });
            moves.extend(files.filter(|m| self.landing_square(*m) != 0));
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.landing_square(m) == 0 {
            return Err(IllegalMove("is full"));
        }
        Ok(())
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal(m), Ok(()), "{m} in {self}");
        let square = self.landing_square(m);
        *self = self.after_disc(square, winning_squares(self.own | square));
    }
}

/// Returns the only square of a bitboard.
const fn square_of_bit(bit: u64) -> Square {
    let index = bit_index(bit);
    Square {
        file: index / FILE_BITS,
        rank: index % FILE_BITS,
    }
}

/// Returns the bitboard that contains only this square.
fn square_bit(Square { file, rank }: Square) -> u64 {
    1 << (file * FILE_BITS + rank)
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| ConnectFour::append_move_text(*self, text))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        // Trimming takes longer than the rest of this function, so it is skipped for a single
        // character.
        let text = if text.len() > 1 { text.trim() } else { text };
        match text.as_bytes() {
            [digit @ b'1'..=b'7'] => Ok(Self { file: digit - b'1' }),
            _ => Err(ParseMoveError { example: "4" }),
        }
    }
}

impl fmt::Display for ConnectFour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_text(text))
    }
}

impl FromStr for ConnectFour {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let mut discs_by_seat = [0; 2];
        RANK_TEXT.parse::<Self>(text, |seat, square| {
            discs_by_seat[seat.index()] |= square_bit(square);
        })?;
        let [red, yellow] = discs_by_seat;
        let discs = red | yellow;
        if discs & !(BOTTOM_RANK | discs << 1) != 0 {
            return Err(ParsePositionError("a disc has an empty square below it"));
        }
        let pos = match count_discs(red).checked_sub(count_discs(yellow)) {
            Some(0) => Self::from_discs(red, yellow),
            Some(1) => Self::from_discs(yellow, red),
            Some(_) | None => {
                return Err(ParsePositionError(
                    "the disc counts do not fit alternating turns",
                ));
            }
        };
        pos.check_reachable()?;
        Ok(pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance;

    #[test]
    fn passes_the_conformance_suite() {
        conformance::check_game::<ConnectFour>();
        conformance::check_seats_alternate::<ConnectFour>();
    }

    fn check_rejected(text: &str, reason: &str) {
        let error = text.parse::<ConnectFour>().expect_err(text);
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }

    /// Returns a board with these ranks at the bottom and empty ranks above them.
    fn bottom_ranks(ranks: &[&str]) -> String {
        let empty = vec!["......."; usize::from(RANKS) - ranks.len()];
        [&empty, ranks].concat().join("/")
    }

    #[test]
    fn unreachable_positions_are_rejected() {
        check_rejected("", "six ranks");
        check_rejected(&bottom_ranks(&["......"]), "six ranks");
        check_rejected(&format!("{}/", bottom_ranks(&["......."])), "six ranks");
        check_rejected(&bottom_ranks(&["...x..."]), "'r', 'y' or '.'");
        check_rejected(&bottom_ranks(&["r......", "......."]), "empty square below");
        check_rejected(&bottom_ranks(&["...y..."]), "alternating turns");
        check_rejected(&bottom_ranks(&["r.....r"]), "alternating turns");
        // The only disc on the lowest rank is yellow, but red moves first, so the position is
        // unreachable.
        check_rejected(&bottom_ranks(&["r......", "y......"]), "cannot reach");
        check_rejected(
            &bottom_ranks(&["yyy....", "rrrr..y"]),
            "after four in a row",
        );
        // Red has two lines that no single disc can have completed, so the position is unreachable.
        check_rejected(
            &bottom_ranks(&["......y", "rrrryyy", "rrrryyy"]),
            "cannot reach",
        );
    }

    #[test]
    fn winning_line_is_found_in_every_direction() {
        let lines = [
            ("1212121", "a1 a2 a3 a4"),
            ("4455667", "d1 e1 f1 g1"),
            ("12234334544", "a1 b2 c3 d4"),
            ("76654554344", "d4 e3 f2 g1"),
        ];
        for (moves, squares) in lines {
            let pos = position_after(moves);
            let line = pos.winning_line().expect(moves);
            let mut names: Vec<_> = line.iter().map(Square::to_string).collect();
            names.sort();
            assert_eq!(names.join(" "), squares, "{moves}");
            assert_eq!(
                pos.outcome(),
                Some(Outcome::Decisive {
                    winner: pos.turn().other()
                })
            );
        }
    }

    fn position_after(moves: &str) -> ConnectFour {
        let mut pos = ConnectFour::initial();
        for digit in moves.split("").filter(|digit| !digit.is_empty()) {
            let m = digit.parse().expect(digit);
            pos.play(m).expect(moves);
        }
        pos
    }

    /// Returns whether at least one line contains no disc of the given seat's opponent. This
    /// reference implementation tests every square of every line.
    fn has_open_line(pos: &ConnectFour, seat: Seat) -> bool {
        let others = pos.discs_of(seat.other());
        let is_open = |(file, rank): (i8, i8)| {
            let [file, rank] = [file, rank].map(|at| u8::try_from(at).unwrap_or(u8::MAX));
            file < FILES && rank < RANKS && square_bit(Square { file, rank }) & others == 0
        };
        let starts = (0..7).flat_map(|file| (0..6).map(move |rank| (file, rank)));
        starts.into_iter().any(|(file, rank)| {
            let steps: [(i8, i8); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];
            let along = |(by_file, by_rank)| {
                (0..4_i8).all(|step| is_open((file + step * by_file, rank + step * by_rank)))
            };
            steps.into_iter().any(along)
        })
    }

    #[test]
    fn can_win_requires_an_open_line() {
        let check = |pos: ConnectFour| {
            Seat::ALL.map(|seat| {
                let can_win = pos.can_win(seat);
                assert_eq!(can_win, has_open_line(&pos, seat), "{seat:?} in {pos}");
                can_win
            })
        };
        for seed in 0..50 {
            for pos in conformance::random_game::<ConnectFour>(seed).0 {
                check(pos);
            }
        }
        assert_eq!(check(ConnectFour::initial()), [true, true]);
        // In this pattern, the colours change after every second file and swap on each rank.
        // Neither side has more than two adjacent discs on any line.
        let mut full = [0, 0];
        for rank in 0..RANKS {
            for file in 0..FILES {
                full[usize::from((file / 2 + rank) % 2)] |= square_bit(Square { file, rank });
            }
            let below = check(ConnectFour::from_discs(full[0], full[1]));
            assert_eq!(below, [rank < 5; 2], "{rank}");
        }
    }

    #[test]
    fn incremental_state_matches_the_discs() {
        for seed in 0..200 {
            for pos in conformance::random_game::<ConnectFour>(seed).0 {
                assert_eq!(pos, ConnectFour::from_discs(pos.own, pos.other), "{pos}");
            }
        }
    }

    #[test]
    fn move_in_full_file_is_rejected() {
        let mut pos = position_after("444444");
        let error = pos
            .play("4".parse().expect("valid notation"))
            .expect_err("full");
        assert_eq!(error.to_string(), "is full");
        let mut moves = Vec::new();
        pos.legal_moves(&mut moves);
        assert_eq!(moves.len(), 6);
    }

    #[test]
    fn moves_are_written_as_file_numbers() {
        let read = |text: &str| text.parse::<Move>().map(|m| m.to_string());
        assert_eq!(read(" 7 "), Ok("7".to_owned()));
        for text in ["", "0", "8", "44", "d", "d1", "+4", "\u{664}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
