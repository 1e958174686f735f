"""Derives ratios and limits from the measurements, and prints them as JSON and as a Markdown table.

A figure that was not measured stays empty (None in the JSON, an empty cell in the table), and the reason is
listed. README.md in this folder describes the JSON.
"""

import json

import catalogue

SCHEMA = 1

# Limits of compile times: the field of `nesl_compile`, a description, the most milliseconds.
COMPILE_LIMITS = (
    ("cold_compile_seconds", "first compile of a single operation, ms", 150.0),
    ("cached_compile_seconds", "the same from the cache, ms", 5.0),
)

# The reason that a limit was not judged on a simulated device.
SIMULATED = "times of a simulated device say nothing"


def derive(result, entries):
    """Adds to a result the ratios of each program and the verdicts on the limits."""
    bandwidth = (result.get("costs") or {}).get("bandwidth")
    simulated = is_simulated(result)
    result["limits"] = []
    rows = {row["program"]: row for row in result["programs"]}
    for row in result["programs"]:
        row["ratios"] = ratios(row)
        row["bandwidth_share"] = None if simulated else bandwidth_share(row, bandwidth)
    for entry in entries:
        for limit in entry.limits:
            row = rows.get(entry.name)
            value, reason = limit_ratio(limit, row, bandwidth)
            result["limits"].append(_judged(limit.text, entry.name, limit.most, value, reason, simulated))
    for which, text, most in COMPILE_LIMITS:
        slowest, value, reason = slowest_compile(result["programs"], which)
        result["limits"].append(_judged(text, slowest, most, value, reason, simulated))
    return result


def _judged(text, program, most, value, reason, simulated):
    if simulated:
        value, reason = None, SIMULATED
    met = None if value is None else value <= most
    return {"limit": text, "program": program, "most": most, "value": value, "met": met, "missing": reason}


def slowest_compile(rows, which):
    """Returns the program whose first run compiled longest, and the milliseconds; or the reason why there is
    none. Only the single operations count."""
    names = {entry.name for entry in catalogue.NEW}
    times = {row["program"]: 1e3 * row["nesl_compile"][which] for row in rows
             if row["program"] in names and row.get("nesl_compile")}
    if not times:
        return None, None, "no compilation was measured"
    slowest = max(times, key=times.get)
    return slowest, times[slowest], None


def is_simulated(result):
    return (result.get("device") or {}).get("name", "").startswith("Simulated")


def ratios(row):
    """Returns the time of NESL divided by that of the fastest peer, on the device and on the host's clock.
    Peers whose results differ do not count."""
    ours = row["contestants"].get("nesl", {})
    found = {}
    for clock in ("device", "wall"):
        key = f"{clock}_seconds"
        others = {name: c[key] for name, c in row["contestants"].items()
                  if name != "nesl" and c.get(key) and name not in row.get("disagree", [])}
        if others and ours.get(key):
            best = min(others, key=others.get)
            found[clock] = {"best_peer": best, "ratio": ours[key] / others[best]}
        else:
            why = "no peer was measured" if ours.get(key) else "NESL was not measured"
            found[clock] = {"best_peer": None, "ratio": None, "missing": why}
    return found


def bandwidth_share(row, bandwidth):
    """Returns the share of the copy bandwidth that NESL's kernels reach, or None."""
    seconds = row["contestants"].get("nesl", {}).get("device_seconds")
    if not bandwidth or not seconds:
        return None
    return row["traffic_bytes"] / seconds / bandwidth


def limit_ratio(limit, row, bandwidth):
    """Returns the ratio that a limit bounds and None, or None and the reason why there is none."""
    if row is None:
        return None, "the program was not run"
    ours = row["contestants"].get("nesl", {})
    seconds = ours.get("device_seconds")
    if not seconds:
        return None, ours.get("missing") or ours.get("device_missing") or "NESL was not measured"
    if not limit.against:
        if not bandwidth:
            return None, "the copy bandwidth was not measured"
        return seconds * bandwidth / row["traffic_bytes"], None
    peer = row["contestants"].get(limit.against, {})
    if not peer.get("device_seconds"):
        return None, f"{limit.against}: {peer.get('missing') or peer.get('device_missing') or 'not measured'}"
    if limit.against in row.get("disagree", []):
        return None, f"{limit.against} computed something else"
    return seconds / peer["device_seconds"], None


