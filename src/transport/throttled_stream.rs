//! A stream with a limit on the number of bytes read per second.
//!
//! The request rate limit counts messages, so it does not count frames that complete no message.
//! Without a byte limit, a client could send millions of empty fragments a second and keep a core
//! of the server busy.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use plyhouse_server::Settings;

/// Maximum header size of a masked frame shorter than 64 KiB (RFC 6455, section 5.2).
const FRAME_HEADER_BYTES: i64 = 8;

/// Duration of a pause in reading when the allowance is used up. A longer pause lets one read
/// return more bytes, which is cheaper.
const PAUSE: Duration = Duration::from_millis(10);

/// Stream with an allowance of bytes to read, which refills over time.
#[derive(Debug)]
pub(super) struct ThrottledStream<S> {
    stream: S,
    /// Number of bytes that may be read before the next refill. Negative if the last read exceeded
    /// the allowance.
    allowance: i64,
    /// Time of the last refill.
    counted_at: Instant,
    per_s: i64,
    allowance_max: i64,
    /// Timer that runs while the allowance is used up.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> ThrottledStream<S> {
    /// Limits the number of bytes that are read from the stream per second and in a burst. Each
    /// limit is the corresponding request limit multiplied by the maximum frame size.
    pub(super) fn new(stream: S, settings: &Settings) -> Self {
        let request = i64::try_from(settings.message_bytes).unwrap_or(i64::MAX);
        let request = request.saturating_add(FRAME_HEADER_BYTES);
        let allowance_max = request.saturating_mul(settings.burst.get().into());
        Self {
            stream,
            allowance: allowance_max,
            counted_at: Instant::now(),
            per_s: request.saturating_mul(settings.requests_per_s.get().into()),
            allowance_max,
            pause: None,
        }
    }

    /// Waits until the allowance is positive.
    fn poll_allowance(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.allowance <= 0 {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            let passed = self.counted_at.elapsed();
            let earned = passed
                .as_micros()
                .saturating_mul(self.per_s.unsigned_abs().into());
            let earned = i64::try_from(earned / 1_000_000).unwrap_or(i64::MAX);
            self.allowance = (self.allowance.saturating_add(earned)).min(self.allowance_max);
            self.counted_at += passed;
            if self.allowance <= 0 {
                self.pause = Some(Box::pin(sleep(PAUSE)));
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ThrottledStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let throttled = self.get_mut();
        ready!(throttled.poll_allowance(context));
        let before = buffer.filled().len();
        ready!(Pin::new(&mut throttled.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        let read = i64::try_from(read).unwrap_or(i64::MAX);
        throttled.allowance = throttled.allowance.saturating_sub(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ThrottledStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use tokio::io::AsyncReadExt;

    use super::*;

    /// Returns how many seconds it takes to read this number of bytes from a throttled stream that
    /// always has data.
    async fn seconds_for(bytes: u64) -> u64 {
        let settings = Settings {
            message_bytes: 1024 - 8,
            requests_per_s: NonZeroU32::new(20).unwrap(),
            burst: NonZeroU32::new(40).unwrap(),
            ..Settings::default()
        };
        let start = Instant::now();
        let mut stream = ThrottledStream::new(tokio::io::repeat(7), &settings).take(bytes);
        tokio::io::copy(&mut stream, &mut tokio::io::sink())
            .await
            .unwrap();
        start.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_above_the_allowance_are_read_at_the_rate() {
        assert_eq!(seconds_for(40 * 1024).await, 0);
        let minute = seconds_for((40 + 20 * 60) * 1024).await;
        assert!((58..=61).contains(&minute), "{minute} s");
    }

    #[tokio::test(start_paused = true)]
    async fn allowance_refills_while_idle() {
        let (mut near, far) = tokio::io::duplex(1 << 20);
        let settings = Settings::default();
        let mut far = ThrottledStream::new(far, &settings);
        let burst = usize::try_from(far.allowance_max).unwrap();
        let mut bytes = vec![0; burst];
        for _ in 0..2 {
            let start = Instant::now();
            tokio::io::AsyncWriteExt::write_all(&mut near, &bytes)
                .await
                .unwrap();
            far.read_exact(&mut bytes).await.unwrap();
            assert_eq!(start.elapsed(), Duration::ZERO);
            sleep(Duration::from_secs(3600)).await;
        }
    }
}
