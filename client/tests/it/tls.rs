//! Tests of `ply` with servers that use TLS.

use std::path::PathBuf;

use plyhouse_connection::TlsRoots;
use plyhouse_transport::Tls;

use crate::real_server::{PlyProcess, RealServer};
use crate::scripted_server::PlyHome;

/// Starts a server with a self-signed certificate for `127.0.0.1`. Returns the server and the path
/// of the certificate.
fn start_tls_server(home: &PlyHome) -> (RealServer, PathBuf) {
    let generated = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| home.path().join(name));
    std::fs::write(&certificate, generated.cert.pem()).unwrap();
    std::fs::write(&key, generated.signing_key.serialize_pem()).unwrap();
    let tls = Tls::read(certificate.clone(), key).unwrap();
    (RealServer::start_with_tls(tls), certificate)
}

/// The printed `ply join` command contains everything that the other player needs.
#[test]
fn two_players_play_over_tls() {
    let home = PlyHome::new();
    let (server, authority) = start_tls_server(&home);
    let authority = authority.to_str().unwrap();
    let open = ["play", "--open", "--name", "ann", "--ca", authority];
    let mut ann = PlyProcess::spawn(&home, &server, &open);
    let command = ann.wait_for_line("ply join ");
    let words: Vec<&str> = command.split_whitespace().collect();
    let join = words.iter().position(|&word| word == "join").unwrap();
    let expected = [
        &words[join..join + 2],
        &["--server", &server.url, "--ca", authority],
    ]
    .concat();
    assert_eq!(words[join..], expected);
    let mut bob = PlyProcess::spawn(&home, &server, &words[join..]);
    bob.wait_for_line("ann (x) to move.");
    ann.type_lines("a1\nb1\nc1\n");
    bob.type_lines("a2\nb2\n");
    assert_eq!(ann.wait_for_exit("You win!"), Some(0));
    assert_eq!(bob.wait_for_exit("You lose."), Some(0));
}

#[test]
fn untrusted_server_and_scheme_mismatch_are_rejected() {
    let home = PlyHome::new();
    let (server, authority) = start_tls_server(&home);
    let reason = "certificate is not trusted: unknown issuer";
    home.run(&server.url, &["list"], "")
        .assert_output(3, &[reason, "authority's certificate with --ca"]);

    let authority = authority.to_str().unwrap();
    home.run(&server.url, &["list", "--ca", authority], "")
        .assert_output(0, &[]);
    let plain = RealServer::start();
    let wrong_url = plain.url.replace("ws://", "wss://");
    home.run(&wrong_url, &["list", "--ca", authority], "")
        .assert_output(
            3,
            &[
                "the server does not use TLS",
                "For a server without TLS, use ws://",
            ],
        );
    let wrong_url = server.url.replace("wss://", "ws://");
    home.run(&wrong_url, &["list"], "").assert_output(
        3,
        &[
            "this port speaks TLS",
            "this port speaks TLS: use https:// or wss://",
        ],
    );
}

#[test]
fn ca_file_without_certificates_is_usage_error() {
    let home = PlyHome::new();
    let empty = home.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let url = "wss://127.0.0.1:1/ws";
    let run = |file: &str| home.run(url, &["list", "--ca", file], "");
    run(empty.to_str().unwrap()).assert_output(2, &["missing or invalid PEM certificate"]);
    run("/nonexistent.pem").assert_output(2, &["No such file"]);
}

#[test]
fn ca_bundle_must_contain_valid_certificates() {
    let names = ["authority".to_owned()];
    let generated = rcgen::generate_simple_self_signed(names).unwrap();
    let (pem, key) = (generated.cert.pem(), generated.signing_key.serialize_pem());
    let check = |pem: &str, expect: bool| {
        assert_eq!(TlsRoots::from_pem(pem.as_bytes()).is_ok(), expect, "{pem}");
    };
    check(&pem, true);
    check(&pem.repeat(2), true);
    check(&format!("\u{feff}{pem}"), true);
    check("\u{feff}", false);
    check("", false);
    check(&key, false);
    check(&pem[..pem.len() / 2], false);
    check(
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        false,
    );
}
