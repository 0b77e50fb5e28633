//! The server binary. It reads the options, opens the store, listens for connections and stops on a
//! signal. Its subcommands are in `commands`.

mod args;
mod cluster_join;
mod commands;
mod logs;
mod store_location;
mod systemd_notify;

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser};
use plyhouse_cli::prepare;
use plyhouse_server::{Server, Settings};
use plyhouse_tools::common_args::exit_with_usage_error;
use plyhouse_transport::{Tls, TlsError, Transport};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use self::args::Args;
use self::commands::{Command, single_dash_hints};

/// Maximum duration of a shutdown. Must be less than ten seconds, because Docker, for example,
/// kills a container that takes longer to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(9);

/// Number of the signal "file size limit exceeded" on Linux and macOS.
const SIGXFSZ: i32 = 25;

/// Replaces the allocator of glibc, which makes a system call for every few pages when several
/// threads allocate.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

// `CommandLine` must not have a doc comment. Otherwise, `--help` would show that comment instead of
// the doc comment of `Args`.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    server: Args,
}

fn main() -> ExitCode {
    let arguments = plyhouse_cli::arguments();
    let command = prepare(CommandLine::command(), &args::PROGRAM_HELP, &arguments);
    let parsed = command.try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| CommandLine::from_arg_matches(&matches));
    let CommandLine { command, server } = parsed.unwrap_or_else(|error| {
        let words = arguments.iter().skip(1);
        let words: Vec<_> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        single_dash_hints::exit::<CommandLine>(error, &words)
    });
    let done = match command {
        Some(command) => command.run(),
        None => serve(server),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A failed write to stderr is ignored, because the error cannot be reported anywhere
            // else.
            let _ = writeln!(std::io::stderr(), "plyhouse: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Raises the limit on open file descriptors to the maximum that the system permits. This maximum
/// is usually higher than the initial limit. Warns if the new limit is lower than the maximum
/// number of connections.
fn allow_descriptors(connections: usize) {
    let granted = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: granted,
        maximum: granted,
    };
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "cannot raise the limit on open files");
    }
    let current = getrlimit(Resource::Nofile).current;
    if let Some(descriptors) = current.filter(|&current| current < connections as u64) {
        tracing::warn!(
            descriptors,
            connections,
            "the limit on open files is lower than --connections-max"
        );
    }
}

/// Makes the kernel allocate memory in small pages of 4 KiB, although the allocator requests huge
/// pages of 2 MiB.
///
/// The thread that first touches a huge page clears the page and is blocked while it does so.
/// Clearing a huge page takes 0.1 ms, or 5 ms if a virtual machine has never used that memory
/// before. Small pages make bots at full strength search more slowly, because the transposition
/// tables are spread over many pages.
#[cfg(target_os = "linux")]
fn use_small_pages() {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::warn!(%error, "cannot disable huge pages; moves may be delayed by a few milliseconds");
    }
}

/// This function does nothing on systems other than Linux, because the allocator requests huge
/// pages only on Linux.
#[cfg(not(target_os = "linux"))]
const fn use_small_pages() {}

