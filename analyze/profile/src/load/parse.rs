//! From a profile's bytes to a [`Family`]: the readable part of whatever they are, and what is wrong with the rest.

use std::path::PathBuf;

use diytrace_format::reader::{File, NotReadable};
use diytrace_format::{header, kind, module, node, pattern, text};

use super::arenas::read_arenas;
use super::clock::Clock;
use super::costs::{Calibration, Evidence};
use super::counts::read_counts;
use super::damage::Damage;
use super::doubt::Doubt;
use super::family::{Arena, Family, Module, Root};
use super::node::Node;
use super::recycled::GaveWay;
use super::reset;
use super::ring;
use super::timed::Timing;

/// The kernel's longest path; a longer one is damage.
const LONGEST_PATH: usize = 4096;

/// Reads a profile. Its path and the states of its processes are not in the bytes.
pub fn parse(bytes: &[u8]) -> Result<Family, NotReadable> {
    let file = File::open(bytes)?;
    let header = file.header();
    let mut damage = Damage::default();

    let (mut modules, mut texts, mut arena_blocks, mut counts) = (Vec::new(), Texts::default(), Vec::new(), Vec::new());
    for block in file.blocks() {
        match block.block.kind {
            kind::MODULES => modules.extend(file.modules(&block).filter_map(|(raw, path)| to_module(&raw, path))),
            kind::TEXT => texts.add(file.text(&block)),
            kind::ARENA | kind::CHUNK => arena_blocks.push(block),
            kind::COUNTS => counts.extend(read_counts(&file, &block)),
            _ => {}
        }
    }
    modules.sort_by_key(|module| module.number);
    let clock = Clock::of(header).unwrap_or_else(|| {
        damage.clock = true;
        Clock { source: super::clock::Source::Tsc, hz: 1e9, anchor: header.first_anchor }
    });
    let timing = Timing::of(header);
    let mut arenas = read_arenas(&file, bytes.len(), timing, &arena_blocks, &mut damage);
    let reset_ticks = reset::moment(header, &clock);
    for arena in arenas.iter_mut().filter(|arena| !arena.is_before_reset) {
        ring::count(&file, arena, &modules);
    }
    arenas.iter_mut().filter(|arena| arena.is_before_reset).for_each(|arena| reset::inherit(arena, reset_ticks));
    arenas.append(&mut counts);
    let mut calibration = Calibration::default();
    arenas.iter().for_each(|arena| calibration.add(&file, &arena.facts));
    let evidence = Evidence::of(header, calibration).unwrap_or_else(|| {
        damage.clock = true;
        Evidence::default()
    });

    let mut warnings = texts.warnings;
    let backward = arenas.iter().fold(0u64, |sum, arena| sum.saturating_add(arena.facts.backward_calls));
    warnings.extend(Clock::doubts(header, backward));
    if header.epoch > 0 {
        let after = header.reset_unix_ns.saturating_sub(header.started_unix_ns) as f64 / 1e9;
        warnings.push(Doubt::Reset { after_s: after });
    }
    warnings.extend(unseen(timing, &arenas));
    warnings.extend(gave_way(&arenas, &clock));
    damage.truncated = file.missing_bytes();
    warnings.extend(damage.doubts());
    let counted = header.roots as usize;
    let roots = texts.roots.iter().flat_map(|list| pattern::split(list)).enumerate().map(|(index, pattern)| Root {
        pattern: pattern.to_owned(),
        matches: header.root_matches.get(index).copied().filter(|_| index < counted.min(header::ROOT_PATTERNS)),
    });
    let spent = arenas.iter().fold(0, |sum: u64, arena| sum.saturating_add(arena.facts.spent));
    let calls = arenas.iter().map(|arena| arena.of_all(Node::calls_once, u64::saturating_add));
    let evidence = evidence.with_rare_work(spent, calls.fold(0, u64::saturating_add));
    Ok(Family {
        path: PathBuf::new(),
        clock,
        evidence,
        timing,
        pid: header.pid,
        ppid: header.ppid,
        processes: if header.epoch == 0 { header.processes } else { reset::processes(&arenas) },
        started_unix_ns: header.started_unix_ns,
        first_ticks: header.first_anchor.ticks,
        read_ticks: 0,
        last_anchor_ticks: header.last_anchor().ticks,
        end_ticks: 0,
        snapshot: None,
        lost_calls: header.lost_calls,
        resets: header.epoch,
        reset_ticks,
        boot_id: header.boot_id,
        exe: texts.exe.unwrap_or_default(),
        cmdline: texts.cmdline,
        roots: roots.collect(),
        modules,
        arenas,
        missing_bytes: file.missing_bytes(),
        warnings,
    })
}

