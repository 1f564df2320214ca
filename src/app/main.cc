// SPDX-License-Identifier: Apache-2.0
#include "src/app/app.h"

int main(int argc, char** argv) { return berth::app::Main(argc, argv); }
