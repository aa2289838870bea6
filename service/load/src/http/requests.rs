//! A file of requests: lines `[WEIGHT] METHOD PATH [BODY]`, where `@FILE` is a body from a file beside it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::request::{Body, Request};
use crate::Error;
use crate::file::File;
use crate::weighted::{Weighted, weight};

/// A file of requests, with the files that it names.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// The file. A line that begins with `#` says nothing.
    pub lines: File,
    /// Bodies by the names that they have there, or why there is none.
    bodies: BTreeMap<String, Result<File, String>>,
}

/// What a line says.
struct Line<'a> {
    method: &'a str,
    path: &'a str,
    body: Carried<'a>,
}

/// What a line says that its request carries.
enum Carried<'a> {
    Nothing,
    Text(&'a str),
    /// What is in the file of this name.
    File(&'a str),
}

impl Requests {
    /// Reads a file, and those that its lines name.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let lines = File::read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut bodies = BTreeMap::new();
        for line in lines.text()?.lines().filter(|line| !line.starts_with('#')) {
            // What is wrong with a line is told when it is understood.
            let Ok((_, line)) = weight(line.trim()) else { continue };
            if let Ok(Line { body: Carried::File(name), .. }) = Line::parse(line) {
                let read = || File::read(&folder.join(name)).map_err(|error| error.to_string());
                bodies.entry(name.to_owned()).or_insert_with(read);
            }
        }
        Ok(Self { lines, bodies })
    }

    /// Lines of a database, which names no files.
    pub fn without_bodies(path: &Path) -> Result<Self, Error> {
        Ok(Self { lines: File::read(path)?, bodies: BTreeMap::new() })
    }

    /// What each line says, with these headers, as `prepare` makes it ready.
    pub fn kinds<T>(
        &self,
        headers: &[String],
        prepare: impl Fn(&Request) -> Result<T, Error>,
    ) -> Result<Weighted<T>, Error> {
        Weighted::of(&self.lines, &["#"], "9 GET /item/{random:1-1000}", |line| {
            let Line { method, path, body } = Line::parse(line)?;
            let body = match body {
                Carried::Nothing => Body::None,
                Carried::Text(text) => Body::Text(text.to_owned()),
                Carried::File(name) => Body::Bytes(self.body(name)?),
            };
            let request = Request { method: method.to_owned(), path: path.to_owned(), headers: headers.to_vec(), body };
            prepare(&request).map_err(|error| error.to_string())
        })
    }

    /// The bytes of a file that a line names.
    fn body(&self, name: &str) -> Result<Vec<u8>, String> {
        match self.bodies.get(name) {
            Some(file) => file.as_ref().map(|file| file.bytes.clone()).map_err(String::clone),
            None => Err(format!("{name} was not read")),
        }
    }
}

impl<'a> Line<'a> {
    /// Takes a line apart, after its weight.
    fn parse(line: &'a str) -> Result<Self, String> {
        let mut rest = line;
        let mut word = || {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            rest = after.trim_start();
            word
        };
        let method = word();
        let path = word();
        if !path.starts_with('/') {
            return Err(format!("`{path}` is no path: write lines such as 9 GET /item/{{random:1-1000}}"));
        }
        let body = match rest.strip_prefix('@') {
            _ if rest.is_empty() => Carried::Nothing,
            Some(name) => Carried::File(name),
            None => Carried::Text(rest),
        };
        Ok(Self { method, path, body })
    }
}
