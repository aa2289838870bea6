//! Recordings as frames, with the labels that they have by themselves.

use std::path::PathBuf;

use diytrace_profile::load::interval::Interval;
use diytrace_profile::load::{Arena, Family, LeftOut, Loaded, Sources, Summary, read_all};
use diytrace_profile::merge::{By, Merging, PartKey};
use diytrace_profile::module::ModuleKey;
use diytrace_profile::once::Once;
use diytrace_profile::opened::{Opened, settled};
use diytrace_profile::run::note::Note;
use diytrace_profile::symbolize::{Portable, gather};
use rustc_hash::FxHashSet;

use crate::engine::{Engine, Put};
use crate::{Error, Frame, Labels};

/// What recordings are labelled with.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    /// By `--label`: they go before those that recordings have by themselves.
    pub labels: Vec<(String, String)>,
}

/// What became of recordings that were put in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// New ones.
    pub added: u64,
    /// Those that have counted more since they were put in last.
    pub grown: u64,
    /// Those that were there already.
    pub known: u64,
    /// Those that were there with other labels, and have these now.
    pub relabelled: u64,
    /// Call paths in all of these.
    pub paths: u64,
}

/// Recordings are put in together until they have so many paths: few enough to be in memory. What comes in a fifth of that
/// costs a ClickHouse twice as much: it has all that to merge.
const AT_ONCE: u64 = 250_000;

impl Pushed {
    /// Puts frames in, and counts what became of them.
    fn put<S: Sink + ?Sized>(&mut self, sink: &mut S, frames: &mut Vec<Frame>) -> Result<(), S::Error> {
        for put in sink.put_all(frames)? {
            match put {
                Put::Added => self.added += 1,
                Put::Grown => self.grown += 1,
                Put::Known => self.known += 1,
                Put::Relabelled => self.relabelled += 1,
            }
        }
        frames.clear();
        Ok(())
    }
}

/// What recordings are put into: a store here, or a service that has one.
pub trait Sink {
    /// Why one cannot be put in.
    type Error: From<Error> + From<diytrace_profile::load::Error>;

    /// Puts a frame in.
    fn put(&mut self, frame: &Frame) -> Result<Put, Self::Error>;

    /// Puts many in, in this order.
    fn put_all(&mut self, frames: &[Frame]) -> Result<Vec<Put>, Self::Error> {
        frames.iter().map(|frame| self.put(frame)).collect()
    }

    /// Adds what is known of a module.
    fn put_symbols(&mut self, module: &ModuleKey, symbols: Portable) -> Result<(), Self::Error>;
}

impl Sink for dyn Engine + Send + '_ {
    type Error = Error;

    fn put(&mut self, frame: &Frame) -> Result<Put, Error> {
        Engine::put(self, frame)
    }

    fn put_all(&mut self, frames: &[Frame]) -> Result<Vec<Put>, Error> {
        Engine::put_all(self, frames)
    }

    fn put_symbols(&mut self, module: &ModuleKey, symbols: Portable) -> Result<(), Error> {
        Engine::put_symbols(self, module, symbols)
    }
}

/// Recordings on their way in: they are put in together, and what their modules mean after all of them.
struct Pushing<'a, S: ?Sized> {
    sink: &'a mut S,
    pushed: Pushed,
    together: Vec<Frame>,
    /// Of these.
    paths: u64,
    whole: Merging,
}

impl<S: Sink + ?Sized> Pushing<'_, S> {
    fn add(&mut self, frame: Frame) -> Result<(), S::Error> {
        self.paths += frame.merged.groups.iter().map(|group| group.tree.paths.len() as u64).sum::<u64>();
        self.whole.add_merged(&frame.merged, None);
        self.together.push(frame);
        if self.paths >= AT_ONCE { self.put() } else { Ok(()) }
    }

    fn put(&mut self) -> Result<(), S::Error> {
        self.pushed.paths += std::mem::take(&mut self.paths);
        self.pushed.put(self.sink, &mut self.together)
    }
}

/// Puts recordings in: profiles, archives, folders of them, and `A..B`, what one has beyond another.
pub fn push<S: Sink + ?Sized>(
    sink: &mut S,
    profiles: &[PathBuf],
    labelled: &Labelled,
) -> Result<(Pushed, Vec<LeftOut>), S::Error> {
    let (together, whole) = (Vec::new(), Merging::new(By::All, None));
    let mut pushing = Pushing { sink, pushed: Pushed::default(), together, paths: 0, whole };
    let mut loaded = Loaded::default();
    let read = read_into(&mut pushing, profiles, labelled, &mut loaded);
    // What was read before one that cannot be is put in, too.
    pushing.put()?;
    read?;
    let Pushing { sink, pushed, whole, .. } = pushing;
    let left_out = loaded.left_out.clone();
    let opened = Opened::of(loaded, whole.finish());
    let symbols = opened.symbols();
    for (module, portable) in gather(&opened.merged, &symbols) {
        if let Some(key) = opened.merged.modules[module as usize].key() {
            sink.put_symbols(&key, portable)?;
        }
    }
    Ok((pushed, left_out))
}

