//! Fuzz targets. A fuzz target fails if an input causes a panic, or if accepted input changes when
//! it is written and parsed again. Both the fuzzer and the ordinary tests call these functions.

#![allow(dead_code, reason = "each program of the fuzzer uses one of them")]

use arbitrary::Unstructured;
use plyhouse_engine::catalog::{CATALOG, GameEntry};
use plyhouse_engine::game::Position;
use plyhouse_engine::game::Seat;
use plyhouse_engine::game::chess::Chess;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::go::Go;
use plyhouse_engine::game::gomoku::Gomoku;
use plyhouse_engine::game::othello::Othello;
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Action, Creation, Event, Match, Occupant, Offer, Stage, Terms, Timestamp};
use plyhouse_protocol::{
    ClockControl, ErrorCode, MatchId, PlayerId, PlayerKind, Ply, Request, ServerMessage,
};
use plyhouse_store::{SqliteInspector, SqliteStore, StoreInspector};
use std::path::Path;
use std::str::FromStr;
use uuid::Uuid;

/// Maximum number of actions in one match. Longer matches do not exercise any other code.
const ACTIONS_MAX: usize = 400;

/// Checks how the decoder handles a client request. A rejected request must have a specific error
/// code. An accepted request must stay equal when it is encoded and decoded again.
pub(crate) fn request(data: &[u8]) {
    // The target skips invalid UTF-8, because the server rejects it before it decodes a request.
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Request::decode(text) {
        Ok(decoded) => {
            let request = decoded.request;
            let written = serde_json::to_string(&request).expect("texts and numbers");
            let again = Request::decode(&written).map(|decoded| decoded.request);
            assert_eq!(again, Ok(request), "{written}");
        }
        Err(refused) => {
            let code = refused.error.code;
            let expected = [
                ErrorCode::Malformed,
                ErrorCode::UnknownType,
                ErrorCode::BadField,
            ];
            assert!(
                code.is_some_and(|code| expected.contains(&code)),
                "{code:?}"
            );
            let answer = ServerMessage::Error(Box::new(refused.error));
            let written = serde_json::to_string(&answer).expect("texts and numbers");
            let read = ServerMessage::decode(&written).expect("a message");
            assert_eq!(read, Some(answer), "{written}");
        }
    }
}

/// Parses the input as a move and as a position of a game, and checks the results. The first byte
/// selects the game.
pub(crate) fn notation(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let checks: [fn(&str); CATALOG.len()] = [
        texts::<TicTacToe>,
        texts::<ConnectFour>,
        texts::<Othello>,
        texts::<Draughts>,
        texts::<Chess>,
        texts::<Gomoku>,
        texts::<Go<9>>,
    ];
    let game = usize::from(first) % CATALOG.len();
    checks[game](text);
    let entry = &CATALOG[game];
    let mut position = entry.initial_position();
    let before = position.to_string();
    match position.play(text) {
        Ok(m) => assert!(entry.initial_position().legal_moves().contains(&m), "{m}"),
        Err(_) => assert_eq!(position.to_string(), before),
    }
    let mut analyst = entry.analysis_board(0);
    if analyst.set_up(text).is_ok() {
        let position_text = analyst.position().to_string();
        analyst
            .set_up(&position_text)
            .expect("what was told is read");
        assert_eq!(analyst.position().to_string(), position_text);
    }
}

/// Parses `text` as a move and as a position of the game `P`, and checks the results.
fn texts<P: Position>(text: &str) {
    reread::<P::Move>(text);
    let Ok(position) = text.parse::<P>() else {
        return;
    };
    reread::<P>(text);
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    assert_eq!(moves.is_empty(), position.outcome().is_some(), "{position}");
    for m in moves {
        reread::<P::Move>(&m.to_string());
        let mut after = position.clone();
        after.play(m).expect("it is legal");
        // The check must accept an empty notation, because a pass is the empty string in SGF.
        let recorded = position.move_to_record_notation(m, &after);
        assert!(
            recorded.bytes().all(|byte| byte.is_ascii_graphic()),
            "{recorded:?}"
        );
        let position_text = after.to_string();
        assert_eq!(
            position_text.parse::<P>().as_ref(),
            Ok(&after),
            "{position} {m}"
        );
    }
}

/// Checks that a parsed value stays equal when it is written and parsed again.
fn reread<T: FromStr + ToString + PartialEq + std::fmt::Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        assert!(
            written.parse::<T>().is_ok_and(|again| again == value),
            "{text:?}: {written:?}"
        );
    }
}

