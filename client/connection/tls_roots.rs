//! TLS configuration of a client and the certificate authorities that it trusts.

use std::sync::{Arc, LazyLock};

use plyhouse_protocol::strip_byte_order_mark;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{CertificateError, ClientConfig, OtherError, RootCertStore};

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
#[error("no certificates in PEM")]
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

/// Returns a readable reason why a certificate is not trusted.
pub(super) fn rejection_reason(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "it is signed by nobody who is trusted here".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is another server's".to_owned()
        }
        // Message of the TLS library, for example `CaUsedAsEndEntity`.
        CertificateError::Other(OtherError(why)) => why.to_string(),
        // All other reasons are rare, so the TLS library's own message is sufficient.
        other => other.to_string(),
    }
}
