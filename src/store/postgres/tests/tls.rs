//! How a database is spoken to.

use super::*;

/// What the database says of a connection to this address: whether it is encrypted.
async fn is_encrypted(address: &str) -> Result<bool, OpenPostgresError> {
    let address: Address = address.parse()?;
    let session = Session::connect(&address).await?;
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let row = session.query_opt(sql, &[]).await.expect("answered");
    Ok(row.expect("there").get(0))
}

/// What is sent is encrypted where the database offers it, and unless it must not be.
#[tokio::test]
async fn what_is_sent_is_encrypted() {
    let Some(address) = database().await else {
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

/// With `verify-full` the certificate has to be of the host, and signed by who is trusted.
#[tokio::test]
async fn a_certificate_is_verified() {
    let (Some(address), Some(server)) = (database().await, server::shared()) else {
        return;
    };
    let own = server.certificate.display();
    let others = tempfile::NamedTempFile::new().expect("a file");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let pem = made.expect("a certificate").cert.pem();
    std::fs::write(others.path(), pem).expect("written");
    let others = others.path().display();

    let full = format!("{address}?sslmode=verify-full");
    assert!(
        is_encrypted(&format!("{full}&sslrootcert={own}"))
            .await
            .expect("it is trusted")
    );
    let store = format!("{full}&sslrootcert={own}");
    PostgresStore::open(&store, None).await.expect("it opens");
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
    let unread = is_encrypted(&format!("{full}&sslrootcert=/no%20file")).await;
    let Err(OpenPostgresError::Authorities(path, _)) = unread else {
        panic!("{unread:?}")
    };
    assert_eq!(path, std::path::Path::new("/no file"));
    let unused = is_encrypted(&format!("{address}?sslrootcert={own}")).await;
    assert!(
        matches!(unused, Err(OpenPostgresError::UnusedAuthorities)),
        "{unused:?}"
    );
    let unknown = is_encrypted(&format!("{address}?sslmode=verify-ca")).await;
    assert!(
        matches!(unknown, Err(OpenPostgresError::Address(_))),
        "{unknown:?}"
    );
}
