//! Draughts: who wins is what is learnt, and by how much a position seems to be won on the way there.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::{GameHistory, Outcome, Position, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{DraughtsFeatures, Limits, Report, Stop, TranspositionTable, search};

use crate::Args;
use crate::chances::{self, Chances};
use crate::fit::{Fit, Pace, Sample, Scale};
use crate::kept::{self, Kept};

/// A game begins with so many random plies, and up to so many more: few in half of the games, and in the
/// others so many that men are lost and crowned where no good player would have it.
const RANDOM_PLIES: usize = 6;
const MORE_PLIES: [usize; 2] = [9, 23];

/// A game is not played if one side is so far ahead after its random plies.
const UNEQUAL: i32 = 350;

/// A game is over where the search sees so much, which is more than all pieces: an ending that is won.
const WON: i32 = 4_900;

/// After so many plies without a capture or a move of a man nothing will come of it.
const QUIET_PLIES: usize = 40;

/// One game of so many is not learnt from: its positions tell by how much the weights err.
const HELD_OUT: usize = 20;

/// How many plies are looked ahead, if nothing else is said.
const DEPTH: u32 = 6;

/// How much of what a position is taught comes from later; the rest is what the search says of the position
/// itself.
const LATER: f32 = 0.9;

/// What is learnt are logarithms of odds. There are up to 24 men.
const PACE: Pace = Pace {
    scale: Scale::Odds,
    term_step: 0.002,
};

/// All weights are kept in so many parts of what makes odds greater by a factor of e.
const KEPT: f32 = 128.0;

/// A position in which nothing can be captured, as the side to move sees it.
#[derive(Clone, Copy)]
struct Lesson {
    /// Its men and kings, and those of the other side.
    seen: [u32; 4],
    /// What the search says of it.
    said: i16,
    /// How the game ended for it: 0 lost, 1 drawn, 2 won.
    result: u8,
    /// Whether it is the first of its game, whether the second seat is to move, whether it is held out.
    is_first: bool,
    is_second_seat: bool,
    is_held_out: bool,
}

/// How many bytes a lesson takes in a file.
const LESSON_BYTES: usize = 20;

impl Lesson {
    fn bytes(&self) -> [u8; LESSON_BYTES] {
        let mut bytes = [0; LESSON_BYTES];
        for (set, bytes) in self.seen.iter().zip(bytes.as_chunks_mut::<4>().0) {
            *bytes = set.to_le_bytes();
        }
        bytes[16..18].copy_from_slice(&self.said.to_le_bytes());
        bytes[18] = self.result;
        let marks = [self.is_first, self.is_second_seat, self.is_held_out];
        bytes[19] = marks
            .iter()
            .rev()
            .fold(0, |all, is| all << 1 | u8::from(*is));
        bytes
    }

    fn read(bytes: &[u8; LESSON_BYTES]) -> Self {
        let sets = bytes.as_chunks::<4>().0;
        let marks = bytes[19];
        Self {
            seen: std::array::from_fn(|set| u32::from_le_bytes(sets[set])),
            said: i16::from_le_bytes([bytes[16], bytes[17]]),
            result: bytes[18],
            is_first: marks & 1 != 0,
            is_second_seat: marks & 2 != 0,
            is_held_out: marks & 4 != 0,
        }
    }
}

/// Plays, fits and writes.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = kept::path(args, "draughts");
    if args.games > 0 {
        play(args, &positions)?;
    }
    let Kept { files, hash } = Kept::read(args, positions)?;
    let mut lessons = Vec::new();
    for (name, read) in files {
        let read: Vec<_> = read.iter().map(Lesson::read).collect();
        let slope = chances::slope(read.iter().map(|lesson| (lesson.said, lesson.result)));
        eprintln!("{name}: odds grow by e every {:.0}", 1.0 / slope);
        lessons.extend(taught(&read, slope));
    }
    let all = lessons.len();
    let mut known = HashSet::new();
    lessons.retain(|(lesson, _)| known.insert(lesson.seen));
    let different = lessons.len();
    eprintln!("{all} positions, {different} of them different, sha256 {hash}...");
    fs::write(&args.out, learnt(args, &lessons)).with_context(|| args.out.display().to_string())
}

/// What is taught of positions, games one after the other: the chance of winning.
fn taught(lessons: &[Lesson], slope: f32) -> Vec<(Lesson, f32)> {
    let mut taught = Vec::with_capacity(lessons.len());
    let mut chances = Chances::new(slope, LATER);
    for lesson in lessons.iter().rev() {
        let ended = (lesson.said, lesson.result);
        let chance = chances.before(ended, lesson.is_second_seat, lesson.is_first);
        taught.push((*lesson, chance));
    }
    taught.reverse();
    taught
}

