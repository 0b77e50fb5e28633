//! Tests of engine protocols with short shell scripts and recorded programs in place of engines.

use super::*;

const TIMEOUT: Duration = Duration::from_secs(20);

/// Number of rows and columns of the board.
const BOARD_SIZE: u64 = 15;

const GTP: Protocol = Protocol::Gtp { komi: 7 };

fn shell_config(words: &[&str], protocol: Protocol) -> EngineConfig {
    EngineConfig {
        command: EngineCommand {
            words: ["sh"].iter().chain(words).map(Into::into).collect(),
            directory: None,
            inherits_stderr: true,
        },
        protocol,
        options: Vec::new(),
    }
}

fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test)
}

/// Starts an engine and its first game.
async fn start(config: &EngineConfig) -> Result<Engine, EngineError> {
    let mut engine = Engine::start(config, Deadline::after(TIMEOUT)).await?;
    (engine.new_game(BOARD_SIZE, Deadline::after(TIMEOUT)).await).map(|()| engine)
}

async fn start_script(script: &str, protocol: Protocol) -> Result<Engine, EngineError> {
    start(&shell_config(&["-c", script], protocol)).await
}

fn split_moves(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Asks for a move after `moves`. Returns the text of the move, or `None` if the engine resigns.
async fn choose(
    engine: &mut Engine,
    initial: Option<&InitialPosition>,
    (seat, moves): (usize, &str),
    limits: &SearchLimits,
) -> Result<Option<String>, EngineError> {
    let position = GamePosition {
        initial,
        moves: &split_moves(moves),
        seat,
    };
    let deadline = Deadline::after(TIMEOUT);
    let decision = engine.choose_move(position, limits, deadline).await?;
    Ok(match decision {
        Decision::Move { text, .. } => Some(text),
        Decision::Resign => None,
    })
}

/// Asks for a move after `moves` from the standard initial position, without limits.
async fn choose_after(engine: &mut Engine, moves: &str) -> Result<Option<String>, EngineError> {
    let seat = split_moves(moves).len() % 2;
    choose(engine, None, (seat, moves), &SearchLimits::default()).await
}

/// Starts a script and asks for its first move.
fn first_move(script: &str, protocol: Protocol) -> Result<Option<String>, EngineError> {
    block_on(async { choose_after(&mut start_script(script, protocol).await?, "").await })
}

fn played(m: &str) -> Result<Option<String>, EngineError> {
    Ok(Some(m.to_owned()))
}

fn rejected(command: &str, reply: &str) -> EngineError {
    EngineError::CommandRejected {
        command: command.to_owned(),
        reply: reply.to_owned(),
    }
}

fn initial_position(text: &str, stones: &[(usize, &str)]) -> InitialPosition {
    let stones = stones
        .iter()
        .map(|(seat, square)| (*seat, (*square).to_owned()));
    InitialPosition {
        text: text.to_owned(),
        stones: Some(stones.collect()),
    }
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

/// Returns the configuration of a program that replays a transcript of an engine. In a transcript,
/// `>` marks the input of the engine and `<` its output. The program exits if its input differs.
fn transcript_config(file: &str, protocol: Protocol) -> EngineConfig {
    let script = r#"exec 3< "$1"; while IFS= read -r line <&3; do
        case "$line" in
            "> "*) IFS= read -r input || exit
                [ "$input" = "${line#> }" ] || { echo "$input instead of $line" >&2; exit; };;
            *) line="${line#<}"; printf '%s\n' "${line# }";;
        esac; done"#;
    let path = format!("{}/transcripts/{file}", env!("CARGO_MANIFEST_DIR"));
    shell_config(&["-c", script, "sh", &path], protocol)
}

fn clock(seconds: [u64; 2], increment: u64) -> Clock {
    Clock {
        main_time: Duration::from_secs(60),
        period: None,
        remaining: seconds.map(Duration::from_secs),
        increments: [Duration::from_secs(increment); 2],
        moves_to_go: [None; 2],
    }
}

fn move_time(ms: u64) -> SearchLimits {
    SearchLimits {
        move_time: Some(Duration::from_millis(ms)),
        ..SearchLimits::default()
    }
}

