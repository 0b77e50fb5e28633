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

/// Asks a running server whether it is well, and fails with status 1 if it is not or does not answer.
///
/// For the checks of containers and scripts. It takes three seconds at most and speaks plain HTTP: a
/// server that has TLS on its port is asked on that of `--admin-listen`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is asked. `/readyz` in place of `/healthz` asks whether clients are to be sent there
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
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.context("cannot start")?;
        let answer = runtime.block_on(async { timeout(TIMEOUT, request_health(&self.url)).await });
        // `shutdown_background` does not wait for a DNS lookup that is still running.
        runtime.shutdown_background();
        let answer = answer.map_err(|_| anyhow::anyhow!("no answer in time"));
        let answer = answer.flatten();
        let answer = answer.with_context(|| format!("{} does not answer", self.url))?;
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        match head.split(' ').nth(1) {
            Some("200") => Ok(()),
            Some(status) => bail!("{} answers {status}: {}", self.url, text.trim()),
            None => bail!("{} answers with something else than HTTP", self.url),
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

fn url(text: &str) -> Result<Uri, String> {
    let url: Option<Uri> = text.parse().ok();
    url.filter(|url| {
        url.scheme_str()
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"))
            && url.authority().is_some()
    })
    .ok_or_else(|| "a URL is needed such as http://127.0.0.1:7878/healthz".to_owned())
}
