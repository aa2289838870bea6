//! How a path's call was made: by which instruction, from whose code.

use std::cell::RefCell;
use std::rc::Rc;

use diytrace_format::node::flag;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::demangle::shown;
use crate::elf::symbols::base_name;
use crate::merge::{CallPath, Merged, PathId, Place, PlaceId, Tree};
use crate::symbolize::{CallForm, Probe, Symbol, Symbols};

/// How a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    /// By the function's own address.
    Direct,
    /// Through the procedure linkage table or the global offset table.
    Plt,
    /// Through a pointer, or code that jumps.
    Indirect,
    /// It was not: the body is inlined in another function's.
    Inlined,
    /// Nobody knows.
    Unknown,
}

impl CallKind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Plt => "plt",
            Self::Indirect => "indirect",
            Self::Inlined => "inlined",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for CallKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How many calls were made how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "they are those of `CallKind`")]
pub struct Kinds {
    pub direct: u64,
    pub plt: u64,
    pub indirect: u64,
    pub inlined: u64,
    pub unknown: u64,
}

impl Kinds {
    /// Adds calls.
    pub fn add(&mut self, kind: CallKind, calls: u64) {
        let sum = match kind {
            CallKind::Direct => &mut self.direct,
            CallKind::Plt => &mut self.plt,
            CallKind::Indirect => &mut self.indirect,
            CallKind::Inlined => &mut self.inlined,
            CallKind::Unknown => &mut self.unknown,
        };
        *sum = sum.saturating_add(calls);
    }

    /// How most were made, if there are any.
    pub fn most(&self) -> Option<CallKind> {
        use CallKind::{Direct, Indirect, Inlined, Plt, Unknown};
        let kinds = [
            (Direct, self.direct),
            (Plt, self.plt),
            (Indirect, self.indirect),
            (Inlined, self.inlined),
            (Unknown, self.unknown),
        ];
        let most = kinds.into_iter().rev().max_by_key(|&(_, calls)| calls);
        most.filter(|&(_, calls)| calls > 0).map(|(kind, _)| kind)
    }
}

/// How a path's call was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The return address of the call, or for an inlined body of its enter hook.
    pub site: Place,
    /// How its line is found.
    pub probe: Probe,
    /// How it was made.
    pub kind: CallKind,
    /// What is between caller and callee and has no hooks.
    pub via: Option<String>,
    /// Of an inlined body: the function whose code it has become a part of.
    pub into: Option<String>,
    /// Of a call whose caller is not recorded: the function that it is written in.
    pub unrecorded: Option<String>,
}

/// Looks calls up in the code.
pub struct Calls<'a, 'f> {
    merged: &'a Merged,
    symbols: &'a Symbols<'f>,
    /// Whether a body is inlined, by its function and enter hook. Far fewer than paths, as all below.
    are_inlined: FxHashMap<(PlaceId, PlaceId), bool>,
    /// What was found out. Many paths end in the same call.
    known: RefCell<FxHashMap<Question, CallId>>,
    /// The answers, each once.
    ids: RefCell<FxHashMap<Rc<Call>, CallId>>,
    all: RefCell<Vec<Rc<Call>>>,
    /// Names as people write them, by those that the linker knows.
    shown: RefCell<FxHashMap<&'f str, String>>,
}

/// A call's number: what is made in the same way from the same place has the same. They are given as they are asked for.
pub type CallId = u32;

/// All that a call's answer depends on: function, call site, enter hook, target, and the caller's enter hook.
type Question = (PlaceId, PlaceId, PlaceId, PlaceId, PlaceId);

/// Stands for no place in a question, of which there are many: a place that there is not.
const NONE: PlaceId = PlaceId::MAX;

