//! Whether two environments are alike.

pub mod csv;
pub mod table;
