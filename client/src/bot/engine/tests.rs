//! Tests of engine protocols with short shell scripts in place of engines.

use super::*;

fn script_engine(script: &str, protocol: EngineProtocol) -> Engine {
    let command = ["sh", "-c", script].map(OsString::from);
    let limits = EngineLimits {
        think_time: Some(Duration::from_millis(10)),
        start_timeout: Duration::from_secs(20),
        move_timeout: Duration::from_secs(20),
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

fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test)
}

fn search_request(text: &str) -> SearchRequest {
    SearchRequest {
        initial_position: None,
        moves: text.split_whitespace().map(str::to_owned).collect(),
        times: None,
    }
}

fn move_decision(m: &str) -> Result<EngineDecision, EngineError> {
    Ok(EngineDecision::Move(m.to_owned()))
}

/// Returns a shell script that acts as a UCI engine and completes the handshake. The script runs
/// the shell code `when_asked` on each `go` command. The shell variable `$position` holds the last
/// `position` command.
fn uci_script(when_asked: &str) -> String {
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
fn uci_engine_receives_complete_move_list() {
    let script = uci_script(r#"echo "info depth 1"; echo "bestmove ${position##* } ponder x""#);
    let mut engine = script_engine(&script, EngineProtocol::Uci);
    block_on(async {
        assert_eq!(engine.start().await, Ok(()));
        assert_eq!(
            engine.choose_move(&search_request("e2e4 e7e5")).await,
            move_decision("e7e5")
        );
        assert_eq!(
            engine.choose_move(&SearchRequest::default()).await,
            move_decision("startpos")
        );
        assert_eq!(engine.restart_count, 0);
        engine.quit().await;
    });
}

#[test]
fn exited_program_is_restarted_a_limited_number_of_times() {
    let mut engine = script_engine(&uci_script("exit"), EngineProtocol::Uci);
    block_on(async {
        assert_eq!(
            engine.choose_move(&SearchRequest::default()).await,
            Err(EngineError::Exited)
        );
        assert_eq!(engine.restart_count, RESTARTS_MAX);
    });
}

#[test]
fn hanging_program_ends_in_timeout_after_restarts() {
    let mut engine = script_engine(&uci_script("sleep 60"), EngineProtocol::Uci);
    engine.limits.move_timeout = Duration::from_millis(50);
    block_on(async {
        let error = engine
            .choose_move(&SearchRequest::default())
            .await
            .expect_err("a timeout");
        assert!(matches!(error, EngineError::Timeout(..)), "{error}");
    });
}

#[test]
fn invalid_best_move_fails_without_restart() {
    for nonsense in [
        "echo bestmove",
        "echo 'bestmove (none)'",
        "echo bestmove 0000",
    ] {
        let mut engine = script_engine(&uci_script(nonsense), EngineProtocol::Uci);
        let error =
            block_on(engine.choose_move(&SearchRequest::default())).expect_err("an invalid reply");
        assert!(matches!(error, EngineError::InvalidReply(_)), "{error}");
        assert_eq!(engine.restart_count, 0);
    }
}

#[test]
fn missing_program_fails_to_spawn_and_silent_one_has_exited() {
    let mut engine = script_engine("", EngineProtocol::Uci);
    engine.command = vec!["/nowhere/at/all".into()];
    let error = block_on(engine.start()).expect_err("a spawn error");
    assert!(matches!(error, EngineError::SpawnFailed(..)), "{error}");
    // A program that exits before the handshake makes `start` fail.
    let mut exiting_engine = script_engine("", EngineProtocol::Gtp);
    assert_eq!(block_on(exiting_engine.start()), Err(EngineError::Exited));
}

/// The test script replies to `genmove` with the number of commands received so far. The reply thus
/// shows how many commands each turn has sent.
#[test]
fn gtp_engine_receives_only_new_moves() {
    let script = r#"count=0
        while read line; do
            count=$((count + 1))
            case "$line" in
                time_settings*) printf '? unknown command\n\n';;
                genmove*) printf '= A%s\n\n' $count;;
                *) printf '=\n\n';;
            esac
        done"#;
    let mut engine = script_engine(script, EngineProtocol::Gtp);
    block_on(async {
        assert_eq!(
            engine.choose_move(&SearchRequest::default()).await,
            move_decision("A5")
        );
        assert_eq!(
            engine.choose_move(&search_request("A5 pass")).await,
            move_decision("A7")
        );
        // These moves differ from the moves that the engine knows, so the client sends all of them
        // again.
        assert_eq!(
            engine.choose_move(&search_request("B5 pass")).await,
            move_decision("A11")
        );
    });
}

