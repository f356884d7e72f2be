// Runs the executable as a user would: arguments, working directory, stdin; exit code, stdout and stderr
// apart. Not here: what is expected of it.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

struct Result {
  int code = -1;  ///< Exit code; 128 + signal if one ended it.
  std::string out, err;
};

struct Call {
  std::filesystem::path dir;             ///< Working directory.
  std::vector<std::string> environment;  ///< "NAME=value", over what the test has.
  std::string input;                     ///< stdin.
  std::string stdout_path;               ///< Where stdout goes instead of Result::out.
};

using Args = std::vector<std::string>;

/// A process that was started; stdout and stderr lie in files of its own until wait().
class Process {
 public:
  Process(const Call& call, const Args& args);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void signal(int number) const;
  std::string out_so_far() const;
  Result wait();

 private:
  std::filesystem::path scratch_;
  std::string stdout_path_;
  pid_t pid_ = -1;
};

/// Starts it and waits.
Result tool(const Call& call, const Args& args);
/// "train --set train.steps=3", cut at spaces.
Args words(const std::string& line);

std::string file_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
std::vector<std::string> lines_of(const std::string& text);
/// The line of `text` that holds `part`; empty if none does.
std::string line_with(const std::string& text, const std::string& part);
bool has(const std::string& text, const std::string& part);
/// The number behind `label` in `text`; NaN if it is not there.
double number_after(const std::string& text, const std::string& label);
