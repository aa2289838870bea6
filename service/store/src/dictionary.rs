//! What the numbers of places and paths in frames stand for: those of one build of a program, in the order in which they came.

use diytrace_profile::merge::{Key, Merged, PathId, PlaceId};
use rustc_hash::FxHashMap;

/// A module's number in the store.
pub type ModuleNumber = i64;

/// An address in a module, if it is in one.
pub type Place = (Option<ModuleNumber>, u64);

/// A path: what makes it one, and what its call's target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Its parent's number is lower than its own.
    pub key: Key,
    pub target: Option<PlaceId>,
}

/// Places and paths, by their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entries {
    places: Vec<Place>,
    paths: Vec<Path>,
}

/// Places and paths of one build, and their numbers.
#[derive(Debug, Default)]
pub struct Dictionary {
    entries: Entries,
    place_numbers: FxHashMap<Place, PlaceId>,
    path_numbers: FxHashMap<Key, PathId>,
}

/// The numbers in a dictionary of what has others elsewhere.
#[derive(Default)]
pub struct Numbers {
    pub places: Vec<PlaceId>,
    pub paths: Vec<PathId>,
}

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len() + self.paths.len()
    }
}

impl Entries {
    /// All places.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// All paths.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>() + self.paths.capacity() * size_of::<Path>()
    }

    /// The path above one.
    pub fn parent(&self, path: PathId) -> Option<PathId> {
        self.paths.get(path as usize)?.key.parent
    }

    /// Adds a place as it is read, the next in order.
    pub fn push_place(&mut self, place: Place) {
        self.places.push(place);
    }

    /// Adds a path as it is read, the next in order. Whether it can be.
    pub fn push_path(&mut self, path: Path) -> bool {
        let (next, places) = (self.paths.len() as PathId, self.places.len() as PlaceId);
        let key = &path.key;
        let mut all = [key.function, key.site, key.hook].into_iter().chain(path.target);
        let are_places = all.all(|place| place < places);
        let are_above = key.parent.into_iter().chain(key.folded_into).all(|above| above < next);
        self.paths.push(path);
        are_places && are_above
    }
}

impl Dictionary {
    /// What the numbers stand for.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// All places.
    pub fn places(&self) -> &[Place] {
        &self.entries.places
    }

    /// All paths.
    pub fn paths(&self) -> &[Path] {
        &self.entries.paths
    }

    /// The path above one.
    pub fn parent(&self, path: PathId) -> Option<PathId> {
        self.entries.parent(path)
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        // A table keeps an eighth of its places empty, and a byte beside each.
        let table = |capacity: usize, entry: usize| capacity * (entry + 1) * 8 / 7;
        let places = table(self.place_numbers.capacity(), size_of::<(Place, PlaceId)>());
        let paths = table(self.path_numbers.capacity(), size_of::<(Key, PathId)>());
        self.entries.bytes() + places + paths
    }

    /// Gives back memory that was made ready for more than there is.
    pub fn shrink(&mut self) {
        self.entries.places.shrink_to_fit();
        self.entries.paths.shrink_to_fit();
    }

    /// The number of a place, if it has one.
    pub fn place(&self, place: Place) -> Option<PlaceId> {
        self.place_numbers.get(&place).copied()
    }

    /// The number of a path, if it has one.
    pub fn path(&self, key: &Key) -> Option<PathId> {
        self.path_numbers.get(key).copied()
    }

    /// Adds a place as it is read, the next in order.
    pub fn push_place(&mut self, place: Place) {
        self.place_numbers.insert(place, self.entries.places.len() as PlaceId);
        self.entries.push_place(place);
    }

    /// Adds a path as it is read, the next in order. Whether it can be.
    pub fn push_path(&mut self, path: Path) -> bool {
        self.path_numbers.insert(path.key, self.entries.paths.len() as PathId);
        self.entries.push_path(path)
    }

    /// Numbers all that was merged; what is new comes behind what is known. `modules`: those of the modules there.
    pub fn number(&mut self, merged: &Merged, modules: &[ModuleNumber]) -> Numbers {
        let mut numbers = Numbers::default();
        for place in &merged.places {
            let place = (place.module.map(|module| modules[module as usize]), place.address);
            numbers.places.push(self.number_place(place));
        }
        for path in merged.groups.iter().flat_map(|group| &group.tree.paths) {
            let number = self.number_path(&path.key, path.target, &numbers);
            numbers.paths.push(number);
        }
        numbers
    }

    /// Numbers entries of another kind of numbers, of which those that have numbers already are the first.
    pub fn number_entries(&mut self, entries: &Entries, modules: &[ModuleNumber], numbers: &mut Numbers) {
        for (module, address) in &entries.places[numbers.places.len()..] {
            let place = (module.map(|module| modules[module as usize]), *address);
            numbers.places.push(self.number_place(place));
        }
        for path in &entries.paths[numbers.paths.len()..] {
            let number = self.number_path(&path.key, path.target, numbers);
            numbers.paths.push(number);
        }
    }

    fn number_place(&mut self, place: Place) -> PlaceId {
        *self.place_numbers.entry(place).or_insert_with(|| {
            self.entries.places.push(place);
            self.entries.places.len() as PlaceId - 1
        })
    }

    /// A path whose key and target are by numbers elsewhere.
    fn number_path(&mut self, key: &Key, target: Option<PlaceId>, numbers: &Numbers) -> PathId {
        let (place, number) =
            (|place: PlaceId| numbers.places[place as usize], |path: PathId| numbers.paths[path as usize]);
        let key = Key {
            parent: key.parent.map(number),
            function: place(key.function),
            site: place(key.site),
            hook: place(key.hook),
            flags: key.flags,
            folded_into: key.folded_into.map(number),
        };
        let target = target.map(place);
        *self.path_numbers.entry(key).or_insert_with(|| {
            self.entries.paths.push(Path { key, target });
            self.entries.paths.len() as PathId - 1
        })
    }
}
