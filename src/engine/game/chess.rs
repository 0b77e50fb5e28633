//! Chess under the FIDE Laws of Chess (2023). Moves are written in the notation of the Universal
//! Chess Interface: `e2e4`, `e7e8q`, and castling as the king's move, `e1g1`. Positions are written
//! in FEN.
//!
//! [`Position::read_move`] also accepts standard algebraic notation (SAN), such as `Nf3`.
//! [`move_to_record_notation`](Position::move_to_record_notation) writes a move in SAN.
//!
//! The crate `cozy-chess` generates the legal moves. This module implements the notations and the
//! rules that end the game. Two kinds of draw are applied automatically, although the FIDE rules
//! require a player to claim them. This module applies the fifty-move rule (article 9.3), and
//! [`GameHistory`](super::GameHistory) applies threefold repetition (article 9.2).

mod fen;
mod piece_paths;
mod san;

use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use cozy_chess::{
    BitBoard, Board, BoardBuilder, Color, File, Piece, Rank, Square as CozySquare, get_pawn_attacks,
};

use self::san::{SanError, parse_file, parse_promotion, parse_rank};
use super::{
    BoardStyle, DiagramPiece, Ending, GameInfo, IllegalMove, ListedMoves, Outcome, ParseMoveError,
    PieceColor, PieceShape, Position, ReadMoveError, RecordFormat, RepetitionRule, Seat, Square,
    append_quoted_move, fmt_ascii, strip_move_number,
};

/// Number of consecutive plies that draw the game if none of them is a capture or a pawn move. The
/// value corresponds to fifty moves by each side.
const HALFMOVE_CLOCK_MAX: u8 = 100;

/// Maximum number of pawn moves and captures in a game. Each pawn can move at most six times, and
/// every piece except the kings can be captured once.
const IRREVERSIBLE_PLIES_MAX: u32 = 16 * 6 + 30;

/// A chess position, with all state that FEN records: castling rights, en passant square and move
/// counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chess {
    board: Board,
}

/// A move: origin, destination and, for a promotion, the new piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move(cozy_chess::Move);

impl Move {
    /// Returns the origin square.
    pub(crate) const fn from(self) -> CozySquare {
        self.0.from
    }

    /// Returns the destination square. For castling, this is the destination of the king.
    pub(crate) const fn to(self) -> CozySquare {
        self.0.to
    }

    /// Returns the promotion piece, if the move is a promotion.
    pub(crate) const fn promotion(self) -> Option<Piece> {
        self.0.promotion
    }

    /// Appends the move in the notation of the Universal Chess Interface.
    #[inline]
    fn append_to(self, text: &mut Vec<u8>) {
        let [from_file, from_rank] = square_name(self.from());
        let [to_file, to_rank] = square_name(self.to());
        text.extend_from_slice(&[from_file, from_rank, to_file, to_rank]);
        if let Some(piece) = self.promotion() {
            text.push(piece_letter(piece));
        }
    }
}

impl Chess {
    /// Returns the underlying `cozy-chess` board.
    pub(crate) const fn board(&self) -> &Board {
        &self.board
    }

    /// Returns one bitboard for each kind of piece. The first six bitboards are the pieces of the
    /// side to move, from pawns to the king. The other six bitboards are the opponent's pieces,
    /// also from pawns to the king.
    ///
    /// Bit 0 of each bitboard is the square a1. If Black is to move, the ranks are flipped, so that
    /// the side to move always plays up the board.
    #[must_use]
    pub fn relative_bitboards(&self) -> [u64; 2 * Piece::NUM] {
        let turn = self.board.side_to_move();
        std::array::from_fn(|kind| {
            let color = [turn, !turn][kind / Piece::NUM];
            let squares = self
                .board
                .colored_pieces(color, Piece::ALL[kind % Piece::NUM]);
            match turn {
                Color::White => squares.0,
                Color::Black => squares.0.swap_bytes(),
            }
        })
    }

    /// Returns the position that has the given bitboards. In this position, White is to move, and
    /// neither side has castling rights. This is the inverse of
    /// [`relative_bitboards`](Self::relative_bitboards). Returns `None` if the position is invalid.
    #[must_use]
    pub fn from_relative_bitboards(bitboards: &[u64; 2 * Piece::NUM]) -> Option<Self> {
        let mut builder = BoardBuilder::empty();
        for (kind, squares) in bitboards.iter().enumerate() {
            let color = Color::ALL[kind / Piece::NUM];
            for square in BitBoard(*squares) {
                *builder.square_mut(square) = Some((Piece::ALL[kind % Piece::NUM], color));
            }
        }
        builder.build().ok().map(|board| Self { board })
    }

