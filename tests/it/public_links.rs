//! Tests of public links to matches and players: downloads, pictures and link previews.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::support::{
    TestPlayer, TestServer, advance_time, play_match_to_end, settings_without_limits,
};

const CLIENT_ADDRESS: &str = "192.0.2.1";

/// Sends a GET request and returns the stream of the response.
async fn send_get(
    server: &TestServer,
    path: &str,
    headers: &str,
    pipe_bytes: usize,
) -> DuplexStream {
    let from = CLIENT_ADDRESS.parse().expect("an address");
    let mut stream = server.connect_raw_with_pipe(pipe_bytes, from);
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: house.test\r\nConnection: close\r\n{headers}\r\n");
    let written = stream.write_all(request.as_bytes()).await;
    written.expect("the connection is open");
    stream
}

/// Sends a GET request. Returns the response head in lower case and the decoded body.
pub(crate) async fn get_with_headers(
    server: &TestServer,
    path: &str,
    headers: &str,
) -> (String, Vec<u8>) {
    let mut answer = Vec::new();
    let mut stream = send_get(server, path, headers, 1 << 16).await;
    stream.read_to_end(&mut answer).await.expect("readable");
    let mut windows = answer.windows(4);
    let end = windows.position(|four| four == b"\r\n\r\n");
    let (head, body) = answer.split_at(end.expect("a head") + 4);
    let head = String::from_utf8_lossy(head).to_lowercase();
    let body = match head.contains("transfer-encoding: chunked") {
        true => decode_chunked(body),
        false => body.to_vec(),
    };
    (head, body)
}

