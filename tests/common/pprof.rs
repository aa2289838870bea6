//! Sampled profiles in pprof's bytes, written here, so that no code of ours is asked.

/// A profile; each of its stacks is `outer;inner VALUE…`, with a value for each type.
pub struct Written<'a> {
    /// Types of samples, and their units.
    pub types: &'a [(&'static str, &'static str)],
    /// What a sample adds to values of the last type.
    pub period: Option<u64>,
    /// When it began, in nanoseconds since 1970, and how long it took; 0: it does not tell.
    pub time: (u64, u64),
    /// A stack a line.
    pub stacks: &'a str,
}

/// A processor's time, sampled a hundred times a second.
pub const CPU: &[(&str, &str)] = &[("samples", "count"), ("cpu", "nanoseconds")];
const PERIOD: u64 = 10_000_000;
pub const SECOND: u64 = 1_000_000_000;
/// When the first of them began.
pub const DAY: u64 = 1_790_000_000 * SECOND;
/// What profiles of the same differ by.
const SPREAD: [i64; 6] = [-3, 2, 0, 3, -1, 1];

/// Samples of `parse`, `render` and `idle` in so many seconds; a number tells profiles of the same apart, which begin a minute after each
/// other.
pub fn cpu(number: u64, seconds: u64, [parse, render, idle]: [i64; 3]) -> Vec<u8> {
    let spread = SPREAD[number as usize % SPREAD.len()];
    let stacks = [("main;handle;parse", parse + spread), ("main;handle;render", render - spread), ("main;idle", idle)];
    let line = |(stack, samples): &(&str, i64)| format!("{stack} {samples} {}\n", *samples as u64 * PERIOD);
    let stacks: String = stacks.iter().map(line).collect();
    let time = (DAY + number * 60 * SECOND, seconds * SECOND);
    Written { types: CPU, period: Some(PERIOD), time, stacks: &stacks }.bytes()
}

/// A profile of samples that are counted.
pub fn folded_as_pprof(stacks: &str) -> Vec<u8> {
    Written { types: &[("samples", "count")], period: None, time: (0, 0), stacks }.bytes()
}

impl Written<'_> {
    /// Its bytes, which are not packed.
    pub fn bytes(&self) -> Vec<u8> {
        let mut strings = vec![String::new()];
        let mut profile = Vec::new();
        let mut kind = Vec::new();
        for (name, unit) in self.types {
            kind.clear();
            number(1, numbered(&mut strings, name), &mut kind);
            number(2, numbered(&mut strings, unit), &mut kind);
            field(1, &kind, &mut profile);
        }
        if let Some(period) = self.period {
            field(11, &kind, &mut profile);
            number(12, period, &mut profile);
        }
        let mut named = Vec::new();
        for line in self.stacks.lines() {
            let mut words = line.split(' ');
            let stack = words.next().unwrap();
            let mut sample = Vec::new();
            for name in stack.split(';').rev() {
                let id = numbered(&mut strings, name);
                if !named.contains(&id) {
                    named.push(id);
                    let (mut function, mut place, mut at) = (Vec::new(), Vec::new(), Vec::new());
                    number(1, id, &mut function);
                    number(2, id, &mut function);
                    field(5, &function, &mut profile);
                    number(1, id, &mut at);
                    number(1, id, &mut place);
                    field(4, &at, &mut place);
                    field(4, &place, &mut profile);
                }
                number(1, id, &mut sample);
            }
            words.for_each(|value| number(2, value.parse().unwrap(), &mut sample));
            field(2, &sample, &mut profile);
        }
        number(9, self.time.0, &mut profile);
        number(10, self.time.1, &mut profile);
        for string in strings {
            field(6, string.as_bytes(), &mut profile);
        }
        profile
    }
}

fn numbered(strings: &mut Vec<String>, text: &str) -> u64 {
    let known = strings.iter().position(|known| known == text);
    known.unwrap_or_else(|| {
        strings.push(text.to_owned());
        strings.len() - 1
    }) as u64
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn field(tag: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint(tag << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

fn number(tag: u64, value: u64, out: &mut Vec<u8>) {
    varint(tag << 3, out);
    varint(value, out);
}