/// That times are not told apart into those on a processor and others, as they would be.
fn unseen(timing: Timing, arenas: &[Arena]) -> Option<Doubt> {
    let unseen = arenas.iter().filter(|arena| timing == Timing::All && arena.is_refused() && !arena.nodes.is_empty());
    let threads = unseen.fold(0u64, |sum, arena| sum.saturating_add(arena.facts.owners.max(1).into()));
    (threads > 0).then_some(Doubt::WallTime { threads })
}

/// That paths gave way to others, if any did.
fn gave_way(arenas: &[Arena], clock: &Clock) -> Option<Doubt> {
    let all =
        || arenas.iter().filter_map(|arena| Some((arena, arena.recycling?))).filter(|(_, gave_way)| gave_way.paths > 0);
    let edges = all().flat_map(|(arena, _)| &arena.nodes).filter(|node| node.flags & node::flag::EDGE != 0);
    let calls = edges.map(|node| node.calls()).fold(0, u64::saturating_add);
    let sum = |of: fn(&GaveWay) -> u64| all().map(|(_, gave_way)| of(&gave_way)).fold(0, u64::saturating_add);
    let most_ns = sum(|gave_way| gave_way.most_ticks) as f64 * clock.ns_per_tick();
    let paths = sum(|gave_way| gave_way.paths);
    (paths > 0).then(|| Doubt::GaveWay { paths, calls, most_calls: sum(|gave_way| gave_way.most_calls), most_ns })
}

fn to_module(raw: &diytrace_format::Module, path: &[u8]) -> Option<Module> {
    (raw.start < raw.end && path.len() <= LONGEST_PATH).then(|| Module {
        path: lossy(path),
        build_id: raw.build_id[..(raw.build_id_len as usize).min(module::BUILD_ID_MAX)].to_vec(),
        bias: raw.bias,
        start: raw.start,
        end: raw.end,
        number: raw.number,
        is_instrumented: raw.flags & module::flag::INSTRUMENTED != 0,
        is_program: raw.flags & module::flag::PROGRAM != 0,
        modified_unix_ns: raw.modified_unix_ns,
        file_size: raw.file_size,
    })
}

#[derive(Default)]
struct Texts {
    exe: Option<String>,
    cmdline: Vec<String>,
    roots: Option<String>,
    warnings: Vec<Doubt>,
}

impl Texts {
    fn add(&mut self, text: Option<(u32, &[u8])>) {
        match text {
            Some((text::kind::EXE, bytes)) => self.exe = Some(lossy(bytes)),
            Some((text::kind::CMDLINE, bytes)) => {
                let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                self.cmdline = bytes.split(|&byte| byte == 0).map(lossy).collect();
            }
            Some((text::kind::ROOT, bytes)) => self.roots = Some(lossy(bytes)),
            Some((text::kind::WARNING, bytes)) => self.warnings.push(Doubt::from(lossy(bytes))),
            _ => {}
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use diytrace_format::node::ROOT;
    use diytrace_format::{GRANULE, Ref};
    use proptest::prelude::*;
    use zerocopy::FromZeros;

    use super::super::doubt::Lost;
    use super::*;
    use crate::testing::{Profile, digest, raw_node, sample, slot};
    use crate::warnings::sentences;

    #[test]
    fn everything_is_read() {
        let family = parse(&sample()).unwrap();
        assert_eq!(family.exe, "/nonexistent/program");
        assert_eq!(family.cmdline, ["program", "--flag"]);
        assert_eq!(family.roots[1], Root { pattern: "nothing".to_owned(), matches: Some(0) });
        assert_eq!(sentences(&family.warnings), ["DIYTRACE_DEPTH: `x` is no number"]);
        assert_eq!(family.modules[1].path, "/nonexistent/library.so");
        let [main, second] = family.arenas.as_slice() else { panic!("two threads") };
        assert_eq!((main.thread_name(), second.facts.tid), ("main".to_owned(), 8));
        let parents: Vec<_> = main.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(2), Some(0), Some(0), Some(0)]);
        assert_eq!(main.nodes.get(3).folded_into, Some(1));
        assert_eq!(main.functions.len(), 1);
        assert_eq!(main.functions[0].returned(), 30);
    }

