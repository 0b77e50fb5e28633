//! WebSocket frame by frame (RFC 6455): what a client may send in whatever pieces, and what it may
//! not. Beside each that breaks the rules sits one that keeps them, and notices nothing.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::socket::{Raw, listen};
use crate::support::boundless;

/// How long a test waits for the machine, however busy it is.
const PATIENCE: Duration = Duration::from_secs(60);

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

// The first byte of a frame: whether it is the last of its message, and its opcode.
const FIN: u8 = 0x80;
const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

/// A request that says by its number which it was.
fn request(number: u64) -> Vec<u8> {
    format!(r#"{{"type":"ping","id":{number}}}"#).into_bytes()
}

/// A masked frame, its length written in as few bytes as will do.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let len = payload.len();
    match (u8::try_from(len), u16::try_from(len)) {
        (Ok(short @ 0..126), _) => framed(first, &[short], payload),
        (_, Ok(len)) => framed(first, &[&[126][..], &len.to_be_bytes()].concat(), payload),
        (_, Err(_)) => framed(first, &long_length(len), payload),
    }
}

/// A length in eight bytes.
fn long_length(len: usize) -> Vec<u8> {
    [&[127][..], &(len as u64).to_be_bytes()].concat()
}

/// A masked frame with this for its length.
fn framed(first: u8, len: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | len[0]];
    frame.extend(&len[1..]);
    frame.extend(MASK);
    frame.extend(
        payload
            .iter()
            .zip(MASK.iter().cycle())
            .map(|(byte, mask)| byte ^ mask),
    );
    frame
}

/// The payload of a close frame.
fn close(code: u16, reason: &[u8]) -> Vec<u8> {
    [&code.to_be_bytes(), reason].concat()
}

/// A server, and somebody who is always there.
struct House {
    address: String,
    neighbour: Raw,
    asked: u64,
}

impl House {
    async fn open() -> Self {
        let address = listen(boundless()).await;
        let neighbour = Raw::open(&address, "").await;
        let mut house = Self {
            address,
            neighbour,
            asked: 0,
        };
        house.neighbour.send(Raw::TEXT, &request(0)).await;
        assert!(house.neighbour.text().await.contains("welcome"));
        assert!(house.neighbour.text().await.contains("pong"));
        house
    }

    /// Somebody new, who has been welcomed.
    async fn guest(&self) -> Raw {
        let mut guest = Raw::open(&self.address, "").await;
        guest.send(Raw::TEXT, br#"{"type":"hello"}"#).await;
        assert!(guest.text().await.contains("welcome"));
        guest
    }

    /// The one who is always there is still served, on the same connection.
    async fn is_quiet(&mut self) {
        self.asked += 1;
        self.neighbour.send(Raw::TEXT, &request(self.asked)).await;
        expect_pong(&mut self.neighbour, self.asked).await;
    }

    /// These bytes end the connection with this code, and nothing else.
    async fn check_closed(&mut self, what: &str, bytes: &[u8], expect: u16) {
        let mut guest = self.guest().await;
        write(&mut guest, bytes).await;
        let (first, payload) = guest.frame().await;
        assert_eq!(
            first,
            FIN | CLOSE,
            "{what}: {}",
            String::from_utf8_lossy(&payload)
        );
        let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
        assert_eq!(code, Some(expect), "{what}");
        assert!(std::str::from_utf8(&payload[2..]).is_ok(), "{what}");
        self.ends(what, guest).await;
    }

    /// Nothing more comes, and the server closes.
    async fn ends(&mut self, what: &str, mut guest: Raw) {
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, guest.stream.read_to_end(&mut rest)).await;
        read.expect("in time")
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(rest, [] as [u8; 0], "{what}");
        self.is_quiet().await;
    }
}

/// Sends bytes as they are. The server may have closed already.
async fn write(raw: &mut Raw, bytes: &[u8]) {
    let _ = raw.stream.write_all(bytes).await;
}

