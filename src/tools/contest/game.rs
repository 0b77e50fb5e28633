//! One game of a contest.

use std::time::Duration;

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::adjudication::{Adjudication, Adjudicator, Ruling, Scored};
use super::entrant::{Entrant, Time, TimeControl};
use super::fault::Fault;
use super::openings::Opening;
use super::player::{Answer, Beginning, Player, Turn, invite};

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The names of the players, by seat.
    pub names: [String; 2],
    /// The position with which it began, in wire notation; empty for the start of the game.
    pub start: String,
    /// All moves, those of the opening, too.
    pub moves: Vec<String>,
    /// Who has won; nobody in a draw.
    pub winner: Option<Seat>,
    /// How it ended.
    pub end: End,
}

/// How a game of a contest ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By the rules of the game; with a word for it where there are several.
    Rules(Option<&'static str>),
    /// Who has lost gave up.
    Resignation,
    /// The players' scores met `--resign` or `--draw`.
    Adjudication,
    /// Who has lost did something wrong.
    Fault(Fault),
}

/// The players of a contest, as one thread has them: each comes when it is needed, and goes when it has
/// done something wrong.
pub(super) struct Bench<'a> {
    pub(super) game: &'static GameEntry,
    entrants: &'a [Entrant],
    adjudication: Adjudication,
    players: Vec<Option<Box<dyn Player>>>,
}