impl<'a, 'f> Calls<'a, 'f> {
    /// For these profiles.
    pub fn new(merged: &'a Merged, symbols: &'a Symbols<'f>) -> Self {
        let (known, ids, all, shown) = Default::default();
        let mut calls = Self { merged, symbols, are_inlined: FxHashMap::default(), known, ids, all, shown };
        let ends = merged.groups.iter().flat_map(|group| group.tree.paths.ends());
        let bodies: FxHashSet<(PlaceId, PlaceId)> = ends.map(|end| (end.function, end.hook)).collect();
        // The return address of the enter hook of each function's own code: not that of an inlined copy. A function that
        // the compiler inlined into itself has several enter hooks. Its own comes first in its code.
        let mut own_hooks: FxHashMap<PlaceId, u64> = FxHashMap::default();
        for &(function, hook) in &bodies {
            let own = own_hooks.entry(function).or_insert(u64::MAX);
            // Of calls that are counted by function only no hook is known.
            let place = calls.place(hook);
            if place.address < *own && symbols.enclosing(place).is_some() && calls.is_in_own_code(function, hook) {
                *own = place.address;
            }
        }
        let is_inlined = |body: (PlaceId, PlaceId)| (body, calls.is_body_inlined(body, own_hooks[&body.0]));
        calls.are_inlined = bodies.into_iter().map(is_inlined).collect();
        calls
    }

    fn place(&self, id: PlaceId) -> Place {
        self.merged.places[id as usize]
    }

    /// Whether a call's body runs in the code of its own function.
    fn is_in_own_code(&self, function: PlaceId, hook: PlaceId) -> bool {
        let (function, hook) = (self.place(function), self.place(hook));
        let Some(symbol) = self.symbols.enclosing(hook) else { return true }; // stripped: nothing says otherwise
        hook.module == function.module && symbol.address == function.address
    }

    /// Whether a path's calls are of a body inlined in another function, or in the function itself.
    pub fn is_inlined(&self, path: &CallPath) -> bool {
        self.are_inlined[&(path.key.function, path.key.hook)]
    }

    /// The same of each number of a tree's ends of paths.
    pub fn inlined_ends(&self, tree: &Tree) -> Vec<bool> {
        tree.paths.ends().map(|end| self.are_inlined[&(end.function, end.hook)]).collect()
    }

    /// The same of a body, whose function's own enter hook returns to `own_hook`.
    fn is_body_inlined(&self, (function, hook): (PlaceId, PlaceId), own_hook: u64) -> bool {
        let is_in_own_code = self.is_in_own_code(function, hook);
        let hook = self.place(hook);
        if is_in_own_code {
            return hook.address != own_hook && self.symbols.enclosing(hook).is_some();
        }
        // A copy that the compiler made of the function is the function; a part that it split off has no enter of its own.
        let function = self.symbols.function(self.place(function));
        let physical = self.symbols.enclosing(hook);
        let is_copy = function.zip(physical).is_some_and(|(function, physical)| {
            same_base(function, physical) && !physical.name.contains(".part.") && !physical.name.contains(".cold")
        });
        !is_copy
    }

    /// How a call was made.
    pub fn call(&self, id: CallId) -> Rc<Call> {
        Rc::clone(&self.all.borrow()[id as usize])
    }

    /// All that were asked for, in the order of their numbers.
    pub fn all(&self) -> Vec<Rc<Call>> {
        self.all.borrow().clone()
    }

    /// The call of a path.
    pub fn id(&self, tree: &Tree, path: PathId) -> CallId {
        let paths = &tree.paths;
        let key = paths.key(path);
        let (target, caller) = (paths.target(path), key.parent.map(|parent| paths.hook(parent)));
        let question = (key.function, key.site, key.hook, target.unwrap_or(NONE), caller.unwrap_or(NONE));
        if let Some(&known) = self.known.borrow().get(&question) {
            return known;
        }
        let call = Rc::new(self.find_out(&paths.get(path), caller.map(|caller| self.place(caller))));
        let mut all = self.all.borrow_mut();
        let id = *self.ids.borrow_mut().entry(Rc::clone(&call)).or_insert(all.len() as CallId);
        if id as usize == all.len() {
            all.push(call);
        }
        self.known.borrow_mut().insert(question, id);
        id
    }

