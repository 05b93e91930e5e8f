"""``python -m inversion``: its answers and its error messages."""

import colorsys
import json
import shlex

import pytest

from inversion.inverse_command import main

LINE = "lambda x, y, z: x*y + z"


def test_a_lambda_is_inverted_for_given_parameters(capsys):
    assert main([LINE, "--return", "5", "--theta", "1,2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "x = 2.0", "y = 2.0", "z = 1.0", "  with θ: z=1.0, v_x_y=2.0, left_x_y=False",
    ]  # fmt: skip


def test_known_arguments_leave_less_to_be_found(capsys):
    assert main([LINE, "--return", "5", "--known", "x=2", "--known", "z=1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "y = 2.0"


def test_a_seed_draws_the_same_parameters_again(capsys):
    shown = []
    for _ in range(2):
        assert main([LINE, "--return", "5", "--seed", "3"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    x, y, z = (float(line.partition("= ")[2]) for line in shown[0].splitlines()[:3])
    assert x * y + z == pytest.approx(5)


def test_without_the_result_the_function_runs_forward(capsys):
    assert main(["lambda x: math.exp(x)", "--known", "x=0.0"]) == 0
    assert capsys.readouterr().out == "return = 1.0\n"


def test_a_function_of_a_module_takes_types_and_tuples(capsys):
    yiq = colorsys.rgb_to_yiq(0.2, 0.6, 0.4)
    assert main(["colorsys:rgb_to_yiq", *["float"] * 3, "--return", str(yiq)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" = ")[0] for line in lines[:3]] == ["r", "g", "b"]
    found = [float(line.partition(" = ")[2]) for line in lines[:3]]
    assert found == pytest.approx((0.2, 0.6, 0.4))


def test_the_inverse_is_shown(capsys):
    assert main([LINE, "--return", "5", "--show"]) == 0
    assert "known return = v2; to find x, y, z" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lambda x: x +", "--return", "1"], "cannot read 'lambda x: x +'"),
        (["lambda x=1/0: x", "--return", "1"], "raises ZeroDivisionError: division by zero"),
        ([".nosuch:f", "--return", "1"], "'.nosuch:f' names nothing"),
        (["lambda x: x", "--return", "one"], "cannot read the value 'one'"),
        (["lambda x: str(x)", "int", "--return", "5a"], "text in two pairs of quotes: \"'5a'\""),
        (["lambda x: x", "--known", "x"], "names no value"),
        (["lambda x: x", "--known", "y=1"], "has no axis 'y'"),
        (["nosuch:f", "--return", "1"], "no module 'nosuch'"),
        (["x * y", "--return", "1"], "names no function"),
        (["colorsys", "--return", "1"], "functions there: rgb_to_yiq, yiq_to_rgb"),
        (["math:pi", "--return", "1"], "is not callable"),
        (["lambda x: 2*x", "--return", "nan"], "cannot read the value 'nan'"),
        (["lambda x, y: x*y", "--return", "1", "--theta", "1,2,3"], "2 coordinates"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_what_the_function_raises_is_told_with_its_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "raising.py").write_text("def f(x: float):\n    return x\n\n1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["raising:f", "--return", "1"]) == 2
    error = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in error
    assert "raising.py:4]" in error
    assert "Traceback" not in error


def test_text_is_written_in_quotes(capsys):
    assert main(["lambda x: str(x) + 'a'", "int", "--return", "'5a'"]) == 0
    assert capsys.readouterr().out == "x = 5\n"


def test_an_argument_with_a_default_is_known_by_name(tmp_path, monkeypatch, capsys):
    (tmp_path / "scaling.py").write_text("def f(x: float, k: float = 2.0):\n    return x + k\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["scaling:f", "--return", "5", "--known", "k=3"]) == 0
    assert capsys.readouterr().out == "x = 2.0\n"


def test_where_all_is_known_that_is_said(capsys):
    values = ["--known", "x=1", "--known", "y=2"]
    assert main(["lambda x, y: x + y", "--return", "3", *values]) == 0
    assert capsys.readouterr().out == "the values agree: nothing is left to find\n"
    assert main(["lambda x, y: x + y", "--return", "4", *values]) == 1


def test_no_solution_is_told_from_a_wrong_question(capsys):
    assert main(["lambda x: math.exp(x)", "--return", "-1"]) == 1
    assert "has no solution at return = -1.0" in capsys.readouterr().err


def test_parameters_are_asked_for_only_where_they_may_help(capsys):
    assert main(["lambda x: x * x", "--return", "-1"]) == 1
    said = capsys.readouterr().err
    assert "whatever θ" in said
    assert "with an answer" not in said
    assert main(["lambda x, y: x * x + y * y", "--return", "1", "--theta", "7"]) == 1
    assert "with an answer: θ: x=1.0" in capsys.readouterr().err


def test_without_parameters_a_solution_is_searched_for(capsys):
    assert main(["lambda x, y: x * x + y * y", "--return", "0.25"]) == 0
    assert "with θ: x=" in capsys.readouterr().out


def test_answers_are_printed_for_scripts(capsys):
    assert main([LINE, "--return", "5", "--known", "x=2", "--theta", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "arguments": {"y": 1.0, "z": 3.0},
        "theta": {"y": 1.0},
    }
    assert main(["lambda x: math.exp(x)", "--return", "-1", "--json"]) == 1
    printed = capsys.readouterr()
    refused = json.loads(printed.out)
    assert list(refused) == ["error", "where", "notes", "help"]
    assert "has no solution at return = -1.0" in refused["error"]
    assert all(list(note) == ["label", "text"] for note in refused["notes"])
    assert printed.err == ""
    assert main(["lambda x: math.exp(x)", "--show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    module = {"__name__": "shown"}
    exec(shown["source"], module)
    assert (shown["known"], shown["unknown"]) == (["return"], ["x"])
    assert module["inverse"](1.0) == (0.0,)


def test_a_traceback_is_shown_where_it_is_asked_for(capsys):
    assert main(["lambda x: x", "--return", "one"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["lambda x: x", "--return", "one", "--traceback"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_the_help_s_examples_run(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    name = "python -m inversion "
    lines = [line.strip() for line in shown.splitlines() if line.strip().startswith(name)]
    examples = [shlex.split(line.removeprefix(name).split("  ")[0]) for line in lines]
    assert len(examples) == 5
    for arguments in examples[:-1]:
        assert main(arguments) == 0
