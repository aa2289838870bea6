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
    /// What part of the time in which its calls were made lies in it, as far as that is told: 1 but for slices of time that are not much
    /// longer than what came at once.
    pub inside: f64,
}
