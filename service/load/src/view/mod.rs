//! A run for people and for spreadsheets.

mod csv;
mod table;

pub use csv::write as write_csv;
pub use table::write as write_table;
