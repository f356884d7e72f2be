#version 450
// gelu: y = 0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3))) (UnaryParams).
#extension GL_GOOGLE_include_directive : require
#define F(x) gelu(x)
#include "unary.glsl"
