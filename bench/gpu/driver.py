"""The CUDA driver through ctypes: a description of the device, and the costs of its elementary operations.

Needs nothing but the driver's shared library. Each cost is the median over many repetitions, in seconds:

    launch     one kernel of one thread enqueued, when the queue is neither empty nor full
    drain      a launch and the wait for its end, without the launch itself
    read       8 bytes copied to the host, on a stream without other work
    write      8 bytes copied to the device, likewise
    bandwidth  bytes per second of a large copy from the device to the device, reads and writes counted
"""

import ctypes
import statistics
import time
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

LIBRARIES = ("libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1",
             "/usr/lib/wsl/lib/libcuda.so.1")

# A kernel that does nothing.
EMPTY_KERNEL = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry empty()
{
  ret;
}
\0"""

# Numbers of CUdevice_attribute.
ATTRIBUTES = {
    "multiprocessors": 16, "clock_khz": 13, "memory_clock_khz": 36, "memory_bus_bits": 37, "l2_bytes": 38,
    "threads_per_multiprocessor": 39, "capability_major": 75, "capability_minor": 76,
}


class NoDriver(Exception):
    """Raised if there is no driver, no device, or a call fails; the text says which."""


class Driver:
    """The driver, with the first device's primary context current."""

    def __init__(self, libraries=LIBRARIES):
        self.cuda, looked = None, []
        for name in libraries:
            try:
                self.cuda = ctypes.CDLL(name)
                self.name = name
                break
            except OSError as error:
                looked.append(f"{name}: {error}")
        if self.cuda is None:
            raise NoDriver("no CUDA driver; looked for " + "; ".join(looked))
        self("cuInit", 0)
        count = c_int()
        self("cuDeviceGetCount", byref(count))
        if count.value == 0:
            raise NoDriver("the CUDA driver sees no device")
        self.device = c_int()
        self("cuDeviceGet", byref(self.device), 0)
        context = c_void_p()
        self("cuDevicePrimaryCtxRetain", byref(context), self.device)
        self("cuCtxSetCurrent", context)
        self.stream = c_void_p()
        self("cuStreamCreate", byref(self.stream), 1)

    def __call__(self, function, *arguments):
        try:
            call = getattr(self.cuda, function)
        except AttributeError:
            raise NoDriver(f"the driver has no {function}") from None
        code = call(*arguments)
        if code != 0:
            raise NoDriver(f"{function} failed with error {code}")

    def description(self):
        """Returns what the driver says of the device and of itself; unknown attributes are left out."""
        name, memory, version = ctypes.create_string_buffer(256), c_size_t(), c_int()
        self("cuDeviceGetName", name, 256, self.device)
        self("cuDeviceTotalMem_v2", byref(memory), self.device)
        self("cuDriverGetVersion", byref(version))
        found = {"name": name.value.decode(errors="replace"), "memory_bytes": memory.value,
                 "cuda_of_driver": f"{version.value // 1000}.{version.value % 1000 // 10}"}
        for attribute, number in ATTRIBUTES.items():
            value = c_int()
            try:
                self("cuDeviceGetAttribute", byref(value), number, self.device)
                found[attribute] = value.value
            except NoDriver:
                pass
        return found

    def allocate(self, size):
        pointer = c_uint64()
        self("cuMemAlloc_v2", byref(pointer), c_size_t(size))
        return pointer

    def free(self, pointer):
        self("cuMemFree_v2", pointer)

    def wait(self):
        self("cuStreamSynchronize", self.stream)

    def costs(self, reps=200, copy_bytes=1 << 30):
        """Measures the costs; see the text at the beginning of this file."""
        launch = self._empty_kernel()
        cell, host = self.allocate(64), (ctypes.c_byte * 64)()
        read = lambda: (self("cuMemcpyDtoHAsync_v2", host, cell, c_size_t(8), self.stream), self.wait())
        write = lambda: (self("cuMemcpyHtoDAsync_v2", cell, host, c_size_t(8), self.stream), self.wait())
        for warm_up in (launch, read, write):
            warm_up()
        self.wait()
        queued = [self._queue(launch) for _ in range(max(reps // 10, 3))]
        launched = [_seconds(lambda: (launch(), self.wait())) for _ in range(reps)]
        found = {
            "launch_seconds": statistics.median(queued),
            "drain_seconds": max(statistics.median(launched) - statistics.median(queued), 0.0),
            "read_seconds": statistics.median(_seconds(read) for _ in range(reps)),
            "write_seconds": statistics.median(_seconds(write) for _ in range(reps)),
        }
        self.free(cell)
        return found | self._bandwidth(copy_bytes)

    def _empty_kernel(self):
        module, function = c_void_p(), c_void_p()
        self("cuModuleLoadData", byref(module), c_char_p(EMPTY_KERNEL))
        self("cuModuleGetFunction", byref(function), module, b"empty")
        one, none = c_uint(1), c_void_p()
        return lambda: self("cuLaunchKernel", function, one, one, one, one, one, one, c_uint(0), self.stream,
                            none, none)

    def _queue(self, launch, length=100):
        """Returns the seconds for one of several launches in a row, without the wait for their end."""
        seconds = _seconds(lambda: [launch() for _ in range(length)])
        self.wait()
        return seconds / length

    def _bandwidth(self, size, reps=9):
        """Measures the copy by device events: the median of several copies of `size` bytes."""
        source, target = self.allocate(size), self.allocate(size)
        self("cuMemsetD8_v2", source, ctypes.c_ubyte(1), c_size_t(size))
        begin, end = c_void_p(), c_void_p()
        self("cuEventCreate", byref(begin), 0)
        self("cuEventCreate", byref(end), 0)
        times = []
        for _ in range(reps + 2):
            self("cuEventRecord", begin, self.stream)
            self("cuMemcpyDtoDAsync_v2", target, source, c_size_t(size), self.stream)
            self("cuEventRecord", end, self.stream)
            self("cuEventSynchronize", end)
            milliseconds = c_float()
            self("cuEventElapsedTime", byref(milliseconds), begin, end)
            times.append(1e-3 * milliseconds.value)
        self.free(source)
        self.free(target)
        seconds = statistics.median(times[2:])
        speed = 2 * size / seconds if seconds > 0 else None
        return {"copy_bytes": size, "copy_seconds": seconds, "bandwidth": speed}


def _seconds(action):
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