#[tokio::main]
async fn serve(args: Args) -> anyhow::Result<()> {
    logs::init_logging(&args.log, args.log_format);
    use_small_pages();
    // The signal handlers are installed before the server prints its address. The server therefore
    // receives every signal that is sent after the address was printed.
    let signals = Signals::listen()?;
    let data = args.store_location.data()?;
    let settings = args.settings;
    let has_accounts = settings.accounts.wire_name().is_some();
    if settings.trusted_user_header.is_some() && !has_accounts {
        exit_with_usage_error(
            "--trusted-user-header needs accounts: use --accounts open or --accounts invite",
        );
    }
    let tls = tls(&settings).context("cannot set up TLS")?;
    let certificates = Certificates::of(tls.clone())?;
    let connections = settings.connections_max;
    let (store, metrics, links) = args.cluster_args.open(&data, settings.keep_ended).await?;
    let (listener, address) = listen("--listen", &args.listen).await?;
    let admin = match &args.admin_listen {
        Some(address) => Some(listen("--admin-listen", address).await?),
        None => None,
    };
    let server = Server::start_with_links(settings, store, &metrics, links)
        .context("cannot start the search threads")?;
    let recovered = server
        .recover()
        .await
        .context("cannot read the matches from the store; run `plyhouse verify` for details")?;
    print_line(format_args!("listening on {address}"))?;
    if let Some((_, address)) = &admin {
        print_line(format_args!("metrics on {address}"))?;
    }
    print_url(tls.is_some(), address)?;
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = set.filter_map(|(name, _)| name.into_string().ok());
    for name in args::unknown_settings(&CommandLine::command(), names) {
        tracing::warn!(name, "unknown environment variable ignored");
    }
    data.warn_about_permissions();
    allow_descriptors(connections);
    tracing::info!(%data, live = recovered.live, dormant = recovered.hibernating,
        damaged = recovered.corrupt, "ready");
    let transport = Transport::with(server.clone(), tls, admin.is_none());
    systemd_notify::notify_ready();
    let admin = admin.map(|(listener, _)| listener);
    run(server, transport, listener, admin, signals, certificates).await
}

/// Serves until a signal arrives, and then shuts down in order.
async fn run(
    server: Server,
    transport: Transport,
    listener: TcpListener,
    admin: Option<TcpListener>,
    mut signals: Signals,
    mut certificates: Certificates,
) -> anyhow::Result<()> {
    // The admin listener keeps answering until the server has stopped.
    let over = CancellationToken::new();
    let watched = async {
        if let Some(admin) = admin {
            plyhouse_transport::serve_admin(server.clone(), admin, over.cancelled()).await;
        }
    };
    let served = async {
        tokio::select! {
            () = transport.serve(listener) => {}
            () = signals.wait_for_stop_signal() => {}
            () = systemd_notify::run_watchdog(&server) => {}
            () = certificates.reload_on_hangup() => {}
        }
        systemd_notify::notify_stopping();
        let deadline = Instant::now() + STOP_TIMEOUT;
        let stopped = timeout_at(deadline, server.stop()).await;
        over.cancel();
        (deadline, stopped)
    };
    let ((deadline, stopped), ()) = tokio::join!(served, watched);
    let ended = match stopped {
        Ok(()) => timeout_at(deadline, close_store((transport, server))).await,
        Err(too_late) => Err(too_late),
    };
    ended.unwrap_or_else(|_| {
        tracing::error!("shutdown timed out; exiting at once");
        // If the shutdown takes too long, the process exits immediately. An orderly exit could hang
        // like the shutdown, for example on a failing disk.
        std::process::exit(1)
    })
}

/// Prints the URL of the web page.
fn print_url(has_tls: bool, address: SocketAddr) -> anyhow::Result<()> {
    let scheme = if has_tls { "https" } else { "http" };
    let others = match address.ip().is_unspecified() {
        true => "; on other machines, use this machine's address",
        false => "",
    };
    print_line(format_args!(
        "open {scheme}://{} in a browser{others}",
        reachable(address)
    ))
}

/// Prints a line to stderr, independent of the log filter.
fn print_line(what: std::fmt::Arguments<'_>) -> anyhow::Result<()> {
    writeln!(std::io::stderr(), "{what}").context("cannot write to stderr")
}

/// Reads the certificate and the key if TLS is configured.
fn tls(settings: &Settings) -> Result<Option<Tls>, TlsError> {
    // Without a certificate and a key, TLS is disabled. The command line rejects a certificate
    // without a key, and a key without a certificate.
    let files = settings.tls_cert.clone().zip(settings.tls_key.clone());
    let tls = files.map(|(certificate, key)| Tls::read(certificate, key));
    tls.transpose()
}

