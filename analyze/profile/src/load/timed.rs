//! Which of a path's calls were timed.

use diytrace_format::reader::File;
use diytrace_format::{Node, Sample, header};
use serde::{Deserialize, Serialize};

/// Which calls of a program are timed (`DIYTRACE_TIMING`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timing {
    /// All, but for those of trials.
    #[default]
    All,
    /// Of each path's calls some.
    Sampled,
    /// None.
    Off,
}

impl Timing {
    /// The timing of a profile.
    pub fn of(header: &diytrace_format::Header) -> Self {
        match header.timing {
            header::timing::SAMPLED => Self::Sampled,
            header::timing::OFF => Self::Off,
            _ => Self::All,
        }
    }
}

/// Which calls of a path were timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timed {
    /// All.
    #[default]
    All,
    /// All but that many.
    AllBut(u64),
    /// Some, which stand for others: the place of what is known of them in [`Arena::samples`](super::Arena::samples).
    Some(u32),
    /// None.
    None,
}

impl Timed {
    /// Those of a node. What is known of some goes to `samples`.
    pub fn of(node: &Node, timing: Timing, file: &File, samples: &mut Vec<Sample>) -> Self {
        match timing {
            Timing::All => match node.sample.saturating_sub(node.countdown.saturating_sub(1).into()) {
                0 => Self::All,
                left_out => Self::AllBut(left_out.into()),
            },
            Timing::Sampled => match file.sample(node.sample).filter(is_sound) {
                Some(sample) if node.sample != 0 => {
                    samples.push(sample);
                    Self::Some(samples.len() as u32 - 1)
                }
                _ => Self::None,
            },
            Timing::Off => Self::None,
        }
    }
}

fn is_sound(sample: &Sample) -> bool {
    [sample.squares, sample.spread].iter().all(|sum| sum.is_finite() && *sum >= 0.0)
}
