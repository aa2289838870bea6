//! Trees: as tables and as CSV.

mod csv;
mod table;

pub use csv::write as csv;
pub use table::write as table;
