//! Chess: who wins, and what short searches say on the way there, is what is learnt, of positions in which nothing is
//! about to be captured: as far as the rules of the evaluation do not say so themselves.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::chess::Chess;
use plyhouse_engine::game::{GameHistory, Outcome, Position, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{
    ChessFeatures, Evaluate, Limits, Report, Stop, TranspositionTable, search,
};
use sha2::{Digest, Sha256};

use crate::Args;
use crate::chances::{self, Chances};
use crate::kept::{self, Kept};
use crate::network::{Fit, Samples};

/// A game begins with so many random plies, or one more, so that either side moves first then.
const RANDOM_PLIES: usize = 8;

/// A game is not played if one side is so far ahead after its random plies.
const UNEQUAL: i32 = 250;

/// A game is won where the search sees so much in so many plies one after the other.
const WON: i32 = 1_500;
const WON_PLIES: u32 = 4;

/// A game is drawn where, after so many plies, the search has seen no more than this in so many plies one
/// after the other.
const LEVEL: i32 = 15;
const LEVEL_PLIES: u32 = 8;
const LEVEL_FROM: usize = 60;

/// A game that is so long is drawn.
const PLIES_MAX: usize = 250;

/// What the search sees no more of than this can be learnt from.
const SAID_MAX: i32 = 3_000;

/// How much the odds grow with what the search says is told by positions in which it sees no more than this: beyond
/// it all is won, by however much.
const OPEN_MAX: u16 = 600;

/// One game of so many is not learnt from: its positions tell by how much the weights err.
const HELD_OUT: usize = 20;

/// How much of what a position is taught comes from later; the rest is what the search says of the position
/// itself (Sutton, "Learning to predict by the methods of temporal differences", 1988).
const LATER: f32 = 0.8;

/// By how much weights change with a step at first.
const STEP: f32 = 0.003;

/// The sorts of pieces: six of the side to move, six of the other.
const SORTS: usize = 12;

/// A position in which nothing is about to be captured, as the side to move sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lesson {
    /// Where its pieces stand, by kind, and those of the other side.
    seen: [u64; SORTS],
    /// What the search says of it.
    said: i16,
    /// How the game ended for it: 0 lost, 1 drawn, 2 won.
    result: u8,
    /// Whether it is the first of its game, whether the second seat is to move, whether it is held out.
    is_first: bool,
    is_second_seat: bool,
    is_held_out: bool,
}

/// How many bytes a lesson takes in a file: which fields are taken, half a byte for each piece there, and the
/// rest.
const LESSON_BYTES: usize = 28;

impl Lesson {
    fn bytes(&self) -> [u8; LESSON_BYTES] {
        let mut bytes = [0; LESSON_BYTES];
        let taken = self.seen.iter().fold(0, |all, fields| all | fields);
        bytes[..8].copy_from_slice(&taken.to_le_bytes());
        for (place, field) in fields(taken).enumerate() {
            let sort = self.seen.iter().position(|fields| fields >> field & 1 != 0);
            let sort = u8::try_from(sort.expect("it is taken")).expect("there are twelve");
            bytes[8 + place / 2] |= sort << (4 * (place % 2));
        }
        bytes[24..26].copy_from_slice(&self.said.to_le_bytes());
        bytes[26] = self.result;
        let marks = [self.is_first, self.is_second_seat, self.is_held_out];
        bytes[27] = marks
            .iter()
            .rev()
            .fold(0, |all, is| all << 1 | u8::from(*is));
        bytes
    }

    /// What the search says, and how the game ended.
    fn ended(bytes: &[u8; LESSON_BYTES]) -> (i16, u8) {
        (i16::from_le_bytes([bytes[24], bytes[25]]), bytes[26])
    }

    fn read(bytes: &[u8; LESSON_BYTES]) -> Self {
        let marks = bytes[27];
        let (said, result) = Self::ended(bytes);
        Self {
            seen: seen(bytes),
            said,
            result,
            is_first: marks & 1 != 0,
            is_second_seat: marks & 2 != 0,
            is_held_out: marks & 4 != 0,
        }
    }
}

