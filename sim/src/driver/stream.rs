//! Streams and events: work in order, done at once or when somebody waits for it.
//!
//! In the deferred mode nothing runs before the host waits, and then only what it waits for. So
//! work that another stream's work needs, without an event between them, has not run yet, and the
//! missing order becomes a wrong result every time.

use super::state::{BUSY_STREAM, Context, Driver, NO_STREAM, driver};
use super::status::{Outcome, Status};
use super::work::{DEFAULT_STREAM, Event, Handle, HostSource, Work};
use crate::machine::{AccessError, beside};
use crate::options::Plant;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The handles that also stand for the default stream.
const DEFAULT_STREAM_ALIASES: [Handle; 2] = [1, 2];

impl Context {
    /// Returns the handle of an existing stream.
    pub fn stream(&self, handle: Handle) -> Outcome<Handle> {
        let handle = if DEFAULT_STREAM_ALIASES.contains(&handle) { DEFAULT_STREAM } else { handle };
        if self.streams.contains_key(&handle) { Ok(handle) } else { Err(Status::INVALID_HANDLE) }
    }

    fn push(&mut self, handle: Handle, work: Work) -> Outcome<u64> {
        let stream = self.streams.get_mut(&handle).ok_or(Status::INVALID_HANDLE)?;
        stream.issued += 1;
        stream.queue.push_back((stream.issued, work));
        Ok(stream.issued)
    }

    /// Returns the streams that the default stream takes turns with, and their last work.
    fn turn_taking(&self, handle: Handle) -> Vec<(Handle, u64)> {
        let own_blocking = self.streams.get(&handle).is_some_and(|stream| stream.blocking);
        self.streams
            .iter()
            .filter(|(other, stream)| {
                **other != handle
                    && own_blocking
                    && stream.blocking
                    && (handle == DEFAULT_STREAM || **other == DEFAULT_STREAM)
                    && stream.done < stream.issued
            })
            .map(|(other, stream)| (*other, stream.issued))
            .collect()
    }

    /// Returns the work that an event stands for, if it is not done.
    fn pending(&self, event: &Event) -> Option<(Handle, u64)> {
        let (handle, number) = event.recorded?;
        self.streams.get(&handle).filter(|stream| stream.done < number).map(|_| (handle, number))
    }
}

impl Driver {
    /// Submits work to a stream; its failure is reported by later calls.
    pub fn submit(&mut self, handle: Handle, work: Work) -> Outcome<u64> {
        match (&self.options.plant, &work) {
            (Some(Plant::NoFills), Work::Fill(..)) => Ok(0),
            (Some(Plant::LateWrites), Work::Write(..)) => {
                self.late.push(work);
                Ok(0)
            }
            _ => self.submit_in_order(handle, work),
        }
    }

    fn submit_in_order(&mut self, handle: Handle, work: Work) -> Outcome<u64> {
        let deferred = self.options.deferred;
        let context = self.context()?;
        let handle = context.stream(handle)?;
        for (other, number) in context.turn_taking(handle) {
            context.push(handle, Work::After(other, number))?;
        }
        let number = context.push(handle, work)?;
        if !deferred {
            let _ = self.drain(handle, u64::MAX);
        }
        Ok(number)
    }

    /// Does the work of a stream up to a number.
    pub fn drain(&mut self, handle: Handle, up_to: u64) -> Outcome {
        while self.advance(handle, up_to)? {}
        self.write_late(handle)
    }

    /// Does the copies that were left behind.
    fn write_late(&mut self, handle: Handle) -> Outcome {
        for work in std::mem::take(&mut self.late) {
            self.perform(handle, u64::MAX, work)?;
        }
        Ok(())
    }

    /// Does one piece of work of a stream; returns false if there is none up to a number.
    fn advance(&mut self, handle: Handle, up_to: u64) -> Outcome<bool> {
        let context = self.primary.as_deref_mut().ok_or(Status::INVALID_CONTEXT)?;
        if let Some(status) = context.sticky {
            return Err(status);
        }
        // A stream that was destroyed had done its work.
        let Some(stream) = context.streams.get_mut(&handle) else { return Ok(false) };
        if stream.queue.front().is_none_or(|(number, _)| *number > up_to) {
            return Ok(false);
        }
        let Some((number, work)) = stream.queue.pop_front() else { return Ok(false) };
        let outcome = self.perform(handle, number, work);
        let context = self.primary.as_deref_mut().ok_or(Status::INVALID_CONTEXT)?;
        if let Some(stream) = context.streams.get_mut(&handle) {
            stream.done = number;
        }
        if let Err(status) = outcome {
            context.sticky = Some(status);
            for stream in context.streams.values_mut() {
                stream.queue.clear();
            }
            return Err(status);
        }
        Ok(true)
    }

