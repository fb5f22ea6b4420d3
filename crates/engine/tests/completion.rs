//! The completion scripts, asked by a real shell.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

const ENGINE: &str = env!("CARGO_BIN_EXE_photofinish");

fn script(shell: &str) -> String {
    let output = Command::new(ENGINE).args(["completion", shell]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a `photofinish` that answers like the laboratory, and says what it was asked.
fn laboratory(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("photofinish-completion-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("photofinish");
    fs::write(
        &path,
        "#!/bin/sh\necho \"$_PHOTOFINISH_COMPLETE\"\necho \"$COMP_CWORD\"\nprintf %s \"$COMP_WORDS\" | tr '\\n' '+'\n",
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// What bash offers for the last of `words`.
fn offered(words: &[&str]) -> Vec<String> {
    let folder = laboratory(&words.join("-").replace('/', "_"));
    let (file, command) = (folder.join("completion.sh"), folder.join("photofinish"));
    fs::write(&file, script("bash")).unwrap();
    let asking = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                  _photofinish \"$1\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["--norc", "-c", asking, "bash"])
        .arg(&file)
        .arg(&command)
        .args(words)
        .output()
        .unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn flags_and_values_of_a_load_are_completed_by_the_engine_itself() {
    assert!(offered(&["load", "--conn"]).contains(&"--connections".to_owned()));
    assert_eq!(offered(&["load", "--arrivals", ""]), ["constant", "poisson"]);
    assert!(offered(&["origin", "--po"]).contains(&"--port".to_owned()));
}

#[test]
fn everything_else_is_asked_of_the_laboratory() {
    let answer = offered(&["race", "--qu"]);
    assert_eq!(answer[..2], ["complete_bash", "2"]);
    assert!(answer[2].ends_with("+race+--qu"), "{answer:?}");
    assert_eq!(offered(&["lo"])[..2], ["complete_bash", "1"], "the names of commands too");
}

#[test]
fn each_shell_gets_the_engines_flags_and_the_way_to_the_laboratory() {
    for (shell, way) in [("bash", "complete_bash"), ("zsh", "complete_zsh"), ("fish", "complete_fish")] {
        let text = script(shell);
        for part in [way, "connections", "arrivals"] {
            assert!(text.contains(part), "{shell}: {part}");
        }
        assert!(!text.contains("@COMMANDS@") && !text.contains("@ENGINE@"), "{shell}");
    }
    assert!(script("zsh").starts_with("#compdef photofinish\n"));
}

#[test]
fn a_shell_that_is_not_known_is_bad_input_that_names_those_that_are() {
    let output = Command::new(ENGINE).args(["completion", "csh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("bash, zsh, fish"), "{said}");
}
