//! Programs that are a few lines of shell, each with a fault of its own.

use super::*;

fn engine(script: &str, protocol: EngineProtocol) -> Engine {
    let command = ["sh", "-c", script].map(OsString::from);
    let limits = Limits {
        think: Some(Duration::from_millis(10)),
        start: Duration::from_secs(20),
        answer: Duration::from_secs(20),
    };
    let game = GameSummary {
        game: "some-game".to_owned(),
        title: "Some game".to_owned(),
        sides: ["black", "white"].map(str::to_owned),
        files: 15,
        ranks: 15,
        record_extension: None,
        draw_offers: true,
    };
    Engine::new(command.into(), protocol, Vec::new(), limits, game, None)
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test)
}

fn moves(text: &str) -> Turn {
    Turn {
        start: None,
        moves: text.split_whitespace().map(str::to_owned).collect(),
        times: None,
    }
}

fn plays(m: &str) -> Result<Answer, Fault> {
    Ok(Answer::Move(m.to_owned()))
}

/// Answers as UCI wants it, and does this when it is to think. `$position` is the last one told.
fn uci(when_asked: &str) -> String {
    format!(
        r#"while read line; do case "$line" in
            uci) echo "id name Script"; echo uciok;;
            isready) echo readyok;;
            position*) position="$line";;
            go*) {when_asked};;
            quit) exit;;
        esac; done"#
    )
}

#[test]
fn uci_is_told_the_whole_game() {
    let script = uci(r#"echo "info depth 1"; echo "bestmove ${position##* } ponder x""#);
    let mut engine = engine(&script, EngineProtocol::Uci);
    run(async {
        assert_eq!(engine.start().await, Ok(()));
        assert_eq!(engine.choose(&moves("e2e4 e7e5")).await, plays("e7e5"));
        assert_eq!(engine.choose(&Turn::default()).await, plays("startpos"));
        assert_eq!(engine.restarts, 0);
        engine.end().await;
    });
}

#[test]
fn a_program_that_ends_is_started_anew_but_not_for_ever() {
    let mut engine = engine(&uci("exit"), EngineProtocol::Uci);
    run(async {
        assert_eq!(engine.choose(&Turn::default()).await, Err(Fault::Gone));
        assert_eq!(engine.restarts, RESTARTS_MAX);
    });
}

#[test]
fn a_program_that_hangs_is_started_anew_but_not_for_ever() {
    let mut engine = engine(&uci("sleep 60"), EngineProtocol::Uci);
    engine.limits.answer = Duration::from_millis(50);
    run(async {
        let fault = engine.choose(&Turn::default()).await.expect_err("it hangs");
        assert!(matches!(fault, Fault::TooSlow(..)), "{fault}");
    });
}

#[test]
fn a_program_that_has_no_move_is_not_asked_again() {
    for nonsense in [
        "echo bestmove",
        "echo 'bestmove (none)'",
        "echo bestmove 0000",
    ] {
        let mut engine = engine(&uci(nonsense), EngineProtocol::Uci);
        let fault = run(engine.choose(&Turn::default())).expect_err("there is no move");
        assert!(matches!(fault, Fault::Nonsense(_)), "{fault}");
        assert_eq!(engine.restarts, 0);
    }
}

#[test]
fn what_is_no_program_cannot_be_started() {
    let mut engine = engine("", EngineProtocol::Uci);
    engine.command = vec!["/nowhere/at/all".into()];
    let fault = run(engine.start()).expect_err("there is none");
    assert!(matches!(fault, Fault::NotStarted(..)), "{fault}");
    // One that says nothing has ended before it was ready.
    let mut silent = self::engine("", EngineProtocol::Gtp);
    assert_eq!(run(silent.start()), Err(Fault::Gone));
}

/// It is told each move once, and answers with the number of commands that it has got.
#[test]
fn gtp_is_told_what_is_new() {
    let script = r#"count=0
        while read line; do
            count=$((count + 1))
            case "$line" in
                time_settings*) printf '? unknown command\n\n';;
                genmove*) printf '= A%s\n\n' $count;;
                *) printf '=\n\n';;
            esac
        done"#;
    let mut engine = engine(script, EngineProtocol::Gtp);
    run(async {
        assert_eq!(engine.choose(&Turn::default()).await, plays("A5"));
        assert_eq!(engine.choose(&moves("A5 pass")).await, plays("A7"));
        // Another game than it has played: all anew.
        assert_eq!(engine.choose(&moves("B5 pass")).await, plays("A11"));
    });
}