/// Fits the weights, and tells by how much they err.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is written has been rounded to what fits"
)]
fn learnt(args: &Args, lessons: &[(Lesson, f32)]) -> Vec<u8> {
    let (mut taught, mut held_out) = (Vec::new(), Vec::new());
    for (lesson, truth) in lessons {
        let features =
            DraughtsFeatures::from_position(&Draughts::from_relative_bitboards(lesson.seen));
        let sample = Sample {
            patterns: features.patterns,
            terms: features.terms.map(|term| term as f32),
            shares: features.shares,
            truth: *truth,
        };
        if lesson.is_held_out {
            held_out.push(sample);
        } else {
            taught.push(sample);
        }
    }
    let mut chance = SeededRng::new(args.seed, "fit");
    let mut fit = Fit::new(
        &taught,
        DraughtsFeatures::PATTERN_WEIGHT_COUNT,
        args.restraint,
        PACE,
    );
    for round in 0..args.rounds {
        fit.round(&mut taught, round as f32 / args.rounds as f32, &mut chance);
    }
    let error = fit.error(&held_out);
    let cut = fit.round_to(KEPT, KEPT);
    eprintln!(
        "{} positions, errs by {:.4} on them and by {error:.4} on {} held out, {:.4} as written; {cut} cut off",
        taught.len(),
        fit.error(&taught),
        held_out.len(),
        fit.error(&held_out),
    );
    let terms = fit.terms.as_flattened().iter();
    let terms = terms.flat_map(|term| ((term * KEPT) as i16).to_le_bytes());
    let weights = fit.weights.as_flattened().iter();
    let weights = weights.map(|weight| ((weight * KEPT) as i8).cast_unsigned());
    terms.chain(weights).collect()
}

/// Plays games, and keeps their positions in a file.
fn play(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut player = Player {
        depth: args.depth.unwrap_or(DEPTH),
        stop: Stop::new(),
        table: TranspositionTable::new(1 << 20),
    };
    let mut chance = SeededRng::new(args.seed, "draughts");
    let mut results = [0; 3];
    for number in 1..=args.games as usize {
        if number % 100 == 0 {
            eprint!("\rgame {number} of {}    ", args.games);
        }
        let lessons = player.game(&mut chance);
        if let Some(first) = lessons.first() {
            results[usize::from(first.result)] += 1;
        }
        for mut lesson in lessons {
            lesson.is_held_out = number % HELD_OUT == 0;
            file.write_all(&lesson.bytes())?;
        }
    }
    eprintln!("\nlost, drawn, won by who moves first: {results:?}");
    Ok(file.flush()?)
}

/// Who plays both sides.
struct Player {
    depth: u32,
    stop: Stop,
    table: TranspositionTable,
}

impl Player {
    /// The positions of a game after its random plies in which nothing can be captured.
    fn game(&mut self, chance: &mut SeededRng) -> Vec<Lesson> {
        let mut game = GameHistory::<Draughts>::initial();
        let more = MORE_PLIES[chance.next_below(2)];
        let mut moves = Vec::new();
        for _ in 0..RANDOM_PLIES + chance.next_below(more) {
            moves.clear();
            game.legal_moves(&mut moves);
            if moves.is_empty() {
                return Vec::new();
            }
            game.play(moves[chance.next_below(moves.len())])
                .expect("it is legal");
        }
        if game.outcome().is_some() {
            return Vec::new();
        }
        self.table.clear();
        let mut lessons = Vec::new();
        let winner = loop {
            let pos = *game.position();
            match game.outcome() {
                Some(Outcome::Decisive { winner }) => break Some(winner),
                Some(Outcome::Draw) => break None,
                None => {}
            }
            moves.clear();
            pos.legal_moves(&mut moves);
            let must_capture = moves[0].is_capture();
            if must_capture && moves.len() == 1 {
                game.play(moves[0]).expect("it is legal");
                continue;
            }
            self.table.start_search();
            let limits = Limits::depth(self.depth);
            let Report { score, pv, .. } =
                search(&game, &limits, &self.stop, &self.table).expect("the game goes on");
            let said = score.value();
            if lessons.is_empty() && said.abs() > UNEQUAL {
                return Vec::new();
            }
            if said.abs() > WON {
                break Some(if said > 0 {
                    pos.turn()
                } else {
                    pos.turn().other()
                });
            }
            if pos.endgame_number().is_some() || pos.reversible_plies() > QUIET_PLIES {
                break None;
            }
            if !must_capture {
                lessons.push(Lesson {
                    seen: pos.relative_bitboards(),
                    said: i16::try_from(said).expect("it is not won"),
                    result: 1,
                    is_first: lessons.is_empty(),
                    is_second_seat: pos.turn() == Seat::Second,
                    is_held_out: false,
                });
            }
            game.play(pv[0]).expect("it is legal");
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
