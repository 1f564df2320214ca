# SPDX-License-Identifier: Apache-2.0
# Of a profile in LLVM's text form: the functions of which some branch was taken at least `least` times.
BEGIN {
  RS = ""
  FS = "\n"
  print ":ir\n"
}
{
  sub(/^(# IR level Instrumentation Flag\n)?:ir\n/, "")
  counts = 0
  for (i = 1; i <= NF; ++i) {
    if ($i == "# Counter Values:") {
      counts = 1
    } else if (counts && $i !~ /^[0-9]+$/) {
      next
    } else if (counts && $i + 0 >= least) {
      print $0 "\n"
      next
    }
  }
}
