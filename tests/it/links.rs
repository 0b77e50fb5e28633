//! What is served of matches and players to whoever has a link: files, pictures, and what a link is about.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::support::{Player, TestServer, boundless, pass, played};

/// Where requests come from.
const HERE: &str = "192.0.2.1";

/// Sends a request, and gives where the answer comes.
async fn sent(server: &TestServer, path: &str, more: &str, pipe_bytes: usize) -> DuplexStream {
    let from = HERE.parse().expect("an address");
    let mut stream = server.silent_through(pipe_bytes, from);
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: house.test\r\nConnection: close\r\n{more}\r\n");
    let written = stream.write_all(request.as_bytes()).await;
    written.expect("open");
    stream
}

/// What is served under this path: head and body.
pub(crate) async fn get_with(server: &TestServer, path: &str, more: &str) -> (String, Vec<u8>) {
    let mut answer = Vec::new();
    let mut stream = sent(server, path, more, 1 << 16).await;
    stream.read_to_end(&mut answer).await.expect("readable");
    let mut windows = answer.windows(4);
    let end = windows.position(|four| four == b"\r\n\r\n");
    let (head, body) = answer.split_at(end.expect("a head") + 4);
    let head = String::from_utf8_lossy(head).to_lowercase();
    let body = match head.contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => body.to_vec(),
    };
    (head, body)
}

/// What has come in chunks.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = str::from_utf8(&body[..end]).expect("a number");
        let size = usize::from_str_radix(size, 16).expect("a number");
        if size == 0 {
            return whole;
        }
        whole.extend(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    panic!("the last chunk is missing after {} bytes", whole.len())
}

pub(crate) async fn get(server: &TestServer, path: &str) -> (String, String) {
    let (head, body) = get_with(server, path, "").await;
    (head, String::from_utf8(body).expect("text"))
}

async fn status(server: &TestServer, path: &str) -> String {
    let (head, _) = get_with(server, path, "").await;
    head.split(' ').nth(1).expect("a number").to_owned()
}

/// A match that Bob resigns after these moves, and that both have left.
async fn resigned(ann: &mut Player, bob: &mut Player, create: Value, moves: &[&str]) -> String {
    let id = played(ann, bob, create, moves).await;
    for player in [ann, bob] {
        player.ask(json!({"type": "leave", "match": id})).await;
        player.drain().await;
    }
    id
}

async fn two(server: &TestServer, name: &str) -> (Player, Player) {
    let (mut ann, bob) = (server.player("ann").await, server.player("bob").await);
    let register = json!({"type": "register", "name": name});
    assert_eq!(ann.ask(register).await["type"], "ok");
    (ann, bob)
}

