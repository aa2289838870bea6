//! Values of any kind, tested as self times are.

use super::comparison::{Test, Verdict};
use super::decision::decide;
use super::options::Options;
use super::tester::{Errors, Tester};

/// Tests values of so many runs a side, each family of them together; they are as exact as they are told.
pub fn test_values(values: &[[Vec<f64>; 2]], runs: [usize; 2], options: &Options) -> Vec<(Test, Verdict)> {
    let tester = Tester::new(runs, options);
    let mut tests: Vec<Test> = values.iter().map(|sides| tester.test(sides, Errors::default())).collect();
    let mut asked: Vec<_> = tests.iter_mut().map(|test| (test, options.min_change)).collect();
    let verdicts = decide(&mut asked, options, tester.smallest_p);
    tests.into_iter().zip(verdicts).collect()
}
