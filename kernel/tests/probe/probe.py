#!/usr/bin/env python3
"""Measures what a Jupyter kernel answers, a row for each request or behaviour of the protocol.

    probe.py --kernel nesl                          a line for each row, with what was seen
    probe.py --kernel nesl --kernel deno --markdown a table, a column for each kernel
    probe.py --kernel nesl --only interrupt         the rows whose names contain a text
    probe.py … --json FILE                          adds what was seen to a file, which --markdown shows too
    probe.py --kernel nesl --but subshells          fails if another row than that is a no

The kernels are those that `jupyter kernelspec list` shows. `languages.py` says what they are asked to
run; a kernel of another language needs a table there. It needs jupyter_client and nothing else.
"""

import argparse
import json
import os
import queue
import signal
import sys
import time
import traceback
from pathlib import Path

import by_sources
import zmq
from jupyter_client.manager import KernelManager
from languages import LANGUAGES

YES, NO, PART, NONE = "yes", "no", "part", "—"
# How long a request may take that is answered at once, and one that takes longer, in seconds.
SOON, LATE = 1.0, 20.0

ROWS = []


def row(name):
    """Registers a row: a function that takes a kernel and returns a verdict and what was seen."""

    def register(function):
        ROWS.append((name, function))
        return function

    return register


class Missing(Exception):
    """The language has no code for a row."""


class Kernel:
    """A running kernel, asked by messages."""

    def __init__(self, name):
        self.name = name
        self.start()

    def start(self):
        began = time.monotonic()
        self.manager = KernelManager(kernel_name=self.name)
        self.manager.start_kernel(stderr=open(os.devnull, "w"), stdout=open(os.devnull, "w"))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        reply = None
        while reply is None and time.monotonic() < began + 60:
            own = self.send("kernel_info_request", {})
            reply = self.reply(own, timeout=0.3)
        self.started_in = time.monotonic() - began
        self.info = reply["content"]
        self.code = LANGUAGES[self.info["language_info"]["name"].lower()]
        # What is published before a client has subscribed is lost; wait until something comes.
        while True:
            own = self.send("kernel_info_request", {})
            self.reply(own)
            if self.published(own, timeout=0.5):
                break

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def ensure(self):
        """Starts it again if it does not answer."""
        if self.manager.is_alive():
            try:
                self.drain()
                own = self.send("kernel_info_request", {})
                self.reply(own, timeout=5)
                return
            except TimeoutError:
                pass
        self.stop()
        self.start()

    def drain(self):
        for channel in (self.client.shell_channel, self.client.iopub_channel,
                        self.client.control_channel, self.client.stdin_channel):
            while True:
                try:
                    channel.get_msg(timeout=0)
                except queue.Empty:
                    break

    def snippet(self, key):
        code = self.code.get(key)
        if code is None:
            raise Missing(key)
        return code

    def send(self, kind, content, channel="shell"):
        message = self.client.session.msg(kind, content)
        getattr(self.client, f"{channel}_channel").send(message)
        return message["header"]["msg_id"]

    def reply(self, own, timeout=LATE, channel="shell"):
        """The reply to a request."""
        ends = time.monotonic() + timeout
        while True:
            left = ends - time.monotonic()
            if left <= 0:
                if timeout < 0.5:
                    return None
                raise TimeoutError("no reply")
            try:
                message = getattr(self.client, f"{channel}_channel").get_msg(timeout=left)
            except queue.Empty:
                continue
            if (message.get("parent_header") or {}).get("msg_id") == own:
                return message

    def published(self, own, timeout=LATE, until=None):
        """What is published for a request, up to its idle."""
        ends, all = time.monotonic() + timeout, []
        while time.monotonic() < ends:
            try:
                message = self.client.get_iopub_msg(timeout=max(0.001, ends - time.monotonic()))
            except queue.Empty:
                break
            if (message.get("parent_header") or {}).get("msg_id") != own:
                continue
            all.append(message)
            if until is not None and until(message):
                break
            if message["content"].get("execution_state") == "idle":
                break
        return all

    def ask(self, kind, content, channel="shell", timeout=LATE):
        own = self.send(kind, content, channel)
        return self.reply(own, timeout, channel)["content"]

    def run(self, code, timeout=LATE, **options):
        """Runs a cell: its reply and what was published."""
        own = self.execute(code, **options)
        reply = self.reply(own, timeout)
        return reply["content"], self.published(own, timeout)

    def execute(self, code, **options):
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": False, "stop_on_error": True,
        }
        return self.send("execute_request", {**content, **options})

    def begin(self, code, **options):
        """Sends a cell and waits until it runs."""
        own = self.execute(code, **options)
        self.published(own, until=lambda m: m["header"]["msg_type"] == "execute_input")
        time.sleep(0.2)
        return own

    def interrupt(self):
        """As a client does it: by a message or by a signal, as the kernelspec says."""
        self.manager.interrupt_kernel()

    def value(self, code):
        """The text of the value of a cell."""
        reply, published = self.run(code)
        return "".join(texts(published))