/// Where the pieces stand.
fn seen(bytes: &[u8; LESSON_BYTES]) -> [u64; SORTS] {
    let mut seen = [0; SORTS];
    let taken = u64::from_le_bytes(*bytes.first_chunk().expect("eight"));
    for (place, field) in fields(taken).enumerate() {
        let sort = bytes[8 + place / 2] >> (4 * (place % 2)) & 15;
        seen[usize::from(sort)] |= 1 << field;
    }
    seen
}

/// Whether a side has nothing but its king: such positions are valued by rules alone.
fn has_bare_king(seen: &[u64; SORTS]) -> bool {
    let count = |sides: &[u64]| sides.iter().map(|fields| fields.count_ones()).sum::<u32>();
    let (own, other) = seen.split_at(SORTS / 2);
    count(own) == 1 || count(other) == 1
}

/// The fields of a set, one after the other.
fn fields(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let field = set.trailing_zeros();
            set &= set - 1;
            field
        })
    })
}

/// A position as files keep it, and what is taught of it.
#[derive(Clone, Copy)]
struct Taught<'a> {
    kept: &'a [u8; LESSON_BYTES],
    /// What the rules say, as the logarithm of odds.
    known: f32,
    chance: f32,
}

impl Samples for Vec<Taught<'_>> {
    fn get(&self, number: usize) -> (ChessFeatures, f32, f32) {
        let Taught {
            kept,
            known,
            chance,
        } = self[number];
        (
            ChessFeatures::from_relative_bitboards(&seen(kept)),
            known,
            chance,
        )
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// Plays, fits and writes.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = kept::path(args, "chess");
    if args.games > 0 {
        play(args, &positions)?;
    }
    let Kept { files, hash } = Kept::read(args, positions)?;
    let (mut all, mut known) = (0, HashSet::new());
    let (mut taught, mut held_out) = (Vec::new(), Vec::new());
    let said = files.iter().flat_map(|(_, read)| read).map(Lesson::ended);
    let said = said.filter(|(said, _)| said.unsigned_abs() <= OPEN_MAX);
    let slope = chances::slope(said);
    eprintln!("odds grow by e every {:.0}", 1.0 / slope);
    for (_, read) in &files {
        let mut chances = Chances::new(slope, LATER);
        for kept in read.iter().rev() {
            all += 1;
            let lesson = Lesson::read(kept);
            let ended = (lesson.said, lesson.result);
            let chance = chances.before(ended, lesson.is_second_seat, lesson.is_first);
            if !has_bare_king(&lesson.seen) && known.insert(hash_of(&kept[..24])) {
                let taught = if lesson.is_held_out {
                    &mut held_out
                } else {
                    &mut taught
                };
                let pos =
                    Chess::from_relative_bitboards(&lesson.seen).expect("it was on the board");
                let known = slope * ChessFeatures::handcrafted_value(&pos) as f32;
                taught.push(Taught {
                    kept,
                    known,
                    chance,
                });
            }
        }
    }
    let different = known.len();
    drop(known);
    eprintln!("{all} positions, {different} of them different, sha256 {hash}...");
    fs::write(&args.out, learnt(args, &taught, &held_out))
        .with_context(|| args.out.display().to_string())
}

/// Fits the weights, and tells by how much they err.
fn learnt(args: &Args, taught: &Vec<Taught<'_>>, held_out: &Vec<Taught<'_>>) -> Vec<u8> {
    let mut chance = SeededRng::new(args.seed, "fit");
    let mut fit = Fit::new(&mut chance);
    eprintln!(
        "by rules alone: errs by {:.4} on those held out",
        fit.error(held_out)
    );
    for round in 0..args.rounds {
        let error = fit.round(taught, (round, args.rounds), STEP, &mut chance);
        let held_out = fit.error(held_out);
        eprintln!(
            "round {}: errs by {error:.4}, and by {held_out:.4} on those held out",
            round + 1
        );
    }
    let bytes = fit.write();
    eprintln!(
        "{} positions, and {} held out: errs by {:.4} there as written",
        taught.len(),
        held_out.len(),
        fit.error(held_out),
    );
    bytes
}

