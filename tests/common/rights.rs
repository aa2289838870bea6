//! What this user may do, and what is said where it is not enough.

use std::process::Command;

/// Whether the tests run as root, who can mount, change users and roots.
pub fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout == b"0\n"
}

/// Whether a command, given as words, succeeds here.
pub fn can(command: &str) -> bool {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

/// Says something that the test runner does not hold back.
pub fn warn(text: &str) {
    use std::io::Write;
    let terminal = std::fs::OpenOptions::new().append(true).open("/proc/self/fd/2");
    if let Ok(mut terminal) = terminal {
        let _ = writeln!(terminal, "\nwarning: {text}");
    }
}
