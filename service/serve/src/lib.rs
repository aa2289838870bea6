//! The service: takes what agents send, keeps it in a store, and answers every view over HTTP.
//!
//! ```text
//! POST /v1/frames ──[frames]──▶ store ──[live]──▶ GET /v1/live ──[events]──▶ who watches
//!                                 ▲
//! GET /v1/report … ──[asked]──────┘──▶ the command line's JSON, by [`Views`]
//! POST /v1/profiles, /ingest, /v1/scrape ──[sampled]──▶ store: sampled profiles of others
//! POST /v1/load/… ──[load]──▶ who makes load for whom: workers, and what they have sent
//! POST /querier.v1.QuerierService/… ──[querier]──▶ what Grafana's data source for Pyroscope asks
//! GET /metrics ──[openmetrics]──▶ the service's own, and what [roots] have counted in all frames
//! GET / ──[page]──▶ a browser
//! ```
//!
//! What a request may do is decided in `access`, and how large and slow it may be in `bodies`. An agent answers `/debug/pprof/diytrace` by itself, too (`alone`). A view runs in a thread of its own, as many at once as there are processors;
//! frames gather in `arriving`, whose thread puts them into the store. Who comes while too much waits is asked to come again.

mod access;
mod alone;
mod answer;
mod arriving;
mod asked;
mod bodies;
mod connection;
mod desk;
mod error;
mod events;
mod frames;
mod live;
mod load;
mod memory;
mod openmetrics;
mod page;
mod querier;
mod retention;
mod roots;
mod runs;
mod sampled;
mod scraped;
mod service;
mod shared;
mod shown;
mod tls;
mod tokens;
mod views;

pub use alone::{Counted, Readings, answer_alone};
pub use error::Error;
pub use memory::Memory;
pub use retention::Retention;
pub use service::{Options, run};
pub use tls::Tls;
pub use tokens::Tokens;
pub use views::{Answer, Refusal, Views, Why};
