//! What the numbers of paths and places stand for: written by whoever needs new ones, read as a whole for a build.

use diytrace_profile::merge::{Key, Merged};
use diytrace_profile::module::ModuleKey;
use rustc_hash::{FxHashMap, FxHashSet};

use super::binary::{Reader, Writer};
use super::literal::listed;
use super::store::{ClickHouse, Known};
use crate::dictionary::{Dictionary, Path};
use crate::id::Id;
use crate::kept::{build_id_of, bytes_of};
use crate::moment::now_ns;
use crate::{Error, kept};

/// The numbers in the store of what has others in a frame.
pub struct Numbers {
    pub places: Vec<u64>,
    pub paths: Vec<u64>,
}

/// Rows that are new.
#[derive(Default)]
pub struct News {
    modules: Writer,
    places: Writer,
    paths: Writer,
}

/// The number of a module.
pub fn module_id(key: &ModuleKey) -> u64 {
    Id::of("module").bytes(&bytes_of(key)).finish()
}

/// Numbers all that a frame has, and gathers what is not known to be there.
pub fn number(merged: &Merged, build: u64, known: &mut Known, news: &mut News) -> Numbers {
    let modules = merged.modules.iter().map(|module| {
        module.key().map_or(0, |key| {
            let id = module_id(&key);
            if known.modules.insert(id) {
                module_row(&mut news.modules, &key, 0, module.path(), &[]);
            }
            id as i64
        })
    });
    let modules: Vec<i64> = modules.collect();
    let local = known.dictionary.number(merged, &modules);
    for (module, address) in &known.dictionary.places()[known.place_ids.len()..] {
        // One in no module that can be told from others is no place in none.
        let (is_in_one, module) = (u64::from(module.is_some()), module.unwrap_or(0) as u64);
        let id = Id::of("place").number(is_in_one).number(module).number(*address).finish();
        if known.places.insert(id) {
            [build, id, module, *address].into_iter().for_each(|number| news.places.u64(number));
        }
        known.place_ids.push(id);
    }
    for Path { key, target } in &known.dictionary.paths()[known.path_ids.len()..] {
        let Key { parent, function, site, hook, flags, folded_into } = *key;
        let place = |place: u32| known.place_ids[place as usize];
        let above = |above: Option<u32>| above.map_or(0, |above| known.path_ids[above as usize]);
        let key = [above(parent), place(function), place(site), place(hook), u64::from(flags), above(folded_into)];
        let id = key.iter().fold(Id::of("path"), |id, number| id.number(*number)).finish();
        let depth = parent.map_or(0, |parent| known.depths[parent as usize] + 1);
        if known.paths.insert(id) {
            let row = &mut news.paths;
            row.u64(build);
            row.u64(id);
            row.u32(depth);
            key[..4].iter().for_each(|number| row.u64(*number));
            row.u32(flags);
            row.u64(key[5]);
            row.u64(target.map_or(0, place));
        }
        known.path_ids.push(id);
        known.depths.push(depth);
    }
    Numbers {
        places: local.places.iter().map(|place| known.place_ids[*place as usize]).collect(),
        paths: local.paths.iter().map(|path| known.path_ids[*path as usize]).collect(),
    }
}

/// The row of a module; that of a higher version stands in its place.
pub fn module_row(row: &mut Writer, key: &ModuleKey, version: u64, path: &str, symbols: &[u8]) {
    row.u64(module_id(key));
    row.u64(version);
    row.text(&bytes_of(key));
    row.text(build_id_of(key).as_bytes());
    row.text(path.as_bytes());
    row.text(symbols);
}

impl News {
    /// Puts it in.
    pub fn put(&self, store: &ClickHouse) -> Result<(), Error> {
        store.client.insert("module (id, version, key, build_id, path, symbols)", &self.modules.bytes)?;
        store.client.insert("place (build, id, module, address)", &self.places.bytes)?;
        store.client.insert(
            "path (build, id, depth, parent, function, site, hook, flags, folded_into, target)",
            &self.paths.bytes,
        )
    }
}

/// What is there of a build.
pub fn known(store: &ClickHouse, build: u64) -> Result<Known, Error> {
    let ids = |query: String| -> Result<FxHashSet<u64>, Error> {
        let rows = store.client.rows(&query, &[])?;
        let mut rows = Reader::of(&rows);
        let mut ids = FxHashSet::default();
        while !rows.is_at_end() {
            ids.insert(rows.u64().ok_or_else(|| store.damaged("a table of paths"))?);
        }
        Ok(ids)
    };
    Ok(Known {
        since: std::time::Instant::now(),
        modules: ids("SELECT DISTINCT id FROM module".to_owned())?,
        places: ids(format!("SELECT DISTINCT id FROM place WHERE build = {build}"))?,
        paths: ids(format!("SELECT DISTINCT id FROM path WHERE build = {build}"))?,
        dictionary: Dictionary::default(),
        place_ids: Vec::new(),
        path_ids: Vec::new(),
        depths: Vec::new(),
    })
}

