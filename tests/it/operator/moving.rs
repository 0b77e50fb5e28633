//! `plyhouse move-store`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use crate::archive::{Client, lines, run, three_matches};
use crate::socket::start;

fn move_store(from: &Path, to: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .arg("move-store")
        .args(["--from", &format!("sqlite:{}", from.display())])
        .args(["--to", &format!("sqlite:{}", to.display())])
        .output()
        .expect("the binary runs")
}

/// What a command that failed has said.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything is there as it was, and a server goes on with it.
#[tokio::test]
async fn a_store_is_moved() {
    let directories = tempfile::tempdir().expect("a directory");
    let (from, to) = (
        directories.path().join("from"),
        directories.path().join("to"),
    );
    let matches = three_matches(&from).await;

    let moved = move_store(&from, &to);
    assert!(moved.status.success(), "{moved:?}");
    let said = String::from_utf8_lossy(&moved.stdout).into_owned();
    let counts = "3 matches (2 live, 1 ended), ";
    assert_eq!(said.matches(counts).count(), 2, "{said}");
    assert!(said.ends_with("each is there as it was\n"), "{said}");
    for check in [run(&from, &["verify"]), run(&to, &["verify"])] {
        assert!(check.status.success(), "{check:?}");
    }
    let exported = [&from, &to].map(|store| lines(&run(store, &["export"])));
    assert_eq!(exported[0], exported[1]);

    let data = to.to_str().expect("text");
    let (mut process, address) = start(&["--data", data]).await;
    let mut bob = Client::connect(&address).await;
    bob.ask(json!({"type": "hello", "name": "bob"})).await;
    let watch = json!({"type": "watch", "match": matches[1]["code"]});
    let seen = bob.ask(watch).await;
    assert_eq!(
        (&seen["match"], &seen["status"]),
        (&matches[1]["match"], &json!("running"))
    );
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
}

/// Neither store may be in use, the one has to be there, and the other to be empty.
#[tokio::test]
async fn a_store_is_not_moved_over_another() {
    let directories = tempfile::tempdir().expect("a directory");
    let place = |name| directories.path().join(name);
    three_matches(&place("full")).await;
    three_matches(&place("other")).await;

    let said = refused(&move_store(&place("nothing"), &place("new")));
    assert!(said.contains("there is no store in"), "{said}");
    assert!(!place("nothing").exists() && !place("new").exists());
    let said = refused(&move_store(&place("full"), &place("other")));
    assert!(
        said.contains("there are 3 matches and 1 players in it already"),
        "{said}"
    );
    let said = refused(&move_store(&place("full"), &place("full")));
    assert!(said.contains("another server is using"), "{said}");

    let data = place("full");
    let (mut process, _) = start(&["--data", data.to_str().expect("text")]).await;
    for (from, to) in [("full", "new"), ("other", "full")] {
        let said = refused(&move_store(&place(from), &place(to)));
        assert!(said.contains("another server is using"), "{said}");
    }
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
}