/// Which game is to be played.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairedGame<'a> {
    /// Who plays, by seat.
    pub(super) players: [usize; 2],
    pub(super) opening: &'a Opening,
    /// What each draws chance from, by seat.
    pub(super) seeds: [u64; 2],
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        game: &'static GameEntry,
        entrants: &'a [Entrant],
        adjudication: Adjudication,
    ) -> Self {
        Self {
            game,
            entrants,
            adjudication,
            players: entrants.iter().map(|_| None).collect(),
        }
    }

    /// Has everybody come who is not there.
    pub(super) fn invite_all(&mut self, stop: &Stop) -> anyhow::Result<()> {
        for (entrant, player) in self.entrants.iter().zip(&mut self.players) {
            if player.is_none() {
                let invited = invite(entrant, self.game, stop);
                *player = Some(invited.map_err(|error| error.context(entrant.name.clone()))?);
            }
        }
        Ok(())
    }

    /// Plays a game to its end; `None` if it was broken off.
    pub(super) fn play(&mut self, fixture: &PairedGame<'_>, stop: &Stop) -> Option<Played> {
        let PairedGame {
            players, opening, ..
        } = *fixture;
        let mut played = Played {
            names: players.map(|player| self.entrants[player].name.clone()),
            start: opening.start.clone(),
            moves: opening.moves.clone(),
            winner: None,
            end: End::Rules(None),
        };
        match self.play_moves(fixture, &mut played, stop) {
            Ok(()) => {}
            Err((_, Fault::Stopped)) => return None,
            Err((seat, fault)) => {
                // What it says from now on may belong to this game.
                self.players[players[seat.index()]] = None;
                played.winner = Some(seat.other());
                played.end = End::Fault(fault);
            }
        }
        Some(played)
    }

    /// Plays moves until the game is over, or tells who has done what wrong.
    fn play_moves(
        &mut self,
        fixture: &PairedGame<'_>,
        played: &mut Played,
        stop: &Stop,
    ) -> Result<(), (Seat, Fault)> {
        self.begin(fixture, stop)?;
        let paces = fixture.players.map(|player| self.entrants[player].pace);
        let mut clocks = Clocks::new(paces.map(|pace| pace.time));
        let mut adjudicator = Adjudicator::new(self.adjudication);
        let mut pos = fixture.opening.pos.clone_box();
        loop {
            if let Some(outcome) = pos.outcome() {
                if let Outcome::Decisive { winner } = outcome {
                    played.winner = Some(winner);
                }
                played.end = End::Rules(pos.ending().map(|ending| ending.detail));
                return Ok(());
            }
            let seat = pos.turn();
            let turn = Turn {
                pos: pos.as_ref(),
                start: &played.start,
                moves: &played.moves,
                left: clocks.left,
                increment: clocks.increment,
                moves_to_go: clocks.moves_to_go[seat.index()],
                seat,
                pace: &paces[seat.index()],
                began: Instant::now(),
                stop,
            };
            let answer = self.answer(fixture.players[seat.index()], &turn);
            match answer.map_err(|fault| (seat, fault))? {
                Answer::Resigns => {
                    played.winner = Some(seat.other());
                    played.end = End::Resignation;
                    return Ok(());
                }
                Answer::Move { text, score } => {
                    clocks.spend(seat, turn.began.elapsed());
                    let m = pos.play(&text).map_err(|_| (seat, Fault::Illegal(text)))?;
                    played.moves.push(m);
                    let ruling = adjudicator.judge(Scored {
                        seat,
                        score,
                        plies: played.moves.len(),
                        is_irreversible: pos.reversible_plies() == 0,
                    });
                    if let (Some(ruling), None) = (ruling, pos.outcome()) {
                        played.end = End::Adjudication;
                        played.winner = match ruling {
                            Ruling::Won(winner) => Some(winner),
                            Ruling::Drawn => None,
                        };
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Tells both players that a game begins.
    fn begin(&mut self, fixture: &PairedGame<'_>, stop: &Stop) -> Result<(), (Seat, Fault)> {
        for seat in Seat::ALL {
            let game = Beginning {
                seed: fixture.seeds[seat.index()],
                stop,
            };
            let player = fixture.players[seat.index()];
            self.player(player, stop)
                .and_then(|player| player.begin(&game))
                .map_err(|fault| (seat, fault))?;
        }
        Ok(())
    }

    fn player(&mut self, number: usize, stop: &Stop) -> Result<&mut dyn Player, Fault> {
        let player = &mut self.players[number];
        if player.is_none() {
            let invited = invite(&self.entrants[number], self.game, stop);
            *player = Some(invited.map_err(|_| Fault::Crashed)?);
        }
        Ok(player.as_mut().expect("it has come").as_mut())
    }

    fn answer(&mut self, number: usize, turn: &Turn<'_>) -> Result<Answer, Fault> {
        let answer = self.player(number, turn.stop)?.choose(turn)?;
        if Instant::now() > turn.until() {
            return Err(Fault::Late);
        }
        Ok(answer)
    }
}

/// The clocks of both sides, by seat.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    controls: [Option<TimeControl>; 2],
    left: [Option<Duration>; 2],
    increment: [Duration; 2],
    /// Own moves up to the next period, where there are periods.
    moves_to_go: [Option<u32>; 2],
}

impl Clocks {
    fn new(times: [Time; 2]) -> Self {
        let controls = times.map(|time| match time {
            Time::Free | Time::Move(_) => None,
            Time::Clock(control) => Some(control),
        });
        Self {
            controls,
            left: controls.map(|control| control.map(|control| control.at_start())),
            increment: controls
                .map(|control| control.map_or(Duration::ZERO, |control| control.increment)),
            moves_to_go: controls.map(|control| control.and_then(|control| control.moves)),
        }
    }

    /// Takes off the time of a move, and adds the increment of the next. The last move of a period adds the
    /// time of another to what is left.
    fn spend(&mut self, seat: Seat, time: Duration) {
        let seat = seat.index();
        let (Some(control), Some(left)) = (self.controls[seat], &mut self.left[seat]) else {
            return;
        };
        *left = left.saturating_sub(time) + control.increment;
        if let Some(moves) = &mut self.moves_to_go[seat] {
            *moves -= 1;
            if *moves == 0 {
                *left += control.main;
                self.moves_to_go[seat] = control.moves;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const fn control(main: u64, increment: u64, moves: Option<u32>) -> Time {
        Time::Clock(TimeControl {
            main: seconds(main),
            increment: seconds(increment),
            moves,
        })
    }

    #[test]
    fn a_clock_runs_for_who_has_one() {
        let mut clocks = Clocks::new([control(10, 1, None), Time::Move(seconds(10))]);
        // The increment is there for the first move, too.
        assert_eq!(clocks.left, [Some(seconds(11)), None]);
        clocks.spend(Seat::First, seconds(4));
        clocks.spend(Seat::Second, seconds(4));
        assert_eq!(clocks.left, [Some(seconds(8)), None]);
        // A margin lets a move take more than there is.
        clocks.spend(Seat::First, seconds(9));
        assert_eq!(clocks.left, [Some(seconds(1)), None]);
    }

    #[test]
    fn increment_alone_is_time_for_every_move() {
        let mut clocks = Clocks::new([control(0, 2, None), control(0, 3, Some(2))]);
        assert_eq!(clocks.left, [2, 3].map(seconds).map(Some));
        for _ in 0..5 {
            clocks.spend(Seat::First, seconds(2));
            clocks.spend(Seat::Second, seconds(3));
            assert_eq!(clocks.left, [2, 3].map(seconds).map(Some));
        }
    }

    /// Every period brings its time again, for as long as the game lasts.
    #[test]
    fn each_period_adds_its_time() {
        for (main, moves, spent) in [(60, 3, 5), (40, 2, 1), (9, 1, 9), (25, 5, 4)] {
            let mut clocks = Clocks::new([control(main, 0, Some(moves)), Time::Free]);
            let mut expected = main;
            for ply in 0..4 * moves {
                assert_eq!(clocks.moves_to_go, [Some(moves - ply % moves), None]);
                assert_eq!(clocks.left, [Some(seconds(expected)), None], "{ply}");
                clocks.spend(Seat::First, seconds(spent));
                expected -= spent;
                if (ply + 1) % moves == 0 {
                    expected += main;
                }
            }
        }
    }
}
