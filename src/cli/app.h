// The command line as a whole: subcommands, help, and how exceptions become exit codes. Not here: what a
// subcommand does.
#pragma once

namespace CLI {
class App;
}

namespace llmtool {

/// Parses, runs, reports. Returns the process's exit code.
int run_command_line(int argc, char** argv);

// Each adds its subcommand to the application; its callback does the work and throws what goes wrong.
void add_demo_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_generate_command(CLI::App& app);
void add_tokenize_command(CLI::App& app);
void add_eval_command(CLI::App& app);
void add_devices_command(CLI::App& app);
void add_bench_command(CLI::App& app);

}  // namespace llmtool
