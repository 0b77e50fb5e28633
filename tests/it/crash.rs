//! Kills the server process repeatedly (`kill -9`) while clients play, retry requests, resign and
//! watch.
//!
//! All messages that the clients receive are recorded in one [`ObservedHistory`], which covers all
//! runs of the server. The test checks that these messages are consistent with each other and, at
//! the end, with the store. A seed determines when the server is killed. Each kill happens after a
//! certain number of messages, so some kills fall between a move and its answer. The order of
//! concurrent events is not deterministic, so a failure may not reproduce in every run with the
//! same seed.
//!
//! After a process is killed, the operating system still writes the process's buffered file data to
//! disk. The test therefore does not detect that the server omits a required `fsync`.

mod clocks;
mod harness;
mod observed_history;
mod random_player;
mod ratings;

use std::path::Path;
use std::process::Stdio;

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use self::harness::{CrashHarness, KillPlan, KillTrigger};
use self::random_player::RandomPlayer;
use crate::real_sockets::{plyhouse_command, start_server};

/// Number of kills if `CRASH_KILLS` is not set. `tests/run --all` uses a larger number.
const DEFAULT_KILLS: usize = 16;

const PLAYER_COUNT: usize = 8;

const SPECTATOR_COUNT: usize = 2;

#[tokio::test]
async fn acknowledged_events_survive_repeated_kills() {
    let seed = std::env::var("CRASH_SEED");
    let seed = seed.map_or(1, |seed| seed.parse().expect("a number"));
    // Prints the command that repeats this run. Cargo shows this line only if the test fails.
    println!("CRASH_SEED={seed} cargo test --test it crash");
    let kills = std::env::var("CRASH_KILLS");
    let kills = kills.map_or(DEFAULT_KILLS, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let harness = CrashHarness::default();
    let mut players: Vec<RandomPlayer> = (0..PLAYER_COUNT)
        .map(|number| RandomPlayer::new(number, StdRng::seed_from_u64(rng.random())))
        .collect();

    for kill in 0..kills {
        if kill % 6 == 5 {
            // Every sixth round, the test also starts a server and kills it before it listens for
            // connections.
            let mut process = plyhouse_command(&["--data", data, "--listen", "127.0.0.1:0"])
                .stderr(Stdio::null())
                .spawn()
                .expect("the process starts");
            process.start_kill().expect("the process is running");
            process.wait().await.expect("the process exits");
        }
        let (process, url) = launch_server(data).await;
        let (trigger, max_count) = [
            (KillTrigger::WelcomeReceived, PLAYER_COUNT),
            (KillTrigger::MoveSent, 60),
            (KillTrigger::AnswerReceived, 60),
            (KillTrigger::EventReceived, 150),
        ][rng.random_range(0..4)];
        let count = rng.random_range(0..max_count);
        harness.attach_server(KillPlan::new(trigger, count, process));
        let spectator_rngs: Vec<StdRng> = (0..SPECTATOR_COUNT)
            .map(|_| StdRng::seed_from_u64(rng.random()))
            .collect();
        let spectating = spectator_rngs
            .into_iter()
            .map(|rng| harness.run_spectator(&url, rng));
        let playing = players
            .iter_mut()
            .map(|player| player.play_matches(&harness, &url));
        let (_, results) = tokio::join!(join_all(spectating), join_all(playing));
        assert!(
            results.iter().all(Result::is_err),
            "a player stopped before the server was killed"
        );
        harness.wait_for_exit().await;
    }

    // In the last run of the server, all players finish their matches and start no new ones.
    let (process, url) = launch_server(data).await;
    harness.attach_server(KillPlan::never(process));
    harness.stop_new_matches();
    let playing = players.iter_mut();
    let playing = playing.map(|player| player.play_matches(&harness, &url));
    let results = join_all(playing).await;
    assert!(results.iter().all(Result::is_ok), "a connection was lost");
    harness.kill_server();
    harness.wait_for_exit().await;

    let verified = run_store_command("verify", directory.path()).await;
    println!("{verified}");
    let exported = run_store_command("export", directory.path()).await;
    let counts = harness.check_stored_matches(&exported);
    println!("{counts:?}");
    assert!(counts.acknowledged > 4 * kills, "{counts:?}");
    assert!(counts.repeated_answers > kills / 5, "{counts:?}");
    assert!(
        counts.matches > kills / 3 && counts.events > 10 * kills,
        "{counts:?}"
    );
    assert!(counts.resumes > 2 * kills, "{counts:?}");
    assert!(counts.refused > kills / 10, "{counts:?}");
}

/// Starts a server with the store in `data`. Returns the process and its WebSocket URL.
async fn launch_server(data: &str) -> (tokio::process::Child, String) {
    let options = ["--data", data, "--search-threads", "1", "--log", "warn"];
    let rate_limits = ["--requests-per-second", "1000000", "--burst", "1000000"];
    let (process, address) = start_server(&[&options[..], &rate_limits[..]].concat()).await;
    (process, format!("ws://{address}/ws"))
}

/// Runs a command on the store, asserts that it succeeds and returns its stdout.
async fn run_store_command(subcommand: &str, directory: &Path) -> String {
    let mut command = plyhouse_command(&[subcommand, "--data"]);
    let output = command
        .arg(directory)
        .output()
        .await
        .expect("the process starts");
    let stdout = String::from_utf8(output.stdout).expect("text");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{subcommand}: {stdout}{stderr}");
    stdout
}
