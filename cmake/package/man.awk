# SPDX-License-Identifier: Apache-2.0
# Makes a manual page of a page of reference: headings, paragraphs, and tables of which the first column
# names things and the last says what they mean.
#
# awk -v name=berth -v section=1 -v title='a Kubernetes scheduler' -v version=0.1.0 -v date=2026-01-31 -f man.awk docs/commands.md
function inline(text) {
  gsub(/\\/, "\\e", text)
  gsub(/\\e\*/, "*", text)
  gsub(/\\e\|/, "|", text)
  while (match(text, /\[[^]]*\]\([^)]*\)/)) {  # links: their text alone
    link = substr(text, RSTART, RLENGTH)
    sub(/^\[/, "", link)
    sub(/\]\([^)]*\)$/, "", link)
    text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
  }
  while (match(text, /`[^`]*`/))
    text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fR" substr(text, RSTART + RLENGTH)
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/-/, "\\-", text)
  if (text ~ /^[.']/) text = "\\&" text
  return text
}
BEGIN {
  printf ".TH %s %s %s \"Berth %s\" \"Berth\"\n.SH NAME\n%s \\- %s\n", toupper(name), section, date, version, name, title
  print ".SH DESCRIPTION"
}
/^<!--/ { comment = 1 }
comment { if (/-->/) comment = 0; next }
/^# / { next }
/^## / { print ".SH " toupper(inline(substr($0, 4))); next }
/^\*\*.*\*\*$/ { gsub(/\*\*/, ""); print ".SS " inline($0); next }
/^\| (Flag|Field) / || /^\| *-/ { next }
/^\| / {
  row = $0
  gsub(/\\\|/, "\001", row)  # a bar that is no border
  count = split(row, cells, /\|/)
  for (i in cells) { gsub(/^ +| +$/, "", cells[i]); gsub(/\001/, "|", cells[i]) }
  kind = ""
  if (count == 6) kind = ", " cells[3] (cells[4] == "" ? "" : ", default " cells[4])
  print ".TP\n" inline(cells[2]) inline(kind) "\n" inline(cells[count - 1])
  next
}
/^$/ { paragraph = 1; next }
{ if (paragraph) print ".PP"; paragraph = 0; print inline($0) }
END { print ".SH SEE ALSO\n" (section == 1 ? "\\fBberth\\-config\\fR(5)" : "\\fBberth\\fR(1)") }
