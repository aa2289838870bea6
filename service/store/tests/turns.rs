//! Frames of what has changed in a file tell the same as frames of two readings of it as a whole.

use std::fs::File;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use diytrace_format::node::mark;
use diytrace_format::reader::{File as Profile, record_of};
use diytrace_format::{Arena, Bins, Extension, Function, Header, Node, NodeRecord, Pending, Ref, Slot, UNIT, kind};
use diytrace_profile::load::reader::{Reader, Reading};
use diytrace_profile::load::{Changes, Family, Watched};
use diytrace_profile::merge::{Addition, By, Followed, Merged, Merging, Part};
use diytrace_profile::testing::sample;
use diytrace_store::{Frame, Incoming, Labelled, Outgoing, Turn, frame};
use proptest::prelude::*;

/// A recording that is running: this process has it mapped, and counts in it.
struct Running {
    _folder: tempfile::TempDir,
    path: PathBuf,
    file: File,
    arenas: Vec<usize>,
    /// Nodes, with their names.
    nodes: Vec<(Ref, Node)>,
    now: u64,
}

fn bytes_of(word: u64) -> [u8; 8] {
    word.to_le_bytes()
}

impl Running {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program-1-1.diyt");
        let mut bytes = sample();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let boot: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
        let boot = u128::from_str_radix(&boot, 16).unwrap().to_be_bytes();
        bytes[offset_of!(Header, boot_id)..][..16].copy_from_slice(&boot);
        let profile = Profile::open(&bytes).unwrap();
        let blocks: Vec<_> = profile.blocks().collect();
        let nodes = blocks.iter().flat_map(|block| profile.nodes(block)).collect();
        let arenas: Vec<usize> =
            blocks.iter().filter(|block| block.block.kind == kind::ARENA).map(|block| block.offset + UNIT).collect();
        for (number, arena) in arenas.iter().enumerate() {
            let me = std::process::id().to_le_bytes();
            bytes[arena + offset_of!(Arena, pid)..][..4].copy_from_slice(&me);
            bytes[arena + offset_of!(Arena, token)..][..8].copy_from_slice(&bytes_of(1 + number as u64));
        }
        std::fs::write(&path, &bytes).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        // SAFETY: a new mapping of a file of ours, which nobody looks at.
        let mapped = unsafe {
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), bytes.len(), protection, flags, file.as_raw_fd(), 0)
        };
        assert_ne!(mapped, libc::MAP_FAILED);
        Self { _folder: folder, path, file, arenas, nodes, now: 100_000 }
    }

    fn read<T: diytrace_format::reader::Record>(&self, at: usize) -> T {
        let mut bytes = vec![0; size_of::<T>()];
        self.file.read_exact_at(&mut bytes, at as u64).unwrap();
        record_of(&bytes).unwrap()
    }

    fn add(&self, at: usize, more: u64) {
        let word: u64 = self.read(at);
        self.write(at, word + more);
    }

    fn write(&self, at: usize, word: u64) {
        self.file.write_all_at(&bytes_of(word), at as u64).unwrap();
    }

    /// A call on a path, or inside a folded recursion there, and on all above that are not open.
    fn call(&mut self, path: usize, ticks: u64, is_noted: bool, mut is_nested: bool) {
        let (mut next, mut inside) = (Some(self.nodes[path]), 0);
        while let Some((name, node)) = next {
            let at = name as usize * UNIT;
            let more: Ref = self.read(at + offset_of!(NodeRecord, more));
            let slot_at = match std::mem::take(&mut is_nested) {
                true => more as usize * UNIT + offset_of!(Extension, slot),
                false => at + offset_of!(NodeRecord, slot),
            };
            let slot: Slot = self.read(slot_at);
            if slot.mark & mark::OPEN == 0 {
                let of = |field: usize| slot_at + field;
                self.now += ticks;
                self.add(of(offset_of!(Slot, calls)), 1);
                self.add(of(offset_of!(Slot, ticks)), ticks * (inside + 1));
                self.add(of(offset_of!(Slot, descendants)), inside);
                self.write(of(offset_of!(Slot, mark)), self.now << 2);
                if node.record != 0 {
                    self.file_time(node.record, 256 + ticks % 200, is_noted);
                }
                inside += 1;
            }
            next = self.nodes.iter().find(|(above, _)| *above == node.parent).copied();
        }
    }

    /// As if all that is below open calls were of earlier calls on the same paths.
    fn call_before(&self) {
        for (name, _) in &self.nodes {
            let at = *name as usize * UNIT + offset_of!(NodeRecord, slot);
            let slot: Slot = self.read(at);
            if slot.mark & mark::OPEN != 0 {
                self.write(at + offset_of!(Slot, descendants), self.calls_below(*name));
            }
        }
    }

    fn calls_below(&self, path: Ref) -> u64 {
        let below = self.nodes.iter().filter(|(_, node)| node.parent == path);
        let calls = |name: Ref| self.read::<Slot>(name as usize * UNIT + offset_of!(NodeRecord, slot)).calls;
        below.map(|(name, _)| calls(*name) + self.calls_below(*name)).sum()
    }

    /// Files a call's time, or notes it for the next to file it.
    fn file_time(&self, record: Ref, ticks: u64, is_noted: bool) {
        let noted = self.arenas[0] + offset_of!(Arena, pending);
        let before = Pending::of(self.read(noted));
        self.write(noted, 0);
        let times = if is_noted { vec![] } else { vec![Pending { record, value: ticks }] };
        for Pending { record, value } in times.into_iter().chain((before.record != 0).then_some(before)) {
            let at = record as usize * UNIT;
            let function: Function = self.read(at);
            let (octave, sub) = diytrace_format::histogram::bin(value);
            let bins = function.octaves[octave] as usize * UNIT;
            self.add(bins + offset_of!(Bins, counts) + 8 * sub, 1);
            self.write(at + offset_of!(Function, min), function.min.min(value));
            self.write(at + offset_of!(Function, max), function.max.max(value));
        }
        if is_noted {
            self.write(noted, Pending { record, value: ticks }.word());
        }
    }
}

