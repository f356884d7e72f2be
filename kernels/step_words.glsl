// Where the fields of StepParams and StepStats (params.h) lie, as words: their buffers are bound as arrays of
// floats or uints, whichever the kernel needs, since a view's SHIFT counts 32-bit words.
#ifndef LLMTOOL_STEP_WORDS_GLSL
#define LLMTOOL_STEP_WORDS_GLSL

// StepParams
const uint step_learning_rate = 0u;
const uint step_bias_correction1 = 1u;
const uint step_bias_correction2 = 2u;
const uint step_grad_clip = 3u;
const uint step_step = 6u;
const uint step_dropout_key0 = 7u;
const uint step_dropout_key1 = 8u;

// StepStats
const uint stats_loss = 0u;
const uint stats_grad_norm = 1u;
const uint stats_clip_scale = 2u;
const uint stats_non_finite = 3u;

#endif
