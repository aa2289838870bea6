//! `profile.proto`, gzipped, as `pprof` and most of what shows profiles on the web read it.
//!
//! A sample is a call path: its own calls and time. Bodies that the compiler put into another function's code share a
//! location with it, as pprof has it. Addresses are those of `nm`, plus 2⁴⁰ for each module before: no two overlap.

use std::collections::HashMap;
use std::io;

use diytrace_pprof::proto;

use super::profile::{Frame, Part, Profile};

/// The profile.
pub fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    diytrace_pprof::pack(&Builder::new(profile).build())
}

/// Room for each module's addresses.
const ROOM: u64 = 1 << 40;
/// Ends of mappings are those of pages.
const PAGE: u64 = 4096;

struct Builder<'a> {
    profile: &'a Profile,
    strings: HashMap<String, i64>,
    locations: HashMap<(u64, u64, Vec<proto::Line>), u64>,
    out: proto::Profile,
}

impl<'a> Builder<'a> {
    fn new(profile: &'a Profile) -> Self {
        let strings = HashMap::from([(String::new(), 0)]);
        let out = proto::Profile { string_table: vec![String::new()], ..proto::Profile::default() };
        Self { profile, strings, locations: HashMap::new(), out }
    }

    fn build(mut self) -> proto::Profile {
        let profile = self.profile;
        let waits = profile.has_waits.then(|| self.value_type("wait", "nanoseconds"));
        let (calls, time) = (self.value_type("calls", "count"), self.value_type("time", "nanoseconds"));
        self.out.sample_type = [Some(calls), waits, Some(time)].into_iter().flatten().collect();
        self.out.default_sample_type = self.string("time");
        self.out.comment = profile.warnings.iter().map(|warning| self.string(warning)).collect();
        self.out.time_nanos = profile.parts.iter().filter_map(|part| part.started_unix_ns).min().unwrap_or(0) as i64;
        self.mappings();
        self.functions();
        for part in &profile.parts {
            self.samples(part);
        }
        // What lies beyond the last address that is known is nobody's.
        for mapping in &mut self.out.mapping {
            let here = self.out.location.iter().filter(|location| location.mapping_id == mapping.id);
            let last = here.map(|location| location.address).max().unwrap_or(mapping.memory_start);
            mapping.memory_limit = (last / PAGE + 1) * PAGE;
        }
        self.out
    }

