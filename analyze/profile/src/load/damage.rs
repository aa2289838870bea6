//! What is wrong with a file, counted and then told in a few sentences.

use diytrace_format::Slot;

/// More calls than one path can have had: a thread that does nothing else would need forty years.
const TOO_MANY: u64 = 1 << 58;

/// More ticks than all calls of a path can have taken: thirty years of a fast clock.
const TOO_LONG: u64 = 1 << 62;

/// What is wrong with a file.
#[derive(Default)]
pub struct Damage {
    /// Bytes that are missing at the end.
    pub truncated: u64,
    /// The clock or the costs cannot be.
    pub clock: bool,
    /// Paths above that are none.
    pub parents: usize,
    /// Recursions folded into paths that are none.
    pub positions: usize,
    /// Histograms that lead nowhere.
    pub records: usize,
    /// Times off the processor that lead nowhere, or belong to no path.
    pub off_cpu: usize,
    /// Blocks of no arena.
    pub chunks: usize,
    /// Paths whose counters cannot be what the recorder wrote.
    pub counters: usize,
}

impl Damage {
    /// The counters of a path; none where they cannot be.
    pub fn sound(&mut self, unwound: u64, slots: [Slot; 2]) -> (u64, [Slot; 2]) {
        let is_sound = |slot: &Slot| slot.calls.max(slot.descendants) < TOO_MANY && slot.ticks < TOO_LONG;
        if unwound < TOO_MANY && slots.iter().all(is_sound) {
            return (unwound, slots);
        }
        self.counters += 1;
        Default::default()
    }

    /// It in sentences.
    pub fn describe(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.truncated > 0 {
            said.push(format!("the file is truncated: its last {} bytes are missing", self.truncated));
        }
        if self.clock {
            said.push("the file is damaged: it has no sound clock, so times are in an unknown unit".to_owned());
        }
        let nodes = self.parents + self.positions;
        if nodes > 0 {
            said.push(format!("the file is damaged: the callers of {nodes} call paths are lost"));
        }
        if self.counters > 0 {
            said.push(format!(
                "the file is damaged: the counters of {} call paths cannot be, and these calls are left out",
                self.counters
            ));
        }
        if self.records > 0 {
            said.push(format!("the file is damaged: the percentiles of {} functions are lost", self.records));
        }
        if self.off_cpu > 0 {
            said.push("the file is damaged: some time that was waited counts as time on the processor".to_owned());
        }
        if self.chunks > 0 {
            said.push(format!("the file is damaged: {} blocks belong to no thread", self.chunks));
        }
        said
    }
}