def kinds(published):
    return [message["header"]["msg_type"] for message in published]


def texts(published):
    """What is shown as text."""
    for message in published:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "stream":
            yield content["text"]
        elif kind in ("execute_result", "display_data"):
            yield content["data"].get("text/plain", "")


def verdict(good, seen=""):
    return (YES if good else NO), seen


def ms(seconds):
    return f"{seconds * 1000:.0f} ms"


@row("execute: busy, execute_input, result, idle, in this order")
def execute_row(kernel):
    code, wanted = kernel.snippet("value")
    reply, published = kernel.run(code)
    order = [
        message["content"].get("execution_state", message["header"]["msg_type"])
        for message in published
    ]
    shown = wanted in "".join(texts(published))
    good = order[:2] == ["busy", "execute_input"] and order[-1] == "idle" and shown
    return verdict(good and reply["status"] == "ok", " ".join(order))


@row("execute: an empty cell is answered")
def empty_row(kernel):
    reply, _ = kernel.run("")
    return verdict(reply["status"] == "ok", reply["status"])


@row("`silent`: nothing is published, the count stays")
def silent_row(kernel):
    first, _ = kernel.run(kernel.snippet("value")[0])
    _, published = kernel.run(kernel.snippet("value")[0], silent=True, store_history=False)
    second, _ = kernel.run(kernel.snippet("value")[0])
    extra = set(kinds(published)) - {"status"}
    same = second["execution_count"] == first["execution_count"] + 1
    return verdict(not extra and same, " ".join(["publishes", *sorted(extra)] if extra else []))


@row("`store_history` false: the count stays, the cell is not in the history")
def store_history_row(kernel):
    first, _ = kernel.run(kernel.snippet("value")[0])
    kernel.run(kernel.snippet("define"), store_history=False)
    second, _ = kernel.run(kernel.snippet("value")[0])
    same = second["execution_count"] == first["execution_count"] + 1
    return verdict(same, f"{first['execution_count']} → {second['execution_count']}")


@row("`user_expressions`: values, and an error for one that fails")
def expressions_row(kernel):
    reply, _ = kernel.run(kernel.snippet("value")[0],
                          user_expressions=kernel.snippet("expressions"))
    values = reply.get("user_expressions") or {}
    good = "2" in json.dumps(values.get("good", {}).get("data", {}))
    bad = values.get("bad", {}).get("status") == "error"
    if good and not bad:
        return PART, json.dumps(values)[:80]
    return verdict(good and bad, json.dumps(values)[:80] if values else "no values")


@row("`error`: message and reply, with the line in the traceback")
def error_row(kernel):
    reply, published = kernel.run(kernel.snippet("error"))
    errors = [m["content"] for m in published if m["header"]["msg_type"] == "error"]
    if reply["status"] != "error" or not errors:
        return verdict(False, reply["status"])
    trace = "\n".join(errors[0]["traceback"])
    placed = kernel.snippet("error_line") in trace
    return (YES if placed else PART), errors[0]["ename"]


@row("`stop_on_error`: the cells that wait are aborted")
def stop_row(kernel):
    first = kernel.execute(kernel.snippet("error"))
    rest = [kernel.execute(kernel.snippet("value")[0]) for _ in range(3)]
    kernel.reply(first)
    seen = [kernel.reply(own)["content"]["status"] for own in rest]
    return verdict(seen == ["aborted"] * 3, " ".join(seen))


