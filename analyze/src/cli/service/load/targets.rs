//! Who is driven and what is sent, as the options say it; and that the server answers.

use std::env;

use diytrace_load::http::Requests;
use diytrace_load::{Error, File, Job, postgres, redis};

use super::Arguments;

impl Arguments {
    /// What is to be sent, with the files that options name.
    pub(super) fn job(&self, target: &str) -> Result<Job, Error> {
        let (is_postgres, is_redis) = (postgres::Address::is_one(target), redis::Address::is_one(target));
        // As psql and redis-cli have them, for those who would not have them in the list of processes.
        let password = match () {
            () if is_postgres => env::var("PGPASSWORD").ok(),
            () if is_redis => env::var("REDISCLI_AUTH").ok(),
            () => None,
        };
        let requests =
            |path| if is_postgres || is_redis { Requests::without_bodies(path) } else { Requests::read(path) };
        Ok(Job {
            target: target.to_owned(),
            password,
            method: self.method.clone(),
            headers: self.headers.clone(),
            body: self.body.as_deref().map(File::read).transpose()?,
            query: self.query.clone(),
            requests: self.requests.as_deref().map(requests).transpose()?,
            authority: self.tls_ca.as_deref().map(File::read).transpose()?,
            http2: self.http2,
            keeps_alive: !self.no_keep_alive,
            timeout: self.timeout,
            too_late: self.too_late.unwrap_or(self.timeout),
            connections: u64::from(self.connections),
            threads: u64::from(self.threads),
        })
    }
}
