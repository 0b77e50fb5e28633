//! Runs a server in its own process for a measurement. The process is killed when its
//! [`ServerProcess`] is dropped.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use anyhow::Context;

/// Time limit for a server to start listening.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running server process. Dropping this value kills the process.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    /// Starts a program and waits for the line on its stderr that contains its address.
    pub(crate) fn start(program: impl AsRef<OsStr>, args: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).stderr(Stdio::piped());
        // The user's `PLYHOUSE_` environment variables would change the settings of the measured
        // server, so they are removed.
        let settings = std::env::vars_os().map(|(name, _)| name);
        for name in settings.filter(|name| name.to_string_lossy().starts_with("PLYHOUSE_")) {
            command.env_remove(name);
        }
        let mut child = command.spawn().context("cannot start a server")?;
        let stderr = child.stderr.take().context("stderr is not piped")?;
        let (address_sender, address_receiver) = sync_channel(1);
        // This thread reads the server's stderr until the server exits. Otherwise the server would
        // block on a full pipe.
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("listening on ") {
                    // The receiver exists only until the first address has arrived. Sending a later
                    // address fails, and the error is ignored.
                    let _ = address_sender.send(address.parse());
                }
            }
        });
        // If this function returns an error from here on, `Drop` kills the child process.
        let mut process = Self {
            child,
            address: SocketAddr::from(([0, 0, 0, 0], 0)),
        };
        process.address = address_receiver
            .recv_timeout(START_TIMEOUT)
            .context("the server did not start listening")?
            .context("the server printed an invalid address")?;
        Ok(process)
    }

    /// Returns the address that the server listens on.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the CPU time that all threads of the process have used so far.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let mut nanos = 0;
        for task in std::fs::read_dir(tasks).context("the server has exited")? {
            let path = task?.path().join("schedstat");
            // A thread that exited after the directory was read has no readable `schedstat` and is
            // skipped.
            let Ok(stat) = std::fs::read_to_string(path) else {
                continue;
            };
            // The first field of `schedstat` is the time that the thread has spent on a CPU, in
            // nanoseconds (Documentation/scheduler/sched-stats.rst).
            let time = stat
                .split_whitespace()
                .next()
                .context("schedstat is empty")?;
            nanos += time
                .parse::<u64>()
                .context("invalid CPU time in schedstat")?;
        }
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may have exited already, so errors are ignored here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
