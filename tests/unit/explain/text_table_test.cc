// SPDX-License-Identifier: Apache-2.0
#include "src/explain/text_table.h"

#include <gmock/gmock.h>

namespace berth::explain {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCellAndHeadersStandOnTheLastLine) {
  TextTable table;
  table.AddColumn("NAME");
  table.AddColumn("Long\nHeader", TextTable::Align::kRight);
  table.AddColumn("LAST");
  table.AddRow({"a", "1", ""});
  table.AddRow({"longer name", "1234567", "x"});
  std::string out;
  table.Append("> ", out);
  EXPECT_EQ(out,
            ">                 Long\n"
            "> NAME          Header  LAST\n"
            "> a                  1\n"
            "> longer name  1234567  x\n");
}

TEST(TextTableTest, ControlCharactersOfCellsAreMadeVisible) {
  TextTable table;
  table.AddColumn("NAME");
  table.AddColumn("LAST");
  table.AddRow({"a\x1B[2J\n", "b"});
  std::string out;
  table.Append("", out);
  EXPECT_EQ(out,
            "NAME          LAST\n"
            "a\\x1b[2J\\x0a  b\n");
}

TEST(TextTableTest, PluginNamesAreWrappedBetweenTheirWords) {
  const struct {
    std::string_view name;
    std::string_view want;
  } cases[] = {
      {"", ""},
      {"NodeName", "NodeName"},
      {"NodeResourcesFit", "Node\nResources\nFit"},
      {"TaintToleration", "Taint\nToleration"},
      {"DRAManager", "DRAManager"},
      {"averyveryverylongname", "averyveryverylongname"},
  };
  for (const auto& c : cases) EXPECT_EQ(WrapPluginName(c.name), c.want);
}

TEST(TextTableTest, OneIsSingular) {
  EXPECT_EQ(Counted(0, "pod"), "0 pods");
  EXPECT_EQ(Counted(1, "pod"), "1 pod");
  EXPECT_EQ(Counted(2, "pod"), "2 pods");
}

}  // namespace
}  // namespace berth::explain
