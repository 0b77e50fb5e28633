use super::*;
use crate::game::conformance::{pick_index, random_game};
use crate::game::{GameHistory, Outcome};
use crate::search::{Limits, Stop, TranspositionTable, search};

fn parse_position(text: &str) -> Draughts {
    text.parse().expect(text)
}

fn evaluate_text(text: &str) -> i32 {
    parse_position(text).evaluate().value()
}

/// Returns the position with the board rotated and the sides exchanged.
fn color_flipped(pos: &Draughts) -> Draughts {
    let text = pos.to_string();
    let mut fields = text.split(':');
    let mut next = || fields.next().expect("the text has at least four fields");
    let (turn, white, black) = (next(), next(), next());
    let list = |side: &str| {
        let squares = side[1..].split(',').filter(|square| !square.is_empty());
        let opposite = squares.map(|square| {
            let number = square.trim_start_matches('K');
            let king = if number == square { "" } else { "K" };
            format!(
                "{king}{}",
                33 - number.parse::<u8>().expect("the text is a number")
            )
        });
        opposite.collect::<Vec<_>>().join(",")
    };
    let turn = if turn == "B" { "W" } else { "B" };
    parse_position(&format!("{turn}:W{}:B{}", list(black), list(white)))
}

#[test]
fn evaluation_is_the_same_for_both_sides() {
    for pos in (0..50).flat_map(|seed| random_game::<Draughts>(seed).0) {
        if pos.outcome().is_none() {
            assert_eq!(pos.evaluate(), color_flipped(&pos).evaluate(), "{pos}");
        }
    }
}

#[test]
fn evaluation_resolves_pending_captures_first() {
    // White captures a piece and Black recaptures, so neither side wins a man.
    let exchange = evaluate_text("W:W22,28,31,32:B18,11,8,5:H0:F20");
    assert!(exchange.abs() < MAN_VALUE, "{exchange}");
    // White captures two pieces without a recapture, so White is ahead.
    let win = evaluate_text("W:W22,28:B18,10,5:H0:F20");
    assert!(win > MAN_VALUE / 2, "{win}");
    // After White's capture, Black's remaining piece cannot move, so White wins.
    assert_eq!(evaluate_text("W:W22,9,14,31:B18,5:H0:F20"), NO_MOVES_LOSS);
    // White captures Black's last piece, so White wins.
    assert!(evaluate_text("W:W22:B18:H0:F20") > WON_ENDGAME);
}

#[test]
fn evaluation_prefers_known_advantages() {
    let better = [
        // The first position of each pair is better for the side to move. In the better position,
        // that side has a king instead of a man, a man closer to promotion, or a man that cannot be
        // stopped.
        ("B:WK30,31,32:BK15,1,2", "B:WK30,31,32:B15,1,2"),
        ("B:W29,30,21:B24,1,2", "B:W29,30,21:B16,1,2"),
        ("W:W5,13,32:B20,3", "W:W28,13,32:B20,3"),
        // A lead of one piece counts more if few pieces are left.
        ("B:WK30:BK15,K11", "B:WK30,K31,K32,K28:BK15,K11,K10,K9,K5"),
    ];
    for (better, worse) in better {
        assert!(
            evaluate_text(better) > evaluate_text(worse),
            "{better} over {worse}"
        );
    }
}

/// Two kings win against a king in the single corner. Draughts textbooks begin with this exercise.
#[test]
fn two_kings_beat_one_king_within_40_plies() {
    let mut game = GameHistory::from(parse_position("B:WK4:BK14,K15:H0:F1"));
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 22));
    let limits = Limits::nodes(10_000);
    for _ in 0..40 {
        table.start_search();
        let Some(report) = search(&game, &limits, &stop, &table) else {
            break;
        };
        game.play(report.pv[0]).expect("the move is legal");
    }
    let winner = Seat::First;
    assert_eq!(game.outcome(), Some(Outcome::Decisive { winner }));
}

/// Returns the outcome of an endgame according to the table.
fn endgame_outcome(pos: &Draughts) -> Ordering {
    endgame_table::probe_outcome(pos).expect("the position has at most four pieces")
}

/// Returns `count` random endgames that are not over.
fn random_endgames(seed: u64, count: usize) -> impl Iterator<Item = Draughts> {
    let numbers = (0_u64..).map(move |n| pick_index((seed, n), Draughts::ENDGAME_COUNT as usize));
    let number = |number| u32::try_from(number).expect("the number fits in u32");
    let all = numbers.filter_map(move |n| Draughts::from_endgame_number(number(n)));
    all.filter(|pos| pos.outcome().is_none()).take(count)
}

