"""Jupyter's own tests of kernels, with every area on, and a notebook from its first cell to its last.

`cargo xtask jupyter` runs them.
"""

import unittest

import jupyter_kernel_test
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

DRAWING = """
let bounds = ((0.0, 0.0), 1.0, 1.0);
    (window, box) = w_make_window_box(((0, 0), (200, 100)), bounds, "Points", w_white, display);
in w_draw_point((0.5, 0.5), w_black, box);
"""


class KernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "nesl"
    language_name = "nesl"
    file_extension = ".nesl"

    code_hello_world = 'print_string("hello, world");'
    code_stderr = 'write_string("to whom it concerns", stderr);'
    code_page_something = "plus_scan?"
    code_generate_error = "[1, 2, 3][7];"
    code_clear_output = 'print_string([code_char(27)] ++ "[2J");'
    code_inspect_sample = "sum"
    code_execute_result = [
        {"code": "{a * a : a in [1, 2, 3]};", "result": "[1, 4, 9] : [int]"},
        {"code": "sum([1, 2, 3]) + 1;", "result": "7 : int"},
        {"code": "sum([1.5])", "result": "1.5 : float"},
    ]
    code_display_data = [
        {"code": DRAWING, "mime": "image/svg+xml"},
        {"code": ":type [1.5]", "mime": "text/plain"},
    ]

    completion_samples = [
        {"text": "plus_sc", "matches": {"plus_scan"}},
        {"text": ":tim", "matches": {":time"}},
    ]
    complete_code_samples = ["1 + 1;", "1 + 1", "function twice(x) = x + x", ":time 1 + 1", "sum?"]
    incomplete_code_samples = ["function twice(x) =", "{a * a :", "let x = 1;", '"open']
    invalid_code_samples = ["1 + * 2", "x = 3 4 )"]

    code_history_pattern = "{a ? a*"
    supported_history_operations = ("tail", "range", "search")


class WelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "nesl"
    support_iopub_welcome = True


class NotebookTests(unittest.TestCase):
    """A notebook, as programs run it."""

    def run_cells(self, *sources, **options):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        notebook = nbformat.v4.new_notebook(cells=cells)
        client = NotebookClient(notebook, timeout=60, kernel_name="nesl", **options)
        try:
            client.execute()
        finally:
            self.outputs = [cell.outputs for cell in notebook.cells]
        nbformat.validate(notebook)
        return self.outputs

    def test_cells_see_those_above(self):
        outputs = self.run_cells("xs = [1, 2, 3];", "sum(xs)", 'print_string("done");')
        self.assertEqual(outputs[0][0]["data"]["text/plain"], "xs : [int]")
        self.assertEqual(outputs[1][0]["data"]["text/plain"], "6 : int")
        self.assertEqual(outputs[1][0]["output_type"], "execute_result")
        self.assertEqual(outputs[2][0]["text"], "done")

    def test_an_error_stops_the_notebook(self):
        with self.assertRaises(CellExecutionError) as raised:
            self.run_cells("1 / 0", "2")
        self.assertEqual(raised.exception.ename, "Runtime error")
        self.assertIn("In [1]:1:1", raised.exception.traceback)
        self.assertEqual(self.outputs[1], [])

    def test_progress_is_gone_in_the_end(self):
        wait = 'shell_command("sleep 1.2", "")'
        self.run_cells(f"{wait};", f':type 1\na = print_string("one"); b = {wait};', "function g(x) = x;")
        lines = [output["data"]["text/plain"] for output in self.outputs[0] if "data" in output]
        self.assertEqual(lines, ['"" : [char]'])
        kinds = [output["output_type"] for output in self.outputs[1]]
        self.assertEqual(kinds, ["display_data", "stream", "display_data", "display_data"])
        self.assertEqual(self.outputs[1][1]["text"], "one")


if __name__ == "__main__":
    unittest.main(verbosity=2)
