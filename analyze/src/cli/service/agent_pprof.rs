//! What an agent answers by itself: what recordings in its folders have counted in some seconds, as pprof.

use std::collections::HashMap;
use std::path::PathBuf;

use diytrace_agent::recordings;
use diytrace_profile::error::Error;
use diytrace_profile::load::interval::Interval;
use diytrace_profile::load::reader::Reader;
use diytrace_profile::load::{Family, Loaded, Summary};
use diytrace_profile::opened::Opened;
use diytrace_serve::{Answer, Counted, Readings, Refusal, Why};
use diytrace_views::export::{self, Format, Options};

/// The folders that recordings are in.
pub struct Folders(pub Vec<PathBuf>);

impl Readings for Folders {
    fn begin(&self) -> Counted {
        let folders = Self(self.0.clone());
        let before: HashMap<PathBuf, Family> =
            folders.read().into_iter().map(|family| (family.path.clone(), family)).collect();
        Box::new(move || folders.since(before).map_err(refusal))
    }
}

impl Folders {
    /// All recordings that can be read now.
    fn read(&self) -> Vec<Family> {
        let mut families = Vec::new();
        for path in self.0.iter().flat_map(|folder| recordings(folder).unwrap_or_default()) {
            match Reader::new(path.clone()).read() {
                Ok(reading) => families.push(reading.family),
                Err(error) => tracing::debug!("{}: {error}", path.display()),
            }
        }
        families
    }

    /// What they have counted since an earlier reading; of those that were not there, all.
    fn since(&self, mut before: HashMap<PathBuf, Family>) -> Result<Answer, Error> {
        let by = Format::Pprof.by();
        let opened = Opened::merge(by, None, |take| {
            let mut loaded = Loaded::default();
            for family in self.read().into_iter().filter(|family| family.snapshot.is_none()) {
                let summary = match before.remove(&family.path).map(|before| Interval::of(before, family.clone())) {
                    Some(Ok(Interval { from, to })) => {
                        take(Some(&from), &to);
                        Summary::of(&to)
                    }
                    // It is another one by now, or its counters were reset: all that it has is of these seconds.
                    None | Some(Err(_)) => {
                        take(None, &family);
                        Summary::of(&family)
                    }
                };
                loaded.profiles.push(summary);
            }
            Ok(loaded)
        })?;
        let options = Options::of(Format::Pprof);
        let body = export::bytes(Format::Pprof, &export::profile(&options, &opened)?)?;
        Ok(Answer { content_type: "application/octet-stream", body })
    }
}

fn refusal(error: Error) -> Refusal {
    let why = if matches!(error, Error::NothingToExport) { Why::Missing } else { Why::Wrong };
    Refusal { why, sentence: error.to_string() }
}
