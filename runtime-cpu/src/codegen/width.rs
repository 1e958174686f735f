//! The judgements of the loops of a function on vectors wider than usual.

/// The judgements so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct WidthNotes {
    /// The number of loops around the innermost code that gains from them.
    gains: Option<usize>,
    /// The number of loops around the innermost code that does not.
    loses: Option<usize>,
    /// The reason why the function must not have them.
    pub refused: Option<&'static str>,
}

impl WidthNotes {
    /// Notes that code inside of so many loops gains.
    pub fn gains_inside(&mut self, loops: usize) {
        self.gains = self.gains.max(Some(loops));
    }

    /// Notes that code inside of so many loops does not gain.
    pub fn loses_inside(&mut self, loops: usize) {
        self.loses = self.loses.max(Some(loops));
    }

    /// Returns true if the function gains from wider vectors: what is executed most often decides.
    pub fn gains(&self) -> bool {
        self.refused.is_none() && self.gains > self.loses
    }
}

#[cfg(test)]
mod tests {
    use super::WidthNotes;

    #[test]
    fn the_innermost_code_decides() {
        let mut notes = WidthNotes::default();
        assert!(!notes.gains());
        notes.gains_inside(1);
        notes.loses_inside(0);
        assert!(notes.gains());
        notes.loses_inside(1);
        assert!(!notes.gains());
        notes.gains_inside(2);
        assert!(notes.gains());
        notes.refused = Some("a reason");
        assert!(!notes.gains());
    }
}