/// Applies arbitrary actions to a match. The match must accept all resulting events, and replaying
/// the events must give the same state.
pub(crate) fn actions(data: &[u8]) {
    let mut chance = Unstructured::new(data);
    let Ok(game) = chance.choose(&CATALOG) else {
        return;
    };
    let creation = creation(game);
    let mut state = Match::new(creation.clone()).expect("it begins as its game does");
    let mut events = Vec::new();
    for _ in 0..ACTIONS_MAX {
        if chance.is_empty() {
            break;
        }
        let Ok(action) = action(&mut chance, &state) else {
            break;
        };
        let Ok(caused) = state.apply(&action, Timestamp::uncharged(0)) else {
            continue;
        };
        for event in &caused {
            let seq = state.seq();
            state.fold(event).expect("what was decided can happen");
            assert_eq!(state.seq().0, seq.0 + 1);
        }
        if let Action::Play { player, ply, m, .. } = &action {
            let played = state.seq().0 + 1 - caused.len() as u64;
            let repeated = state.find_repeated_move(*player, *ply, m);
            assert_eq!(repeated.map(|seq| seq.0), Some(played), "{m}");
        }
        events.extend(caused);
        check(&state);
    }
    let again = Match::replay(creation, &events).expect("it happened");
    assert_eq!(format!("{again:?}"), format!("{state:?}"));
}

/// Checks the invariants of a match that hold between two actions.
fn check(state: &Match) {
    let both = Seat::ALL.map(|seat| state.occupant(seat) != &Occupant::Open);
    match state.stage() {
        Stage::Open => assert_ne!(both, [true; 2], "it would have started"),
        Stage::Running => {
            assert_eq!(both, [true; 2], "a player is missing");
            assert!(
                !state.position().legal_moves().is_empty(),
                "nobody can move"
            );
        }
        Stage::Ended { .. } => assert!(state.turn().is_none()),
    }
    assert_eq!(state.moves().count() as u64, state.ply().0);
}

fn creation(game: &'static GameEntry) -> Creation {
    Creation {
        id: MatchId(Uuid::from_u128(1)),
        code: "K7QM2P".parse().expect("a code"),
        game,
        host: person(0),
        terms: Terms {
            clock: Some(ClockControl::Fischer {
                main_ms: 60_000,
                increment_ms: 1000,
            }),
            stand_in: Some(Level::Easy),
            ..Terms::with_defaults(true, 0, 0)
        },
    }
}

fn person(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(number.into()))
}

/// Returns an arbitrary action. Actions that continue the match are more likely than others.
fn action(chance: &mut Unstructured<'_>, state: &Match) -> arbitrary::Result<Action> {
    let player = person(chance.int_in_range(0..=2)?);
    let seat = *chance.choose(&Seat::ALL)?;
    Ok(match chance.int_in_range(0..=127)? {
        0 => Action::Leave { player },
        1 => Action::Resign { player },
        2 => Action::Abandon { seat },
        3 => Action::Abort,
        4..10 => Action::SeatBot {
            by: player,
            seat,
            level: *chance.choose(&Level::ALL)?,
        },
        10..14 => Action::RemoveBot { by: player, seat },
        14..32 => Action::Join {
            player,
            name: chance.arbitrary::<&str>()?.to_owned(),
            kind: *chance.choose(PlayerKind::ALL)?,
            seat: chance.arbitrary::<bool>()?.then_some(seat),
            rating: None,
        },
        32..36 => Action::PlayAsBot {
            seat,
            ply: ply(chance, state)?,
            m: a_move(chance, state)?,
        },
        36..40 => Action::OfferDraw {
            player,
            ply: ply(chance, state)?,
        },
        40..48 => Action::OfferTakeback {
            player,
            ply: ply(chance, state)?,
            to_ply: None,
        },
        48..52 => Action::Decline {
            player,
            offer: *chance.choose(&[Offer::Draw, Offer::Takeback])?,
        },
        52 => Action::AbortByPlayer { player },
        53 => Action::Flag,
        54..56 => Action::StandIn { seat },
        56 => Action::AnswerDrawAsBot {
            seat,
            accepts: chance.arbitrary()?,
        },
        57..59 => Action::GiveTime { player, ms: 5000 },
        59 => Action::Hint {
            player,
            ply: ply(chance, state)?,
        },
        _ => play(chance, state, player, seat)?,
    })
}

