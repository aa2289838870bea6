//! False alarms and power of `history`'s steps, on courses where the truth is known; `benches/trust.sh --bench steps` runs it.
//!
//! ```text
//! cargo run -p diytrace-compare --example steps             a table, as TSV
//! ```

use diytrace_compare::history::{LEVEL, Sample, steps};
use diytrace_compare::statistics::SEED;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

const COURSES: usize = 1000;
const BUILDS: usize = 20;
/// The first build after the step.
const STEP_AT: usize = 12;
const STEPS: [f64; 7] = [0.0, 0.05, 0.10, 0.15, 0.30, 1.0, -0.15];

/// How the runs of a build vary.
#[derive(Clone, Copy)]
enum Kind {
    /// A bell, with this standard deviation.
    Normal(f64),
    /// Student's t with 2 degrees of freedom, times this: its variance is infinite.
    HeavyTailed(f64),
    /// A bell of 1%; a tenth of a percent slower with each build: what changes, but in no step.
    Drifting,
    /// A bell of 1%; all runs of one build, in the middle before the step, took 30% longer: what does not stay.
    OneBadBuild,
}

const KINDS: [(Kind, &str); 6] = [
    (Kind::Normal(0.01), "normal 1%"),
    (Kind::Normal(0.03), "normal 3%"),
    (Kind::Normal(0.10), "normal 10%"),
    (Kind::HeavyTailed(0.02), "heavy-tailed 2%"),
    (Kind::Drifting, "drifting"),
    (Kind::OneBadBuild, "one bad build"),
];

fn main() {
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    println!("runs\truns_a_build\tstep_percent\tcourses\tfound_percent\tnear_percent\tothers_percent");
    for (kind, name) in KINDS {
        for runs in [1, 3, 5] {
            for step in STEPS {
                tell(&mut random, kind, name, runs, step);
            }
        }
    }
}

/// How often a step is found where it is, at a build beside that, and where none is.
fn tell(random: &mut Pcg64Mcg, kind: Kind, name: &str, runs: usize, step: f64) {
    let (mut found, mut near, mut others) = (0, 0, 0);
    for _ in 0..COURSES {
        let samples = course(random, kind, runs, step);
        let at: Vec<usize> = steps(&samples, LEVEL, |_, _| 0.0).iter().map(|found| samples[found.at].point).collect();
        let beside = |point: usize| step != 0.0 && point.abs_diff(STEP_AT) == 1;
        let is_there = step != 0.0 && at.contains(&STEP_AT);
        found += usize::from(is_there);
        near += usize::from(!is_there && at.iter().any(|point| beside(*point)));
        others += usize::from(at.iter().any(|point| (step == 0.0 || *point != STEP_AT) && !beside(*point)));
    }
    let percent = |count: usize| 100.0 * count as f64 / COURSES as f64;
    println!(
        "{name}\t{runs}\t{}\t{COURSES}\t{:.1}\t{:.1}\t{:.1}",
        (step * 100.0).round(),
        percent(found),
        percent(near),
        percent(others)
    );
}

fn course(random: &mut Pcg64Mcg, kind: Kind, runs: usize, step: f64) -> Vec<Sample> {
    let sample = |number: usize| {
        let point = number / runs;
        let level = if point < STEP_AT { 1.0 } else { 1.0 + step };
        let value = 100.0 * level * noise(random, kind, point).max(0.01);
        let started = number as i64 * 10;
        Sample { value, point, started, ended: started + 5 }
    };
    (0..runs * BUILDS).map(sample).collect()
}

fn noise(random: &mut Pcg64Mcg, kind: Kind, point: usize) -> f64 {
    let uniform = random.random::<f64>().max(f64::MIN_POSITIVE); // between 0 and 1, without either
    let normal = Normal::standard();
    match kind {
        Kind::Normal(deviation) => 1.0 + deviation * normal.inverse_cdf(uniform),
        Kind::HeavyTailed(scale) => {
            let student = StudentsT::new(0.0, 1.0, 2.0).expect("a scale above 0");
            1.0 + scale * student.inverse_cdf(uniform)
        }
        Kind::Drifting => 1.0 + 0.001 * point as f64 + 0.01 * normal.inverse_cdf(uniform),
        Kind::OneBadBuild => (1.0 + 0.01 * normal.inverse_cdf(uniform)) * if point == STEP_AT / 2 { 1.3 } else { 1.0 },
    }
}
