"""The options of `cgraph train`.

An option of the settings that is not given is None: then a checkpoint or a default decides, and the help says which
default.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cgraph.cli.train_setup import DEFAULTS, HALF_ON_DEVICES, HALF_ON_HOST, LEARNING_RATES, MOST_WARMUP
from cgraph.models.training.settings import HALVES, OPTIMIZERS, SCHEDULES, TOKEN_KINDS

Function = TypeVar("Function", bound=Callable[..., Any])

_COUNT = click.IntRange(min=0)
_SOME = click.IntRange(min=1)
_NUMBER = click.FloatRange(min=0)
_SHARE = click.FloatRange(min=0, max=1, max_open=True)
_RATES = ", ".join(f"{rate:g} for {name}" for name, rate in LEARNING_RATES.items())


def _setting(name: str, kind: Any, explanation: str, default: object = None) -> Callable[[Function], Function]:
    """An option whose value goes into the settings."""
    shown = DEFAULTS[name] if default is None else default
    option = f"--{name.replace('_', '-')}"
    return click.option(option, name, type=kind, default=None, help=f"{explanation}  [default: {shown}]")


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("file"),
    click.argument("more_texts", nargs=-1, metavar="[TEXT]..."),
    click.option("--text", "texts", multiple=True, required=True, metavar="TEXT", help="A text; more may follow it."),
    _setting("steps", _SOME, "Steps in all."),
    click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter's value."),
    _setting("optimizer", click.Choice(OPTIMIZERS), "Entry step or stepSgd."),
    _setting("learning_rate", _NUMBER, "The largest.", _RATES),
    _setting("warmup_steps", _COUNT, "Steps in which the rate rises.", f"a tenth of the steps, {MOST_WARMUP} at most"),
    _setting("schedule", click.Choice(SCHEDULES), "The rate after them; cosine falls to a tenth."),
    _setting("weight_decay", _NUMBER, "Of weights with two axes; adamw only."),
    _setting("beta1", _SHARE, "Of the first moment; adamw only."),
    _setting("beta2", _SHARE, "Of the second moment; adamw only."),
    _setting("epsilon", _NUMBER, "Added to the second moment's root; adamw only."),
    _setting("clip_norm", _NUMBER, "Largest global norm of the gradient; 0: no limit."),
    _setting(
        "half", click.Choice(HALVES), "What `half` stands for.", f"{HALF_ON_HOST} on the host, else {HALF_ON_DEVICES}"
    ),
    click.option("--device", "on", default="host", show_default=True, help="host, emulated, cuda or cuda:N."),
    _setting("tokens", click.Choice(TOKEN_KINDS), "What a token is."),
    _setting("evaluation_share", _SHARE, "Of the text, its end, kept for evaluation; 0: none."),
    _setting("evaluate_every", _COUNT, "Steps; 0: at the end only."),
    _setting("evaluate_batches", click.IntRange(1, 10_000), "Batches of an evaluation, always the same."),
    click.option("--sample-every", type=_COUNT, default=0, show_default=True, help="Steps; 0: at the end only."),
    click.option("--sample-length", type=_COUNT, default=200, show_default=True, help="Tokens; 0: no samples."),
    click.option("--prompt", default="", help="What a sample begins with.  [default: a line end]"),
    click.option("--temperature", type=_NUMBER, default=0.8, show_default=True, help="0: always the likeliest token."),
    click.option("--checkpoint", metavar="FILE", help="Where the run is kept, .safetensors."),
    _setting("checkpoint_every", _COUNT, "Steps; 0: at the end only."),
    click.option(
        "--resume", is_flag=False, flag_value="", metavar="[FILE]", help="Go on from FILE, or from --checkpoint."
    ),
    _setting("seed", _COUNT, "Of first weights, batches and samples."),
    click.option("--plot", "plots", multiple=True, metavar="FILE", help="The loss curves as .svg or .png; repeatable."),
    click.option("--log", metavar="FILE", help="One JSON object a line for each step, evaluation and sample."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end; lines go to stderr."),
)


def train_options(function: Function) -> Function:
    """FILE, texts, settings, and what is written where."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
