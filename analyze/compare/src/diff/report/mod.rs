//! Comparisons as people and programs read them: each a function from the data to bytes.

mod headline;
mod html;
pub mod tables;
pub mod text;
mod words;

use std::fs;
use std::path::Path;

use super::{Comparison, Error, Query, Verdict};
use diytrace_profile::new_file::NewFile;
use diytrace_views::names::shorten;
use diytrace_views::view;

/// What came out, in a sentence; of several queries the first in which anything changed, and how many others there are.
pub fn sentence(comparison: &Comparison) -> String {
    let mut shown = comparison.clone();
    shorten(&mut shown);
    let queries = &shown.queries;
    let is_changed = |query: &&Query| query.functions.iter().any(|function| function.verdict <= Verdict::OneSided);
    let Some(told) = queries.iter().find(is_changed).or(queries.first()) else { return String::new() };
    let said = headline::headline(told, |function| headline::name_in(told, function));
    match (&told.query, queries.len()) {
        (Some(name), 2..) => format!("{name}: {said} ({} queries)", queries.len()),
        _ => said,
    }
}

/// Writes a comparison into a folder, made if missing: `report.json`, `report.html`, and all numbers behind them as TSV.
pub fn write(folder: &Path, comparison: &Comparison) -> Result<(), Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::WriteTo { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut json = Vec::new();
    view::json::write(comparison, &mut json)?;
    let mut files = vec![
        ("report.json".to_owned(), json),
        ("functions.tsv".to_owned(), tables::functions(comparison, b'\t')?),
        ("edges.tsv".to_owned(), tables::edges(comparison)?),
        ("runs.tsv".to_owned(), tables::runs(comparison)?),
        ("timelines.tsv".to_owned(), tables::timelines(comparison)?),
        ("metrics.tsv".to_owned(), tables::metrics(comparison)?),
        ("overhead.tsv".to_owned(), tables::overhead(comparison)?),
        ("stacks.tsv".to_owned(), tables::stacks(comparison)?),
    ];
    // Last, as who sees it will look for the others.
    files.push(("report.html".to_owned(), html::page(comparison)?));
    for (name, bytes) in files {
        let path = folder.join(name);
        put(&path, &bytes).map_err(failed(&path))?;
    }
    Ok(())
}

/// Whole or not at all.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let (new, mut file) = NewFile::beside(path)?;
    file.write_all(bytes)?;
    new.appear(&file, path)
}