@row("`stop_on_error` false: they run")
def go_on_row(kernel):
    kernel.ensure()
    first = kernel.execute(kernel.snippet("error"), stop_on_error=False)
    rest = [kernel.execute(kernel.snippet("value")[0]) for _ in range(3)]
    kernel.reply(first)
    seen = [kernel.reply(own)["content"]["status"] for own in rest]
    return verdict(seen == ["ok"] * 3, " ".join(seen))


@row("streams: both, and in order")
def streams_row(kernel):
    _, published = kernel.run(kernel.snippet("stdout"))
    _, errors = kernel.run(kernel.snippet("stderr"))
    _, order = kernel.run(kernel.snippet("order"))
    names = {m["content"]["name"] for m in published + errors if m["header"]["msg_type"] == "stream"}
    lines = "".join(m["content"]["text"] for m in order if m["header"]["msg_type"] == "stream")
    ordered = lines.split() == [str(i) for i in range(20)]
    return verdict(names == {"stdout", "stderr"} and ordered, " ".join(sorted(names)))


@row("streams: a flood (40 MB) is bounded, and the kernel answers after it")
def flood_row(kernel):
    began = time.monotonic()
    own = kernel.execute(kernel.snippet("flood"))
    sent = 0
    for message in kernel.published(own, timeout=60):
        sent += len(message["content"].get("text", ""))
    took = time.monotonic() - began
    kernel.ensure()
    return verdict(sent < 20e6, f"{sent / 1e6:.1f} MB in {took:.1f} s")


@row("`input_request`, and its answer")
def input_row(kernel):
    own = kernel.execute(kernel.snippet("input"), allow_stdin=True)
    try:
        asked = kernel.client.get_stdin_msg(timeout=3)
    except queue.Empty:
        kernel.interrupt()
        return verdict(False, "not asked")
    kernel.client.input("someone")
    kernel.reply(own)
    answered = "got someone" in "".join(texts(kernel.published(own)))
    return verdict(answered, asked["content"]["prompt"])


@row("`allow_stdin` false: reading ends at once, and does not hang")
def no_stdin_row(kernel):
    own = kernel.execute(kernel.snippet("input"), allow_stdin=False)
    try:
        reply = kernel.reply(own, 3)
    except TimeoutError:
        return verdict(False, "hangs")
    return verdict(True, reply["content"].get("ename", reply["content"]["status"]))


@row("an interrupt ends a cell that waits for input")
def interrupt_input_row(kernel):
    own = kernel.execute(kernel.snippet("input"), allow_stdin=True)
    try:
        kernel.client.get_stdin_msg(timeout=3)
    except queue.Empty:
        return NO, "not asked"
    kernel.interrupt()
    reply = kernel.reply(own, 5)
    return verdict(reply["content"]["status"] != "ok", reply["content"].get("ename", ""))


@row("`display_data`")
def display_row(kernel):
    _, published = kernel.run(kernel.snippet("display"))
    return verdict("display_data" in kinds(published))


@row("`update_display_data`")
def update_row(kernel):
    kernel.run(kernel.code.get("update_before", ""))
    _, published = kernel.run(kernel.snippet("update"))
    return verdict("update_display_data" in kinds(published))


@row("`clear_output`")
def clear_row(kernel):
    _, published = kernel.run(kernel.snippet("clear"))
    return verdict("clear_output" in kinds(published))


def completions(kernel, code, cursor, timeout=LATE):
    return kernel.ask("complete_request", {"code": code, "cursor_pos": cursor}, timeout=timeout)


@row("`complete`: names of the session")
def complete_row(kernel):
    kernel.run(kernel.snippet("define"))
    code, wanted = kernel.snippet("complete")
    found = completions(kernel, code, len(code))
    return verdict(wanted in found["matches"], f"{len(found['matches'])} matches")


@row("`complete`: with types")
def complete_types_row(kernel):
    code, wanted = kernel.snippet("complete")
    types = completions(kernel, code, len(code)).get("metadata", {})
    types = types.get("_jupyter_types_experimental") or []
    own = [each for each in types if each.get("text") == wanted]
    return verdict(bool(own), (own or [{}])[0].get("type", ""))


