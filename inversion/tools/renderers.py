"""Registration of the renderers of programs, plans, inverses and solutions, by type."""

from inversion.planning.parameters import ParameterSpace
from inversion.planning.plan import Plan, PlanStep, Root
from inversion.program.shown import html_of, svg_of, text_of
from inversion.program.statements import Program
from inversion.solving.constraints import Paving
from inversion.solving.least_squares import Fit
from inversion.solving.solutions import SolutionBranch, Solutions
from inversion.tools.drawings import (
    of_branch,
    of_fit,
    of_inverse,
    of_parameters,
    of_paving,
    of_plan,
    of_program,
    of_solutions,
    plan_svg,
    program_svg,
)
from inversion.tools.formulas import formula_of, written_plan
from inversion.tools.readable import Readable

__all__ = ["register"]


def register() -> None:
    """Register a renderer for each type."""
    text_of.register(PlanStep, formula_of)
    text_of.register(Root, formula_of)
    text_of.register(Plan, written_plan)
    svg_of.register(Program, program_svg)
    svg_of.register(Plan, plan_svg)
    html_of.register(Program, of_program)
    html_of.register(Plan, of_plan)
    html_of.register(ParameterSpace, of_parameters)
    html_of.register(Readable, of_inverse)
    html_of.register(Solutions, of_solutions)
    html_of.register(SolutionBranch, of_branch)
    html_of.register(Fit, of_fit)
    html_of.register(Paving, of_paving)
