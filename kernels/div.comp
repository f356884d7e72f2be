#version 450
// div: y = a / b (BroadcastParams).
#extension GL_GOOGLE_include_directive : require
#define F(a, b) quotient(a, b)
#include "broadcast.glsl"
