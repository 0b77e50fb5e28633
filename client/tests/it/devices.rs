//! One player on several devices.

use crate::fake::{Home, Ran};
use crate::real::Real;

/// The first line of what was printed.
fn first_line(out: &str) -> String {
    out.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_second_device_is_paired_and_signed_out() {
    let server = Real::start();
    let (laptop, phone) = (Home::new(), Home::new());
    let on_laptop = |arguments: &[&str]| {
        let arguments = [&["--name", "ann"], arguments].concat();
        laptop.run(&server.url, &arguments, "")
    };
    let on_phone = |arguments: &[&str]| phone.run(&server.url, arguments, "");
    let paired = on_laptop(&["pair"]);
    let code = first_line(&paired.out);
    paired.expect(0, &[&format!("ply login {code}")]);

    on_phone(&["login", &code, "--label", "phone"]).expect(0, &["You are ann here"]);
    on_phone(&["login", &code]).expect(4, &["no such code"]);
    let listed = on_phone(&["devices"]);
    listed.expect(0, &["ply on linux (cli)", "phone (cli)", "this one"]);
    assert_eq!(listed.out.lines().count(), 2, "{}", listed.out);

    on_laptop(&["logout", "b2"]).expect(4, &["no such device"]);
    on_laptop(&["logout", "others"]).expect(0, &["Signed out there."]);
    on_phone(&["devices"]).expect(4, &["does not know"]);
    let listed = on_laptop(&["devices"]);
    assert_eq!(listed.out.lines().count(), 1, "{}", listed.out);
}

#[test]
fn whoever_has_lost_all_devices_comes_back() {
    let (server, home) = (Real::start(), Home::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["devices"], "").expect(4, &["nobody is known here"]);
    let key = first_line(&run(&["recovery"], "").out);
    assert_eq!(key.len(), 26, "{key}");
    run(&["logout"], "").expect(4, &["--yes"]);
    run(&["logout", "--yes"], "").expect(0, &["no longer guest-"]);
    run(&["devices"], "").expect(4, &["nobody is known here"]);
    run(&["login"], "short\n").expect(4, &["26"]);
    let written = format!("{}-{}\n", &key[..13], &key[13..].to_lowercase());
    run(&["login"], &written).expect(0, &["You are guest-"]);
    run(&["devices"], "").expect(0, &["this one"]);
}

#[test]
fn a_name_of_ones_own_brings_one_back() {
    let server = Real::start();
    let (laptop, phone) = (Home::new(), Home::new());
    let on = |home: &Home, arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    on(&laptop, &["rename", "ada"], "").expect(4, &["nobody is known here"]);
    on(&laptop, &["register", "ada"], "short\n").expect(4, &["`password` must be"]);
    on(&laptop, &["register", "ada"], "correct horse\n").expect(0, &["ply login ada"]);
    on(&laptop, &["register", "eve", "--no-password"], "").expect(4, &["you are ada already"]);
    on(&phone, &["login", "ada"], "wrong horse\n").expect(4, &["wrong"]);
    on(&phone, &["login", "ada"], "correct horse\n").expect(0, &["You are ada here"]);
    on(&laptop, &["rename", "ada lovelace"], "").expect(0, &["You are ada lovelace"]);

    // What others could take away wants the password.
    on(&phone, &["recovery"], "wrong horse\n").expect(4, &["wrong"]);
    let recovery = on(&phone, &["recovery"], "correct horse\n");
    assert_eq!(first_line(&recovery.out).len(), 26, "{recovery:?}");
    let made = on(
        &phone,
        &["key", "create", "--label", "engine"],
        "correct horse\n",
    );
    made.expect(0, &["ply_", "plays as you"]);
    on(&phone, &["devices"], "").expect(0, &["engine (key)"]);
    let both = "battery staple\ncorrect horse\n";
    on(&laptop, &["password"], both).expect(0, &["signed out"]);
    on(&phone, &["devices"], "").expect(4, &["does not know"]);
    let mut login = phone.ply(&server.url, &["login", "ada lovelace"]);
    let login = login.env("PLYHOUSE_PASSWORD", "battery staple");
    Ran::of(login.output().expect("it runs")).expect(0, &["You are ada lovelace"]);
}
