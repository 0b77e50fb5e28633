//! Tests of TLS connections to the database.

use super::*;

/// Returns whether the connection to this URL is encrypted, according to the database.
async fn is_encrypted(address: &str) -> Result<bool, OpenPostgresError> {
    let address: ConnectionUrl = address.parse()?;
    let connection = PgConnection::connect(&address).await?;
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let rows = connection.query(sql, &[]).await.expect("answered");
    Ok(rows[0].get(0))
}

#[tokio::test]
async fn connection_is_encrypted_unless_disabled() {
    let Some(address) = create_database().await else {
        return;
    };
    for (parameters, expected) in [
        ("", true),
        ("?", true),
        ("?sslmode=prefer", true),
        ("?sslmode=require", true),
        ("?sslmode=disable", false),
    ] {
        let found = is_encrypted(&format!("{address}{parameters}")).await;
        assert_eq!(found.expect(parameters), expected, "{parameters}");
    }
}

#[tokio::test]
async fn verify_full_checks_host_and_issuer() {
    let (Some(address), Some(server)) = (create_database().await, server::shared_server()) else {
        return;
    };
    let own = server.certificate.display();
    let others = tempfile::NamedTempFile::new().expect("a file");
    let generated = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let pem = generated.expect("a certificate").cert.pem();
    std::fs::write(others.path(), pem).expect("written");
    let others = others.path().display();

    let full = format!("{address}?sslmode=verify-full");
    assert!(
        is_encrypted(&format!("{full}&sslrootcert={own}"))
            .await
            .expect("certificate is trusted")
    );
    let store = format!("{full}&sslrootcert={own}");
    PostgresStore::open(&store, None).await.expect("opens");
    let by_number = full.replace("localhost", "127.0.0.1");
    for refused in [
        format!("{full}&sslrootcert={others}"),
        full.clone(),
        format!("{by_number}&sslrootcert={own}"),
    ] {
        let found = is_encrypted(&refused).await;
        assert!(
            matches!(found, Err(OpenPostgresError::Database(_))),
            "{refused}: {found:?}"
        );
    }
    let unreadable = is_encrypted(&format!("{full}&sslrootcert=/no%20file")).await;
    let Err(OpenPostgresError::UnreadableRootCertificates(path, _)) = unreadable else {
        panic!("{unreadable:?}")
    };
    assert_eq!(path, std::path::Path::new("/no file"));
    let unused = is_encrypted(&format!("{address}?sslrootcert={own}")).await;
    assert!(
        matches!(unused, Err(OpenPostgresError::UnusedRootCertificates)),
        "{unused:?}"
    );
    let unknown = is_encrypted(&format!("{address}?sslmode=verify-ca")).await;
    assert!(
        matches!(unknown, Err(OpenPostgresError::InvalidUrl(_))),
        "{unknown:?}"
    );
}
