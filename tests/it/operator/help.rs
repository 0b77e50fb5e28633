//! What the command line tells of itself: completions and manual pages.

use std::process::{Command, Output};

fn plyhouse(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .args(arguments)
        .output()
        .expect("it runs")
}

#[test]
fn shells_are_told_what_can_be_said() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let told = plyhouse(&["completions", shell]);
        assert!(told.status.success(), "{told:?}");
        let script = String::from_utf8(told.stdout).unwrap();
        for word in ["tournament", "listen"] {
            assert!(script.contains(word), "{shell}: {script}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let home = tempfile::tempdir().unwrap();
    let pages = home.path().join("man");
    let told = plyhouse(&["manual", pages.to_str().unwrap()]);
    assert!(told.status.success(), "{told:?}");
    let read = |page| std::fs::read_to_string(pages.join(page)).unwrap();
    assert!(read("plyhouse.1").contains("PLYHOUSE_LISTEN"));
    assert!(read("plyhouse-account.1").contains("recover"));
    let unwritable = home.path().join("man/plyhouse.1");
    let told = plyhouse(&["manual", unwritable.to_str().unwrap()]);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
}
