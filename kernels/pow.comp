#version 450
// pow: y = a^b, as C's pow (BroadcastParams).
#extension GL_GOOGLE_include_directive : require
#define F(a, b) power(a, b)
#include "broadcast.glsl"