fn successors(pos: &Draughts) -> Vec<Draughts> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves.into_iter().map(|m| pos.after(m)).collect()
}

/// Returns whether the side to move wins within this number of plies, using only the rules of the
/// game.
fn wins_within(pos: &Draughts, plies: u32) -> bool {
    plies > 0
        && successors(pos)
            .iter()
            .any(|after| loses_within(after, plies - 1))
}

fn loses_within(pos: &Draughts, plies: u32) -> bool {
    let next_positions = successors(pos);
    next_positions.is_empty()
        || plies > 0
            && next_positions
                .iter()
                .all(|after| wins_within(after, plies - 1))
}

/// The table agrees with every win and loss that the solver finds. The outcome of each endgame also
/// follows from its successors, which covers wins and losses beyond the solver's depth.
#[test]
fn endgame_table_matches_a_shallow_solver() {
    let mut decided = 0;
    for pos in random_endgames(1, 10_000) {
        let next_positions = successors(&pos);
        let best = next_positions.iter().map(|after| match after.outcome() {
            Some(_) => Ordering::Greater,
            None => endgame_outcome(after).reverse(),
        });
        assert_eq!(best.max(), Some(endgame_outcome(&pos)), "{pos}");
        let (is_win, is_loss) = (wins_within(&pos, 5), loses_within(&pos, 4));
        decided += usize::from(is_win || is_loss);
        assert!(
            !is_win || endgame_outcome(&pos) == Ordering::Greater,
            "{pos}"
        );
        assert!(!is_loss || endgame_outcome(&pos) == Ordering::Less, "{pos}");
    }
    assert!(decided > 1_000, "{decided}");
}

/// Plays an endgame with few nodes per move and returns the winner. The parity of the seed selects
/// the defence: with an odd seed the losing side plays random moves, with an even seed it searches
/// like the winning side.
fn play_endgame(pos: Draughts, seed: u64, table: &mut TranspositionTable) -> Option<Seat> {
    let mut game = GameHistory::from(pos);
    let winner = match endgame_outcome(&pos) {
        Ordering::Less => pos.turn().other(),
        _ => pos.turn(),
    };
    table.clear();
    while game.outcome().is_none() {
        let turn = game.position().turn();
        let m = if seed % 2 == 1 && turn != winner {
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            moves[pick_index((seed, game.position()), moves.len())]
        } else {
            table.start_search();
            let report = search(&game, &Limits::nodes(NODES_PER_MOVE), &Stop::new(), table);
            report.expect("the game is not over").pv[0]
        };
        game.play(m).expect("the move is legal");
    }
    match game.outcome() {
        Some(Outcome::Decisive { winner }) => Some(winner),
        _ => None,
    }
}

/// Node limit for each move in endgame play.
const NODES_PER_MOVE: u64 = 3_000;

#[test]
fn won_endgames_are_won_in_play() {
    let mut table = TranspositionTable::new(1 << 20);
    let won_endgames =
        random_endgames(2, 400).filter(|pos| endgame_outcome(pos) == Ordering::Greater);
    let mut played = 0;
    for (seed, pos) in (0..).zip(won_endgames) {
        assert_eq!(
            play_endgame(pos, seed, &mut table),
            Some(pos.turn()),
            "{pos}"
        );
        played += 1;
    }
    assert!(played > 100, "{played}");
}

/// The longest endgames are won with two kings against a king and a man. The next capture or
/// promotion takes up to 73 plies. Textbooks call this kind of endgame "first position".
#[test]
fn longest_won_endgames_are_won_in_play() {
    let [_, numbers] = Draughts::LONG_ENDGAMES;
    let long_endgames = numbers.filter_map(Draughts::from_endgame_number);
    let longest: Vec<_> = long_endgames
        .filter(|pos| endgame_table::resistance_steps(pos) >= 13)
        .collect();
    assert!(longest.len() > 8, "{}", longest.len());
    let mut table = TranspositionTable::new(1 << 20);
    for pos in longest.iter().step_by(longest.len() / 8) {
        let winner = Some(pos.turn().other());
        assert_eq!(play_endgame(*pos, 0, &mut table), winner, "{pos}");
    }
}