    fn perform(&mut self, handle: Handle, number: u64, work: Work) -> Outcome {
        match work {
            Work::After(other, number) => return self.drain(other, number),
            Work::Launch(launch) => return self.perform_launch(&launch),
            Work::Call(function, argument) => {
                // SAFETY: whoever called `cuLaunchHostFunc` promised that the function may be
                // called with this argument, once, from any thread; by CUDA's rules it makes no
                // driver call, so that the lock is not taken twice.
                unsafe { function(argument as *mut c_void) };
                return Ok(());
            }
            _ => {}
        }
        let context = self.primary.as_deref_mut().ok_or(Status::INVALID_CONTEXT)?;
        let memory = &mut context.memory;
        let outcome = match work {
            Work::Write(to, HostSource::Copied(bytes)) => memory.write(to, &bytes),
            Work::Write(to, HostSource::Pinned(from, bytes)) => {
                // SAFETY: the range is inside pinned memory (`host_source` looked it up), which
                // is released only after all streams were drained; the host must not change it
                // during the copy, by the rules of asynchronous copies.
                let bytes = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
                memory.write(to, bytes)
            }
            Work::Read(to, from, bytes) => {
                // SAFETY: the host promised `bytes` writable bytes at `to` until the copy is
                // done; for pageable memory it is done before the call returns, for pinned memory
                // the release drains the streams first. `u8` has no invalid contents.
                let bytes = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes) };
                memory.read(from, bytes)
            }
            Work::Copy(to, from, bytes) => memory.copy(to, from, bytes),
            Work::Fill(to, pattern, count) => memory.write(to, &pattern.repeat(count)),
            Work::Free(address) => memory.free(address).map(|_| ()),
            Work::Record(event) => {
                if let Some(event) = context.events.get_mut(&event)
                    && event.recorded == Some((handle, number))
                {
                    event.time = Some(Instant::now());
                }
                Ok(())
            }
            Work::Launch(_) | Work::After(..) | Work::Call(..) => Ok(()),
        };
        outcome.map_err(|error| self.copy_failed(&error))
    }

    fn copy_failed(&self, (kind, message): &AccessError) -> Status {
        if self.options.log || !self.attached {
            eprintln!("nesl-sim: a copy failed: {}: {message}", kind.name());
        }
        Status::INVALID_VALUE
    }

    /// Does all work of all streams.
    pub fn drain_all(&mut self) -> Outcome {
        let handles: Vec<Handle> =
            self.primary.iter().flat_map(|context| context.streams.keys().copied()).collect();
        for handle in handles {
            self.drain(handle, u64::MAX)?;
        }
        Ok(())
    }

    /// Lets the host wait for the work of a stream up to a number.
    pub fn wait(&mut self, handle: Handle, up_to: u64) -> Outcome {
        self.host.drains += 1;
        // A launch may have ended before it took all copies that were left beside it.
        let left = beside::take(&mut self.context()?.memory);
        left.map_err(|error| self.copy_failed(&error))?;
        self.drain(handle, up_to)?;
        let accounts = &mut self.context()?.accounts;
        accounts.trim(accounts.pool_threshold);
        Ok(())
    }

    /// Does one piece of work of a stream for a host that polls, and says whether all is done.
    pub fn poll_stream(&mut self, handle: Handle, up_to: u64) -> Outcome<bool> {
        let finished = |context: &Context| {
            context.streams.get(&handle).is_none_or(|s| s.done >= up_to.min(s.issued))
        };
        if finished(self.context()?) {
            return self.write_late(handle).map(|()| true);
        }
        if self.options.background {
            self.working = true;
            BUSY_STREAM.store(handle, Ordering::Release);
            std::thread::spawn(move || {
                let mut driver = driver();
                // A failure is reported by later calls.
                let _ = driver.advance(handle, up_to);
                BUSY_STREAM.store(NO_STREAM, Ordering::Release);
                driver.working = false;
            });
        } else {
            self.advance(handle, up_to)?;
        }
        Ok(false)
    }

    /// Records an event.
    pub fn record(&mut self, event: Handle, handle: Handle) -> Outcome {
        let context = self.context()?;
        let handle = context.stream(handle)?;
        let waits = context.turn_taking(handle).len() as u64;
        let issued = context.streams.get(&handle).map_or(0, |stream| stream.issued);
        let record = context.events.get_mut(&event).ok_or(Status::INVALID_HANDLE)?;
        // The record comes after the waits that `submit` puts before it.
        *record = Event { recorded: Some((handle, issued + waits + 1)), time: None };
        self.submit(handle, Work::Record(event)).map(|_| ())
    }

    /// Lets a stream wait for an event.
    pub fn wait_event(&mut self, handle: Handle, event: Handle) -> Outcome {
        let context = self.context()?;
        let event = *context.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        context.stream(handle)?;
        match context.pending(&event) {
            None => Ok(()),
            Some((other, number)) => self.submit(handle, Work::After(other, number)).map(|_| ()),
        }
    }

    /// Lets the host wait for an event.
    pub fn synchronize_event(&mut self, event: Handle) -> Outcome {
        let event = *self.context()?.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        match event.recorded {
            None => Ok(()),
            Some((handle, number)) => self.wait(handle, number),
        }
    }

    /// Says whether an event has happened, and brings it nearer if not.
    pub fn query_event(&mut self, event: Handle) -> Outcome<bool> {
        let context = self.context()?;
        let event = *context.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        match context.pending(&event) {
            None => Ok(true),
            Some((handle, number)) => self.poll_stream(handle, number),
        }
    }

    /// Returns the milliseconds between two events.
    pub fn elapsed_ms(&mut self, start: Handle, end: Handle) -> Outcome<f32> {
        let context = self.context()?;
        let event = |handle| context.events.get(&handle).ok_or(Status::INVALID_HANDLE);
        let (start, end) = (event(start)?, event(end)?);
        if start.recorded.is_none() || end.recorded.is_none() {
            return Err(Status::INVALID_HANDLE);
        }
        match (start.time, end.time) {
            (Some(start), Some(end)) => {
                Ok(end.saturating_duration_since(start).as_secs_f32() * 1e3)
            }
            _ => Err(Status::NOT_READY),
        }
    }
}