def to_json(result):
    """Returns the result as text, a program a line, so that a diff shows the programs that changed."""
    head = json.dumps({key: value for key, value in result.items() if key != "programs"}, indent=1)
    rows = ",\n ".join(json.dumps(row) for row in result["programs"])
    return f'{head.removesuffix(chr(10) + "}")},\n "programs": [\n {rows}\n ]\n}}\n'


def to_markdown(result):
    """Returns the result as a Markdown page."""
    parts = [_head(result), _costs(result), _suite(result), _limits(result), _programs(result),
             _compile(result), _missing(result)]
    return "\n".join(part for part in parts if part)


def _head(result):
    device, peers = result.get("device") or {}, result.get("peers") or {}
    lines = [f"# The GPU lane on {device.get('name', 'no device')}", ""]
    if is_simulated(result):
        lines += ["**A simulated device: the times below are those of the simulator, not of a GPU.**", ""]
    if result.get("partial"):
        lines += [f"**Not complete: {result['partial']}.**", ""]
    facts = [
        ("date", result.get("date")), ("commit", _commit(result)),
        ("device", _device(device) or result.get("device_missing")),
        ("driver", result.get("driver_version")), ("CUDA of the driver", device.get("cuda_of_driver")),
        ("host", _host(result.get("host") or {})),
        ("runtime", result.get("runtime")),
        ("time", f"{result['used_seconds']:.0f} of {result['seconds']:.0f} s" if "used_seconds" in result else None),
    ]
    facts += [(f"peer {name}", _versions(peer)) for name, peer in sorted(peers.items())]
    return "\n".join(lines + _table(["", ""], [[name, value or ""] for name, value in facts])) + "\n"


def _commit(result):
    commit = result.get("commit") or "unknown"
    return commit + (" with changes" if result.get("dirty") else "")


def _device(device):
    if not device:
        return None
    words = [device.get("name", "")]
    if "multiprocessors" in device:
        words.append(f"{device['multiprocessors']} multiprocessors")
    if "capability_major" in device:
        words.append(f"compute capability {device['capability_major']}.{device.get('capability_minor', 0)}")
    if "memory_bytes" in device:
        words.append(f"{device['memory_bytes'] / 2**30:.0f} GiB")
    return ", ".join(words)


def _host(host):
    return ", ".join(str(host[key]) for key in ("processor", "cores", "system") if host.get(key))


def _versions(peer):
    if "missing" in peer:
        return f"absent: {peer['missing']}"
    return ", ".join(f"{name} {version}" for name, version in peer.items() if version)


def _costs(result):
    costs = result.get("costs")
    if not costs:
        return ""
    rows = [[name, _micro(costs.get(f"{name}_seconds"))] for name in ("launch", "drain", "read", "write")]
    speed = costs.get("bandwidth")
    rows.append([f"copy of {costs.get('copy_bytes', 0) / 1e6:.0f} MB",
                 f"{speed / 1e9:.0f} GB/s read and written" if speed else ""])
    return "\n".join(["## Costs", "", *_table(["operation", "cost"], rows), ""])


def _suite(result):
    suite = result.get("suite")
    if not suite:
        return ""
    rows, failures = [], []
    for name, part in suite.items():
        rows.append([name, *(str(part[key]) for key in ("passed", "failed", "not_run"))])
        if "cases_executed" in part:
            rows[-1][0] += f" ({part['cases_executed']} cases executed, {part['cases_refused']} refused)"
        failures += [f"- {name}: {_one_line(text)}" for text in part["failures"][:10]]
    lines = ["## Correctness", "", *_table(["part", "passed", "failed", "not run"], rows), ""]
    return "\n".join(lines + (failures + [""] if failures else []))


def _limits(result):
    rows = [[item["limit"], item["program"] or "", f"≤ {item['most']:g}", _ratio(item["value"]),
             "" if item["met"] is None else "met" if item["met"] else "**not met**", item["missing"] or ""]
            for item in result.get("limits", [])]
    if not rows:
        return ""
    return "\n".join(["## Limits", "", "Ratios of device times, and compile times.", "",
                      *_table(["figure", "program", "limit", "measured", "", "why not"], rows), ""])


