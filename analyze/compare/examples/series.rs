//! False alarms and power of the tests, on series where the truth is known; `benches/trust.sh --bench series` runs it.
//!
//! ```text
//! cargo run -p diytrace-compare --example series            a table, as TSV
//! cargo run -p diytrace-compare --example series -- 25      25 series of each kind and what the tests say of them
//! ```
//!
//! The second form is for holding the tests against others: R's, by `benches/tools/series.R`.

use diytrace_compare::statistics::{Medians, Ranks, SEED, Splits, ks::ks};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

const RUNS: usize = 10;
const REPETITIONS: usize = 2000;
const SHIFTS: [f64; 5] = [0.0, 0.02, 0.05, 0.10, 0.30];
const LEVEL: f64 = 0.05;
/// The smallest change that the decision protocol calls one.
const MIN_CHANGE: f64 = 0.05;

/// How the runs of an unchanged program vary around 100.
#[derive(Clone, Copy)]
enum Kind {
    /// Standard deviation 2.
    Normal,
    /// Student's t with 2 degrees of freedom, times 2: its variance is infinite.
    HeavyTailed,
    /// Three of ten runs take 10 longer.
    Bimodal,
    /// Each run takes 0.5 longer than the one before; the sides take turns, A B B A.
    DriftingInTurns,
    /// The same; all of one side, then all of the other. What nobody should do.
    DriftingInSequence,
}

const KINDS: [(Kind, &str); 5] = [
    (Kind::Normal, "normal"),
    (Kind::HeavyTailed, "heavy-tailed"),
    (Kind::Bimodal, "bimodal"),
    (Kind::DriftingInTurns, "drifting, in turns"),
    (Kind::DriftingInSequence, "drifting, in sequence"),
];

struct Source {
    random: Pcg64Mcg,
    normal: Normal,
    student: StudentsT,
}

impl Source {
    fn new() -> Self {
        let normal = Normal::new(0.0, 1.0).expect("a standard deviation above 0");
        let student = StudentsT::new(0.0, 1.0, 2.0).expect("a scale above 0");
        Self { random: Pcg64Mcg::seed_from_u64(SEED), normal, student }
    }

    /// Between 0 and 1, without either.
    fn uniform(&mut self) -> f64 {
        self.random.random::<f64>().max(f64::MIN_POSITIVE)
    }

    fn noise(&mut self) -> f64 {
        let uniform = self.uniform();
        self.normal.inverse_cdf(uniform)
    }

    fn value(&mut self, kind: Kind, at: usize) -> f64 {
        100.0
            + match kind {
                Kind::Normal => 2.0 * self.noise(),
                Kind::HeavyTailed => {
                    let uniform = self.uniform();
                    2.0 * self.student.inverse_cdf(uniform)
                }
                Kind::Bimodal => self.noise() + if self.uniform() < 0.3 { 10.0 } else { 0.0 },
                Kind::DriftingInTurns | Kind::DriftingInSequence => self.noise() + 0.5 * at as f64,
            }
    }

    /// Both sides in the order in which they run, the right one dearer by that part.
    fn sides(&mut self, kind: Kind, shift: f64) -> [Vec<f64>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for at in 0..2 * RUNS {
            let side = match kind {
                Kind::DriftingInSequence => at / RUNS,
                _ => [0, 1, 1, 0][at % 4],
            };
            let value = self.value(kind, at);
            sides[side].push(if side == 1 { value * (1.0 + shift) } else { value });
        }
        sides
    }
}

struct Tests {
    splits: Splits,
    ranks: Ranks,
}

impl Tests {
    fn of(&self, [left, right]: &[Vec<f64>; 2]) -> (Medians, f64, f64) {
        let of_ks = ks(left, right).map_or(1.0, |found| found.p);
        (Medians::of(left, right, &self.splits), self.ranks.p(left, right), of_ks)
    }
}

fn main() {
    let rows = std::env::args().nth(1).map(|rows| match rows.parse::<usize>() {
        Ok(rows) => rows,
        Err(_) => {
            eprintln!("series: the number of series of each kind must be a whole number, not '{rows}'");
            std::process::exit(2);
        }
    });
    let tests = Tests { splits: Splits::new(RUNS, RUNS, 10_000), ranks: Ranks::new(RUNS, RUNS) };
    let mut source = Source::new();
    match rows {
        Some(rows) => print_series(rows, &tests, &mut source),
        None => print_shares(&tests, &mut source),
    }
}

/// How often each test, and the protocol of them all, calls a series changed.
fn print_shares(tests: &Tests, source: &mut Source) {
    println!("series\tshift_percent\trepetitions\trandomisation_percent\tranks_percent\tks_percent\tprotocol_percent");
    for (kind, name) in KINDS {
        for shift in SHIFTS {
            let mut counts = [0; 4];
            for _ in 0..REPETITIONS {
                let (medians, p_ranks, p_ks) = tests.of(&source.sides(kind, shift));
                let is_large = medians.difference().abs() >= MIN_CHANGE * medians.left;
                let is_beyond = medians.reaches_threshold();
                let says = [is_beyond, p_ranks <= LEVEL, p_ks <= LEVEL, is_beyond && is_large && p_ranks <= LEVEL];
                counts.iter_mut().zip(says).for_each(|(count, says)| *count += u32::from(says));
            }
            let [medians, ranks, ks, protocol] = counts.map(|count| 100.0 * f64::from(count) / REPETITIONS as f64);
            println!("{name}\t{}\t{REPETITIONS}\t{medians}\t{ranks}\t{ks}\t{protocol}", 100.0 * shift);
        }
    }
}

/// Series and p-values, for others to find the same.
fn print_series(rows: usize, tests: &Tests, source: &mut Source) {
    let joined = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    println!("series\tshift\tp_medians\tp_ranks\tp_ks\tleft\tright");
    for (kind, name) in KINDS {
        for row in 0..rows {
            let shift = SHIFTS[row % SHIFTS.len()];
            let sides = source.sides(kind, shift);
            let (medians, p_ranks, p_ks) = tests.of(&sides);
            let [left, right] = &sides;
            println!("{name}\t{shift}\t{}\t{p_ranks}\t{p_ks}\t{}\t{}", medians.p, joined(left), joined(right));
        }
    }
}
