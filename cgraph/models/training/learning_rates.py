"""The learning rate of each step."""

import math

from cgraph.models.training.settings import TrainingSettings

# What is left of the learning rate at the end of the cosine.
LAST_SHARE = 0.1


def learning_rate(settings: TrainingSettings, step: int) -> float:
    """The learning rate of a step, counted from 0.

    It rises in equal parts over the warm-up steps: 1/warmup of it first, all of it in the last of them. After that it
    stays, or falls along half a cosine to a tenth (`LAST_SHARE`), which the step after the last would have.
    """
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    if settings.schedule == "constant":
        return settings.learning_rate
    done = (step - settings.warmup_steps) / max(1, settings.steps - settings.warmup_steps)
    return settings.learning_rate * (LAST_SHARE + (1 - LAST_SHARE) * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))
