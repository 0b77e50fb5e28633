//! Tests of restarts and initial positions, with short shell scripts in place of engines.

use plyhouse_engine_host::{EngineCommand, Protocol};

use super::*;

fn script_engine(script: &str, protocol: Protocol) -> RestartingEngine {
    let config = EngineConfig {
        command: EngineCommand {
            words: ["sh", "-c", script].map(Into::into).into(),
            directory: None,
            inherits_stderr: true,
        },
        protocol,
        options: Vec::new(),
    };
    let limits = EngineLimits {
        think_time: Some(Duration::from_millis(10)),
        start_timeout: Duration::from_secs(20),
        move_timeout: Duration::from_secs(20),
    };
    let game = GameSummary {
        game: "go".to_owned(),
        title: "Go".to_owned(),
        sides: ["black", "white"].map(str::to_owned),
        files: 3,
        ranks: 3,
        record_extension: None,
        draw_offers: true,
    };
    RestartingEngine::new(config, limits, game)
}

fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test)
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

/// Asks for the first move.
fn first_move(engine: &mut RestartingEngine) -> Result<Decision, EngineError> {
    block_on(engine.choose_move(&SearchRequest::default()))
}

#[test]
fn exited_program_is_restarted_a_limited_number_of_times() {
    let mut engine = script_engine(&uci_script("exit"), Protocol::Uci);
    assert_eq!(first_move(&mut engine), Err(EngineError::Exited));
    assert_eq!(engine.restart_count, RESTARTS_MAX);
}

#[test]
fn hanging_program_ends_in_timeout_after_restarts() {
    let mut engine = script_engine(&uci_script("sleep 60"), Protocol::Uci);
    let timeout = Duration::from_millis(50);
    engine.limits.move_timeout = timeout;
    let expected = EngineError::Timeout("move", timeout);
    assert_eq!(first_move(&mut engine), Err(expected));
    assert_eq!(engine.restart_count, RESTARTS_MAX);
}

#[test]
fn invalid_best_move_fails_without_restart() {
    let mut engine = script_engine(&uci_script("echo bestmove 0000"), Protocol::Uci);
    let expected = EngineError::InvalidReply("bestmove 0000".to_owned());
    assert_eq!(first_move(&mut engine), Err(expected));
    assert_eq!(engine.restart_count, 0);
}

/// The side to move in the initial position plays the first move of the match.
#[test]
fn engine_receives_stones_of_initial_position() {
    let script = r#"sent=
        while read line; do case "$line" in
            play*) sent="$sent-${line#play }"; printf '=\n\n';;
            genmove*) printf '= %s-%s\n\n' "$sent" "${line#genmove }"; sent=;;
            *) printf '=\n\n';;
        esac; done"#;
    let mut engine = script_engine(script, Protocol::Gtp { komi: 7 });
    let mut choose_after = async |moves: &[&str]| {
        let turn = SearchRequest {
            initial_position: Some("w../..b/... w 0 0 0 3".to_owned()),
            moves: moves.iter().map(|&m| m.to_owned()).collect(),
            times: None,
        };
        match engine.choose_move(&turn).await {
            Ok(Decision::Move { text, .. }) => text,
            result => panic!("{result:?}"),
        }
    };
    block_on(async {
        let first_moves = choose_after(&["B1", "B2"]).await;
        assert_eq!(first_moves, "-w A3-b C2-w B1-b B2-w");
        // After a takeback to the initial position, the engine receives the stones again.
        assert_eq!(choose_after(&[]).await, "-w A3-b C2-w");
    });
    assert_eq!(engine.restart_count, 0);
}
