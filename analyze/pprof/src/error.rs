//! Why bytes are no profile, as one sentence for the user.

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither gzip nor messages.
    #[error("this is no pprof profile: {why}")]
    Foreign {
        /// Why.
        why: String,
    },
    /// It would take more memory than it may.
    #[error("this pprof profile has more than {most} bytes when it is unpacked, the most that is taken")]
    Large {
        /// The most.
        most: u64,
    },
    /// A number stands for nothing.
    #[error("this pprof profile is damaged: {what}")]
    Damaged {
        /// What of it.
        what: &'static str,
    },
    /// A line that is no stack.
    #[error("line {line} is no folded stack: write `outer;inner NUMBER`")]
    Folded {
        /// Which.
        line: usize,
    },
    /// More than numbers can hold.
    #[error("the values of these profiles add up to more than 2⁶³")]
    Overflow,
}
