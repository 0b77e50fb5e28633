//! TLS for a server without a proxy in front of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use plyhouse_protocol::strip_byte_order_mark;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// ALPN name of HTTP/2 (RFC 9113, section 3.2).
const HTTP_2: &[u8] = b"h2";

/// ALPN name of HTTP/1.1, which also serves clients without ALPN. WebSockets require HTTP/1.1. For
/// a WebSocket, a browser opens a separate connection that offers only HTTP/1.1.
const HTTP_1_1: &[u8] = b"http/1.1";

/// Response to a client that sends plain HTTP. The response is also plain HTTP, so that the client
/// can read it.
const TLS_REQUIRED_RESPONSE: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 45\r\nConnection: close\r\n\r\n\
    this port speaks TLS: use https:// or wss://\n";

/// Maximum number of bytes of a plain HTTP request that are read and discarded. Closing a socket
/// with unread input resets the connection, and the reset could overtake the response.
const DISCARDED_BYTES_MAX: usize = super::HEAD_BYTES_MAX;

/// Certificate chain and private key. Clones share the certificate and key, including reloaded
/// ones.
#[derive(Clone, Debug)]
pub struct Tls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    certificate: PathBuf,
    key: PathBuf,
    /// TLS configuration for new connections. An established connection keeps the configuration
    /// that was current when the connection started.
    config: RwLock<Arc<ServerConfig>>,
}

/// Error: the certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file does not exist or cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        /// Error reported by the operating system.
        source: io::Error,
    },
    /// The file contains no valid certificate.
    #[error("{} contains no PEM certificates", .0.display())]
    NoCertificate(PathBuf),
    /// The file contains no valid private key.
    #[error("{} contains no PEM private key", .0.display())]
    NoKey(PathBuf),
    /// The certificate and key have an unsupported type or do not match.
    #[error("invalid certificate or key")]
    Unusable(#[from] rustls::Error),
}

impl Tls {
    /// Reads a certificate chain, server certificate first, and the private key, both in PEM.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or its contents cannot be used.
    pub fn read(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let config = RwLock::new(read(&certificate, &key)?);
        Ok(Self(Arc::new(Inner {
            certificate,
            key,
            config,
        })))
    }

    /// Reloads both files for new connections.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read`](Self::read). The previous certificate then remains in
    /// use.
    pub fn reload(&self) -> Result<(), TlsError> {
        let config = read(&self.0.certificate, &self.0.key)?;
        *self.0.config.write() = config;
        Ok(())
    }

    fn acceptor(&self) -> TlsAcceptor {
        let config = self.0.config.read();
        TlsAcceptor::from(Arc::clone(&config))
    }

    /// Performs the TLS handshake. If the client speaks plain HTTP, sends an error response and
    /// returns `None`. This function does not limit its own duration, so the caller must set a
    /// timeout.
    pub(super) async fn accept_tls(
        &self,
        stream: TcpStream,
    ) -> io::Result<Option<TlsStream<TcpStream>>> {
        let mut first = [0];
        stream.peek(&mut first).await?;
        // A TLS handshake starts with the byte 0x16, and an HTTP request starts with a method name.
        if first[0].is_ascii_uppercase() {
            refuse_plain_http(stream).await?;
            return Ok(None);
        }
        self.acceptor().accept(stream).await.map(Some)
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let contents = |path: &Path| {
        fs::read(path).map_err(|source| TlsError::Unreadable {
            path: path.to_owned(),
            source,
        })
    };
    let chain = contents(certificate)?;
    let chain = CertificateDer::pem_slice_iter(strip_byte_order_mark(&chain))
        .collect::<Result<Vec<_>, _>>();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| TlsError::NoCertificate(certificate.to_owned()))?;
    // The error omits its cause, because the cause might quote the private key.
    let secret = contents(key)?;
    let secret = PrivateKeyDer::from_pem_slice(strip_byte_order_mark(&secret));
    let secret = secret.map_err(|_| TlsError::NoKey(key.to_owned()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, secret)?;
    // The server chooses the first of these protocols that the client also offers.
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1_1.to_vec()];
    Ok(Arc::new(config))
}

/// Returns whether the TLS handshake selected HTTP/2.
pub(super) fn is_for_http2(stream: &TlsStream<TcpStream>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP_2)
}

async fn refuse_plain_http(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(TLS_REQUIRED_RESPONSE).await?;
    stream.shutdown().await?;
    let mut forgotten = [0; 1024];
    let mut left = DISCARDED_BYTES_MAX;
    while left > 0 {
        match stream.read(&mut forgotten).await? {
            0 => break,
            read => left = left.saturating_sub(read),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};

    use super::*;

    /// Writes a certificate and a key to files and checks the result of reading these files.
    fn check(certificate: &str, key: &str, expect: Result<(), &str>) {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        fs::write(&paths[0], certificate).unwrap();
        fs::write(&paths[1], key).unwrap();
        let [certificate, key] = paths;
        let read = Tls::read(certificate, key).map(|_| ());
        let result = read.map_err(|error| {
            // Formats the error with its source, as the program's `main` function does.
            match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            }
        });
        match expect {
            Ok(()) => assert_eq!(result, Ok(())),
            Err(part) => assert!(
                result.as_ref().is_err_and(|message| message.contains(part)),
                "{result:?}"
            ),
        }
    }

    #[test]
    fn certificate_with_its_key_is_accepted() {
        let names = ["localhost".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let (cert, key) = (cert.pem(), signing_key.serialize_pem());
        let stranger = KeyPair::generate().unwrap().serialize_pem();
        check(&cert, &key, Ok(()));
        check(&(cert.clone() + &cert), &key, Ok(()));
        // Some tools write the certificate and the key into one file.
        check(&(cert.clone() + &key), &(key.clone() + &cert), Ok(()));
        // Some editors write a byte-order mark at the start of a file.
        let marked = ["\u{feff}".to_owned() + &cert, "\u{feff}".to_owned() + &key];
        check(&marked[0], &marked[1], Ok(()));
        check(&marked[0], &key, Ok(()));
        check(&cert, &marked[1], Ok(()));
        check(
            "\u{feff}",
            &key,
            Err("cert.pem contains no PEM certificates"),
        );
        check(&key, &key, Err("cert.pem contains no PEM certificates"));
        check("", &key, Err("cert.pem contains no PEM certificates"));
        check(&cert, &cert, Err("key.pem contains no PEM private key"));
        check(
            &cert,
            &stranger,
            Err("invalid certificate or key: keys may not be consistent"),
        );
        let half = &cert[..cert.len() / 2];
        check(half, &key, Err("cert.pem contains no PEM certificates"));
    }

    #[test]
    fn missing_file_is_named_in_the_error() {
        let nowhere = PathBuf::from("/nonexistent/cert.pem");
        let error = Tls::read(nowhere.clone(), nowhere).unwrap_err();
        assert_eq!(error.to_string(), "cannot read /nonexistent/cert.pem");
    }

    /// The `Content-Length` in the response is a literal and must match the body.
    #[test]
    fn plain_http_response_is_complete() {
        let text = std::str::from_utf8(TLS_REQUIRED_RESPONSE).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    }
}
