//! Chess by the laws of FIDE (Laws of Chess, 2023). A move is written as the Universal Chess
//! Interface does, `e2e4`, `e7e8q`, castling as the king's step `e1g1`; a position in FEN.
//! How players write moves, `Nf3`, is read by [`Position::read_move`] and written by [`Chess::san`].
//!
//! Where pieces may go is known by the crate `cozy-chess`; here stands what it leaves open: how a
//! game ends, and how things are called. A draw that players may claim is given to them at once: by
//! fifty moves (article 9.3) here, by a third occurrence (9.2) by whoever keeps the past.

mod fen;
mod piece_paths;
mod san;

use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use cozy_chess::{
    BitBoard, Board, BoardBuilder, Color, File, Piece, Rank, Square as CozySquare, get_pawn_attacks,
};

use self::san::SanError;
use super::{
    BoardStyle, DiagramPiece, Ending, GameInfo, IllegalMove, Outcome, ParseMoveError, PieceColor,
    PieceShape, Position, ReadMoveError, RecordFormat, RepetitionRule, Seat, Square,
    strip_move_number,
};

/// After so many plies without a capture or a pawn's move the game is drawn: fifty moves a side.
const HALFMOVE_CLOCK_MAX: u8 = 100;

/// Pawns move at most six times each, and all but the kings can be captured once.
const IRREVERSIBLE_PLIES_MAX: u32 = 16 * 6 + 30;

/// A position of chess, with all that FEN tells of the past.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chess {
    board: Board,
}

/// A move: from where to where, and what a pawn becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move(cozy_chess::Move);

impl Move {
    /// The field that is left.
    pub(crate) const fn from(self) -> CozySquare {
        self.0.from
    }

    /// The field that is reached; in castling, by the king.
    pub(crate) const fn to(self) -> CozySquare {
        self.0.to
    }

    /// What a pawn becomes.
    pub(crate) const fn promotion(self) -> Option<Piece> {
        self.0.promotion
    }
}

impl Chess {
    /// Where the pieces stand.
    pub(crate) const fn board(&self) -> &Board {
        &self.board
    }

    /// The pieces of the side to move, from pawns to the king, and those of the other: a bit for each field, a1
    /// the lowest, with the board turned so that the side to move plays up it.
    #[must_use]
    pub fn relative_bitboards(&self) -> [u64; 2 * Piece::NUM] {
        let turn = self.board.side_to_move();
        std::array::from_fn(|kind| {
            let color = if kind < Piece::NUM { turn } else { !turn };
            let squares = self
                .board
                .colored_pieces(color, Piece::ALL[kind % Piece::NUM]);
            match turn {
                Color::White => squares.0,
                Color::Black => squares.0.swap_bytes(),
            }
        })
    }

    /// The position that the side to move, which is White, sees so, with no right to castle: the reverse of
    /// `seen_by_mover`. `None` if pieces cannot stand so.
    #[must_use]
    pub fn from_relative_bitboards(bitboards: &[u64; 2 * Piece::NUM]) -> Option<Self> {
        let mut builder = BoardBuilder::empty();
        for (kind, squares) in bitboards.iter().enumerate() {
            let color = if kind < Piece::NUM {
                Color::White
            } else {
                Color::Black
            };
            for square in BitBoard(*squares) {
                *builder.square_mut(square) = Some((Piece::ALL[kind % Piece::NUM], color));
            }
        }
        builder.build().ok().map(|board| Self { board })
    }

    /// Whether the king of the side to move is attacked.
    pub(crate) fn is_check(&self) -> bool {
        !self.board.checkers().is_empty()
    }

    /// Whether any move leads out of here, whatever else ends the game.
    #[inline]
    fn can_move(&self) -> bool {
        // Most often a pawn can advance, and it takes a tenth of the time to see that.
        self.can_advance_pawn() || self.has_any_legal_move()
    }

    /// Whether a pawn can step forward: one that is not pinned, so there may be others.
    #[inline]
    fn can_advance_pawn(&self) -> bool {
        let board = &self.board;
        let turn = board.side_to_move();
        let pawns = board.colored_pieces(turn, Piece::Pawn) & !board.pinned();
        // No pawn stands on its last rank, so none comes round to the first.
        let ahead = BitBoard(match turn {
            Color::White => pawns.0.rotate_left(8),
            Color::Black => pawns.0.rotate_right(8),
        });
        !self.is_check() && !ahead.is_subset(board.occupied())
    }

    /// Whether there is a move of any piece. It stands apart to keep `can_move` small where that is
    /// inlined.
    fn has_any_legal_move(&self) -> bool {
        self.board.generate_moves(|_| true)
    }

    /// Whether the game is drawn though there are moves.
    #[inline]
    fn is_drawn_despite_moves(&self) -> bool {
        self.board.halfmove_clock() >= HALFMOVE_CLOCK_MAX || self.is_dead_position()
    }

    /// Whether no sequence of moves can lead to mate for want of pieces (article 5.2.2): bare kings,
    /// one minor piece, or bishops that all stand on fields of one colour. Pawns that block each
    /// other for good are not looked for.
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

    /// Whether a side has the pieces for a mate if the other helps. A knight by itself needs a piece that
    /// stands in its own king's way, and a queen there could always end the check; bishops on fields of one
    /// colour need a piece on the other that cannot.
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

    /// The file on which a pawn can be captured in passing, if one can.
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