/// The dictionary of a build, with the numbers that its paths and places have in the store.
#[derive(Default)]
pub struct Build {
    pub dictionary: Dictionary,
    pub paths: FxHashMap<u64, u32>,
    pub places: FxHashMap<u64, u32>,
    pub path_ids: Vec<u64>,
    pub place_ids: Vec<u64>,
    /// Keys of modules, by their numbers in the dictionary.
    pub modules: Vec<ModuleKey>,
}

/// Reads it.
pub fn read(store: &ClickHouse, build: u64) -> Result<Build, Error> {
    read_rows(store, build)?.ok_or_else(|| store.damaged("a table of paths"))
}

fn read_rows(store: &ClickHouse, build: u64) -> Result<Option<Build>, Error> {
    let mut all = Build::default();
    let rows = store.client.rows(
        &format!("SELECT id, any(module), any(address) FROM place WHERE build = {build} GROUP BY id ORDER BY id"),
        &[],
    )?;
    let mut places = Vec::new();
    let mut rows = Reader::of(&rows);
    while !rows.is_at_end() {
        let (Some(id), Some(module), Some(address)) = (rows.u64(), rows.u64(), rows.u64()) else { return Ok(None) };
        places.push((id, module, address));
    }
    let Some(numbers) = modules(store, &mut all, &places)? else { return Ok(None) };
    for (id, module, address) in places {
        all.places.insert(id, all.place_ids.len() as u32);
        all.place_ids.push(id);
        all.dictionary.push_place((numbers.get(&module).copied(), address));
    }
    // A path is deeper than those that it refers to.
    let query = format!(
        "SELECT id, any(parent), any(function), any(site), any(hook), any(flags), any(folded_into), min(target) FROM path \
         WHERE build = {build} GROUP BY id ORDER BY any(depth), id"
    );
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    while !rows.is_at_end() {
        let Some((id, path)) = path(&mut rows, &all) else { return Ok(None) };
        all.paths.insert(id, all.path_ids.len() as u32);
        all.path_ids.push(id);
        if !all.dictionary.push_path(path) {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

fn path(row: &mut Reader, all: &Build) -> Option<(u64, Path)> {
    let (id, parent) = (row.u64()?, row.u64()?);
    let [function, site, hook] = [row.u64()?, row.u64()?, row.u64()?];
    let (flags, folded_into, target) = (row.u32()?, row.u64()?, row.u64()?);
    // 0 is none; what is some must be there.
    let some = |numbers: &FxHashMap<u64, u32>, id: u64| match id {
        0 => Some(None),
        id => numbers.get(&id).copied().map(Some),
    };
    let key = Key {
        parent: some(&all.paths, parent)?,
        function: *all.places.get(&function)?,
        site: *all.places.get(&site)?,
        hook: *all.places.get(&hook)?,
        flags,
        folded_into: some(&all.paths, folded_into)?,
    };
    Some((id, Path { key, target: some(&all.places, target)? }))
}

/// The modules that places are in: their numbers in the dictionary.
fn modules(
    store: &ClickHouse,
    all: &mut Build,
    places: &[(u64, u64, u64)],
) -> Result<Option<FxHashMap<u64, i64>>, Error> {
    let wanted: FxHashSet<u64> = places.iter().map(|(_, module, _)| *module).filter(|module| *module != 0).collect();
    let mut numbers = FxHashMap::default();
    let query = format!("SELECT id, any(key) FROM module WHERE id IN {} GROUP BY id", listed(wanted.iter().copied()));
    let rows = store.client.rows(&query, &[])?;
    let mut rows = Reader::of(&rows);
    while !rows.is_at_end() {
        let (Some(id), Some(key)) = (rows.u64(), rows.bytes()) else { return Ok(None) };
        let Ok(key) = postcard::from_bytes(key) else { return Ok(None) };
        numbers.insert(id, all.modules.len() as i64);
        all.modules.push(key);
    }
    Ok((numbers.len() == wanted.len()).then_some(numbers))
}

/// What is known of modules.
pub fn put_symbols(
    store: &ClickHouse,
    key: &ModuleKey,
    symbols: diytrace_profile::symbolize::Portable,
) -> Result<(), Error> {
    let all = match self::symbols(store, key)? {
        Some(known) if known == symbols => return Ok(()),
        Some(known) => known.and(symbols),
        None => symbols,
    };
    let mut row = Writer::default();
    let query = format!("SELECT any(path) FROM module WHERE id = {}", module_id(key));
    let rows = store.client.rows(&query, &[])?;
    let path =
        Reader::of(&rows).text().filter(|path| !path.is_empty()).unwrap_or_else(|| kept::path_of(key).to_owned());
    module_row(&mut row, key, now_ns().max(1), &path, &crate::blob::write(&all, crate::blob::LASTING));
    store.client.insert("module (id, version, key, build_id, path, symbols)", &row.bytes)
}

/// What is known of a module.
pub fn symbols(store: &ClickHouse, key: &ModuleKey) -> Result<Option<diytrace_profile::symbolize::Portable>, Error> {
    let query = format!("SELECT symbols FROM module FINAL WHERE id = {}", module_id(key));
    let rows = store.client.rows(&query, &[])?;
    match Reader::of(&rows).bytes() {
        None | Some([]) => Ok(None),
        Some(bytes) => crate::blob::read(bytes).map(Some).ok_or_else(|| store.damaged("what it knows of a module")),
    }
}
