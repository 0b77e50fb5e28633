//! TLS configuration of a client and the certificate authorities that it trusts.

use std::sync::{Arc, LazyLock};

use plyhouse_protocol::strip_byte_order_mark;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{CertificateError, ClientConfig, Error, RootCertStore};

/// Certificate authorities that a client trusts for TLS connections.
#[derive(Clone, Debug, Default)]
pub struct TlsRoots(RootSource);

#[derive(Clone, Debug, Default)]
enum RootSource {
    /// Authorities that the operating system trusts.
    #[default]
    System,
    Custom(Arc<ClientConfig>),
}

/// Error returned when PEM text contains no certificate or an invalid certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("missing or invalid PEM certificate")]
pub struct InvalidPem;

/// TLS configuration that trusts the authorities of the operating system. The client reads the
/// authorities on first use, because they may be stored in several hundred files. If the operating
/// system has no authorities, the client trusts no server.
static SYSTEM_CONFIG: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    build_client_config(roots)
});

impl TlsRoots {
    /// Trusts only the given authorities, which are encoded in PEM.
    ///
    /// # Errors
    ///
    /// Returns an error if the PEM text contains no certificate or an invalid certificate.
    pub fn from_pem(pem: &[u8]) -> Result<Self, InvalidPem> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(strip_byte_order_mark(pem)) {
            let certificate = certificate.map_err(|_| InvalidPem)?;
            roots.add(certificate).map_err(|_| InvalidPem)?;
        }
        if roots.is_empty() {
            return Err(InvalidPem);
        }
        Ok(Self(RootSource::Custom(build_client_config(roots))))
    }

    pub(super) fn client_config(&self) -> Arc<ClientConfig> {
        match &self.0 {
            RootSource::System => Arc::clone(&SYSTEM_CONFIG),
            RootSource::Custom(config) => Arc::clone(config),
        }
    }
}

fn build_client_config(roots: RootCertStore) -> Arc<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default TLS versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

/// Returns a readable reason why a certificate is not trusted. The TLS library formats most reasons
/// as Rust debug values.
pub(super) fn rejection_reason(error: &CertificateError) -> String {
    let reason = match error {
        CertificateError::UnknownIssuer => "unknown issuer",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "issued for another host"
        }
        CertificateError::BadEncoding => "invalid encoding",
        CertificateError::BadSignature => "invalid signature",
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "unsupported signature algorithm"
        }
        CertificateError::UnhandledCriticalExtension => "unsupported critical extension",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "not issued for servers"
        }
        CertificateError::Revoked => "revoked",
        CertificateError::Other(error) => return other_rejection_reason(&error.to_string()),
        other => return variant_name_to_words(&other.to_string()),
    };
    reason.to_owned()
}

/// Returns a readable reason for an error that [`CertificateError`] has no variant for. `text` is
/// the text of the TLS library, usually the name of an enum variant.
fn other_rejection_reason(text: &str) -> String {
    match text {
        "CaUsedAsEndEntity" => "a CA certificate cannot be used as a server certificate".to_owned(),
        other => variant_name_to_words(other),
    }
}

/// Returns a readable text for a TLS error that is not about the server's certificate.
pub(super) fn handshake_error_text(error: &Error) -> String {
    match error {
        Error::AlertReceived(alert) => format!(
            "the server refused the TLS connection: {}",
            variant_name_to_words(&format!("{alert:?}"))
        ),
        Error::PeerIncompatible(_) => {
            "the server uses TLS versions or ciphers that are not supported".to_owned()
        }
        other => other.to_string(),
    }
}

/// Converts the name of an enum variant to words: `HandshakeFailure` becomes `handshake failure`.
/// Returns any other text unchanged.
fn variant_name_to_words(name: &str) -> String {
    if !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return name.to_owned();
    }
    let mut words = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use tokio_rustls::rustls::AlertDescription;
    use tokio_rustls::rustls::client::WebPkiServerVerifier;
    use tokio_rustls::rustls::client::danger::ServerCertVerifier as _;
    use tokio_rustls::rustls::pki_types::{ServerName, UnixTime};
    use tokio_tungstenite::tungstenite;

    use super::*;
    use crate::ConnectionError;

    /// Self-signed CA certificate for `games.example`, valid from November 2026 to 2126. OpenSSL
    /// creates such certificates by default.
    const CA_CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBojCCAUegAwIBAgIULNmGcno7kvYOQuix1T3gPZ0GRjQwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNZ2FtZXMuZXhhbXBsZTAgFw0yNjExMjgwMjAyMzRaGA8yMTI2
MTEwNDAyMDIzNFowGDEWMBQGA1UEAwwNZ2FtZXMuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABFV1ERRIsOZLUuT1VIGoFqQm9xmkRpW9XtovYSgIiMQJ
XojwHOxeiG9VWFIh94vgFBzx8tuO8tiWUPSJLkYVO6ajbTBrMB0GA1UdDgQWBBSg
/EwN07j6Zltq3t96Zf9t2eXnezAfBgNVHSMEGDAWgBSg/EwN07j6Zltq3t96Zf9t
2eXnezAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDWdhbWVzLmV4YW1wbGUw
CgYIKoZIzj0EAwIDSQAwRgIhAMZ80YHOxUN6qVqYA9yHcGRIGVbVd/+6MNzI4DUA
jOElAiEAzDDbSxRa1azadoXQzTXvjaPY3w3hqJaqiAsT285xMkk=
-----END CERTIFICATE-----
";

    /// Returns the text of the connection error that this TLS error causes.
    fn connection_error_text(error: Error) -> String {
        let error = tungstenite::Error::Io(io::Error::other(error));
        ConnectionError::from(error).to_string()
    }

    #[test]
    fn ca_certificate_as_server_certificate_is_explained() {
        let certificate =
            CertificateDer::from_pem_slice(CA_CERTIFICATE.as_bytes()).expect("valid PEM");
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("valid certificate");
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .expect("the root store is not empty");
        let name = ServerName::try_from("games.example").expect("valid host name");
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1_900_000_000));
        let error = verifier
            .verify_server_cert(&certificate, &[], &name, &[], now)
            .expect_err("the certificate is rejected");
        let reason = "a CA certificate cannot be used as a server certificate";
        assert_eq!(
            connection_error_text(error),
            format!("the server's certificate is not trusted: {reason}")
        );
    }

    #[test]
    fn tls_errors_are_not_printed_as_debug_values() {
        let certificate_error = |error| connection_error_text(Error::InvalidCertificate(error));
        for (text, expect) in [
            (
                certificate_error(CertificateError::BadSignature),
                "the server's certificate is not trusted: invalid signature",
            ),
            (
                certificate_error(CertificateError::ApplicationVerificationFailure),
                "the server's certificate is not trusted: application verification failure",
            ),
            (
                connection_error_text(Error::AlertReceived(AlertDescription::HandshakeFailure)),
                "the server refused the TLS connection: handshake failure",
            ),
        ] {
            assert_eq!(text, expect);
        }
    }
}
