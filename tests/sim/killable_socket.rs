//! TCP socket that stops sending when the simulated server process that owns it is killed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::TcpStream;

/// TCP socket that accepts no more data after the process that owns it is killed. A real process
/// that is killed runs no destructors. A killed simulated process runs its destructors, and some of
/// the server's destructors send messages.
#[derive(Debug)]
pub(crate) struct KillableSocket {
    stream: TcpStream,
    kill_switch: KillSwitch,
}

/// Kill switch that all sockets of one process share.
#[derive(Clone, Debug, Default)]
pub(crate) struct KillSwitch(Arc<AtomicBool>);

impl KillSwitch {
    pub(crate) fn trigger(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_triggered(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl KillableSocket {
    pub(crate) const fn new(stream: TcpStream, kill_switch: KillSwitch) -> Self {
        Self {
            stream,
            kill_switch,
        }
    }
}

impl AsyncRead for KillableSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for KillableSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.kill_switch.is_triggered() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