    #[test]
    fn what_is_no_profile_is_told_so() {
        let mut newer = sample();
        newer[8] = 99;
        let mut unfinished = sample();
        unfinished[12] = 0;
        for (bytes, expected) in [
            (&b""[..], NotReadable::Truncated),
            (b"DIYTRACE", NotReadable::Truncated),
            (b"\x7fELF and more", NotReadable::Foreign),
            (&newer, NotReadable::Version(99)),
            (&unfinished, NotReadable::Unfinished),
        ] {
            assert_eq!(parse(bytes).unwrap_err(), expected);
        }
    }

    #[test]
    fn of_a_truncated_file_the_front_is_read() {
        let bytes = sample();
        let all = parse(&bytes).unwrap().arenas.iter().map(|arena| arena.nodes.len()).sum::<usize>();
        for granules in 9..bytes.len() / GRANULE {
            let family = parse(&bytes[..granules * GRANULE]).unwrap();
            let missing =
                format!("the file is truncated: its last {} bytes are missing", bytes.len() - granules * GRANULE);
            assert!(sentences(&family.warnings).contains(&missing), "{granules}: {:?}", family.warnings);
            assert!(family.arenas.iter().map(|arena| arena.nodes.len()).sum::<usize>() < all);
        }
    }

    #[test]
    fn a_path_that_is_its_own_ancestor_has_no_caller() {
        let mut profile = Profile::default();
        profile.arena(&diytrace_format::Arena::new_zeroed(), |first| {
            vec![
                raw_node(0x40_0100, first, first, slot(1, 10, 0)),
                raw_node(0x40_0200, first + 4, first, slot(1, 5, 0)),
            ]
        });
        let family = parse(&profile.finish()).unwrap();
        assert!(family.arenas[0].nodes.iter().all(|node| node.parent.is_none()));
        assert_eq!(family.warnings, [Doubt::Damaged(Lost::Callers(2))]);
    }

    #[test]
    fn counters_that_cannot_be_are_damage() {
        let mut profile = Profile::default();
        profile.arena(&diytrace_format::Arena::new_zeroed(), |first| {
            let garbled = raw_node(0x40_0200, ROOT, first + 4, slot(u64::MAX - 5, 5, 0));
            vec![raw_node(0x40_0100, ROOT, first, slot(7, 10, 0)), garbled]
        });
        let family = parse(&profile.finish()).unwrap();
        assert_eq!(family.arenas[0].nodes.iter().map(|node| node.calls()).collect::<Vec<_>>(), [7, 0]);
        assert_eq!(family.warnings, [Doubt::Damaged(Lost::Calls(1))]);
    }

    #[test]
    fn what_nodes_have_beside_their_records_is_read_as_version_7_has_it_too() {
        let nodes = |version| {
            let mut profile = Profile::default();
            profile.header.version = version;
            profile.arena(&diytrace_format::Arena::new_zeroed(), |first| {
                let folded = raw_node(0x40_1000, ROOT, first, slot(3, 100, 2));
                let inside = raw_node(0x40_2000, first, first, slot(1, 40, 1));
                vec![folded, diytrace_format::Node { unwound: 2, slots: [inside.slots[0], slot(5, 30, 0)], ..inside }]
            });
            let family = parse(&profile.finish()).unwrap();
            family.arenas[0].nodes.iter().collect::<Vec<_>>()
        };
        let present = nodes(diytrace_format::VERSION);
        assert_eq!((present[1].slots[1].calls, present[1].unwound, present[1].module), (5, 2, present[0].module));
        assert_eq!(nodes(7), present);
    }

