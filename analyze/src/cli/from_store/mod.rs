//! What a profile store has of a selection, and what is kept there of a comparison.

mod git;
mod keep;
mod newest;
mod query;
mod sampled;
mod save;

use std::sync::Arc;

use diytrace_compare::runs::{Elsewhere, Run, Runs};
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
use diytrace_store::{self as store, Address, GroupBy, Query};

use super::wanted::{Replicate, Selection};
pub use keep::keeper;
pub use newest::newest;
use query::query;
pub use sampled::sampled;
pub use save::{SHOWN_DIGITS, save};

/// All of it as a profile, apart by a label's values if one is named.
pub fn opened(selection: &Selection, by: Option<&str>) -> Result<Opened, Error> {
    let by = by.map_or(GroupBy::All, |by| GroupBy::Label(by.to_owned()));
    let open = || {
        let query = query(selection)?;
        store::open_selection(store::open(&selection.store.parse::<Address>()?, false)?, &query, &by)
    };
    open().map_err(|error: store::Error| Error::Elsewhere(error.into()))
}

/// Its runs, as a side of a comparison.
pub fn runs(selection: &Selection, replicate: Replicate) -> Result<Runs, Error> {
    replicates(selection, replicate.into()).map_err(|error| Error::Elsewhere(error.into()))
}

fn replicates(selection: &Selection, replicate: store::Replicate) -> Result<Runs, store::Error> {
    let (query, address) = (query(selection)?, selection.store.parse::<Address>()?);
    let runs = store::replicates(&*store::open(&address, false)?, &query, replicate)?;
    let run = |(number, (started, query)): (u32, (i64, Query))| {
        let address = address.clone();
        let read = move || {
            let opened = store::open(&address, false);
            let opened = opened.and_then(|store| store::open_selection(store, &query, &GroupBy::All));
            opened.map_err(|error| Error::Elsewhere(error.into()))
        };
        let elsewhere = Some(Elsewhere(Arc::new(read)));
        Run { number, started_unix_ns: u64::try_from(started).ok(), elsewhere, ..Run::default() }
    };
    let runs = (1..).zip(runs).map(run).collect();
    Ok(Runs { name: selection.labels.to_owned(), runs, folder: address.to_string().into(), ..Runs::default() })
}

impl From<Replicate> for store::Replicate {
    fn from(replicate: Replicate) -> Self {
        match replicate {
            Replicate::Run => Self::Run,
            Replicate::Host => Self::Host,
            Replicate::Slice => Self::Slice,
        }
    }
}
