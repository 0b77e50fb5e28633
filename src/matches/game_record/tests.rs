use super::*;
use crate::{Action, EventKind, Terms, Timestamp};
use plyhouse_engine::catalog::find_game;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{ClockControl, MatchCode, MatchId, PlayerId, Ply};

/// Returns the record of a match between Ann and a bot. Ann's name contains characters that must be
/// escaped.
fn record_text(game: &str, moves: &str, ended: Option<(Option<Seat>, EndReason)>) -> String {
    record_text_from(None, game, moves, ended)
}

/// Returns the record of a match from the position `start`, or from the standard position if
/// `start` is `None`.
fn record_text_from(
    start: Option<&str>,
    game: &str,
    moves: &str,
    ended: Option<(Option<Seat>, EndReason)>,
) -> String {
    let id = uuid::Uuid::try_parse("019b77e7-1400-7000-8000-000000000001").expect("an id");
    let creation = Creation {
        id: MatchId(id),
        code: MatchCode::from_number(0),
        game: find_game(game).expect("known game"),
        host: PlayerId(id),
        terms: Terms {
            initial_position: start.map(str::to_owned),
            ..Terms::with_defaults(true, 0, 0)
        },
    };
    let initial = Match::new(creation.clone()).expect("valid creation");
    let first = initial.initial_position().turn();
    let ann = Occupant::Player {
        id: PlayerId(id),
        name: r#"ann "\]"#.to_owned(),
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    let mut events = vec![
        EventKind::Seated {
            seat: Seat::First,
            occupant: ann,
        },
        EventKind::Seated {
            seat: Seat::Second,
            occupant: Occupant::Bot(Level::Hard),
        },
        EventKind::Started { remaining: None },
    ];
    let seats = [first, first.other()].into_iter().cycle();
    let moves = moves.split_whitespace().map(str::to_owned).zip(seats);
    events.extend(moves.map(|(m, seat)| EventKind::Moved {
        seat,
        m,
        spent_ms: None,
        remaining: None,
    }));
    events.extend(ended.map(|(winner, reason)| EventKind::Ended {
        winner,
        reason,
        detail: None,
        by: None,
        remaining: None,
    }));
    let events: Vec<Event> = events.into_iter().map(|kind| kind.at(0)).collect();
    let record = GameRecord::from_match(creation, &events).expect("valid record");
    record.text
}

const BY_RULES: EndReason = EndReason::Rules;

#[test]
fn chess_record_is_pgn() {
    let mate = record_text(
        "chess",
        "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7",
        Some((Some(Seat::First), BY_RULES)),
    );
    let expected = r#"[Event "Plyhouse match 222222"]
[Site "Plyhouse"]
[Date "2026.01.01"]
[Round "-"]
[White "ann \"\\]"]
[Black "Plyhouse bot (hard)"]
[Result "1-0"]
[UTCDate "2026.01.01"]
[UTCTime "04:53:11"]
[WhiteType "human"]
[BlackType "program"]
[PlyCount "7"]
[Termination "normal"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0
"#;
    assert_eq!(mate, expected);
}

#[test]
fn pgn_lines_are_shorter_than_eighty_characters() {
    let files = "abcdefgh".chars();
    let mut moves: String = files
        .map(|file| format!("{file}2{file}4 {file}7{file}5 "))
        .collect();
    moves += "g1f3 g8f6 b1c3 b8c6 a1a3";
    let running = record_text("chess", &moves, None);
    let moves = running.split("\n\n").nth(1).expect("the moves");
    assert_eq!(moves.lines().count(), 2, "{moves}");
    assert!(moves.lines().all(|line| line.len() < 80), "{moves}");
    let words: Vec<&str> = moves.split_whitespace().collect();
    assert_eq!(words.len(), 21 + 11 + 1);
    assert_eq!(words[30..], ["11.", "Ra3", "*"]);
    assert!(
        running.contains("[Termination \"unterminated\"]"),
        "{running}"
    );
}

/// In draughts, Black moves first, so each move number precedes a move of Black.
#[test]
fn draughts_record_is_pdn() {
    let resigned = Some((Some(Seat::First), EndReason::Resignation));
    let game = record_text("draughts", "11-15 22-18 15x22 25x18", resigned);
    for line in [
        "[GameType \"21\"]\n",
        "[White \"Plyhouse bot (hard)\"]\n[Black \"ann \\\"\\\\]\"]\n[Result \"1-0\"]\n",
        "\n\n1. 11-15 22-18 2. 15x22 25x18 1-0\n",
    ] {
        assert!(game.contains(line), "{line} in {game}");
    }
}

/// Returns the two copies of the game result in a PDN record. The first is from the `Result` tag,
/// the second from the end of the movetext.
fn pdn_results(pdn: &str) -> (&str, &str) {
    let tag = pdn.split("[Result \"").nth(1).expect("a tag");
    let (tag, _) = tag.split_once('"').expect("the end of the tag");
    let word = pdn.split_whitespace().next_back().expect("a result");
    (tag, word)
}

#[test]
fn black_winning_at_draughts_is_1_0() {
    let ended = |winner, reason| record_text("draughts", "9-13 24-20", Some((winner, reason)));
    for (game, result) in [
        (ended(Some(Seat::First), EndReason::Timeout), "1-0"),
        (ended(Some(Seat::First), EndReason::Abandonment), "1-0"),
        (ended(Some(Seat::Second), EndReason::Resignation), "0-1"),
        (ended(None, EndReason::Agreement), "1/2-1/2"),
        (ended(None, EndReason::Aborted), "*"),
    ] {
        assert_eq!(pdn_results(&game), (result, result), "{game}");
    }
    // The result must begin with Black's score even if White moves first in the initial position.
    let white_first = "W:W18,K31:B5,K9";
    for (winner, result) in [(Seat::First, "1-0"), (Seat::Second, "0-1")] {
        let ended = Some((Some(winner), EndReason::Resignation));
        let game = record_text_from(Some(white_first), "draughts", "18-15", ended);
        assert_eq!(pdn_results(&game), (result, result), "{game}");
    }
}

#[test]
fn program_draughts_record_has_black_score_first() {
    for (winner, start, result) in [
        (Some(Seat::First), "", "1-0"),
        (Some(Seat::Second), "", "0-1"),
        (None, "", "1/2-1/2"),
        (Some(Seat::First), "W:W18,K31:B5,K9", "1-0"),
    ] {
        let game = GameRecord::from_program_game(ProgramGame {
            game: find_game("draughts").expect("known game"),
            event: "a contest".to_owned(),
            ended_s: 0,
            names: ["dark", "light"].map(str::to_owned),
            initial_position: start.to_owned(),
            moves: Vec::new(),
            winner,
            victory: Victory::Resignation,
        });
        let text = game.expect("valid record").text;
        assert_eq!(pdn_results(&text), (result, result), "{text}");
        // Each program's name is in the tag for the colour that the program played.
        assert!(
            text.contains("[White \"light\"]\n[Black \"dark\"]"),
            "{text}"
        );
    }
}

#[test]
fn go_record_is_sgf() {
    let game = record_text(
        "go",
        "D4 E5 A9 J1 pass pass",
        Some((Some(Seat::Second), BY_RULES)),
    );
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "(;FF[4]GM[1]CA[UTF-8]AP[Plyhouse:{version}]SZ[9]KM[7]\
         RU[area scoring, positional superko, no suicide]\n\
         GN[Plyhouse match 222222]PC[Plyhouse]DT[2026-01-01]PB[ann \"\\\\\\]]\
         PW[Plyhouse bot (hard)]RE[W+7]\n\
         ;B[df];W[ee];B[aa];W[ii];B[];W[])\n"
    );
    assert_eq!(game, expected);
}

#[test]
fn othello_and_gomoku_records_are_sgf() {
    let othello = record_text("othello", "d3 c5", None);
    assert!(othello.starts_with("(;FF[4]GM[2]"), "{othello}");
    assert!(othello.ends_with("]\n;B[dc];W[ce])\n"), "{othello}");
    assert!(!othello.contains("RE["), "it goes on: {othello}");
    let gomoku = "a15 b15 a14 b14 a13 b13 a12 b12 a11";
    let gomoku = record_text("gomoku", gomoku, Some((Some(Seat::First), BY_RULES)));
    assert!(gomoku.starts_with("(;FF[4]GM[4]CA[UTF-8]"), "{gomoku}");
    assert!(
        gomoku.contains("SZ[15]") && gomoku.contains("RE[B+]"),
        "{gomoku}"
    );
    assert!(gomoku.contains("\n;B[aa];W[ba];B[ab]"), "{gomoku}");
}

#[test]
fn each_end_reason_has_its_result() {
    let ended = |game, winner, reason| record_text(game, "", Some((winner, reason)));
    let (black, white) = (Some(Seat::First), Some(Seat::Second));
    for (text, result) in [
        (ended("go", black, EndReason::Resignation), "RE[B+R]"),
        (ended("go", white, EndReason::Abandonment), "RE[W+F]"),
        (ended("go", None, EndReason::Aborted), "RE[Void]"),
        (ended("chess", None, EndReason::Aborted), "[Result \"*\"]"),
        (
            ended("chess", None, EndReason::Aborted),
            "[Termination \"abandoned\"]",
        ),
        (
            ended("chess", white, EndReason::Abandonment),
            "[Result \"0-1\"]",
        ),
        (
            ended("chess", white, EndReason::Abandonment),
            "[Termination \"abandoned\"]",
        ),
    ] {
        assert!(text.contains(result), "{result} in {text}");
    }
    let drawn = record_text("chess", "e2e4", Some((None, BY_RULES)));
    assert!(
        drawn.contains("[Result \"1/2-1/2\"]") && drawn.ends_with("1. e4 1/2-1/2\n"),
        "{drawn}"
    );
}

/// Returns the record of a match between two players with the clock `clock`. `moves` lists each
/// move with the milliseconds charged for it. After the moves, the side to move loses on time.
fn timed_record_text(game: &str, clock: ClockControl, moves: &[(&str, u64)]) -> String {
    let id = PlayerId(uuid::Uuid::from_u128(1));
    let creation = Creation {
        id: MatchId(uuid::Uuid::from_u128(7)),
        code: MatchCode::from_number(0),
        game: find_game(game).expect("known game"),
        host: id,
        terms: Terms {
            clock: Some(clock),
            ..Terms::with_defaults(true, 0, 0)
        },
    };
    let seats = [1, 2].map(|number| Occupant::Player {
        id: PlayerId(uuid::Uuid::from_u128(number)),
        name: format!("player {number}"),
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    });
    let mut events = Match::initial_events(&creation.terms, seats, 0);
    let mut state = Match::replay(creation.clone(), &events).expect("valid events");
    for (ply, (m, spent_ms)) in moves.iter().enumerate() {
        let play = Action::Play {
            player: PlayerId(uuid::Uuid::from_u128(1 + ply as u128 % 2)),
            ply: Ply(ply as u64),
            m: (*m).to_owned(),
            takebacks: None,
        };
        let now = Timestamp {
            at_ms: 0,
            spent_ms: *spent_ms,
        };
        for event in state.apply(&play, now).expect("allowed action") {
            state.fold(&event).expect("valid event");
            events.push(event);
        }
    }
    let flag = state.apply(&Action::Flag, Timestamp::uncharged(0));
    events.extend(flag.expect("timed match"));
    GameRecord::from_match(creation, &events)
        .expect("valid record")
        .text
}

#[test]
fn pgn_and_pdn_contain_clock_times() {
    let clock = ClockControl::Fischer {
        main_ms: 300_000,
        increment_ms: 3000,
    };
    let moves = [("e2e4", 0), ("e7e5", 0), ("g1f3", 13_050), ("b8c6", 61_000)];
    let game = timed_record_text("chess", clock, &moves);
    let expected = "[TimeControl \"300+3\"]\n[Termination \"time forfeit\"]\n\n\
        1. e4 {[%clk 0:05:00]} 1... e5 {[%clk 0:05:00]} 2. Nf3 {[%clk 0:04:49.95]} 2...\n\
        Nc6 {[%clk 0:04:02]} 0-1\n";
    assert!(game.ends_with(expected), "{game}");
    let clock = ClockControl::Delay {
        main_ms: 60_000,
        delay_ms: 500,
    };
    let game = timed_record_text("draughts", clock, &[("11-15", 0), ("22-18", 0)]);
    let control = "[TimeControl \"60d0.5\"]\n";
    assert!(game.contains(control), "{game}");
    let expected = "\n1. 11-15 {[%clk 0:01:00]} 1... 22-18 {[%clk 0:01:00]} 0-1\n";
    assert!(game.ends_with(expected), "{game}");
}

#[test]
fn sgf_contains_clock_times() {
    let clock = ClockControl::ByoYomi {
        main_ms: 300_000,
        period_ms: 30_000,
        periods: 3,
    };
    let moves = [
        ("D4", 0),
        ("E5", 0),
        ("A9", 100_500),
        ("J1", 331_000),
        ("C3", 1000),
    ];
    let game = timed_record_text("go", clock, &moves);
    assert!(game.contains("RE[B+T]TM[300]OT[3x30 byo-yomi]\n"), "{game}");
    let expected = ";B[df]BL[300];W[ee]WL[300];B[aa]BL[199.5];W[ii]WL[30]OW[2];B[cg]BL[198.5])\n";
    assert!(game.ends_with(expected), "{game}");
    let correspondence = ClockControl::Move {
        move_ms: 86_400_000,
    };
    let game = timed_record_text("go", correspondence, &[("D4", 0), ("E5", 0)]);
    assert!(game.contains("TM[0]OT[1/86400 simple]"), "{game}");
}

#[test]
fn tic_tac_toe_record_is_two_plain_lines() {
    let won = |seat| Some((Some(seat), BY_RULES));
    let text_of = |moves, end| record_text("tic-tac-toe", moves, end);
    assert_eq!(text_of("b2 a1", None), "b2 a1\n*\n");
    assert_eq!(
        text_of("a1 b1 a2 b2 a3", won(Seat::First)),
        "a1 b1 a2 b2 a3\n1-0\n"
    );
    let resigned = Some((Some(Seat::Second), EndReason::Resignation));
    assert_eq!(text_of("", resigned), "\n0-1\n");
    let drawn = "b2 a1 c3 a3 a2 c2 b1 b3 c1";
    assert_eq!(
        text_of(drawn, Some((None, BY_RULES))),
        format!("{drawn}\n1/2-1/2\n")
    );
}

#[test]
fn custom_initial_position_precedes_moves() {
    let from = |start: &str, game, moves| record_text_from(Some(start), game, moves, None);
    let ending = "4k3/8/8/8/8/4p3/4P3/4K2R b K - 0 30";
    let chess = from(ending, "chess", "e8e7 e1g1 e7e6");
    let tags = format!("[Result \"*\"]\n[SetUp \"1\"]\n[FEN \"{ending}\"]\n");
    assert!(chess.contains(&tags), "{chess}");
    assert!(chess.ends_with("\n\n30... Ke7 31. O-O Ke6 *\n"), "{chess}");
    let ending = "B:W18,K31:B5,K9:H3:F20";
    let draughts = from(ending, "draughts", "9-14 18x9");
    let tags = format!("[GameType \"21\"]\n[SetUp \"1\"]\n[FEN \"{ending}\"]\n");
    assert!(draughts.contains(&tags), "{draughts}");
    assert!(draughts.ends_with("\n\n20. 9-14 18x9 *\n"), "{draughts}");
    let empty = ".........";
    let ranks = [
        empty,
        empty,
        "..b...b..",
        empty,
        "....w....",
        empty,
        empty,
        empty,
        empty,
    ];
    let position = format!("{} w 0 0 0 3", ranks.join("/"));
    let go = from(&position, "go", "C3 pass G3");
    assert!(
        go.ends_with("\nAB[cc][gc]AW[ee]PL[W]\n;W[cg];B[];W[gg])\n"),
        "{go}"
    );
    // In Othello, the first rank is at the top.
    let discs = [
        "-".repeat(19),
        "*-------**------*O".to_owned(),
        "-".repeat(27),
    ]
    .concat();
    let othello = from(&format!("{discs} O"), "othello", "c3");
    let end = "\nAB[dc][dd][ed][de]AW[ee]PL[W]\n;W[cc])\n";
    assert!(othello.ends_with(end), "{othello}");
    let tic_tac_toe = from("x.o/.../x..", "tic-tac-toe", "b2 a2");
    assert_eq!(tic_tac_toe, "x.o/.../x..\nb2 a2\n*\n");
}

/// Ann receives hints for her first and her third move. A takeback of her second move then removes
/// the hint for the third move.
#[test]
fn hinted_move_has_hint_comment() {
    let hinted = |game: &str, moves: [&str; 4]| {
        let id = uuid::Uuid::from_u128(1);
        let creation = Creation {
            id: MatchId(id),
            code: MatchCode::from_number(0),
            game: find_game(game).expect("known game"),
            host: PlayerId(id),
            terms: Terms::with_defaults(true, 0, 0),
        };
        let ann = Occupant::Player {
            id: PlayerId(id),
            name: "ann".to_owned(),
            kind: plyhouse_protocol::PlayerKind::Guest,
            rating: None,
        };
        let seated = |seat, occupant| EventKind::Seated { seat, occupant };
        let moved = |at: usize| {
            let seat = [Seat::First, Seat::Second][at % 2];
            EventKind::untimed_move(seat, moves[at].to_owned())
        };
        let hint = |ply| EventKind::Hinted {
            seat: Seat::First,
            ply: Ply(ply),
        };
        let back = EventKind::TakenBack {
            ply: Ply(2),
            remaining: None,
        };
        let events = [
            seated(Seat::First, ann),
            seated(Seat::Second, Occupant::Bot(Level::Hard)),
            EventKind::UNTIMED_START,
            hint(0),
            moved(0),
            moved(1),
            moved(2),
            moved(3),
            hint(4),
            back,
            moved(2),
            moved(3),
        ];
        let events: Vec<Event> = events.map(|kind| kind.at(0)).to_vec();
        let record = GameRecord::from_match(creation, &events).expect("valid record");
        record.text
    };
    let chess = hinted("chess", ["e2e4", "e7e5", "g1f3", "b8c6"]);
    let expected = "\n1. e4 {hint} 1... e5 2. Nf3 Nc6 *\n";
    assert!(chess.ends_with(expected), "{chess}");
    let draughts = hinted("draughts", ["11-15", "22-18", "15x22", "25x18"]);
    assert!(
        draughts.contains("\n1. 11-15 {hint} 1... 22-18 2. "),
        "{draughts}"
    );
    let go = hinted("go", ["D4", "E5", "C3", "G7"]);
    assert!(go.contains(";B[df]C[hint];W[ee];B["), "{go}");
    assert_eq!(go.matches("hint").count(), 1, "{go}");
}