/// The side to move in the initial position plays the first move of the match. The test covers UCI,
/// GTP and Piskvork.
#[test]
fn engines_receive_initial_position() {
    let from_position = |start: &str, text: &str| SearchRequest {
        initial_position: Some(start.to_owned()),
        ..search_request(text)
    };
    let script = uci_script(r#"echo "bestmove ${position#position fen }""#);
    let mut chess = script_engine(&script, EngineProtocol::Uci);
    let ending = "4k3/8/8/8/8/8/8/4K2R b - - 0 30";
    assert_eq!(
        block_on(chess.choose_move(&from_position(ending, "e8e7"))),
        move_decision("4k3/8/8/8/8/8/8/4K2R")
    );
    let script = r#"said=
        while read line; do case "$line" in
            play*) said="$said-${line#play }"; printf '=\n\n';;
            genmove*) printf '= %s-%s\n\n' "$said" "${line#genmove }"; said=;;
            *) printf '=\n\n';;
        esac; done"#;
    let mut go = script_engine(script, EngineProtocol::Gtp);
    (go.game.game, go.game.files, go.game.ranks) = ("go".to_owned(), 3, 3);
    block_on(async {
        let initial_position = "w../..b/... w 0 0 0 3";
        let first_moves = "-white A3-black C2-white B1-black B2-white";
        assert_eq!(
            go.choose_move(&from_position(initial_position, "B1 B2"))
                .await,
            move_decision(first_moves)
        );
        // After a takeback to the initial position, the setup stones are placed again.
        let replayed = "-white A3-black C2-white";
        assert_eq!(
            go.choose_move(&from_position(initial_position, "")).await,
            move_decision(replayed)
        );
    });
    // The script replies with the point `x,y`. The value `x` is the total number of stones, and `y`
    // is the number of the engine's own stones.
    let script = r#"while read line; do case "$line" in
            START*|RESTART) echo OK; all=0; own=0;;
            BOARD) ;;
            *,*,1) all=$((all + 1)); own=$((own + 1));;
            *,*,2) all=$((all + 1));;
            DONE) echo "$all,$own";;
            TURN*) echo 0,0;;
        esac; done"#;
    let mut gomoku = script_engine(script, EngineProtocol::Piskvork);
    gomoku.game.game = "gomoku".to_owned();
    block_on(async {
        let initial_position = format!("{}bwb12/15", "15/".repeat(13));
        assert_eq!(
            gomoku
                .choose_move(&from_position(&initial_position, ""))
                .await,
            move_decision("d14")
        );
        assert_eq!(
            gomoku
                .choose_move(&from_position(&initial_position, "d14 e1"))
                .await,
            move_decision("a15")
        );
        gomoku.sent_moves.clear();
        assert_eq!(
            gomoku
                .choose_move(&from_position(&initial_position, "h8"))
                .await,
            move_decision("e13")
        );
        let result = gomoku.choose_move(&from_position("8/8", "")).await;
        assert!(
            matches!(result, Err(EngineError::UnsupportedPosition(_))),
            "{result:?}"
        );
    });
}

#[test]
fn gtp_resignation_and_rejected_commands_are_reported() {
    let choose_with_reply = |text: &str| {
        let script = format!(
            r#"while read line; do case "$line" in
                genmove*) printf '{text}\n\n';;
                *) printf '=\n\n';;
            esac; done"#
        );
        block_on(script_engine(&script, EngineProtocol::Gtp).choose_move(&SearchRequest::default()))
    };
    assert_eq!(choose_with_reply("= resign"), Ok(EngineDecision::Resign));
    assert_eq!(choose_with_reply("= PASS"), move_decision("PASS"));
    let rejected = |command: &str, words: &str| EngineError::CommandRejected {
        command: command.to_owned(),
        words: words.to_owned(),
    };
    assert_eq!(
        choose_with_reply("? no"),
        Err(rejected("genmove black", "no"))
    );
    // If the engine rejects a required GTP command, the error contains the engine's message.
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
        let mut engine = script_engine(&script, EngineProtocol::Gtp);
        assert_eq!(block_on(engine.start()), Err(rejected(command, words)));
    }
}

