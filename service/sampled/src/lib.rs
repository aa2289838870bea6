//! Sampled profiles of others: what pprof's format holds, from files, from endpoints that are scraped and from clients that push.
//!
//! ```text
//! FILE.pb.gz, an endpoint ──[arriving], [scrape]──▶ store ──[selection]──▶ added up ──[document]──▶ table, JSON, flame graph
//! ```
//!
//! Two selections of one type of samples are [compared](compare()), and functions told over builds, commits and time ([`history()`]).
//!
//! They never meet recordings: those count calls, these estimate.

mod arriving;
mod compare;
mod document;
mod error;
mod growing;
mod history;
mod kind;
mod list;
mod measured;
mod per;
mod scrape;
mod selection;
mod view;

pub use arriving::{Origin, arrived, arrived_since, folded};
pub use compare::{
    Comparison, How, Run, Stacks, compare, headline, write_csv as write_comparison_csv, write_table as write_comparison,
};
pub use document::{Document, Order, document};
pub use error::Error;
pub use growing::{is_of_a_moment, only_grows};
pub use history::{Asked, History, history, write_histories, write_histories_csv, write_regressions};
pub use kind::Kind;
pub use list::List;
pub use per::Per;
pub use scrape::{Endpoint, Scraper};
pub use selection::{Chosen, Selection};
pub use view::{drawing, write_csv, write_list, write_list_csv, write_table};

/// Most bytes of a profile's messages.
pub const MOST_BYTES: u64 = 256 << 20;
