// The factor that every gradient is larger by, so that f16 does not round small ones to 0.
#pragma once

#include "common.cuh"

// scale[1] (f32); a scale that was never set is 0 and counts as 1.
CG_DEVICE float loss_scale(const float* scale) {
    const float given = *scale;
    return given == 0.0f ? 1.0f : given;
}
