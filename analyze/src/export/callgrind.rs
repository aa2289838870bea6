//! Callgrind's format, for `callgrind_annotate` and KCachegrind.
//!
//! A function's own time stands at the line it begins at, and that of a call, with all below, at the line that calls.
//! As Callgrind does, calls of a function inside itself are those of another function, `name'2`: the times of `name` are
//! then of its outermost calls. What was called from code without hooks is called by `(not recorded)`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::profile::{Line, Part, Profile};
use crate::view::human::counted;

/// Who calls what nobody else does.
const OUTSIDE: &str = "(not recorded)";

/// The profile; several parts are several parts there, which readers add up.
pub fn write(profile: &Profile) -> Vec<u8> {
    let mut names = Names::default();
    let mut text = String::from("# callgrind format\nversion: 1\n");
    let _ = writeln!(text, "creator: diytrace {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "cmd: {}", one_line(&profile.title));
    for warning in &profile.warnings {
        let _ = writeln!(text, "desc: Warning: {}", one_line(warning));
    }
    let _ = writeln!(text, "desc: Times: {}", profile.kind_of_time());
    let _ = writeln!(text, "desc: Calls: {}", counted(profile.calls(), "call", "calls"));
    text.push_str("positions: line\nevents: ns\n");
    let _ = writeln!(text, "summary: {}", profile.total_ns());
    for (number, part) in (1..).zip(&profile.parts) {
        if profile.parts.len() > 1 {
            let _ = writeln!(text, "\npart: {number}\ndesc: Trigger: {}", one_line(&part.name));
            if let Some(pid) = part.pid {
                let _ = writeln!(text, "pid: {pid}");
            }
        }
        functions(profile, part, &mut names, &mut text);
    }
    let _ = writeln!(text, "\ntotals: {}", profile.total_ns());
    text.into_bytes()
}

/// A function; `true` for its calls inside itself. `None` is what is not recorded.
type Key = Option<(usize, bool)>;

/// What a function did, by line.
#[derive(Default)]
struct Costs {
    own: u64,
    calls: BTreeMap<(Option<Line>, Key), (u64, u64)>,
}

fn functions(profile: &Profile, part: &Part, names: &mut Names, text: &mut String) {
    for (key, costs) in costs(profile, part) {
        let (object, file, line) = place(profile, key);
        let _ = write!(text, "\nob={}\nfl={}\n", names.object(object), names.file(file));
        let _ = writeln!(text, "fn={}", names.function(&function_name(profile, key)));
        if key.is_some() {
            let _ = writeln!(text, "{line} {}", costs.own);
        }
        let mut current = file;
        for ((call_line, callee), (calls, ns)) in &costs.calls {
            let (call_file, number) = match call_line {
                Some(line) => (line.file.as_str(), line.number),
                None => (file, line),
            };
            if call_file != current {
                let change = if call_file == file { "fe" } else { "fi" };
                // callgrind_annotate stumbles over a file that has calls but no line with a cost.
                let _ = write!(text, "{change}={}\n{number} 0\n", names.file(call_file));
                current = call_file;
            }
            let (callee_object, callee_file, callee_line) = place(profile, *callee);
            let _ = write!(text, "cob={}\ncfi={}\n", names.object(callee_object), names.file(callee_file));
            let _ = writeln!(text, "cfn={}", names.function(&function_name(profile, *callee)));
            let _ = write!(text, "calls={calls} {callee_line}\n{number} {ns}\n");
        }
    }
}

/// What every function did, in the order of names.
fn costs(profile: &Profile, part: &Part) -> Vec<(Key, Costs)> {
    let mut costs: BTreeMap<Key, Costs> = BTreeMap::new();
    let mut open = vec![0u32; profile.functions.len()];
    let mut open_edges: BTreeMap<(Key, Key), u32> = BTreeMap::new();
    let mut above: Vec<(usize, Key, Key)> = Vec::new(); // (end, function, its caller)
    for (id, frame) in part.frames.iter().enumerate() {
        while let Some((_, key, caller)) = above.pop_if(|(end, ..)| *end <= id) {
            open[key.map_or(0, |(function, _)| function)] -= 1;
            *open_edges.entry((caller, key)).or_default() -= 1;
        }
        let key = Some((frame.function, open[frame.function] > 0));
        let caller = above.last().and_then(|(_, key, _)| *key);
        open[frame.function] += 1;
        let edge = open_edges.entry((caller, key)).or_default();
        *edge += 1;
        let is_outermost = *edge == 1;
        above.push((frame.end, key, caller));

        costs.entry(key).or_default().own += frame.self_ns;
        let line = caller.and_then(|_| profile.sites[frame.site].line.clone());
        let (calls, ns) = costs.entry(caller).or_default().calls.entry((line, key)).or_default();
        *calls = calls.saturating_add(frame.calls);
        *ns += if is_outermost { frame.total_ns } else { 0 };
    }
    let mut costs: Vec<_> = costs.into_iter().collect();
    costs.sort_by_cached_key(|(key, _)| (function_name(profile, *key), *key));
    costs
}

/// Object, file and line of a function.
fn place(profile: &Profile, key: Key) -> (&str, &str, u32) {
    const UNKNOWN: &str = "???";
    let Some((function, _)) = key else { return (UNKNOWN, UNKNOWN, 0) };
    let function = &profile.functions[function];
    let object = function.module.map_or(UNKNOWN, |module| &profile.modules[module].path);
    function.line.as_ref().map_or((object, UNKNOWN, 0), |line| (object, &line.file, line.number))
}

fn function_name(profile: &Profile, key: Key) -> String {
    match key {
        None => OUTSIDE.to_owned(),
        Some((function, false)) => one_line(&profile.functions[function].name),
        Some((function, true)) => format!("{}'2", one_line(&profile.functions[function].name)),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Names are written once, and a number stands for them from then on.
#[derive(Default)]
struct Names {
    objects: BTreeMap<String, usize>,
    files: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
}

impl Names {
    fn object(&mut self, name: &str) -> String {
        compressed(&mut self.objects, name)
    }

    fn file(&mut self, name: &str) -> String {
        compressed(&mut self.files, name)
    }

    fn function(&mut self, name: &str) -> String {
        compressed(&mut self.functions, name)
    }
}

fn compressed(known: &mut BTreeMap<String, usize>, name: &str) -> String {
    let next = known.len() + 1;
    match known.get(name) {
        Some(number) => format!("({number})"),
        None => {
            known.insert(name.to_owned(), next);
            format!("({next}) {}", one_line(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    #[test]
    fn calls_stand_at_their_lines() {
        golden("server.callgrind", &write(&server()));
    }

    #[test]
    fn several_processes_are_several_parts() {
        golden("processes.callgrind", &write(&by_process()));
    }

    #[test]
    fn own_times_add_up_and_calls_are_all_there() {
        let profile = server();
        let costs = costs(&profile, &profile.parts[0]);
        assert_eq!(costs.iter().map(|(_, costs)| costs.own).sum::<u64>(), profile.total_ns());
        let calls = costs.iter().flat_map(|(_, costs)| costs.calls.values()).map(|(calls, _)| calls);
        assert_eq!(calls.sum::<u64>(), profile.calls());
    }
}
