//! Signals that stop a search or an engine match without ending the process.

use std::future::poll_fn;
use std::process;
use std::task::Poll;
use std::thread;

use anyhow::Context;
use plyhouse_engine::search::Stop;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Returns a flag that Ctrl-C sets. The second Ctrl-C ends the process.
///
/// # Errors
///
/// Returns an error if the process cannot listen for signals.
pub(super) fn stop_on_interrupt() -> anyhow::Result<Stop> {
    stop_on_signals([SignalKind::interrupt()])
}

/// Returns a flag that Ctrl-C or SIGTERM sets. The second signal of either kind ends the process.
///
/// No handler is installed for SIGHUP. `nohup` makes the process ignore SIGHUP, and a handler would
/// override that and stop the engine match.
///
/// # Errors
///
/// Returns an error if the process cannot listen for signals.
pub(super) fn stop_on_interrupt_or_termination() -> anyhow::Result<Stop> {
    stop_on_signals([SignalKind::interrupt(), SignalKind::terminate()])
}

/// Receiver for one kind of signal.
type SignalListener = (SignalKind, Signal);

fn stop_on_signals<const N: usize>(kinds: [SignalKind; N]) -> anyhow::Result<Stop> {
    let stop = Stop::new();
    let runtime =
        (Builder::new_current_thread().enable_io().build()).context("cannot wait for signals")?;
    let runtime_guard = runtime.enter();
    let listeners = kinds.into_iter().map(|kind| {
        let listener = signal(kind)
            .with_context(|| format!("cannot listen for signal {}", kind.as_raw_value()))?;
        Ok((kind, listener))
    });
    let mut listeners: Vec<SignalListener> = listeners.collect::<anyhow::Result<_>>()?;
    drop(runtime_guard);
    let stop_flag = stop.clone();
    // The signal thread runs until the process ends.
    thread::spawn(move || {
        runtime.block_on(async {
            next_signal(&mut listeners).await;
            stop_flag.stop();
            let kind = next_signal(&mut listeners).await;
            // Shells report 128 plus the signal number as the status of a process that a signal has
            // killed.
            process::exit(128 + kind.as_raw_value());
        });
    });
    Ok(stop)
}

/// Waits until one of the listeners receives a signal, and returns the kind of the signal.
async fn next_signal(listeners: &mut [SignalListener]) -> SignalKind {
    poll_fn(|context| {
        let mut received = listeners.iter_mut().filter_map(|(kind, signal)| {
            let is_received = signal.poll_recv(context).is_ready();
            is_received.then_some(*kind)
        });
        received.next().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}
