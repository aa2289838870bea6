//! Several kinds of requests, each as often as its weight says.

use crate::Error;
use crate::file::File;

/// Kinds of requests, at least one.
#[derive(Clone, Debug)]
pub struct Weighted<T> {
    /// Each with the sum of the weights up to its own.
    all: Vec<(f64, T)>,
}

impl<T> Weighted<T> {
    /// One kind.
    pub fn one(kind: T) -> Self {
        Self { all: vec![(1.0, kind)] }
    }

    /// Those of a file: lines with a weight, 1 unless told, and what `parse` reads. A line that begins as a comment says nothing.
    pub fn of(
        lines: &File,
        comments: &[&str],
        example: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Self, Error> {
        let (path, text) = (&lines.path, lines.text()?);
        let (mut all, mut sum) = (Vec::new(), 0.0);
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || comments.iter().any(|comment| line.starts_with(comment)) {
                continue;
            }
            let failed = |why: String| Error::Line { path: path.to_owned(), line: number + 1, why };
            let (weight, rest) = weight(line).map_err(failed)?;
            sum += weight;
            all.push((sum, parse(rest).map_err(failed)?));
        }
        if all.is_empty() {
            let why = format!("there is no request: write lines such as {example}");
            return Err(Error::Line { path: path.to_owned(), line: text.lines().count().max(1), why });
        }
        Ok(Self { all })
    }

    /// The next.
    pub fn next(&self, random: &mut fastrand::Rng) -> &T {
        let number = match &self.all[..] {
            [_] | [] => 0,
            [.., (sum, _)] => {
                let drawn = random.f64() * sum;
                self.all.partition_point(|(sum, _)| *sum <= drawn).min(self.all.len() - 1)
            }
        };
        &self.all[number].1
    }
}

/// A line's weight, and what comes after it.
pub fn weight(line: &str) -> Result<(f64, &str), String> {
    if !line.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.') {
        return Ok((1.0, line));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let number = word.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight > 0.0);
    let number = number.ok_or_else(|| format!("`{word}` is no weight: write a number above 0"))?;
    Ok((number, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn kinds_come_as_often_as_their_weights_say() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        fs::write(&path, "# all\n\n9 a\nb\n  c d\n").unwrap();
        let read = Weighted::of(&File::read(&path).unwrap(), &["#"], "9 a", |line| Ok(line.to_owned())).unwrap();
        let mut random = fastrand::Rng::with_seed(3);
        let mut counts = std::collections::BTreeMap::new();
        (0..11_000).for_each(|_| *counts.entry(read.next(&mut random).clone()).or_insert(0) += 1);
        assert_eq!(counts.keys().collect::<Vec<_>>(), ["a", "b", "c d"]);
        assert!((8800..9200).contains(&counts["a"]) && (900..1100).contains(&counts["b"]), "{counts:?}");
    }
}
