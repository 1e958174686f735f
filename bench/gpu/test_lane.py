#!/usr/bin/env python3
"""Tests of the GPU lane that need neither a GPU nor anything built: `python3 bench/gpu/test_lane.py`."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import catalogue  # noqa: E402  (must follow the path)
import contest  # noqa: E402
import contestants  # noqa: E402
import lane  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
import suite  # noqa: E402
import toolkit  # noqa: E402
from contestants import Absent, Sample  # noqa: E402
from processes import Trouble  # noqa: E402


class Fake:
    """A contestant that answers with given times."""

    def __init__(self, name, wall, device=None, check=(1.0,), error=None):
        self.name, self.wall, self.device, self.sums, self.error = name, wall, device, list(check), error
        self.forgotten = 0

    def prepare(self, entry, parameters):
        if self.error:
            raise self.error

    def run(self, reps, check=False):
        device = None if self.device is None else [self.device] * reps
        return Sample([self.wall] * reps, device, self.sums if check else None)

    def forget(self):
        self.forgotten += 1

    close = forget


def entry(name):
    return next(e for e in catalogue.entries() if e.name == name)


def measured(nesl, *peers, name="dot"):
    chosen = entry(name)
    return contest.measure(chosen, chosen.parameters(), nesl, list(peers), run.Budget(60), details=False)


def result(rows, device="NVIDIA H100", bandwidth=2e12):
    made = {
        "schema": 1, "date": "2026-01-01", "commit": "abc", "device": {"name": device}, "peers": {},
        "costs": {"bandwidth": bandwidth, "copy_bytes": 1 << 30, "launch_seconds": 2e-6}, "suite": {},
        "not_measured": [], "programs": rows}
    return report.derive(made, catalogue.NEW)


def row(program, ours, peers, disagree=()):
    """A row with device times: those of NESL and of the peers by name."""
    figures = {name: {"device_seconds": seconds, "wall_seconds": seconds} for name, seconds in peers.items()}
    own = {"device_seconds": ours, "wall_seconds": ours} if ours else {"missing": "failed: a reason"}
    traffic = entry(program).program.traffic(entry(program).parameters())
    return {"program": program, "parameters": {}, "traffic_bytes": traffic,
            "contestants": {"nesl": own} | figures, "disagree": list(disagree)}


class Measuring(unittest.TestCase):
    def test_takes_the_median_of_all_rounds(self):
        found = measured(Fake("nesl", 2.0), Fake("cub", 1.0, device=0.5))
        self.assertEqual(found["contestants"]["cub"]["device_seconds"], 0.5)
        self.assertEqual(found["contestants"]["nesl"]["wall_seconds"], 2.0)
        self.assertEqual(len(found["contestants"]["nesl"]["wall"]), contest.ROUNDS * contest.MIN_REPS)
        self.assertIsNone(found["contestants"]["nesl"]["device_seconds"])

    def test_keeps_the_reason_of_a_missing_peer(self):
        absent = Fake("numba", 1.0, error=Absent("not installed"))
        broken = Fake("torch", 1.0, error=Trouble("CUDA error\nmore"))
        found = measured(Fake("nesl", 1.0), absent, broken)["contestants"]
        self.assertEqual(found["numba"], {"missing": "not installed"})
        self.assertEqual(found["torch"], {"missing": "failed: Trouble: CUDA error"})
        self.assertEqual(absent.forgotten, 1)

    def test_a_failing_nesl_does_not_stop_the_peers(self):
        found = measured(Fake("nesl", 1.0, error=Trouble("out of memory")), Fake("cub", 1.0, device=1.0))
        self.assertIn("missing", found["contestants"]["nesl"])
        self.assertEqual(found["contestants"]["cub"]["device_seconds"], 1.0)

    def test_notes_results_that_differ(self):
        found = measured(Fake("nesl", 1.0), Fake("cub", 1.0, check=[2.0]), Fake("cupy", 1.0))
        self.assertEqual(found["disagree"], ["cub"])

    def test_no_time_leaves_peers_out(self):
        chosen = entry("dot")
        found = contest.measure(chosen, chosen.parameters(), Fake("nesl", 1.0), [Fake("cub", 1.0)],
                                run.Budget(-1), details=False)
        self.assertEqual(found["contestants"]["cub"], {"missing": "out of time"})

    def test_repetitions_are_bounded(self):
        self.assertEqual(contest.repetitions(0), contest.MAX_REPS)
        self.assertEqual(contest.repetitions(1e-9), contest.MAX_REPS)
        self.assertEqual(contest.repetitions(100), contest.MIN_REPS)

    def test_kernels_of_one_run_are_a_difference(self):
        before = [{"kernel": "inputs", "launches": 4, "seconds": 9.0},
                  {"kernel": "f.1", "launches": 1, "seconds": 0.5}]
        after = [{"kernel": "inputs", "launches": 4, "seconds": 9.5},
                 {"kernel": "f.1", "launches": 6, "seconds": 1.5},
                 {"kernel": "f.2", "launches": 5, "seconds": 0.5}]
        seconds, kernels = contestants.kernels_of_one_run(before, after, 5)
        self.assertAlmostEqual(seconds, 0.3)
        self.assertEqual([k["kernel"] for k in kernels], ["f.1", "f.2"])
        self.assertEqual(kernels[0]["launches"], 1)


    def test_refused_kernels_of_the_inputs_do_not_count(self):
        before = [{"kernel": "inputs", "reason": "r", "launches": 1}]
        after = [*before, {"kernel": "f.1", "reason": "r", "launches": 5}]
        self.assertEqual(contestants.refused_by_the_program(before, after), after[1:])


    def test_a_time_of_the_cpu_is_no_time_of_the_device(self):
        class Profiled(Fake):
            refused, seconds = [], 0.25

            def profiled(self, entry, parameters, reps):
                return self.seconds, [{"kernel": "f.1", "launches": 1, "seconds": 0.25}], self.refused

        def figures(nesl):
            made, ours = {}, {"wall_seconds": 1.0, "device_seconds": None, "device_missing": "no events"}
            contest._profile(entry("dot"), {}, nesl, made, ours)
            return ours

        nesl = Profiled("nesl", 1.0)
        self.assertEqual(figures(nesl)["device_seconds"], 0.25)
        nesl.refused = [{"kernel": "f.1", "reason": "r", "launches": 1}]
        self.assertIsNone(figures(nesl)["device_seconds"])
        nesl.refused, nesl.seconds = [], 0.0
        self.assertIsNone(figures(nesl)["device_seconds"])


class Ratios(unittest.TestCase):
    def test_the_fastest_peer_counts(self):
        found = result([row("dot", 3e-3, {"cublas": 2e-3, "thrust": 1e-3})])["programs"][0]
        self.assertEqual(found["ratios"]["device"]["best_peer"], "thrust")
        self.assertAlmostEqual(found["ratios"]["device"]["ratio"], 3.0)

    def test_a_peer_that_computes_something_else_does_not_count(self):
        found = result([row("dot", 3e-3, {"cublas": 2e-3, "thrust": 1e-3}, disagree=["thrust"])])["programs"][0]
        self.assertEqual(found["ratios"]["device"]["best_peer"], "cublas")

    def test_nothing_is_invented(self):
        found = result([row("dot", None, {"cublas": 2e-3})])["programs"][0]
        self.assertIsNone(found["ratios"]["device"]["ratio"])
        self.assertIsNone(found["bandwidth_share"])
        found = result([row("dot", 1e-3, {})])["programs"][0]
        self.assertEqual(found["ratios"]["device"]["missing"], "no peer was measured")

    def test_the_share_of_the_bandwidth(self):
        made = result([row("dot", 1e-3, {})], bandwidth=2.048e12)["programs"][0]
        self.assertAlmostEqual(made["bandwidth_share"], 0.5)
        self.assertIsNone(result([row("dot", 1e-3, {})], bandwidth=None)["programs"][0]["bandwidth_share"])

    def test_limits(self):
        rows = [row("dot", 1e-3, {}), row("scan-ints", 2e-3, {"cub": 1e-3}), row("sort-ints", 1e-3, {"cub": 1e-3})]
        limits = {limit["program"]: limit for limit in result(rows, bandwidth=1.024e12)["limits"]}
        self.assertAlmostEqual(limits["dot"]["value"], 1.0)
        self.assertTrue(limits["dot"]["met"])
        self.assertAlmostEqual(limits["scan-ints"]["value"], 2.0)
        self.assertFalse(limits["scan-ints"]["met"])
        self.assertTrue(limits["sort-ints"]["met"])
        self.assertIsNone(limits["triad"]["value"])
        self.assertEqual(limits["triad"]["missing"], "the program was not run")

    def test_the_slowest_compilation_counts(self):
        rows = [row("dot", 1e-3, {}), row("triad", 1e-3, {})]
        for made, seconds in zip(rows, (0.1, 0.2)):
            made["nesl_compile"] = {"cold_compile_seconds": seconds, "cached_compile_seconds": 0.001}
        cold, cached = result(rows)["limits"][-2:]
        self.assertEqual((cold["program"], cold["met"]), ("triad", False))
        self.assertTrue(cached["met"])
        self.assertEqual(result([])["limits"][-1]["missing"], "no compilation was measured")

    def test_a_missing_denominator_has_a_reason(self):
        limits = {limit["program"]: limit for limit in result([row("scan-ints", 2e-3, {})])["limits"]}
        self.assertEqual(limits["scan-ints"]["missing"], "cub: not measured")
        self.assertIsNone(limits["scan-ints"]["met"])

    def test_a_simulated_device_is_not_judged(self):
        made = result([row("dot", 1e-3, {})], device="Simulated H100")
        self.assertTrue(all(limit["met"] is None for limit in made["limits"]))
        self.assertIn("A simulated device", report.to_markdown(made))


class Printing(unittest.TestCase):
    def test_the_json_can_be_read_and_has_a_program_a_line(self):
        made = result([row("dot", 1e-3, {"cublas": 2e-3}), row("triad", 1e-3, {})])
        text = report.to_json(made)
        self.assertEqual(json.loads(text), json.loads(json.dumps(made)))
        self.assertEqual(sum(line.startswith(' {"program"') for line in text.splitlines()), 2)

    def test_the_json_without_programs_can_be_read(self):
        self.assertEqual(json.loads(report.to_json(result([])))["programs"], [])

    def test_the_table(self):
        made = result([row("dot", 1e-3, {"cublas": 2e-3}), row("triad", None, {"cuda": 1e-3})])
        text = report.to_markdown(made)
        self.assertIn("| dot | 1.00 | 2.00 |  | 0.50 | cublas | 51 % |", text)
        self.assertIn("| triad |  |  | 1.00 |  |  |  |", text)
        self.assertIn("- nesl: failed: a reason (triad)", text)
        for line in text.splitlines():
            self.assertEqual(line.startswith("|"), line.endswith("|"), line)

    def test_all_rows_of_a_table_have_the_same_number_of_cells(self):
        made = result([row("dot", 1e-3, {"cublas": 2e-3})])
        made["suite"] = {"recorded cases": {"passed": 1, "failed": 1, "not_run": 0, "failures": ["a | b\nc"]}}
        previous = None
        for line in report.to_markdown(made).splitlines():
            cells = line.replace("\\|", "").count("|") if line.startswith("|") else None
            if cells is not None and previous is not None:
                self.assertEqual(cells, previous, line)
            previous = cells

    def test_a_result_without_measurements_can_be_printed(self):
        class Asked:
            seconds, smoke, runtime = 1.0, False, "ptx"

        made = report.derive(run.header(Asked), catalogue.entries())
        self.assertIn("no device", report.to_markdown(made))


class Values(unittest.TestCase):
    def test_floats_may_differ_in_their_last_digits(self):
        self.assertTrue(suite.same_line("it = [1.0, 2.5E-7] : [float]", "it = [1.0000000000001, 2.5E-7] : [float]"))
        self.assertFalse(suite.same_line("it = 1.0 : float", "it = 1.1 : float"))

    def test_ints_and_texts_may_not(self):
        self.assertFalse(suite.same_line("it = 10000000001 : int", "it = 10000000002 : int"))
        self.assertFalse(suite.same_line('it = "a" : [char]', 'it = "b" : [char]'))

    def test_errors_must_have_the_same_places(self):
        text = "Runtime error: Divide by zero.\n   ╭─[ a.nesl:3:15 ]\n   │ 1 / x\nnote: called here\n"
        self.assertEqual(suite.errors_of(text), ["Runtime error: Divide by zero.", "╭─[ a.nesl:3:15 ]"])
        self.assertIsNone(suite.difference((1, "x", ["e"]), (1, "x", ["e"])))
        self.assertIn("errors", suite.difference((1, "x", ["e"]), (1, "x", ["f"])))
        self.assertIn("exit code", suite.difference((1, "x", []), (0, "x", [])))

    def test_items_beyond_the_time_are_counted(self):
        found = suite._all([("a", 1)], lambda _: None, run.Budget(-1), 1)
        self.assertEqual((found["passed"], found["not_run"]), (0, 1))

    def test_the_recorded_cases_are_read(self):
        self.assertGreater(len(suite.compare_cases(suite.ROOT / "tests/conformance")), 600)

    def test_a_test_program_is_summarised(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "testkit"
            program.write_text("#!/bin/sh\necho '7 cases executed, 2 refused'\n"
                               "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'\n")
            program.chmod(0o755)
            found = suite.testkit(program, 10)
            self.assertEqual((found["passed"], found["failed"], found["cases_executed"]), (3, 0, 7))
            program.write_text("#!/bin/sh\nkill -SEGV $$\n")
            self.assertEqual(suite.testkit(program, 10)["failed"], 1)
            program.write_text("#!/bin/sh\nsleep 20\n")
            self.assertEqual(suite.testkit(program, 0)["not_run"], 1)


class Files(unittest.TestCase):
    def test_every_program_has_its_files(self):
        names = [e.name for e in catalogue.entries()]
        self.assertEqual(len(names), len(set(names)))
        for e in catalogue.entries():
            self.assertTrue(catalogue.source(e.program.nesl).exists(), e.name)
            for program, _ in e.cuda.values():
                self.assertTrue((toolkit.SOURCES / f"{program}.cu").exists(), program)
            for limit in e.limits:
                self.assertTrue(not limit.against or limit.against in e.cuda, e.name)

    def test_replaced_programs_exist(self):
        known = {program.name for program in catalogue.bench.PROGRAMS}
        self.assertLessEqual(set(catalogue.REPLACED) | set(catalogue.SMOKE), known)

    def test_every_peer_parses(self):
        for path in [*HERE.glob("*.py"), *(HERE / "gpu_peers").glob("*.py")]:
            compile(path.read_text(), str(path), "exec")

    def test_a_library_that_is_not_there_is_absent(self):
        peer = contestants.PythonPeer("nonexistent", 30)
        with self.assertRaises(Absent):
            peer.prepare(entry("dot"), {})
        with self.assertRaises(Absent):
            peer.prepare(entry("dot"), {})

    def test_the_executable_of_a_test_is_found(self):
        lines = [json.dumps({"reason": "compiler-artifact", "target": {"name": "nesl"}, "executable": None}),
                 json.dumps({"reason": "compiler-artifact", "target": {"name": "device"},
                             "executable": "/x/device-1"})]
        self.assertEqual(lane.executable_of(lines, "device"), Path("/x/device-1"))

    def test_the_needed_glibc(self):
        self.assertEqual(lane.needed_glibc(b"GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0"), "2.34")
        self.assertEqual(lane.needed_glibc(b"nothing"), "none")

    def test_a_text_has_the_wanted_size(self):
        with tempfile.TemporaryDirectory() as folder:
            path = run.write_text(Path(folder) / "text", 5000)
            self.assertAlmostEqual(path.stat().st_size, 5000, delta=1)

    def test_nvcc_is_told_where_packages_have_libraries(self):
        made = toolkit.Toolkit.__new__(toolkit.Toolkit)
        made.nvcc, made.architecture, made.folder = "nvcc", "sm_90", Path("/x")
        words = made.command(toolkit.SOURCES / "dot.cu", ["/packages/cu13"])
        self.assertIn("-arch=sm_90", words)
        self.assertIn("-L/packages/cu13/lib", words)
        self.assertIn("-lcublas", words)
        self.assertFalse(any("cu13" in word for word in made.command(toolkit.SOURCES / "dot.cu", [])))


if __name__ == "__main__":
    # Processes that are killed leave pipes behind, which Python warns about.
    unittest.main(warnings="ignore")
