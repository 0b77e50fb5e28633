//! Parses the URL of a database, including the TLS parameters.

mod tls_roots;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::tls_roots::TlsRoots;
use super::OpenError;

/// Timeouts that the database enforces. The database cancels a statement shortly after this program
/// has stopped waiting for the result. If a server stops during a transaction, the database rolls
/// the transaction back and releases its row locks. The rollback happens before the server's lease
/// expires and other servers need the locked rows.
const SERVER_OPTIONS: &str = "-c statement_timeout=6000 -c lock_timeout=5000 \
                      -c idle_in_transaction_session_timeout=3000";

/// Timeout for sent data that the database does not acknowledge. After this time, the operating
/// system closes the connection. The operating system also sends the first TCP keepalive probe
/// after a connection has been idle for this time.
const TCP_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time to connect to one host. This limit is shorter than the time limit for the whole
/// connection attempt. If the URL names several hosts, enough time remains to try another host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Parsed URL of a database.
#[derive(Clone)]
pub(super) struct ConnectionUrl {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
}

impl ConnectionUrl {
    /// Returns the URL for read-only access. A connection to this URL may also use a read-only
    /// standby.
    pub(super) fn into_read_only(mut self) -> Self {
        let options = self.config.get_options().unwrap_or_default();
        let options = format!("{options} -c default_transaction_read_only=on");
        self.config
            .options(options)
            .target_session_attrs(TargetSessionAttrs::Any);
        self
    }
}

impl FromStr for ConnectionUrl {
    type Err = OpenError;

    fn from_str(text: &str) -> Result<Self, OpenError> {
        let (text, tls_roots) = split_tls_parameters(text)?;
        let mut config: Config = text.parse().map_err(OpenError::InvalidUrl)?;
        let options = config.get_options().unwrap_or_default();
        let options = format!("{SERVER_OPTIONS} {options}");
        config
            .application_name("plyhouse")
            .options(options)
            .keepalives_idle(TCP_TIMEOUT)
            .tcp_user_timeout(TCP_TIMEOUT)
            .connect_timeout(CONNECT_TIMEOUT);
        if config.get_hosts().len() > 1 {
            // The hosts are tried in random order. In a fixed order, a host that accepts
            // connections but does not respond could block access to the other hosts.
            config
                .target_session_attrs(TargetSessionAttrs::ReadWrite)
                .load_balance_hosts(LoadBalanceHosts::Random);
        }
        let tls = MakeRustlsConnect::new(tls_roots.client_config()?);
        Ok(Self { config, tls })
    }
}

/// Removes the parameters for TLS verification from a URL and returns them separately, because
/// `tokio_postgres` does not support them.
fn split_tls_parameters(text: &str) -> Result<(String, TlsRoots), OpenError> {
    let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
    let (mut is_verified, mut root_certificates) = (false, None);
    let mut remaining = Vec::new();
    for parameter in parameters.split('&').filter(|one| !one.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", "verify-full")) => {
                is_verified = true;
                remaining.push("sslmode=require");
            }
            Some(("sslrootcert", path)) => {
                let path = percent_decode_str(path).decode_utf8_lossy();
                root_certificates = Some(PathBuf::from(path.as_ref()));
            }
            _ => remaining.push(parameter),
        }
    }
    let tls_roots = match (is_verified, root_certificates) {
        (true, Some(path)) => TlsRoots::CertificateFile(path),
        (true, None) => TlsRoots::System,
        (false, None) => TlsRoots::Unverified,
        (false, Some(_)) => return Err(OpenError::UnusedRootCertificates),
    };
    Ok((format!("{base}?{}", remaining.join("&")), tls_roots))
}

impl fmt::Debug for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("ConnectionUrl");
        // `Config` omits the password from its debug output.
        output.field("config", &self.config).finish_non_exhaustive()
    }
}
