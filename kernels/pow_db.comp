#version 450
// pow_db: y = a^b ln a, 0 where a <= 0 (BroadcastParams).
#extension GL_GOOGLE_include_directive : require
#define F(a, b) ((a) <= 0.0 ? 0.0 : power(a, b) * log_of(a))
#include "broadcast.glsl"