    fn find_out(&self, path: &CallPath, caller: Option<Place>) -> Call {
        let (function, hook, site) = (path.key.function, path.key.hook, path.key.site);
        let (function, hook, site) = (self.place(function), self.place(hook), self.place(site));
        if path.key.flags & flag::EDGE != 0 {
            // From wherever in that function.
            let is_inlined = self.is_inlined(path);
            let kind = if is_inlined { CallKind::Inlined } else { CallKind::Unknown };
            return Call { site, probe: Probe::Function, kind, via: None, into: None, unrecorded: None };
        }
        if self.is_inlined(path) {
            let via = caller.and_then(|caller| self.between(caller, hook));
            let into = self.symbols.enclosing(hook).and_then(|symbol| self.name(hook, symbol));
            return Call {
                site: hook,
                probe: Probe::InlinedCall,
                kind: CallKind::Inlined,
                via,
                into,
                unrecorded: None,
            };
        }
        let form = self.symbols.call_before(site);
        // Where a call does not return, what it would return to may be another function's first instruction. But a coroutine begins as
        // if it had been called from where it is to return to.
        let call = match form {
            CallForm::Unknown => site,
            _ => Place { address: site.address.saturating_sub(1), ..site },
        };
        let mut via = caller.and_then(|caller| self.between(caller, call));
        let kind = match form {
            CallForm::Plt => CallKind::Plt,
            CallForm::Indirect => CallKind::Indirect,
            CallForm::Direct(target) => {
                let target = Place { address: target, ..site };
                match self.trampoline(function, target) {
                    None => CallKind::Direct,
                    Some(symbol) => {
                        via = via.or_else(|| self.name(target, symbol?));
                        CallKind::Indirect
                    }
                }
            }
            CallForm::Unknown => match path.target.map(|target| self.place(target)) {
                Some(target) if target == function => CallKind::Direct,
                _ => CallKind::Unknown,
            },
        };
        let unrecorded = match caller {
            Some(_) => None,
            None => self.name(site, self.symbols.enclosing(call).unwrap_or_default()),
        };
        Call { site, probe: Probe::Call, kind, via, into: None, unrecorded }
    }

    /// `None` if a direct call's target is the function; else what was called first and then jumped to it.
    fn trampoline(&self, function: Place, target: Place) -> Option<Option<Symbol<'f>>> {
        if target == function {
            return None;
        }
        let called = self.symbols.enclosing(target);
        let is_copy = called
            .zip(self.symbols.function(function))
            .is_some_and(|(called, function)| target.address == called.address && same_base(called, function));
        (!is_copy).then_some(called)
    }

    /// The code that `place` lies in, unless it is the caller's, which `caller` lies in.
    fn between(&self, caller: Place, place: Place) -> Option<String> {
        let (own, other) = (self.symbols.enclosing(caller), self.symbols.enclosing(place));
        match (own, other) {
            (Some(own), Some(other)) if caller.module == place.module => {
                let is_same = own.address == other.address || same_base(own, other);
                if is_same { None } else { self.name(place, other) }
            }
            _ if caller.module == place.module => None,
            (_, Some(other)) => self.name(place, other),
            (_, None) => self.name(place, Symbol::default()),
        }
    }

    /// What to call the code at a place: by its function, or else by its module.
    fn name(&self, place: Place, symbol: Symbol<'f>) -> Option<String> {
        match symbol.name {
            "" => Some(self.merged.modules[place.module? as usize].short_name().to_owned()),
            name => Some(self.shown.borrow_mut().entry(name).or_insert_with(|| shown(name).into_owned()).clone()),
        }
    }
}

/// Whether one is a copy or a part of the other.
fn same_base(a: Symbol, b: Symbol) -> bool {
    !a.name.is_empty() && base_name(a.name) == base_name(b.name)
}
