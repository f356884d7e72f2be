// Where element i of a 4-d array lies in an operand with strides of its own. Plans join dimensions that lie
// without gaps, so that constant 1 is how many are left: what is 1 or 2 dimensions costs no or one division
// instead of three.
#ifndef LLMTOOL_STRIDED_GLSL
#define LLMTOOL_STRIDED_GLSL

layout(constant_id = 1) const uint rank = 4u;

/// The coordinates of element i, last dimension fastest; those that rank leaves out are 0.
uvec4 coordinates(uint i, uint shape1, uint shape2, uint shape3) {
  if (rank <= 1u) return uvec4(0u, 0u, 0u, i);
  const uint row = i / shape3;
  const uint at3 = i - row * shape3;
  if (rank == 2u) return uvec4(0u, 0u, row, at3);
  const uint plane = row / shape2;
  const uint at2 = row - plane * shape2;
  if (rank == 3u) return uvec4(0u, plane, at2, at3);
  const uint at0 = plane / shape1;
  return uvec4(at0, plane - at0 * shape1, at2, at3);
}
#define COORDINATES(i, shape) coordinates(i, shape[1], shape[2], shape[3])
#define OFFSET(at, stride) (at.x * stride[0] + at.y * stride[1] + at.z * stride[2] + at.w * stride[3])

#endif
