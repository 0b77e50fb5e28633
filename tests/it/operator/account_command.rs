//! `plyhouse account` with and without a running server.

use std::path::Path;

use plyhouse_connection::Connection;
use serde_json::{Value, json};

use crate::export_command::{Client, run_on_store};
use crate::real_sockets::{send_signal, start_server};

/// Runs `plyhouse account` and returns its output.
fn run_account(directory: &Path, args: &[&str]) -> String {
    let args = [&["account"], args].concat();
    let output = run_on_store(directory, &args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn account_error(directory: &Path, args: &[&str]) -> String {
    let args = [&["account"], args].concat();
    let output = run_on_store(directory, &args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

async fn hello_error_code(address: &str, hello: Value) -> Value {
    let mut connection = Connection::open(&format!("ws://{address}/ws"))
        .await
        .expect("the server is listening");
    connection
        .send_text(hello.to_string())
        .await
        .expect("the connection is open");
    let text = connection
        .receive_text()
        .await
        .expect("the connection is open");
    serde_json::from_str::<Value>(&text).expect("JSON")["code"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn account_commands_work_with_and_without_running_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    assert!(account_error(directory, &["list"]).contains("there is no store"));
    let data = [
        "--data",
        directory.to_str().expect("text"),
        "--accounts",
        "invite",
    ];
    let (mut process, address) = start_server(&data).await;
    let mut ann = Client::connect(&address).await;
    ann.request(json!({"type": "hello", "name": "ann"})).await;
    let invite = run_account(directory, &["invite"]);
    let register = json!({"type": "register", "name": "ann", "invite": invite.trim()});
    assert_eq!(ann.request(register).await["type"], "ok");
    let listed = run_account(directory, &["list"]);
    assert!(listed.starts_with("ann\tperson\t1\t"), "{listed}");
    assert_eq!(listed.lines().count(), 1);

    assert_eq!(run_account(directory, &["rename", "ANN", "anna"]), "");
    assert!(run_account(directory, &["list"]).starts_with("anna\t"));
    assert!(
        account_error(directory, &["rename", "ann", "anne"]).contains("no account with this name")
    );
    let url = ["recover", "anna", "--url", "https://play.example.org/"];
    let link = run_account(directory, &url);
    let (link_url, link_key) = link.trim().split_once('#').expect("a link");
    assert_eq!(
        (link_url, link_key.len()),
        ("https://play.example.org/pair", 26)
    );
    for url in ["play.example.org", "https://", "https://a/b", "ftp://a"] {
        let output = run_on_store(directory, &["account", "recover", "anna", "--url", url]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let output = run_on_store(directory, &["account", "recover", "anna"]);
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(stderr.contains("/pair#KEY"), "{stderr}");
    let key = String::from_utf8(output.stdout).expect("text");
    let mut phone = Client::connect(&address).await;
    let hello = json!({"type": "hello", "recovery": key.trim(), "label": "phone"});
    assert_eq!(phone.request(hello.clone()).await["player"]["name"], "anna");
    assert_eq!(hello_error_code(&address, hello).await, "bad_code");

    // `plyhouse account` also works without a running server.
    send_signal(&process, "TERM").await;
    process.wait().await.expect("the process exits");
    assert_eq!(run_account(directory, &["rename", "anna", "annie"]), "");
    assert_eq!(run_account(directory, &["close", "annie"]), "");
    assert_eq!(run_account(directory, &["list"]), "");
    assert!(account_error(directory, &["close", "annie"]).contains("no account with this name"));
    let verified = run_on_store(directory, &["verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

/// A client is logged in to the account, and its player is in a running match. After the account is
/// closed, the export no longer contains the player's name.
#[tokio::test(flavor = "multi_thread")]
async fn closing_account_removes_name_on_running_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let data = ["--data", directory.to_str().expect("text")];
    let (mut process, address) = start_server(&data).await;
    let mut ann = Client::connect(&address).await;
    let name = "Ann Unmistakable";
    ann.request(json!({"type": "hello", "name": name})).await;
    ann.request(json!({"type": "register", "name": name})).await;
    let seats = json!(["me", {"bot": "easy"}]);
    let create = json!({"type": "create", "game": "tic-tac-toe", "seats": seats});
    ann.request(create).await;
    assert_eq!(run_account(directory, &["close", name]), "");
    let exported = run_on_store(directory, &["export"]);
    let exported = String::from_utf8(exported.stdout).expect("text");
    assert!(
        !exported.contains(name) && exported.contains("someone"),
        "{exported}"
    );
    let verified = run_on_store(directory, &["verify"]);
    assert!(verified.status.success(), "{verified:?}");
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
}

#[test]
fn trusted_user_header_requires_trusted_proxy_and_accounts() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = run_on_store(directory.path(), &["--trusted-user-header", "Remote-User"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("--trusted-proxy"), "{stderr}");
    // With a trusted user header, every user has an account. The server therefore refuses to start
    // with `--accounts off`.
    let both = [
        "--trusted-user-header",
        "Remote-User",
        "--trusted-proxy",
        "::1",
    ];
    let output = run_on_store(
        directory.path(),
        &[&both[..], &["--accounts", "off"]].concat(),
    );
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("--accounts"), "{stderr}");
}
