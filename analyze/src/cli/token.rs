//! Tokens in files, for who sends.

use std::fs;
use std::path::Path;

use diytrace_profile::error::Error;

/// The token in a file: alone, or the first behind `write`, as a service's file has it.
pub fn read(path: &Path) -> Result<String, Error> {
    let wrong = |why: String| Error::Usage(format!("--token-file {}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let tokens = text.lines().filter(|line| !line.starts_with('#')).map(words);
    let token = tokens.filter_map(|words| match &words[..] {
        [token] => Some(token.clone()),
        [what, token] if what == "write" => Some(token.clone()),
        _ => None,
    });
    token.into_iter().next().ok_or_else(|| wrong("it has no token to write with".to_owned()))
}
