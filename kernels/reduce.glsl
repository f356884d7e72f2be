// Sums and maxima over a workgroup, in a tree whose shape depends on the number of threads alone. Every thread
// calls, every thread gets the result. The number of threads is a power of two (the plan sees to it).
shared float reduce_lane[gl_WorkGroupSize.x];

float reduce_sum(float value) {
  barrier();  // the reduction before has been read
  reduce_lane[gl_LocalInvocationID.x] = value;
  barrier();
  for (uint s = gl_WorkGroupSize.x / 2u; s > 0u; s /= 2u) {
    if (gl_LocalInvocationID.x < s) reduce_lane[gl_LocalInvocationID.x] += reduce_lane[gl_LocalInvocationID.x + s];
    barrier();
  }
  return reduce_lane[0];
}

float reduce_max(float value) {
  barrier();
  reduce_lane[gl_LocalInvocationID.x] = value;
  barrier();
  for (uint s = gl_WorkGroupSize.x / 2u; s > 0u; s /= 2u) {
    if (gl_LocalInvocationID.x < s) {
      const float a = reduce_lane[gl_LocalInvocationID.x], b = reduce_lane[gl_LocalInvocationID.x + s];
      reduce_lane[gl_LocalInvocationID.x] = b > a ? b : a;
    }
    barrier();
  }
  return reduce_lane[0];
}

// The rows and columns of this thread.
#define FOR_ROWS(r) for (uint r = gl_WorkGroupID.x; r < p.rows; r += gl_NumWorkGroups.x)
#define FOR_COLUMNS(c) for (uint c = gl_LocalInvocationID.x; c < p.cols; c += gl_WorkGroupSize.x)

// Below every float that takes part in a maximum.
const float lowest = -3.402823466e38;