    #[test]
    fn a_record_that_many_name_is_read_once() {
        let mut profile = Profile::default();
        profile.arena(&diytrace_format::Arena::new_zeroed(), |first| {
            let mut nodes = vec![raw_node(0, ROOT, first, slot(1, 10, 0)); 12];
            for (index, node) in nodes.iter_mut().enumerate() {
                node.record = first + index as Ref; // records that lie in each other, made of nodes
            }
            nodes
        });
        let family = parse(&profile.finish()).unwrap();
        assert!(family.arenas[0].functions.len() <= 3);
    }

    #[test]
    fn times_off_the_processor_that_lead_to_themselves_end() {
        let (mut place, mut facts) = (0, diytrace_format::Arena::new_zeroed());
        for _ in 0..2 {
            let mut profile = Profile::default();
            profile.arena(&facts, |first| {
                place = first;
                // As a record of time, its first words: of which path it is, and the next such record.
                vec![raw_node(u64::from(first) << 32 | u64::from(first), ROOT, first, slot(1, 10, 0))]
            });
            let family = parse(&profile.finish()).unwrap();
            assert_eq!(family.warnings.contains(&Doubt::Damaged(Lost::Waits)), facts.off_cpu != 0);
            facts.off_cpu = place;
        }
    }

    /// Beginnings for the fuzzer, by name.
    fn seeds() -> Vec<(&'static str, Vec<u8>)> {
        let whole = sample();
        let mut cycle = Profile::default();
        cycle.arena(&diytrace_format::Arena::new_zeroed(), |first| {
            let mut nodes = vec![raw_node(0x40_0100, first + 2, first + 2, slot(1, 10, 0)); 3];
            nodes[1].flags = diytrace_format::node::flag::RECURSION;
            nodes
        });
        let mut damaged = whole.clone();
        for at in (diytrace_format::BLOCKS_START..damaged.len()).step_by(211) {
            damaged[at] ^= 0xff;
        }
        let cut = whole[..whole.len() - GRANULE - 1000].to_vec();
        vec![("whole", whole), ("truncated", cut), ("cycle", cycle.finish()), ("damaged", damaged)]
    }

    #[test]
    fn the_fuzzers_seeds_do_no_harm() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/load");
        if std::env::var_os("DIYTRACE_REGENERATE").is_some() {
            for (name, bytes) in seeds() {
                std::fs::write(folder.join(name).with_extension("bin"), bytes).unwrap();
            }
        }
        let mut files = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            digest(&std::fs::read(entry.unwrap().path()).unwrap());
            files += 1;
        }
        assert!(files >= seeds().len(), "seeds are missing; to make them: DIYTRACE_REGENERATE=1 cargo test seeds");
        let whole = parse(&std::fs::read(folder.join("whole.bin")).unwrap()).map(|family| family.warnings.len());
        assert_eq!(
            whole,
            Ok(1),
            "seeds are of an older format; to make them anew: DIYTRACE_REGENERATE=1 cargo test seeds"
        );
    }

    proptest! {
        #[test]
        fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            digest(&bytes);
            let mut profile = sample();
            let start = profile.len().saturating_sub(bytes.len());
            profile[start..].copy_from_slice(&bytes);
            digest(&profile);
        }

        #[test]
        fn flipped_bits_do_no_harm(flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..40)) {
            let mut bytes = sample();
            for (index, bit) in flips {
                // What is not zero, and the header: bits in empty space tell nothing.
                let used: Vec<usize> = (8..bytes.len()).filter(|&at| bytes[at] != 0 || at < 400).collect();
                bytes[used[index.index(used.len())]] ^= 1 << bit;
            }
            digest(&bytes);
        }

        #[test]
        fn cuts_do_no_harm(end in any::<prop::sample::Index>()) {
            let bytes = sample();
            digest(&bytes[..end.index(bytes.len())]);
        }
    }
}
