//! A PostgreSQL server for the tests of this process, which ends with it.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;

/// Where Debian and others have the programs of the server.
const PLACES: [&str; 3] = ["/usr/lib/postgresql", "/usr/local/pgsql", "/usr/local"];

/// What is needed of them.
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "pg_isready"];

/// The user of a server that is started by root, who must not run one.
const NOBODY: u32 = 65_534;

/// Runs a server until it is told to end, or whoever has started it has gone, and removes what it had.
const RUN: &str = r#"
    trap 'kill -QUIT $server; wait $server; rm -rf "$0"' EXIT
    trap exit TERM
    "$1/postgres" -D "$0/data" -k "$0" -h 127.0.0.1 -p "$2" -c max_connections=300 \
        >"$0/log" 2>&1 &
    server=$!
    wait
"#;

/// Where the server of this process listens; `None` if PostgreSQL is not installed. It is started when
/// this is asked first.
pub(super) fn address() -> Option<String> {
    static ADDRESS: OnceLock<Option<String>> = OnceLock::new();
    let start = || {
        let programs = programs();
        if programs.is_none() {
            let must = std::env::var("CLUSTER_TESTS").is_ok_and(|value| value == "require");
            assert!(!must, "PostgreSQL is not installed");
            // Past the harness, which keeps what a test that passes prints.
            let left_out = b"\n!! NOT TESTED: PostgreSQL is not installed\n";
            std::io::stderr().write_all(left_out).expect("stderr");
        }
        programs.map(|programs| start(&programs))
    };
    ADDRESS.get_or_init(start).clone()
}

/// The directory of the server's programs.
fn programs() -> Option<PathBuf> {
    let versions = PLACES.iter().flat_map(|place| {
        let inner = std::fs::read_dir(place).into_iter().flatten().flatten();
        let inner = inner.map(|entry| entry.path());
        inner.chain([PathBuf::from(place)])
    });
    let bins = versions.map(|version| version.join("bin"));
    let has = |bin: &PathBuf| PROGRAMS.iter().all(|program| bin.join(program).exists());
    bins.filter(has).max()
}

fn start(programs: &Path) -> String {
    let directory = tempfile::Builder::new().prefix("plyhouse-pg").tempdir();
    let directory = directory.expect("a directory").keep();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        chown(&directory, Some(NOBODY), Some(NOBODY)).expect("root may");
    }
    let user = format!("--reuid={NOBODY}");
    let group = format!("--regid={NOBODY}");
    let as_whom: &[&str] = if is_root {
        &[&user, &group, "--clear-groups"]
    } else {
        &[]
    };
    let initialised = Command::new("setpriv")
        .args(as_whom)
        .arg(programs.join("initdb"))
        .arg("-D")
        .arg(directory.join("data"))
        .args([
            "-U",
            "plyhouse",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ])
        .current_dir(&directory)
        .output()
        .expect("setpriv");
    assert!(initialised.status.success(), "{initialised:?}");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a port").port();
    let mut run = Command::new("setpriv");
    run.args(["--pdeathsig", "TERM"])
        .args(as_whom)
        .args(["sh", "-c", RUN])
        .args([&directory, programs])
        .arg(port.to_string())
        .current_dir(&directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // The signal comes when the thread ends that has started it, so that one waits for it.
    let (started, has_started) = channel();
    thread::spawn(move || {
        let mut child = run.spawn().expect("a shell");
        started.send(()).expect("somebody waits");
        child.wait()
    });
    has_started.recv().expect("started");
    let ready = || {
        Command::new(programs.join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
            .status()
            .expect("pg_isready")
            .success()
    };
    while !ready() {
        thread::yield_now();
    }
    format!("postgres://plyhouse@127.0.0.1:{port}")
}
