//! Lines of a log on stderr, for commands that run on.

use std::io;

use tracing::Level;

/// From here on; `DIYTRACE_LOG=debug` tells more, `off` nothing.
pub fn to_stderr() {
    let level = match std::env::var("DIYTRACE_LOG").as_deref() {
        Ok("off") => return,
        Ok("debug") => Level::DEBUG,
        Ok("warn") => Level::WARN,
        _ => Level::INFO,
    };
    // Who has one already keeps it.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(false)
        .with_writer(io::stderr)
        .try_init();
}
