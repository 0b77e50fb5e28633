//! List of the available games, and an interface that works with all of them. The modules `game`
//! and `search` are generic over the position type of a game. Code that works with any game uses
//! this interface instead, which represents moves and positions as text.

mod analysis_board;
mod initial_position;
mod level_ratings;
mod move_list;
mod movetext_tokenizer;
mod report_conversion;

use std::fmt;

use crate::game::board_appearance::diagram;
use crate::game::chess::Chess;
use crate::game::connect_four::ConnectFour;
use crate::game::draughts::Draughts;
use crate::game::go::Go;
use crate::game::gomoku::Gomoku;
use crate::game::othello::Othello;
use crate::game::tic_tac_toe::TicTacToe;
use crate::game::{
    Diagram, Ending, EngineProtocol, GameHistory, GameInfo, IllegalMove, Outcome, ParseMoveError,
    ParsePositionError, Position, ReadMoveError, RecordFormat, Seat, Symmetry,
};
use crate::search::{
    self, Evaluate, Level, Limits, Playouts, Report, Score, StoneFate, Stop, TranspositionTable,
    VisibleFeatures,
};

pub use analysis_board::{AnalysisBoard, SetUpError};
pub use initial_position::InitialPositionError;
pub use level_ratings::level_rating;

use self::analysis_board::TypedAnalysisBoard;
use self::report_conversion::{report_to_text, text_progress_callback, to_move_choice};

/// All games in this build. A new game needs an entry here. Code that uses the catalog needs no
/// change.
pub static CATALOG: [GameEntry; 7] = [
    GameEntry::for_game::<TicTacToe>(),
    GameEntry::for_game::<ConnectFour>(),
    GameEntry::for_game::<Othello>(),
    GameEntry::for_game::<Draughts>(),
    GameEntry::for_game::<Chess>(),
    GameEntry::for_game::<Gomoku>(),
    GameEntry::for_game::<Go<9>>(),
];

/// Returns the game with this id, if it is in the catalog.
#[must_use]
pub fn find_game(id: &str) -> Option<&'static GameEntry> {
    CATALOG.iter().find(|entry| entry.info.id == id)
}

/// Properties of a game, and constructors for its positions.
#[derive(Debug)]
pub struct GameEntry {
    /// Fixed properties of the game.
    pub info: GameInfo,
    /// Protocol of engines that play this game.
    pub engine_protocol: EngineProtocol,
    /// File format of game records, if there is one.
    pub record_format: Option<RecordFormat>,
    /// Whether players may agree on a draw before the game is over.
    pub allows_draw_offers: bool,
    /// Whether the bots of this game use Monte-Carlo playouts instead of minimax. For these bots,
    /// node limits and node counts are numbers of playouts.
    pub uses_playouts: bool,
    /// Whether bots at full strength can search to the end of the game from the initial position.
    /// Reviews of such a game judge moves by proven results, not by estimates.
    pub is_solved: bool,
    /// Evaluation score that corresponds to one point, in games decided by points.
    pub score_per_point: Option<i32>,
    /// Whether players of this game write moves in standard algebraic notation.
    pub uses_san: bool,
    initial_position: fn() -> Box<dyn AnyPosition>,
    analysis_board: fn(usize) -> Box<dyn AnalysisBoard>,
    parse_position: fn(&str) -> Result<Box<dyn AnyPosition>, ParsePositionError>,
    symmetries: &'static [Symmetry],
    transform_move: fn(&str, Symmetry) -> Option<String>,
}

impl GameEntry {
    /// Creates the catalog entry of the game whose positions have the type `P`.
    #[must_use]
    pub const fn for_game<P: Position + Evaluate>() -> Self {
        Self {
            info: P::INFO,
            engine_protocol: P::ENGINE_PROTOCOL,
            record_format: P::RECORD_FORMAT,
            allows_draw_offers: P::ALLOWS_DRAW_OFFERS,
            uses_playouts: P::MCTS.is_some(),
            is_solved: P::SOLVABLE_PLIES_MAX >= P::INFO.plies_max,
            score_per_point: if P::POINTS_MAX > 0 {
                Some(P::SCORE_PER_POINT)
            } else {
                None
            },
            uses_san: uses_san::<P>(),
            initial_position: || Box::new(ErasedPosition(GameHistory::<P>::initial())),
            analysis_board: |table_bytes| Box::new(TypedAnalysisBoard::<P>::new(table_bytes)),
            parse_position: |text| {
                Ok(Box::new(ErasedPosition(GameHistory::<P>::from(
                    text.parse::<P>()?,
                ))))
            },
            symmetries: P::SYMMETRIES,
            transform_move: |text, symmetry| {
                Some(move_to_text::<P>(P::transform_move(
                    text.parse().ok()?,
                    symmetry,
                )))
            },
        }
    }

