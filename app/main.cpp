#include "app/commands.h"

int main(int argc, char** argv) { return perrin::run_program(argc, argv); }