#[test]
fn recorded_stockfish_plays() {
    let mut config = transcript_config("stockfish-15.1.txt", Protocol::Uci);
    config.options = vec![("Hash".to_owned(), "16".to_owned())];
    block_on(async {
        let mut engine = start(&config).await.expect("the engine starts");
        let mut decide = async |initial: Option<&str>, moves: &str, limits: SearchLimits| {
            let initial = initial.map(|text| initial_position(text, &[]));
            let position = GamePosition {
                initial: initial.as_ref(),
                moves: &split_moves(moves),
                seat: 0,
            };
            let deadline = Deadline::after(TIMEOUT);
            engine.choose_move(position, &limits, deadline).await
        };
        let decision = |text: &str, score| {
            let text = text.to_owned();
            Ok(Decision::Move { text, score })
        };
        let limits = SearchLimits {
            clock: Some(clock([60, 59], 1)),
            nodes: Some(3000),
            ..SearchLimits::default()
        };
        // The engine's last score is only an upper bound.
        let answer = decide(None, "e2e4 e7e5", limits).await;
        assert_eq!(answer, decision("g1f3", Some(74)));
        let limits = SearchLimits {
            depth: Some(3),
            ..SearchLimits::default()
        };
        let mate_in_one = Some("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1");
        let answer = decide(mate_in_one, "", limits).await;
        assert_eq!(answer, decision("a1a8", Some(MATE_SCORE)));
        let stalemate = Some("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
        let answer = decide(stalemate, "", move_time(10)).await;
        let expected = EngineError::InvalidReply("bestmove (none)".to_owned());
        assert_eq!(answer, Err(expected));
        engine.quit().await;
    });
}

#[test]
fn recorded_gnu_go_plays() {
    let config = transcript_config("gnugo-3.8.txt", GTP);
    block_on(async {
        let timeout = Deadline::after(TIMEOUT);
        let mut engine = Engine::start(&config, timeout).await.expect("it starts");
        assert_eq!(engine.new_game(9, timeout).await, Ok(()));
        let clock = SearchLimits {
            clock: Some(clock([60, 60], 0)),
            ..SearchLimits::default()
        };
        let first_move = choose(&mut engine, None, (0, ""), &clock).await;
        assert_eq!(first_move, played("E5"));
        let next_move = choose(&mut engine, None, (0, "E5 C3"), &move_time(400)).await;
        assert_eq!(next_move, played("E3"));
        let initial = initial_position("w../..b/... w 0 0 0 3", &[(0, "A3"), (1, "C2")]);
        let free = SearchLimits::default();
        let after_setup = choose(&mut engine, Some(&initial), (1, "B1"), &free).await;
        assert_eq!(after_setup, played("E5"));
        let occupied = choose(&mut engine, None, (0, "E5 E5"), &free).await;
        assert_eq!(occupied, Err(rejected("play w E5", "illegal move")));
        engine.quit().await;
    });
}

/// The transcript is of the example engine `src/book/bots/engine.py`.
#[test]
fn recorded_gomoku_engine_plays() {
    let config = transcript_config("gomoku-example.txt", Protocol::Piskvork);
    block_on(async {
        let mut engine = start(&config).await.expect("the engine starts");
        let limits = |seconds| SearchLimits {
            clock: Some(clock([seconds, 0], 0)),
            ..move_time(1000)
        };
        let first_move = choose(&mut engine, None, (0, ""), &limits(60)).await;
        assert_eq!(first_move, played("h8"));
        let next_move = choose(&mut engine, None, (0, "h8 a15"), &limits(59)).await;
        assert_eq!(next_move, played("g9"));
        assert_eq!(choose_after(&mut engine, "h8 i7 a15").await, played("h6"));
        engine.quit().await;
    });
}

#[test]
fn uci_engine_receives_complete_move_list() {
    let script = uci_script(r#"echo "info depth 1"; echo "bestmove ${position##* } ponder x""#);
    block_on(async {
        let mut engine = start_script(&script, Protocol::Uci).await.expect("ready");
        assert_eq!(choose_after(&mut engine, "e2e4 e7e5").await, played("e7e5"));
        assert_eq!(choose_after(&mut engine, "").await, played("startpos"));
        engine.quit().await;
    });
}

#[test]
fn exited_program_and_hanging_program_are_errors() {
    let exited = first_move(&uci_script("exit"), Protocol::Uci);
    assert_eq!(exited, Err(EngineError::Exited));
    assert_eq!(first_move("", GTP), Err(EngineError::Exited));
    block_on(async {
        let script = uci_script("sleep 60");
        let mut engine = start_script(&script, Protocol::Uci).await.expect("ready");
        let position = GamePosition {
            initial: None,
            moves: &[],
            seat: 0,
        };
        let timeout = Duration::from_millis(50);
        let deadline = Deadline::after(timeout);
        let answer = engine.choose_move(position, &move_time(1), deadline).await;
        assert_eq!(answer, Err(EngineError::Timeout("move", timeout)));
    });
}

/// The first script stops reading after the handshake, so the pipe to it becomes full. The others
/// write endless lines or an endless line.
#[test]
fn deadline_applies_to_full_pipes_and_endless_output() {
    let deaf = "read l; echo uciok; read l; echo readyok; read l; read l; echo readyok; sleep 60";
    let long_game = split_moves(&"e2e4 ".repeat(100_000));
    for (script, moves) in [
        (deaf.to_owned(), &long_game[..]),
        (uci_script("yes info"), &[]),
        (uci_script("cat /dev/zero"), &[]),
    ] {
        block_on(async {
            let mut engine = start_script(&script, Protocol::Uci).await.expect("ready");
            let position = GamePosition {
                initial: None,
                moves,
                seat: 0,
            };
            let timeout = Duration::from_millis(100);
            let deadline = Deadline::after(timeout);
            let answer = engine.choose_move(position, &move_time(1), deadline).await;
            assert_eq!(answer, Err(EngineError::Timeout("move", timeout)));
        });
    }
}

/// The engine's child process holds a pipe open for writing. If the test can read the pipe to its
/// end, the child process has been killed.
#[test]
fn dropped_engine_is_killed_with_its_descendants() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    let status = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(status.expect("mkfifo runs").success());
    let script = uci_script(&format!("sleep 1000 > {} & wait", path.display()));
    let mut pipe = block_on(async {
        let mut engine = start_script(&script, Protocol::Uci).await.expect("ready");
        // Opening the pipe blocks until the child process opens it, too.
        let pipe = tokio::task::spawn_blocking(|| std::fs::File::open(path));
        tokio::select! {
            answer = choose_after(&mut engine, "") => panic!("{answer:?}"),
            pipe = pipe => pipe.expect("the task completes").expect("readable"),
        }
    });
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut pipe, &mut rest).expect("readable");
    assert_eq!(rest, []);
}

