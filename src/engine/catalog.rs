//! Every game this build can host, and the one face by which the floors above hold a game: below
//! this module all is generic over a game, above it all games look alike and speak text.

mod analyst;
mod in_text;
mod move_list;
mod movetext;
mod published;
mod starting;

use std::fmt;

use crate::game::chess::Chess;
use crate::game::connect_four::ConnectFour;
use crate::game::draughts::Draughts;
use crate::game::go::Go;
use crate::game::gomoku::Gomoku;
use crate::game::othello::Othello;
use crate::game::picture::picture;
use crate::game::tic_tac_toe::TicTacToe;
use crate::game::{
    Course, Ending, EngineProtocol, GameInfo, IllegalMove, Outcome, ParseMoveError,
    ParsePositionError, Picture, Position, ReadMoveError, RecordFormat, Seat, Symmetry,
};
use crate::search::{
    self, Evaluate, Fate, Level, Limits, Playouts, Report, Score, Sight, Stop, Table,
};

pub use analyst::{Analyst, SetUpError};
pub use published::level_ratings;
pub use starting::StartError;

use self::analyst::TypedAnalyst;
use self::in_text::{chosen, text, watched};

/// Every game this build can host. A game is added here and nowhere above.
pub static CATALOG: [Entry; 7] = [
    Entry::of::<TicTacToe>(),
    Entry::of::<ConnectFour>(),
    Entry::of::<Othello>(),
    Entry::of::<Draughts>(),
    Entry::of::<Chess>(),
    Entry::of::<Gomoku>(),
    Entry::of::<Go<9>>(),
];

/// The game with this id, if this build can host it.
#[must_use]
pub fn find(id: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.info.id == id)
}

/// A game that can be hosted.
#[derive(Debug)]
pub struct Entry {
    /// What is fixed about the game.
    pub info: GameInfo,
    /// The protocol that programs of this game speak.
    pub engine: EngineProtocol,
    /// The format in which games of this kind are kept, if there is one.
    pub record: Option<RecordFormat>,
    /// Whether players may agree on a draw before the game is over.
    pub draws: bool,
    /// Whether its bots play games out in place of looking ahead, so that a node of a search is a playout.
    pub plays_out: bool,
    /// Whether full strength looks from the first ply on to the end of the game, so that what is not known of a
    /// position is not worth telling.
    pub is_solved: bool,
    /// How much of an estimate is a point, in games in which points decide.
    pub point: Option<i32>,
    /// Whether players of this game write moves in standard algebraic notation.
    pub writes_san: bool,
    start: fn() -> Box<dyn AnyPosition>,
    analyst: fn(usize) -> Box<dyn Analyst>,
    start_at: fn(&str) -> Result<Box<dyn AnyPosition>, ParsePositionError>,
    symmetries: &'static [Symmetry],
    turned: fn(&str, Symmetry) -> Option<String>,
}

impl Entry {
    /// The entry of the game whose positions are `P`.
    #[must_use]
    pub const fn of<P: Position + Evaluate>() -> Self {
        Self {
            info: P::INFO,
            engine: P::ENGINE,
            record: P::RECORD,
            draws: P::DRAWS,
            plays_out: P::PLAYOUTS.is_some(),
            is_solved: P::SOLVED_FROM >= P::INFO.plies_max,
            point: if P::POINTS_MAX > 0 {
                Some(P::POINT)
            } else {
                None
            },
            writes_san: writes_san::<P>(),
            start: || Box::new(Erased(Course::<P>::start())),
            analyst: |table_bytes| Box::new(TypedAnalyst::<P>::new(table_bytes)),
            start_at: |text| Ok(Box::new(Erased(Course::<P>::from(text.parse::<P>()?)))),
            symmetries: P::SYMMETRIES,
            turned: |text, by| Some(written::<P>(P::turned(text.parse().ok()?, by))),
        }
    }

    /// The position before the first move.
    #[must_use]
    pub fn start(&self) -> Box<dyn AnyPosition> {
        (self.start)()
    }