async fn expect_pong(raw: &mut Raw, number: u64) {
    let answer = raw.text().await;
    let re = format!(r#""re":{number},"#);
    assert!(
        answer.contains("pong") && answer.contains(&re),
        "{number}: {answer}"
    );
}

/// Section 5.4: a message may come in any pieces, none of them need hold anything, and control
/// frames may come in between.
#[tokio::test]
async fn a_message_may_come_in_pieces() {
    let house = House::open().await;
    let mut guest = house.guest().await;
    let message = request(1);
    let mut pieces = frame(TEXT, &[]);
    for byte in &message {
        pieces.extend(frame(CONTINUATION, &[*byte]));
        pieces.extend(frame(CONTINUATION, &[]));
    }
    pieces.extend(frame(FIN | CONTINUATION, &[]));
    write(&mut guest, &pieces).await;
    expect_pong(&mut guest, 1).await;

    // Each answered before the message is whole.
    write(&mut guest, &frame(TEXT, &message[..5])).await;
    for payload in [&b""[..], b"are you there", &[0xff; 125]] {
        write(&mut guest, &frame(FIN | PING, payload)).await;
        assert_eq!(guest.frame().await, (FIN | PONG, payload.to_vec()));
    }
    write(&mut guest, &frame(FIN | PONG, b"nobody has asked")).await;
    write(&mut guest, &frame(FIN | CONTINUATION, &message[5..])).await;
    expect_pong(&mut guest, 1).await;
}

/// What the network makes of frames says nothing: one byte at a time, or many frames at once.
#[tokio::test]
async fn frames_may_come_in_any_packets() {
    let house = House::open().await;
    let mut guest = house.guest().await;
    for byte in frame(FIN | TEXT, &request(1)) {
        write(&mut guest, &[byte]).await;
        // Lets the server read it alone.
        tokio::task::yield_now().await;
    }
    expect_pong(&mut guest, 1).await;
    let many: Vec<u8> = (2..12)
        .flat_map(|number| frame(FIN | TEXT, &request(number)))
        .collect();
    write(&mut guest, &many).await;
    for number in 2..12 {
        expect_pong(&mut guest, number).await;
    }
}

/// A character may be cut anywhere.
#[tokio::test]
async fn characters_may_be_split() {
    let house = House::open().await;
    let mut guest = house.guest().await;
    let message = r#"{"type":"ping","id":1,"x":"é€𝄞"}"#.as_bytes();
    for cut in 1..message.len() {
        let first = frame(TEXT, &message[..cut]);
        let second = frame(FIN | CONTINUATION, &message[cut..]);
        write(&mut guest, &[first, second].concat()).await;
        expect_pong(&mut guest, 1).await;
    }
}

/// Section 5.2 asks the sender for the shortest form of a length. It names no answer to another, and
/// what is meant is clear.
#[tokio::test]
async fn lengths_may_be_written_long() {
    let house = House::open().await;
    let mut guest = house.guest().await;
    let message = request(1);
    let short = u16::try_from(message.len()).expect("short").to_be_bytes();
    for len in [[&[126][..], &short].concat(), long_length(message.len())] {
        write(&mut guest, &framed(FIN | TEXT, &len, &message)).await;
        expect_pong(&mut guest, 1).await;
    }
    let mut longest = request(2);
    longest.resize(8192, b' ');
    write(&mut guest, &frame(FIN | TEXT, &longest)).await;
    expect_pong(&mut guest, 2).await;
}

#[tokio::test]
async fn frames_against_the_rules_close_with_1002() {
    let mut house = House::open().await;
    let text = request(1);
    for reserved in [0x40, 0x20, 0x10, 0x70] {
        for first in [TEXT, PING, CLOSE] {
            let what = format!("reserved bits {reserved:#x} on {first:#x}");
            let bytes = frame(FIN | reserved | first, b"");
            house.check_closed(&what, &bytes, 1002).await;
        }
    }
    for opcode in [0x3, 0x4, 0x5, 0x6, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf] {
        let what = format!("the reserved opcode {opcode:#x}");
        house
            .check_closed(&what, &frame(FIN | opcode, b""), 1002)
            .await;
        house
            .check_closed(&what, &frame(FIN | opcode, b"with more"), 1002)
            .await;
    }
    let unmasked = |first, payload: &[u8]| {
        let len = u8::try_from(payload.len()).expect("short");
        [&[first, len][..], payload].concat()
    };
    let long = [b'x'; 126];
    let cases: [(&str, Vec<u8>); 11] = [
        ("a text without a mask", unmasked(FIN | TEXT, &text)),
        ("a ping without a mask", unmasked(FIN | PING, b"")),
        (
            "a close without a mask",
            unmasked(FIN | CLOSE, &close(1000, b"")),
        ),
        ("a ping in pieces", frame(PING, b"")),
        ("a pong in pieces", frame(PONG, b"")),
        ("a close in pieces", frame(CLOSE, &close(1000, b""))),
        ("a ping that is too long", frame(FIN | PING, &long)),
        (
            "a close that is too long",
            frame(FIN | CLOSE, &close(1000, &long)),
        ),
        ("a piece of nothing", frame(CONTINUATION, &text)),
        ("the end of nothing", frame(FIN | CONTINUATION, &text)),
        (
            "a message within a message",
            [frame(TEXT, &text[..3]), frame(FIN | TEXT, &text)].concat(),
        ),
    ];
    for (what, bytes) in cases {
        house.check_closed(what, &bytes, 1002).await;
    }
    // What had ended does not begin anew.
    let twice = [frame(TEXT, b" "), frame(FIN | CONTINUATION, &text)].concat();
    let mut guest = house.guest().await;
    write(&mut guest, &twice).await;
    expect_pong(&mut guest, 1).await;
    write(&mut guest, &frame(FIN | CONTINUATION, &text)).await;
    assert_eq!(guest.closed().await, 1002);
    house.ends("a piece after the end", guest).await;
}

/// Section 8.1.
#[tokio::test]
async fn text_that_is_not_utf_8_closes_with_1007() {
    let mut house = House::open().await;
    let whole: [(&str, &[u8]); 7] = [
        ("a byte that is none", b"\xff"),
        ("a character that ends early", b"\xe2\x82"),
        ("a character's middle", b"\x80"),
        ("a form too long", b"\xc0\xaf"),
        ("half of a pair", b"\xed\xa0\x80"),
        ("beyond the last", b"\xf4\x90\x80\x80"),
        ("an end that is none", b"\xe2\x28\xa1"),
    ];
    for (what, text) in whole {
        house
            .check_closed(what, &frame(FIN | TEXT, text), 1007)
            .await;
        let mut pieces = frame(TEXT, b"");
        for byte in text {
            pieces.extend(frame(CONTINUATION, &[*byte]));
        }
        pieces.extend(frame(FIN | CONTINUATION, b""));
        house.check_closed(what, &pieces, 1007).await;
    }
    // The next piece does not go on with it.
    let broken = [frame(TEXT, b"\xe2\x82"), frame(CONTINUATION, b"x")].concat();
    house
        .check_closed("a character that does not go on", &broken, 1007)
        .await;
    let reason = close(1000, b"\xff");
    house
        .check_closed("a reason", &frame(FIN | CLOSE, &reason), 1007)
        .await;
}

#[tokio::test]
async fn what_is_too_large_closes_with_1009() {
    let mut house = House::open().await;
    let over = [b' '; 8193];
    house
        .check_closed("a text", &frame(FIN | TEXT, &over), 1009)
        .await;
    house
        .check_closed("its length alone", &frame(FIN | TEXT, &over)[..8], 1009)
        .await;
    let pieces = [
        frame(TEXT, &over[..8000]),
        frame(FIN | CONTINUATION, &over[8000..]),
    ]
    .concat();
    house.check_closed("pieces", &pieces, 1009).await;
    for len in [1 << 16, 1 << 32, usize::MAX] {
        let promise = framed(FIN | TEXT, &long_length(len), b"");
        house
            .check_closed(&format!("a promise of {len}"), &promise, 1009)
            .await;
    }
}

#[tokio::test]
async fn binary_messages_close_with_1003() {
    let mut house = House::open().await;
    house
        .check_closed("whole", &frame(FIN | BINARY, b"{}"), 1003)
        .await;
    let pieces = [frame(BINARY, b"{"), frame(FIN | CONTINUATION, b"}")].concat();
    house.check_closed("in pieces", &pieces, 1003).await;
}

/// Sections 5.5.1 and 7.4: a close is answered by one with the same code, a forbidden code by 1002.
#[tokio::test]
async fn a_close_is_answered() {
    let mut house = House::open().await;
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ] {
        let bytes = frame(FIN | CLOSE, &close(code, b""));
        house.check_closed(&format!("{code}"), &bytes, code).await;
    }
    for code in [
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535,
    ] {
        let bytes = frame(FIN | CLOSE, &close(code, b""));
        house.check_closed(&format!("{code}"), &bytes, 1002).await;
    }
    house
        .check_closed("half a code", &frame(FIN | CLOSE, &[3]), 1002)
        .await;
    let reason = close(1000, "schönen Tag!".as_bytes());
    house
        .check_closed("a reason", &frame(FIN | CLOSE, &reason), 1000)
        .await;
    let longest = close(1000, &[b'x'; 123]);
    house
        .check_closed("the longest", &frame(FIN | CLOSE, &longest), 1000)
        .await;

    let mut guest = house.guest().await;
    write(&mut guest, &frame(FIN | CLOSE, b"")).await;
    assert_eq!(guest.frame().await, (FIN | CLOSE, Vec::new()));
    house.ends("no code", guest).await;
}

/// Section 5.5.1: after a close frame comes nothing. In the middle of a message it may come.
#[tokio::test]
async fn after_a_close_nothing_is_heard() {
    let mut house = House::open().await;
    let goodbye = frame(FIN | CLOSE, &close(1000, b""));
    let create = frame(FIN | TEXT, br#"{"type":"create","game":"tic-tac-toe"}"#);
    let ping = frame(FIN | PING, b"still there?");
    let after = [goodbye.clone(), create, ping, goodbye.clone()].concat();
    house.check_closed("more after it", &after, 1000).await;
    house
        .neighbour
        .send(Raw::TEXT, br#"{"type":"list","id":99}"#)
        .await;
    let listed = house.neighbour.text().await;
    assert!(listed.contains(r#""total":0"#), "{listed}");
    let much = frame(FIN | TEXT, &[b' '; 8000]).repeat(50);
    let after = [goodbye.clone(), much].concat();
    house.check_closed("much after it", &after, 1000).await;
    let amid = [frame(TEXT, b"{"), goodbye].concat();
    house.check_closed("in the middle", &amid, 1000).await;
}
