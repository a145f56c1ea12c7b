"""Words for verdicts of comparisons."""

from cgraph.core.comparison import Fails


def describe_counterexample(verdict: Fails) -> str:
    """For which sizes it fails, e.g. `for example for cgSeq = 1, cgWidth = 2`; "" where it fails for all."""
    if not verdict.counterexample:
        return ""
    pairs = (f"{symbol.name} = {value}" for symbol, value in sorted(verdict.counterexample.items()))
    return "for example for " + ", ".join(pairs)


def explain_sizes(verdict: Fails) -> str:
    """For which sizes a plane does not have what is needed, and both numbers then; "" where it fails for all."""
    where = describe_counterexample(verdict)
    return where and f"{where}: it has {verdict.left}, and {verdict.right} are needed"
