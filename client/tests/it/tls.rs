//! `ply` on servers that speak TLS.

use std::path::PathBuf;

use plyhouse_connection::TlsRoots;
use plyhouse_transport::Tls;

use crate::fake::Home;
use crate::real::{Real, Somebody};

/// A server with a certificate that it has signed itself for `localhost`, and the file with it.
fn start(home: &Home) -> (Real, PathBuf) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| home.path().join(name));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = Tls::read(certificate.clone(), key).unwrap();
    (Real::start_with_tls(tls), certificate)
}

/// The command that `ply` tells to a friend is all that the friend needs.
#[test]
fn two_people_play_over_tls() {
    let home = Home::new();
    let (server, authority) = start(&home);
    let authority = authority.to_str().unwrap();
    let open = ["play", "--open", "--name", "ann", "--ca", authority];
    let mut ann = Somebody::start(&home, &server, &open);
    let command = ann.sees("ply join ");
    let words: Vec<&str> = command.split_whitespace().collect();
    let join = words.iter().position(|&word| word == "join").unwrap();
    let told = [
        &words[join..join + 2],
        &["--server", &server.url, "--ca", authority],
    ]
    .concat();
    assert_eq!(words[join..], told);
    let mut bob = Somebody::start(&home, &server, &words[join..]);
    bob.sees("ann (x) to move.");
    ann.types("a1\nb1\nc1\n");
    bob.types("a2\nb2\n");
    assert_eq!(ann.ends("You win!"), Some(0));
    assert_eq!(bob.ends("You lose."), Some(0));
}

#[test]
fn a_server_that_is_not_believed_is_not_spoken_to() {
    let home = Home::new();
    let (server, authority) = start(&home);
    let why = "certificate is not believed: it is signed by nobody who is trusted here";
    home.run(&server.url, &["list"], "")
        .expect(3, &[why, "--ca names the file"]);

    let authority = authority.to_str().unwrap();
    home.run(&server.url, &["list", "--ca", authority], "")
        .expect(0, &[]);
    let plain = Real::start();
    let wrong = plain.url.replace("ws://", "wss://");
    home.run(&wrong, &["list", "--ca", authority], "").expect(
        3,
        &[
            "no TLS is spoken there",
            "A server without TLS is named by ws://",
        ],
    );
    let wrong = server.url.replace("wss://", "ws://");
    home.run(&wrong, &["list"], "")
        .expect(3, &["this port speaks TLS", "by wss:// if it speaks TLS"]);
}

#[test]
fn a_file_without_authorities_is_wrong_usage() {
    let home = Home::new();
    let empty = home.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let url = "wss://127.0.0.1:1/ws";
    let run = |file: &str| home.run(url, &["list", "--ca", file], "");
    run(empty.to_str().unwrap()).expect(2, &["no certificates in PEM"]);
    run("/nonexistent.pem").expect(2, &["No such file"]);
}

#[test]
fn authorities_are_certificates() {
    let names = ["authority".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (pem, key) = (made.cert.pem(), made.signing_key.serialize_pem());
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
