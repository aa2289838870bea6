//! False alarms and power of runs that are added until all is decided, on simulated runs: `benches/trust.sh --bench looks` runs it.
//!
//! ```text
//! cargo run --release -p diytrace-compare --example looks          a table, as TSV
//! ```
//!
//! A comparison is of twenty functions in one build, of which the first takes so much longer on the right; from run to run
//! each varies by two hundredths. What is told is what is called changed before fresh runs confirm it.

use diytrace_compare::diff::{Options, SoFar, Verdict, pays_of, test_values};
use diytrace_compare::statistics::{Looks, SEED};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

const FUNCTIONS: usize = 20;
const NOISE: f64 = 0.02;
const LOOKS: Looks = Looks { first: 10, most: 20 };

#[derive(Clone, Copy)]
enum Kind {
    Normal,
    /// Student's t with three degrees of freedom.
    HeavyTailed,
}

struct Source {
    random: Pcg64Mcg,
    normal: Normal,
    student: StudentsT,
}

impl Source {
    fn value(&mut self, kind: Kind) -> f64 {
        let uniform = self.random.random::<f64>().max(f64::MIN_POSITIVE);
        100.0
            * (1.0
                + match kind {
                    Kind::Normal => NOISE * self.normal.inverse_cdf(uniform),
                    Kind::HeavyTailed => NOISE * self.student.inverse_cdf(uniform),
                })
    }

    fn add(&mut self, sides: &mut [[Vec<f64>; 2]], kind: Kind, shift: f64, runs: usize) {
        for (function, sides) in sides.iter_mut().enumerate() {
            while sides[0].len() < runs {
                let right = self.value(kind) * if function == 0 { 1.0 + shift } else { 1.0 };
                sides[0].push(self.value(kind));
                sides[1].push(right);
            }
        }
    }
}

/// The functions that are called changed, as `bench` comes to it, and after how many runs a side.
fn compared(source: &mut Source, kind: Kind, shift: f64, looks: Option<Looks>) -> (Vec<usize>, usize) {
    let whole = Options::default();
    let mut sides = vec![[Vec::new(), Vec::new()]; FUNCTIONS];
    let at = looks.map_or(vec![LOOKS.first], Looks::at);
    let mut claims = Vec::new();
    let mut made = 0;
    for runs in at {
        made = runs;
        source.add(&mut sides, kind, shift, runs);
        let level = looks.map_or(whole.level, |looks| looks.level(runs, whole.level));
        let tests = test_values(&sides, [runs, runs], &Options { level, ..whole.clone() });
        let is_claim = |verdict: &Verdict| *verdict == Verdict::Changed;
        claims = (0..FUNCTIONS).filter(|function| is_claim(&tests[*function].1)).collect();
        let so_far =
            tests.iter().map(|(test, verdict)| SoFar { test, verdict: *verdict, min_change: whole.min_change });
        if !looks.is_some_and(|looks| pays_of(&so_far.collect::<Vec<_>>(), runs, looks, &whole)) {
            break;
        }
    }
    (claims, made)
}

fn main() {
    let normal = Normal::new(0.0, 1.0).expect("a standard deviation above 0");
    let student = StudentsT::new(0.0, 1.0, 3.0).expect("a scale above 0");
    let mut source = Source { random: Pcg64Mcg::seed_from_u64(SEED), normal, student };
    println!(
        "series\truns\tshift_percent\tcomparisons\tfound_percent\twith_false_alarm_percent\tfalse_alarms_of_functions_percent\tmean_runs"
    );
    for (kind, name) in [(Kind::Normal, "normal"), (Kind::HeavyTailed, "heavy-tailed")] {
        for (looks, runs) in [(None, "10"), (Some(LOOKS), "10 to 20")] {
            for (shift, comparisons) in [(0.0, 400), (0.02, 100), (0.03, 100), (0.05, 100)] {
                let (mut found, mut alarmed, mut alarms, mut made) = (0, 0, 0, 0);
                for _ in 0..comparisons {
                    let (claims, runs) = compared(&mut source, kind, shift, looks);
                    let false_ones = claims.iter().filter(|function| shift == 0.0 || **function != 0).count();
                    found += usize::from(shift > 0.0 && claims.contains(&0));
                    (alarmed, alarms, made) = (alarmed + usize::from(false_ones > 0), alarms + false_ones, made + runs);
                }
                let percent = |count: usize, of: usize| 100.0 * count as f64 / of as f64;
                println!(
                    "{name}\t{runs}\t{}\t{comparisons}\t{}\t{}\t{}\t{}",
                    100.0 * shift,
                    percent(found, comparisons),
                    percent(alarmed, comparisons),
                    percent(alarms, comparisons * FUNCTIONS),
                    made as f64 / comparisons as f64
                );
            }
        }
    }
}