#[test]
fn unusable_best_move_is_an_invalid_reply() {
    for reply in ["bestmove ", "bestmove (none)", "bestmove 0000"] {
        let answer = first_move(&uci_script(&format!("echo '{reply}'")), Protocol::Uci);
        assert_eq!(answer, Err(EngineError::InvalidReply(reply.to_owned())));
    }
}

#[test]
fn missing_program_fails_to_spawn() {
    let mut config = shell_config(&[], Protocol::Uci);
    config.command.words = vec!["/nowhere/at/all".into()];
    let error = block_on(start(&config)).expect_err("a spawn error");
    let text = error.to_string();
    assert!(text.starts_with("cannot start /nowhere/at/all: "), "{text}");
}

/// The test script replies to `genmove` with the number of commands received so far. The reply thus
/// shows how many commands each turn has sent.
#[test]
fn gtp_engine_receives_only_new_moves() {
    let script = r#"count=0
        while read line; do
            count=$((count + 1))
            case "$line" in
                genmove*) printf '= A%s\n\n' $count;;
                *) printf '=\n\n';;
            esac
        done"#;
    block_on(async {
        let mut engine = start_script(script, GTP).await.expect("ready");
        assert_eq!(choose_after(&mut engine, "").await, played("A4"));
        assert_eq!(choose_after(&mut engine, "A4 pass").await, played("A6"));
        // These moves differ from the moves that the engine knows, so it receives all of them
        // again.
        assert_eq!(choose_after(&mut engine, "B5 pass").await, played("A10"));
    });
}

/// The script passes on its first turn. It then replies with the number of moves that it has
/// received since the board was cleared.
#[test]
fn gtp_engine_does_not_receive_its_own_pass() {
    let script = r#"answer=PASS
        while read line; do case "$line" in
            clear_board) count=0; printf '=\n\n';;
            play*) count=$((count + 1)); answer=A$count; printf '=\n\n';;
            genmove*) printf '= %s\n\n' $answer;;
            *) printf '=\n\n';;
        esac; done"#;
    block_on(async {
        let mut engine = start_script(script, GTP).await.expect("ready");
        assert_eq!(choose_after(&mut engine, "").await, played("PASS"));
        assert_eq!(choose_after(&mut engine, "pass C3").await, played("A1"));
    });
}

