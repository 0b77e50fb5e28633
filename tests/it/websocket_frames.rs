//! Tests of valid and invalid WebSocket frames (RFC 6455). After the server closes a connection it
//! must still serve new connections.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::real_sockets::{RawWebSocket, start_in_process};
use crate::support::settings_without_limits;

/// Maximum time to wait for the server. The value allows for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

// Parts of the first byte of a frame: the FIN bit and the opcodes.
const FIN: u8 = 0x80;
const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

/// Returns a `ping` request with the id `number`.
fn ping_request(number: u64) -> Vec<u8> {
    format!(r#"{{"type":"ping","id":{number}}}"#).into_bytes()
}

/// Returns a masked frame with the shortest encoding of its length.
fn masked_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let len = payload.len();
    match (u8::try_from(len), u16::try_from(len)) {
        (Ok(short @ 0..126), _) => masked_frame_with_length(first, &[short], payload),
        (_, Ok(len)) => {
            masked_frame_with_length(first, &[&[126][..], &len.to_be_bytes()].concat(), payload)
        }
        (_, Err(_)) => masked_frame_with_length(first, &encode_64_bit_length(len), payload),
    }
}

/// Encodes a length as the byte 127 and eight more bytes.
fn encode_64_bit_length(len: usize) -> Vec<u8> {
    [&[127][..], &(len as u64).to_be_bytes()].concat()
}