def _programs(result):
    if not result["programs"]:
        return ""
    names = contestant_names(result)
    lines = ["## Programs", ""]
    for clock, title in (("device", "On the device, ms"), ("wall", "End to end, ms (the host's clock)")):
        last = ["bandwidth"] if clock == "device" else ["launches", "drains", "reads", "refused"]
        rows = []
        for row in result["programs"]:
            cells = [_milli(row["contestants"].get(name, {}).get(f"{clock}_seconds")) for name in names]
            ratio = row["ratios"][clock]
            rows.append([row["program"], *cells, _ratio(ratio["ratio"]), ratio["best_peer"] or "",
                         *([_percent(row["bandwidth_share"])] if clock == "device" else _counters(row))])
        lines += [f"### {title}", "", *_table(["program", *names, "ratio", "best peer", *last], rows), ""]
    lines += ["Medians. NESL's time on the device is the sum of its kernels, the mean of several runs; that of a "
              "peer is the time between two events around the program. The ratio is that of NESL to the fastest "
              "peer whose results agree. Refused are the kernels that the device cannot execute and the CPU "
              "executed.", ""]
    return "\n".join(lines)


def _counters(row):
    """Returns the cells with the counters of NESL's last run, and the number of refused kernels."""
    counters = row["contestants"].get("nesl", {}).get("counters", {})
    refused = len(row["nesl_refused"]) if "nesl_refused" in row else ""
    return [*(str(counters.get(name, "")) for name in ("launches", "drains", "reads")), str(refused)]


def contestant_names(result):
    """Returns the names of all contestants that were measured at least once, NESL first."""
    names = []
    for row in result["programs"]:
        for name, contestant in row["contestants"].items():
            if "missing" not in contestant and name not in names:
                names.append(name)
    return sorted(names, key=lambda name: (name != "nesl", name))


def _compile(result):
    rows = [[row["program"], *(_milli(row["nesl_compile"].get(f"{which}_{what}_seconds"))
                               for what in ("compile", "session") for which in ("cold", "cached"))]
            for row in result["programs"] if row.get("nesl_compile")]
    if not rows:
        return ""
    return "\n".join([
        "## Compilation, ms", "",
        "The first run of a program in a new process, with empty caches and with those that this run has filled; "
        "the session includes the start, the inputs and the run.", "",
        *_table(["program", "compile", "from the cache", "session", "from the cache"], rows), ""])


def _missing(result):
    lines = [f"- {text}" for text in missing(result)]
    return "\n".join(["## Not measured", "", *lines, ""]) if lines else ""


def missing(result):
    """Returns what was not measured, with reasons; equal reasons of one contestant are put together."""
    reasons = {}
    for row in result["programs"]:
        for name, contestant in row["contestants"].items():
            if "missing" in contestant:
                reasons.setdefault((name, contestant["missing"]), []).append(row["program"])
            elif contestant.get("device_missing") and name == "nesl":
                key = (f"{name} on the device", contestant["device_missing"])
                reasons.setdefault(key, []).append(row["program"])
        for name in row.get("disagree", []):
            reasons.setdefault((name, "its results differ from those of NESL"), []).append(row["program"])
        for kernel in row.get("nesl_refused", []):
            key = ("nesl on the device", f"kernel refused: {kernel['reason']}")
            reasons.setdefault(key, []).append(row["program"])
    texts = [f"{name}: {why} ({', '.join(dict.fromkeys(programs))})" for (name, why), programs in reasons.items()]
    return texts + result.get("not_measured", [])


def _table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(_one_line(str(cell)) for cell in row) + " |" for row in rows]


def _one_line(text):
    return " ".join(text.split()).replace("|", "\\|")[:300]


def _percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def _micro(seconds):
    return "" if seconds is None else f"{1e6 * seconds:.2f} µs"


def _milli(seconds):
    if seconds is None:
        return ""
    ms = 1e3 * seconds
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.2f}" if ms >= 1 else f"{ms:.4f}"


def _ratio(ratio):
    return "" if ratio is None else f"{ratio:.2f}"
