//! `plyhouse account`, beside a server that runs and without one.

use std::path::Path;

use plyhouse_connection::Connection;
use serde_json::{Value, json};

use crate::archive::{Client, run};
use crate::socket::{signal, start};

/// What the command has printed.
fn account(directory: &Path, args: &[&str]) -> String {
    let args = [&["account"], args].concat();
    let output = run(directory, &args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn refused(directory: &Path, args: &[&str]) -> String {
    let args = [&["account"], args].concat();
    let output = run(directory, &args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

async fn refusal(address: &str, hello: Value) -> Value {
    let mut connection = Connection::open(&format!("ws://{address}/ws"))
        .await
        .expect("listening");
    connection.send_text(hello.to_string()).await.expect("open");
    let text = connection.receive_text().await.expect("open");
    serde_json::from_str::<Value>(&text).expect("JSON")["code"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_are_managed_beside_a_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    assert!(refused(directory, &["list"]).contains("there is no store"));
    let data = [
        "--data",
        directory.to_str().expect("text"),
        "--accounts",
        "invite",
    ];
    let (mut process, address) = start(&data).await;
    let mut ann = Client::connect(&address).await;
    ann.ask(json!({"type": "hello", "name": "ann"})).await;
    let invite = account(directory, &["invite"]);
    let register = json!({"type": "register", "name": "ann", "invite": invite.trim()});
    assert_eq!(ann.ask(register).await["type"], "ok");
    let listed = account(directory, &["list"]);
    assert!(listed.starts_with("ann\tperson\t1\t"), "{listed}");
    assert_eq!(listed.lines().count(), 1);

    assert_eq!(account(directory, &["rename", "ANN", "anna"]), "");
    assert!(account(directory, &["list"]).starts_with("anna\t"));
    assert!(refused(directory, &["rename", "ann", "anne"]).contains("no account of this name"));
    let url = ["recover", "anna", "--url", "https://play.example.org/"];
    let link = account(directory, &url);
    let (place, linked) = link.trim().split_once('#').expect("a link");
    assert_eq!((place, linked.len()), ("https://play.example.org/pair", 26));
    for url in ["play.example.org", "https://", "https://a/b", "ftp://a"] {
        let output = run(directory, &["account", "recover", "anna", "--url", url]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let output = run(directory, &["account", "recover", "anna"]);
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("/pair#KEY"), "{said}");
    let key = String::from_utf8(output.stdout).expect("text");
    let mut phone = Client::connect(&address).await;
    let hello = json!({"type": "hello", "recovery": key.trim(), "label": "phone"});
    assert_eq!(phone.ask(hello.clone()).await["player"]["name"], "anna");
    assert_eq!(refusal(&address, hello).await, "bad_code");

    // Without a server the same is done at once.
    signal(&process, "TERM").await;
    process.wait().await.expect("it ends");
    assert_eq!(account(directory, &["rename", "anna", "annie"]), "");
    assert_eq!(account(directory, &["close", "annie"]), "");
    assert_eq!(account(directory, &["list"]), "");
    assert!(refused(directory, &["close", "annie"]).contains("no account of this name"));
    let verified = run(directory, &["verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

/// A closed account is closed for who is connected, and its name is in no file.
#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_closed_beside_a_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let data = ["--data", directory.to_str().expect("text")];
    let (mut process, address) = start(&data).await;
    let mut ann = Client::connect(&address).await;
    let name = "Ann Unmistakable";
    ann.ask(json!({"type": "hello", "name": name})).await;
    ann.ask(json!({"type": "register", "name": name})).await;
    let seats = json!(["me", {"bot": "easy"}]);
    let create = json!({"type": "create", "game": "tic-tac-toe", "seats": seats});
    ann.ask(create).await;
    assert_eq!(account(directory, &["close", name]), "");
    let exported = run(directory, &["export"]);
    let exported = String::from_utf8(exported.stdout).expect("text");
    assert!(
        !exported.contains(name) && exported.contains("someone"),
        "{exported}"
    );
    let verified = run(directory, &["verify"]);
    assert!(verified.status.success(), "{verified:?}");
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
}

/// Whoever trusts a header has to say whose.
#[test]
fn a_trusted_header_wants_a_trusted_proxy() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = run(directory.path(), &["--trusted-user-header", "Remote-User"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--trusted-proxy"), "{said}");
    // Whoever it names has an account.
    let both = [
        "--trusted-user-header",
        "Remote-User",
        "--trusted-proxy",
        "::1",
    ];
    let output = run(
        directory.path(),
        &[&both[..], &["--accounts", "off"]].concat(),
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--accounts"), "{said}");
}
