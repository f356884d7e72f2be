#version 450
// pow_scalar_backward: dx = dy a x^(a - 1), 0 where a = 0 (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define SLOPE(s) (p.a == 0.0 ? 0.0 : p.a * power(s, p.a - 1.0))
#include "unary_backward.glsl"
