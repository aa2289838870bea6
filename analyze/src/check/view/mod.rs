//! A checkup as text or JSON. Views decide nothing.

pub mod json;
pub mod text;