    fn string(&mut self, text: &str) -> i64 {
        if let Some(&known) = self.strings.get(text) {
            return known;
        }
        let id = self.out.string_table.len() as i64;
        self.out.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), id);
        id
    }

    fn value_type(&mut self, what: &str, unit: &str) -> proto::ValueType {
        proto::ValueType { r#type: self.string(what), unit: self.string(unit) }
    }

    fn mappings(&mut self) {
        for (index, module) in self.profile.modules.iter().enumerate() {
            let has_lines = self.profile.functions.iter().any(|f| f.module == Some(index) && f.line.is_some());
            let mapping = proto::Mapping {
                id: index as u64 + 1,
                memory_start: index as u64 * ROOM,
                memory_limit: 0,
                filename: self.string(&module.path),
                build_id: self.string(&module.build_id),
                has_functions: true,
                has_filenames: has_lines,
                has_line_numbers: has_lines,
                has_inline_frames: has_lines,
                ..proto::Mapping::default()
            };
            self.out.mapping.push(mapping);
        }
    }

    fn functions(&mut self) {
        for (index, function) in self.profile.functions.iter().enumerate() {
            let function = proto::Function {
                id: index as u64 + 1,
                name: self.string(&function.label),
                system_name: self.string(function.symbol.as_deref().unwrap_or(&function.label)),
                filename: self.string(function.line.as_ref().map_or("", |line| &line.file)),
                start_line: function.line.as_ref().map_or(0, |line| line.number.into()),
            };
            self.out.function.push(function);
        }
    }

    fn samples(&mut self, part: &Part) {
        let labels = self.labels(part);
        for (id, frame) in part.frames.iter().enumerate() {
            if frame.calls == 0 && frame.self_ns == 0 {
                continue;
            }
            let stack: Vec<&Frame> = part.stack(id).collect();
            let location_id = self.locations(&stack);
            let waits = self.profile.has_waits.then_some(frame.self_wait_ns);
            let values = [Some(frame.calls), waits, Some(frame.self_ns)].into_iter().flatten();
            let value = values.map(|value| i64::try_from(value).unwrap_or(i64::MAX)).collect();
            self.out.sample.push(proto::Sample { location_id, value, label: labels.clone() });
        }
    }

    fn labels(&mut self, part: &Part) -> Vec<proto::Label> {
        let mut labels = Vec::new();
        let mut number = |this: &mut Self, key: &str, num: u32| {
            labels.push(proto::Label { key: this.string(key), num: num.into(), ..proto::Label::default() });
        };
        if let Some(pid) = part.pid {
            number(self, "pid", pid);
        }
        if let Some((tid, _)) = part.thread {
            number(self, "tid", tid);
        }
        if let Some((_, name)) = part.thread.as_ref().filter(|(_, name)| !name.is_empty()) {
            labels.push(proto::Label { key: self.string("thread"), str: self.string(name), ..proto::Label::default() });
        }
        labels
    }

    /// The locations of a stack, whose innermost frame comes first.
    fn locations(&mut self, stack: &[&Frame]) -> Vec<u64> {
        let sites = &self.profile.sites;
        let mut ids = Vec::new();
        let mut lines: Vec<proto::Line> = Vec::new();
        // Where the code of the frame at hand is: of the innermost its beginning, of others the call of the one before.
        let mut place: Option<(Option<usize>, u64)> = None;
        let mut called_at: Option<u32> = None;
        for frame in stack {
            let function = &self.profile.functions[frame.function];
            let site = &sites[frame.site];
            let start = function.line.as_ref().map_or(0, |line| line.number);
            let line = called_at.unwrap_or(start);
            lines.push(proto::Line { function_id: frame.function as u64 + 1, line: line.into() });
            called_at = Some(site.line.as_ref().map_or(0, |line| line.number));
            if site.is_inlined && frame.parent.is_some() {
                place = place.or(Some((site.module, site.address)));
                continue; // the caller has the same code
            }
            let (module, address) = place.take().unwrap_or((function.module, function.address));
            ids.push(self.location(module, address, std::mem::take(&mut lines)));
            place = Some((site.module, site.address.saturating_sub(1))); // in the call, not after it
        }
        ids
    }

    fn location(&mut self, module: Option<usize>, address: u64, line: Vec<proto::Line>) -> u64 {
        let mapping_id = module.map_or(0, |module| module as u64 + 1);
        let address = address.saturating_add(module.map_or(0, |module| module as u64 * ROOM));
        let next = self.out.location.len() as u64 + 1;
        let id = *self.locations.entry((mapping_id, address, line.clone())).or_insert(next);
        if id == next {
            self.out.location.push(proto::Location { id, mapping_id, address, line, is_folded: false });
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    fn built(profile: &Profile) -> proto::Profile {
        Builder::new(profile).build()
    }

    #[test]
    fn messages() {
        golden("server.pprof.txt", format!("{:#?}\n", built(&server())).as_bytes());
    }

    #[test]
    fn values_are_calls_and_nanoseconds_and_add_up() {
        for profile in [server(), by_process()] {
            let built = built(&profile);
            let sum = |index: usize| built.sample.iter().map(|sample| sample.value[index]).sum::<i64>() as u64;
            assert_eq!((sum(0), sum(1)), (profile.calls(), profile.total_ns()));
        }
    }

    #[test]
    fn an_inlined_body_shares_its_callers_location() {
        let built = built(&server());
        let names = |location: &proto::Location| -> Vec<&str> {
            let name = |line: &proto::Line| built.function[line.function_id as usize - 1].name;
            location.line.iter().map(|line| built.string_table[name(line) as usize].as_str()).collect()
        };
        let all: Vec<_> = built.location.iter().map(names).collect();
        assert!(all.contains(&vec!["checksum", "handle"]), "{all:?}");
    }

    #[test]
    fn every_number_stands_for_something() {
        let built = built(&by_process());
        let strings = built.string_table.len() as i64;
        for location in &built.location {
            let mapping = built.mapping.iter().find(|mapping| mapping.id == location.mapping_id);
            let mapping = mapping.unwrap();
            assert!((mapping.memory_start..mapping.memory_limit).contains(&location.address));
        }
        for sample in &built.sample {
            assert!(sample.location_id.iter().all(|id| built.location.iter().any(|location| location.id == *id)));
            assert!(sample.label.iter().all(|label| label.key > 0 && label.key < strings));
            assert_eq!(sample.value.len(), built.sample_type.len());
        }
    }
}
