#version 450
// pow_da: y = b a^(b - 1), 0 where b = 0 (BroadcastParams).
#extension GL_GOOGLE_include_directive : require
#define F(a, b) ((b) == 0.0 ? 0.0 : (b) * power(a, (b) - 1.0))
#include "broadcast.glsl"
