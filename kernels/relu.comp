#version 450
// relu: y = x where x > 0, else 0; NaN stays (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) (is_nan(x) || (x) > 0.0 ? (x) : 0.0)
#include "unary.glsl"
