//! Many selections of one store, each opened by itself: the store is opened once, and asked for many of them at once.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diytrace_profile::module::ModuleKey;
use diytrace_profile::opened::Opened;
use diytrace_profile::symbolize::{KnownModules, Portable};
use rustc_hash::FxHashMap;

use crate::engine::{Selected, Stored};
use crate::{Error, Query};

/// How many are asked for at once: they are in memory until they are opened.
const AT_ONCE: usize = 32;

/// Selections of a store.
pub struct Several {
    queries: Vec<Query>,
    asked: Mutex<Vec<Asked>>,
    store: Shared,
}

/// How far one of them is.
enum Asked {
    Not,
    /// It was asked for with others: nothing was counted, or that.
    Is(Option<Box<Selected>>),
    Opened,
}

/// A store, and what it has told of modules.
#[derive(Clone)]
struct Shared(Arc<Mutex<(Stored, Known)>>);

type Known = FxHashMap<ModuleKey, Option<Portable>>;

impl Several {
    /// Of a store that is open.
    pub fn of(store: Stored, queries: Vec<Query>) -> Self {
        let asked = Mutex::new(queries.iter().map(|_| Asked::Not).collect());
        Self { queries, asked, store: Shared(Arc::new(Mutex::new((store, Known::default())))) }
    }

    /// One of them, ready for every view of a profile.
    pub fn open(&self, number: usize) -> Result<Opened, Error> {
        let nothing = || Error::Nothing { why: self.queries[number].why_nothing() };
        let Selected { loaded, merged } = self.selected(number)?.ok_or_else(nothing)?;
        Ok(Opened::known(loaded, merged, Box::new(self.store.clone())))
    }

    fn selected(&self, number: usize) -> Result<Option<Selected>, Error> {
        // Whoever else wants one meanwhile most likely wants one of the same.
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match std::mem::replace(&mut asked[number], Asked::Opened) {
            Asked::Is(selected) => return Ok(selected.map(|selected| *selected)),
            Asked::Not => self.ask(&mut asked, number),
            Asked::Opened => self.store.lock().0.select_each(&self.queries[number..=number]).map(|mut one| one.pop()),
        };
        Ok(found?.flatten())
    }

    /// Asks for one, which is marked as opened, and those beside it that nobody has asked for.
    fn ask(&self, asked: &mut [Asked], number: usize) -> Result<Option<Option<Selected>>, Error> {
        let first = number / AT_ONCE * AT_ONCE;
        let beside: Range<usize> = first..(first + AT_ONCE).min(self.queries.len());
        let numbers: Vec<usize> =
            beside.filter(|other| *other == number || matches!(asked[*other], Asked::Not)).collect();
        let queries: Vec<Query> = numbers.iter().map(|number| self.queries[*number].clone()).collect();
        let mut found = None;
        let answer = self.store.lock().0.select_each(&queries)?;
        for (other, selected) in numbers.into_iter().zip(answer) {
            match other == number {
                true => found = Some(selected),
                false => asked[other] = Asked::Is(selected.map(Box::new)),
            }
        }
        Ok(found)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Stored, Known)> {
        // Only reading goes on in there: whoever panicked has left nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownModules for Shared {
    fn module(&self, key: &ModuleKey) -> Result<Option<Portable>, String> {
        let (store, known) = &mut *self.lock();
        match known.get(key) {
            Some(told) => Ok(told.clone()),
            None => {
                let told = store.symbols(key).map_err(|error| error.to_string())?;
                Ok(known.entry(key.clone()).or_insert(told).clone())
            }
        }
    }
}
