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
const INSTALL_DIRS: [&str; 3] = ["/usr/lib/postgresql", "/usr/local/pgsql", "/usr/local"];

/// What is needed of them.
const REQUIRED_PROGRAMS: [&str; 4] = ["initdb", "postgres", "pg_isready", "pg_basebackup"];

/// The user of a server that is started by root, who must not run one.
const NOBODY_UID: u32 = 65_534;

/// Runs a server until it is told to end, or whoever has started it has gone, and removes what it had. That may be
/// told again by each thread of theirs that ends.
const RUN_SCRIPT: &str = r#"
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
pub(super) struct SharedServer {
    pub(super) port: u16,
    /// The certificate that it shows, which is of `localhost`.
    pub(super) certificate: PathBuf,
}

/// That server; `None` if PostgreSQL is not installed. It is started when this is asked first.
pub(super) fn shared_server() -> Option<&'static SharedServer> {
    static SHARED: OnceLock<Option<SharedServer>> = OnceLock::new();
    let start = || {
        let programs = PostgresPrograms::find()?;
        let directory = programs.init_database();
        let names = ["localhost".to_owned()];
        let generated = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let certificate =
            programs.write_private_file(&directory, "server.pem", &generated.cert.pem());
        let key = programs.write_private_file(
            &directory,
            "server.key",
            &generated.signing_key.serialize_pem(),
        );
        let options = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", certificate.display()),
            format!("ssl_key_file={}", key.display()),
        ];
        let Server { port, .. } = programs.start_server(&directory, &options);
        Some(SharedServer { port, certificate })
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
        let mut shell = self.shell.lock().expect("lock is not poisoned");
        let pid = i32::try_from(shell.id()).expect("a process");
        let pid = rustix::process::Pid::from_raw(pid).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)
            .expect("server is running");
        shell.wait().expect("child of this process");
    }
}

/// The directory of the programs of PostgreSQL.
#[derive(Clone, Debug)]
pub(super) struct PostgresPrograms(pub(super) PathBuf);

impl PostgresPrograms {
    /// Those that are installed; if there are none, that is said.
    pub(super) fn find() -> Option<Self> {
        let versions = INSTALL_DIRS.iter().flat_map(|directory| {
            let inner = std::fs::read_dir(directory).into_iter().flatten().flatten();
            let inner = inner.map(|entry| entry.path());
            inner.chain([PathBuf::from(directory)])
        });
        let bins = versions.map(|version| version.join("bin"));
        let has = |bin: &PathBuf| {
            REQUIRED_PROGRAMS
                .iter()
                .all(|program| bin.join(program).exists())
        };
        let found = bins.filter(has).max();
        if found.is_none() {
            let is_required = std::env::var("CLUSTER_TESTS").is_ok_and(|value| value == "require");
            assert!(!is_required, "PostgreSQL is not installed");
            // Past the harness, which keeps what a test that passes prints.
            let notice = b"\n!! NOT TESTED: PostgreSQL is not installed\n";
            std::io::stderr().write_all(notice).expect("stderr");
        }
        found.map(Self)
    }

    /// A directory with an empty database.
    pub(super) fn init_database(&self) -> PathBuf {
        let directory = create_directory();
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
    pub(super) fn init_standby(&self, server: &Server) -> PathBuf {
        let directory = create_directory();
        let primary = format!("host=127.0.0.1 port={} user=plyhouse", server.port);
        let options = ["-N", "-R", "-c", "fast", "-d", &primary];
        self.run(
            &directory,
            "pg_basebackup",
            &options,
            &directory.join("data"),
        );
        directory
    }

    fn run(&self, directory: &Path, program: &str, options: &[&str], data: &Path) {
        let output = Command::new("setpriv")
            .args(setpriv_user_args())
            .arg(self.0.join(program))
            .args(options)
            .arg("-D")
            .arg(data)
            .current_dir(directory)
            .output()
            .expect("setpriv");
        assert!(output.status.success(), "{output:?}");
    }

    /// Writes a file that the server alone may read.
    fn write_private_file(&self, directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))
            .expect("file is owned by this user");
        chown_to_server_user(&path);
        path
    }

    /// Starts a server on what is in this directory, and waits until it can be reached.
    pub(super) fn start_server(&self, directory: &Path, options: &[String]) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a port").port();
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM"])
            .args(setpriv_user_args())
            .args(["sh", "-c", RUN_SCRIPT])
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
            let shell = Arc::new(Mutex::new(command.spawn().expect("a shell")));
            started.send(shell).expect("receiver is alive");
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

fn create_directory() -> PathBuf {
    let directory = tempfile::Builder::new().prefix("plyhouse-pg").tempdir();
    let directory = directory.expect("a directory").keep();
    chown_to_server_user(&directory);
    directory
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives a file to the user of the server.
fn chown_to_server_user(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY_UID), Some(NOBODY_UID)).expect("root can change the owner");
    }
}

/// How `setpriv` is told whose the server is.
fn setpriv_user_args() -> Vec<String> {
    if is_root() {
        let user = format!("--reuid={NOBODY_UID}");
        let group = format!("--regid={NOBODY_UID}");
        vec![user, group, "--clear-groups".to_owned()]
    } else {
        Vec::new()
    }
}
