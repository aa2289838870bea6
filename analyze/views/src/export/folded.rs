//! Folded stacks: `outermost;…;function nanoseconds`, as flame graph tools read them.

use std::collections::BTreeMap;

use super::profile::{Part, Profile};

/// Self times by stack, one a line, sorted. Where there are several parts, the first frame names the part.
pub fn write(profile: &Profile) -> Vec<u8> {
    let mut text = String::new();
    for (stack, ns) in stacks(profile) {
        text.push_str(&format!("{stack} {ns}\n"));
    }
    text.into_bytes()
}

/// Self times in nanoseconds by stack.
pub fn stacks(profile: &Profile) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    let labels: Vec<String> = profile.functions.iter().map(|function| frame_name(&function.label)).collect();
    for part in &profile.parts {
        let top = if profile.parts.len() > 1 { frame_name(&part.name) } else { String::new() };
        add(part, &top, &labels, &mut stacks);
    }
    stacks
}

fn add(part: &Part, top: &str, labels: &[String], stacks: &mut BTreeMap<String, u64>) {
    // The text of the stack so far, and where that of each open frame ends.
    let mut text = top.to_owned();
    let mut open: Vec<(usize, usize)> = Vec::new(); // (frame's end, length of the text without it)
    for (id, frame) in part.frames.iter().enumerate() {
        while let Some((_, length)) = open.pop_if(|(end, _)| *end <= id) {
            text.truncate(length);
        }
        open.push((frame.end, text.len()));
        if !text.is_empty() {
            text.push(';');
        }
        text.push_str(&labels[frame.function]);
        if frame.self_ns > 0 {
            *stacks.entry(text.clone()).or_default() += frame.self_ns;
        }
    }
}

/// A name without what separates frames and lines.
fn frame_name(name: &str) -> String {
    name.replace(';', ":").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    #[test]
    fn one_line_a_stack() {
        golden("server.folded", &write(&server()));
    }

    #[test]
    fn several_processes_are_the_first_frames() {
        golden("processes.folded", &write(&by_process()));
    }

    #[test]
    fn the_sum_is_that_of_all_times() {
        assert_eq!(stacks(&server()).values().sum::<u64>(), server().total_ns());
    }

    #[test]
    fn names_do_not_break_lines_or_stacks() {
        let mut profile = server();
        profile.functions[0].label = "a;b\nc".to_owned();
        assert!(String::from_utf8(write(&profile)).unwrap().starts_with("a:b c"));
    }
}
