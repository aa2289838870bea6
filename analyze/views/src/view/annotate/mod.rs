//! Annotated functions: as text and as CSV.

mod csv;
mod text;

pub use csv::write as csv;
pub use text::write as text;