fn read_into<S: Sink + ?Sized>(
    pushing: &mut Pushing<S>,
    profiles: &[PathBuf],
    labelled: &Labelled,
    loaded: &mut Loaded,
) -> Result<(), S::Error> {
    let (mut whole, mut once, mut runs) = (Vec::new(), Once::default(), FxHashSet::default());
    for path in profiles {
        match Interval::names(path) {
            None => whole.push(path.clone()),
            Some((from, to)) => {
                let interval = Interval::load(&from, &to).map_err(S::Error::from)?;
                if !once.is_first_since(Some(&interval.from), &interval.to).map_err(S::Error::from)? {
                    continue;
                }
                runs.insert(session(&interval.to));
                pushing.add(interval_frame(&interval, labelled))?;
                loaded.profiles.push(interval.to.into());
            }
        }
    }
    if whole.is_empty() && !profiles.is_empty() {
        loaded.left_out.extend(once.left_out);
        return Ok(());
    }
    let more = read_all(Sources::find(&whole).map_err(S::Error::from)?, |family, bytes| {
        drop(bytes);
        // Of two moments of a run the later one counts; what lies between them, beside it, would count twice.
        if runs.contains(&session(&family)) && !once.is_first(&family).map_err(S::Error::from)? {
            return Ok(None);
        }
        pushing.add(frame(None, &family, labelled))?;
        Ok::<_, S::Error>(Some(Summary::from(family)))
    })?;
    loaded.profiles.extend(more.profiles);
    loaded.left_out.extend(more.left_out.into_iter().chain(once.left_out));
    loaded.archives = more.archives;
    Ok(())
}

/// What a family counted between two readings, as a recording of its own: it is one run of what the program was asked.
fn interval_frame(interval: &Interval, labelled: &Labelled) -> Frame {
    let Interval { from, to } = interval;
    let frame = frame(Some(from), to, labelled);
    Frame { session: format!("{}-{}", session(to), frame.start), holds_later: true, ..frame }
}

/// A recording as a whole, frame 0; or what it has beyond an earlier reading, for its sender to number.
pub fn frame(earlier: Option<&Family>, family: &Family, labelled: &Labelled) -> Frame {
    let mut merging = Merging::new(By::All, None).with_whole_open_calls().with_changes_only();
    merging.add_since(earlier, family);
    let merged = merging.finish();
    let merged = settled(if earlier.is_some() { merged.without_idle() } else { merged }, &family.path);
    let summary = Summary::of(family);
    let part = PartKey::of(family);
    let start = earlier.map_or(family.started_unix_ns, ended);
    let mut frame = Frame {
        labels: Labels::default(),
        session: session(family),
        sequence: 0,
        holds_later: earlier.is_none(),
        start: signed(start),
        // A program that was killed has counted last before it was read last.
        end: signed(ended(family).max(start)),
        part,
        summary,
        merged,
    };
    let build = match frame.build() {
        ModuleKey::BuildId(id) => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        ModuleKey::File(file) => format!("unidentified-{}", file.modified_unix_ns),
    };
    let service = family.exe.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("unknown");
    frame.labels.set("service", service.to_owned());
    frame.labels.set("host", host_name());
    frame.labels.set("build", build);
    if let Some(label) = Note::read(&family.path).and_then(|note| note.label) {
        frame.labels.set("label", label.chars().take(Labels::MOST_BYTES / 4).collect());
    }
    for (name, value) in &labelled.labels {
        frame.labels.set(name, value.clone());
    }
    frame
}

/// What tells a recording from all others.
pub fn session(family: &Family) -> String {
    let boot: String = family.boot_id.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{boot}-{}-{}", family.pid, family.started_unix_ns)
}

/// When it counted last, in nanoseconds since 1970.
pub fn ended(family: &Family) -> u64 {
    let latest = [family.read_ticks, family.last_anchor_ticks, family.end_ticks].into_iter().max().unwrap_or(0);
    let marks = family.arenas.iter().map(Arena::last_mark).max().unwrap_or(0);
    family.unix_ns(latest.max(marks)).max(family.started_unix_ns)
}

/// A moment as stores have it.
pub fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// This host's name.
pub fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is as long as it is said to be, and its last byte stays 0.
    let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    match result {
        0 if len > 0 => String::from_utf8_lossy(&name[..len]).into_owned(),
        _ => "unknown".to_owned(),
    }
}
