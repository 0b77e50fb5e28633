//! Where a database is, and how it is spoken to.

mod trust;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::trust::Trust;
use super::OpenError;

/// How the database ends a statement by itself, a little after this side has given it up; and a transaction
/// in the midst of which a server has stopped, before its lease ends and others want what it has locked.
const LIMITS: &str = "-c statement_timeout=6000 -c lock_timeout=5000 \
                      -c idle_in_transaction_session_timeout=3000";

/// After how long without an answer the system gives a connection up.
const DEAF_MAX: Duration = Duration::from_secs(5);

/// How long a host may take to be connected to. If it names several, there must be time for another.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// The address of a database, understood.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
}

impl Address {
    /// The address for whoever only looks at what is there: on a host that lets write nothing, too.
    pub(super) fn read_only(mut self) -> Self {
        let options = self.config.get_options().unwrap_or_default();
        let options = format!("{options} -c default_transaction_read_only=on");
        self.config
            .options(options)
            .target_session_attrs(TargetSessionAttrs::Any);
        self
    }
}

impl FromStr for Address {
    type Err = OpenError;

    fn from_str(text: &str) -> Result<Self, OpenError> {
        let (text, trust) = split_trust(text)?;
        let mut config: Config = text.parse().map_err(OpenError::Address)?;
        let options = config.get_options().unwrap_or_default();
        let options = format!("{LIMITS} {options}");
        config
            .application_name("plyhouse")
            .options(options)
            .keepalives_idle(DEAF_MAX)
            .tcp_user_timeout(DEAF_MAX)
            .connect_timeout(CONNECT_MAX);
        if config.get_hosts().len() > 1 {
            // In another order each time: so one that accepts and then says nothing keeps nobody from the
            // others.
            config
                .target_session_attrs(TargetSessionAttrs::ReadWrite)
                .load_balance_hosts(LoadBalanceHosts::Random);
        }
        let tls = MakeRustlsConnect::new(trust.config()?);
        Ok(Self { config, tls })
    }
}

/// What the library reads of an address, and who is to be trusted, which it does not.
fn split_trust(text: &str) -> Result<(String, Trust), OpenError> {
    let (place, parameters) = text.split_once('?').unwrap_or((text, ""));
    let (mut is_verified, mut authorities) = (false, None);
    let mut others = Vec::new();
    for parameter in parameters.split('&').filter(|one| !one.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", "verify-full")) => {
                is_verified = true;
                others.push("sslmode=require");
            }
            Some(("sslrootcert", path)) => {
                let path = percent_decode_str(path).decode_utf8_lossy();
                authorities = Some(PathBuf::from(path.as_ref()));
            }
            _ => others.push(parameter),
        }
    }
    let trust = match (is_verified, authorities) {
        (true, Some(path)) => Trust::Authorities(path),
        (true, None) => Trust::System,
        (false, None) => Trust::Anybody,
        (false, Some(_)) => return Err(OpenError::UnusedAuthorities),
    };
    Ok((format!("{place}?{}", others.join("&")), trust))
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut address = f.debug_struct("Address");
        // It leaves the password out.
        address
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
