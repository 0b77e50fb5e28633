//! `plyhouse move-store`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use crate::export_command::{Client, create_store_with_three_matches, json_lines, run_on_store};
use crate::real_sockets::start_server;

fn run_move_store(from: &Path, to: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .arg("move-store")
        .args(["--from", &format!("sqlite:{}", from.display())])
        .args(["--to", &format!("sqlite:{}", to.display())])
        .output()
        .expect("the binary runs")
}

/// Asserts that a command failed and returns its stderr.
fn failure_stderr(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn moved_store_is_identical_and_can_be_served() {
    let directories = tempfile::tempdir().expect("a directory");
    let (from, to) = (
        directories.path().join("from"),
        directories.path().join("to"),
    );
    let matches = create_store_with_three_matches(&from).await;

    let moved = run_move_store(&from, &to);
    assert!(moved.status.success(), "{moved:?}");
    let output = String::from_utf8_lossy(&moved.stdout).into_owned();
    let counts = "3 matches (2 live, 1 ended), ";
    assert_eq!(output.matches(counts).count(), 2, "{output}");
    assert!(
        output.ends_with("all data was copied and verified\n"),
        "{output}"
    );
    for check in [
        run_on_store(&from, &["verify"]),
        run_on_store(&to, &["verify"]),
    ] {
        assert!(check.status.success(), "{check:?}");
    }
    let exported = [&from, &to].map(|store| json_lines(&run_on_store(store, &["export"])));
    assert_eq!(exported[0], exported[1]);

    let data = to.to_str().expect("text");
    let (mut process, address) = start_server(&["--data", data]).await;
    let mut bob = Client::connect(&address).await;
    bob.request(json!({"type": "hello", "name": "bob"})).await;
    let watch = json!({"type": "watch", "match": matches[1]["code"]});
    let snapshot = bob.request(watch).await;
    assert_eq!(
        (&snapshot["match"], &snapshot["status"]),
        (&matches[1]["match"], &json!("running"))
    );
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
}

#[tokio::test]
async fn move_store_refuses_missing_nonempty_or_locked_stores() {
    let directories = tempfile::tempdir().expect("a directory");
    let path_of = |name| directories.path().join(name);
    create_store_with_three_matches(&path_of("full")).await;
    create_store_with_three_matches(&path_of("other")).await;

    let output = failure_stderr(&run_move_store(&path_of("nothing"), &path_of("new")));
    assert!(output.contains("there is no store in"), "{output}");
    assert!(!path_of("nothing").exists() && !path_of("new").exists());
    let output = failure_stderr(&run_move_store(&path_of("full"), &path_of("other")));
    assert!(
        output.contains("is not empty (matches: 3, players: 1)"),
        "{output}"
    );
    let output = failure_stderr(&run_move_store(&path_of("full"), &path_of("full")));
    assert!(output.contains("another server is using"), "{output}");

    let data = path_of("full");
    let (mut process, _) = start_server(&["--data", data.to_str().expect("text")]).await;
    for (from, to) in [("full", "new"), ("other", "full")] {
        let output = failure_stderr(&run_move_store(&path_of(from), &path_of(to)));
        assert!(output.contains("another server is using"), "{output}");
    }
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
}