/// Whoever is to move in the position with which a match begins moves first.
#[test]
fn programs_are_told_with_what_a_match_begins() {
    let from = |start: &str, text: &str| Turn {
        start: Some(start.to_owned()),
        ..moves(text)
    };
    let script = uci(r#"echo "bestmove ${position#position fen }""#);
    let mut chess = engine(&script, EngineProtocol::Uci);
    let ending = "4k3/8/8/8/8/8/8/4K2R b - - 0 30";
    assert_eq!(
        run(chess.choose(&from(ending, "e8e7"))),
        plays("4k3/8/8/8/8/8/8/4K2R")
    );
    let script = r#"said=
        while read line; do case "$line" in
            play*) said="$said-${line#play }"; printf '=\n\n';;
            genmove*) printf '= %s-%s\n\n' "$said" "${line#genmove }"; said=;;
            *) printf '=\n\n';;
        esac; done"#;
    let mut go = engine(script, EngineProtocol::Gtp);
    (go.game.game, go.game.files, go.game.ranks) = ("go".to_owned(), 3, 3);
    run(async {
        let start = "w../..b/... w 0 0 0 3";
        let first = "-white A3-black C2-white B1-black B2-white";
        assert_eq!(go.choose(&from(start, "B1 B2")).await, plays(first));
        // Taken back to the start: the stones are put there again.
        let again = "-white A3-black C2-white";
        assert_eq!(go.choose(&from(start, "")).await, plays(again));
    });
    // It answers with how many stones it was told, and how many are its own.
    let script = r#"while read line; do case "$line" in
            START*|RESTART) echo OK; all=0; own=0;;
            BOARD) ;;
            *,*,1) all=$((all + 1)); own=$((own + 1));;
            *,*,2) all=$((all + 1));;
            DONE) echo "$all,$own";;
            TURN*) echo 0,0;;
        esac; done"#;
    let mut gomoku = engine(script, EngineProtocol::Piskvork);
    gomoku.game.game = "gomoku".to_owned();
    run(async {
        let start = format!("{}bwb12/15", "15/".repeat(13));
        assert_eq!(gomoku.choose(&from(&start, "")).await, plays("d14"));
        assert_eq!(gomoku.choose(&from(&start, "d14 e1")).await, plays("a15"));
        gomoku.told.clear();
        assert_eq!(gomoku.choose(&from(&start, "h8")).await, plays("e13"));
        let strange = gomoku.choose(&from("8/8", "")).await;
        assert!(matches!(strange, Err(Fault::NoPosition(_))), "{strange:?}");
    });
}

#[test]
fn gtp_may_resign_or_complain() {
    let answer = |text: &str| {
        let script = format!(
            r#"while read line; do case "$line" in
                genmove*) printf '{text}\n\n';;
                *) printf '=\n\n';;
            esac; done"#
        );
        run(engine(&script, EngineProtocol::Gtp).choose(&Turn::default()))
    };
    assert_eq!(answer("= resign"), Ok(Answer::Resign));
    assert_eq!(answer("= PASS"), plays("PASS"));
    let refused = |command: &str, words: &str| Fault::Refused {
        command: command.to_owned(),
        words: words.to_owned(),
    };
    assert_eq!(answer("? no"), Err(refused("genmove black", "no")));
    // A refused command of those that GTP requires is told with the engine's words.
    for (command, words) in [
        ("boardsize 15", "unacceptable size"),
        ("clear_board", "not now"),
        ("komi 7", ""),
    ] {
        let script = format!(
            r#"while read line; do case "$line" in
                {}*) printf '? {words}\n\n';;
                *) printf '=\n\n';;
            esac; done"#,
            command.split(' ').next().unwrap_or_default()
        );
        let mut engine = engine(&script, EngineProtocol::Gtp);
        assert_eq!(run(engine.start()), Err(refused(command, words)));
    }
}

/// It answers a turn by the point that it was told, and a board by the number of stones.
#[test]
fn piskvork_is_told_a_turn_or_a_board() {
    let script = r#"while read line; do case "$line" in
            START*|RESTART) echo OK; stones=0;;
            INFO*) ;;
            BEGIN) echo "MESSAGE let us begin"; echo 7,7;;
            TURN*) point="${line#TURN }"; echo "$point" | sed 's/^0,/1,/';;
            BOARD) ;;
            *,2) stones=$((stones + 1));;
            *,1) ;;
            DONE) echo "$stones,0";;
        esac; done"#;
    let mut engine = engine(script, EngineProtocol::Piskvork);
    run(async {
        assert_eq!(engine.choose(&Turn::default()).await, plays("h8"));
        assert_eq!(engine.choose(&moves("h8 a1")).await, plays("b1"));
        assert_eq!(engine.choose(&moves("h8 a1 c4 d5 e6")).await, plays("d15"));
    });
    let complains = r#"while read line; do case "$line" in
            START*) echo OK;; BEGIN) echo "ERROR no";;
        esac; done"#;
    let mut engine = self::engine(complains, EngineProtocol::Piskvork);
    assert_eq!(
        run(engine.choose(&Turn::default())),
        Err(Fault::Nonsense("ERROR no".to_owned()))
    );
}

#[test]
fn an_option_that_the_program_does_not_have_is_no_start() {
    let script = r#"while read line; do case "$line" in
            uci) echo "option name Skill Level type spin default 1"; echo uciok;;
            isready) echo readyok;;
        esac; done"#;
    let start = |name: &str| {
        let mut engine = engine(script, EngineProtocol::Uci);
        engine.options = vec![(name.to_owned(), "3".to_owned())];
        run(async { engine.start().await })
    };
    assert_eq!(start("skill level"), Ok(()));
    assert_eq!(start("Skill"), Err(Fault::NoOption("Skill".to_owned())));
}

