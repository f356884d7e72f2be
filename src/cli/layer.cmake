# The version that --version prints is CMake's.
target_compile_definitions(llmtool_cli PRIVATE LLMTOOL_VERSION="${PROJECT_VERSION}")
# Nothing here is hot, and CLI11's templates are slow to optimise.
target_compile_options(llmtool_cli PRIVATE $<$<CONFIG:Release>:-O1>)
