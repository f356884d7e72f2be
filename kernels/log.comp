#version 450
// log: y = ln x (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) log_of(x)
#include "unary.glsl"