    /// The position if the side to move could pass; `None` in check.
    pub(crate) fn after_null_move(&self) -> Option<Self> {
        self.board.null_move().map(|board| Self { board })
    }

    /// Tells `visit` every move, whatever ends the game.
    pub(crate) fn for_each_move(&self, mut visit: impl FnMut(Piece, Move)) {
        self.board.generate_moves(|moves| {
            let piece = moves.piece;
            for m in moves {
                // Only kings castle.
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

    /// Tells `visit` every move that ends on one of the targets of its piece, castling apart.
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

    /// A move of `cozy-chess`, which has the king castle onto the rook's field.
    fn convert_cozy_move(&self, m: cozy_chess::Move) -> Move {
        if !self.board.colors(self.board.side_to_move()).has(m.to) {
            return Move(m);
        }
        let file = if m.to.file() > m.from.file() {
            File::G
        } else {
            File::C
        };
        Move(cozy_chess::Move {
            to: CozySquare::new(file, m.from.rank()),
            ..m
        })
    }

    /// The reverse of `named`.
    #[inline]
    fn to_cozy_move(&self, m: Move) -> cozy_chess::Move {
        if self.is_castling(m) {
            castling_onto_rook(m)
        } else {
            m.0
        }
    }

    /// Whether the king leaps.
    #[inline]
    fn is_castling(&self, Move(m): Move) -> bool {
        // What most moves are not comes first.
        (m.from as u8).abs_diff(m.to as u8) == 2
            && self.board.pieces(Piece::King).has(m.from)
            && m.from.rank() == m.to.rank()
    }

    /// Whether the pieces may move so, whatever ends the game.
    fn is_legal_ignoring_end(&self, m: Move) -> bool {
        // Onto a piece of one's own only `cozy-chess` moves, to castle.
        !self.board.colors(self.board.side_to_move()).has(m.to())
            && self.board.is_legal(self.to_cozy_move(m))
    }

    /// Why a move that is not possible is not.
    fn illegality_reason(&self, m: Move) -> &'static str {
        let turn = self.board.side_to_move();
        match self.board.color_on(m.from()) {
            None => "starts where there is no piece",
            Some(color) if color != turn => "moves a piece of the opponent",
            Some(_) if self.is_check() => "does not answer the check",
            Some(_) => {
                let with_promotion = Move(cozy_chess::Move {
                    promotion: Some(Piece::Queen),
                    ..m.0
                });
                if m.promotion().is_none() && self.is_legal_ignoring_end(with_promotion) {
                    "does not say what the pawn becomes, as in e7e8q"
                } else {
                    "is not how that piece can move here"
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
        // Each irreversible ply, and the start, is followed by fewer than a hundred others before
        // the next or the end.
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
                Outcome::Decisive {
                    winner: self.turn().other(),
                }
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
        Some(Ending {
            detail,
            scores: None,
        })
    }

    fn in_check(&self) -> bool {
        self.is_check()
    }

    /// By material alone (articles 6.9 and 7.5.5, as far as it goes).
    fn can_win(&self, seat: Seat) -> bool {
        self.can_mate(color_of_seat(seat))
    }

    /// Positions are the same when the same side can play the same moves (article 9.2.3).
    #[inline]
    fn repetition_key(&self) -> u64 {
        if self.board.en_passant().is_some() && self.legal_en_passant_file().is_some() {
            self.board.hash()
        } else {
            self.board.hash_without_ep()
        }
    }

    /// As far as FEN tells: the loss of a right to castle is not minded.
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

    /// A player has to claim the draw by fifty moves (FIDE Laws of Chess, article 9.3).
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
            SanError::Illegal => IllegalMove("names no legal move").into(),
            SanError::Ambiguous => IllegalMove("names more than one move").into(),
        })
    }

    fn move_to_record_notation(&self, m: Move) -> String {
        self.san(m)
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

    /// A dead position ends the game, but the pieces can still move.
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

/// Castling as `cozy-chess` has it: each side does so once a game at most.
#[cold]
fn castling_onto_rook(Move(m): Move) -> cozy_chess::Move {
    let file = if m.to.file() > m.from.file() {
        File::H
    } else {
        File::A
    };
    cozy_chess::Move {
        to: CozySquare::new(file, m.from.rank()),
        ..m
    }
}

/// Whether all these fields are dark, or all light.
fn are_on_one_square_color(squares: BitBoard) -> bool {
    squares.is_subset(BitBoard::DARK_SQUARES) || squares.is_subset(BitBoard::LIGHT_SQUARES)
}

/// The colour of a seat.
const fn color_of_seat(seat: Seat) -> Color {
    match seat {
        Seat::First => Color::White,
        Seat::Second => Color::Black,
    }
}

/// The seat of a colour.
const fn seat_of_color(color: Color) -> Seat {
    match color {
        Color::White => Seat::First,
        Color::Black => Seat::Second,
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    /// Reads `e2e4` or `e7e8q`, without regard to case and surrounding space.
    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        let unreadable = ParseMoveError { example: "e2e4" };
        let text = text.trim().to_ascii_lowercase();
        let is_move = match text.as_bytes() {
            [_, _, _, _] => true,
            [_, _, _, _, promotion] => b"nbrq".contains(promotion),
            _ => false,
        };
        if !is_move {
            return Err(unreadable);
        }
        text.parse().map(Self).map_err(|_| unreadable)
    }
}

impl fmt::Display for Chess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.board.fmt(f)
    }
}

#[cfg(test)]
mod tests;
