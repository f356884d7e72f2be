#version 450
// add: y = a + b (BroadcastParams).
#extension GL_GOOGLE_include_directive : require
#define F(a, b) ((a) + (b))
#include "broadcast.glsl"
