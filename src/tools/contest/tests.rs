//! Contests of the levels alone: what other programs do is tried with the binary.

use super::*;
use crate::contest::entrant::Setting;
use crate::contest::openings::Source;
use plyhouse_engine::catalog::find_game;

fn contest(game: &str, players: &[&str], rounds: usize) -> Contest {
    let game = find_game(game).expect("hosted");
    let entrant = |words: &&str| {
        let settings: Vec<_> = words
            .split(' ')
            .map(|word| Setting::read(word).expect(word))
            .collect();
        Entrant::read(settings.iter(), game.engine_protocol).expect(words)
    };
    let openings = Source::Random(Some(2)).open(game, rounds, 1);
    Contest {
        game,
        entrants: players.iter().map(entrant).collect(),
        pairings: vec![[0, 1]],
        openings: openings.expect("there are so many"),
        rounds,
        seed: 1,
        adjudication: Adjudication::default(),
    }
}

fn play(contest: &Contest, threads: usize, enough: usize) -> Vec<Finished> {
    let threads = NonZeroUsize::new(threads).expect("some");
    let mut finished = Vec::new();
    let ended = |game| {
        finished.push(game);
        Ok(if finished.len() == enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    };
    contest
        .play(threads, &Stop::new(), ended)
        .expect("nothing fails");
    finished.sort_by_key(|game| (game.place.round, game.place.seat));
    finished
}

/// Each opening is played with either side, and the same games are played whatever the threads.
#[test]
fn levels_play_each_opening_with_both_sides() {
    let contest = contest(
        "tic-tac-toe",
        &["level=max nodes=2000", "level=beginner"],
        20,
    );
    let alone = play(&contest, 1, usize::MAX);
    assert_eq!(alone.len(), 40);
    let mut score = Score::default();
    for pair in alone.chunks(2) {
        let [one, other] = pair else {
            panic!("there are pairs")
        };
        assert_eq!(one.played.moves[..2], other.played.moves[..2]);
        assert_eq!(one.played.names, ["max", "beginner"]);
        assert_eq!(other.played.names, ["beginner", "max"]);
        for game in pair {
            score.count(game.place.round, game.place.seat, &game.played);
        }
    }
    assert_eq!(score.pairs.pairs(), 20);
    assert!(score.tally.wins > score.tally.losses, "{score:?}");
    let played = |games: Vec<Finished>| {
        games
            .into_iter()
            .map(|game| game.played)
            .collect::<Vec<_>>()
    };
    assert_eq!(played(play(&contest, 3, usize::MAX)), played(alone));
}

#[test]
fn a_contest_ends_when_it_is_enough() {
    let contest = contest(
        "tic-tac-toe",
        &["level=easy name=a", "level=easy name=b"],
        70,
    );
    let games = play(&contest, 2, 7);
    assert_eq!(games.len(), 7);
}
