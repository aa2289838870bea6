//! Trees: as tables, as tables of callers and as CSV.

mod callers;
mod csv;
mod guides;
mod table;

pub use callers::write as callers;
pub use csv::write as csv;
pub use table::write as table;
