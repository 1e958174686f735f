"""What the probe asks of a kernel, in the languages of the kernels that it knows."""

PYTHON = {
    "value": ("1 + 1", "2"),
    "define": "kept_by_probe = 17",
    "use": ("kept_by_probe", "17"),
    "expressions": {"good": "1 + 1", "bad": "no_such_name_of_probe"},
    "error": "1\n[1, 2, 3][7]",
    "error_line": "2",
    "stdout": "print('out of probe')",
    "stderr": "import sys; print('errors of probe', file=sys.stderr)",
    "order": "import sys\nfor i in range(20): print(i); sys.stdout.flush()",
    "flood": "for i in range(400000): print('x' * 99)",
    "endless_print": "while True: print('x' * 99)",
    "busy": "i = 0\nwhile True: i += 1",
    "wait": "import time; time.sleep({seconds})",
    "input": "print('got ' + input('who? '))",
    "display": "from IPython.display import display\ndisplay('shown by probe')",
    "update": "from IPython.display import display\n"
    "h = display('first', display_id=True)\nh.update('second')",
    "clear": "from IPython.display import clear_output\nclear_output()",
    "complete": ("kept_by_pr", "kept_by_probe"),
    "inspect_before": "def doubled(x):\n    'Twice.'\n    return 2 * x",
    "inspect": "doubled",
    "complete_code": ["1 + 1", "def f(x):\n    return x\n"],
    "incomplete_code": ["def f(x):", "(1,"],
    "invalid_code": ["1 + * 2"],
}

NESL = {
    "value": ("1 + 1", "2"),
    "define": "kept_by_probe = 17;",
    "use": ("kept_by_probe", "17"),
    "expressions": {"good": "1 + 1", "bad": "no_such_name_of_probe"},
    "error": "1;\n[1, 2, 3][7]",
    "error_line": "2",
    "stdout": 'print_line("out of probe")',
    "stderr": 'write_string("errors of probe", stderr)',
    "order": "function say(i) = if i == 20 then t else "
    "let _ = print_line(@i) in say(i + 1);\nsay(0)",
    "flood": "function flood(i) = if i == 400000 then t else "
    "let _ = print_line(\"" + "x" * 99 + '") in flood(i + 1);\nflood(0)',
    "endless_print": "function forever(i) = "
    "let _ = print_line(\"" + "x" * 99 + '") in forever(i + 1);\nforever(0)',
    "busy": "function turn(n) = turn(n + 1); turn(0)",
    # There is no clock to wait for: what takes long is stopped once it was watched.
    "wait": None,
    "input": 'print_line("got " ++ prompt("who? "))',
    "display": "1; 2",
    # A picture that was shown is updated where it stands.
    "update_before": "(window, box) = w_make_window_box(((0, 0), (200, 100)), "
    '((0.0, 0.0), 1.0, 1.0), "Points", w_white, display);\n'
    "w_draw_point((0.5, 0.5), w_black, box)",
    "update": "w_draw_point((0.25, 0.25), w_black, box)",
    "clear": 'print_string([code_char(27)] ++ "[2J")',
    "complete": ("kept_by_pr", "kept_by_probe"),
    "inspect_before": "function doubled(x) = 2 * x",
    "inspect": "doubled",
    "complete_code": ["1 + 1", "function twice(x) = x"],
    "incomplete_code": ["function twice(x) =", "{a * a :"],
    "invalid_code": ["1 + * 2"],
}

TYPESCRIPT = {
    "value": ("1 + 1", "2"),
    "define": "const kept_by_probe = 17",
    "use": ("kept_by_probe", "17"),
    "expressions": {"good": "1 + 1", "bad": "no_such_name_of_probe"},
    "error": '1;\nthrow new Error("wrong")',
    "error_line": "2",
    "stdout": 'console.log("out of probe")',
    "stderr": 'console.error("errors of probe")',
    "order": "for (let i = 0; i < 20; i++) console.log(String(i))",
    "flood": "for (let i = 0; i < 400000; i++) console.log('x'.repeat(99))",
    "endless_print": "while (true) console.log('x'.repeat(99))",
    "busy": "let i = 0; while (true) i++",
    "wait": "await new Promise(done => setTimeout(done, {seconds} * 1000))",
    "input": "console.log('got ' + prompt('who? '))",
    "display": "await Deno.jupyter.display({'text/plain': 'shown by probe'}, {raw: true})",
    "update": "await Deno.jupyter.broadcast('display_data', {data: {'text/plain': 'first'}, "
    "metadata: {}, transient: {display_id: 'p'}});\n"
    "await Deno.jupyter.broadcast('update_display_data', {data: {'text/plain': 'second'}, "
    "metadata: {}, transient: {display_id: 'p'}})",
    "clear": "await Deno.jupyter.broadcast('clear_output', {wait: false})",
    "complete": ("kept_by_pr", "kept_by_probe"),
    "inspect": "parseInt",
    "complete_code": ["1 + 1", "function f(x) { return x }"],
    "incomplete_code": ["function f(x) {", "(1,"],
    "invalid_code": ["1 + * 2"],
}

BASH = {
    "value": ("echo 2", "2"),
    "define": "kept_by_probe=17",
    "use": ("echo $kept_by_probe", "17"),
    "expressions": {"good": "echo 2", "bad": "no_such_name_of_probe"},
    "error": "true\nno_such_name_of_probe",
    "error_line": "2",
    "stdout": "echo out of probe",
    "stderr": "echo errors of probe >&2",
    "order": "for i in $(seq 0 19); do echo $i; done",
    "flood": "yes $(printf 'x%.0s' $(seq 99)) | head -n 400000",
    "endless_print": "yes $(printf 'x%.0s' $(seq 99))",
    "busy": "while true; do :; done",
    "wait": "sleep {seconds}",
    "input": "read -p 'who? ' who; echo got $who",
    "display": None,
    "update": None,
    "clear": None,
    "complete": ("kept_by_pr", "kept_by_probe"),
    "inspect": "ls",
    "complete_code": ["echo 2"],
    "incomplete_code": ["if true; then"],
    "invalid_code": [")"],
}

LANGUAGES = {"python": PYTHON, "nesl": NESL, "typescript": TYPESCRIPT, "bash": BASH}
