# The version that --version prints is CMake's.
target_compile_definitions(llmtool_cli PRIVATE LLMTOOL_VERSION="${PROJECT_VERSION}")
