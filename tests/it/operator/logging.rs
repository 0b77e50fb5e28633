//! Tests of the log format and of the ids in the log. The log must never contain a session token.

use std::process::Stdio;
use std::time::Duration;

use plyhouse_connection::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, BufReader};
use tokio::time::timeout;

use crate::real_sockets::{plyhouse_command, send_signal};

/// Time limit for each wait in a test, generous enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the next message of type `kind` and skips the messages before it.
async fn receive_message(connection: &mut Connection<impl AsyncStream>, kind: &str) -> Value {
    loop {
        let text = timeout(TIMEOUT, connection.receive_text()).await;
        let text = text.unwrap_or_else(|_| panic!("no {kind} received"));
        let text = text.expect("the connection is open");
        let message: Value = serde_json::from_str(&text).expect("JSON");
        if message["type"] == kind {
            return message;
        }
    }
}

/// Sends a request and returns the next message of type `kind`.
async fn send_and_receive(
    connection: &mut Connection<impl AsyncStream>,
    request: &str,
    kind: &str,
) -> Value {
    let sent = connection.send_text(request.to_owned()).await;
    sent.expect("the connection is open");
    receive_message(connection, kind).await
}

/// Alias for the traits of a stream that a [`Connection`] can use.
trait AsyncStream: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> AsyncStream for T {}

/// Runs a session at log level `trace`. Its requests contain the session token in every place where
/// a client might put it.
#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a list of all that is asked")]
async fn tokens_are_never_logged_but_ids_are() {
    let args = [
        "--listen",
        "127.0.0.1:0",
        "--log",
        "trace",
        "--log-format",
        "json",
    ];
    let mut process = plyhouse_command(&args)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the process starts");
    let mut lines = BufReader::new(process.stderr.take().expect("stderr is piped"));
    let mut first = String::new();
    let read = timeout(TIMEOUT, lines.read_line(&mut first)).await;
    read.expect("in time").expect("readable");
    let address = first
        .trim()
        .strip_prefix("listening on ")
        .expect("an address");
    let url = format!("ws://{address}/ws");
    let mut url_line = String::new();
    let read = timeout(TIMEOUT, lines.read_line(&mut url_line)).await;
    read.expect("in time").expect("readable");
    assert!(url_line.starts_with("open http://"), "{url_line}");
    let log = async {
        let mut log = String::new();
        lines.read_to_string(&mut log).await.expect("text");
        log
    };
    let session = async {
        let mut ann = Connection::open(&url)
            .await
            .expect("the server is listening");
        let welcome =
            send_and_receive(&mut ann, r#"{"type":"hello","name":"ann"}"#, "welcome").await;
        let token = welcome["token"].as_str().expect("a token").to_owned();
        let create = json!({"type": "create", "game": "tic-tac-toe", "seats": ["me", "open"]});
        let created = send_and_receive(&mut ann, &create.to_string(), "match").await;
        let id = created["match"].as_str().expect("an id").to_owned();
        let mut again = Connection::open(&url)
            .await
            .expect("the server is listening");
        for (request, kind) in [
            // Most of these requests are invalid. Each request contains the token in a different
            // place.
            (format!(r#"{{"type":"hello","token":"{token}""#), "error"),
            (
                format!(r#"{{"type":"hello","token":["{token}"]}}"#),
                "error",
            ),
            (
                format!(r#"{{"type":"hello","protocol":9,"token":"{token}"}}"#),
                "error",
            ),
            (
                json!({"type": "hello", "token": token}).to_string(),
                "welcome",
            ),
            (
                json!({"type": "hello", "token": token}).to_string(),
                "error",
            ),
            (format!(r#"{{"type":"{token}"}}"#), "error"),
            (json!({"type": "join", "match": token}).to_string(), "error"),
            (
                json!({"type": "move", "match": id, "ply": 0, "move": token}).to_string(),
                "error",
            ),
            (
                json!({"type": "create", "game": token}).to_string(),
                "error",
            ),
            (
                json!({"type": "move", "match": id, "ply": 0, "move": "b2"}).to_string(),
                "error",
            ),
        ] {
            send_and_receive(&mut again, &request, kind).await;
        }
        let mut bob = Connection::open(&url)
            .await
            .expect("the server is listening");
        let join = json!({"type": "join", "match": id}).to_string();
        let guest = send_and_receive(&mut bob, &join, "welcome").await;
        receive_message(&mut bob, "match").await;
        let guest = guest["token"].as_str().expect("a token").to_owned();
        let play = json!({"type": "move", "match": id, "ply": 0, "move": "b2"}).to_string();
        send_and_receive(&mut again, &play, "moved").await;
        let resign = json!({"type": "resign", "match": id}).to_string();
        send_and_receive(&mut again, &resign, "ended").await;
        send_signal(&process, "TERM").await;
        ([token, guest], id)
    };
    let (log, (tokens, id)) = tokio::join!(log, session);
    let ended = timeout(TIMEOUT, process.wait()).await.expect("in time");
    assert!(ended.expect("the process exited").success());

    for token in &tokens {
        // The log must not contain even a part of a token.
        for part in [&token[..16], &token[token.len() - 16..]] {
            assert!(!log.contains(part), "a token is in the log");
        }
    }
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let lines_with_message = |message: &str| {
        let lines = lines.iter().filter(|line| line["message"] == message);
        lines.collect::<Vec<_>>()
    };
    for (message, count) in [("connected", 3), ("logged in", 3), ("disconnected", 3)] {
        let lines = lines_with_message(message);
        assert_eq!(lines.len(), count, "{message}");
        assert!(
            lines.iter().all(|line| line["connection"].is_string()),
            "{lines:?}"
        );
    }
    for message in ["match created", "match ended"] {
        assert_eq!(
            lines_with_message(message)[0]["match_id"],
            id.as_str(),
            "{message}"
        );
    }
    let refused = lines_with_message("refused");
    assert!(refused.len() >= 9, "{refused:?}");
    assert!(
        refused.iter().all(|line| line["connection"].is_string()),
        "{refused:?}"
    );
    assert!(
        refused.iter().any(|line| line["match_id"] == id.as_str()),
        "{refused:?}"
    );
}

/// Stderr is not a terminal here, so the default format is JSON.
#[tokio::test]
async fn log_is_json_by_default_and_text_on_request() {
    let log = async |format: &[&str]| {
        let folder = tempfile::tempdir().expect("a directory");
        // No service manager listens on this socket. The server logs `ready` before it tries to
        // notify the service manager.
        let notify_socket = folder.path().join("nobody-listens");
        let args = [&["--listen", "127.0.0.1:0"], format].concat();
        let mut process = plyhouse_command(&args)
            .env("NOTIFY_SOCKET", &notify_socket)
            .spawn()
            .expect("the process starts");
        let mut lines = BufReader::new(process.stderr.take().expect("stderr is piped")).lines();
        let mut next = async || {
            let line = timeout(TIMEOUT, lines.next_line()).await.expect("in time");
            line.expect("readable").expect("a line")
        };
        let first = next().await;
        assert!(first.starts_with("listening on "), "{first}");
        let second = next().await;
        assert!(second.starts_with("open http://"), "{second}");
        next().await
    };
    for format in [&[][..], &["--log-format", "json"]] {
        let line = log(format).await;
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert_eq!(
            (&line["level"], &line["message"]),
            (&json!("INFO"), &json!("ready"))
        );
        assert_eq!(line["data"], ":memory:");
    }
    let line = log(&["--log-format", "text"]).await;
    assert!(
        line.contains(" INFO plyhouse: ready data=:memory: "),
        "{line}"
    );
}