    /// Returns the position before the first move.
    #[must_use]
    pub fn initial_position(&self) -> Box<dyn AnyPosition> {
        (self.initial_position)()
    }

    /// Returns the canonical form of a line of play, and the symmetry that maps the given line to
    /// the canonical form. Lines that differ only by a symmetry of the board have the same
    /// canonical form.
    ///
    /// If line A is a prefix of line B, the canonical form of A is a prefix of the canonical form
    /// of B. The moves must be in canonical notation.
    #[must_use]
    pub fn canonical_line(&self, line: &[&str]) -> (Vec<String>, Symmetry) {
        // The loop chooses the alphabetically first text among the transformed forms of each move.
        // It keeps only the symmetries that produce this text. Usually only a few symmetries remain
        // after the first move.
        let mut candidates = self.symmetries.to_vec();
        let canonical = line.iter().map(|m| {
            let transformed: Vec<String> = candidates
                .iter()
                .map(|by| self.transform_move(m, *by))
                .collect();
            let smallest = transformed.iter().min().cloned().unwrap_or_default();
            let mut is_smallest = transformed.iter().map(|turned| *turned == smallest);
            candidates.retain(|_| is_smallest.next() == Some(true));
            smallest
        });
        let canonical = canonical.collect();
        (canonical, candidates[0])
    }

    /// Returns the symmetries of the initial position, [`Symmetry::IDENTITY`] first.
    #[must_use]
    pub const fn symmetries(&self) -> &'static [Symmetry] {
        self.symmetries
    }

    /// Applies `symmetry` to the squares of the move `m` and returns the resulting move. Returns
    /// `m` unchanged if it is not a move of this game.
    #[must_use]
    pub fn transform_move(&self, m: &str, symmetry: Symmetry) -> String {
        let transformed =
            (symmetry != Symmetry::IDENTITY).then(|| (self.transform_move)(m, symmetry));
        transformed.flatten().unwrap_or_else(|| m.to_owned())
    }

    /// Creates an analysis board with the initial position and a transposition table of at most
    /// `table_bytes` bytes.
    #[must_use]
    pub fn analysis_board(&self, table_bytes: usize) -> Box<dyn AnalysisBoard> {
        (self.analysis_board)(table_bytes)
    }
}

/// Position of a game whose type is not known at compile time. `Display` writes the position in the
/// notation of the protocol.
pub trait AnyPosition: fmt::Debug + fmt::Display + Send + Sync {
    /// Returns the seat to move. After the end of the game, the returned seat has no meaning.
    fn turn(&self) -> Seat;

    /// Returns the outcome of the game, or `None` while it is in progress.
    fn outcome(&self) -> Option<Outcome>;

    /// Returns the kind of ending, such as checkmate or stalemate. Returns `None` while the game is
    /// in progress, and in games that do not distinguish kinds of endings.
    fn ending(&self) -> Option<Ending>;

    /// Returns the number of plies since the last irreversible move. Positions before the last
    /// irreversible move cannot be equal to the current position. In chess, the number is 0 after a
    /// capture or a pawn move. In games that do not count reversible moves, it is `usize::MAX`.
    fn reversible_plies(&self) -> usize;

    /// Returns whether the king of the seat to move is attacked. Returns `false` in games without
    /// kings.
    fn in_check(&self) -> bool;

    /// Returns the squares of the winning line, in games that are won by a line. Otherwise returns
    /// `None`.
    fn winning_line(&self) -> Option<Vec<String>>;

    /// Returns the board style and the pieces, so that a renderer can draw the position.
    fn diagram(&self) -> Diagram;