/// Whoever follows it, and the service.
struct Sender {
    reader: Reader,
    acknowledged: Family,
    watched: Watched,
    followed: Followed,
    outgoing: Outgoing,
    incoming: Incoming,
}

impl Sender {
    fn of(running: &Running) -> Self {
        let (mut reader, mut outgoing) = (Reader::new(running.path.clone()), Outgoing::default());
        let incoming = Incoming::default();
        let Reading { family, .. } = reader.read().unwrap();
        incoming.decode(&outgoing.encode(&frame(None, &family, &Labelled::default())), 1 << 20).unwrap();
        outgoing.acknowledged();
        let watched = reader.watch(&family).expect("it runs, and is whole");
        let followed = Followed::of(&family);
        assert!(outgoing.follow(&family, &followed));
        Self { reader, acknowledged: family, watched, followed, outgoing, incoming }
    }

    fn look(&mut self) -> Option<(Changes, Addition)> {
        let changes = self.reader.look(&self.watched, &self.acknowledged)?;
        let addition = self.followed.since(&self.acknowledged, &changes);
        Some((changes, addition))
    }

    /// The frame of what has changed, as it is received.
    fn turn(&mut self, addition: &Addition) -> Frame {
        let turn = Turn { session: &diytrace_store::session(&self.acknowledged), sequence: 1 };
        let bytes = self.outgoing.turn(turn, addition).expect("all is known");
        let frame = self.incoming.decode_one(&bytes).unwrap();
        self.outgoing.acknowledged();
        frame.frame().unwrap()
    }

    fn swap(&mut self, changes: &mut Changes) {
        self.followed.note(&self.acknowledged, changes);
        self.watched.swap(changes, &mut self.acknowledged);
    }

    /// The same from the file as a whole.
    fn whole(&mut self, changes: &Changes) -> (Family, Frame) {
        let family = Family { read_ticks: changes.read_ticks, ..self.reader.read().unwrap().family };
        let frame = frame(Some(&self.acknowledged), &family, &Labelled::default());
        (family, frame)
    }
}

/// Without what depends on the order in which it came, and on what hooks cost, which whole frames tell.
fn same_for_all(merged: &Merged) -> Merged {
    let mut sum = Merging::new(By::All, None);
    sum.add_merged(&merged.clone().without_idle(), None);
    let mut merged = sum.finish();
    for part in &mut merged.groups[0].parts {
        *part = Part { evidence: Default::default(), costs: Default::default(), ..part.clone() };
    }
    merged
}