@row("`complete`: cursors count characters, not bytes")
def complete_cursor_row(kernel):
    code, wanted = kernel.snippet("complete")
    before = {"nesl": "% 𝒳é % ", "python": "'𝒳é'; ", "typescript": "'𝒳é'; "}
    before = before.get(kernel.info["language_info"]["name"].lower(), "echo '𝒳é'; ")
    found = completions(kernel, before + code, len(before + code))
    good = wanted in found["matches"] and found["cursor_start"] == len(before)
    return verdict(good, f"cursor_start {found['cursor_start']} of {len(before)}")


def while_running(kernel, kind, content, channel="shell"):
    """The seconds that an answer takes while a cell runs, `None` if it comes after that only."""
    kernel.ensure()
    own = kernel.begin(kernel.snippet("busy"))
    began = time.monotonic()
    asked = kernel.send(kind, content, channel)
    try:
        kernel.reply(asked, 3, channel)
        took = time.monotonic() - began
    except TimeoutError:
        took = None
    kernel.interrupt()
    try:
        kernel.reply(own, 5)
    except TimeoutError:
        kernel.stop()
        kernel.start()
    return took


def at_once(took):
    return verdict(took is not None and took < SOON, "not before its end" if took is None else ms(took))


@row("`complete` while a cell runs")
def complete_running_row(kernel):
    kernel.run(kernel.snippet("define"))
    code, _ = kernel.snippet("complete")
    return at_once(
        while_running(kernel, "complete_request", {"code": code, "cursor_pos": len(code)})
    )


def inspection(kernel, name, level=0):
    content = {"code": name, "cursor_pos": len(name), "detail_level": level}
    return kernel.ask("inspect_request", content)


@row("`inspect`: documentation, and nothing for a name that is not there")
def inspect_row(kernel):
    kernel.run(kernel.code.get("inspect_before", ""))
    name = kernel.snippet("inspect")
    found, none = inspection(kernel, name), inspection(kernel, "no_such_name_of_probe")
    forms = " ".join(found.get("data", {}))
    return verdict(found.get("found") and not none.get("found"), forms)


@row("`inspect`: `detail_level` 1 tells more")
def detail_row(kernel):
    kernel.run(kernel.code.get("inspect_before", ""))
    name = kernel.snippet("inspect")
    size = [len(json.dumps(inspection(kernel, name, level).get("data", {}))) for level in (0, 1)]
    return verdict(size[1] > size[0], f"{size[0]} → {size[1]} characters")


@row("`inspect` while a cell runs")
def inspect_running_row(kernel):
    name = kernel.snippet("inspect")
    content = {"code": name, "cursor_pos": len(name), "detail_level": 0}
    return at_once(while_running(kernel, "inspect_request", content))


def completeness(kernel, code):
    return kernel.ask("is_complete_request", {"code": code}, timeout=3)


@row("`is_complete`: complete, incomplete and invalid are told apart")
def is_complete_row(kernel):
    wrong = []
    for wanted in ("complete", "incomplete", "invalid"):
        for code in kernel.snippet(f"{wanted}_code"):
            status = completeness(kernel, code)["status"]
            if status != wanted:
                wrong.append(f"{wanted} is {status}")
    return verdict(not wrong, "; ".join(sorted(set(wrong))))


@row("`is_complete`: what to indent by")
def indent_row(kernel):
    answer = completeness(kernel, kernel.snippet("incomplete_code")[0])
    return verdict(bool(answer.get("indent")), repr(answer.get("indent", "")))


def history(kernel, **asked):
    content = {"output": False, "raw": True, "session": 0, "start": 0, "stop": 0, "n": 10,
               "pattern": "*", "unique": False, **asked}
    return kernel.ask("history_request", content)["history"]


@row("`history`: tail")
def tail_row(kernel):
    kernel.run(kernel.snippet("define"))
    found = history(kernel, hist_access_type="tail", n=3)
    return verdict(bool(found) and kernel.snippet("define") in found[-1][2], f"{len(found)} cells")


@row("`history`: range")
def range_row(kernel):
    found = history(kernel, hist_access_type="range", start=1, stop=3)
    return verdict(bool(found), f"{len(found)} cells")