    /// The line that stands for this one and for all that are the same on a board that is laid down
    /// otherwise, and how the board has to be laid for it. What a line begins with is what its beginning
    /// stands for. Moves are in canonical form.
    #[must_use]
    pub fn same_line(&self, line: &[&str]) -> (Vec<String>, Symmetry) {
        // Most ways to lay the board drop out at the first move.
        let mut left = self.symmetries.to_vec();
        let same = line.iter().map(|m| {
            let turned: Vec<String> = left.iter().map(|by| self.turned(m, *by)).collect();
            let least = turned.iter().min().cloned().unwrap_or_default();
            let mut is_least = turned.iter().map(|turned| *turned == least);
            left.retain(|_| is_least.next() == Some(true));
            least
        });
        let same = same.collect();
        (same, left[0])
    }

    /// The symmetries of the position before the first move, [`Symmetry::NONE`] first.
    #[must_use]
    pub const fn symmetries(&self) -> &'static [Symmetry] {
        self.symmetries
    }

    /// The move that this one becomes on a board that is laid down so.
    #[must_use]
    pub fn turned(&self, m: &str, by: Symmetry) -> String {
        let turned = (by != Symmetry::NONE).then(|| (self.turned)(m, by));
        turned.flatten().unwrap_or_else(|| m.to_owned())
    }

    /// An analyst with the position before the first move, and a table of at most so many bytes.
    #[must_use]
    pub fn analyst(&self, table_bytes: usize) -> Box<dyn Analyst> {
        (self.analyst)(table_bytes)
    }
}

/// A position whose game is not known at compile time. Its `Display` is the wire notation.
pub trait AnyPosition: fmt::Debug + fmt::Display + Send + Sync {
    /// The seat that moves next. Once there is an outcome it means nothing.
    fn turn(&self) -> Seat;

    /// How the game ended, or `None` while it goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// How the game ended, in games that know several ways to; `None` while it goes on.
    fn ending(&self) -> Option<Ending>;

    /// Number of the positions just before this one that could come again. 0 after a capture or a pawn's move
    /// in chess; `usize::MAX` in games in which no move is special.
    fn reversible_plies(&self) -> usize;

    /// Whether the seat to move has a king that is attacked, in games that have kings.
    fn in_check(&self) -> bool;

    /// The squares that make the win, in games that are won by a line; else `None`.
    fn line(&self) -> Option<Vec<String>>;

    /// How it looks.
    fn picture(&self) -> Picture;

    /// Whether `seat` can still win, by any series of legal moves however bad; `true` where the game
    /// does not know.
    fn can_win(&self, seat: Seat) -> bool;

    /// Tells every legal move in canonical form, in a fixed order. Once there is an outcome there are none,
    /// unless the game was [resumed](Analyst::resume).
    fn each_legal_move(&self, tell: &mut dyn FnMut(&str));

