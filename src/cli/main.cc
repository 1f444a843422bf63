#include "cli/run.h"

int main(int argc, char** argv) { return gemmsmith::RunCommandLine(argc, argv); }