#[tokio::test(start_paused = true)]
async fn all_public_matches_of_a_player_are_one_file() {
    let server = TestServer::start(boundless());
    let (mut ann, mut bob) = two(&server, "Ada L").await;
    let game = |game: &str| json!({"game": game});
    resigned(&mut ann, &mut bob, game("tic-tac-toe"), &["b2"]).await;
    pass(1).await;
    resigned(&mut ann, &mut bob, game("connect-four"), &["4", "3"]).await;
    let private = json!({"game": "tic-tac-toe", "listed": false});
    resigned(&mut ann, &mut bob, private, &["a1"]).await;
    pass(1).await;
    resigned(&mut ann, &mut bob, game("tic-tac-toe"), &["c3"]).await;
    resigned(&mut ann, &mut bob, game("chess"), &["e2e4"]).await;

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
        &format!("/player/{}.pgn?game=chess", text(bob.id())),
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
        "/player/bob.pgn", // A guest's name is not theirs alone.
        "/player/nobody.pgn",
    ] {
        assert_eq!(status(&server, path).await, "404", "{path}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// More than a page of matches, each longer than the way to a reader.
async fn many(server: &TestServer, count: usize) {
    let (mut ann, mut bob) = two(server, "ada").await;
    for _ in 0..count {
        resigned(&mut ann, &mut bob, json!({"game": "chess"}), &["e2e4"]).await;
        pass(1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn however_many_they_are_they_all_come() {
    let server = TestServer::start(boundless());
    many(&server, 103).await;
    let (_, pgn) = get(&server, "/player/ada.pgn").await;
    assert_eq!(pgn.matches("[Event ").count(), 103);
}

#[tokio::test(start_paused = true)]
async fn an_address_reads_one_such_file_at_a_time() {
    let server = TestServer::start(boundless());
    many(&server, 130).await;
    let mut slow = sent(&server, "/player/ada.pgn", "", 256).await;
    let mut first = [0; 64];
    slow.read_exact(&mut first).await.expect("it begins");
    let (head, _) = get(&server, "/player/ada.pgn?game=chess").await;
    assert!(head.starts_with("http/1.1 429 "), "{head}");
    assert!(head.contains("\r\nretry-after: "), "{head}");
    assert_eq!(status(&server, "/player/ada").await, "200");
    // Who goes makes room,
    drop(slow);
    pass(1).await;
    assert_eq!(status(&server, "/player/ada.pgn").await, "200");
    // and so does who does not read. Who does has all the time that it takes.
    let _unread = sent(&server, "/player/ada.pgn", "", 256).await;
    pass(1).await;
    assert_eq!(status(&server, "/player/ada.pgn").await, "429");
    pass(60).await;
    let begin = tokio::time::Instant::now();
    let mut slow = sent(&server, "/player/ada.pgn", "", 256).await;
    let (mut read, mut part) = (Vec::new(), [0; 128]);
    while let Ok(bytes @ 1..) = slow.read(&mut part).await {
        read.extend(&part[..bytes]);
        tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    }
    assert!(read.ends_with(b"\r\n0\r\n\r\n"), "{} bytes", read.len());
    assert!(begin.elapsed() > server.server.settings().handshake_timeout);
}

#[tokio::test(start_paused = true)]
async fn a_link_tells_what_it_is_about() {
    let server = TestServer::start(boundless());
    let (mut ann, mut bob) = two(&server, "\"><script>alert('ada')").await;
    let id = resigned(
        &mut ann,
        &mut bob,
        json!({"game": "connect-four"}),
        &["4", "3", "2"],
    )
    .await;
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    for target in [&id, text(&shown["code"])] {
        let (head, page) = get(&server, &format!("/m/{target}")).await;
        assert!(head.contains("content-security-policy: "), "{head}");
        let title = "&quot;&gt;&lt;script&gt;alert(&#39;ada&#39;) \u{2013} bob: Connect Four";
        for part in [
            &format!("property=\"og:title\" content=\"{title}\""),
            "has won by resignation, after 3 moves.",
            &format!(
                "content=\"http://house.test/picture/{id}.png?{}\"",
                shown["seq"]
            ),
            &format!("content=\"http://house.test/m/{target}\""),
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("alert('ada')"), "{page}");
    }
    let (_, page) = get(&server, &format!("/player/{}", text(ann.id()))).await;
    assert!(
        page.contains("content=\"1 won, 0 lost, 0 drawn\""),
        "{page}"
    );
    assert!(!page.contains("alert('ada')"), "{page}");
    // Of what there is not nothing is told.
    for path in ["/m/AAAAAA", "/player/nobody"] {
        let (head, page) = get(&server, path).await;
        assert!(
            head.starts_with("http/1.1 200 ") && !page.contains("og:"),
            "{path}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_shows_the_board() {
    let server = TestServer::start(boundless());
    let (mut ann, mut bob) = two(&server, "ada").await;
    let id = resigned(&mut ann, &mut bob, json!({"game": "go"}), &["D4"]).await;
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
    let (head, png) = get_with(&server, &path, "").await;
    assert!(
        head.contains("image/png") && png.starts_with(b"\x89PNG\r\n\x1a\n"),
        "{head}"
    );
    let tag = head.split("etag: ").nth(1).expect("a tag");
    let tag = tag.split("\r\n").next().expect("a line");
    let (head, none) = get_with(&server, &path, &format!("If-None-Match: {tag}\r\n")).await;
    assert!(
        head.starts_with("http/1.1 304 ") && none.is_empty(),
        "{head}"
    );
    for path in [
        format!("/picture/{id}.gif"),
        format!("/picture/{id}"),
        "/picture/AAAAAA.png".to_owned(),
    ] {
        assert_eq!(status(&server, &path).await, "404", "{path}");
    }
    // While it goes on, each move is another picture.
    let id = ann.create(json!({"game": "go"})).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    let path = format!("/picture/{id}.png");
    let (before, _) = get_with(&server, &path, "").await;
    ann.play(&id, 0, "D4").await;
    let (after, _) = get_with(&server, &path, "").await;
    assert!(before.contains("no-cache"), "{before}");
    assert_ne!(before, after);
}

/// What nobody but its players may watch is not there for anybody else, whatever is asked for.
#[tokio::test(start_paused = true)]
async fn what_is_nobodys_business_is_not_shown() {
    let server = TestServer::start(boundless());
    let (mut ann, mut bob) = two(&server, "ada").await;
    let create = json!({"game": "tic-tac-toe", "watch": "nobody"});
    let id = resigned(&mut ann, &mut bob, create, &["b2"]).await;
    for path in [
        format!("/record/{id}.txt"),
        format!("/picture/{id}.svg"),
        format!("/picture/{id}.png"),
    ] {
        assert_eq!(status(&server, &path).await, "404", "{path}");
    }
    assert!(!get(&server, &format!("/m/{id}")).await.1.contains("og:"));
    assert_eq!(get(&server, "/player/ada.txt").await.1, "");
    let (_, page) = get(&server, "/player/ada").await;
    assert!(
        page.contains("content=\"0 won, 0 lost, 0 drawn\""),
        "{page}"
    );
}