/// The side to move in the initial position plays the first move.
#[test]
fn engines_receive_initial_position() {
    let free = SearchLimits::default();
    let script = uci_script(r#"echo "bestmove ${position#position fen }""#);
    let ending = initial_position("4k3/8/8/8/8/8/8/4K2R b - - 0 30", &[]);
    block_on(async {
        let mut chess = start_script(&script, Protocol::Uci).await.expect("ready");
        let answer = choose(&mut chess, Some(&ending), (0, "e8e7"), &free).await;
        assert_eq!(answer, played("4k3/8/8/8/8/8/8/4K2R"));
    });
    let script = r#"said=
        while read line; do case "$line" in
            play*) said="$said-${line#play }"; printf '=\n\n';;
            genmove*) printf '= %s-%s\n\n' "$said" "${line#genmove }"; said=;;
            *) printf '=\n\n';;
        esac; done"#;
    let initial = initial_position("w../..b/... w 0 0 0 3", &[(1, "A3"), (0, "C2")]);
    block_on(async {
        let mut go = start_script(script, GTP).await.expect("ready");
        let answer = choose(&mut go, Some(&initial), (1, "B1 B2"), &free).await;
        assert_eq!(answer, played("-w A3-b C2-w B1-b B2-w"));
        // After a takeback to the initial position, the setup stones are placed again.
        let answer = choose(&mut go, Some(&initial), (1, ""), &free).await;
        assert_eq!(answer, played("-w A3-b C2-w"));
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
    let initial = initial_position("bwb12/15", &[(0, "a2"), (1, "b2"), (0, "c2")]);
    block_on(async {
        let mut gomoku = start_script(script, Protocol::Piskvork)
            .await
            .expect("ready");
        for (moves, answer) in [("", "d14"), ("d14 e1", "a15"), ("h8 h9", "f13")] {
            let answered = choose(&mut gomoku, Some(&initial), (1, moves), &free).await;
            assert_eq!(answered, played(answer), "{moves}");
        }
        // The first turn of a game may already follow a move.
        let engine = start_script(script, Protocol::Piskvork).await;
        let mut gomoku = engine.expect("ready");
        let answer = choose(&mut gomoku, Some(&initial), (0, "h8"), &free).await;
        assert_eq!(answer, played("e13"));
        let without_stones = InitialPosition {
            text: "8/8".to_owned(),
            stones: None,
        };
        let answer = choose(&mut gomoku, Some(&without_stones), (0, ""), &free).await;
        let expected = EngineError::UnsupportedNotation("8/8".to_owned());
        assert_eq!(answer, Err(expected));
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
        first_move(&script, GTP)
    };
    assert_eq!(choose_with_reply("= resign"), Ok(None));
    assert_eq!(choose_with_reply("= PASS"), played("PASS"));
    assert_eq!(choose_with_reply("? no"), Err(rejected("genmove b", "no")));
    for (command, reply) in [
        ("boardsize 15", "unacceptable size"),
        ("clear_board", "not now"),
        ("komi 7", ""),
    ] {
        let script = format!(
            r#"while read line; do case "$line" in
                {}*) printf '? {reply}\n\n';;
                *) printf '=\n\n';;
            esac; done"#,
            command.split(' ').next().unwrap_or_default()
        );
        assert_eq!(first_move(&script, GTP), Err(rejected(command, reply)));
    }
}

#[test]
fn gtp_engine_without_time_commands_plays_with_clock() {
    let script = r#"while read line; do case "$line" in
            time_*) printf '? unknown command\n\n';;
            genmove*) printf '= C3\n\n';;
            *) printf '=\n\n';;
        esac; done"#;
    let limits = SearchLimits {
        clock: Some(clock([9, 9], 1)),
        ..SearchLimits::default()
    };
    block_on(async {
        let mut engine = start_script(script, GTP).await.expect("ready");
        let answer = choose(&mut engine, None, (0, ""), &limits).await;
        assert_eq!(answer, played("C3"));
    });
}

