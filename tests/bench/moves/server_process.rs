//! A server in a process of its own: started on a free port, measured, and killed in the end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use anyhow::Context;

/// How long a server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    /// Starts a program and waits for the line on its stderr that says where it listens.
    pub(crate) fn start(program: impl AsRef<OsStr>, args: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).stderr(Stdio::piped());
        // What whoever measures has set for a server of theirs is not for this one.
        let settings = std::env::vars_os().map(|(name, _)| name);
        for name in settings.filter(|name| name.to_string_lossy().starts_with("PLYHOUSE_")) {
            command.env_remove(name);
        }
        let mut child = command.spawn().context("cannot start a server")?;
        let stderr = child.stderr.take().context("stderr is not piped")?;
        let (address_sender, address_receiver) = sync_channel(1);
        // The thread goes on until the server ends, so that the server never waits for a reader.
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("listening on ") {
                    // Nobody listens any more after the first.
                    let _ = address_sender.send(address.parse());
                }
            }
        });
        // From here on it is killed, whatever happens.
        let mut process = Self {
            child,
            address: SocketAddr::from(([0, 0, 0, 0], 0)),
        };
        process.address = address_receiver
            .recv_timeout(START_TIMEOUT)
            .context("the server does not listen")?
            .context("the server printed an invalid address")?;
        Ok(process)
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The user and system time of all its threads so far.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let mut nanos = 0;
        for task in std::fs::read_dir(tasks).context("the server has exited")? {
            let path = task?.path().join("schedstat");
            // A thread may have ended since.
            let Ok(stat) = std::fs::read_to_string(path) else {
                continue;
            };
            // Nanoseconds on a processor come first (Documentation/scheduler/sched-stats.rst).
            let time = stat.split_whitespace().next().context("empty schedstat")?;
            nanos += time.parse::<u64>().context("not a CPU time")?;
        }
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
