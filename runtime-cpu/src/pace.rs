//! The pace of a kernel: whether its launches are faster with the help of other threads.
//!
//! Other threads have to wake up, and find the elements in the cache of the processor that wrote them. A small launch in
//! a series of launches is often done sooner by the calling thread alone; how small depends on the kernel, on what is
//! launched around it, and on the machine. So it is measured: among the first launches of a kernel over about as
//! many elements some are executed with help and some alone, and the later ones as the faster of these were. The
//! first of all find neither memory nor threads ready, and a measurement may be disturbed; so the slower way is tried
//! again, after more and more launches.
//!
//! The results do not depend on that: if they depend on the chunks, only the threads do.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Launches of numbers of elements between the same powers of two are of one class.
const CLASSES: usize = 33;

/// The number of launches that are tried in a way, one after the other. The first finds its elements in another cache.
const TRIALS: u32 = 3;

/// Launches that take longer are first tried once alone, after two with help: what disturbs measurements is short.
const MIN_LONG: Duration = Duration::from_millis(1);

/// The number of launches with help before the first alone: threads start, and memory is touched for the first time.
const LAUNCHES_BEFORE_TRIALS: u32 = 4;

/// The slower way is tried again after this many launches, then after twice as many, and so on.
const MIN_LAUNCHES_BETWEEN_TRIALS: u32 = 32;

/// The largest number of launches after which the slower way is tried again: the program may do something else by then.
const MAX_LAUNCHES_BETWEEN_TRIALS: u32 = 256;

/// A launch that takes longer with help is never tried alone.
const MAX_TRIED: Duration = Duration::from_micros(200);

/// The same for a launch of which the chunks have to be combined, that is a service, or that writes at any indices: alone
/// it may have less to do, and no lines of the cache are written by two threads in turn.
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
    /// The number of the launch with which the present trials begin.
    trials: AtomicU32,
    /// The least time of an element with help, in nanoseconds, as the bits of a float. It is 0 if none was measured.
    helped: AtomicU32,
    /// The same without help.
    alone: AtomicU32,
    /// True if the trials before found that launches are faster alone.
    prefers_alone: AtomicBool,
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
        let launch = class.launches.fetch_add(1, Relaxed);
        let first = class.trials.load(Relaxed);
        let time = |of: &AtomicU32| match f32::from_bits(of.load(Relaxed)) {
            0.0 => None,
            each => Some(Duration::from_nanos((each * elements as f32) as u64)),
        };
        let most = if combines { MAX_COMBINED_TRIED } else { MAX_TRIED };
        let (helped, alone) = (time(&class.helped), time(&class.alone));
        let prefers_alone = class.prefers_alone.load(Relaxed);
        let is_long = helped.is_some_and(|helped| helped > MIN_LONG);
        let (before, trials) = if is_long { (2, 1) } else { (LAUNCHES_BEFORE_TRIALS, TRIALS) };
        let is_better_alone = alone.zip(helped).is_some_and(|(alone, helped)| alone < helped);
        let is_alone = match launch.checked_sub(first) {
            _ if helped.is_some_and(|helped| helped > most) => false,
            None => prefers_alone,
            Some(trial) if first == 0 => match trial {
                trial if trial < before => false,
                trial if trial < before + trials => true,
                trial if trial < before + 2 * trials => false,
                _ => class.decide(launch, is_better_alone),
            },
            Some(trial) if trial < 2 * TRIALS => {
                let is_alone = prefers_alone == (trial < TRIALS);
                if trial.is_multiple_of(TRIALS) {
                    class.time(is_alone).store(0, Relaxed);
                }
                is_alone
            }
            Some(_) => class.decide(launch, is_better_alone),
        };
        match alone.or(helped) {
            Some(expected) if is_alone => Way::Alone(patience(expected)),
            _ => Way::Helped,
        }
    }

    /// Returns true if all launches over about so many elements took longer than this time, in either way.
    pub fn takes_longer(&self, elements: u64, time: Duration) -> bool {
        let class = self.class(elements);
        let times = [&class.helped, &class.alone].map(|of| f32::from_bits(of.load(Relaxed)));
        let measured = times.into_iter().filter(|each| *each > 0.0).reduce(f32::min);
        measured.is_some_and(|each| each * elements as f32 > time.as_nanos() as f32)
    }

    /// Notes the time of a launch; that of one which began alone and got help counts as alone.
    pub fn note(&self, elements: u64, way: Way, time: Duration) {
        let class = self.class(elements);
        let of = class.time(way != Way::Helped);
        let each = time.as_nanos() as f32 / elements.max(1) as f32;
        let before = f32::from_bits(of.load(Relaxed));
        if before == 0.0 || each < before {
            of.store(each.to_bits(), Relaxed);
        }
    }
}