/// Signals that the server handles.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    too_large: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?,
            // The handler for SIGXFSZ prevents the signal from ending the process. A write beyond
            // the file size limit then returns an error.
            too_large: signal(SignalKind::from_raw(SIGXFSZ)).context("cannot ignore SIGXFSZ")?,
        })
    }

    async fn wait_for_stop_signal(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return tracing::info!("stopping on SIGTERM"),
                _ = self.interrupt.recv() => return tracing::info!("stopping on SIGINT"),
                Some(()) = self.too_large.recv() => {
                    tracing::error!("a file has reached the file size limit (SIGXFSZ)");
                }
            }
        }
    }
}

/// Drops handles to the store on a blocking thread. When the last handle is dropped, the store
/// finishes its pending work and closes.
async fn close_store(handles: impl Send + 'static) -> anyhow::Result<()> {
    let closed = tokio::task::spawn_blocking(move || drop(handles));
    closed.await.context("the store failed while closing")
}

/// Returns the address that a browser on this machine must use if the server listens at `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Listens at the address that `option` specifies. Returns the listener and the address that the
/// system assigned, including the port.
async fn listen(option: &str, address: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let hint = bind_hint(error.kind()).map(|hint| format!("; {hint} with {option}"));
        let hint = hint.unwrap_or_default();
        anyhow::anyhow!("cannot listen on {address}: {error}{hint}")
    })?;
    let address = listener
        .local_addr()
        .context("cannot read the local address of the socket")?;
    Ok((listener, address))
}

/// Returns advice on a failure to listen.
const fn bind_hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::AddrInUse => Some("choose another port"),
        ErrorKind::AddrNotAvailable => Some("choose an address of this machine, or 0.0.0.0,"),
        ErrorKind::PermissionDenied => Some("choose a port above 1023"),
        _ => None,
    }
}

/// Holds the TLS certificate, which the server reloads on SIGHUP. Without TLS, the server does not
/// handle SIGHUP. The signal then ends the server, for example when the server's terminal is
/// closed.
struct Certificates(Option<(Tls, Signal)>);

impl Certificates {
    fn of(tls: Option<Tls>) -> anyhow::Result<Self> {
        let hangup = |tls| Ok((tls, signal(SignalKind::hangup())?));
        let listening: std::io::Result<_> = tls.map(hangup).transpose();
        Ok(Self(listening.context("cannot listen for SIGHUP")?))
    }

    /// Reloads the certificate on every SIGHUP. Never returns.
    async fn reload_on_hangup(&mut self) {
        let Some((tls, hangup)) = &mut self.0 else {
            return std::future::pending().await;
        };
        while hangup.recv().await.is_some() {
            match tls.reload().map_err(anyhow::Error::from) {
                Ok(()) => tracing::info!("TLS certificate reloaded on SIGHUP"),
                Err(error) => tracing::error!(
                    error = format!("{error:#}"),
                    "cannot reload the TLS certificate; keeping the old one"
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn no_command_starts_the_server() {
        let line = CommandLine::try_parse_from(["plyhouse", "--listen", "[::1]:1"]).unwrap();
        assert!(line.command.is_none());
        assert_eq!(line.server.listen, "[::1]:1");
    }

    #[test]
    fn wildcard_address_is_shown_as_loopback() {
        for (listens, opens) in [
            ("127.0.0.1:7878", "127.0.0.1:7878"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:7879", "[::1]:7879"),
            ("192.168.1.5:7878", "192.168.1.5:7878"),
        ] {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), opens);
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        args::PROGRAM_HELP.check(&CommandLine::command());
    }

    #[test]
    fn help_describes_the_server_first() {
        let arguments = ["plyhouse", "--help"].map(std::ffi::OsString::from);
        let command = prepare(CommandLine::command(), &args::PROGRAM_HELP, &arguments);
        let error = command.try_get_matches_from(&arguments).unwrap_err();
        let help = error.to_string();
        assert!(
            help.starts_with("Run a match server for two-player board games"),
            "{help}"
        );
        for part in ["--listen", "PLYHOUSE_LISTEN", "tournament", "ply play"] {
            assert!(help.contains(part), "{part}: {help}");
        }
    }
}
