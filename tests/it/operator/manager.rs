//! What the service manager is told, on a socket as systemd gives one.

use std::time::Duration;

use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::socket::{command, signal};

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The real server with a service manager that waits for signs of life this long.
async fn start(manager: &std::path::Path, patience: Duration) -> (Child, UnixDatagram) {
    let socket = UnixDatagram::bind(manager).expect("a free name");
    let mut server: Command = command(&["--listen", "127.0.0.1:0"]);
    let server = server
        .env("NOTIFY_SOCKET", manager)
        .env("WATCHDOG_USEC", patience.as_micros().to_string())
        .stderr(std::process::Stdio::null())
        .spawn();
    (server.expect("started"), socket)
}

async fn told(socket: &UnixDatagram) -> String {
    let mut text = [0; 64];
    let length = timeout(PATIENCE, socket.recv(&mut text)).await;
    let length = length.expect("in time").expect("readable");
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[tokio::test]
async fn the_manager_is_told_of_beginning_life_and_end() {
    let folder = tempfile::tempdir().expect("a directory");
    let name = folder.path().join("notify");
    let (mut server, socket) = start(&name, Duration::from_millis(90)).await;
    assert_eq!(told(&socket).await, "READY=1\n");
    for _ in 0..3 {
        assert_eq!(told(&socket).await, "WATCHDOG=1\n");
    }
    signal(&server, "TERM").await;
    loop {
        match told(&socket).await.as_str() {
            "WATCHDOG=1\n" => {}
            other => break assert_eq!(other, "STOPPING=1\n"),
        }
    }
    let ended = timeout(PATIENCE, server.wait()).await.expect("in time");
    assert!(ended.expect("waited for").success());
}