/// The test script replies to `TURN` with the point it has received. If the point in a `TURN`
/// command is on the first file, the script replies with the point to the right of it. The script
/// replies to `BOARD` with the number of the opponent's stones. It accepts only one `START`.
#[test]
fn piskvork_engine_receives_single_turn_or_complete_board() {
    let script = r#"while read line; do case "$line" in
            START*) [ "$started" ] && echo ERROR; started=1; echo OK; stones=0;;
            RESTART) echo OK; stones=0;;
            INFO*) ;;
            BEGIN) echo "MESSAGE let us begin"; echo 7,7;;
            TURN*) point="${line#TURN }"; echo "$point" | sed 's/^0,/1,/';;
            BOARD) ;;
            *,2) stones=$((stones + 1));;
            *,1) ;;
            DONE) echo "$stones,0";;
        esac; done"#;
    block_on(async {
        let mut engine = start_script(script, Protocol::Piskvork)
            .await
            .expect("ready");
        for (moves, answer) in [
            ("", "h8"),
            ("h8 a1", "b1"),
            ("h8 a1 c4 d5 e6", "d15"),
            ("", "h8"),
        ] {
            assert_eq!(
                choose_after(&mut engine, moves).await,
                played(answer),
                "{moves}"
            );
        }
        // The second player's first turn is a single move, too.
        assert_eq!(engine.new_game(15, Deadline::after(TIMEOUT)).await, Ok(()));
        assert_eq!(choose_after(&mut engine, "a1").await, played("b1"));
    });
    for (reply, expected) in [
        ("ERROR no", rejected("BEGIN", "ERROR no")),
        ("UNKNOWN command", rejected("BEGIN", "UNKNOWN command")),
        ("15,0", EngineError::InvalidReply("15,0".to_owned())),
    ] {
        // The script understands `INFO` and replies nothing to it.
        let script = format!(
            r#"while read line; do case "$line" in
                START*) echo OK;; BEGIN) for i in 1 2 3 4 5; do echo "{reply}"; done;;
            esac; done"#
        );
        assert_eq!(first_move(&script, Protocol::Piskvork), Err(expected));
    }
}

/// Gomoku engines may add text after `OK`, use either letter case, send messages, and reply
/// errors to `INFO` or `RESTART`.
#[test]
fn piskvork_reply_variants_are_accepted() {
    for (ok, remark, info_reply) in [
        ("OK", "MESSAGE I think", "UNKNOWN $line"),
        ("OK - ready to play", "message lower case", "unknown"),
        ("ok", "debug depth 3", "DEBUG time"),
        ("Ok, 15x15", "", "UNKNOWN info"),
        ("OK.", "DEBUG", ""),
        // Rapfi, if the line arrives just after its move.
        (
            "OK",
            "",
            "ERROR Unknown command: TIMEOUT_MATCH\nERROR Unknown command: 0",
        ),
    ] {
        let script = format!(
            r#"while read line; do case "$line" in
                START*) echo "{remark}"; echo "{ok}";;
                INFO*) echo "{info_reply}";;
                RESTART) echo "unknown command";;
                BEGIN) echo "{remark}"; echo 7,7;;
                BOARD) ;;
                DONE) echo "{remark}"; echo 1,0;;
            esac; done"#
        );
        block_on(async {
            let engine = start_script(&script, Protocol::Piskvork).await;
            let mut engine = engine.expect("ready");
            assert_eq!(choose_after(&mut engine, "").await, played("h8"), "{ok}");
            // These moves differ from the moves that the engine knows, so it receives the complete
            // board.
            let answer = choose_after(&mut engine, "a1 a2").await;
            assert_eq!(answer, played("b15"), "{ok}");
        });
    }
    for reply in [
        "ERROR size",
        "NO",
        "O K",
        "error - 15 is too small",
        "UNKNOWN",
    ] {
        let script = format!(r#"while read line; do echo "{reply}"; done"#);
        let answer = first_move(&script, Protocol::Piskvork);
        assert_eq!(answer, Err(rejected("START 15", reply)));
    }
}

#[test]
fn unknown_option_or_invalid_value_fails_before_any_option_is_set() {
    let script = r#"while read line; do case "$line" in
            uci) echo "option name Skill Level type spin default 1 min 1 max 64"; echo uciok;;
            setoption*99*) exit;;
            isready) echo readyok;;
        esac; done"#;
    let start_with_option = |name: &str, value: &str| {
        let mut config = shell_config(&["-c", script], Protocol::Uci);
        config.options = vec![(name.to_owned(), value.to_owned())];
        block_on(start(&config)).map_err(|error| error.to_string())
    };
    start_with_option("skill level", "3").expect("a valid option");
    for (name, value, expected) in [
        (
            "Skill",
            "3",
            "unknown UCI option 'Skill': expected one of Skill Level",
        ),
        (
            "skill level",
            "99",
            "invalid value '99' for UCI option 'skill level': expected a number from 1 to 64",
        ),
    ] {
        let error = start_with_option(name, value).expect_err("an invalid option");
        assert_eq!(error, expected);
    }
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
            esac; done"#
        );
        for (script, protocol, m) in [
            (uci, Protocol::Uci, "e2e4"),
            (gtp, GTP, "D4"),
            (piskvork, Protocol::Piskvork, "h8"),
        ] {
            assert_eq!(first_move(&script, protocol), played(m), "{end}");
        }
    }
}