@row("`history`: search by a pattern, without repetitions")
def search_row(kernel):
    kernel.run(kernel.snippet("define"))
    kernel.run(kernel.snippet("define"))
    asked = {"hist_access_type": "search", "pattern": "*kept?by*"}
    all, once = (len(history(kernel, unique=unique, **asked)) for unique in (False, True))
    return verdict(all > once >= 1, f"{all} cells, {once} different")


@row("`comm_info`")
def comm_info_row(kernel):
    answer = kernel.ask("comm_info_request", {}, timeout=3)
    return verdict("comms" in answer)


@row("`comm_open` of a target that nobody knows is closed")
def comm_open_row(kernel):
    own = kernel.send("comm_open", {"comm_id": "probe", "target_name": "no_such", "data": {}})
    published = kernel.published(own, timeout=3)
    closed = "comm_close" in kinds(published)
    return verdict(closed, "" if closed else "it is not closed")


@row("`kernel_info` on control")
def info_control_row(kernel):
    answer = kernel.ask("kernel_info_request", {}, "control", timeout=3)
    return verdict("protocol_version" in answer, answer.get("protocol_version", ""))


@row("`kernel_info` on control while a cell runs")
def info_running_row(kernel):
    return at_once(while_running(kernel, "kernel_info_request", {}, "control"))


@row("heartbeat while a cell runs")
def heartbeat_row(kernel):
    kernel.ensure()
    own = kernel.begin(kernel.snippet("busy"))
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.linger = 0
    connection = kernel.manager.get_connection_info()
    socket.connect(f"tcp://{connection['ip']}:{connection['hb_port']}")
    began = time.monotonic()
    socket.send(b"beat")
    good = socket.poll(2000) and socket.recv() == b"beat"
    took = time.monotonic() - began
    socket.close()
    kernel.interrupt()
    try:
        kernel.reply(own, 5)
    except TimeoutError:
        pass
    return verdict(good, ms(took))


@row("an interrupt stops a computation within 100 ms, and everything is kept")
def interrupt_row(kernel):
    kernel.ensure()
    kernel.run(kernel.snippet("define"))
    own = kernel.begin(kernel.snippet("busy"))
    began = time.monotonic()
    kernel.interrupt()
    try:
        kernel.reply(own, 5)
    except TimeoutError:
        return verdict(False, "runs on")
    took = time.monotonic() - began
    kernel.ensure()
    code, wanted = kernel.snippet("use")
    kept = wanted in kernel.value(code)
    if kept and took >= 0.1:
        return PART, ms(took)
    return verdict(kept, ms(took) + ("" if kept else ", state lost"))


@row("`interrupt_request` on control")
def interrupt_message_row(kernel):
    kernel.ensure()
    own = kernel.begin(kernel.snippet("busy"))
    began = time.monotonic()
    asked = kernel.send("interrupt_request", {}, "control")
    try:
        kernel.reply(asked, 5, "control")
        kernel.reply(own, 5)
    except TimeoutError:
        return verdict(False, "runs on")
    return verdict(True, ms(time.monotonic() - began))


@row("an interrupt by signal")
def interrupt_signal_row(kernel):
    kernel.ensure()
    kernel.run(kernel.snippet("define"))
    own = kernel.begin(kernel.snippet("busy"))
    began = time.monotonic()
    pid = getattr(kernel.manager.provisioner, "pid", None)
    os.kill(pid, signal.SIGINT)
    try:
        kernel.reply(own, 5)
    except TimeoutError:
        return verdict(False, "runs on" if kernel.manager.is_alive() else "the kernel ends")
    took = time.monotonic() - began
    kernel.ensure()
    code, wanted = kernel.snippet("use")
    return verdict(wanted in kernel.value(code), ms(took))


@row("an interrupt stops printing")
def interrupt_print_row(kernel):
    kernel.ensure()
    own = kernel.execute(kernel.snippet("endless_print"))
    time.sleep(0.5)
    began = time.monotonic()
    kernel.interrupt()
    try:
        kernel.reply(own, 10)
    except TimeoutError:
        return verdict(False, "prints on")
    took = time.monotonic() - began
    kernel.ensure()
    return (YES if took < 0.1 else PART), ms(took)