fn calls() -> impl Strategy<Value = Vec<Vec<(usize, u64, bool, bool)>>> {
    let call = (1usize..8, 1u64..5000, any::<bool>(), any::<bool>());
    prop::collection::vec(prop::collection::vec(call, 0..6), 1..5)
}

#[test]
fn a_frame_of_what_has_changed_tells_what_two_readings_do() {
    let cases = ProptestConfig { cases: 40, ..ProptestConfig::default() };
    proptest!(cases, |(rounds in calls(), lost in any::<bool>(), were_called_before in any::<bool>())| {
        let mut running = Running::new();
        if were_called_before {
            running.call_before();
        }
        let mut sender = Sender::of(&running);
        for calls in rounds {
            let any = calls.iter().any(|(path, ..)| *path != 4);
            for (path, ticks, is_noted, is_nested) in calls {
                // The excluded function has no times.
                if path != 4 {
                    running.call(path, ticks, is_noted, is_nested);
                }
            }
            let (mut changes, addition) = sender.look().unwrap();
            prop_assert_eq!(addition.calls > 0, any);
            let (family, whole) = sender.whole(&changes);
            let turned = sender.turn(&addition);
            prop_assert_eq!(same_for_all(&turned.merged), same_for_all(&whole.merged));
            prop_assert_eq!((turned.start, turned.end), (whole.start, whole.end));
            // One that is not acknowledged is taken back, and what is told later is the same.
            if lost {
                let before = format!("{:?}", sender.acknowledged);
                sender.swap(&mut changes);
                sender.swap(&mut changes);
                prop_assert_eq!(format!("{:?}", sender.acknowledged), before);
                let again = sender.followed.since(&sender.acknowledged, &changes);
                prop_assert_eq!((again.paths, again.functions), (addition.paths, addition.functions));
            }
            sender.swap(&mut changes);
            let known = format!("{:?}", sender.acknowledged.arenas);
            prop_assert_eq!(known, format!("{:?}", family.arenas));
        }
    });
}

#[test]
fn what_is_not_the_usual_course_is_left_to_who_reads_all() {
    type Change = fn(&Running);
    let changes: [(&str, Change); 8] = [
        ("another function in a path's place", |running| {
            running.add(running.nodes[1].0 as usize * UNIT + offset_of!(NodeRecord, key), 16);
        }),
        ("a path that has got an extension, or another", |running| {
            running.add(running.nodes[1].0 as usize * UNIT + offset_of!(NodeRecord, more), 1);
        }),
        ("a path that has fewer calls", |running| {
            running.write(running.nodes[1].0 as usize * UNIT + offset_of!(NodeRecord, slot), 3);
        }),
        ("an arena that has another owner", |running| running.add(running.arenas[1] + offset_of!(Arena, token), 1)),
        ("a thread that has ended", |running| {
            let at = running.arenas[1] + offset_of!(Arena, flags);
            running.file.write_all_at(&diytrace_format::arena::flag::ENDED.to_le_bytes(), at as u64).unwrap();
        }),
        ("a bin that has fewer calls", |running| {
            let record = running.nodes[1].1.record;
            let function: Function = running.read(record as usize * UNIT);
            running.write(function.octaves[8] as usize * UNIT, 3);
            running.add(running.nodes[1].0 as usize * UNIT + offset_of!(NodeRecord, slot) + offset_of!(Slot, calls), 1);
        }),
        ("counters that were reset", |running| {
            running.file.write_all_at(&1u32.to_le_bytes(), offset_of!(Header, epoch) as u64).unwrap();
        }),
        ("a file that was cut short", |running| running.file.set_len(5000).unwrap()),
    ];
    for (what, change) in changes {
        let running = Running::new();
        let mut sender = Sender::of(&running);
        assert!(sender.look().is_some());
        change(&running);
        assert!(sender.look().is_none(), "{what}");
    }
}

#[test]
fn who_has_forgotten_a_recording_asks_for_all_of_it() {
    let mut running = Running::new();
    let mut sender = Sender::of(&running);
    running.call(1, 10, false, false);
    let (_, addition) = sender.look().unwrap();
    sender.outgoing.forgotten();
    let turn = Turn { session: "", sequence: 1 };
    assert!(sender.outgoing.turn(turn, &addition).is_none());
}
