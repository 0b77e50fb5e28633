//! Generated shell completions and manual pages.

use std::process::{Command, Output};

fn run_plyhouse(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .args(arguments)
        .output()
        .expect("the command runs")
}

#[test]
fn completions_are_generated_for_each_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run_plyhouse(&["completions", shell]);
        assert!(output.status.success(), "{output:?}");
        let script = String::from_utf8(output.stdout).unwrap();
        for word in ["tournament", "listen"] {
            assert!(script.contains(word), "{shell}: {script}");
        }
    }
}

#[test]
fn manual_page_is_written_for_each_command() {
    let home = tempfile::tempdir().unwrap();
    let pages = home.path().join("man");
    let output = run_plyhouse(&["manual", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let read = |page| std::fs::read_to_string(pages.join(page)).unwrap();
    assert!(read("plyhouse.1").contains("PLYHOUSE_LISTEN"));
    assert!(read("plyhouse-account.1").contains("recover"));
    let unwritable = home.path().join("man/plyhouse.1");
    let output = run_plyhouse(&["manual", unwritable.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
