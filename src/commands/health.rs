//! `plyhouse health`: checks whether a server is healthy.

use std::time::Duration;

use anyhow::{Context, bail};
use axum::http::Uri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Maximum duration of the health check. A few seconds are enough, because container runtimes
/// repeat a health check at intervals.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum number of bytes read from the response. The check uses only the status line and a short
/// error message.
const RESPONSE_BYTES_MAX: u64 = 4096;

/// Check whether a running server is healthy
///
/// For container health checks and scripts. Exits with status 1 if the server is unhealthy or does
/// not respond within three seconds. The health check speaks plain HTTP only: if the server uses
/// TLS, pass the URL of its --admin-listen address.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// http:// URL to check; use /readyz to check whether the server accepts clients
    #[arg(
        long,
        env = "PLYHOUSE_HEALTH_URL",
        default_value = "http://127.0.0.1:7878/healthz",
        value_parser = url
    )]
    url: Uri,
}

impl Args {
    /// Requests the health of the server. Returns an error unless the HTTP status is 200.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let runtime = super::current_thread_runtime()?;
        let answer = runtime.block_on(async { timeout(TIMEOUT, request_health(&self.url)).await });
        // `shutdown_background` does not wait for a DNS lookup that is still running.
        runtime.shutdown_background();
        let answer = answer.map_err(|_| anyhow::anyhow!("timed out after {} s", TIMEOUT.as_secs()));
        let answer = answer.flatten();
        let answer = answer.with_context(|| format!("no response from {}", self.url))?;
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        match head.split(' ').nth(1) {
            Some("200") => Ok(()),
            Some(status) => bail!("{} returned {status}: {}", self.url, text.trim()),
            None => bail!("{} did not return an HTTP response", self.url),
        }
    }
}

/// Sends the HTTP request and returns the beginning of the response.
async fn request_health(url: &Uri) -> anyhow::Result<String> {
    let authority = url.authority().context("no host")?;
    let host = authority.host().trim_matches(['[', ']']);
    let port = authority.port_u16().unwrap_or(80);
    let mut stream = TcpStream::connect((host, port)).await?;
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream
        .take(RESPONSE_BYTES_MAX)
        .read_to_end(&mut answer)
        .await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Error for an `https` URL.
const NOT_PLAIN_HTTP: &str = "the health check speaks plain HTTP only: use the server's http:// \
    address, or the address of --admin-listen if the server uses TLS";

fn url(text: &str) -> Result<Uri, String> {
    let url: Option<Uri> = text.parse().ok();
    let url = url.filter(|url| url.authority().is_some());
    let scheme = url.as_ref().and_then(Uri::scheme_str);
    let scheme = scheme.map(str::to_ascii_lowercase);
    match (url, scheme.as_deref()) {
        (Some(url), Some("http")) => Ok(url),
        (Some(_), Some("https")) => Err(NOT_PLAIN_HTTP.to_owned()),
        _ => Err("expected an http:// URL, such as http://127.0.0.1:7878/healthz".to_owned()),
    }
}
