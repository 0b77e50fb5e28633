//! PostgreSQL servers for the tests. The servers stop when the test process ends.

use std::fs::Permissions;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Directories where Debian and other systems install PostgreSQL.
const INSTALL_DIRS: [&str; 3] = ["/usr/lib/postgresql", "/usr/local/pgsql", "/usr/local"];

/// PostgreSQL programs that the tests use.
const REQUIRED_PROGRAMS: [&str; 4] = ["initdb", "postgres", "pg_isready", "pg_basebackup"];

/// Id of the user that runs PostgreSQL if root runs the tests. PostgreSQL refuses to run as root.
const NOBODY_UID: u32 = 65_534;

/// Script that runs a PostgreSQL server until SIGTERM arrives, and then deletes the server's
/// directory. The kernel also sends SIGTERM when the parent process ends. The kernel may send
/// SIGTERM once per thread of the parent process, so the script ignores repeated signals.
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

/// The PostgreSQL server that most tests share. Each of these tests creates its own database.
#[derive(Debug)]
pub(super) struct SharedServer {
    pub(super) port: u16,
    /// Path of the server's certificate, which is valid for `localhost`.
    pub(super) certificate: PathBuf,
}

/// Returns the shared server, and starts it on the first call. Returns `None` if PostgreSQL is not
/// installed.
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

/// A running PostgreSQL server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) port: u16,
    shell: Arc<Mutex<Child>>,
}

impl Server {
    /// Stops the server immediately, as in a crash. The server writes nothing more.
    pub(super) fn crash(&self) {
        let mut shell = self.shell.lock().expect("lock is not poisoned");
        let pid = i32::try_from(shell.id()).expect("a process");
        let pid = rustix::process::Pid::from_raw(pid).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)
            .expect("server is running");
        shell.wait().expect("child of this process");
    }
}

/// Directory of the PostgreSQL programs.
#[derive(Clone, Debug)]
pub(super) struct PostgresPrograms(pub(super) PathBuf);

impl PostgresPrograms {
    /// Finds the installed PostgreSQL programs. If there are none, prints a notice and returns
    /// `None`. Panics instead if the environment variable `CLUSTER_TESTS` is `require`.
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
            // The notice goes directly to stderr, because the test harness hides the output of
            // passing tests.
            let notice = b"\n!! NOT TESTED: PostgreSQL is not installed\n";
            std::io::stderr().write_all(notice).expect("stderr");
        }
        found.map(Self)
    }

    /// Creates a directory that contains the data of a new, empty database.
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

    /// Creates a directory with a standby copy of a running server.
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

    /// Writes a file that only the user who runs PostgreSQL may read.
    fn write_private_file(&self, directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))
            .expect("file is owned by this user");
        chown_to_server_user(&path);
        path
    }

    /// Starts a server on the data in this directory and waits until it accepts connections.
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
        // The kernel sends SIGTERM to the script when the thread that started the script ends. The
        // starting thread must therefore never end.
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

/// Changes the owner of a file to the user who runs PostgreSQL.
fn chown_to_server_user(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY_UID), Some(NOBODY_UID)).expect("root can change the owner");
    }
}

/// Returns the `setpriv` arguments that select the user who runs PostgreSQL.
fn setpriv_user_args() -> Vec<String> {
    if is_root() {
        let user = format!("--reuid={NOBODY_UID}");
        let group = format!("--regid={NOBODY_UID}");
        vec![user, group, "--clear-groups".to_owned()]
    } else {
        Vec::new()
    }
}
