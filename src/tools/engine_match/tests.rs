//! Tests of matches between levels of the built-in engine. The tests of matches with external
//! programs are in `tests/it/engine_match_command.rs`.

use super::*;
use crate::engine_match::engine_spec::Setting;
use crate::engine_match::openings::OpeningSource;
use plyhouse_engine::catalog::find_game;

fn test_match(game: &str, players: &[&str], rounds: usize) -> EngineMatch {
    let game = find_game(game).expect("the game is in the catalog");
    let to_spec = |words: &&str| {
        let settings: Vec<_> = words
            .split(' ')
            .map(|word| Setting::parse(word).expect(word))
            .collect();
        EngineSpec::from_settings(settings.iter(), game.engine_protocol).expect(words)
    };
    let openings = OpeningSource::Random(Some(2)).load_openings(game, rounds, 1);
    EngineMatch {
        game,
        engines: players.iter().map(to_spec).collect(),
        pairings: vec![[0, 1]],
        openings: openings.expect("the game has enough openings"),
        rounds,
        seed: 1,
        adjudication: AdjudicationRules::default(),
        table_bytes: 1 << 20,
    }
}

fn play_match(engine_match: &EngineMatch, threads: usize, stop_after: usize) -> Vec<FinishedGame> {
    let threads = NonZeroUsize::new(threads).expect("the thread count is not zero");
    let mut finished = Vec::new();
    let on_finished = |game, _: &[PairingScore]| {
        finished.push(game);
        Ok(if finished.len() == stop_after {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    };
    engine_match
        .play(threads, &Stop::new(), on_finished)
        .expect("the callback never fails");
    finished.sort_by_key(|game| (game.slot.round, game.slot.seat));
    finished
}

#[test]
fn each_opening_is_played_with_both_sides_for_any_thread_count() {
    let engine_match = test_match(
        "tic-tac-toe",
        &["level=max nodes=2000", "level=beginner"],
        20,
    );
    let single_threaded = play_match(&engine_match, 1, usize::MAX);
    assert_eq!(single_threaded.len(), 40);
    let mut score = PairingScore::default();
    for pair in single_threaded.chunks(2) {
        let [one, other] = pair else {
            panic!("there are pairs")
        };
        assert_eq!(one.game.moves[..2], other.game.moves[..2]);
        assert_eq!(one.game.names, ["max", "beginner"]);
        assert_eq!(other.game.names, ["beginner", "max"]);
        for game in pair {
            score.record_game(game.slot.round, game.slot.seat, &game.game);
        }
    }
    assert_eq!(score.pairs.pair_count(), 20);
    assert!(score.tally.wins > score.tally.losses, "{score:?}");
    let games_of =
        |games: Vec<FinishedGame>| games.into_iter().map(|game| game.game).collect::<Vec<_>>();
    assert_eq!(
        games_of(play_match(&engine_match, 3, usize::MAX)),
        games_of(single_threaded)
    );
}

#[test]
fn match_ends_when_the_callback_breaks() {
    let engine_match = test_match(
        "tic-tac-toe",
        &["level=easy name=a", "level=easy name=b"],
        70,
    );
    let games = play_match(&engine_match, 2, 7);
    assert_eq!(games.len(), 7);
}
