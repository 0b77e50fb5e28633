//! One game of a contest.

use std::time::Duration;

use plyhouse_engine::catalog::Entry;
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::entrant::{Entrant, Time};
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
    /// Who has lost did something wrong.
    Fault(Fault),
}

/// The players of a contest, as one thread has them: each comes when it is needed, and goes when it has
/// done something wrong.
pub(super) struct Bench<'a> {
    pub(super) game: &'static Entry,
    entrants: &'a [Entrant],
    players: Vec<Option<Box<dyn Player>>>,
}

/// Which game is to be played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixture<'a> {
    /// Who plays, by seat.
    pub(super) players: [usize; 2],
    pub(super) opening: &'a Opening,
    /// What each draws chance from, by seat.
    pub(super) seeds: [u64; 2],
}

impl<'a> Bench<'a> {
    pub(super) fn new(game: &'static Entry, entrants: &'a [Entrant]) -> Self {
        Self {
            game,
            entrants,
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
    pub(super) fn play(&mut self, fixture: &Fixture<'_>, stop: &Stop) -> Option<Played> {
        let Fixture {
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
        fixture: &Fixture<'_>,
        played: &mut Played,
        stop: &Stop,
    ) -> Result<(), (Seat, Fault)> {
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
        let paces = fixture.players.map(|player| self.entrants[player].pace);
        let mut clocks = Clocks::new(paces.map(|pace| pace.time));
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
                Answer::Move(text) => {
                    clocks.spend(seat, turn.began.elapsed());
                    let m = pos.play(&text).map_err(|_| (seat, Fault::Illegal(text)))?;
                    played.moves.push(m);
                }
            }
        }
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

/// What is left to both sides.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    left: [Option<Duration>; 2],
    increment: [Duration; 2],
}

impl Clocks {
    fn new(times: [Time; 2]) -> Self {
        let clocks = times.map(|time| match time {
            Time::Free | Time::Move(_) => (None, Duration::ZERO),
            Time::Clock { main, increment } => (Some(main), increment),
        });
        Self {
            left: clocks.map(|(left, _)| left),
            increment: clocks.map(|(_, increment)| increment),
        }
    }

    /// Takes off what a move has cost, and adds the increment.
    fn spend(&mut self, seat: Seat, time: Duration) {
        let (left, increment) = (&mut self.left[seat.index()], self.increment[seat.index()]);
        *left = left.map(|left| left.saturating_sub(time) + increment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_runs_for_who_has_one() {
        let seconds = Duration::from_secs;
        let main = seconds(10);
        let increment = seconds(1);
        let mut clocks = Clocks::new([Time::Clock { main, increment }, Time::Move(main)]);
        clocks.spend(Seat::First, seconds(4));
        clocks.spend(Seat::Second, seconds(4));
        assert_eq!(clocks.left, [Some(seconds(7)), None]);
        // A margin lets a move take more than there is.
        clocks.spend(Seat::First, seconds(8));
        assert_eq!(clocks.left, [Some(seconds(1)), None]);
    }
}
