//! The command `top`: what a running program does now.
//!
//! ```text
//! profile ──[`Reader`]──▶ two readings ──[build]──▶ [`Frame`] ──┬─[stream]──▶ text, JSON
//! store ──▶ its newest slices ─────────────┘                     └─[view], [screen], [terminal]──▶ a terminal
//! ```
//!
//! A frame is plain data: rates between two readings of a profile. The program is not asked for anything: its file is
//! opened for reading only.

mod build;
mod feed;
mod frame;
mod screen;
mod stream;
mod terminal;
mod view;
mod wanted;

use std::io::{IsTerminal, Write};
use std::time::Duration;

#[cfg(feature = "service")]
pub use build::Builder;
pub use feed::Feed;
#[cfg(feature = "service")]
pub use frame::{Frame, Newest};
pub use view::Sort;
pub use wanted::Wanted;

use crate::ctl::{Error, Target, Watched};
use diytrace_profile::load::reader::Reader;
use diytrace_profile::merge::By;
use diytrace_views::names::Names;
use diytrace_views::report::Format;
use feed::Watching;

/// What to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What it is about.
    pub target: Target,
    /// Which functions.
    pub wanted: Wanted,
    /// Between two readings.
    pub interval: Duration,
    /// As many frames, and no terminal.
    pub frames: Option<u64>,
    /// How frames are written; `None`: at a terminal live, else as text.
    pub format: Option<Format>,
    /// What is told together.
    pub by: By,
    /// Order of functions.
    pub sort: Sort,
    /// How functions are named.
    pub names: Names,
    /// Most functions of a frame; `None`: twenty as text, else all.
    pub limit: Option<usize>,
}

/// Shows it until there is no more to show, or nobody to show it to: of the program that is meant, or of another feed.
pub fn run(options: &Options, feed: Option<Box<dyn Feed>>, out: &mut dyn Write) -> Result<(), Error> {
    let feed = match feed {
        Some(feed) => feed,
        None => {
            let watched = Watched::one(&options.target)?;
            if !watched.is_running() {
                return Err(Error::Finished { path: watched.family.path });
            }
            Box::new(Watching::new(Reader::new(watched.family.path)))
        }
    };
    if options.format.is_some() || options.frames.is_some() || !std::io::stdout().is_terminal() {
        return stream::run(options, feed, out);
    }
    terminal::run(options, feed)
}
