// Starting the executable and waiting for it; see tool.h.
#include "cli/tool.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace {

void redirect(const std::string& path, int flags, int to) {
  const int fd = ::open(path.c_str(), flags, 0666);
  if (fd < 0 || ::dup2(fd, to) < 0) ::_exit(125);
  ::close(fd);
}

}  // namespace

Process::Process(const Call& call, const Args& args) {
  std::string name = (fs::temp_directory_path() / "llmtool-call-XXXXXX").native();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  scratch_ = name;
  write_text(scratch_ / "in", call.input);
  stdout_path_ = call.stdout_path.empty() ? (scratch_ / "out").native() : call.stdout_path;

  std::vector<std::string> all = {LLMTOOL_BINARY};
  all.insert(all.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& arg : all) argv.push_back(arg.data());
  argv.push_back(nullptr);
  const std::string in = (scratch_ / "in").native(), err = (scratch_ / "err").native();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  if (!call.dir.empty() && ::chdir(call.dir.c_str()) != 0) ::_exit(125);
  redirect(in, O_RDONLY, 0);
  redirect(stdout_path_, O_WRONLY | O_CREAT | O_TRUNC, 1);
  redirect(err, O_WRONLY | O_CREAT | O_TRUNC, 2);
  for (const std::string& variable : call.environment) {
    const std::size_t at = variable.find('=');
    ::setenv(variable.substr(0, at).c_str(), variable.substr(at + 1).c_str(), 1);
  }
  ::execv(argv[0], argv.data());
  ::_exit(126);
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

void Process::signal(int number) const { ::kill(pid_, number); }

std::string Process::out_so_far() const { return file_text(scratch_ / "out"); }

Result Process::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  Result result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = file_text(scratch_ / "out");
  result.err = file_text(scratch_ / "err");
  return result;
}

Result tool(const Call& call, const Args& args) { return Process(call, args).wait(); }

Args words(const std::string& line) {
  std::istringstream in(line);
  Args out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines_of(text))
    if (has(line, part)) return line;
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double number_after(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  return at == std::string::npos ? std::nan("") : std::strtod(text.c_str() + at + label.size(), nullptr);
}
