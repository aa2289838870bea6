//! Logging in: a password, and the database that is chosen.

use super::message;

/// Who logs in, and to what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// The user; the server's default one where there is none.
    pub user: Option<String>,
    /// The password, for servers that ask for one.
    pub password: Option<String>,
    /// The number of the database.
    pub database: u32,
}

impl Login {
    /// What is said before there can be requests; how many replies come.
    pub fn begin(&self, out: &mut Vec<u8>) -> u64 {
        let mut replies = 0;
        let mut say = |words: &[&str]| {
            message::write(words.iter().map(|word| word.as_bytes()), out);
            replies += 1;
        };
        match (&self.user, &self.password) {
            (Some(user), Some(password)) => say(&["AUTH", user, password]),
            (None, Some(password)) => say(&["AUTH", password]),
            (_, None) => {}
        }
        if self.database != 0 {
            say(&["SELECT", &self.database.to_string()]);
        }
        replies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_is_said() {
        let said = |user: Option<&str>, password: Option<&str>, database| {
            let mut out = Vec::new();
            let login = Login { user: user.map(str::to_owned), password: password.map(str::to_owned), database };
            let replies = login.begin(&mut out);
            (replies, String::from_utf8(out).unwrap().replace("\r\n", " "))
        };
        assert_eq!(said(None, None, 0), (0, String::new()));
        assert_eq!(said(Some("me"), None, 0), (0, String::new()));
        assert_eq!(said(None, Some("p q"), 0), (1, "*2 $4 AUTH $3 p q ".to_owned()));
        assert_eq!(said(Some("me"), Some("p"), 7), (2, "*3 $4 AUTH $2 me $1 p *2 $6 SELECT $1 7 ".to_owned()));
    }
}
