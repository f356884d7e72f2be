// llmtool's entry: all of it is in cli.
#include "cli/app.h"

int main(int argc, char** argv) { return llmtool::run_command_line(argc, argv); }
