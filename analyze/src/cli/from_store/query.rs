//! What is asked of a store.

use diytrace_store::{Error, Query, Range};
use jiff::Zoned;

use crate::cli::wanted::Selection;

/// Of a selection, as it was written.
pub fn query(selection: &Selection) -> Result<Query, Error> {
    let range = Range::parse(selection.since, selection.until, &Zoned::now())?;
    Query::parse(selection.labels, range)
}