/// Decodes a body with chunked transfer encoding.
fn decode_chunked(mut body: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = str::from_utf8(&body[..end]).expect("a number");
        let size = usize::from_str_radix(size, 16).expect("a number");
        if size == 0 {
            return decoded;
        }
        decoded.extend(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    panic!("the last chunk is missing after {} bytes", decoded.len())
}

pub(crate) async fn get(server: &TestServer, path: &str) -> (String, String) {
    let (head, body) = get_with_headers(server, path, "").await;
    (head, String::from_utf8(body).expect("text"))
}

async fn get_status(server: &TestServer, path: &str) -> String {
    let (head, _) = get_with_headers(server, path, "").await;
    head.split(' ').nth(1).expect("a number").to_owned()
}

/// Plays a match to its end. Bob resigns if the moves do not end the match. Both players then leave
/// the match.
async fn play_and_leave_match(
    ann: &mut TestPlayer,
    bob: &mut TestPlayer,
    create: Value,
    moves: &[&str],
) -> String {
    let id = play_match_to_end(ann, bob, create, moves).await;
    for player in [ann, bob] {
        player.request(json!({"type": "leave", "match": id})).await;
        player.drain_messages().await;
    }
    id
}

async fn connect_two_players(server: &TestServer, name: &str) -> (TestPlayer, TestPlayer) {
    let (mut ann, bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let register = json!({"type": "register", "name": name});
    assert_eq!(ann.request(register).await["type"], "ok");
    (ann, bob)
}

#[tokio::test(start_paused = true)]
async fn player_download_contains_public_matches() {
    let server = TestServer::start(settings_without_limits());
    let (mut ann, mut bob) = connect_two_players(&server, "Ada L").await;
    let game = |game: &str| json!({"game": game});
    play_and_leave_match(&mut ann, &mut bob, game("tic-tac-toe"), &["b2"]).await;
    advance_time(1).await;
    play_and_leave_match(&mut ann, &mut bob, game("connect-four"), &["4", "3"]).await;
    let private = json!({"game": "tic-tac-toe", "listed": false});
    play_and_leave_match(&mut ann, &mut bob, private, &["a1"]).await;
    advance_time(1).await;
    play_and_leave_match(&mut ann, &mut bob, game("tic-tac-toe"), &["c3"]).await;
    play_and_leave_match(&mut ann, &mut bob, game("chess"), &["e2e4"]).await;

    let (head, txt) = get(&server, "/player/ada-l.txt?game=tic-tac-toe").await;
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    for part in [
        "text/plain",
        "attachment; filename=\"plyhouse-ada-l.txt\"",
        "no-store",
    ] {
        assert!(head.contains(part), "{part}: {head}");
    }
    assert_eq!(txt, "c3\n1-0\n\nb2\n1-0\n");
    let (_, txt) = get(&server, "/player/ada%20l.txt").await;
    assert_eq!(txt, "c3\n1-0\n\n4 3\n1-0\n\nb2\n1-0\n");
    let (head, pgn) = get(
        &server,
        &format!("/player/{}.pgn?game=chess", json_str(bob.id())),
    )
    .await;
    assert!(head.contains("application/vnd.chess-pgn"), "{head}");
    assert!(
        pgn.contains("1. e4 1-0") && pgn.contains("[White \"Ada L\"]"),
        "{pgn}"
    );
    assert_eq!(get(&server, "/player/ada-l.sgf?game=go").await.1, "");
    for path in [
        "/player/ada-l.pgn?game=tic-tac-toe",
        "/player/ada-l.pgn?game=ludo",
        "/player/bob.pgn", // Guest names are not unique, so guests have no download.
        "/player/nobody.pgn",
    ] {
        assert_eq!(get_status(&server, path).await, "404", "{path}");
    }
}

fn json_str(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Plays `count` chess matches, one second apart. Each match ends by resignation after one move.
async fn play_many_matches(server: &TestServer, count: usize) {
    let (mut ann, mut bob) = connect_two_players(server, "ada").await;
    for _ in 0..count {
        play_and_leave_match(&mut ann, &mut bob, json!({"game": "chess"}), &["e2e4"]).await;
        advance_time(1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn player_download_includes_more_than_one_page() {
    let server = TestServer::start(settings_without_limits());
    play_many_matches(&server, 103).await;
    let (_, pgn) = get(&server, "/player/ada.pgn").await;
    assert_eq!(pgn.matches("[Event ").count(), 103);
}

#[tokio::test(start_paused = true)]
async fn concurrent_player_downloads_per_address_are_refused() {
    let server = TestServer::start(settings_without_limits());
    play_many_matches(&server, 130).await;
    let mut slow = send_get(&server, "/player/ada.pgn", "", 256).await;
    let mut first = [0; 64];
    slow.read_exact(&mut first).await.expect("the first bytes");
    let (head, _) = get(&server, "/player/ada.pgn?game=chess").await;
    assert!(head.starts_with("http/1.1 429 "), "{head}");
    assert!(head.contains("\r\nretry-after: "), "{head}");
    assert_eq!(get_status(&server, "/player/ada").await, "200");
    // A closed connection frees its download slot.
    drop(slow);
    advance_time(1).await;
    assert_eq!(get_status(&server, "/player/ada.pgn").await, "200");
    // The server closes the connection of a client that stops reading, and frees its download slot.
    // A slow client that continues to read can take as long as it needs.
    let _stalled = send_get(&server, "/player/ada.pgn", "", 256).await;
    advance_time(1).await;
    assert_eq!(get_status(&server, "/player/ada.pgn").await, "429");
    advance_time(60).await;
    let begin = tokio::time::Instant::now();
    let mut slow = send_get(&server, "/player/ada.pgn", "", 256).await;
    let (mut read, mut part) = (Vec::new(), [0; 128]);
    while let Ok(bytes @ 1..) = slow.read(&mut part).await {
        read.extend(&part[..bytes]);
        tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    }
    assert!(read.ends_with(b"\r\n0\r\n\r\n"), "{} bytes", read.len());
    assert!(begin.elapsed() > server.server.settings().handshake_timeout);
}

#[tokio::test(start_paused = true)]
async fn pages_contain_escaped_link_preview_metadata() {
    let server = TestServer::start(settings_without_limits());
    let (mut ann, mut bob) = connect_two_players(&server, "\"><script>alert('ada')").await;
    let id = play_and_leave_match(
        &mut ann,
        &mut bob,
        json!({"game": "connect-four"}),
        &["4", "3", "2"],
    )
    .await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    for target in [&id, json_str(&snapshot["code"])] {
        let (head, page) = get(&server, &format!("/m/{target}")).await;
        assert!(head.contains("content-security-policy: "), "{head}");
        let title = "&quot;&gt;&lt;script&gt;alert(&#39;ada&#39;) \u{2013} bob: Connect Four";
        for part in [
            &format!("property=\"og:title\" content=\"{title}\""),
            "won by resignation after 3 moves.",
            &format!(
                "content=\"http://house.test/picture/{id}.png?{}\"",
                snapshot["seq"]
            ),
            &format!("content=\"http://house.test/m/{target}\""),
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("alert('ada')"), "{page}");
    }
    let (_, page) = get(&server, &format!("/player/{}", json_str(ann.id()))).await;
    assert!(
        page.contains("content=\"1 won, 0 lost, 0 drawn\""),
        "{page}"
    );
    assert!(!page.contains("alert('ada')"), "{page}");
    // The page of an unknown match or player contains no link preview.
    for path in ["/m/AAAAAA", "/player/nobody"] {
        let (head, page) = get(&server, path).await;
        assert!(
            head.starts_with("http/1.1 200 ") && !page.contains("og:"),
            "{path}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn board_images_are_served_and_cached() {
    let server = TestServer::start(settings_without_limits());
    let (mut ann, mut bob) = connect_two_players(&server, "ada").await;
    let id = play_and_leave_match(&mut ann, &mut bob, json!({"game": "go"}), &["D4"]).await;
    let (head, svg) = get(&server, &format!("/picture/{id}.svg")).await;
    assert!(
        head.contains("image/svg+xml") && head.contains("max-age=3600"),
        "{head}"
    );
    assert!(
        svg.starts_with("<svg ") && svg.contains("<circle "),
        "{svg}"
    );
    let path = format!("/picture/{id}.png");
    let (head, png) = get_with_headers(&server, &path, "").await;
    assert!(
        head.contains("image/png") && png.starts_with(b"\x89PNG\r\n\x1a\n"),
        "{head}"
    );
    let tag = head.split("etag: ").nth(1).expect("a tag");
    let tag = tag.split("\r\n").next().expect("a line");
    let (head, none) = get_with_headers(&server, &path, &format!("If-None-Match: {tag}\r\n")).await;
    assert!(
        head.starts_with("http/1.1 304 ") && none.is_empty(),
        "{head}"
    );
    for path in [
        format!("/picture/{id}.gif"),
        format!("/picture/{id}"),
        "/picture/AAAAAA.png".to_owned(),
    ] {
        assert_eq!(get_status(&server, &path).await, "404", "{path}");
    }
    // In a running match, each move changes the picture.
    let id = ann.create_match(json!({"game": "go"})).await;
    bob.request(json!({"type": "join", "match": id})).await;
    let path = format!("/picture/{id}.png");
    let (before, _) = get_with_headers(&server, &path, "").await;
    ann.play_move(&id, 0, "D4").await;
    let (after, _) = get_with_headers(&server, &path, "").await;
    assert!(before.contains("no-cache"), "{before}");
    assert_ne!(before, after);
}

#[tokio::test(start_paused = true)]
async fn private_match_is_hidden_from_links_and_downloads() {
    let server = TestServer::start(settings_without_limits());
    let (mut ann, mut bob) = connect_two_players(&server, "ada").await;
    let create = json!({"game": "tic-tac-toe", "watch": "nobody"});
    let id = play_and_leave_match(&mut ann, &mut bob, create, &["b2"]).await;
    for path in [
        format!("/record/{id}.txt"),
        format!("/picture/{id}.svg"),
        format!("/picture/{id}.png"),
    ] {
        assert_eq!(get_status(&server, &path).await, "404", "{path}");
    }
    assert!(!get(&server, &format!("/m/{id}")).await.1.contains("og:"));
    assert_eq!(get(&server, "/player/ada.txt").await.1, "");
    let (_, page) = get(&server, "/player/ada").await;
    assert!(
        page.contains("content=\"0 won, 0 lost, 0 drawn\""),
        "{page}"
    );
}
