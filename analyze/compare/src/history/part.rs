//! What a history is made of: a recording after the other, or a slice of time.

/// A part of a selection: a recording, or a slice of time.
#[derive(Clone, Debug)]
pub struct Part {
    /// What its group is called.
    pub group: String,
    /// The label's value.
    pub value: String,
    /// When it began, in nanoseconds since 1970.
    pub started: i64,
    /// When it ended.
    pub ended: i64,
}