    /// Returns whether the king of the side to move is attacked.
    pub(crate) fn is_check(&self) -> bool {
        !self.board.checkers().is_empty()
    }

    /// Returns whether the side to move has a legal move. The result ignores the fifty-move rule
    /// and dead positions.
    #[inline]
    fn can_move(&self) -> bool {
        // Pawn advances are checked first, because most positions allow one. This check is ten
        // times as fast as move generation.
        self.can_advance_pawn() || self.has_any_legal_move()
    }

    /// Returns whether the side to move is not in check and has an unpinned pawn that can move one
    /// square forward. If the result is `false`, other legal moves may exist.
    #[inline]
    fn can_advance_pawn(&self) -> bool {
        let board = &self.board;
        let turn = board.side_to_move();
        let pawns = board.colored_pieces(turn, Piece::Pawn) & !board.pinned();
        // The rotation moves each pawn one square forward. No pawn can wrap to the opposite edge,
        // because a pawn is never on its last rank.
        let ahead = BitBoard(match turn {
            Color::White => pawns.0.rotate_left(8),
            Color::Black => pawns.0.rotate_right(8),
        });
        !self.is_check() && !ahead.is_subset(board.occupied())
    }

    /// Returns whether any piece has a legal move. This is a separate function so that `can_move`
    /// stays small where it is inlined.
    fn has_any_legal_move(&self) -> bool {
        self.board.generate_moves(|_| true)
    }

    /// Returns whether the game is drawn by the fifty-move rule or because the position is dead.
    /// The side to move may still have legal moves.
    #[inline]
    fn is_drawn_despite_moves(&self) -> bool {
        self.board.halfmove_clock() >= HALFMOVE_CLOCK_MAX || self.is_dead_position()
    }

    /// Returns whether neither side has enough material for a checkmate (article 5.2.2). This is
    /// the case if, besides the kings, the board has no pieces, a single minor piece, or only
    /// bishops on squares of one colour. Positions that are dead because of blocked pawns are not
    /// detected.
    #[inline]
    fn is_dead_position(&self) -> bool {
        let board = &self.board;
        let mating_pieces =
            board.pieces(Piece::Pawn) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
        if !mating_pieces.is_empty() {
            return false;
        }
        if board.occupied().len() <= 3 {
            return true;
        }
        let bishops = board.pieces(Piece::Bishop);
        board.pieces(Piece::Knight).is_empty() && are_on_one_square_color(bishops)
    }

    /// Returns whether a side has enough material to checkmate if the opponent cooperates.
    ///
    /// A lone knight can checkmate only if an opposing piece blocks the escape of the opposing
    /// king. The blocking piece cannot be a queen, because a queen could always end the check.
    /// Bishops on squares of one colour can checkmate only with the help of a knight, a pawn, or a
    /// bishop on squares of the other colour. This knight, pawn or bishop can belong to either
    /// side.
    fn can_mate(&self, color: Color) -> bool {
        let board = &self.board;
        let own = |piece| board.colored_pieces(color, piece);
        let mating_pieces = own(Piece::Pawn) | own(Piece::Rook) | own(Piece::Queen);
        if !mating_pieces.is_empty() {
            return true;
        }
        if !own(Piece::Knight).is_empty() {
            let helpers = board.colors(!color) & !board.pieces(Piece::King);
            let is_alone = board.colors(color).len() == 2;
            return !is_alone || !helpers.is_subset(board.pieces(Piece::Queen));
        }
        let bishops = board.pieces(Piece::Bishop);
        let helpers = board.pieces(Piece::Pawn) | board.pieces(Piece::Knight);
        !own(Piece::Bishop).is_empty() && (!helpers.is_empty() || !are_on_one_square_color(bishops))
    }

    /// Returns the file of the pawn that can be captured en passant. Returns `None` if no such
    /// capture is legal.
    fn legal_en_passant_file(&self) -> Option<File> {
        let file = self.board.en_passant()?;
        let turn = self.board.side_to_move();
        let to = CozySquare::new(file, Rank::Third.relative_to(!turn));
        let pawns = get_pawn_attacks(to, !turn) & self.board.colored_pieces(turn, Piece::Pawn);
        let capture = |from| cozy_chess::Move {
            from,
            to,
            promotion: None,
        };
        pawns
            .into_iter()
            .any(|from| self.board.is_legal(capture(from)))
            .then_some(file)
    }

    /// Returns the position after a null move, or `None` if the side to move is in check.
    pub(crate) fn after_null_move(&self) -> Option<Self> {
        self.board.null_move().map(|board| Self { board })
    }