    /// Every legal move in canonical form, in the same order.
    fn legal_moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        self.each_legal_move(&mut |m| moves.push(m.to_owned()));
        moves
    }

    /// The canonical form of the move that `text` names here, whether or not it is legal.
    ///
    /// # Errors
    ///
    /// The text is not in a notation of this game, or names no move of this position.
    fn read_move(&self, text: &str) -> Result<String, PlayError>;

    /// Plays the move that `text` names and returns its canonical form.
    ///
    /// # Errors
    ///
    /// The move is unreadable, or illegal here. The position is then as it was.
    fn play(&mut self, text: &str) -> Result<String, PlayError>;

    /// Plays the move that `text` names and returns how it is written.
    ///
    /// # Errors
    ///
    /// As of [`play`](Self::play).
    fn play_written(&mut self, text: &str) -> Result<Written, PlayError>;

    /// Lets the game continue if it has ended by a draw that a player has to claim, such as the third
    /// occurrence of a position. Returns whether it has.
    fn waive_draw(&mut self) -> bool;

    /// The canonical form of the move that `text` names, and the outcome once it is played here.
    ///
    /// # Errors
    ///
    /// The move is unreadable, or illegal here.
    fn try_play(&self, text: &str) -> Result<(String, Option<Outcome>), PlayError>;

    /// The move that a bot of this level plays; `None` once there is an outcome.
    ///
    /// Runs on the caller's thread until a limit or `stop`, and answers its best so far then. The
    /// same position, level, seed and limits give the same move, unless time cut it short.
    /// The table forgets what it knew.
    fn choose(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
    ) -> Option<Choice>;

    /// Chooses as [`choose`](Self::choose) does. At full strength `watch` is told what is known after every
    /// depth, or after more and more playouts.
    fn choose_watched(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Choice>;

    /// The moves of a game that goes on from here, as the game's [record](Entry::record) writes them. The
    /// game may continue after a draw that a player has to claim.
    ///
    /// # Errors
    ///
    /// One of them cannot be played when its turn comes.
    fn recorded(&self, moves: &[String]) -> Result<Vec<String>, PlayError>;

    /// What full strength thinks of the position; `None` once there is an outcome.
    ///
    /// Uses what is in the table, and leaves there what it finds. `watch` is told what is known after every
    /// depth, or after more and more playouts.
    fn look(
        &self,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>>;

    /// A win, a draw or a loss here as the literature on the game writes it; else the estimate, in points where
    /// they decide: by the playouts, where there were any. For the seat to move.
    fn customary(&self, score: Score, playouts: Option<Playouts>) -> i32;

    /// What the seats' pieces are worth as beginners count them, in games in which they can be taken.
    fn material(&self) -> Option<[i32; 2]>;

    /// What else a beginner sees here.
    fn sight(&self) -> Sight;

    /// What becomes of the stones on the board, by so many playouts; nothing in games that are not played out.
    fn fates(&self, playouts: u32) -> Vec<Fate>;

    /// Moves of a game that goes on from here in standard algebraic notation, in games whose players write so,
    /// up to the first that cannot be played.
    fn in_san(&self, moves: &[String]) -> Option<Vec<String>> {
        let mut position = self.clone_box();
        let sans = moves.iter().map_while(|m| position.play_written(m).ok());
        let sans: Vec<String> = sans.map_while(|written| written.san).collect();
        (!sans.is_empty()).then_some(sans)
    }

    /// A copy of the position.
    fn clone_box(&self) -> Box<dyn AnyPosition>;
}

/// A bot's move, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move, in canonical form.
    pub m: String,
    /// What the search found. Below full strength the move need not be the one it liked best.
    pub report: Report<String>,
}

/// A move that was played, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// In canonical form.
    pub m: String,
    /// In standard algebraic notation, in games whose players write so.
    pub san: Option<String>,
}

