// What every compute shader starts from: the parameters of its launch, where its views begin, and how its
// buffers are declared. A shader defines PARAMS (its struct of params.h) and includes this. Not here: any kernel.
//
// Arguments are bound in the order of kernels.def, argument i at binding i. A buffer is bound at an offset the
// device allows, so element 0 of argument i is element SHIFT(i) of its buffer. An argument that was left out is
// bound to a few spare bytes and PRESENT(i) is false. READS, WRITES and UPDATES declare buffers; AT(i, name, e)
// is element e of an argument.
//
// Rules that keep a shader right on every driver: no thread returns before a barrier; sizes of a workgroup come
// from specialisation constants (constant 0 is the x size); a grid is at most 65,535 groups wide, so loops run
// over gl_NumWorkGroups; nothing depends on the size of a subgroup; a result never depends on which thread came
// first.
#extension GL_GOOGLE_include_directive : require
#include "params.h"

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;

layout(push_constant, std430) uniform Launch {
  PARAMS p;
  layout(offset = 96) Placement placement;
};

#define SHIFT(i) ((placement.shift[(i) / 4] >> (8 * ((i) % 4))) & 255u)
#define PRESENT(i) ((placement.present >> (i)) & 1u) != 0u

#define READS(i, type, name)                                       \
  layout(set = 0, binding = i, std430) readonly buffer Bound##i { \
    type name[];                                                   \
  }
#define WRITES(i, type, name)                                       \
  layout(set = 0, binding = i, std430) writeonly buffer Bound##i { \
    type name[];                                                    \
  }
#define UPDATES(i, type, name)                            \
  layout(set = 0, binding = i, std430) buffer Bound##i { \
    type name[];                                          \
  }
#define AT(i, name, e) name[SHIFT(i) + (e)]

// The first element of a flat loop of one element a thread, and the step to its next.
#define FLAT_BEGIN gl_GlobalInvocationID.x
#define FLAT_STEP (gl_NumWorkGroups.x * gl_WorkGroupSize.x)