@row("an interrupt aborts the cells that wait")
def interrupt_queue_row(kernel):
    kernel.ensure()
    own = kernel.begin(kernel.snippet("busy"))
    rest = [kernel.execute(kernel.snippet("value")[0]) for _ in range(3)]
    time.sleep(0.1)
    kernel.interrupt()
    try:
        kernel.reply(own, 5)
        seen = [kernel.reply(each, 5)["content"]["status"] for each in rest]
    except TimeoutError:
        return verdict(False, "runs on")
    return verdict(seen == ["aborted"] * 3, " ".join(seen))


@row("`debug_request` is answered, on control")
def debug_row(kernel):
    kernel.ensure()
    asked = {"type": "request", "seq": 1, "command": "debugInfo", "arguments": {}}
    answer = kernel.ask("debug_request", asked, "control", timeout=5)
    works = answer.get("success") is True
    return verdict(True, "a debugger" if works else "refused politely")


@row("subshells: cells run beside the one that runs")
def subshell_row(kernel):
    kernel.ensure()
    try:
        made = kernel.ask("create_subshell_request", {}, "control", timeout=1)
    except TimeoutError:
        return verdict(False, "no reply")
    if "subshell_id" not in made:
        return verdict(False, "refused politely")
    own = kernel.begin(kernel.snippet("busy"))
    content = {"code": kernel.snippet("value")[0], "silent": False}
    message = kernel.client.session.msg("execute_request", content)
    message["header"]["subshell_id"] = made["subshell_id"]
    kernel.client.shell_channel.send(message)
    began, good = time.monotonic(), True
    try:
        kernel.reply(message["header"]["msg_id"], 3)
    except TimeoutError:
        good = False
    took = time.monotonic() - began
    kernel.interrupt()
    kernel.reply(own, 5)
    return verdict(good, ms(took))


@row("a request of an unknown type does no harm")
def unknown_row(kernel):
    kernel.send("no_such_request", {})
    return verdict("status" in kernel.ask("kernel_info_request", {}, timeout=3))


def raw(kernel, frames, seconds=0.5):
    """Sends frames as they are on shell, and then a request that must be answered."""
    kernel.client.shell_channel.socket.send_multipart(frames)
    time.sleep(seconds)
    alive = kernel.manager.is_alive()
    return alive and "status" in kernel.ask("kernel_info_request", {}, timeout=3)


@row("a message with a wrong signature is refused")
def unsigned_row(kernel):
    kernel.ensure()
    session = kernel.client.session
    code, wanted = kernel.snippet("define"), kernel.snippet("use")
    message = session.msg("execute_request", {"code": code, "silent": False})
    frames = session.serialize(message)
    frames[1] = b"0" * len(frames[1])
    kernel.client.shell_channel.socket.send_multipart(frames)
    refused = True
    try:
        kernel.reply(message["header"]["msg_id"], 1)
        refused = False
    except TimeoutError:
        pass
    kernel.ensure()
    return verdict(refused)


@row("messages that are no messages do no harm")
def malformed_row(kernel):
    kernel.ensure()
    session = kernel.client.session
    frames = session.serialize(session.msg("execute_request", {"code": "1"}))
    broken = [b"<IDS|MSG>", session.sign([b"{", b"{}", b"{}", b"{}"]), b"{", b"{}", b"{}", b"{}"]
    cases = [[b"x"], [b"<IDS|MSG>"], frames[:3], broken, [b""] * 8]
    survived = 0
    for case in cases:
        try:
            survived += bool(raw(kernel, case))
        except TimeoutError:
            kernel.stop()
            kernel.start()
    return (YES if survived == len(cases) else NO), f"{survived} of {len(cases)}"


@row("100 requests at once: each answered between its busy and its idle")
def load_row(kernel):
    kernel.ensure()
    code = kernel.snippet("value")[0]
    own = [
        kernel.execute(code) if i % 2 else kernel.send("kernel_info_request", {})
        for i in range(100)
    ]
    began = time.monotonic()
    left, states = set(own), {}
    while left and time.monotonic() < began + 60:
        message = kernel.client.get_shell_msg(timeout=60)
        left.discard(message["parent_header"].get("msg_id"))
    took = time.monotonic() - began
    ends = time.monotonic() + 5
    while time.monotonic() < ends and any(states.get(each, [""])[-1] != "idle" for each in own):
        try:
            message = kernel.client.get_iopub_msg(timeout=1)
        except queue.Empty:
            break
        states.setdefault(message["parent_header"].get("msg_id"), []).append(
            message["content"].get("execution_state", message["header"]["msg_type"])
        )
    right = [states.get(each, [""])[0] == "busy" and states[each][-1] == "idle" for each in own]
    return verdict(not left and all(right), ms(took))


