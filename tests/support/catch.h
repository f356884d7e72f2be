// Catch2 for the tests, the same words whether it is 2.x (Debian 12) or 3.x.
#pragma once
#ifdef LLMTOOL_CATCH3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
