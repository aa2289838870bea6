//! PostgreSQL's codes of errors.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Five letters and digits, as in 40001 (serialization failure); the standard calls them SQLSTATE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SqlState([u8; 5]);

impl SqlState {
    /// XX000, an internal error: of an error without a code.
    pub const UNKNOWN: Self = Self(*b"XX000");

    /// Of an error's field.
    pub fn parse(field: &[u8]) -> Option<Self> {
        let code: [u8; 5] = field.try_into().ok()?;
        code.iter().all(u8::is_ascii_alphanumeric).then_some(Self(code))
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<SqlState> for String {
    fn from(code: SqlState) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for SqlState {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text.as_bytes()).ok_or("it is no SQLSTATE")
    }
}
