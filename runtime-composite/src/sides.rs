//! The two runtimes; the device may be given back between two uses.
//!
//! A process that uses a device takes some of its memory even without arrays: the driver's context, the
//! code of modules, areas for launches. [`Sides::close_device`] drops the device's runtime with all of
//! that; the next use opens the device again.

use crate::twin::Side;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::runtime::{Counters, Failure, Runtime};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Opens a device. Fails with the reason why that is not possible.
pub type OpenDevice = Box<dyn Fn() -> Result<Box<dyn Runtime>, String>>;

/// The two runtimes.
pub(crate) struct Sides {
    /// The device, while it is open.
    device: RefCell<Option<Rc<dyn Runtime>>>,
    host: Rc<dyn Runtime>,
    /// The way to open the device again, if there is one.
    open: Option<OpenDevice>,
    /// The counters of the device up to when it was closed last.
    closed: Cell<Counters>,
    /// The number of times that the device was opened, this one included.
    generation: Cell<u64>,
    /// The name of the device.
    device_name: String,
}

impl Sides {
    /// An open device, and the host.
    pub(crate) fn new(device: Box<dyn Runtime>, host: Box<dyn Runtime>) -> Sides {
        let device_name = device.caps().name.clone();
        Sides {
            device: RefCell::new(Some(device.into())),
            host: host.into(),
            open: None,
            closed: Cell::default(),
            generation: Cell::new(1),
            device_name,
        }
    }

    /// Sets the way to open the device again.
    pub(crate) fn set_open(&mut self, open: OpenDevice) {
        self.open = Some(open);
    }

    /// Returns the runtime of a side; a device that is closed is opened.
    pub(crate) fn of(&self, side: Side) -> Result<Rc<dyn Runtime>, Failure> {
        if let Some(runtime) = self.opened(side) {
            return Ok(runtime);
        }
        let reopened = match &self.open {
            Some(open) => open(),
            None => Err("nobody knows how to open it again".to_owned()),
        };
        let device: Rc<dyn Runtime> = match reopened {
            Ok(device) => device.into(),
            Err(reason) => {
                let detail = format!("it was given back, and cannot be had again: {reason}");
                return Err(Failure::Machine(Fault::with(FaultCode::Device, detail)));
            }
        };
        self.generation.set(self.generation.get() + 1);
        *self.device.borrow_mut() = Some(device.clone());
        Ok(device)
    }

    /// Returns the runtime of a side, unless it is a device that is closed.
    pub(crate) fn opened(&self, side: Side) -> Option<Rc<dyn Runtime>> {
        match side {
            Side::Device => self.device.borrow().clone(),
            Side::Host => Some(self.host.clone()),
        }
    }

    /// Returns true if the device can be opened again once it is closed.
    pub(crate) fn can_reopen(&self) -> bool {
        self.open.is_some()
    }

    /// Returns a number that changes with each opening of the device.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.get()
    }

    /// Closes the device. Nobody holds arrays or modules of it.
    pub(crate) fn close_device(&self) {
        if let Some(device) = self.device.take() {
            let counters = device.counters().after(&self.closed.get());
            self.closed.set(Counters { bytes: 0, loaded: 0, under_way: 0, ..counters });
        }
    }

    /// Returns the name of a side's machine.
    pub(crate) fn name(&self, side: Side) -> String {
        match side {
            Side::Device => self.device_name.clone(),
            Side::Host => self.host.caps().name.clone(),
        }
    }

    /// Returns the counters of a side since the beginning.
    pub(crate) fn counters(&self, side: Side) -> Counters {
        match (side, self.opened(side)) {
            (Side::Host, _) => self.host.counters(),
            (Side::Device, Some(device)) => device.counters().after(&self.closed.get()),
            (Side::Device, None) => self.closed.get(),
        }
    }
}
