//! Random selections of each kind, and how long they take.

use std::error::Error;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use diytrace_store::{Address, Range};

use crate::cold::Cold;
use crate::vary::Random;
use crate::{HOSTS, SECOND, START};

/// How often each kind is asked.
const TIMES: usize = 50;

/// How much a selection is of.
#[derive(Clone, Copy)]
pub enum Span {
    /// One frame.
    Frame,
    Hour,
    /// All there is.
    Always,
}

/// One question: of a service, in a range.
pub struct Question {
    pub service: usize,
    pub range: Range,
}

/// Who asks it.
pub type Ask<'a> = Box<dyn Fn(&Question) -> Result<(), Box<dyn Error>> + 'a>;

/// A kind of question: its name, how much it is of, and who asks it.
pub type Kind<'a> = (&'static str, Span, Ask<'a>);

/// What a store was filled with, and how it is asked.
pub struct Asking {
    pub series: usize,
    pub frames: i64,
    pub span: i64,
    /// What is to be read from the disk each time.
    pub cold: Option<PathBuf>,
    /// Kinds that are left out.
    pub without: Vec<String>,
}

/// Asks each kind fifty times, each of something else.
pub fn ask(address: &Address, asking: &Asking, kinds: Vec<Kind>) -> Result<(), Box<dyn Error>> {
    println!("what\tnumber\tp50_ms\tp95_ms");
    let Asking { series, frames, span, cold, without } = asking;
    let (frames, span, cold) = (*frames, *span, cold.as_deref().map(|files| Cold::new(address, files)));
    for (name, length, ask) in kinds {
        if without.iter().any(|other| other == name) {
            continue;
        }
        let length = match length {
            Span::Frame => 1,
            Span::Hour => (3600 * SECOND / span).clamp(1, frames),
            Span::Always => frames,
        };
        // Each kind is asked of the same, whichever others there are.
        let mut random = Random(7);
        let mut taken = Vec::new();
        for _ in 0..TIMES {
            let service = random.below((series / HOSTS) as u64) as usize;
            let first = random.below((frames - length + 1) as u64) as i64;
            let since = START + first * span;
            let question = Question { service, range: Range { since, until: since + length * span } };
            if let Some(cold) = &cold {
                cold.forget()?;
            }
            let began = Instant::now();
            ask(&question)?;
            let time = began.elapsed();
            taken.push(time.as_secs_f64() * 1e3);
            // Linux holds up for 50 ms who goes before all others and is not idle for a second.
            thread::sleep(time / 8);
        }
        taken.sort_by(f64::total_cmp);
        println!("{name}\t{TIMES}\t{:.1}\t{:.1}", taken[TIMES / 2], taken[TIMES * 95 / 100]);
    }
    Ok(())
}
