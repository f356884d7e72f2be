// The bar: "training [=====>    ] 52% | loss 2.31 | 41.2k tok/s | 0:41 left", cut to the terminal's width.
#include "base/progress.h"

#include <algorithm>
#include <chrono>

#include "base/cat.h"
#include "base/log.h"
#include "base/terminal.h"
#include "base/utf8.h"

namespace llmtool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto redraw_every = std::chrono::milliseconds(100);

/// "0:41", "12:07" or "3:25:10".
std::string duration(double seconds) {
  const auto total = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 359999.0));
  const auto two = [](std::int64_t n) { return n < 10 ? cat('0', n) : cat(n); };
  const std::int64_t hours = total / 3600, minutes = total / 60 % 60;
  return hours > 0 ? cat(hours, ':', two(minutes), ':', two(total % 60)) : cat(minutes, ':', two(total % 60));
}

/// At most `columns` code points of `line`, never a part of one.
std::string cut(const std::string& line, int columns) {
  std::size_t at = 0;
  for (int column = 0; at < line.size() && column < columns; ++column) {
    at += static_cast<std::size_t>(std::max(decode_utf8(line, at).length, 1));
  }
  return line.substr(0, at);
}

}  // namespace

struct Progress::State {
  std::string what;
  std::uint64_t total = 0;
  bool enabled = false;
  Clock::time_point start = Clock::now();
  Clock::time_point last_draw = start - redraw_every;
  std::uint64_t first_done = 0;  // where the first update() stood: a resumed run does not start at 0
  Clock::time_point first_time = start;
  bool started = false;
};

Progress::Progress(std::string what, std::uint64_t total) : state_(std::make_unique<State>()) {
  state_->what = std::move(what);
  state_->total = total;
  state_->enabled = !quiet() && stderr_is_terminal();
}

Progress::~Progress() {
  if (state_->enabled) draw_status_line({});
}

void Progress::update(std::uint64_t done, const std::string& detail) {
  State& s = *state_;
  if (!s.enabled) return;
  const auto now = Clock::now();
  if (!s.started) {
    s.started = true;
    s.first_done = done;
    s.first_time = now;
  }
  if (now - s.last_draw < redraw_every) return;
  s.last_draw = now;
  const double fraction =
      s.total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(s.total));
  std::string tail = cat("] ", static_cast<int>(fraction * 100), "%");
  if (!detail.empty()) tail += " | " + detail;
  if (done > s.first_done && done <= s.total) {
    const double elapsed = std::chrono::duration<double>(now - s.first_time).count();
    const double per_unit = elapsed / static_cast<double>(done - s.first_done);
    tail += cat(" | ", duration(per_unit * static_cast<double>(s.total - done)), " left");
  }
  const int width = terminal_width() - 1;  // the last column stays free, or some terminals wrap
  const int room = width - static_cast<int>(s.what.size() + 2 + tail.size());
  const int cells = std::clamp(room, 0, 30);
  const int filled = static_cast<int>(fraction * cells);
  std::string bar;
  for (int i = 0; i < cells; ++i) bar += i < filled ? '=' : i == filled ? '>' : ' ';
  draw_status_line(cut(cat(s.what, " [", bar, tail), width));
}

void Progress::clear() {
  if (!state_->enabled) return;
  draw_status_line({});
  state_->last_draw = Clock::now() - redraw_every;
}

}  // namespace llmtool
