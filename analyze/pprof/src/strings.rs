//! Texts, each kept once, by number.

use rustc_hash::FxHashMap;

/// Texts and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl Strings {
    /// A text's number.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// All, by number.
    pub fn all(&self) -> &[String] {
        &self.texts
    }
}