#[test]
fn a_value_that_an_option_does_not_take_is_no_start() {
    let script = r#"while read line; do case "$line" in
            uci) echo "option name Hash type spin default 16 min 1 max 64"; echo uciok;;
            setoption*) exit;;
            isready) echo readyok;;
        esac; done"#;
    let mut engine = engine(script, EngineProtocol::Uci);
    engine.options = vec![("hash".to_owned(), "99".to_owned())];
    let fault = run(engine.start()).expect_err("it is too much");
    let expected = r#"the program's option "Hash" takes a number from 1 to 64, not "99""#;
    assert_eq!(fault.to_string(), expected);
}

/// Every protocol is read with each line end. A CR alone completes a line: nothing comes after it.
#[test]
fn lines_end_with_lf_crlf_or_cr() {
    for end in [r"\n", r"\r\n", r"\r"] {
        let uci = format!(
            r#"while read line; do case "$line" in
                uci) printf 'id name x{end}uciok{end}';;
                isready) printf 'readyok{end}';;
                go*) printf 'info depth 1{end}bestmove e2e4{end}';;
            esac; done"#
        );
        let gtp = format!(
            r#"while read line; do case "$line" in
                genmove*) printf '= D4{end}{end}';;
                *) printf '={end}{end}';;
            esac; done"#
        );
        let piskvork = format!(
            r#"while read line; do case "$line" in
                START*) printf 'MESSAGE hello{end}OK{end}';;
                BEGIN) printf '{end}7,7{end}';;
                TURN*) printf 'DEBUG x{end}{end}0,0{end}';;
            esac; done"#
        );
        for (script, protocol, m) in [
            (uci, EngineProtocol::Uci, "e2e4"),
            (gtp, EngineProtocol::Gtp, "D4"),
            (piskvork, EngineProtocol::Piskvork, "h8"),
        ] {
            let mut engine = engine(&script, protocol);
            assert_eq!(run(engine.choose(&Turn::default())), plays(m), "{end}");
        }
    }
}

/// Engines of Gomoku answer as the protocol allows: a text after OK, letters of either case, remarks, and
/// UNKNOWN where they do not know an INFO or RESTART.
#[test]
fn piskvork_answers_may_be_worded_freely() {
    for (ok, remark) in [
        ("OK", "MESSAGE I think"),
        ("OK - ready to play", "message lower case"),
        ("ok", "debug depth 3"),
        ("Ok, 15x15", "UNKNOWN info rule"),
        ("OK.", "unknown"),
    ] {
        let script = format!(
            r#"while read line; do case "$line" in
                START*) echo "{remark}"; echo "{ok}";;
                INFO*) echo "UNKNOWN $line";;
                RESTART) echo "unknown command";;
                BEGIN) echo "{remark}"; echo 7,7;;
                BOARD) ;;
                DONE) echo "{remark}"; echo 1,0;;
            esac; done"#
        );
        let mut engine = engine(&script, EngineProtocol::Piskvork);
        run(async {
            assert_eq!(engine.choose(&Turn::default()).await, plays("h8"), "{ok}");
            // Another game than before, so the board is told anew.
            assert_eq!(engine.choose(&moves("a1 a2")).await, plays("b15"), "{ok}");
        });
    }
    for refusal in ["ERROR size", "NO", "O K", "error - 15 is too small"] {
        let script = format!(r#"while read line; do echo "{refusal}"; done"#);
        let mut engine = engine(&script, EngineProtocol::Piskvork);
        let expected = Err(Fault::Nonsense(refusal.to_owned()));
        assert_eq!(run(engine.start()), expected);
    }
}

/// GTP does not require commands about time.
#[test]
fn gtp_without_commands_about_time_plays_by_a_clock() {
    let script = r#"while read line; do case "$line" in
            time_*) printf '? unknown command\n\n';;
            genmove*) printf '= C3\n\n';;
            *) printf '=\n\n';;
        esac; done"#;
    for clock in [
        ClockControl::Fischer {
            main_ms: 60_000,
            increment_ms: 1000,
        },
        ClockControl::ByoYomi {
            main_ms: 0,
            period_ms: 10_000,
            periods: 3,
        },
        ClockControl::Delay {
            main_ms: 9000,
            delay_ms: 1000,
        },
    ] {
        let mut engine = engine(script, EngineProtocol::Gtp);
        engine.clock = Some(clock);
        let times = Times {
            clock,
            left_ms: [9000, 9000],
            in_period: [false, false],
            seat: 0,
            first_move_ms: None,
        };
        let turn = Turn {
            times: Some(times),
            ..Turn::default()
        };
        assert_eq!(run(engine.choose(&turn)), plays("C3"), "{clock:?}");
    }
}
