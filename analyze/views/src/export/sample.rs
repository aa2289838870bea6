//! A profile made by hand, and what formats make of it.

use std::path::Path;

use super::profile::{Frame, Function, Line, Module, Part, Profile, Site, Spread};
use super::sums;
use diytrace_profile::timeline::{Timeline, TimelineSlice};

/// A server's profile: recursion, an inlined body, a library with a function of the same name, and a warning.
///
/// ```text
/// main ─▶ handle ─▶ checksum (inlined), parse ─▶ parse ─▶ parse
///                └▶ write [libnet.so] (via qsort)
/// ```
pub fn server() -> Profile {
    let line = |file: &str, number| Some(Line { file: format!("/src/{file}"), number });
    let function = |name: &str, module: usize, address, line| Function {
        name: name.to_owned(),
        label: if name == "write" { format!("write [{}]", ["server", "libnet.so"][module]) } else { name.to_owned() },
        symbol: Some(name.to_owned()),
        module: Some(module),
        address,
        line,
    };
    let site = |address, line, is_inlined, via: Option<&str>| Site {
        module: Some(0),
        address,
        line,
        is_inlined,
        via: via.map(str::to_owned),
    };
    Profile {
        title: "server".to_owned(),
        is_raw: false,
        is_part: false,
        has_waits: false,
        warnings: vec!["12 calls were lost, as there was no room for them".to_owned()],
        modules: vec![
            Module { path: "/srv/server".to_owned(), build_id: "c0ffee01".to_owned() },
            Module { path: "/srv/lib/libnet.so".to_owned(), build_id: String::new() },
        ],
        functions: vec![
            function("main", 0, 0x1100, line("main.c", 100)),
            function("handle", 0, 0x1200, line("server.c", 10)),
            function("checksum", 0, 0x1300, line("sum.h", 5)),
            function("ns::Parser<int, 3>::parse(char const*)", 0, 0x1400, line("parse.cc", 40)),
            function("write", 1, 0x1100, None),
            function("write", 0, 0x1500, line("server.c", 90)),
        ],
        sites: vec![
            site(0x1050, None, false, None),
            site(0x1120, line("main.c", 104), false, None),
            site(0x1210, line("server.c", 12), true, None),
            site(0x1230, line("server.c", 14), false, None),
            site(0x1440, line("parse.cc", 48), false, None),
            site(0x1250, line("io.h", 7), false, Some("qsort")),
        ],
        parts: vec![part(100)],
    }
}

/// The same in two processes; the second has not called the library.
pub fn by_process() -> Profile {
    let mut profile = server();
    let mut second = part(101);
    second.frames.truncate(6);
    for frame in &mut second.frames {
        frame.end = frame.end.min(6);
    }
    total(&mut second);
    profile.parts.push(second);
    profile
}

fn part(pid: u32) -> Part {
    let frame = |parent, end, function, site, calls, self_ns| Frame {
        parent,
        end,
        function,
        site,
        calls,
        self_ns,
        total_ns: 0,
        error_ns: calls / 2,
        self_error_ns: calls / 4,
        self_wait_ns: 0,
    };
    let mut part = Part {
        name: format!("server {pid}"),
        pid: Some(pid),
        thread: Some((pid, "worker".to_owned())),
        started_unix_ns: Some(1_700_000_000_000_000_000),
        processes: 1,
        calls: 0,
        error_ns: 250,
        call_error_ns: 2.5,
        is_all_timed: true,
        frames: vec![
            frame(None, 7, 0, 0, 1, 1_000),
            frame(Some(0), 7, 1, 1, 1_000, 200_000),
            frame(Some(1), 3, 2, 2, 1_000, 70_000),
            frame(Some(1), 6, 3, 3, 2_000, 300_000),
            frame(Some(3), 6, 3, 4, 500, 50_000),
            frame(Some(4), 6, 3, 4, 100, 9_999),
            frame(Some(1), 7, 4, 5, 1, 1_000_000),
        ],
        sums: Vec::new(),
    };
    total(&mut part);
    part
}

fn total(part: &mut Part) {
    for id in 0..part.frames.len() {
        part.frames[id].total_ns = part.frames[id..part.frames[id].end].iter().map(|frame| frame.self_ns).sum();
    }
    part.calls = part.frames.iter().map(|frame| frame.calls).sum();
    part.sums = sums::of_frames(&part.frames, 6);
    for sums in part.sums.iter_mut().filter(|sums| sums.calls > 0) {
        let mean = sums.total_ns as f64 / sums.calls as f64;
        let times = |factor: f64| mean * factor;
        sums.spread = Some(Spread {
            mean,
            min: times(0.5),
            p50: times(0.9),
            p90: times(1.5),
            p99: times(3.0),
            p999: times(8.0),
            max: times(20.0),
        });
    }
    // `main` is what nothing has called: idle at first, then busy until it ends.
    let slice =
        |calls, part_of_total: f64| TimelineSlice { calls, total_ns: part_of_total * part.sums[0].total_ns as f64 };
    let slices = vec![slice(0.0, 0.0), slice(0.0, 0.25), slice(0.0, 0.5), slice(1.0, 0.25)];
    let start_unix_ns = part.started_unix_ns.unwrap_or(0);
    part.sums[0].timeline = Some(Timeline { start_unix_ns, slice_ns: 1_048_576.0, slices });
}

/// Holds an export against the one that is kept, or keeps it if `DIYTRACE_REGENERATE` is set.
pub fn golden(name: &str, output: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/export/golden").join(name);
    diytrace_profile::testing::golden_at(&path, &String::from_utf8_lossy(output));
}
