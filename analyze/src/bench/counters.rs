//! The kernel's and the processor's counters of a program and all its forks, by `perf_event_open`.
//!
//! A counter belongs to the thread that opens it. What that thread starts inherits it, and begins to count when it
//! executes its program; so a program is started by the thread that has opened its counters, and counters that are
//! closed, or another thread's, count nothing of it.

use std::io::{self, ErrorKind};

use perf_event::events::{Hardware, Software};
use perf_event::{Builder, Counter};

use diytrace_compare::runs::metric;

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Hardware(Hardware),
    Software(Software),
}

/// By the processor, for every run.
const PROCESSOR: [(&str, Event); 4] = [
    (metric::INSTRUCTIONS, Event::Hardware(Hardware::INSTRUCTIONS)),
    (metric::CYCLES, Event::Hardware(Hardware::CPU_CYCLES)),
    (metric::BRANCH_MISSES, Event::Hardware(Hardware::BRANCH_MISSES)),
    (metric::CACHE_MISSES, Event::Hardware(Hardware::CACHE_MISSES)),
];

/// By the kernel, for a server: of a program that has ended the kernel tells more.
const KERNEL: [(&str, Event); 3] = [
    (metric::CPU, Event::Software(Software::TASK_CLOCK)),
    (metric::MINOR_FAULTS, Event::Software(Software::PAGE_FAULTS_MIN)),
    (metric::MAJOR_FAULTS, Event::Software(Software::PAGE_FAULTS_MAJ)),
];

/// What this machine counts, found out once.
#[derive(Clone, Debug)]
pub struct Available {
    list: Vec<(&'static str, Event)>,
    /// Why there are no counters of the processor's, if there are none.
    pub lacking: Option<String>,
}

/// Open counters.
#[derive(Default)]
pub struct Counters(Vec<(&'static str, Counter)>);

impl Available {
    /// Tries each.
    pub fn probe() -> Self {
        let mut first_error = None;
        let works = |&(_, event): &(_, Event)| match open(event) {
            Ok(_) => true,
            Err(error) => {
                if matches!(event, Event::Hardware(_)) {
                    first_error.get_or_insert(error);
                }
                false
            }
        };
        let list: Vec<_> = PROCESSOR.into_iter().chain(KERNEL).filter(works).collect();
        let has_any = list.iter().any(|(_, event)| matches!(event, Event::Hardware(_)));
        Self { list, lacking: first_error.filter(|_| !has_any).map(|error| reason(&error)) }
    }

    /// Counters for the program that this thread starts next; for a server, the kernel's as well.
    pub fn open(&self, is_server: bool) -> Counters {
        let wanted = |event: Event| is_server || matches!(event, Event::Hardware(_));
        let list = self.list.iter().filter(|(_, event)| wanted(*event));
        Counters(list.filter_map(|&(name, event)| Some((name, open(event).ok()?))).collect())
    }
}

impl Counters {
    /// What they have counted so far, by name. Where counters share the processor's few, it is scaled to the whole time.
    pub fn read(&mut self) -> Vec<(&'static str, f64)> {
        let value = |counter: &mut Counter| {
            let read = counter.read_count_and_time().ok()?;
            match (read.time_enabled, read.time_running) {
                (0, _) => Some(0.0),
                (_, 0) => None,
                (enabled, running) => Some(read.count as f64 * (enabled as f64 / running as f64)),
            }
        };
        self.0.iter_mut().filter_map(|(name, counter)| Some((*name, value(counter)?))).collect()
    }
}

fn open(event: Event) -> io::Result<Counter> {
    let mut builder = match event {
        Event::Hardware(event) => Builder::new(event),
        Event::Software(event) => Builder::new(event),
    };
    builder.observe_self().inherit(true).enable_on_exec(true).build()
}

fn reason(error: &io::Error) -> String {
    let level = || std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::PermissionDenied, _) => {
            format!("/proc/sys/kernel/perf_event_paranoid is {}, and 2 or less is needed", level().trim())
        }
        (_, Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP)) => {
            "this machine shows none, as most virtual machines do".to_owned()
        }
        (_, Some(libc::ENOSYS)) => "the kernel, or a container's rules, have no perf_event_open".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SPIN: &str = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";

    fn run(script: &str) {
        assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
    }

    fn cpu(counters: &mut Counters) -> f64 {
        counters.read().into_iter().find(|(name, _)| *name == metric::CPU).unwrap().1
    }

    #[test]
    fn what_a_program_and_its_forks_do_is_counted_and_nothing_else() {
        let available = Available::probe();
        if !available.list.iter().any(|(name, _)| *name == metric::CPU) {
            return; // it may not be asked for here
        }
        let mut counters = available.open(true);
        (0..1000).for_each(|_| drop(std::hint::black_box(available.clone())));
        assert_eq!(cpu(&mut counters), 0.0, "we are not counted");
        run(&format!("({SPIN}) & wait"));
        assert!(cpu(&mut counters) > 1e6, "{}", cpu(&mut counters));

        // A server is started by a thread that ends; whoever else is started later is not counted with it.
        drop(counters);
        let start = || {
            let counters = available.open(true);
            run(SPIN);
            counters
        };
        let mut counters = std::thread::scope(|scope| scope.spawn(start).join()).unwrap();
        let once = cpu(&mut counters);
        run(SPIN);
        assert!(once > 1e6 && cpu(&mut counters) == once, "{once} {}", cpu(&mut counters));
    }
}
