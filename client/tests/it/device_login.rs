//! Tests of logins of the same player on several devices.

use crate::real_server::RealServer;
use crate::scripted_server::{CommandOutput, PlyHome};

fn first_line(out: &str) -> String {
    out.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn second_device_logs_in_by_code_and_is_signed_out() {
    let server = RealServer::start();
    let (laptop, phone) = (PlyHome::new(), PlyHome::new());
    let on_laptop = |arguments: &[&str]| {
        let arguments = [&["--name", "ann"], arguments].concat();
        laptop.run(&server.url, &arguments, "")
    };
    let on_phone = |arguments: &[&str]| phone.run(&server.url, arguments, "");
    let paired = on_laptop(&["pair"]);
    let code = first_line(&paired.stdout);
    paired.assert_output(0, &[&format!("ply login {code}")]);

    on_phone(&["login", &code, "--label", "phone"]).assert_output(0, &["Logged in as ann."]);
    on_phone(&["login", &code]).assert_output(4, &["invalid or expired code"]);
    let listed = on_phone(&["devices"]);
    listed.assert_output(0, &["ply on linux (cli)", "phone (cli)", "this device"]);
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);

    on_laptop(&["logout", "b2"]).assert_output(4, &["no such device"]);
    on_laptop(&["logout", "others"]).assert_output(0, &["Other devices logged out."]);
    on_phone(&["devices"]).assert_output(4, &["no longer knows this player"]);
    let listed = on_laptop(&["devices"]);
    assert_eq!(listed.stdout.lines().count(), 1, "{}", listed.stdout);
}

#[test]
fn recovery_key_logs_in_without_any_device() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["devices"], "").assert_output(4, &["no player is saved on this machine"]);
    let key = first_line(&run(&["recovery"], "").stdout);
    assert_eq!(key.len(), 26, "{key}");
    run(&["logout"], "").assert_output(4, &["--yes"]);
    run(&["logout", "--yes"], "").assert_output(0, &["Logged out of guest-"]);
    run(&["devices"], "").assert_output(4, &["no player is saved on this machine"]);
    run(&["login"], "short\n").assert_output(4, &["26"]);
    let typed_key = format!("{}-{}\n", &key[..13], &key[13..].to_lowercase());
    run(&["login"], &typed_key).assert_output(0, &["Logged in as guest-"]);
    run(&["devices"], "").assert_output(0, &["this device"]);
}

#[test]
fn account_logs_in_by_name_and_password() {
    let server = RealServer::start();
    let (laptop, phone) = (PlyHome::new(), PlyHome::new());
    let run =
        |home: &PlyHome, arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&laptop, &["rename", "ada"], "").assert_output(4, &["no player is saved on this machine"]);
    run(&laptop, &["register", "ada"], "short\n").assert_output(4, &["`password` must be"]);
    run(&laptop, &["register", "ada"], "correct horse\n").assert_output(0, &["ply login ada"]);
    run(&laptop, &["register", "eve", "--no-password"], "")
        .assert_output(4, &["you already have an account, ada"]);
    run(&phone, &["login", "ada"], "wrong horse\n").assert_output(4, &["wrong"]);
    run(&phone, &["login", "ada"], "correct horse\n").assert_output(0, &["Logged in as ada."]);
    run(&laptop, &["rename", "ada lovelace"], "")
        .assert_output(0, &["Your name is now ada lovelace."]);

    // Creating a recovery key or an API key requires the password.
    run(&phone, &["recovery"], "wrong horse\n").assert_output(4, &["wrong"]);
    let recovery = run(&phone, &["recovery"], "correct horse\n");
    assert_eq!(first_line(&recovery.stdout).len(), 26, "{recovery:?}");
    let key_output = run(
        &phone,
        &["key", "create", "--label", "engine"],
        "correct horse\n",
    );
    key_output.assert_output(0, &["ply_", "plays as you"]);
    run(&phone, &["devices"], "").assert_output(0, &["engine (key)"]);
    let passwords = "battery staple\ncorrect horse\n";
    run(&laptop, &["password"], passwords).assert_output(0, &["logged out"]);
    run(&phone, &["devices"], "").assert_output(4, &["no longer knows this player"]);
    let mut login = phone.ply_command(&server.url, &["login", "ada lovelace"]);
    let login = login.env("PLYHOUSE_PASSWORD", "battery staple");
    CommandOutput::from_output(login.output().expect("run ply"))
        .assert_output(0, &["Logged in as ada lovelace."]);
}
