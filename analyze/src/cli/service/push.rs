//! The command `push`: recordings into a profile store.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use diytrace_profile::error::Error as Whole;
use diytrace_profile::human::{count, counted};
use diytrace_sampled::{Origin, arrived};
use diytrace_store::{self as store, Labelled, Put};

use super::destination::{Destination, Error};
use super::samples;
use crate::cli::shown::warn;
use crate::cli::source::Source;

const EXAMPLES: &str = "\
Examples:
  diytrace push --store runs.db               # diytrace.data here
  diytrace push --store runs.db --label commit=ab12 pg.data
  diytrace report --store runs.db --select service=postgres,commit=ab12
  diytrace report --store runs.db --since 2d --by build
  diytrace series --store runs.db             # what there is
  diytrace push --to http://127.0.0.1:7070    # into a service's store
  diytrace push --store runs.db heap.pb.gz    # pprof's format: see samples

A recording that is pushed twice counts once; one that has grown since then counts as it is now. The names and lines \
of its functions go with it, so a store needs no program, nor its debug information.";

/// Put recordings into a profile store or send them to a service, with labels
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    destination: Destination,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Whole> {
        let paths = self.source.paths()?;
        let (sampled, profiles): (Vec<PathBuf>, Vec<PathBuf>) =
            paths.iter().cloned().partition(|path| is_sampled(path));
        if !sampled.is_empty() {
            self.put_sampled(&sampled).map_err(Whole::Elsewhere)?;
        }
        if paths.is_empty() || !profiles.is_empty() {
            self.put(&profiles).map_err(Whole::Elsewhere)?;
        }
        Ok(())
    }

    fn put_sampled(&self, files: &[PathBuf]) -> Result<(), Error> {
        let labels = self.destination.labels()?;
        let mut target = self.destination.open()?;
        let mut known = 0;
        for path in files {
            let bytes = samples::read(path)?;
            let changed = std::fs::metadata(path).and_then(|facts| facts.modified()).unwrap_or(UNIX_EPOCH);
            let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as i64;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let stem = name.map(|name| name.split('.').next().unwrap_or_default().to_owned());
            let from = path.display().to_string();
            let origin = Origin { from, name: stem, labels: labels.clone(), time: Some((changed, changed)) };
            let sampled = arrived(&bytes, &origin)?;
            known += u64::from(target.put_sampled(&sampled)? == Put::Known);
        }
        let new = counted(files.len() as u64 - known, "sampled profile", "sampled profiles");
        let known = if known > 0 { format!(", {known} there already") } else { String::new() };
        let _ = writeln!(io::stderr(), "diytrace: {}: {new} put in{known}", target.name());
        Ok(())
    }

    fn put(&self, profiles: &[PathBuf]) -> Result<(), Error> {
        let labelled = Labelled { labels: self.destination.labels()? };
        let mut target = self.destination.open()?;
        let (pushed, left_out) = target.push(profiles, &labelled)?;
        warn(&left_out.iter().map(|profile| format!("left out: {profile}")).collect::<Vec<_>>());
        let store::Pushed { added, grown, known, relabelled, paths } = pushed;
        let recordings = |count: u64| if count == 1 { "1 recording".to_owned() } else { format!("{count} recordings") };
        let mut said = vec![format!("{} put in", recordings(added))];
        if grown > 0 {
            said.push(format!("{grown} that had grown"));
        }
        if known > 0 {
            said.push(format!("{known} there already"));
        }
        if relabelled > 0 {
            said.push(format!("{relabelled} there already with other labels, and have these now"));
        }
        let said = said.join(", ");
        let _ = writeln!(io::stderr(), "diytrace: {}: {said} ({} call paths)", target.name(), count(paths));
        Ok(())
    }
}

/// Whether a file is a sampled profile, and no recording or archive: gzipped, or named as one.
fn is_sampled(path: &Path) -> bool {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let mut start = [0; 2];
    let name = path.to_string_lossy();
    let is_named = [".pb", ".pb.gz", ".pprof", ".prof"].iter().any(|end| name.ends_with(end));
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    path.is_file() && (is_named || read.is_ok() && start == GZIP)
}
