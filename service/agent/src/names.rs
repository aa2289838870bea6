//! Names and lines of what frames tell of: each is sent once.

use std::time::{Duration, Instant};

use diytrace_profile::merge::Merged;
use diytrace_profile::module::ModuleKey;
use diytrace_profile::opened::Opened;
use diytrace_profile::symbolize::gather;
use diytrace_store::Names;

use crate::Error;
use crate::client::Client;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// New ones are looked up no more often, as that takes long where a program is large.
const PAUSE: Duration = Duration::from_secs(5);

/// What a service knows by this agent.
#[derive(Default)]
pub struct KnownNames {
    /// Addresses in modules.
    known: HashMap<ModuleKey, HashSet<u64>>,
    latest: Option<Instant>,
    /// What has been met since.
    rest: Option<Rest>,
}

/// What the service has no names of yet.
struct Rest {
    merged: Merged,
    /// The recordings that met it: what was saved beside them may tell more than the programs that are here now.
    recordings: BTreeSet<PathBuf>,
}

impl KnownNames {
    /// All are to be sent once more.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Adds the places in a recording's frame to those whose names are to be sent, if they were not.
    pub fn add(&mut self, recording: &Path, merged: &Merged) {
        let known: Vec<Option<Option<&HashSet<u64>>>> =
            merged.modules.iter().map(|module| module.key().map(|key| self.known.get(&key))).collect();
        let unknown = merged.places.iter().any(|place| {
            let known = place.module.and_then(|module| known[module as usize]);
            known.is_some_and(|known| !known.is_some_and(|known| known.contains(&place.address)))
        });
        if unknown {
            let mut sum = diytrace_profile::merge::Merging::new(Default::default(), None);
            let mut recordings = BTreeSet::from([recording.to_owned()]);
            if let Some(rest) = self.rest.take() {
                sum.add_merged(&rest.merged, None);
                recordings.extend(rest.recordings);
            }
            sum.add_merged(merged, None);
            self.rest = Some(Rest { merged: sum.finish(), recordings });
        }
    }

    /// Sends what the service does not know yet; all there is if there will be no later time.
    pub fn send(&mut self, client: &Client, is_last: bool) -> Result<(), Error> {
        let is_soon = self.latest.is_some_and(|latest| latest.elapsed() < PAUSE);
        let Some(rest) = self.rest.take_if(|_| is_last || !is_soon) else { return Ok(()) };
        let Rest { merged, recordings } = rest;
        let opened = Opened::beside(recordings.iter().cloned(), merged);
        let symbols = opened.symbols();
        let sent = gather(&opened.merged, &symbols).try_for_each(|(module, symbols)| {
            let Some(key) = opened.merged.modules[module as usize].key() else { return Ok(()) };
            let names = Names { module: key, symbols };
            client.send_names(&names)?;
            let here = opened.merged.places.iter().filter(|place| place.module == Some(module));
            self.known.entry(names.module).or_default().extend(here.map(|place| place.address));
            Ok(())
        });
        drop(symbols);
        self.latest = Some(Instant::now());
        if sent.is_err() {
            self.rest = Some(Rest { merged: opened.merged, recordings });
        }
        sent
    }
}
