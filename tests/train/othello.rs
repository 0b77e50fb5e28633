//! Othello: a disc more or less at the end is what is learnt, from the first ply to the last.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use plyhouse_engine::game::othello::Othello;
use plyhouse_engine::game::{GameHistory, Position, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{
    Limits, OthelloFeatures, Report, Stop, TranspositionTable, search, solve,
};

use crate::Args;
use crate::fit::{Fit, Pace, Sample, Scale};
use crate::kept::{self, Kept};

/// A game begins with so many random plies, and up to so many more: few in half of the games, and in the
/// others so many that also what no good player would do is seen in all stages.
const RANDOM_PLIES: usize = 6;
const MORE_PLIES: [usize; 2] = [8, 28];

/// How many plies are looked ahead, if nothing else is said.
const DEPTH: u32 = 3;

/// One game of so many is not learnt from: its positions tell by how much the weights err.
const HELD_OUT: usize = 20;

/// Positions just outside of a stage, by so many discs, are learnt from for that stage as well, so that values do not
/// jump between stages.
const OVERLAP: u32 = 2;

/// Weights of patterns are kept in eighths of a disc, those of terms in 64ths.
const PATTERNS_IN_DISC: f32 = 8.0;
const TERMS_IN_DISC: f32 = 64.0;

/// How much of what a position is taught comes from later: where the search is not sure of the end, the rest is
/// what the search says of the position itself (Sutton, "Learning to predict by the methods of temporal
/// differences", 1988).
const LATER: f32 = 0.9;

/// Discs are learnt. Either side can play on ten squares or more.
const PACE: Pace = Pace {
    scale: Scale::Value,
    term_step: 0.002,
};

/// How much of an estimate of the engine is a disc.
const ESTIMATE_OF_DISC: f32 = 12.0;

/// How much of what is kept in a file is a disc.
const KEPT_OF_DISC: f32 = 256.0;

/// A position, and by how many discs the side to move seems to win. Also whether it is held out.
struct Lesson {
    discs: [u64; 2],
    margin: f32,
    is_held_out: bool,
}

/// How many bytes a lesson takes in a file.
const LESSON_BYTES: usize = 19;

impl Lesson {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "nobody wins by more than 64"
    )]
    fn bytes(&self) -> [u8; LESSON_BYTES] {
        let mut bytes = [0; LESSON_BYTES];
        bytes[..8].copy_from_slice(&self.discs[0].to_le_bytes());
        bytes[8..16].copy_from_slice(&self.discs[1].to_le_bytes());
        let margin = (self.margin * KEPT_OF_DISC).round() as i16;
        bytes[16..18].copy_from_slice(&margin.to_le_bytes());
        bytes[18] = u8::from(self.is_held_out);
        bytes
    }

    fn read(bytes: &[u8; LESSON_BYTES]) -> Self {
        let discs = |from: usize| u64::from_le_bytes(*bytes[from..].first_chunk().expect("eight"));
        Self {
            discs: [discs(0), discs(8)],
            margin: f32::from(i16::from_le_bytes([bytes[16], bytes[17]])) / KEPT_OF_DISC,
            is_held_out: bytes[18] != 0,
        }
    }
}

/// Plays, fits and writes.
pub(super) fn train(args: &Args) -> anyhow::Result<()> {
    let positions = kept::path(args, "othello");
    if args.games > 0 {
        play(args, &positions)?;
    }
    let Kept { files, hash } = Kept::read(args, positions)?;
    let read = files.iter().flat_map(|(_, read)| read);
    let lessons: Vec<_> = read.map(Lesson::read).collect();
    eprintln!("{} positions, sha256 {hash}...", lessons.len());
    let mut out = Vec::new();
    for stage in 0..OthelloFeatures::STAGE_COUNT {
        out.extend(learnt(args, stage, &lessons)?);
    }
    fs::write(&args.out, out).with_context(|| args.out.display().to_string())
}

