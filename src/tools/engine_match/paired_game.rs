//! One game of an engine match.

use std::time::Duration;

use anyhow::Context as _;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::EngineMatch;
use super::adjudication::{Adjudicator, ScoredMove};
use super::engine_spec::{TimeControl, TimeLimit};
use super::forfeit_reason::ForfeitReason;
use super::openings::Opening;
use super::player::{Player, PlayerAction, Turn, start_player};

/// Finished game of an engine match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// Names of the players, by seat.
    pub names: [String; 2],
    /// Position before the first move, in the server's notation. Empty if the moves begin at the
    /// start of the game.
    pub start_position: String,
    /// All moves of the game, including the opening.
    pub moves: Vec<String>,
    /// Winner, or `None` for a draw.
    pub winner: Option<Seat>,
    /// How the game ended.
    pub end: GameEnd,
}

/// How a game of a match ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// The game ended by its rules.
    Rules,
    /// The loser resigned.
    Resignation,
    /// The players' scores met the adjudication rule of `--resign` or `--draw`.
    Adjudication,
    /// The loser forfeited the game.
    Forfeit(ForfeitReason),
}

/// Players for the games that one thread plays. Before each game, the pool starts those of the
/// game's two players that are not running. If a player forfeits a game, the pool stops the player.
pub(crate) struct PlayerPool<'a> {
    engine_match: &'a EngineMatch,
    players: Vec<Option<Box<dyn Player>>>,
}

/// Game that the match has not played yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairedGame<'a> {
    /// Indices of the players in the list of engines, by seat.
    pub(crate) players: [usize; 2],
    pub(crate) opening: &'a Opening,
    /// Random seeds of the players, by seat.
    pub(crate) seeds: [u64; 2],
}

impl<'a> PlayerPool<'a> {
    pub(crate) fn new(engine_match: &'a EngineMatch) -> Self {
        Self {
            engine_match,
            players: engine_match.engines.iter().map(|_| None).collect(),
        }
    }

    /// Starts all players that are not running.
    pub(crate) fn start_all(&mut self, stop: &Stop) -> anyhow::Result<()> {
        for (index, spec) in self.engine_match.engines.iter().enumerate() {
            self.get_or_start_player(index, stop)
                .with_context(|| spec.name.clone())?;
        }
        Ok(())
    }

    /// Plays a game to its end. Returns `None` if `stop` interrupts it.
    pub(crate) fn play_game(
        &mut self,
        paired_game: &PairedGame<'_>,
        stop: &Stop,
    ) -> Option<PlayedGame> {
        let (players, opening) = (paired_game.players, paired_game.opening);
        let mut moves = opening.moves.clone();
        let (winner, end) = match self.play_moves(paired_game, &mut moves, stop) {
            Ok(result) => result,
            Err((_, ForfeitReason::Stopped)) => return None,
            Err((seat, reason)) => {
                // After a forfeit, the program may still write output about the forfeited game. The
                // pool therefore stops the program.
                self.players[players[seat.index()]] = None;
                (Some(seat.other()), GameEnd::Forfeit(reason))
            }
        };
        Some(PlayedGame {
            names: players.map(|player| self.engine_match.engines[player].name.clone()),
            start_position: opening.start_position.clone(),
            moves,
            winner,
            end,
        })
    }

    /// Plays moves until the game is over, and adds them to `moves`. Returns the winner and how the
    /// game ended. If a player forfeits, returns the player's seat and the reason.
    fn play_moves(
        &mut self,
        paired_game: &PairedGame<'_>,
        moves: &mut Vec<String>,
        stop: &Stop,
    ) -> Result<(Option<Seat>, GameEnd), (Seat, ForfeitReason)> {
        self.begin_game(paired_game, stop)?;
        let players = paired_game.players;
        let limits = players.map(|player| self.engine_match.engines[player].limits);
        let mut clocks = Clocks::new(limits.map(|pace| pace.time));
        let mut adjudicator = Adjudicator::new(self.engine_match.adjudication);
        let mut pos = paired_game.opening.pos.clone_box();
        loop {
            if let Some(outcome) = pos.outcome() {
                return Ok((outcome.winner(), GameEnd::Rules));
            }
            let seat = pos.turn();
            let turn = Turn {
                pos: pos.as_ref(),
                start_position: &paired_game.opening.start_position,
                moves,
                time_left: clocks.time_left,
                increments: clocks.increment,
                moves_to_go: clocks.moves_to_go[seat.index()],
                seat,
                seed: paired_game.seeds[seat.index()],
                limits: &limits[seat.index()],
                started_at: Instant::now(),
                stop,
            };
            let action = self.request_move(players[seat.index()], &turn);
            match action.map_err(|fault| (seat, fault))? {
                PlayerAction::Resign => {
                    return Ok((Some(seat.other()), GameEnd::Resignation));
                }
                PlayerAction::Move { text, score } => {
                    clocks.charge_move(seat, turn.started_at.elapsed());
                    let result = pos.play(&text);
                    moves.push(result.map_err(|_| (seat, ForfeitReason::IllegalMove(text)))?);
                    let ruling = adjudicator.adjudicate_move(ScoredMove {
                        seat,
                        score,
                        plies: moves.len(),
                        is_irreversible: pos.reversible_plies() == 0,
                    });
                    if let (Some(ruling), None) = (ruling, pos.outcome()) {
                        return Ok((ruling.winner(), GameEnd::Adjudication));
                    }
                }
            }
        }
    }