@row("`shutdown`: `restart` is echoed, and the process ends")
def shutdown_row(kernel):
    kernel.ensure()
    answer = kernel.ask("shutdown_request", {"restart": True}, "control", timeout=5)
    began = time.monotonic()
    while kernel.manager.is_alive() and time.monotonic() < began + 5:
        time.sleep(0.01)
    ended = not kernel.manager.is_alive()
    took = time.monotonic() - began
    kernel.stop()
    kernel.start()
    return verdict(answer.get("restart") is True and ended, ms(took) if ended else "goes on")


@row("first answer after the start")
def start_row(kernel):
    kernel.stop()
    kernel.start()
    return NONE, ms(kernel.started_in)


@row("memory when idle")
def memory_row(kernel):
    kernel.run(kernel.snippet("value")[0])
    status = Path(f"/proc/{kernel.manager.provisioner.pid}/status")
    if not status.exists():
        return NONE, "not known"
    size = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return NONE, f"{int(size.split()[1]) / 1000:.0f} MB"


def measure(kernel, function):
    """The verdict of a row, and what was seen."""
    try:
        kernel.ensure()
        return function(kernel)
    except Missing:
        return NONE, "the language has nothing for it"
    except TimeoutError:
        return NO, "no reply"
    except Exception as error:
        traceback.print_exc()
        return NO, f"{type(error).__name__}: {error}"


def probe(name, only):
    """All rows of a kernel: name → verdict and what was seen."""
    kernel = Kernel(name)
    results = {}
    try:
        for title, function in ROWS:
            if only not in title:
                continue
            results[title] = measure(kernel, function)
            for _ in range(3 if results[title][0] == NO else 0):
                # Again: a slow moment of the machine is not the kernel's fault.
                if measure(kernel, function)[0] != NO:
                    results[title] = PART, "not every time"
                    break
            print(f"{name}: {title}: {' '.join(results[title])}", file=sys.stderr, flush=True)
        info = kernel.info
    finally:
        kernel.stop()
    return results, f"{info['implementation']} {info['implementation_version']}"


def brief(cell):
    """A cell of the table: what was seen is told where it is a size, or explains something."""
    word, _, seen = cell.replace("|", "/").partition(" ")
    measured = seen.endswith((" ms", " MB", " s", " a cell"))
    sign = {YES: "✓", NO: "✗", PART: "(✓)", NONE: ""}[word]
    return f"{sign} {seen if measured or word != YES else ''}".strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--but", help="fails if a row without this text in its name is a no")
    asked = parser.parse_args()
    columns = json.loads(asked.json.read_text()) if asked.json and asked.json.exists() else {}
    wrong = False
    for name in asked.kernel:
        results, version = probe(name, asked.only)
        bad = [title for title, (word, _) in results.items() if word == NO]
        wrong |= any(asked.but is not None and asked.but not in title for title in bad)
        seen = {title: " ".join(filter(None, both)) for title, both in results.items()}
        columns.setdefault(version, {}).update(seen)
    if asked.json:
        asked.json.write_text(json.dumps(columns, indent=1, ensure_ascii=False))
    if asked.markdown:
        read = (by_sources.IJULIA, by_sources.EVCXR)
        names = list(columns) + [kernel["name"] for kernel in read]
        print(f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
        for title, _ in ROWS:
            cells = [results.get(title, NONE) for results in columns.values()]
            cells += [by_sources.verdict(kernel, title) for kernel in read]
            print(f"| {title} | {' | '.join(map(brief, cells))} |")
        return
    width = max(len(title) for title, _ in ROWS)
    for title, _ in ROWS:
        if asked.only in title:
            print(f"{title:{width}}  {'   '.join(c.get(title, NONE) for c in columns.values())}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