/// A move was turned down.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The text is not in this game's notation.
    #[error(transparent)]
    Unreadable(#[from] ParseMoveError),
    /// The move cannot be played in this position.
    #[error(transparent)]
    Illegal(#[from] IllegalHere),
}

/// A move that cannot be played in this position, by name: `c3 is already taken`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{m} {why}")]
pub struct IllegalHere {
    /// The move, in canonical form.
    pub m: String,
    /// Why it cannot be played.
    pub why: IllegalMove,
}

/// For how many moves a list of them has room from the start, and for how many letters a move's text:
/// both are made with every move that is played, and most grow no further.
const MOVES_ROOM: usize = 64;
const TEXT_ROOM: usize = 8;

/// Whether players of this game write moves in standard algebraic notation, as PGN does.
const fn writes_san<P: Position>() -> bool {
    matches!(P::RECORD, Some(RecordFormat::Pgn))
}

/// The text form of a move.
fn written<P: Position>(m: P::Move) -> String {
    let mut text = String::with_capacity(TEXT_ROOM);
    P::push_move(m, &mut text);
    text
}

/// A typed position and its past behind the untyped face.
struct Erased<P: Position>(Course<P>);

impl<P: Position> Erased<P> {
    fn read(&self, text: &str) -> Result<P::Move, PlayError> {
        self.0.read_move(text).map_err(|error| match error {
            ReadMoveError::Unreadable(why) => PlayError::Unreadable(why),
            ReadMoveError::Illegal(why) => PlayError::Illegal(IllegalHere {
                m: text.trim().to_owned(),
                why,
            }),
        })
    }

    fn play_text(&mut self, text: &str) -> Result<P::Move, PlayError> {
        let m = self.read(text)?;
        self.play_read(m)?;
        Ok(m)
    }

    fn play_read(&mut self, m: P::Move) -> Result<(), PlayError> {
        Ok(self.0.play(m).map_err(|why| IllegalHere {
            m: m.to_string(),
            why,
        })?)
    }
}

impl<P: Position + Evaluate> AnyPosition for Erased<P> {
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

    fn line(&self) -> Option<Vec<String>> {
        self.0.position().line().map(texts)
    }

    fn picture(&self) -> Picture {
        picture(self.0.position())
    }

    fn can_win(&self, seat: Seat) -> bool {
        self.0.position().can_win(seat)
    }

    fn each_legal_move(&self, tell: &mut dyn FnMut(&str)) {
        let mut moves = Vec::with_capacity(MOVES_ROOM);
        self.0.legal_moves(&mut moves);
        let mut text = String::with_capacity(TEXT_ROOM);
        for m in &moves {
            text.clear();
            P::push_move(*m, &mut text);
            tell(&text);
        }
    }

    fn read_move(&self, text: &str) -> Result<String, PlayError> {
        self.read(text).map(written::<P>)
    }

    fn play(&mut self, text: &str) -> Result<String, PlayError> {
        self.play_text(text).map(written::<P>)
    }

    fn play_written(&mut self, text: &str) -> Result<Written, PlayError> {
        let m = self.read(text)?;
        let before = writes_san::<P>().then(|| self.0.position().clone());
        self.play_read(m)?;
        Ok(Written {
            m: written::<P>(m),
            san: before.map(|before| before.recorded(m)),
        })
    }

    fn waive_draw(&mut self) -> bool {
        self.0.waive_draw()
    }

    fn try_play(&self, text: &str) -> Result<(String, Option<Outcome>), PlayError> {
        let m = self.read(text)?;
        let mut after = Self(self.0.clone());
        after.play_read(m)?;
        Ok((written::<P>(m), after.outcome()))
    }

    fn choose(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
    ) -> Option<Choice> {
        search::choose(&self.0, level, seed, limits, stop, table).map(chosen)
    }

    fn choose_watched(
        &self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Choice> {
        table.forget();
        let watch = &mut watched(watch);
        search::choose_watched(&self.0, level, seed, limits, stop, table, watch).map(chosen)
    }

    fn recorded(&self, moves: &[String]) -> Result<Vec<String>, PlayError> {
        let mut course = Self(self.0.clone());
        let mut written = Vec::with_capacity(moves.len());
        for text in moves {
            course.0.waive_draw();
            let m = course.read(text)?;
            let before = course.0.position().clone();
            course.play_read(m)?;
            written.push(before.recorded(m));
        }
        Ok(written)
    }

    fn look(
        &self,
        limits: &Limits,
        stop: &Stop,
        table: &mut Table,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>> {
        search::look_watched(&self.0, limits, stop, table, &mut watched(watch)).map(text)
    }

    fn customary(&self, score: Score, playouts: Option<Playouts>) -> i32 {
        match playouts.filter(|_| !score.is_decided()) {
            Some(played) => played.points,
            None => self.0.position().customary(score),
        }
    }

    fn material(&self) -> Option<[i32; 2]> {
        self.0.position().material()
    }

    fn sight(&self) -> Sight {
        self.0.position().sight()
    }

    fn fates(&self, playouts: u32) -> Vec<Fate> {
        P::fates(&self.0, playouts)
    }

    fn clone_box(&self) -> Box<dyn AnyPosition> {
        Box::new(Self(self.0.clone()))
    }
}

impl<P: Position> fmt::Debug for Erased<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0.position(), f)
    }
}

