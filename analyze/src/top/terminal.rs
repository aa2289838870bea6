//! Frames at a terminal, until somebody leaves. The terminal is given back as it was, also by a panic.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::feed::Feed;
use super::frame::Frame;
use super::view::{View, Wish};
use super::{Options, Wanted, screen};
use crate::ctl::Error;
use diytrace_views::names::Names;

/// Whether a signal has asked us to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Keys are answered at least this soon, and signals.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

extern "C" fn end(_signal: libc::c_int) {
    IS_ENDING.store(true, Ordering::Relaxed);
}

/// Shows frames.
pub fn run(options: &Options, mut feed: Box<dyn Feed>) -> Result<(), Error> {
    let view = View { sort: options.sort, by: options.by, ..View::default() };
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
        // SAFETY: the handler does nothing but store to an atomic.
        unsafe { libc::signal(signal, end as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
    let began = Instant::now();
    feed.read()?;
    let mut terminal = ratatui::try_init()?; // with a panic hook that restores it
    let (wanted, names) = (options.wanted.clone(), options.names);
    let begins_inside = !wanted.roots.is_empty();
    let mut live = Live { feed, wanted, names, view, frame: None, begins_inside };
    live.rebuild();
    let result = live.run(&mut terminal, options.interval, began);
    ratatui::restore();
    result
}

struct Live {
    feed: Box<dyn Feed>,
    wanted: Wanted,
    names: Names,
    view: View,
    frame: Option<Frame>,
    /// Whether it is still to begin inside a root.
    begins_inside: bool,
}

impl Live {
    fn run(mut self, terminal: &mut DefaultTerminal, interval: Duration, began: Instant) -> Result<(), Error> {
        let mut next = began + interval;
        let keys = Keys { are_on_stdin: io::stdin().is_terminal() };
        let mut may_follow = false;
        loop {
            self.draw(terminal)?;
            while Instant::now() < next {
                let wait = next.saturating_duration_since(Instant::now()).min(LONGEST_WAIT);
                if IS_ENDING.load(Ordering::Relaxed) || is_terminal_gone() {
                    return Ok(());
                }
                // Asked only for what has come already: at a terminal that goes away meanwhile it would look for keys for ever.
                may_follow = (may_follow || keys.have_come()) && event::poll(Duration::ZERO).or_else(interrupted)?;
                if !may_follow {
                    keys.await_some(wait);
                    continue;
                }
                match event::read()? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => {
                        let by = self.view.by;
                        match self.view.press(key, self.frame.as_ref()) {
                            Some(Wish::Quit) => return Ok(()),
                            Some(Wish::Rebase) => self.feed.rebase()?,
                            Some(Wish::Intervals) => self.feed.intervals(),
                            None => {}
                        }
                        if by != self.view.by {
                            self.rebuild();
                        }
                    }
                    _ => {}
                }
                self.draw(terminal)?;
            }
            let began = Instant::now();
            if !self.view.is_held {
                self.feed.read()?;
                self.rebuild();
            }
            // However long reading takes, there is time for keys.
            next = (began + interval).max(Instant::now() + interval / 4);
        }
    }

    fn rebuild(&mut self) {
        self.frame = self.feed.frame(self.view.by).map(|mut frame| {
            self.wanted.keep(&mut frame);
            self.names.apply(&mut frame);
            frame
        });
        // Of one function that was asked for, it is shown at once what it calls.
        if let Some([root]) = self.frame.as_ref().map(|frame| &frame.functions[..])
            && std::mem::take(&mut self.begins_inside)
        {
            self.view.inside = vec![root.id()];
        }
    }

    fn draw(&self, terminal: &mut DefaultTerminal) -> io::Result<()> {
        terminal.draw(|canvas| screen::draw(canvas, self.frame.as_ref(), &self.view))?;
        Ok(())
    }
}

/// Whether nobody can see the frames any more: the window was closed, or the session behind it. Not everyone is told of that
/// by a signal.
fn is_terminal_gone() -> bool {
    [libc::STDIN_FILENO, libc::STDOUT_FILENO].iter().any(|&fd| news_of(fd, 0, Duration::ZERO) & GONE != 0)
}

/// What a descriptor says whose other end is gone.
const GONE: libc::c_short = libc::POLLHUP | libc::POLLERR | libc::POLLNVAL;

/// Where keys come from.
struct Keys {
    /// Else from the terminal itself.
    are_on_stdin: bool,
}

impl Keys {
    /// Whether any may have come, from a terminal that is there.
    fn have_come(&self) -> bool {
        let news = || news_of(libc::STDIN_FILENO, libc::POLLIN, Duration::ZERO);
        !self.are_on_stdin || news() & (libc::POLLIN | GONE) == libc::POLLIN
    }

    /// Waits for some, a signal, or the end of the terminal.
    fn await_some(&self, longest: Duration) {
        if self.are_on_stdin {
            news_of(libc::STDIN_FILENO, libc::POLLIN, longest);
        } else {
            std::thread::sleep(longest.min(Duration::from_millis(50)));
        }
    }
}

/// What there is to know of a descriptor.
fn news_of(fd: libc::c_int, events: libc::c_short, longest: Duration) -> libc::c_short {
    let mut asked = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one descriptor; a closed one is an answer, too.
    let answers = unsafe { libc::poll(&raw mut asked, 1, longest.as_millis() as libc::c_int) };
    if answers > 0 { asked.revents } else { 0 }
}

/// A signal is no event.
fn interrupted(error: io::Error) -> io::Result<bool> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) }
}