    /// Returns whether `seat` can still win by some sequence of legal moves, however unlikely.
    /// Returns `true` if the answer is unknown.
    fn can_win(&self, seat: Seat) -> bool;

    /// Appends the text of the position, which `Display` writes too. The text is ASCII and needs no
    /// escaping in JSON.
    fn append_text(&self, text: &mut Vec<u8>);

    /// Appends every legal move in canonical notation as a JSON array of strings. The order is that
    /// of [`legal_moves`](Self::legal_moves).
    fn append_legal_moves_json(&self, json: &mut Vec<u8>);

    /// Returns every legal move in canonical notation, in a fixed order. A finished game has no
    /// legal moves, unless it was [resumed](AnalysisBoard::resume).
    fn legal_moves(&self) -> Vec<String>;

    /// Returns the canonical notation of the move that `text` names in this position. The move may
    /// be illegal.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not in a notation of the game, or if it names no move of
    /// this position.
    fn read_move(&self, text: &str) -> Result<String, PlayError>;

    /// Plays the move that `text` names and returns its canonical notation.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a move or if the move is illegal. After an error, the
    /// position is unchanged.
    fn play(&mut self, text: &str) -> Result<String, PlayError>;

    /// Plays the move that `text` names and returns its canonical notation and, in chess, its
    /// standard algebraic notation.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`play`](Self::play).
    fn play_with_notation(&mut self, text: &str) -> Result<MoveNotation, PlayError>;

    /// Continues a game that has ended in a draw that a player must claim, such as the third
    /// occurrence of a position. Returns `false` if the game has not ended in such a draw.
    fn waive_draw(&mut self) -> bool;

    /// Returns the canonical notation of the move that `text` names, and the outcome after this
    /// move, without playing it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a move or if the move is illegal.
    fn preview_move(&self, text: &str) -> Result<(String, Option<Outcome>), PlayError>;

    /// Returns the move that a bot of this level plays, or `None` if the game is over.
    ///
    /// By default, the search runs on the thread of its caller. If a limit is reached or `stop` is
    /// set, the bot chooses from the results so far.
    ///
    /// The function clears the table first, so equal positions, levels, seeds and limits give equal
    /// moves. The chosen move may vary if `limits.time` or `stop` interrupts the search, or if the
    /// search uses several threads.
    fn choose_move(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
    ) -> Option<MoveChoice>;

    /// Chooses a move like [`choose_move`](Self::choose_move). At full strength, and at every level
    /// of a game that uses playouts, the search reports intermediate results to `on_progress`. A
    /// minimax search reports after every depth. A Monte-Carlo search reports each time its number
    /// of playouts has doubled.
    fn choose_move_with_progress(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<MoveChoice>;

    /// Converts a line of play that starts at this position to the notation of the game's [record
    /// format](GameEntry::record_format). The line may continue after a draw that a player must
    /// claim.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the moves is unreadable or illegal.
    fn moves_to_record_notation(&self, moves: &[String]) -> Result<Vec<String>, PlayError>;

    /// Searches the position at full strength. Returns `None` if the game is over.
    ///
    /// The search reads and writes the table, and reports intermediate results to `on_progress`. A
    /// minimax search reports after every depth. A Monte-Carlo search reports each time its number
    /// of playouts has doubled.
    fn analyse(
        &self,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>>;

    /// Converts a score to the scale that the literature on the game uses. The score is from the
    /// point of view of the seat to move.
    ///
    /// In games decided by points, the function converts an estimate to points. If the estimate
    /// comes from playouts, the function returns the average point margin of the playouts instead.
    fn conventional_score(&self, score: Score, playouts: Option<Playouts>) -> i32;

    /// Returns the material of each seat as beginners count it, or `None` in games without captures
    /// of pieces.
    fn material(&self) -> Option<[i32; 2]>;

    /// Returns the features, other than material, that a beginner can see in this position.
    fn visible_features(&self) -> VisibleFeatures;

    /// Estimates how likely each stone on the board is to survive. `playouts` is the number of
    /// playouts to run. Returns an empty list in games without playouts.
    fn estimate_stone_fates(&self, playouts: u32) -> Vec<StoneFate>;

    /// Returns `moves`, played from this position, in standard algebraic notation. The list ends
    /// before the first move that cannot be played. Returns `None` if the list is empty or the game
    /// does not use this notation.
    fn moves_to_san(&self, moves: &[String]) -> Option<Vec<String>> {
        let mut position = self.clone_box();
        let sans = moves
            .iter()
            .map_while(|m| position.play_with_notation(m).ok());
        let sans: Vec<String> = sans.map_while(|written| written.san).collect();
        (!sans.is_empty()).then_some(sans)
    }

    /// Returns a copy of the position.
    fn clone_box(&self) -> Box<dyn AnyPosition>;
}

impl Clone for Box<dyn AnyPosition> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// Move that a bot chose, with the report of its search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveChoice {
    /// The move, in canonical notation.
    pub m: String,
    /// Report of the search. Below full strength, the bot may play a move other than the best move
    /// of the report.
    pub report: Report<String>,
}

/// Notations of a move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveNotation {
    /// The move, in canonical notation.
    pub m: String,
    /// The move in standard algebraic notation, in games that use it.
    pub san: Option<String>,
}