/// Returns a masked frame with the encoded length `len`.
fn masked_frame_with_length(first: u8, len: &[u8], payload: &[u8]) -> Vec<u8> {
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

fn close_payload(code: u16, reason: &[u8]) -> Vec<u8> {
    [&code.to_be_bytes(), reason].concat()
}

/// Server with a bystander connection that must stay usable when other connections send invalid
/// frames.
struct FrameTestServer {
    address: String,
    bystander: RawWebSocket,
    pings_sent: u64,
}

impl FrameTestServer {
    async fn start() -> Self {
        let address = start_in_process(settings_without_limits()).await;
        let neighbour = RawWebSocket::connect(&address, "").await;
        let mut server = Self {
            address,
            bystander: neighbour,
            pings_sent: 0,
        };
        server
            .bystander
            .send_frame(RawWebSocket::TEXT, &ping_request(0))
            .await;
        assert!(server.bystander.read_text().await.contains("welcome"));
        assert!(server.bystander.read_text().await.contains("pong"));
        server
    }

    /// Connects a guest and waits for the `welcome` message.
    async fn connect_guest(&self) -> RawWebSocket {
        let mut guest = RawWebSocket::connect(&self.address, "").await;
        guest
            .send_frame(RawWebSocket::TEXT, br#"{"type":"hello"}"#)
            .await;
        assert!(guest.read_text().await.contains("welcome"));
        guest
    }

    /// Asserts that the server still serves the bystander connection.
    async fn check_bystander(&mut self) {
        self.pings_sent += 1;
        self.bystander
            .send_frame(RawWebSocket::TEXT, &ping_request(self.pings_sent))
            .await;
        expect_pong(&mut self.bystander, self.pings_sent).await;
    }

    /// Sends `bytes`. Asserts that the server answers with a close frame that contains the expected
    /// code, and sends nothing else.
    async fn check_close_code(&mut self, case: &str, bytes: &[u8], expected_code: u16) {
        let mut guest = self.connect_guest().await;
        write_bytes(&mut guest, bytes).await;
        let (first, payload) = guest.read_frame().await;
        assert_eq!(
            first,
            FIN | CLOSE,
            "{case}: {}",
            String::from_utf8_lossy(&payload)
        );
        let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
        assert_eq!(code, Some(expected_code), "{case}");
        assert!(std::str::from_utf8(&payload[2..]).is_ok(), "{case}");
        self.expect_end(case, guest).await;
    }

    /// Asserts that the server closes the connection without sending any more bytes.
    async fn expect_end(&mut self, case: &str, mut guest: RawWebSocket) {
        let mut rest = Vec::new();
        let read = timeout(TIMEOUT, guest.stream.read_to_end(&mut rest)).await;
        read.expect("in time")
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(rest, [] as [u8; 0], "{case}");
        self.check_bystander().await;
    }
}

/// Sends bytes unchanged. Errors are ignored, because the server may have closed the connection.
async fn write_bytes(raw: &mut RawWebSocket, bytes: &[u8]) {
    let _ = raw.stream.write_all(bytes).await;
}

async fn expect_pong(raw: &mut RawWebSocket, number: u64) {
    let answer = raw.read_text().await;
    let re = format!(r#""re":{number},"#);
    assert!(
        answer.contains("pong") && answer.contains(&re),
        "{number}: {answer}"
    );
}

/// RFC 6455, section 5.4: fragments can be of any length, including zero, and control frames can
/// occur between them.
#[tokio::test]
async fn message_may_be_fragmented_with_interleaved_control_frames() {
    let server = FrameTestServer::start().await;
    let mut guest = server.connect_guest().await;
    let message = ping_request(1);
    let mut fragments = masked_frame(TEXT, &[]);
    for byte in &message {
        fragments.extend(masked_frame(CONTINUATION, &[*byte]));
        fragments.extend(masked_frame(CONTINUATION, &[]));
    }
    fragments.extend(masked_frame(FIN | CONTINUATION, &[]));
    write_bytes(&mut guest, &fragments).await;
    expect_pong(&mut guest, 1).await;

    // The server answers each ping frame while a fragmented message is incomplete.
    write_bytes(&mut guest, &masked_frame(TEXT, &message[..5])).await;
    for payload in [&b""[..], b"are you there", &[0xff; 125]] {
        write_bytes(&mut guest, &masked_frame(FIN | PING, payload)).await;
        assert_eq!(guest.read_frame().await, (FIN | PONG, payload.to_vec()));
    }
    write_bytes(&mut guest, &masked_frame(FIN | PONG, b"nobody has asked")).await;
    write_bytes(&mut guest, &masked_frame(FIN | CONTINUATION, &message[5..])).await;
    expect_pong(&mut guest, 1).await;
}

/// Packet boundaries have no meaning: a packet can contain a single byte or many frames.
#[tokio::test]
async fn frames_may_be_split_or_joined_across_packets() {
    let server = FrameTestServer::start().await;
    let mut guest = server.connect_guest().await;
    for byte in masked_frame(FIN | TEXT, &ping_request(1)) {
        write_bytes(&mut guest, &[byte]).await;
        // During the yield, the server reads this byte before the test writes the next byte.
        tokio::task::yield_now().await;
    }
    expect_pong(&mut guest, 1).await;
    let many: Vec<u8> = (2..12)
        .flat_map(|number| masked_frame(FIN | TEXT, &ping_request(number)))
        .collect();
    write_bytes(&mut guest, &many).await;
    for number in 2..12 {
        expect_pong(&mut guest, number).await;
    }
}

/// The test splits the message at every byte.
#[tokio::test]
async fn utf8_characters_may_be_split_across_fragments() {
    let server = FrameTestServer::start().await;
    let mut guest = server.connect_guest().await;
    let message = r#"{"type":"ping","id":1,"x":"é€𝄞"}"#.as_bytes();
    for cut in 1..message.len() {
        let first = masked_frame(TEXT, &message[..cut]);
        let second = masked_frame(FIN | CONTINUATION, &message[cut..]);
        write_bytes(&mut guest, &[first, second].concat()).await;
        expect_pong(&mut guest, 1).await;
    }
}

/// RFC 6455, section 5.2 requires the shortest encoding of a length, but does not say how to treat
/// other encodings. The server accepts longer encodings, because their meaning is clear.
#[tokio::test]
async fn non_minimal_length_encodings_are_accepted() {
    let server = FrameTestServer::start().await;
    let mut guest = server.connect_guest().await;
    let message = ping_request(1);
    let short = u16::try_from(message.len()).expect("short").to_be_bytes();
    for len in [
        [&[126][..], &short].concat(),
        encode_64_bit_length(message.len()),
    ] {
        write_bytes(
            &mut guest,
            &masked_frame_with_length(FIN | TEXT, &len, &message),
        )
        .await;
        expect_pong(&mut guest, 1).await;
    }
    let mut longest = ping_request(2);
    longest.resize(8192, b' ');
    write_bytes(&mut guest, &masked_frame(FIN | TEXT, &longest)).await;
    expect_pong(&mut guest, 2).await;
}

#[tokio::test]
async fn protocol_violations_close_with_1002() {
    let mut server = FrameTestServer::start().await;
    let text = ping_request(1);
    for reserved in [0x40, 0x20, 0x10, 0x70] {
        for first in [TEXT, PING, CLOSE] {
            let case = format!("reserved bits {reserved:#x} on {first:#x}");
            let bytes = masked_frame(FIN | reserved | first, b"");
            server.check_close_code(&case, &bytes, 1002).await;
        }
    }
    for opcode in [0x3, 0x4, 0x5, 0x6, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf] {
        let case = format!("the reserved opcode {opcode:#x}");
        server
            .check_close_code(&case, &masked_frame(FIN | opcode, b""), 1002)
            .await;
        server
            .check_close_code(&case, &masked_frame(FIN | opcode, b"with more"), 1002)
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
            unmasked(FIN | CLOSE, &close_payload(1000, b"")),
        ),
        ("a ping in pieces", masked_frame(PING, b"")),
        ("a pong in pieces", masked_frame(PONG, b"")),
        (
            "a close in pieces",
            masked_frame(CLOSE, &close_payload(1000, b"")),
        ),
        ("a ping that is too long", masked_frame(FIN | PING, &long)),
        (
            "a close that is too long",
            masked_frame(FIN | CLOSE, &close_payload(1000, &long)),
        ),
        ("a piece of nothing", masked_frame(CONTINUATION, &text)),
        (
            "the end of nothing",
            masked_frame(FIN | CONTINUATION, &text),
        ),
        (
            "a message within a message",
            [
                masked_frame(TEXT, &text[..3]),
                masked_frame(FIN | TEXT, &text),
            ]
            .concat(),
        ),
    ];
    for (case, bytes) in cases {
        server.check_close_code(case, &bytes, 1002).await;
    }
    // A continuation frame after the end of a message is a protocol error.
    let twice = [
        masked_frame(TEXT, b" "),
        masked_frame(FIN | CONTINUATION, &text),
    ]
    .concat();
    let mut guest = server.connect_guest().await;
    write_bytes(&mut guest, &twice).await;
    expect_pong(&mut guest, 1).await;
    write_bytes(&mut guest, &masked_frame(FIN | CONTINUATION, &text)).await;
    assert_eq!(guest.read_close_code().await, 1002);
    server.expect_end("a piece after the end", guest).await;
}

/// RFC 6455, section 8.1: text must be valid UTF-8.
#[tokio::test]
async fn invalid_utf8_closes_with_1007() {
    let mut server = FrameTestServer::start().await;
    let invalid_texts: [(&str, &[u8]); 7] = [
        ("a byte that is none", b"\xff"),
        ("a character that ends early", b"\xe2\x82"),
        ("a character's middle", b"\x80"),
        ("a form too long", b"\xc0\xaf"),
        ("half of a pair", b"\xed\xa0\x80"),
        ("beyond the last", b"\xf4\x90\x80\x80"),
        ("an end that is none", b"\xe2\x28\xa1"),
    ];
    for (case, text) in invalid_texts {
        server
            .check_close_code(case, &masked_frame(FIN | TEXT, text), 1007)
            .await;
        let mut fragments = masked_frame(TEXT, b"");
        for byte in text {
            fragments.extend(masked_frame(CONTINUATION, &[*byte]));
        }
        fragments.extend(masked_frame(FIN | CONTINUATION, b""));
        server.check_close_code(case, &fragments, 1007).await;
    }
    // The first fragment ends within a UTF-8 character. The second fragment does not continue the
    // character.
    let broken = [
        masked_frame(TEXT, b"\xe2\x82"),
        masked_frame(CONTINUATION, b"x"),
    ]
    .concat();
    server
        .check_close_code("a character that does not go on", &broken, 1007)
        .await;
    let reason = close_payload(1000, b"\xff");
    server
        .check_close_code("a reason", &masked_frame(FIN | CLOSE, &reason), 1007)
        .await;
}

#[tokio::test]
async fn oversized_messages_close_with_1009() {
    let mut server = FrameTestServer::start().await;
    let oversized = [b' '; 8193];
    server
        .check_close_code("a text", &masked_frame(FIN | TEXT, &oversized), 1009)
        .await;
    server
        .check_close_code(
            "its length alone",
            &masked_frame(FIN | TEXT, &oversized)[..8],
            1009,
        )
        .await;
    let fragments = [
        masked_frame(TEXT, &oversized[..8000]),
        masked_frame(FIN | CONTINUATION, &oversized[8000..]),
    ]
    .concat();
    server.check_close_code("pieces", &fragments, 1009).await;
    for len in [1 << 16, 1 << 32, usize::MAX] {
        let header = masked_frame_with_length(FIN | TEXT, &encode_64_bit_length(len), b"");
        server
            .check_close_code(&format!("a promise of {len}"), &header, 1009)
            .await;
    }
}

#[tokio::test]
async fn binary_messages_close_with_1003() {
    let mut server = FrameTestServer::start().await;
    server
        .check_close_code("whole", &masked_frame(FIN | BINARY, b"{}"), 1003)
        .await;
    let fragments = [
        masked_frame(BINARY, b"{"),
        masked_frame(FIN | CONTINUATION, b"}"),
    ]
    .concat();
    server.check_close_code("in pieces", &fragments, 1003).await;
}

/// RFC 6455, sections 5.5.1 and 7.4: the server answers a close frame with the same code, or with
/// 1002 if the code is not allowed.
#[tokio::test]
async fn close_frame_is_echoed_or_rejected_with_1002() {
    let mut server = FrameTestServer::start().await;
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ] {
        let bytes = masked_frame(FIN | CLOSE, &close_payload(code, b""));
        server
            .check_close_code(&format!("{code}"), &bytes, code)
            .await;
    }
    for code in [
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535,
    ] {
        let bytes = masked_frame(FIN | CLOSE, &close_payload(code, b""));
        server
            .check_close_code(&format!("{code}"), &bytes, 1002)
            .await;
    }
    server
        .check_close_code("half a code", &masked_frame(FIN | CLOSE, &[3]), 1002)
        .await;
    let reason = close_payload(1000, "schönen Tag!".as_bytes());
    server
        .check_close_code("a reason", &masked_frame(FIN | CLOSE, &reason), 1000)
        .await;
    let longest = close_payload(1000, &[b'x'; 123]);
    server
        .check_close_code("the longest", &masked_frame(FIN | CLOSE, &longest), 1000)
        .await;

    let mut guest = server.connect_guest().await;
    write_bytes(&mut guest, &masked_frame(FIN | CLOSE, b"")).await;
    assert_eq!(guest.read_frame().await, (FIN | CLOSE, Vec::new()));
    server.expect_end("no code", guest).await;
}

/// RFC 6455, section 5.5.1: data after a close frame is ignored. A close frame can occur within a
/// fragmented message.
#[tokio::test]
async fn data_after_close_frame_is_ignored() {
    let mut server = FrameTestServer::start().await;
    let close_frame = masked_frame(FIN | CLOSE, &close_payload(1000, b""));
    let create = masked_frame(FIN | TEXT, br#"{"type":"create","game":"tic-tac-toe"}"#);
    let ping = masked_frame(FIN | PING, b"still there?");
    let after = [close_frame.clone(), create, ping, close_frame.clone()].concat();
    server.check_close_code("more after it", &after, 1000).await;
    server
        .bystander
        .send_frame(RawWebSocket::TEXT, br#"{"type":"list","id":99}"#)
        .await;
    let listed = server.bystander.read_text().await;
    assert!(listed.contains(r#""total":0"#), "{listed}");
    let much = masked_frame(FIN | TEXT, &[b' '; 8000]).repeat(50);
    let after = [close_frame.clone(), much].concat();
    server.check_close_code("much after it", &after, 1000).await;
    let unfinished_message = [masked_frame(TEXT, b"{"), close_frame].concat();
    server
        .check_close_code("in the middle", &unfinished_message, 1000)
        .await;
}