    /// Calls `visit` with every legal move, even if the game is already drawn by the fifty-move
    /// rule or the position is dead.
    pub(crate) fn for_each_move(&self, mut visit: impl FnMut(Piece, Move)) {
        self.board.generate_moves(|moves| {
            let piece = moves.piece;
            for m in moves {
                // Only king moves can be castling moves, so the other moves need no conversion.
                let m = if piece == Piece::King {
                    self.convert_cozy_move(m)
                } else {
                    Move(m)
                };
                visit(piece, m);
            }
            false
        });
    }

    /// Calls `visit` with every legal move to a target square, except castling moves. For each kind
    /// of piece, `targets` returns the set of squares that its moves may lead to.
    pub(crate) fn for_each_move_to(
        &self,
        targets: impl Fn(Piece) -> BitBoard,
        mut visit: impl FnMut(Move),
    ) {
        let others = !self.board.colors(self.board.side_to_move());
        self.board.generate_moves(|mut moves| {
            moves.to &= targets(moves.piece) & others;
            for m in moves {
                visit(Move(m));
            }
            false
        });
    }

    /// Converts a move of `cozy-chess`, which represents castling as a king move onto the square of
    /// the rook.
    fn convert_cozy_move(&self, m: cozy_chess::Move) -> Move {
        if !self.board.colors(self.board.side_to_move()).has(m.to) {
            return Move(m);
        }
        Move(with_castling_target(m, [File::C, File::G]))
    }

    /// Converts a move to a `cozy-chess` move, which represents castling as a king move onto the
    /// square of the rook. This is the inverse of `convert_cozy_move`.
    #[inline]
    fn to_cozy_move(&self, m: Move) -> cozy_chess::Move {
        if self.is_castling(m) {
            with_castling_target(m.0, [File::A, File::H])
        } else {
            m.0
        }
    }

    /// Returns whether the move is castling: a king move of two squares along its rank.
    #[inline]
    fn is_castling(&self, Move(m): Move) -> bool {
        // This code tests the difference between the square indices first, because most moves fail
        // this test.
        (m.from as u8).abs_diff(m.to as u8) == 2
            && self.board.pieces(Piece::King).has(m.from)
            && m.from.rank() == m.to.rank()
    }

    /// Returns whether the pieces can legally make this move, even if the game has already ended in
    /// a draw.
    fn is_legal_ignoring_end(&self, m: Move) -> bool {
        // A move onto a square that holds a piece of the same side is always illegal. `cozy-chess`
        // uses such a move to represent castling, but `Move` does not.
        !self.board.colors(self.board.side_to_move()).has(m.to())
            && self.board.is_legal(self.to_cozy_move(m))
    }

    /// Returns the reason why an illegal move is illegal.
    fn illegality_reason(&self, m: Move) -> &'static str {
        let turn = self.board.side_to_move();
        match self.board.color_on(m.from()) {
            None => "starts on an empty square",
            Some(color) if color != turn => "moves an opponent's piece",
            Some(_) if self.is_check() => "does not get out of check",
            Some(_) => {
                let with_promotion = Move(cozy_chess::Move {
                    promotion: Some(Piece::Queen),
                    ..m.0
                });
                if m.promotion().is_none() && self.is_legal_ignoring_end(with_promotion) {
                    "needs a promotion piece, as in e7e8q"
                } else {
                    "is not a legal move for that piece"
                }
            }
        }
    }
}

impl Position for Chess {
    type Move = Move;

    const INFO: GameInfo = GameInfo {
        id: "chess",
        title: "Chess",
        sides: ["white", "black"],
        files: 8,
        ranks: 8,
        // Irreversible plies (captures and pawn moves) divide a game into at most
        // `IRREVERSIBLE_PLIES_MAX + 1` sections. Each section has at most a hundred plies: up to 99
        // reversible plies, then an irreversible ply. In the last section, the hundredth reversible
        // ply draws the game.
        plies_max: (IRREVERSIBLE_PLIES_MAX + 1) * HALFMOVE_CLOCK_MAX as u32,
    };

    const RECORD_FORMAT: Option<RecordFormat> = Some(RecordFormat::Pgn);

    const BOARD_STYLE: BoardStyle = BoardStyle::Chequered;

    const REPETITION_RULE: RepetitionRule = RepetitionRule::ThreefoldDraw;

    const REPETITION_PLIES_MIN: usize = 4;

    fn initial() -> Self {
        Self {
            board: Board::startpos(),
        }
    }

    fn turn(&self) -> Seat {
        seat_of_color(self.board.side_to_move())
    }