/// A number that different bytes hardly ever share.
fn hash_of(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    u64::from_le_bytes(*digest.first_chunk().expect("32"))
}

/// Plays games, and keeps their positions in a file.
fn play(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut player = Player {
        nodes: args.nodes,
        stop: Stop::new(),
        table: TranspositionTable::new(1 << 20),
    };
    let mut chance = SeededRng::new(args.seed, "chess");
    let mut results = [0; 3];
    for number in 1..=args.games as usize {
        if number % 100 == 0 {
            eprint!("\rgame {number} of {}: {results:?}    ", args.games);
        }
        let lessons = player.game(&mut chance);
        if let Some(first) = lessons.first() {
            let of_white = |result| {
                if first.is_second_seat {
                    2 - result
                } else {
                    result
                }
            };
            results[usize::from(of_white(first.result))] += 1;
        }
        for mut lesson in lessons {
            lesson.is_held_out = number % HELD_OUT == 0;
            file.write_all(&lesson.bytes())?;
        }
        // Whatever stops this, games are whole.
        file.flush()?;
    }
    eprintln!("\nlost, drawn, won by who moves first: {results:?}");
    Ok(())
}

/// Who plays both sides.
struct Player {
    nodes: u64,
    stop: Stop,
    table: TranspositionTable,
}

impl Player {
    /// The quiet positions of a game after its random plies.
    fn game(&mut self, chance: &mut SeededRng) -> Vec<Lesson> {
        let mut game = GameHistory::<Chess>::initial();
        let mut moves = Vec::new();
        for _ in 0..RANDOM_PLIES + chance.next_below(2) {
            moves.clear();
            game.legal_moves(&mut moves);
            if moves.is_empty() {
                return Vec::new();
            }
            game.play(moves[chance.next_below(moves.len())])
                .expect("it is legal");
        }
        self.table.clear();
        let mut lessons = Vec::new();
        let (mut won, mut level) = (0_i32, 0);
        let winner = loop {
            let pos = game.position().clone();
            match game.outcome() {
                Some(Outcome::Decisive { winner }) => break Some(winner),
                Some(Outcome::Draw) => break None,
                None => {}
            }
            self.table.start_search();
            let limits = Limits::nodes(self.nodes);
            let Report { score, pv, .. } =
                search(&game, &limits, &self.stop, &self.table).expect("the game goes on");
            let said = score.value();
            if lessons.is_empty() && said.abs() > UNEQUAL {
                return Vec::new();
            }
            // As the first seat counts it.
            let sign = if pos.turn() == Seat::First { 1 } else { -1 };
            won = match sign * said {
                WON.. => won.max(0) + 1,
                said if said <= -WON => won.min(0) - 1,
                _ => 0,
            };
            level = if said.abs() <= LEVEL { level + 1 } else { 0 };
            if won.unsigned_abs() >= WON_PLIES {
                break Some(if won > 0 { Seat::First } else { Seat::Second });
            }
            let plies = game.key_history().len();
            if plies >= PLIES_MAX || plies >= LEVEL_FROM && level >= LEVEL_PLIES {
                break None;
            }
            let best = pv[0];
            let is_quiet = !pos.is_forced() && pos.after(best).material() == pos.material();
            if is_quiet && said.abs() <= SAID_MAX {
                lessons.push(Lesson {
                    seen: pos.relative_bitboards(),
                    said: i16::try_from(said).expect("it is not won"),
                    result: 1,
                    is_first: lessons.is_empty(),
                    is_second_seat: pos.turn() == Seat::Second,
                    is_held_out: false,
                });
            }
            game.play(best).expect("it is legal");
        };
        if let Some(winner) = winner {
            for lesson in &mut lessons {
                let has_won = lesson.is_second_seat == (winner == Seat::Second);
                lesson.result = if has_won { 2 } else { 0 };
            }
        }
        lessons
    }
}
