//! What a profile store has of a selection, and what is kept there of a comparison.

mod git;
mod keep;
mod newest;
mod query;
mod sampled;
mod save;

use std::path::PathBuf;
use std::sync::Arc;

use diytrace_compare::runs::{Elsewhere, Run, Runs};
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
use diytrace_store::{self as store, Address, GroupBy, Several};

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

/// The runs of two selections of a store, each as a side of a comparison.
pub fn runs(sides: [&Selection; 2], replicate: Replicate) -> Result<[Runs; 2], Error> {
    replicates(sides, replicate.into()).map_err(|error| Error::Elsewhere(error.into()))
}

fn replicates(sides: [&Selection; 2], replicate: store::Replicate) -> Result<[Runs; 2], store::Error> {
    let address = sides[0].store.parse::<Address>()?;
    let stored = store::open(&address, false)?;
    let mut queries = Vec::new();
    let mut started = [Vec::new(), Vec::new()];
    for (side, started) in sides.iter().zip(&mut started) {
        for (at, query) in store::replicates(&*stored, &query(side)?, replicate)? {
            started.push((queries.len(), at));
            queries.push(query);
        }
    }
    let several = Arc::new(Several::of(stored, queries));
    let run = |(number, (place, started)): (u32, (usize, i64))| {
        let several = several.clone();
        let read = move || several.open(place).map_err(|error| Error::Elsewhere(error.into()));
        let elsewhere = Some(Elsewhere(Arc::new(read)));
        Run { number, started_unix_ns: u64::try_from(started).ok(), elsewhere, ..Run::default() }
    };
    let [left, right] = started.map(|started| (1..).zip(started).map(run).collect());
    let folder: PathBuf = address.to_string().into();
    let side =
        |side: &Selection, runs| Runs { name: side.labels.to_owned(), runs, folder: folder.clone(), ..Runs::default() };
    Ok([side(sides[0], left), side(sides[1], right)])
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
