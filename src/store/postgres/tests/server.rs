//! PostgreSQL servers for the tests of this process, which end with it.

use std::fs::Permissions;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Where Debian and others have the programs of the server.
const PLACES: [&str; 3] = ["/usr/lib/postgresql", "/usr/local/pgsql", "/usr/local"];

/// What is needed of them.
const PROGRAMS: [&str; 4] = ["initdb", "postgres", "pg_isready", "pg_basebackup"];

/// The user of a server that is started by root, who must not run one.
const NOBODY: u32 = 65_534;

/// Runs a server until it is told to end, or whoever has started it has gone, and removes what it had. That may be
/// told again by each thread of theirs that ends.
const RUN: &str = r#"
    trap 'kill -QUIT $server; wait $server; rm -rf "$0"' EXIT
    trap 'trap "" TERM; exit' TERM
    bin=$1 port=$2
    shift 2
    "$bin/postgres" -D "$0/data" -k "$0" -h 127.0.0.1 -p "$port" -c max_connections=300 "$@" \
        >"$0/log" 2>&1 &
    server=$!
    wait
"#;

/// The server that most tests share, each with a database of its own.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) port: u16,
    /// The certificate that it shows, which is of `localhost`.
    pub(super) certificate: PathBuf,
}

/// That server; `None` if PostgreSQL is not installed. It is started when this is asked first.
pub(super) fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();
    let start = || {
        let programs = Programs::find()?;
        let directory = programs.initialised();
        let names = ["localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let certificate = programs.write(&directory, "server.pem", &made.cert.pem());
        let key = programs.write(&directory, "server.key", &made.signing_key.serialize_pem());
        let options = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", certificate.display()),
            format!("ssl_key_file={}", key.display()),
        ];
        let Server { port, .. } = programs.serve(&directory, &options);
        Some(Shared { port, certificate })
    };
    SHARED.get_or_init(start).as_ref()
}

/// A server that runs.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) port: u16,
    shell: Arc<Mutex<Child>>,
}

impl Server {
    /// Ends it at once, as a crash would: it writes nothing more.
    pub(super) fn crash(&self) {
        let mut shell = self.shell.lock().expect("nobody panics with it");
        let pid = i32::try_from(shell.id()).expect("a process");
        let pid = rustix::process::Pid::from_raw(pid).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        shell.wait().expect("it was started here");
    }
}

/// The directory of the programs of PostgreSQL.
#[derive(Clone, Debug)]
pub(super) struct Programs(pub(super) PathBuf);

impl Programs {
    /// Those that are installed; if there are none, that is said.
    pub(super) fn find() -> Option<Self> {
        let versions = PLACES.iter().flat_map(|place| {
            let inner = std::fs::read_dir(place).into_iter().flatten().flatten();
            let inner = inner.map(|entry| entry.path());
            inner.chain([PathBuf::from(place)])
        });
        let bins = versions.map(|version| version.join("bin"));
        let has = |bin: &PathBuf| PROGRAMS.iter().all(|program| bin.join(program).exists());
        let found = bins.filter(has).max();
        if found.is_none() {
            let must = std::env::var("CLUSTER_TESTS").is_ok_and(|value| value == "require");
            assert!(!must, "PostgreSQL is not installed");
            // Past the harness, which keeps what a test that passes prints.
            let left_out = b"\n!! NOT TESTED: PostgreSQL is not installed\n";
            std::io::stderr().write_all(left_out).expect("stderr");
        }
        found.map(Self)
    }

    /// A directory with an empty database.
    pub(super) fn initialised(&self) -> PathBuf {
        let directory = directory();
        let options = [
            "-N",
            "-U",
            "plyhouse",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ];
        let data = directory.join("data");
        self.run(&directory, "initdb", &options, &data);
        directory
    }

    /// A directory with what a server has that runs, made to follow it.
    pub(super) fn following(&self, server: &Server) -> PathBuf {
        let directory = directory();
        let whom = format!("host=127.0.0.1 port={} user=plyhouse", server.port);
        let options = ["-N", "-R", "-c", "fast", "-d", &whom];
        self.run(
            &directory,
            "pg_basebackup",
            &options,
            &directory.join("data"),
        );
        directory
    }

    fn run(&self, directory: &Path, program: &str, options: &[&str], data: &Path) {
        let done = Command::new("setpriv")
            .args(as_whom())
            .arg(self.0.join(program))
            .args(options)
            .arg("-D")
            .arg(data)
            .current_dir(directory)
            .output()
            .expect("setpriv");
        assert!(done.status.success(), "{done:?}");
    }

    /// Writes a file that the server alone may read.
    fn write(&self, directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
        give_away(&path);
        path
    }

    /// Starts a server on what is in this directory, and waits until it can be reached.
    pub(super) fn serve(&self, directory: &Path, options: &[String]) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a port").port();
        let mut run = Command::new("setpriv");
        run.args(["--pdeathsig", "TERM"])
            .args(as_whom())
            .args(["sh", "-c", RUN])
            .args([directory, &self.0])
            .arg(port.to_string())
            .args(options.iter().flat_map(|option| ["-c", option]))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // The signal comes when the thread ends that has started it, so that one stays for it.
        let (started, has_started) = channel();
        thread::spawn(move || {
            let shell = Arc::new(Mutex::new(run.spawn().expect("a shell")));
            started.send(shell).expect("somebody waits");
            loop {
                thread::park();
            }
        });
        let shell = has_started.recv().expect("started");
        let ready = || {
            Command::new(self.0.join("pg_isready"))
                .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
                .status()
                .expect("pg_isready")
                .success()
        };
        while !ready() {
            thread::yield_now();
        }
        Server { port, shell }
    }
}

fn directory() -> PathBuf {
    let directory = tempfile::Builder::new().prefix("plyhouse-pg").tempdir();
    let directory = directory.expect("a directory").keep();
    give_away(&directory);
    directory
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives a file to the user of the server.
fn give_away(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    }
}

/// How `setpriv` is told whose the server is.
fn as_whom() -> Vec<String> {
    if is_root() {
        let user = format!("--reuid={NOBODY}");
        let group = format!("--regid={NOBODY}");
        vec![user, group, "--clear-groups".to_owned()]
    } else {
        Vec::new()
    }
}