/// Plays games, and keeps their positions in a file.
fn play(args: &Args, positions: &Path) -> anyhow::Result<()> {
    let file = File::create(positions);
    let file = file.with_context(|| positions.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut player = Player {
        depth: args.depth.unwrap_or(DEPTH),
        solved: args.solved,
        stop: Stop::new(),
        table: TranspositionTable::new(1 << 20),
    };
    let mut chance = SeededRng::new(args.seed, "othello");
    for number in 1..=args.games as usize {
        if number % 1000 == 0 {
            eprint!("\rgame {number} of {}    ", args.games);
        }
        for mut lesson in player.game(&mut chance) {
            lesson.is_held_out = number % HELD_OUT == 0;
            file.write_all(&lesson.bytes())?;
        }
    }
    eprintln!();
    Ok(file.flush()?)
}

/// Who plays both sides.
struct Player {
    depth: u32,
    solved: u32,
    stop: Stop,
    table: TranspositionTable,
}

impl Player {
    /// The positions of a game after its random plies, but for those in which there is nothing to choose.
    fn game(&mut self, chance: &mut SeededRng) -> Vec<Lesson> {
        let mut pos = Othello::initial();
        let more = MORE_PLIES[chance.next_below(2)];
        let mut moves = Vec::new();
        for _ in 0..RANDOM_PLIES + chance.next_below(more) {
            moves.clear();
            pos.legal_moves(&mut moves);
            if moves.is_empty() {
                return Vec::new();
            }
            pos.play_unchecked(moves[chance.next_below(moves.len())]);
        }
        let mut seen = Vec::new();
        while pos.outcome().is_none() {
            moves.clear();
            pos.legal_moves(&mut moves);
            let m = if moves.len() == 1 {
                moves[0]
            } else {
                let (m, said) = self.choose(&pos);
                seen.push((pos, said));
                m
            };
            pos.play_unchecked(m);
        }
        let points = pos.ending().and_then(|ending| ending.scores);
        let [first, second] = points.expect("it is over").map(|points| points as f32);
        taught(&seen, first - second)
    }

    /// The move that is played, which is the best where the end is near, and how many discs the side to move seems
    /// to win by.
    fn choose(&mut self, pos: &Othello) -> (<Othello as Position>::Move, f32) {
        self.table.clear();
        let course = GameHistory::from(*pos);
        let report = if pos.empties() <= self.solved {
            solve(&course, &Limits::default(), &self.stop, &self.table)
        } else {
            search(&course, &Limits::depth(self.depth), &self.stop, &self.table)
        };
        let Report { score, pv, .. } = report.expect("the game goes on");
        let said = score
            .points()
            .map_or(score.value() as f32 / ESTIMATE_OF_DISC, |points| {
                points as f32
            });
        (pv[0], said)
    }
}

/// What is taught of the positions of a game, of which the search has said so much for the side to move, and
/// which the first player has won by so many discs.
fn taught(seen: &[(Othello, f32)], margin: f32) -> Vec<Lesson> {
    let mut later = margin;
    let mut lessons = Vec::with_capacity(seen.len());
    for (pos, said) in seen.iter().rev() {
        let sign = if pos.turn() == Seat::First { 1.0 } else { -1.0 };
        later = LATER * later + (1.0 - LATER) * sign * said;
        lessons.push(Lesson {
            discs: pos.discs(),
            margin: sign * later,
            is_held_out: false,
        });
    }
    lessons
}

/// Fits the weights of a stage, and tells by how much they err.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is written has been rounded to what fits"
)]
fn learnt(args: &Args, stage: usize, lessons: &[Lesson]) -> anyhow::Result<Vec<u8>> {
    let (mut taught, mut held_out) = (Vec::new(), Vec::new());
    for lesson in lessons {
        let discs = lesson.discs.map(u64::count_ones).iter().sum::<u32>();
        let free = 64 - discs;
        let is_near = |free: u32| OthelloFeatures::stage_for_empties(free) == stage;
        if !is_near(free)
            && (lesson.is_held_out
                || !is_near(free + OVERLAP) && !is_near(free.saturating_sub(OVERLAP)))
        {
            continue;
        }
        let features = OthelloFeatures::from_discs(lesson.discs);
        let sample = Sample {
            patterns: features.patterns.map(u32::from),
            terms: features.terms.map(|term| term as f32),
            shares: [1.0],
            truth: lesson.margin,
        };
        if lesson.is_held_out {
            held_out.push(sample);
        } else {
            taught.push(sample);
        }
    }
    let mut chance = SeededRng::new(args.seed, &format!("stage {stage}"));
    let mut fit = Fit::new(
        &taught,
        OthelloFeatures::PATTERN_WEIGHT_COUNT,
        args.restraint,
        PACE,
    );
    for round in 0..args.rounds {
        fit.round(&mut taught, round as f32 / args.rounds as f32, &mut chance);
    }
    let error = fit.error(&held_out);
    let cut = fit.round_to(PATTERNS_IN_DISC, TERMS_IN_DISC);
    eprintln!(
        "stage {stage}: {} positions, errs by {:.2} discs on them and by {error:.2} on {} held out, {:.2} as written; {cut} cut off",
        taught.len(),
        fit.error(&taught),
        held_out.len(),
        fit.error(&held_out),
    );
    let mut bytes = Vec::new();
    for term in fit.terms.as_flattened() {
        bytes.extend(((term * TERMS_IN_DISC) as i16).to_le_bytes());
    }
    let weight = |[weight]: &[f32; 1]| ((weight * PATTERNS_IN_DISC) as i8).cast_unsigned();
    bytes.extend(fit.weights.iter().map(weight));
    Ok(bytes)
}