impl Class {
    /// The least time of an element in one of the two ways.
    fn time(&self, is_alone: bool) -> &AtomicU32 {
        if is_alone { &self.alone } else { &self.helped }
    }

    /// Notes the result of trials, and when the next begin. Returns true if launches are faster alone.
    fn decide(&self, launch: u32, is_better_alone: bool) -> bool {
        self.prefers_alone.store(is_better_alone, Relaxed);
        let until = launch.clamp(MIN_LAUNCHES_BETWEEN_TRIALS, MAX_LAUNCHES_BETWEEN_TRIALS);
        self.trials.store(launch.saturating_add(until), Relaxed);
        is_better_alone
    }
}

/// The time after which a launch gets help that should take so long.
fn patience(expected: Duration) -> Duration {
    expected.mul_f32(PATIENCE_FACTOR).max(MIN_ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of a hundred launches are executed alone, if each takes so many microseconds in either way.
    fn alone_of(times: &dyn Fn(u32) -> [u64; 2]) -> usize {
        let pace = Pace::default();
        let launches = (0..100).filter(|launch| {
            let way = pace.way(1000, false);
            let [helped, alone] = times(*launch);
            let time = if way == Way::Helped { helped } else { alone };
            pace.note(1000, way, Duration::from_micros(time));
            way != Way::Helped
        });
        launches.count()
    }

    #[test]
    fn the_faster_way_is_taken_after_some_trials() {
        let alone = alone_of(&|_| [20, 10]);
        assert!((85..100).contains(&alone), "{alone}");
        let alone = alone_of(&|_| [10, 15]);
        assert!((1..10).contains(&alone), "{alone}");
    }

    #[test]
    fn long_launches_are_never_tried_alone() {
        assert_eq!(alone_of(&|_| [1000, 100]), 0);
    }

    #[test]
    fn long_launches_that_may_have_less_to_do_alone_are_tried_soon() {
        let pace = Pace::default();
        let ways: Vec<bool> = (0..6)
            .map(|_| {
                let way = pace.way(1000, true);
                let millis = if way == Way::Helped { 9 } else { 3 };
                pace.note(1000, way, Duration::from_millis(millis));
                way != Way::Helped
            })
            .collect();
        assert_eq!(ways, [false, false, true, false, true, true]);
    }

    #[test]
    fn slow_first_launches_and_disturbed_trials_do_not_decide_for_long() {
        let alone = alone_of(&|launch| [if launch < 4 { 150 } else { 10 }, 15]);
        assert!(alone < 10, "{alone}");
        let alone = alone_of(&|launch| [if launch < 12 { 30 } else { 10 }, 15]);
        assert!(alone < 50, "{alone}");
    }

    #[test]
    fn numbers_of_elements_are_told_apart() {
        let pace = Pace::default();
        for _ in 0..20 {
            let way = pace.way(1000, false);
            pace.note(1000, way, Duration::from_micros(if way == Way::Helped { 20 } else { 10 }));
        }
        assert_ne!(pace.way(900, false), Way::Helped);
        assert_eq!(pace.way(100_000, false), Way::Helped);
    }

    #[test]
    fn launches_are_long_once_all_were() {
        let (pace, limit) = (Pace::default(), Duration::from_micros(20));
        assert!(!pace.takes_longer(1000, limit));
        pace.note(1000, Way::Helped, Duration::from_micros(30));
        assert!(pace.takes_longer(1000, limit));
        assert!(pace.takes_longer(900, limit));
        assert!(!pace.takes_longer(600, limit));
        assert!(!pace.takes_longer(100_000, limit));
        pace.note(1000, Way::Alone(limit), Duration::from_micros(15));
        assert!(!pace.takes_longer(1000, limit));
    }
}