/// The test script replies to `TURN` with the point it has received. If the point in a `TURN`
/// command is on the first file, the script replies with the point to the right of it. The script
/// replies to `BOARD` with the number of the opponent's stones.
#[test]
fn piskvork_engine_receives_single_turn_or_complete_board() {
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
    let mut engine = script_engine(script, EngineProtocol::Piskvork);
    block_on(async {
        assert_eq!(
            engine.choose_move(&SearchRequest::default()).await,
            move_decision("h8")
        );
        assert_eq!(
            engine.choose_move(&search_request("h8 a1")).await,
            move_decision("b1")
        );
        assert_eq!(
            engine.choose_move(&search_request("h8 a1 c4 d5 e6")).await,
            move_decision("d15")
        );
    });
    let error_script = r#"while read line; do case "$line" in
            START*) echo OK;; BEGIN) echo "ERROR no";;
        esac; done"#;
    let mut engine = script_engine(error_script, EngineProtocol::Piskvork);
    assert_eq!(
        block_on(engine.choose_move(&SearchRequest::default())),
        Err(EngineError::InvalidReply("ERROR no".to_owned()))
    );
}

#[test]
fn start_with_unknown_option_fails() {
    let script = r#"while read line; do case "$line" in
            uci) echo "option name Skill Level type spin default 1"; echo uciok;;
            isready) echo readyok;;
        esac; done"#;
    let start_with_option = |name: &str| {
        let mut engine = script_engine(script, EngineProtocol::Uci);
        engine.options = vec![(name.to_owned(), "3".to_owned())];
        block_on(async { engine.start().await })
    };
    assert_eq!(start_with_option("skill level"), Ok(()));
    assert_eq!(
        start_with_option("Skill"),
        Err(EngineError::UnknownOption("Skill".to_owned()))
    );
}

#[test]
fn start_with_invalid_option_value_fails() {
    let script = r#"while read line; do case "$line" in
            uci) echo "option name Hash type spin default 16 min 1 max 64"; echo uciok;;
            setoption*) exit;;
            isready) echo readyok;;
        esac; done"#;
    let mut engine = script_engine(script, EngineProtocol::Uci);
    engine.options = vec![("hash".to_owned(), "99".to_owned())];
    let error = block_on(engine.start()).expect_err("an invalid option value");
    let expected = r#"invalid value "99" for engine option "Hash": expected a number from 1 to 64"#;
    assert_eq!(error.to_string(), expected);
}

/// For every protocol, a line may end with LF, CR LF or CR. A CR alone completes a line, even if no
/// byte follows.
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
            let mut engine = script_engine(&script, protocol);
            assert_eq!(
                block_on(engine.choose_move(&SearchRequest::default())),
                move_decision(m),
                "{end}"
            );
        }
    }
}

/// Gomoku engines may add text after `OK`, use either letter case, send messages, and reply
/// `UNKNOWN` to `INFO` or `RESTART`.
#[test]
fn piskvork_reply_variants_are_accepted() {
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
        let mut engine = script_engine(&script, EngineProtocol::Piskvork);
        block_on(async {
            assert_eq!(
                engine.choose_move(&SearchRequest::default()).await,
                move_decision("h8"),
                "{ok}"
            );
            // These moves differ from the moves that the engine knows, so the client sends the
            // complete board.
            assert_eq!(
                engine.choose_move(&search_request("a1 a2")).await,
                move_decision("b15"),
                "{ok}"
            );
        });
    }
    for error_reply in ["ERROR size", "NO", "O K", "error - 15 is too small"] {
        let script = format!(r#"while read line; do echo "{error_reply}"; done"#);
        let mut engine = script_engine(&script, EngineProtocol::Piskvork);
        let expected = Err(EngineError::InvalidReply(error_reply.to_owned()));
        assert_eq!(block_on(engine.start()), expected);
    }
}

/// An engine that rejects the time commands of GTP can still play a match with a clock.
#[test]
fn gtp_engine_without_time_commands_plays_with_clock() {
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
        let mut engine = script_engine(script, EngineProtocol::Gtp);
        engine.clock = Some(clock);
        let times = ClockTimes {
            control: clock,
            remaining_ms: [9000, 9000],
            in_period: [false, false],
            seat: 0,
            first_move_limit_ms: None,
        };
        let turn = SearchRequest {
            times: Some(times),
            ..SearchRequest::default()
        };
        assert_eq!(
            block_on(engine.choose_move(&turn)),
            move_decision("C3"),
            "{clock:?}"
        );
    }
}