    #[inline]
    fn diagram_piece(&self, at: Square) -> Option<DiagramPiece> {
        let cozy_square = CozySquare::new(
            File::index(usize::from(at.file)),
            Rank::index(usize::from(at.rank)),
        );
        let paths = match self.board.piece_on(cozy_square)? {
            Piece::Pawn => piece_paths::PAWN,
            Piece::Knight => piece_paths::KNIGHT,
            Piece::Bishop => piece_paths::BISHOP,
            Piece::Rook => piece_paths::ROOK,
            Piece::Queen => piece_paths::QUEEN,
            Piece::King => piece_paths::KING,
        };
        let color = match self.board.color_on(cozy_square)? {
            Color::White => PieceColor::White,
            Color::Black => PieceColor::Black,
        };
        Some(DiagramPiece {
            shape: PieceShape::Paths(paths),
            color,
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.can_move() {
            return Some(if self.is_check() {
                Outcome::won_by(self.turn().other())
            } else {
                Outcome::Draw
            });
        }
        self.is_drawn_despite_moves().then_some(Outcome::Draw)
    }

    fn ending(&self) -> Option<Ending> {
        let detail = if !self.can_move() {
            if self.is_check() {
                "checkmate"
            } else {
                "stalemate"
            }
        } else if self.is_dead_position() {
            "dead-position"
        } else if self.board.halfmove_clock() >= HALFMOVE_CLOCK_MAX {
            "fifty-moves"
        } else {
            return None;
        };
        Some(Ending::without_scores(detail))
    }

    fn in_check(&self) -> bool {
        self.is_check()
    }

    /// Whether a seat can win depends only on the material (FIDE articles 6.9 and 7.5.5). The
    /// result may be `true` even if blocked pawns make a win impossible.
    fn can_win(&self, seat: Seat) -> bool {
        self.can_mate(color_of_seat(seat))
    }

    /// Two positions are the same if the same side is to move and the same moves are available
    /// (article 9.2.3). The en passant square counts only if an en passant capture is legal.
    #[inline]
    fn repetition_key(&self) -> u64 {
        if self.board.en_passant().is_some() && self.legal_en_passant_file().is_some() {
            self.board.hash()
        } else {
            self.board.hash_without_ep()
        }
    }

    /// Returns the halfmove clock of FEN. The loss of a castling right is irreversible but does not
    /// reset this clock. The clock may therefore exceed the exact number of reversible plies.
    #[inline]
    fn reversible_plies(&self) -> usize {
        self.board.halfmove_clock().into()
    }

    fn with_counters_reset(&self) -> Self {
        let mut builder = BoardBuilder::from_board(&self.board);
        builder.halfmove_clock = 0;
        let board = builder
            .build()
            .expect("only the halfmove clock has changed");
        Self { board }
    }

    /// Under the FIDE Laws of Chess, a draw by the fifty-move rule must be claimed by a player
    /// (article 9.3).
    fn with_draw_waived(&self) -> Option<Self> {
        let is_drawn = self.board.halfmove_clock() >= HALFMOVE_CLOCK_MAX;
        (is_drawn && self.can_move() && !self.is_dead_position())
            .then(|| self.with_counters_reset())
    }

    fn read_move(&self, text: &str) -> Result<Move, ReadMoveError> {
        if let Ok(m) = text.parse() {
            return Ok(m);
        }
        let text = strip_move_number(text);
        if let Ok(m) = text.parse() {
            return Ok(m);
        }
        self.parse_san(text).map_err(|why| match why {
            SanError::Unreadable => ReadMoveError::Unreadable(ParseMoveError { example: "e2e4" }),
            SanError::Illegal => IllegalMove("is not a legal move").into(),
            SanError::Ambiguous => IllegalMove("is ambiguous").into(),
        })
    }

    fn move_to_record_notation(&self, m: Move, after: &Self) -> String {
        self.san(m, after)
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        self.append_fen(text);
    }

    fn append_move_text(m: Move, text: &mut Vec<u8>) {
        m.append_to(text);
    }

    fn append_legal_moves(&self, list: &mut Vec<u8>) {
        if self.is_drawn_despite_moves() {
            return;
        }
        let own = self.board.colors(self.board.side_to_move());
        let mut listed = ListedMoves::EMPTY;
        self.board.generate_moves(|moves| {
            let special_targets = match moves.piece {
                Piece::Pawn => Rank::First.bitboard() | Rank::Eighth.bitboard(),
                Piece::King => own,
                _ => BitBoard::EMPTY,
            };
            if moves.to.is_disjoint(special_targets) {
                push_listed_moves(moves.from, moves.to, &mut listed);
                listed.append_to(list);
            } else {
                for m in moves {
                    append_quoted_move::<Self>(self.convert_cozy_move(m), list);
                }
            }
            false
        });
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if !self.is_drawn_despite_moves() {
            self.for_each_move(|_, m| moves.push(m));
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        self.check_legal_after_end(m)
    }

    /// If a game that ended in a dead position is resumed, every move that the pieces can legally
    /// make is allowed.
    fn moves_after_end(&self, moves: &mut Vec<Move>) {
        self.for_each_move(|_, m| moves.push(m));
    }

    fn check_legal_after_end(&self, m: Move) -> Result<(), IllegalMove> {
        if !self.can_move() {
            return Err(IllegalMove::GAME_OVER);
        }
        if !self.is_legal_ignoring_end(m) {
            return Err(IllegalMove(self.illegality_reason(m)));
        }
        Ok(())
    }

    #[inline]
    fn play_unchecked(&mut self, m: Move) {
        debug_assert_eq!(self.check_legal_after_end(m), Ok(()), "{m} in {self}");
        self.board.play_unchecked(self.to_cozy_move(m));
    }
}

/// Moves the target of a castling move to one of two files: the first when castling queenside, the
/// second when castling kingside. The function is marked as cold because each side castles at most
/// once in a game.
#[cold]
fn with_castling_target(m: cozy_chess::Move, files: [File; 2]) -> cozy_chess::Move {
    let file = files[usize::from(m.to.file() > m.from.file())];
    cozy_chess::Move {
        to: CozySquare::new(file, m.from.rank()),
        ..m
    }
}

/// Returns whether these squares all have the same colour.
fn are_on_one_square_color(squares: BitBoard) -> bool {
    squares.is_subset(BitBoard::DARK_SQUARES) || squares.is_subset(BitBoard::LIGHT_SQUARES)
}

/// Returns the colour that a seat plays.
const fn color_of_seat(seat: Seat) -> Color {
    match seat {
        Seat::First => Color::White,
        Seat::Second => Color::Black,
    }
}

/// Returns the file letter and the rank digit of a square.
#[inline]
const fn square_name(square: CozySquare) -> [u8; 2] {
    let index = square as u8;
    [b'a' + index % 8, b'1' + index / 8]
}

/// Adds moves from one square to each of the targets.
#[inline]
fn push_listed_moves(from: CozySquare, targets: BitBoard, moves: &mut ListedMoves) {
    /// Length of a move such as `"e2e4",`.
    const LENGTH: u8 = 7;

    let [file, rank] = square_name(from);
    let beginning = u32::from_le_bytes([b'"', file, rank, 0]);
    for to in targets {
        let [file, rank] = square_name(to);
        let end = u32::from_le_bytes([file, rank, b'"', b',']);
        let m = u64::from(beginning) | u64::from(end) << 24;
        moves.push(m.to_le_bytes(), LENGTH);
    }
}

/// Returns the lower-case letter of a piece in FEN.
const fn piece_letter(piece: Piece) -> u8 {
    match piece {
        Piece::Pawn => b'p',
        Piece::Knight => b'n',
        Piece::Bishop => b'b',
        Piece::Rook => b'r',
        Piece::Queen => b'q',
        Piece::King => b'k',
    }
}

/// Returns the seat that plays a colour.
const fn seat_of_color(color: Color) -> Seat {
    match color {
        Color::White => Seat::First,
        Color::Black => Seat::Second,
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_to(text))
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    /// Parses a move such as `e2e4` or `e7e8q`. Case and surrounding whitespace are ignored.
    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        // A valid move contains no whitespace. Trimming would take most of the time of this
        // function.
        let m = parse_uci(text.as_bytes()).or_else(|| parse_uci(text.trim().as_bytes()));
        m.ok_or(ParseMoveError { example: "e2e4" })
    }
}

fn parse_uci(text: &[u8]) -> Option<Move> {
    let (squares, promotion) = text.split_first_chunk::<4>()?;
    let [from_file, from_rank, to_file, to_rank] = squares.map(|byte| byte.to_ascii_lowercase());
    let promotion = match *promotion {
        [] => None,
        [letter] => Some(parse_promotion(letter)?),
        _ => return None,
    };
    Some(Move(cozy_chess::Move {
        from: CozySquare::new(parse_file(from_file)?, parse_rank(from_rank)?),
        to: CozySquare::new(parse_file(to_file)?, parse_rank(to_rank)?),
        promotion,
    }))
}

impl fmt::Display for Chess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_ascii(f, |text| self.append_fen(text))
    }
}

#[cfg(test)]
mod tests;
