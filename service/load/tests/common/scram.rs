//! A server's part of SCRAM-SHA-256 (RFC 5802, RFC 7677).

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

use super::database::PASSWORD;

/// So often is the password hashed.
const ITERATIONS: u32 = 4096;

const SALT: &[u8] = b"a salt";

pub struct Scram {
    first: String,
    nonce: String,
}

impl Scram {
    /// Of a client's first message, `n,,n=,r=NONCE`.
    pub fn new(message: &[u8]) -> Self {
        let first = std::str::from_utf8(message).unwrap().strip_prefix("n,,").unwrap().to_owned();
        // Nonces are random: these may say "r=" as well.
        let nonce = format!("{}theirs", first.strip_prefix("n=,r=").unwrap());
        Self { first, nonce }
    }

    pub fn challenge(&self) -> String {
        format!("r={},s={},i={ITERATIONS}", self.nonce, STANDARD.encode(SALT))
    }

    /// The server's own proof, if the client has shown its.
    pub fn verify(&mut self, message: &[u8]) -> Option<String> {
        let message = std::str::from_utf8(message).unwrap();
        let (without_proof, proof) = message.split_once(",p=").unwrap();
        assert_eq!(without_proof, format!("c=biws,r={}", self.nonce));
        let mut salted = [0; 32];
        let iterations = NonZeroU32::new(ITERATIONS).unwrap();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, SALT, PASSWORD.as_bytes(), &mut salted);
        let sign = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
        let client = sign(&salted, b"Client Key");
        let stored = digest::digest(&digest::SHA256, client.as_ref());
        let all = format!("{},{},{without_proof}", self.first, self.challenge());
        let signature = sign(stored.as_ref(), all.as_bytes());
        let expected: Vec<u8> = client.as_ref().iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        let server = sign(sign(&salted, b"Server Key").as_ref(), all.as_bytes());
        (STANDARD.decode(proof).unwrap() == expected).then(|| format!("v={}", STANDARD.encode(server.as_ref())))
    }
}
