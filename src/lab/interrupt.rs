//! Ctrl-C, where it is to end a search and not the process.

use std::process;
use std::thread;

use anyhow::Context;
use plyhouse_engine::search::Stop;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// The status of a process that Ctrl-C has ended, as shells tell it.
const INTERRUPTED: i32 = 130;

/// A flag that Ctrl-C raises. The second Ctrl-C ends the process.
pub(super) fn stop_on_interrupt() -> anyhow::Result<Stop> {
    let stop = Stop::new();
    let raised = stop.clone();
    let runtime =
        (Builder::new_current_thread().enable_io().build()).context("cannot wait for signals")?;
    let mut interrupt = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?
    };
    // The thread ends with the process.
    thread::spawn(move || {
        runtime.block_on(async {
            interrupt.recv().await;
            raised.stop();
            interrupt.recv().await;
            process::exit(INTERRUPTED);
        });
    });
    Ok(stop)
}
