// Parsing, dispatch and exit codes; see app.h.
#include "cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <new>
#include <regex>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "cli/output.h"

namespace llmtool {

namespace {

constexpr int exit_world = 1, exit_request = 2, exit_interrupted = 130;

/// One line, whatever a path or a value put into it.
int report(const std::string& what, const std::string& hint, int code) {
  write_stderr("llmtool: error: " + printable(what) + "\n");
  if (!hint.empty()) write_stderr("llmtool: hint: " + printable(hint) + "\n");
  return code;
}

/// The innermost subcommand that was named, whose flags a misspelt one is compared with.
const CLI::App& deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// " train, encode, decode, inspect"
std::string subcommand_list(const CLI::App& command) {
  std::string list;
  for (const CLI::App* sub : command.get_subcommands({}))
    list += cat(list.empty() ? " " : ", ", sub->get_name());
  return list;
}

std::string unknown_argument(const CLI::App& app, const std::string& word) {
  const CLI::App& command = deepest(app);
  const bool flag = word.starts_with("-") && word.size() > 1;
  std::vector<std::string> names;
  if (flag) {
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else {
    for (const CLI::App* sub : command.get_subcommands({})) names.push_back(sub->get_name());
  }
  const std::string bare = word.substr(0, word.find('='));
  std::string message = flag            ? cat("unknown flag ", bare)
                        : names.empty() ? cat("unexpected argument '", word, "'")
                                        : cat("unknown subcommand '", word, "'");
  if (&command != &app) message += cat(" of ", command.get_name());
  if (const std::string near = nearest(bare, names); !near.empty())
    message += cat("; did you mean ", near, "?");
  else if (!flag && !names.empty())
    message += cat("; expected one of", subcommand_list(command));
  return message;
}

/// The sentences of CLI11 that name neither what was seen nor what would be right; others stay as they are.
std::string plain_words(const std::string& text) {
  std::smatch part;
  if (std::regex_match(text, part, std::regex("Could not convert: (--[^ ]+) = (.*)")))
    return cat(part[1].str(), " takes no value, got '", part[2].str(), "'");
  if (std::regex_match(text, part, std::regex("(-[^ :]+): 1 required ([^ ]+) missing")))
    return cat(part[1].str(), " needs a value: expected ", part[1].str(), " ", part[2].str());
  if (std::regex_match(text, part, std::regex("(-[^ :]+): At Most 1 required but received ([0-9]+)")))
    return cat(part[1].str(), " was given ", part[2].str(), " times: expected it once");
  return text;
}

/// CLI11's complaint in our words where ours are better, on one line.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = app.remaining(true);
    if (!rest.empty()) return unknown_argument(app, rest.front());
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      !deepest(app).get_subcommands({}).empty()) {
    const std::vector<std::string> rest = app.remaining(true);
    if (!rest.empty()) return unknown_argument(app, rest.front());
    return cat(deepest(app).get_name(), " needs a subcommand:", subcommand_list(deepest(app)));
  }
  std::string text = error.what();
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return plain_words(text);
}

/// An empty word for a file, folder or name is most often an unset shell variable: it must not count as "not
/// given" and quietly take the default.
void refuse_empty_names(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    if (type != "FILE" && type != "DIR" && type != "MODEL" && type != "NAME" && type != "T") continue;
    option->check(CLI::Validator(
        [option, type](const std::string& word) {
          if (!word.empty()) return std::string();
          throw request_error(cat(option->get_name(), " '' is empty: expected ",
                                  type == "NAME"  ? "a name"
                                  : type == "DIR" ? "a folder"
                                                  : "a path"));
        },
        {}));
  }
  for (CLI::App* sub : command.get_subcommands({})) refuse_empty_names(*sub);
}

/// A standard stream that was closed gets a descriptor that nothing can be written to: otherwise the first
/// file that is opened would take its number, and messages would land in it.
void hold_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF) (void)::open("/dev/null", O_RDONLY);
}

int run_application(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) print(app.help());
    close_output();
    return 0;
  } catch (const CLI::CallForHelp&) {
    print(app.help());  // of the subcommand that was named, under its full name
    return 0;
  } catch (const CLI::CallForVersion&) {
    print_line(app.version());
    return 0;
  } catch (const CLI::ParseError& error) {
    return report(parse_message(app, error), "see --help", exit_request);
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  hold_standard_streams();
  install_signal_handlers();
  try {
    CLI::App app("trains small GPTs on anyone's text and runs them", "llmtool");
    app.set_version_flag("--version", "llmtool " LLMTOOL_VERSION);
    app.set_help_flag("--help,-h", "print this help and exit");
    app.require_subcommand(0, 1);
    app.option_defaults()->always_capture_default(false);
    add_demo_command(app);
    add_train_command(app);
    add_generate_command(app);
    add_tokenize_command(app);
    add_eval_command(app);
    add_devices_command(app);
    add_bench_command(app);
    refuse_empty_names(app);
    return run_application(app, argc, argv);
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const Interrupted& e) {
    return report(e.what(), {}, exit_interrupted);
  } catch (const Error& e) {
    return report(e.what(), e.hint(), e.kind() == ErrorKind::request ? exit_request : exit_world);
  } catch (const InternalError& e) {
    return report(cat("internal: ", e.what()),
                  "this is a bug; please report it with the command that led here", exit_world);
  } catch (const std::bad_alloc&) {
    return report("out of memory", "use a smaller model, batch or block", exit_world);
  } catch (const std::exception& e) {
    return report(e.what(), {}, exit_world);
  }
}

}  // namespace llmtool
