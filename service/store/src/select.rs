//! A selection as a profile like any other.

use std::sync::Mutex;

use diytrace_profile::module::ModuleKey;
use diytrace_profile::opened::Opened;
use diytrace_profile::symbolize::{KnownModules, Portable};

use crate::engine::{Engine, Selected, Stored};
use crate::{Error, GroupBy, Query};

/// What a store knows of modules.
struct Modules(Mutex<Stored>);

impl KnownModules for Modules {
    fn module(&self, key: &ModuleKey) -> Result<Option<Portable>, String> {
        // Only reading goes on in there: whoever panicked has left nothing half done.
        let store = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        store.symbols(key).map_err(|error| error.to_string())
    }
}

/// What is asked for, ready for every view of a profile, in groups.
pub fn open(store: Stored, query: &Query, by: &GroupBy) -> Result<Opened, Error> {
    let Selected { loaded, merged } = Engine::select(&*store, query, by)?;
    Ok(Opened::known(loaded, merged, Box::new(Modules(Mutex::new(store)))))
}
