//! Annotated functions as data, in the shape of their JSON (`diytrace-annotate/1`). Fields may be added, none changed.

use serde::Serialize;

use crate::subject::{Clock, Subject};
use diytrace_profile::functions::CallKind;
use diytrace_profile::units::Address;

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-annotate/1";

/// Annotated functions.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-annotate/1`.
    pub schema: &'static str,
    /// The recorder's clock.
    pub clock: Clock,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// How many runs are added up.
    pub runs: usize,
    /// Whether times are as measured.
    pub raw: bool,
    /// Lines around each that calls that text for people shows; `None`: all.
    #[serde(skip)]
    pub context: Option<usize>,
    /// One, or one for each process or thread.
    pub reports: Vec<Report>,
}

/// What is told together.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whose calls these are.
    #[serde(flatten)]
    pub subject: Subject,
    /// The functions, those with the most time first.
    pub functions: Vec<Function>,
}

/// A function, annotated.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Path of its module.
    pub module: String,
    /// ELF virtual address; of several the first.
    pub address: Address,
    /// Where it is written, as its compiler knew it.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// The file that the source was read from, if there is one.
    pub source: Option<String>,
    /// Calls entered.
    pub calls: u64,
    /// Calls not yet returned.
    pub open: u64,
    /// Inclusive time of outermost calls.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_ns: f64,
    /// Time without callees.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_ns: f64,
    /// How far off the total may be.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_error_ns: f64,
    /// How far off the self time may be.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_error_ns: f64,
    /// Lines of the source, with what they call.
    pub lines: Vec<Line>,
    /// Where there is no source: instructions around each call.
    pub instructions: Vec<Instruction>,
    /// Calls that are on none of these.
    pub elsewhere: Vec<Call>,
    /// What it calls that has too small a share to be shown.
    pub hidden: Option<Hidden>,
}

/// Calls that are left out.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Hidden {
    /// How many would be shown.
    pub nodes: u64,
    /// Calls entered.
    pub calls: u64,
    /// Their time.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_ns: f64,
    /// Without callees.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_ns: f64,
}

impl Function {
    /// Leaves out calls with a smaller share of its time. Those of itself have their time on other lines.
    pub fn hide_below(&mut self, min_percent: f64) {
        let least = self.total_ns * min_percent / 100.0;
        let mut hidden = Hidden { nodes: 0, calls: 0, total_ns: 0.0, self_ns: 0.0 };
        let mut is_shown = |call: &Call| {
            let is_less = call.total_ns < least && !call.is_recursion;
            if is_less {
                hidden.nodes += 1;
                hidden.calls = hidden.calls.saturating_add(call.calls);
                hidden.total_ns += call.total_ns;
                hidden.self_ns += call.self_ns;
            }
            !is_less
        };
        for line in &mut self.lines {
            line.calls.retain(&mut is_shown);
            *line = Line::new(line.number, std::mem::take(&mut line.text), std::mem::take(&mut line.calls));
        }
        self.instructions.iter_mut().for_each(|instruction| instruction.calls.retain(&mut is_shown));
        self.elsewhere.retain(&mut is_shown);
        self.hidden = (hidden.nodes > 0).then_some(hidden);
    }
}

/// A line of source.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its number.
    pub number: u32,
    /// The line.
    pub text: String,
    /// Time of what it calls, as a part of the function's. The function's own time is on no line: only calls are recorded.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_ns: f64,
    /// The own time of what it calls.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_ns: f64,
    /// What it calls, what takes the most first.
    pub calls: Vec<Call>,
}

impl Line {
    /// A line with what it calls.
    pub fn new(number: u32, text: String, calls: Vec<Call>) -> Self {
        let sum = |time: fn(&Call) -> f64| calls.iter().map(time).sum();
        Self { number, text, total_ns: sum(|call| call.total_ns), self_ns: sum(|call| call.self_ns), calls }
    }
}

/// An instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Instruction {
    /// ELF virtual address.
    pub address: Address,
    /// In Intel's notation.
    pub text: String,
    /// Whether instructions before it are left out.
    pub follows_gap: bool,
    /// What it calls.
    pub calls: Vec<Call>,
}

/// Calls of a function from one place.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// Name of the callee.
    pub name: String,
    /// Path of its module.
    pub module: String,
    /// Its ELF virtual address; of several the first.
    pub address: Address,
    /// How it was called.
    pub call: CallKind,
    /// Code without hooks between caller and callee.
    pub via: Option<String>,
    /// Return address of the call; of an inlined body, of its enter hook.
    pub site: Address,
    /// Where the call is written.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Calls entered.
    pub calls: u64,
    /// Their time, as a part of the function's; without nested calls of the function itself.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_ns: f64,
    /// Without callees.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_ns: f64,
    /// How far off the total may be.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_error_ns: f64,
    /// How far off the self time may be.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_error_ns: f64,
    /// Whether they are calls of the function itself: their time is on the lines where it was spent.
    pub is_recursion: bool,
}