    /// Notifies both players that a game begins.
    fn begin_game(
        &mut self,
        paired_game: &PairedGame<'_>,
        stop: &Stop,
    ) -> Result<(), (Seat, ForfeitReason)> {
        for seat in Seat::ALL {
            self.get_or_start_player(paired_game.players[seat.index()], stop)
                .map_err(|_| ForfeitReason::Crashed)
                .and_then(|player| player.begin_game(stop))
                .map_err(|fault| (seat, fault))?;
        }
        Ok(())
    }

    fn get_or_start_player(
        &mut self,
        index: usize,
        stop: &Stop,
    ) -> anyhow::Result<&mut dyn Player> {
        let running = self.players[index].take();
        let player = running.map_or_else(|| start_player(self.engine_match, index, stop), Ok)?;
        Ok(self.players[index].insert(player).as_mut())
    }

    fn request_move(
        &mut self,
        index: usize,
        turn: &Turn<'_>,
    ) -> Result<PlayerAction, ForfeitReason> {
        let action = self
            .get_or_start_player(index, turn.stop)
            .map_err(|_| ForfeitReason::Crashed)?
            .choose_move(turn)?;
        if Instant::now() > turn.deadline() {
            return Err(ForfeitReason::Timeout);
        }
        Ok(action)
    }
}

/// Clocks of both players, by seat.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    controls: [Option<TimeControl>; 2],
    time_left: [Option<Duration>; 2],
    increment: [Duration; 2],
    /// Number of moves that remain in each player's current period, by seat. `None` if the time
    /// control has no periods.
    moves_to_go: [Option<u32>; 2],
}

impl Clocks {
    fn new(times: [TimeLimit; 2]) -> Self {
        let controls = times.map(TimeLimit::clock);
        Self {
            controls,
            time_left: controls.map(|control| Some(control?.initial_time())),
            increment: controls.map(|control| control.map_or(Duration::ZERO, |it| it.increment)),
            moves_to_go: controls.map(|control| control?.moves),
        }
    }

    /// Subtracts the time spent on a move from the player's clock, and adds the increment for the
    /// next move. After the last move of a period, the method also adds the base time of the next
    /// period.
    fn charge_move(&mut self, seat: Seat, spent: Duration) {
        let seat = seat.index();
        let (Some(control), Some(left)) = (self.controls[seat], &mut self.time_left[seat]) else {
            return;
        };
        *left = left.saturating_sub(spent) + control.increment;
        if let Some(moves) = &mut self.moves_to_go[seat] {
            *moves -= 1;
            if *moves == 0 {
                *left += control.base;
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

    const fn clock_limit(main: u64, increment: u64, moves: Option<u32>) -> TimeLimit {
        TimeLimit::Clock(TimeControl {
            base: seconds(main),
            increment: seconds(increment),
            moves,
        })
    }

    #[test]
    fn only_players_with_a_clock_are_charged() {
        let mut clocks = Clocks::new([clock_limit(10, 1, None), TimeLimit::PerMove(seconds(10))]);
        // Before the first move, the clock already includes the increment.
        assert_eq!(clocks.time_left, [Some(seconds(11)), None]);
        clocks.charge_move(Seat::First, seconds(4));
        clocks.charge_move(Seat::Second, seconds(4));
        assert_eq!(clocks.time_left, [Some(seconds(8)), None]);
        // The tolerance for late moves lets a player use more time than its clock shows. After such
        // a move, the clock must show only the increment.
        clocks.charge_move(Seat::First, seconds(9));
        assert_eq!(clocks.time_left, [Some(seconds(1)), None]);
    }

    #[test]
    fn increment_alone_is_time_for_every_move() {
        let mut clocks = Clocks::new([clock_limit(0, 2, None), clock_limit(0, 3, Some(2))]);
        assert_eq!(clocks.time_left, [2, 3].map(seconds).map(Some));
        for _ in 0..5 {
            clocks.charge_move(Seat::First, seconds(2));
            clocks.charge_move(Seat::Second, seconds(3));
            assert_eq!(clocks.time_left, [2, 3].map(seconds).map(Some));
        }
    }

    #[test]
    fn each_period_adds_its_time() {
        for (main, moves, spent) in [(60, 3, 5), (40, 2, 1), (9, 1, 9), (25, 5, 4)] {
            let mut clocks = Clocks::new([clock_limit(main, 0, Some(moves)), TimeLimit::Unlimited]);
            let mut expected = main;
            for ply in 0..4 * moves {
                assert_eq!(clocks.moves_to_go, [Some(moves - ply % moves), None]);
                assert_eq!(clocks.time_left, [Some(seconds(expected)), None], "{ply}");
                clocks.charge_move(Seat::First, seconds(spent));
                expected -= spent;
                if (ply + 1) % moves == 0 {
                    expected += main;
                }
            }
        }
    }
}
