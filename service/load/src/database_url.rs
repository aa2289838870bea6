//! `SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?OPTIONS]`, taken apart: what databases' addresses have in common.

use crate::Error;
use crate::percent::decode;
use crate::socket::Host;

/// An address of a database in its parts, none of which has been understood yet.
pub struct DatabaseUrl<'a> {
    /// Who asks: one word, and a second after a colon.
    pub who: Option<(String, Option<String>)>,
    /// Where it is.
    pub host: Host,
    /// Which database; nothing, where none is named.
    pub database: String,
    /// What comes after `?`, as it is written.
    pub options: Option<&'a str>,
    form: &'static str,
}

impl<'a> DatabaseUrl<'a> {
    /// Of a text that is to be written in that form.
    pub fn of(text: &'a str, form: &'static str) -> Result<Self, Error> {
        let wrong = |why| Error::Database { why, form };
        let decoded = |text: &str| decode(text).ok_or_else(|| wrong("after % stand two hexadecimal digits"));
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let (who, place) = rest.rsplit_once('@').map_or((None, rest), |(who, place)| (Some(who), place));
        let (place, options) = place.split_once('?').map_or((place, None), |(place, options)| (place, Some(options)));
        let (host, database) = place.split_once('/').unwrap_or((place, ""));
        let who = match who.map(|who| who.split_once(':').map_or((who, None), |(first, second)| (first, Some(second))))
        {
            Some((first, second)) => Some((decoded(first)?, second.map(decoded).transpose()?)),
            None => None,
        };
        Ok(Self { who, host: Host::parse(host).map_err(wrong)?, database: decoded(database)?, options, form })
    }

    /// What is wrong with it. A password, which may have anything in it, is not repeated.
    pub fn wrong(&self, why: &'static str) -> Error {
        Error::Database { why, form: self.form }
    }
}
