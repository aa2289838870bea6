//! Two selections of sampled profiles, compared and told.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use diytrace_profile::error::Error;
use diytrace_sampled::{self as sampled, Comparison, How, Run, Stacks, compare, headline};
use diytrace_store::{self as store, Address, SampledFacts, Stored};
use diytrace_views::report::Format;
use diytrace_views::view::{self, Screen};

use super::query::query;
use super::save::save;
use crate::cli::shown::{warn, write_file};
use crate::cli::wanted::{Concluded, Drawn, Kind, Replicate, SampledSides, Selection};

/// Compares, writes, and gives the exit status; `None` if neither side has sampled profiles and nothing says that they are meant.
pub fn sampled(asked: &SampledSides, out: &mut dyn Write) -> Result<Option<u8>, Error> {
    let how = how(asked)?;
    let address = asked.sides[0].store.parse::<Address>().map_err(elsewhere)?;
    let stored = store::open(&address, false).map_err(elsewhere)?;
    let Some(profiles) = profiles(&stored, &address.to_string(), asked)? else { return Ok(None) };
    let [left, right] = asked.sides.each_ref().map(|side| if side.labels.is_empty() { "all" } else { side.labels });
    let [before, after] = profiles;
    let (comparison, stacks) = compare(&*stored, [(left, before), (right, after)], &how).map_err(elsewhere)?;
    drop(stored); // it may be written to
    let mut out = BufWriter::new(out);
    let status = comparison.exit_status(asked.how.fail_on);
    if let Some(drawn) = asked.drawn {
        match drawn {
            Drawn::Flamegraph => out.write_all(&stacks.drawing(&comparison).map_err(elsewhere)?)?,
            Drawn::Folded => stacks.folded().iter().try_for_each(|line| writeln!(out, "{line}"))?,
        }
        out.flush()?;
        warn(&comparison.warnings);
        return Ok(Some(0));
    }
    if let Some(folder) = asked.folder {
        write(folder, &comparison, &stacks)?;
    }
    match asked.how.format {
        Format::Table => {
            sampled::write_comparison(&comparison, &Screen::of(asked.how.color), asked.how.limit, &mut out)?
        }
        Format::Json => view::json::write(&comparison, &mut out)?,
        Format::Csv => sampled::write_comparison_csv(&comparison, b',', &mut out)?,
    }
    out.flush()?;
    warn(&comparison.warnings);
    if asked.is_saved {
        let mut document = Vec::new();
        view::json::write(&comparison, &mut document)?;
        let sides = asked.sides.each_ref().map(|side| Selection { ..*side });
        let (kind, replicate, sentence) = (Kind::Diff, asked.replicate, headline(&comparison));
        save(&Concluded { kind, sides, names: None, replicate, are_samples: true, sentence, status, document })?;
    }
    Ok(Some(status))
}

fn how(asked: &SampledSides) -> Result<How, Error> {
    let run = match asked.replicate {
        Replicate::Run => Run::Profile,
        Replicate::Host => Run::Host,
        Replicate::Slice if asked.is_meant => {
            return Err(Error::Usage(
                "--replicate slice: a slice is of recordings; of sampled profiles a run is a profile (run) or a host"
                    .to_owned(),
            ));
        }
        Replicate::Slice => Run::Profile,
    };
    if asked.is_meant && asked.how.against.is_some() {
        return Err(Error::Usage("--against: saved sets are of recordings, not of sampled profiles".to_owned()));
    }
    let (of, options) = (asked.of.map(str::to_owned), asked.how.options.clone());
    Ok(How { of, are_shares: asked.are_shares, run, options })
}

/// The sampled profiles of both sides. A side of recordings beside one of samples is refused.
fn profiles(stored: &Stored, name: &str, asked: &SampledSides) -> Result<Option<[Vec<SampledFacts>; 2]>, Error> {
    let mut sampled = Vec::new();
    let mut counted = Vec::new();
    for side in &asked.sides {
        let query = query(side).map_err(elsewhere)?;
        sampled.push(missing(stored.sampled(&query, name))?);
        counted.push(missing(stored.frames(&query))?.is_ok());
    }
    let label = |side: usize| match asked.sides[side].labels {
        "" => "all".to_owned(),
        labels => format!("`{labels}`"),
    };
    match <[_; 2]>::try_from(sampled) {
        Ok([Ok(left), Ok(right)]) => Ok(Some([left, right])),
        Ok([Ok(there), Err(_)]) if counted[1] => Err(mixed(label(1), label(0), &there)),
        Ok([Err(_), Ok(there)]) if counted[0] => Err(mixed(label(0), label(1), &there)),
        Ok([Err(_), Err(_)]) if !asked.is_meant => Ok(None),
        Ok([Err(error), _] | [_, Err(error)]) => Err(elsewhere(error)),
        Err(_) => Ok(None),
    }
}

/// What there is, or that there is none; other errors are errors.
fn missing<T>(found: Result<T, store::Error>) -> Result<Result<T, store::Error>, Error> {
    match found {
        Err(error) if !error.is_missing() => Err(elsewhere(error)),
        found => Ok(found),
    }
}

fn mixed(counted: String, sampled: String, profiles: &[SampledFacts]) -> Error {
    elsewhere(sampled::Error::mixed(counted, sampled, profiles))
}

/// All numbers of a comparison, in a folder that is made if it is missing.
fn write(folder: &Path, comparison: &Comparison, stacks: &Stacks) -> Result<(), Error> {
    let made = std::fs::create_dir_all(folder);
    made.map_err(|source| Error::WriteTo { path: folder.to_owned(), source })?;
    let bytes = |make: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut bytes = Vec::new();
        make(&mut bytes).map(|()| bytes)
    };
    let lines = |out: &mut dyn Write| stacks.folded().iter().try_for_each(|line| writeln!(out, "{line}"));
    let mut files = vec![
        ("report.json", bytes(&|out| view::json::write(comparison, out))?),
        ("functions.tsv", bytes(&|out| sampled::write_comparison_csv(comparison, b'\t', out))?),
        ("stacks.folded", bytes(&lines)?),
    ];
    if let Ok(svg) = stacks.drawing(comparison) {
        files.push(("flamegraph.svg", svg));
    }
    files.iter().try_for_each(|(name, bytes)| write_file(&folder.join(name), |file| file.write_all(bytes)))
}

fn elsewhere(error: impl Into<sampled::Error>) -> Error {
    match error.into() {
        sampled::Error::Store(error) => Error::Elsewhere(error.into()),
        error => Error::Elsewhere(error.into()),
    }
}
