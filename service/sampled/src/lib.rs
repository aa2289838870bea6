//! Sampled profiles of others: what pprof's format holds, from files, from endpoints that are scraped and from clients that push.
//!
//! ```text
//! FILE.pb.gz, an endpoint ──[arriving], [scrape]──▶ store ──[selection]──▶ added up ──[document]──▶ table, JSON, flame graph
//! ```
//!
//! They never meet recordings: those count calls, these estimate.

mod arriving;
mod document;
mod error;
mod list;
mod scrape;
mod selection;
mod view;

pub use arriving::{Origin, arrived, folded};
pub use document::{Document, Order, document};
pub use error::Error;
pub use list::List;
pub use scrape::{Endpoint, Scraper};
pub use selection::{Chosen, Selection, is_level};
pub use view::{drawing, write_csv, write_list, write_list_csv, write_table};

/// Most bytes of a profile's messages.
pub const MOST_BYTES: u64 = 256 << 20;
