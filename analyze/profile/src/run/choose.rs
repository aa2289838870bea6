//! Which runs are meant by `latest`, a number or a pattern.

use std::path::Path;

use diytrace_format::pattern::glob;

use super::{Error, Run};

/// The runs, oldest first, that are meant; at least one.
pub fn choose<'a>(runs: &'a [Run], wanted: &str) -> Result<Vec<&'a Run>, Error> {
    let chosen: Vec<&Run> = match (wanted, wanted.parse::<usize>()) {
        ("latest", _) => runs.last().into_iter().collect(),
        (_, Ok(number)) => runs.iter().filter(|run| run.number == number).collect(),
        _ => runs.iter().filter(|run| is_called(run, wanted)).collect(),
    };
    if chosen.is_empty() {
        return Err(Error::Unknown { wanted: wanted.to_owned(), count: runs.len() });
    }
    Ok(chosen)
}

/// Whether a run's label, or one of its programs or profiles, is called so.
fn is_called(run: &Run, pattern: &str) -> bool {
    run.label.as_deref().is_some_and(|label| glob(pattern, label))
        || run.files.iter().any(|file| {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            glob(pattern, &stem) || glob(pattern, program(file))
        })
}

/// The program that a profile is named after: `PROGRAM-PID-START.diyt`.
fn program(file: &Path) -> &str {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.rsplitn(3, '-').nth(2).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_place_number_label_and_program() {
        let run = |number, label: Option<&str>, file: &str| Run {
            number,
            label: label.map(str::to_owned),
            files: vec![file.into()],
            ..Run::default()
        };
        let runs = [
            run(1, Some("before the fix"), "out/my-server-12-1700.diyt"),
            run(2, None, "out/client-13-1701.diyt"),
            run(3, Some("after"), "out/my-server-14-1702.diyt"),
        ];
        for (wanted, expected) in [
            ("latest", &[3][..]),
            ("1", &[1]),
            ("before*", &[1]),
            ("my-server", &[1, 3]),
            ("client*", &[2]),
            ("client-13-1701", &[2]),
        ] {
            let numbers: Vec<usize> = choose(&runs, wanted).unwrap().iter().map(|run| run.number).collect();
            assert_eq!(numbers, expected, "{wanted}");
        }
        for wanted in ["4", "0", "server", "fix", ""] {
            assert!(choose(&runs, wanted).is_err(), "{wanted}");
        }
        assert!(choose(&[], "latest").is_err());
    }
}