impl<P: Position> fmt::Display for Erased<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0.position(), f)
    }
}

fn texts<T: fmt::Display>(all: Vec<T>) -> Vec<String> {
    all.iter().map(T::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::laws;

    /// One check an entry, in the catalog's order: a game that is forgotten here does not compile.
    #[test]
    fn every_entry_is_its_typed_game_and_obeys_the_laws() {
        let checks: [fn(&Entry); CATALOG.len()] = [
            check::<TicTacToe>,
            check::<ConnectFour>,
            check::<Othello>,
            check::<Draughts>,
            check::<Chess>,
            check::<Gomoku>,
            check::<Go<9>>,
        ];
        for (check, entry) in checks.into_iter().zip(&CATALOG) {
            check(entry);
        }
    }

    fn check<P: Position + Evaluate>(entry: &Entry) {
        assert_eq!(entry.info, P::INFO);
        assert_eq!(entry.draws, P::INFO.id != "tic-tac-toe", "{}", P::INFO.id);
        laws::check::<P>();
        let games = if P::INFO.plies_max > 100 { 5 } else { 50 };
        check_symmetries::<P>(entry);
        for seed in 0..games {
            let (mut boxed, mut typed) = (entry.start(), Course::<P>::start());
            let (_, played) = laws::random_game::<P>(seed);
            for m in &played {
                check_agrees(boxed.as_ref(), &typed);
                check_refusals(boxed.as_ref(), &typed);
                check_choices(boxed.as_ref(), seed);
                let text = m.to_string();
                assert_eq!(boxed.read_move(&text), Ok(text.clone()));
                let san = entry.writes_san.then(|| typed.position().recorded(*m));
                let mut told = boxed.clone_box();
                let m_and_san = told.play_written(&text).map(|told| (told.m, told.san));
                assert_eq!(m_and_san, Ok((text.clone(), san)));
                assert_eq!(boxed.play(&text.to_uppercase()), Ok(text));
                typed.play(*m).expect("it is legal");
                check_agrees(told.as_ref(), &typed);
            }
            check_agrees(boxed.as_ref(), &typed);
            check_choices(boxed.as_ref(), seed);
            check_analyst(entry, &typed, texts(played));
        }
    }

    /// A game can be played on a board that is laid down otherwise, and its line stands for both.
    fn check_symmetries<P: Position>(entry: &Entry) {
        let (_, played) = laws::random_game::<P>(1);
        let line = texts(played);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let (same, _) = entry.same_line(&line);
        for by in P::SYMMETRIES {
            let mut board = entry.start();
            let turned: Vec<String> = line.iter().map(|m| entry.turned(m, *by)).collect();
            for m in &turned {
                board.play(m).expect("it is legal there, too");
            }
            assert!(board.outcome().is_some());
            let turned: Vec<&str> = turned.iter().map(String::as_str).collect();
            let (of_turned, back) = entry.same_line(&turned);
            assert_eq!(of_turned, same);
            let again = same.iter().map(|m| entry.turned(m, back.inverse()));
            assert_eq!(again.collect::<Vec<_>>(), turned);
            for plies in 0..line.len().min(9) {
                assert_eq!(entry.same_line(&turned[..plies]).0, same[..plies]);
            }
        }
    }

    /// An analyst finds the same position by its text and by the moves, however these are written.
    fn check_analyst<P: Position>(entry: &Entry, end: &Course<P>, played: Vec<String>) {
        let mut analyst = entry.analyst(0);
        let width = played[0].len();
        let mut written = vec![played.join(", "), played.join(" ")];
        if entry.info.id == "gomoku" || played.iter().all(|m| m.len() == width) {
            written.push(played.concat());
        }
        for text in written {
            assert_eq!(analyst.set_up_moves(&text).as_ref(), Ok(&played), "{text}");
            check_agrees(analyst.position(), end);
        }
        let error = analyst.play(&played[0]).expect_err("the game is over");
        assert!(matches!(error, SetUpError::Illegal { ply: 0, .. }));
        let (stop, limits) = (Stop::new(), Limits::default());
        assert_eq!(analyst.solve(&limits, &stop), None);
        assert_eq!(analyst.analyse(false, &limits, &stop, &mut |_| {}), None);

        // What a position alone tells has no past.
        let end = Course::from(end.position().clone());
        let text = end.position().to_string();
        analyst.set_up(&text).expect(&text);
        check_agrees(analyst.position(), &end);
    }

    fn check_agrees<P: Position>(boxed: &dyn AnyPosition, typed: &Course<P>) {
        assert_eq!(boxed.to_string(), typed.position().to_string());
        assert_eq!(
            (boxed.turn(), boxed.outcome(), boxed.ending()),
            (typed.position().turn(), typed.outcome(), typed.ending())
        );
        assert_eq!(boxed.line(), typed.position().line().map(texts));
        assert_eq!(boxed.in_check(), typed.position().in_check());
        for seat in Seat::ALL {
            assert_eq!(boxed.can_win(seat), typed.position().can_win(seat));
        }
        let mut moves = Vec::new();
        typed.legal_moves(&mut moves);
        assert_eq!(boxed.legal_moves(), texts(moves));
    }

    /// What is turned down leaves the position as it was, and a copy is a position of its own.
    fn check_refusals<P: Position>(boxed: &dyn AnyPosition, typed: &Course<P>) {
        let (start, mut copy) = (P::start(), boxed.clone_box());
        let mut moves = Vec::new();
        start.legal_moves(&mut moves);
        for m in moves {
            let told = copy.play(&m.to_string());
            match typed.check(m) {
                Ok(()) => {
                    assert_eq!(told, Ok(m.to_string()));
                    check_agrees(boxed, typed);
                    copy = boxed.clone_box();
                }
                Err(why) => {
                    let refused = IllegalHere {
                        m: m.to_string(),
                        why,
                    };
                    assert_eq!(told, Err(PlayError::Illegal(refused)));
                    check_agrees(copy.as_ref(), typed);
                }
            }
        }
        let unread = copy.play("?").expect_err("not a move anywhere");
        assert!(matches!(unread, PlayError::Unreadable(_)));
        assert_eq!(copy.read_move("?"), Err(unread));
        check_agrees(copy.as_ref(), typed);
    }

    /// A bot has a legal move as long as there is one, however little it may spend.
    fn check_choices(boxed: &dyn AnyPosition, seed: u64) {
        let stop = Stop::new();
        stop.stop();
        let mut table = Table::new(1 << 16);
        for level in Level::ALL {
            let choice = boxed.choose(level, seed, &Limits::default(), &stop, &mut table);
            assert_eq!(choice.is_none(), boxed.outcome().is_some(), "{boxed}");
            if let Some(choice) = choice {
                assert!(
                    boxed.legal_moves().contains(&choice.m),
                    "{level} plays {}",
                    choice.m
                );
            }
        }
    }

    #[test]
    fn ids_are_unique_and_found() {
        for entry in &CATALOG {
            let found = find(entry.info.id).expect("it is in the catalog");
            assert!(std::ptr::eq(found, entry), "{}", entry.info.id);
        }
        assert!(find("tic_tac_toe").is_none());
    }

    #[test]
    fn a_move_is_turned_down_by_name() {
        let mut pos = find("tic-tac-toe").expect("always hosted").start();
        assert_eq!(pos.play(" C3"), Ok("c3".to_owned()));
        let refusals = [pos.play("c3"), pos.play("d4")].map(|e| e.expect_err("no").to_string());
        assert_eq!(
            refusals,
            [
                "c3 is already taken",
                "not a move of this game, which looks like b2"
            ]
        );
        assert_eq!(pos.to_string(), "..x/.../...");
    }
}