/// Error returned when a move is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The text is not a move in the notation of the game.
    #[error(transparent)]
    Unreadable(#[from] ParseMoveError),
    /// The move cannot be played in this position.
    #[error(transparent)]
    Illegal(#[from] IllegalMoveError),
}

/// Error returned when a move cannot be played in the current position. The message begins with the
/// move: `c3 is already taken`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{m} {reason}")]
pub struct IllegalMoveError {
    /// The move in canonical notation, or the given text if it matches no move of the position.
    pub m: String,
    /// Reason why the move cannot be played.
    pub reason: IllegalMove,
}

/// Initial capacity of the text of a move. With this capacity, most texts never need to grow.
const MOVE_TEXT_CAPACITY: usize = 8;

/// Returns whether players of this game write moves in standard algebraic notation, as in PGN.
const fn uses_san<P: Position>() -> bool {
    matches!(P::RECORD_FORMAT, Some(RecordFormat::Pgn))
}

fn move_to_text<P: Position>(m: P::Move) -> String {
    let mut text = Vec::with_capacity(MOVE_TEXT_CAPACITY);
    P::append_move_text(m, &mut text);
    String::from_utf8(text).expect("the text is ASCII")
}

/// Implements [`AnyPosition`] for the game whose positions have the type `P`.
struct ErasedPosition<P: Position>(GameHistory<P>);

impl<P: Position> ErasedPosition<P> {
    fn parse_move(&self, text: &str) -> Result<P::Move, PlayError> {
        self.0.read_move(text).map_err(|error| match error {
            ReadMoveError::Unreadable(why) => PlayError::Unreadable(why),
            ReadMoveError::Illegal(why) => PlayError::Illegal(IllegalMoveError {
                m: text.trim().to_owned(),
                reason: why,
            }),
        })
    }

    fn play_move_text(&mut self, text: &str) -> Result<P::Move, PlayError> {
        let m = self.parse_move(text)?;
        self.play_move(m)?;
        Ok(m)
    }

    fn play_move(&mut self, m: P::Move) -> Result<(), PlayError> {
        Ok(self.0.play(m).map_err(|why| illegal_move_error(m, why))?)
    }
}

fn illegal_move_error(m: impl fmt::Display, reason: IllegalMove) -> IllegalMoveError {
    IllegalMoveError {
        m: m.to_string(),
        reason,
    }
}

impl<P: Position + Evaluate> AnyPosition for ErasedPosition<P> {
    fn turn(&self) -> Seat {
        self.0.position().turn()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }

    fn ending(&self) -> Option<Ending> {
        self.0.ending()
    }

    fn reversible_plies(&self) -> usize {
        self.0.position().reversible_plies()
    }

    fn in_check(&self) -> bool {
        self.0.position().in_check()
    }

    fn winning_line(&self) -> Option<Vec<String>> {
        self.0.position().winning_line().map(to_strings)
    }

    fn diagram(&self) -> Diagram {
        diagram(self.0.position())
    }

    fn can_win(&self, seat: Seat) -> bool {
        self.0.position().can_win(seat)
    }

    fn append_text(&self, text: &mut Vec<u8>) {
        self.0.position().append_text(text);
    }

    fn append_legal_moves_json(&self, json: &mut Vec<u8>) {
        self.0.append_legal_moves_json(json);
    }

    fn legal_moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        self.0.legal_moves(&mut moves);
        moves.into_iter().map(move_to_text::<P>).collect()
    }

    fn read_move(&self, text: &str) -> Result<String, PlayError> {
        self.parse_move(text).map(move_to_text::<P>)
    }

    fn play(&mut self, text: &str) -> Result<String, PlayError> {
        self.play_move_text(text).map(move_to_text::<P>)
    }

    fn play_with_notation(&mut self, text: &str) -> Result<MoveNotation, PlayError> {
        let m = self.parse_move(text)?;
        let position_before = uses_san::<P>().then(|| self.0.position().clone());
        self.play_move(m)?;
        Ok(MoveNotation {
            m: move_to_text::<P>(m),
            san: position_before.map(|before| before.move_to_record_notation(m, self.0.position())),
        })
    }

    fn waive_draw(&mut self) -> bool {
        self.0.waive_draw()
    }

    fn preview_move(&self, text: &str) -> Result<(String, Option<Outcome>), PlayError> {
        let m = self.parse_move(text)?;
        let outcome = self
            .0
            .outcome_after(m)
            .map_err(|why| illegal_move_error(m, why))?;
        Ok((move_to_text::<P>(m), outcome))
    }

    fn choose_move(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
    ) -> Option<MoveChoice> {
        search::choose_move(&self.0, level, seed, limits, stop, table).map(to_move_choice)
    }

    fn choose_move_with_progress(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<MoveChoice> {
        table.clear();
        let on_typed_progress = &mut text_progress_callback(on_progress);
        search::choose_move_with_progress(
            &self.0,
            level,
            seed,
            limits,
            stop,
            table,
            on_typed_progress,
        )
        .map(to_move_choice)
    }

    fn moves_to_record_notation(&self, moves: &[String]) -> Result<Vec<String>, PlayError> {
        let mut replayed = Self(self.0.clone());
        let mut notations = Vec::with_capacity(moves.len());
        for text in moves {
            replayed.0.waive_draw();
            let m = replayed.parse_move(text)?;
            let position_before = replayed.0.position().clone();
            replayed.play_move(m)?;
            notations.push(position_before.move_to_record_notation(m, replayed.0.position()));
        }
        Ok(notations)
    }

    fn analyse(
        &self,
        limits: &Limits,
        stop: &Stop,
        table: &mut TranspositionTable,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>> {
        search::search_at_full_strength(
            &self.0,
            limits,
            stop,
            table,
            &mut text_progress_callback(on_progress),
        )
        .map(report_to_text)
    }

    fn conventional_score(&self, score: Score, playouts: Option<Playouts>) -> i32 {
        match playouts.filter(|_| !score.is_decided()) {
            Some(played) => played.points_average,
            None => self.0.position().conventional_score(score),
        }
    }

    fn material(&self) -> Option<[i32; 2]> {
        self.0.position().material()
    }

    fn visible_features(&self) -> VisibleFeatures {
        self.0.position().visible_features()
    }

    fn estimate_stone_fates(&self, playouts: u32) -> Vec<StoneFate> {
        P::estimate_stone_fates(&self.0, playouts)
    }

    fn clone_box(&self) -> Box<dyn AnyPosition> {
        Box::new(Self(self.0.clone()))
    }
}

impl<P: Position> fmt::Debug for ErasedPosition<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0.position(), f)
    }
}

