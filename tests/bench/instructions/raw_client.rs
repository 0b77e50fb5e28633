//! Client that sends and receives text messages with as few instructions as possible, so that the
//! counts are almost those of the server alone.

use std::mem::take;
use std::ops::Range;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const UPGRADE_REQUEST: &[u8] = b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
    Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// First byte of a text message in one frame (RFC 6455, section 5.2).
const TEXT_FRAME: u8 = 0x81;

/// First byte of a ping.
const PING_FRAME: u8 = 0x89;

/// Mask bit of the second byte of a frame.
const MASKED: u8 = 0x80;

/// Key with which the client masks its frames. With a key of zero, the masked text is the text.
const MASK_KEY: [u8; 4] = [0; 4];

/// Client side of a WebSocket connection.
#[derive(Debug)]
pub(crate) struct RawClient {
    stream: DuplexStream,
    /// Received bytes from the first frame that has not been returned yet.
    received: Vec<u8>,
    /// Length of the frame that was returned last, which is still at the start of `received`.
    returned_bytes: usize,
}

impl RawClient {
    /// Opens a WebSocket on a new connection to the server.
    pub(crate) async fn open(mut stream: DuplexStream) -> Self {
        stream
            .write_all(UPGRADE_REQUEST)
            .await
            .expect("server reads");
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\n") {
            response.push(stream.read_u8().await.expect("server answers"));
        }
        assert!(response.starts_with(b"HTTP/1.1 101"));
        Self {
            stream,
            received: Vec::new(),
            returned_bytes: 0,
        }
    }

    /// Sends a text message of at most 64 KiB.
    pub(crate) async fn send(&mut self, text: &str) {
        let mut frame = vec![TEXT_FRAME];
        match u8::try_from(text.len()) {
            Ok(length @ ..=125) => frame.push(MASKED | length),
            _ => {
                frame.push(MASKED | 126);
                let length = u16::try_from(text.len()).expect("message is short");
                frame.extend(length.to_be_bytes());
            }
        }
        frame.extend(MASK_KEY);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).await.expect("server reads");
    }

    /// Returns the next text message. Pings are not answered.
    pub(crate) async fn receive(&mut self) -> &str {
        let text = loop {
            self.received.drain(..take(&mut self.returned_bytes));
            let content = self.receive_frame().await;
            self.returned_bytes = content.end;
            match self.received[0] {
                TEXT_FRAME => break content,
                first_byte => assert_eq!(first_byte, PING_FRAME),
            }
        };
        str::from_utf8(&self.received[text]).expect("messages are UTF-8")
    }

    /// Reads until a complete frame has been received. Returns the range of its content.
    async fn receive_frame(&mut self) -> Range<usize> {
        loop {
            if let Some((header, length)) = frame_size(&self.received)
                && self.received.len() >= header + length
            {
                return header..header + length;
            }
            let count = self.stream.read_buf(&mut self.received).await;
            assert_ne!(count.expect("server is connected"), 0, "connection closed");
        }
    }

    /// Returns the next message of this type. Messages of other types are dropped.
    pub(crate) async fn receive_type(&mut self, message_type: &str) -> String {
        loop {
            let text = self.receive().await;
            let rest = text.strip_prefix(r#"{"type":""#).expect("type comes first");
            let (found, _) = rest.split_once('"').expect("type is a string");
            assert_ne!(found, "error", "{text}");
            if found == message_type {
                return text.to_owned();
            }
        }
    }
}

/// Returns the lengths of the header and the text of the frame at the start of `bytes`, or `None`
/// if the header is incomplete.
fn frame_size(bytes: &[u8]) -> Option<(usize, usize)> {
    match bytes {
        [_, 126, high, low, ..] => Some((4, u16::from_be_bytes([*high, *low]).into())),
        [_, length @ ..=125, ..] => Some((2, usize::from(*length))),
        _ => None,
    }
}
