//! Texts in a profile: a block of [`crate::kind::TEXT`] holds one, its length in `Block::nodes`, its kind in
//! `Block::back`.

/// The warning of a process that could not be given more room, as the kernel may not be asked any more.
pub const SEALED: &str = "a process restricted its system calls (seccomp): from then on its profile could not grow, and calls for \
                          which there was no room are counted by function only";

/// The warning of a thread that may not read the clock any more, which it would be killed for.
pub const NO_CLOCK: &str = "a thread gave up the clock (strict seccomp, or PR_SET_TSC): its calls from then on are counted by function \
                            only";

/// The warning of two tasks that have one state.
pub const SHARED_STORAGE: &str = "a task made by clone without thread-local storage of its own called instrumented functions: from then on \
                                  its calls and those of the thread that made it are counted by function only";

/// What a text is.
pub mod kind {
    /// Path of the program's file.
    pub const EXE: u32 = 1;
    /// The command line, its arguments ended by NUL bytes.
    pub const CMDLINE: u32 = 2;
    /// `DIYTRACE_ROOT` as it was set.
    pub const ROOT: u32 = 3;
    /// `DIYTRACE_EXCLUDE` as it was set.
    pub const EXCLUDE: u32 = 4;
    /// Something the recorder has to say to whoever reads the report.
    pub const WARNING: u32 = 5;
}
