//! Tests that the server notifies the service manager over a socket, using the protocol that
//! systemd defines.

use std::time::Duration;

use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::real_sockets::{plyhouse_command, send_signal};

/// Time limit for each wait in a test, generous enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts the real server with a notification socket and a watchdog timeout.
async fn start_server(
    socket_path: &std::path::Path,
    watchdog_timeout: Duration,
) -> (Child, UnixDatagram) {
    let socket = UnixDatagram::bind(socket_path).expect("a free name");
    let mut server: Command = plyhouse_command(&["--listen", "127.0.0.1:0"]);
    let server = server
        .env("NOTIFY_SOCKET", socket_path)
        .env("WATCHDOG_USEC", watchdog_timeout.as_micros().to_string())
        .stderr(std::process::Stdio::null())
        .spawn();
    (server.expect("the process starts"), socket)
}

async fn receive_notification(socket: &UnixDatagram) -> String {
    let mut text = [0; 64];
    let length = timeout(TIMEOUT, socket.recv(&mut text)).await;
    let length = length.expect("in time").expect("readable");
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[tokio::test]
async fn service_manager_receives_ready_watchdog_and_stopping() {
    let folder = tempfile::tempdir().expect("a directory");
    let name = folder.path().join("notify");
    let (mut server, socket) = start_server(&name, Duration::from_millis(90)).await;
    assert_eq!(receive_notification(&socket).await, "READY=1\n");
    for _ in 0..3 {
        assert_eq!(receive_notification(&socket).await, "WATCHDOG=1\n");
    }
    send_signal(&server, "TERM").await;
    loop {
        match receive_notification(&socket).await.as_str() {
            "WATCHDOG=1\n" => {}
            other => break assert_eq!(other, "STOPPING=1\n"),
        }
    }
    let ended = timeout(TIMEOUT, server.wait()).await.expect("in time");
    assert!(ended.expect("the process exited").success());
}
