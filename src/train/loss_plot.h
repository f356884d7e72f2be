// loss.svg: the losses of a run over its steps, as one picture that any browser shows. Not here: reports of
// several runs.
#pragma once
#include <span>
#include <string>

#include "train/metrics.h"

namespace llmtool {

/// Training and, where there is one, validation loss over steps; points that are not finite are left out.
std::string loss_svg(std::span<const LogLine> lines);

}  // namespace llmtool