impl<P: Position> fmt::Display for ErasedPosition<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0.position(), f)
    }
}

fn to_strings<T: fmt::Display>(items: Vec<T>) -> Vec<String> {
    items.iter().map(T::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance;

    /// The array `checks` contains one function for each catalog entry, in catalog order. If a game
    /// has no function in the array, the test does not compile.
    #[test]
    fn entries_match_their_typed_games_and_pass_the_conformance_suite() {
        let checks: [fn(&GameEntry); CATALOG.len()] = [
            check_entry::<TicTacToe>,
            check_entry::<ConnectFour>,
            check_entry::<Othello>,
            check_entry::<Draughts>,
            check_entry::<Chess>,
            check_entry::<Gomoku>,
            check_entry::<Go<9>>,
        ];
        for (check, entry) in checks.into_iter().zip(&CATALOG) {
            check(entry);
        }
    }

    fn check_entry<P: Position + Evaluate>(entry: &GameEntry) {
        assert_eq!(entry.info, P::INFO);
        assert_eq!(
            entry.allows_draw_offers,
            P::INFO.id != "tic-tac-toe",
            "{}",
            P::INFO.id
        );
        conformance::check_game::<P>();
        let games = if P::INFO.plies_max > 100 { 5 } else { 50 };
        check_symmetries_of_entry::<P>(entry);
        for seed in 0..games {
            let (mut erased, mut typed) = (entry.initial_position(), GameHistory::<P>::initial());
            let (_, played) = conformance::random_game::<P>(seed);
            for m in &played {
                check_same_state(erased.as_ref(), &typed);
                check_illegal_moves(erased.as_ref(), &typed);
                check_bot_moves(erased.as_ref(), seed);
                let text = m.to_string();
                assert_eq!(erased.read_move(&text), Ok(text.clone()));
                let san = entry.uses_san.then(|| {
                    let position = typed.position();
                    position.move_to_record_notation(*m, &position.after(*m))
                });
                let mut notated = erased.clone_box();
                let m_and_san = notated
                    .play_with_notation(&text)
                    .map(|result| (result.m, result.san));
                assert_eq!(m_and_san, Ok((text.clone(), san)));
                assert_eq!(erased.play(&text.to_uppercase()), Ok(text));
                typed.play(*m).expect("the move is legal");
                check_same_state(notated.as_ref(), &typed);
            }
            check_same_state(erased.as_ref(), &typed);
            check_bot_moves(erased.as_ref(), seed);
            check_analysis_board(entry, &typed, to_strings(played));
        }
    }

    /// Applies every symmetry to a game. Checks that the resulting game is legal and that its
    /// canonical line equals the canonical line of the original game.
    fn check_symmetries_of_entry<P: Position>(entry: &GameEntry) {
        let (_, played) = conformance::random_game::<P>(1);
        let line = to_strings(played);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let (canonical, _) = entry.canonical_line(&line);
        for symmetry in P::SYMMETRIES {
            let mut board = entry.initial_position();
            let transformed: Vec<String> = line
                .iter()
                .map(|m| entry.transform_move(m, *symmetry))
                .collect();
            for m in &transformed {
                board.play(m).expect("the transformed move is legal");
            }
            assert!(board.outcome().is_some());
            let transformed: Vec<&str> = transformed.iter().map(String::as_str).collect();
            let (canonical_of_transformed, to_canonical) = entry.canonical_line(&transformed);
            assert_eq!(canonical_of_transformed, canonical);
            let restored = canonical
                .iter()
                .map(|m| entry.transform_move(m, to_canonical.inverse()));
            assert_eq!(restored.collect::<Vec<_>>(), transformed);
            for plies in 0..line.len().min(9) {
                assert_eq!(
                    entry.canonical_line(&transformed[..plies]).0,
                    canonical[..plies]
                );
            }
        }
    }

    /// Sets up an analysis board twice: from a list of moves, and from the text of the final
    /// position. Checks that the board reaches the expected position in both cases. The moves are
    /// separated by commas or spaces, or joined if the notation allows it.
    fn check_analysis_board<P: Position>(
        entry: &GameEntry,
        end: &GameHistory<P>,
        played: Vec<String>,
    ) {
        let mut analysis_board = entry.analysis_board(0);
        let width = played[0].len();
        let mut texts = vec![played.join(", "), played.join(" ")];
        if entry.info.id == "gomoku" || played.iter().all(|m| m.len() == width) {
            texts.push(played.concat());
        }
        for text in texts {
            assert_eq!(
                analysis_board.set_up_moves(&text).as_ref(),
                Ok(&played),
                "{text}"
            );
            check_same_state(analysis_board.position(), end);
        }
        let error = analysis_board
            .play_moves(&played[0])
            .expect_err("no move is legal after the end");
        assert!(matches!(error, SetUpError::Illegal { ply: 0, .. }));
        let (stop, limits) = (Stop::new(), Limits::default());
        assert_eq!(analysis_board.solve(&limits, &stop), None);
        assert_eq!(
            analysis_board.analyse(false, &limits, &stop, &mut |_| {}),
            None
        );

        // A position set up from text has no history.
        let end = GameHistory::from(end.position().clone());
        let text = end.position().to_string();
        analysis_board.set_up(&text).expect(&text);
        check_same_state(analysis_board.position(), &end);
    }

    fn check_same_state<P: Position>(erased: &dyn AnyPosition, typed: &GameHistory<P>) {
        assert_eq!(erased.to_string(), typed.position().to_string());
        assert_eq!(
            (erased.turn(), erased.outcome(), erased.ending()),
            (typed.position().turn(), typed.outcome(), typed.ending())
        );
        assert_eq!(
            erased.winning_line(),
            typed.position().winning_line().map(to_strings)
        );
        assert_eq!(erased.in_check(), typed.position().in_check());
        for seat in Seat::ALL {
            assert_eq!(erased.can_win(seat), typed.position().can_win(seat));
        }
        let mut moves = Vec::new();
        typed.legal_moves(&mut moves);
        let moves = to_strings(moves);
        assert_eq!(erased.legal_moves(), moves);
        let (mut text, mut json) = (Vec::new(), Vec::new());
        erased.append_text(&mut text);
        erased.append_legal_moves_json(&mut json);
        assert_eq!(String::from_utf8(text), Ok(erased.to_string()));
        let quoted: Vec<String> = moves.iter().map(|m| format!("\"{m}\"")).collect();
        assert_eq!(
            String::from_utf8(json),
            Ok(format!("[{}]", quoted.join(",")))
        );
    }

    /// Checks that a rejected move leaves the position unchanged, and that a copy is independent of
    /// the original.
    fn check_illegal_moves<P: Position>(erased: &dyn AnyPosition, typed: &GameHistory<P>) {
        let (start, mut copy) = (P::initial(), erased.clone_box());
        let mut moves = Vec::new();
        start.legal_moves(&mut moves);
        for m in moves {
            let result = copy.play(&m.to_string());
            match typed.check_legal(m) {
                Ok(()) => {
                    assert_eq!(result, Ok(m.to_string()));
                    check_same_state(erased, typed);
                    copy = erased.clone_box();
                }
                Err(why) => {
                    let illegal = IllegalMoveError {
                        m: m.to_string(),
                        reason: why,
                    };
                    assert_eq!(result, Err(PlayError::Illegal(illegal)));
                    check_same_state(copy.as_ref(), typed);
                }
            }
        }
        let error = copy.play("?").expect_err("not a move of any game");
        assert!(matches!(error, PlayError::Unreadable(_)));
        assert_eq!(copy.read_move("?"), Err(error));
        check_same_state(copy.as_ref(), typed);
    }

    /// Checks that every bot level chooses a legal move, even if `stop` is set before the search.
    /// If the game is over, the bot must not return a move.
    fn check_bot_moves(erased: &dyn AnyPosition, seed: u64) {
        let stop = Stop::new();
        stop.stop();
        let mut table = TranspositionTable::new(1 << 16);
        for level in Level::ALL {
            let choice = erased.choose_move(level, seed, &Limits::default(), &stop, &mut table);
            assert_eq!(choice.is_none(), erased.outcome().is_some(), "{erased}");
            if let Some(choice) = choice {
                assert!(
                    erased.legal_moves().contains(&choice.m),
                    "{level} plays {}",
                    choice.m
                );
            }
        }
    }

    #[test]
    fn find_game_returns_each_entry_by_its_id() {
        for entry in &CATALOG {
            let found = find_game(entry.info.id).expect("the game is in the catalog");
            assert!(std::ptr::eq(found, entry), "{}", entry.info.id);
        }
        assert!(find_game("tic_tac_toe").is_none());
    }

    #[test]
    fn play_errors_name_the_move() {
        let mut pos = find_game("tic-tac-toe")
            .expect("the game is in the catalog")
            .initial_position();
        assert_eq!(pos.play(" C3"), Ok("c3".to_owned()));
        let errors = [pos.play("c3"), pos.play("d4")].map(|e| e.expect_err("no").to_string());
        assert_eq!(
            errors,
            [
                "c3 is already taken",
                "not a move of this game: expected a move such as b2"
            ]
        );
        assert_eq!(pos.to_string(), "..x/.../...");
    }
}
