//! Verification of the database's TLS certificate.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plyhouse_protocol::strip_byte_order_mark;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use crate::postgres::OpenError;

/// Certificates that a connection to the database trusts.
#[derive(Debug)]
pub(crate) enum TlsRoots {
    /// Any certificate. The connection is encrypted, but the identity of the database is not
    /// verified. An active attacker could therefore impersonate the database.
    Unverified,
    /// Trusts certificates that match the host name and were issued by a certificate authority that
    /// the operating system trusts.
    System,
    /// Trusts certificates that match the host name and were issued by a certificate authority in
    /// this PEM file.
    CertificateFile(PathBuf),
}

impl TlsRoots {
    pub(crate) fn client_config(&self) -> Result<ClientConfig, OpenError> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default protocol versions");
        let roots = match self {
            Self::Unverified => {
                let verifier = Arc::new(AcceptAnyCertificate(provider));
                let config = config
                    .dangerous()
                    .with_custom_certificate_verifier(verifier);
                return Ok(config.with_no_client_auth());
            }
            Self::System => {
                let mut roots = RootCertStore::empty();
                // If the operating system provides no root certificates, every connection is
                // rejected.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                roots
            }
            Self::CertificateFile(path) => {
                let unreadable = |error| OpenError::UnreadableRootCertificates(path.clone(), error);
                read_roots(path).map_err(unreadable)?
            }
        };
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }
}

/// Reads the certificates of certificate authorities from a PEM file.
fn read_roots(path: &Path) -> Result<RootCertStore, pem::Error> {
    let mut roots = RootCertStore::empty();
    let pem = fs::read(path).map_err(pem::Error::Io)?;
    for certificate in CertificateDer::pem_slice_iter(strip_byte_order_mark(&pem)) {
        roots.add_parsable_certificates([certificate?]);
    }
    if roots.is_empty() {
        return Err(pem::Error::NoItemsFound);
    }
    Ok(roots)
}

/// Accepts every certificate, but verifies that the database holds the certificate's private key.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_file_may_begin_with_byte_order_mark() {
        let names = ["authority".to_owned()];
        let pem = rcgen::generate_simple_self_signed(names)
            .expect("created")
            .cert
            .pem();
        let folder = tempfile::tempdir().expect("created");
        let file = folder.path().join("ca.pem");
        for (text, expected) in [
            (pem.clone(), Some(1)),
            (format!("\u{feff}{pem}"), Some(1)),
            (format!("\u{feff}{pem}{pem}"), Some(2)),
            (format!("\u{feff}\r\n{pem}"), Some(1)),
            ("\u{feff}".to_owned(), None),
        ] {
            fs::write(&file, &text).expect("written");
            let read = read_roots(&file).ok().map(|roots| roots.len());
            assert_eq!(read, expected, "{text}");
        }
        assert!(matches!(
            read_roots(&folder.path().join("none")),
            Err(pem::Error::Io(_))
        ));
    }
}
