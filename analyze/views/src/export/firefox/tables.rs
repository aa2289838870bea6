//! The tables of a thread: strings, functions, frames and stacks, which refer to each other by number.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::export::profile::{Frame, Line, Part, Profile};

/// Places in the list of categories.
const FUNCTION: u32 = 1;
const INLINED: u32 = 2;

/// What a frame is: the function, the line in it, and how deep it is inlined.
type FrameKey = (usize, Option<Line>, u32);

/// Tables that grow as stacks are asked for.
pub struct Tables<'a> {
    profile: &'a Profile,
    strings: Vec<String>,
    string_ids: HashMap<String, usize>,
    frames: Vec<FrameKey>,
    frame_ids: HashMap<FrameKey, usize>,
    stacks: Vec<(Option<usize>, usize)>,
    stack_ids: HashMap<(Option<usize>, usize), usize>,
    /// Stacks of call paths while they call from a site.
    calling: HashMap<(usize, usize), usize>,
}

impl<'a> Tables<'a> {
    /// Empty ones.
    pub fn new(profile: &'a Profile) -> Self {
        Self {
            profile,
            strings: Vec::new(),
            string_ids: HashMap::new(),
            frames: Vec::new(),
            frame_ids: HashMap::new(),
            stacks: Vec::new(),
            stack_ids: HashMap::new(),
            calling: HashMap::new(),
        }
    }

    /// The stack of a call path, at the line its function begins at.
    pub fn stack(&mut self, part: &Part, id: usize) -> usize {
        let prefix = self.prefix(part, id);
        let line = self.profile.functions[part.frames[id].function].line.clone();
        self.add(prefix, part, id, line)
    }

    /// The stack above a call path, at the line that calls it.
    fn prefix(&mut self, part: &Part, id: usize) -> Option<usize> {
        // Paths can be thousands of calls deep: from the innermost out to one that is known, and back.
        let mut ways = Vec::new();
        let mut at = id;
        let mut prefix = None;
        while let Some(parent) = part.frames[at].parent {
            let site = part.frames[at].site;
            if let Some(&known) = self.calling.get(&(parent, site)) {
                prefix = Some(known);
                break;
            }
            ways.push((parent, site));
            at = parent;
        }
        for &(caller, site) in ways.iter().rev() {
            let line = self.profile.sites[site].line.clone();
            let stack = self.add(prefix, part, caller, line);
            self.calling.insert((caller, site), stack);
            prefix = Some(stack);
        }
        prefix
    }

    fn add(&mut self, prefix: Option<usize>, part: &Part, id: usize, line: Option<Line>) -> usize {
        let depth = self.inline_depth(part, &part.frames[id]);
        let frame = numbered(&mut self.frames, &mut self.frame_ids, (part.frames[id].function, line, depth));
        numbered(&mut self.stacks, &mut self.stack_ids, (prefix, frame))
    }

    fn inline_depth(&self, part: &Part, frame: &Frame) -> u32 {
        let callers = std::iter::successors(Some(frame), |frame| part.frames.get(frame.parent?));
        let inlined = callers.take_while(|frame| self.profile.sites[frame.site].is_inlined && frame.parent.is_some());
        inlined.count() as u32
    }

    fn string(&mut self, text: &str) -> usize {
        numbered(&mut self.strings, &mut self.string_ids, text.to_owned())
    }

    /// Adds the tables to a thread.
    pub fn write(mut self, thread: &mut Value) {
        let profile = self.profile;
        let names: Vec<usize> = profile.functions.iter().map(|function| self.string(&function.label)).collect();
        let file = |this: &mut Self, line: &Option<Line>| line.as_ref().map(|line| this.string(&line.file));
        let files: Vec<_> = profile.functions.iter().map(|function| file(&mut self, &function.line)).collect();
        let resources: Vec<usize> = (0..profile.modules.len()).map(|id| self.string(profile.short_name(id))).collect();
        let functions = profile.functions.len();
        let frames = &self.frames;
        let none = |length: usize| vec![Value::Null; length];
        let is_inlined = |&(_, _, depth): &FrameKey| if depth > 0 { INLINED } else { FUNCTION };
        let tables = json!({
            "funcTable": {
                "length": functions,
                "name": names,
                "isJS": vec![false; functions],
                "relevantForJS": vec![false; functions],
                "resource": column(&profile.functions, |function| function.module.map_or(-1, |id| id as i64)),
                "fileName": files,
                "lineNumber": column(&profile.functions, |function| function.line.as_ref().map(|line| line.number)),
                "columnNumber": none(functions),
            },
            "resourceTable": {
                "length": resources.len(),
                "lib": (0..resources.len()).collect::<Vec<_>>(),
                "name": resources,
                "host": none(resources.len()),
                "type": vec![1; resources.len()], // a library
            },
            "nativeSymbols": {"length": 0, "libIndex": [], "address": [], "name": [], "functionSize": []},
            "frameTable": {
                "length": frames.len(),
                "address": vec![-1; frames.len()],
                "inlineDepth": column(frames, |(_, _, depth)| *depth),
                "category": column(frames, is_inlined),
                "subcategory": vec![0; frames.len()],
                "func": column(frames, |(function, ..)| *function),
                "nativeSymbol": none(frames.len()),
                "innerWindowID": vec![0; frames.len()],
                "line": column(frames, |(_, line, _)| line.as_ref().map(|line| line.number)),
                "column": none(frames.len()),
            },
            "stackTable": {
                "length": self.stacks.len(),
                "prefix": column(&self.stacks, |(prefix, _)| *prefix),
                "frame": column(&self.stacks, |(_, frame)| *frame),
            },
            "stringArray": self.strings,
        });
        if let (Value::Object(thread), Value::Object(tables)) = (thread, tables) {
            thread.extend(tables);
        }
    }
}

fn column<T, C>(rows: &[T], value: impl Fn(&T) -> C) -> Vec<C> {
    rows.iter().map(value).collect()
}

/// The number of an item, which is new or known.
fn numbered<T: Clone + Eq + std::hash::Hash>(items: &mut Vec<T>, ids: &mut HashMap<T, usize>, item: T) -> usize {
    let next = items.len();
    *ids.entry(item).or_insert_with_key(|item| {
        items.push(item.clone());
        next
    })
}
