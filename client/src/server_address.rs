//! Address of the server, and the certificate authority that is trusted for it.

use std::fs;
use std::sync::Arc;

use clap::Args;
use plyhouse_connection::{Connection, ConnectionError, TlsRoots};

use crate::args::parse_server_url;
use crate::sanitize::sanitize;

/// URL of a server on this machine with default settings.
pub(crate) const DEFAULT_SERVER_URL: &str = "ws://127.0.0.1:7878/ws";

/// Address of a server. If the user named a certificate authority, the client trusts that authority
/// for this server.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub(crate) struct ServerAddress {
    /// Server to connect to: HOST, HOST:PORT or a URL
    ///
    /// The default port is 7878 if only a host is given, 80 for ws:// URLs, and 443 for wss://
    /// URLs, which use TLS. The http:// or https:// address of the server's web page works too.
    #[arg(id = "server", long = "server", global = true, env = "PLYHOUSE_SERVER",
          default_value = DEFAULT_SERVER_URL, value_name = "URL", value_parser = parse_server_url)]
    pub(crate) url: String,

    /// PEM file of CA certificates to trust for wss:// servers
    ///
    /// Certificates of all other authorities are rejected. Without this option, ply trusts the
    /// authorities that the operating system trusts.
    #[arg(id = "ca", long = "ca", global = true, env = "PLY_CA", value_name = "FILE",
          value_parser = TrustedCa::read_file)]
    pub(crate) trusted_ca: Option<TrustedCa>,
}

/// Certificate authority that was read from a file.
#[derive(Clone, Debug)]
pub(crate) struct TrustedCa {
    file: Arc<str>,
    trust: TlsRoots,
}

impl TrustedCa {
    /// Reads the certificate authority from a file. The error message is shown to the user.
    pub(crate) fn read_file(file: &str) -> Result<Self, String> {
        let pem = fs::read(file).map_err(|error| error.to_string())?;
        let trust = TlsRoots::from_pem(&pem).map_err(|error| error.to_string())?;
        let file = file.into();
        Ok(Self { file, trust })
    }
}

impl ServerAddress {
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectionError> {
        match &self.trusted_ca {
            Some(authority) => Connection::open_with_roots(&self.url, &authority.trust).await,
            None => Connection::open(&self.url).await,
        }
    }

    /// Returns the URL of a web page of the server, given the path of the page. Returns `None` if
    /// the WebSocket URL of the server does not end with `/ws`.
    pub(crate) fn web_url(&self, path: &str) -> Option<String> {
        let base = self.url.strip_suffix("/ws")?;
        let rest = base.strip_prefix("ws")?;
        Some(format!("http{rest}{path}"))
    }

    /// Returns the command-line options that select this server. Default values are omitted.
    pub(crate) fn command_options(&self) -> String {
        let mut option = String::new();
        if self.url != DEFAULT_SERVER_URL {
            option.push_str(&format!(" --server {}", shell_quote(&self.url)));
        }
        if let Some(authority) = &self.trusted_ca {
            option.push_str(&format!(" --ca {}", shell_quote(&authority.file)));
        }
        option
    }
}

/// Quotes a word for a shell, if necessary.
fn shell_quote(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-._~:/%@+,=".contains(c);
    if word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", sanitize(word).replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_options_and_web_url_follow_server_address() {
        let address = |url: &str, trusted_ca| ServerAddress {
            url: url.to_owned(),
            trusted_ca,
        };
        let check = |url: &str, authority: Option<&str>, expect: &str| {
            let authority = authority.map(|file| TrustedCa {
                file: file.into(),
                trust: TlsRoots::default(),
            });
            assert_eq!(address(url, authority).command_options(), expect);
        };
        check(DEFAULT_SERVER_URL, None, "");
        check("wss://h/ws", None, " --server wss://h/ws");
        let page = |url: &str| address(url, None).web_url("/m/x");
        assert_eq!(
            page(DEFAULT_SERVER_URL).as_deref(),
            Some("http://127.0.0.1:7878/m/x")
        );
        assert_eq!(
            page("wss://h/house/ws").as_deref(),
            Some("https://h/house/m/x")
        );
        assert_eq!(page("ws://h/elsewhere"), None);
        check("ws://h/a'b?", None, r" --server 'ws://h/a'\''b?'");
        let both = " --server wss://h/ws --ca '/my files/ca.pem'";
        check("wss://h/ws", Some("/my files/ca.pem"), both);
    }
}