/// Returns an arbitrary move. In most cases, the player or bot whose turn it is makes the move.
/// Otherwise, `player` makes the move.
fn play(
    chance: &mut Unstructured<'_>,
    state: &Match,
    player: PlayerId,
    seat: Seat,
) -> arbitrary::Result<Action> {
    let ply = ply(chance, state)?;
    let m = a_move(chance, state)?;
    let turn = state.turn().map(|seat| state.occupant(seat));
    Ok(match turn {
        Some(Occupant::Player { id, .. }) if chance.ratio(7, 8)? => Action::Play {
            player: *id,
            ply,
            m,
            takebacks: None,
        },
        Some(Occupant::Bot(_) | Occupant::StandIn { .. }) => {
            let seat = state.turn().unwrap_or(seat);
            Action::PlayAsBot { seat, ply, m }
        }
        Some(Occupant::Player { .. } | Occupant::Open) | None => Action::Play {
            player,
            ply,
            m,
            takebacks: None,
        },
    })
}

fn ply(chance: &mut Unstructured<'_>, state: &Match) -> arbitrary::Result<Ply> {
    if chance.ratio(15, 16)? {
        Ok(state.ply())
    } else {
        Ok(Ply(chance.arbitrary()?))
    }
}

fn a_move(chance: &mut Unstructured<'_>, state: &Match) -> arbitrary::Result<String> {
    let legal = state.position().legal_moves();
    if !legal.is_empty() && chance.ratio(15, 16)? {
        return Ok(chance.choose(&legal)?.clone());
    }
    Ok(chance.arbitrary::<&str>()?.to_owned())
}

/// Stores the input as the database rows of a match and reads the match. The first line is the
/// game, the second line is the match code, and each further line is an event. The store must
/// either read the match or report that the match is damaged.
pub(crate) fn rows(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    // Each thread creates its own store only once, because creating the tables is slow.
    thread_local! {
        static STORE: (tempfile::TempDir, rusqlite::Connection, SqliteInspector) = {
            let folder = tempfile::tempdir().expect("a directory");
            drop(SqliteStore::open(folder.path(), None).expect("a new store"));
            let writer = database(folder.path());
            let archive = SqliteInspector::open(folder.path()).expect("the store");
            (folder, writer, archive)
        };
    }
    STORE.with(|(_, writer, archive)| {
        let id = MatchId(Uuid::from_u128(1));
        write(writer, id, text).expect("the tables take any text");
        let Ok(inspected) = archive.inspect_match(id) else {
            return;
        };
        let inspected = inspected.expect("it was written");
        serde_json::to_string(&inspected).expect("texts and numbers");
        let events = &inspected.record.events;
        let replayed = Match::replay(inspected.record.creation.clone(), events);
        if let Ok(state) = replayed {
            assert_eq!(state.seq().0, events.len() as u64);
            assert!(ends_at_most_once(events));
        }
    });
}

fn ends_at_most_once(events: &[Event]) -> bool {
    events.iter().filter(|event| event.is_end()).count() <= 1
}

/// Opens the database of a store. Disk syncing is off, because the data need not survive the test.
/// Foreign key checks are off, because the store does not contain the host of the match.
fn database(folder: &Path) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(folder.join("plyhouse.db")).expect("the store");
    for pragma in ["synchronous", "foreign_keys"] {
        let set = database.pragma_update(None, pragma, "OFF");
        set.expect("SQLite knows it");
    }
    database
}

fn write(database: &rusqlite::Connection, id: MatchId, text: &str) -> rusqlite::Result<()> {
    let id = id.0.as_bytes();
    let mut lines = text.lines();
    let (game, code) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let events: Vec<&str> = lines.collect();
    let change = database.unchecked_transaction()?;
    change.execute("DELETE FROM events", [])?;
    change.execute("DELETE FROM matches", [])?;
    change.execute(
        "INSERT INTO matches (id, code, game, host, terms, last_seq)
         VALUES (?1, ?2, ?3, ?1, '{\"listed\":true,\"pace_ms\":0,\"seed\":0}', ?4)",
        (
            id,
            code,
            game,
            i64::try_from(events.len()).unwrap_or(i64::MAX),
        ),
    )?;
    for (seq, event) in (1_i64..).zip(events) {
        change.execute(
            "INSERT INTO events (match, seq, at_ms, event) VALUES (?1, ?2, 0, ?3)",
            (id, seq, event),
        )?;
    }
    change.commit()
}
