//! Memory that is needed no more.

/// Gives back what a value takes, while others go on: of a list of millions the kernel takes a while.
pub fn give_back<T: Send + 'static>(value: T) {
    rayon::spawn(move || drop(value));
}
