//! The pace of a kernel: whether its launches are faster with the help of other threads.
//!
//! Other threads have to wake up, and find the elements in the cache of the processor that wrote them. A small launch in
//! a series of launches is often done sooner by the calling thread alone; how small depends on the kernel, on what is
//! launched around it, and on the machine. So it is measured: among the first launches of a kernel over about as
//! many elements some are executed with help and some alone, and the later ones as the faster of these were.
//!
//! The results do not depend on that: if they depend on the chunks, only the threads do.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Launches of numbers of elements between the same powers of two are of one class.
const CLASSES: usize = 33;

/// The number of launches of a class that are tried in each way. The first of them finds the elements in another cache.
const TRIALS: u32 = 3;

/// After this many launches of a class both ways are tried anew: the program may do something else by then.
const LAUNCHES_BETWEEN_TRIALS: u32 = 256;

/// A launch that takes longer with help is never tried alone.
const MAX_TRIED: Duration = Duration::from_micros(200);

/// The same for a launch of which the chunks have to be combined, or that is a service: alone it may have less to do.
const MAX_COMBINED_TRIED: Duration = Duration::from_millis(20);

/// A launch gets help after all when it takes longer, by this factor, than one took alone before.
const PATIENCE_FACTOR: f32 = 2.0;

/// The shortest time after which a launch that began alone gets help.
const MIN_ALONE: Duration = Duration::from_micros(20);

/// The measurements of a kernel.
#[derive(Debug)]
pub struct Pace {
    classes: [Class; CLASSES],
}

/// The measurements of launches of about equal numbers of elements.
#[derive(Debug, Default)]
struct Class {
    launches: AtomicU32,
    /// The least time of an element with help, in nanoseconds, as the bits of a float. It is 0 if none was measured.
    helped: AtomicU32,
    /// The same without help.
    alone: AtomicU32,
}

/// The way in which a launch is executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// All threads take chunks.
    Helped,
    /// The calling thread takes all chunks. If there are several, it gets help after this time.
    Alone(Duration),
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { classes: std::array::from_fn(|_| Class::default()) }
    }
}

impl Pace {
    fn class(&self, elements: u64) -> &Class {
        &self.classes[(u64::BITS - elements.leading_zeros()).min(CLASSES as u32 - 1) as usize]
    }

    /// The way to execute the next launch over so many elements; `combines` is true if a launch with help may
    /// have more to do.
    pub fn way(&self, elements: u64, combines: bool) -> Way {
        let class = self.class(elements);
        let launch = class.launches.fetch_add(1, Relaxed) % LAUNCHES_BETWEEN_TRIALS;
        let time = |of: &AtomicU32| match f32::from_bits(of.load(Relaxed)) {
            0.0 => None,
            each => Some(Duration::from_nanos((each * elements as f32) as u64)),
        };
        if launch == 0 {
            class.helped.store(0, Relaxed);
        }
        let most = if combines { MAX_COMBINED_TRIED } else { MAX_TRIED };
        let (helped, alone) = (time(&class.helped), time(&class.alone));
        match (helped, alone) {
            (Some(helped), _) if helped > most => Way::Helped,
            _ if launch < TRIALS => Way::Helped,
            (Some(helped), _) if launch == TRIALS => {
                class.alone.store(0, Relaxed);
                Way::Alone(patience(helped))
            }
            (Some(helped), _) if launch < 2 * TRIALS => Way::Alone(patience(helped)),
            (Some(helped), Some(alone)) if alone < helped => Way::Alone(patience(alone)),
            _ => Way::Helped,
        }
    }

    /// Notes the time of a launch; that of one which began alone and got help counts as alone.
    pub fn note(&self, elements: u64, way: Way, time: Duration) {
        let class = self.class(elements);
        let of = if way == Way::Helped { &class.helped } else { &class.alone };
        let each = time.as_nanos() as f32 / elements.max(1) as f32;
        let before = f32::from_bits(of.load(Relaxed));
        if before == 0.0 || each < before {
            of.store(each.to_bits(), Relaxed);
        }
    }
}

/// The time after which a launch gets help that should take so long.
fn patience(expected: Duration) -> Duration {
    expected.mul_f32(PATIENCE_FACTOR).max(MIN_ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of a hundred launches are executed alone, if they take so many microseconds in either way.
    fn alone(helped: u64, alone: u64) -> usize {
        let pace = Pace::default();
        let launches = (0..100).filter(|_| {
            let way = pace.way(1000, false);
            let time = if way == Way::Helped { helped } else { alone };
            pace.note(1000, way, Duration::from_micros(time));
            way != Way::Helped
        });
        launches.count()
    }

    #[test]
    fn the_faster_way_is_taken_after_some_trials() {
        assert_eq!(alone(20, 10), 100 - TRIALS as usize);
        assert_eq!(alone(10, 15), TRIALS as usize);
    }

    #[test]
    fn long_launches_are_never_tried_alone() {
        assert_eq!(alone(1000, 100), 0);
    }

    #[test]
    fn numbers_of_elements_are_told_apart() {
        let pace = Pace::default();
        for _ in 0..10 {
            let way = pace.way(1000, false);
            pace.note(1000, way, Duration::from_micros(if way == Way::Helped { 20 } else { 10 }));
        }
        assert_ne!(pace.way(900, false), Way::Helped);
        assert_eq!(pace.way(100_000, false), Way::Helped);
    }
}
