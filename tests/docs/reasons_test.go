// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// reason is a row of docs/reasons.md.
type reason struct {
	folder string // of the plugin; "" for what the scheduler itself says
	text   string
	codes  []string
}

const (
	reasonsPage = "docs/reasons.md"
	// Headings that name no plugin.
	aroundReasons, legacyReasons = "The message around them", "Plugins of older releases"
)

func reasonRows(t *testing.T) (rows []reason) {
	t.Helper()
	folder := ""
	for line := range strings.Lines(read(t, reasonsPage)) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			switch heading {
			case aroundReasons:
				folder = ""
			case legacyReasons:
				folder = "legacy"
			default:
				folder = strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(heading, "${1}_$2"))
			}
		}
		cells := strings.Split(line, " | ")
		text := regexp.MustCompile("^\\| `([^`]+)`$").FindStringSubmatch(cells[0])
		if text == nil {
			continue
		}
		row := reason{folder: folder, text: text[1]}
		if folder != "" {
			row.codes = strings.Split(cells[1], ", ")
		}
		if want := map[bool]int{true: 3, false: 4}[folder == ""]; len(cells) != want || slices.Contains(cells, "") {
			t.Errorf("%s: %q has not %d cells, each with a text", reasonsPage, row.text, want)
		}
		rows = append(rows, row)
	}
	if len(rows) < 50 {
		t.Fatalf("%s has only %d reasons", reasonsPage, len(rows))
	}
	return rows
}

// plain is the text without the quotes around names, of which the page has none.
func plain(text string) string { return strings.ReplaceAll(text, `"`, "") }

// cppSource is what a C++ file says, without comments, literals that follow each other made one.
func cppSource(t *testing.T, file string) string {
	t.Helper()
	text := regexp.MustCompile(`(?m)^\s*//.*$|^#include.*$`).ReplaceAllString(read(t, file), "")
	return regexp.MustCompile(`([^\\])"\s+"`).ReplaceAllString(text, "$1")
}

var cppLiteral = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// plugin is what the sources of a folder of plugins/ say, by file.
type plugin struct {
	sources map[string]string
	// The texts of kSuch, also of a list, by the file's name without extension, then by theirs.
	constants map[string]map[string][]string
}

func stem(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

func readPlugin(t *testing.T, folder string) plugin {
	t.Helper()
	p := plugin{sources: map[string]string{}, constants: map[string]map[string][]string{}}
	for _, pattern := range []string{"*.h", "*.cc", "*/*.h", "*/*.cc"} {
		files, err := filepath.Glob(filepath.Join(root, "plugins", folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, _ := filepath.Rel(root, file)
			source := cppSource(t, name)
			short := strings.TrimPrefix(name, "plugins/"+folder+"/")
			p.sources[short] = source
			if p.constants[stem(short)] == nil {
				p.constants[stem(short)] = map[string][]string{}
			}
			constant := regexp.MustCompile(`constexpr std::string_view (k\w+)(?:\[\])? =\s*([^;]*);`)
			for _, m := range constant.FindAllStringSubmatch(source, -1) {
				p.constants[stem(short)][m[1]] = literals(m[2])
			}
		}
	}
	return p
}

func literals(code string) (found []string) {
	for _, m := range cppLiteral.FindAllString(code, -1) {
		if text, err := strconv.Unquote(m); err == nil {
			found = append(found, text)
		}
	}
	return found
}

// texts are the literals of an expression in a file, and those of the constants that it names: the
// file's own, or its header's, before those of other files.
func (p plugin) texts(file, expression string) (found []string) {
	found = literals(expression)
	for _, name := range regexp.MustCompile(`\bk[A-Z]\w*`).FindAllString(cppLiteral.ReplaceAllString(expression, ""), -1) {
		texts, ok := p.constants[stem(file)][name]
		for _, other := range slices.Sorted(maps.Keys(p.constants)) {
			if !ok {
				texts, ok = p.constants[other][name]
			}
		}
		found = append(found, texts...)
	}
	return slices.DeleteFunc(found, func(text string) bool { return !regexp.MustCompile(`\w{2}`).MatchString(text) })
}

// rejection is a place where a plugin makes a status that keeps a pod waiting.
type rejection struct {
	file, expression string
	codes            []string
	texts            []string
}

// rejections are the calls of ReasonStore::Make with such a code, and of a loadable plugin's Status.
func (p plugin) rejections() (found []rejection) {
	status := regexp.MustCompile(`\bStatus::(Unschedulable|UnschedulableAndUnresolvable|Pending)\(`)
	for file, source := range p.sources {
		for _, at := range status.FindAllStringSubmatchIndex(source, -1) {
			expression, _ := argument(source[at[1]:])
			found = append(found, rejection{
				file: file, expression: strings.Join(strings.Fields(expression), " "),
				codes: []string{source[at[2]:at[3]]}, texts: p.texts(file, expression),
			})
		}
		for _, at := range regexp.MustCompile(`\bMake\(`).FindAllStringIndex(source, -1) {
			code, rest := argument(source[at[1]:])
			expression, _ := argument(rest)
			r := rejection{file: file, expression: strings.Join(strings.Fields(expression), " ")}
			for _, m := range regexp.MustCompile(`\bCode::k(\w+)`).FindAllStringSubmatch(code, -1) {
				if m[1] != "Success" && m[1] != "Error" {
					r.codes = append(r.codes, m[1])
				}
			}
			// A code that was chosen before.
			if variable := regexp.MustCompile(`\bcode$`).MatchString(strings.TrimSpace(code)); len(r.codes) > 0 || variable {
				r.texts = p.texts(file, expression)
				found = append(found, r)
			}
		}
	}
	return found
}

// argument is the first of a call's arguments that are left, and what comes after it.
func argument(code string) (first, rest string) {
	depth, quoted := 0, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case depth == 0 && (c == ')' || c == ','):
			return code[:i], code[i+1:]
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return code, ""
}

// indirect says where the texts of a rejection are that names none itself: in the statements of a file
// that begin as the pattern says. Keys are folder, and the expression. A file is one of the folder's, by its path there, or
// another, by its path from the project's root.
var indirect = map[string][]struct{ file, begins string }{
	"default_preemption std::string(kPrefix) + std::string(message)": {
		{"default_preemption.cc", `\bReject\(`}, {"default_preemption.cc", `return "not eligible`}},
	"default_preemption std::string(kPrefix) + result.status.message()": {{"group_preemption.cc", `\bMake\(Code::kUnsched`}},
	"dynamic_resources claims.error().message":                          {{"device_claims.cc", `return Fail\("(?:pod|could|resourceclaim)|return Error\{`}},
	"dynamic_resources text":                                            {{"dynamic_resources.cc", `return rejected\(`}},
	"dynamic_resources reasons": {
		{"node_verdict.cc", `return \{kNever`}, {"allocator/search.h", `kInvalidPoolsMessage =`},
		{"node_allocatable.cc", `reasons\.push_back\(|return "node alloc`}, {"src/sdk/resources.cc", `return TooLittle\(|std::string text\("pod level`}},
	"dynamic_resources done": {{"post_filter.cc", `return "`}},
	"node_resources_fit ReasonsOnNode(on_node.checks, node, handle_->resource_names())": {
		{"node_resources_fit.cc", `kTooManyPods =`}, {"node_resources_fit.cc", `[("]Insufficient `}},
	"node_volume_limits problem.message": {{"attached_volumes.cc", `return \{"looking up`}},
	"relocation std::string(kPrefix) + std::string(message)": {
		{"relocation.cc", `\bReject\(`}, {"relocation.cc", `\bawait\(`}, {"relocation.cc", `\bwhy = "`}, {"relocation.cc", `return "not eligible`}},
	`relocation "pod group relocation: " + std::string(why)`: {
		{"group_relocation.cc", `\bawait\(`}, {"group_relocation.cc", `\brefuse\(`}, {"group_relocation.cc", `\bwhy = "`},
		{"group_relocation.cc", `\bRejectGroup\(state, "`}},
	"scheduling_gates text + \"]\"":           {{"scheduling_gates.h", `std::string text =`}},
	"volume_binding ReasonsOf(bits)":          {{"find_volumes.cc", `kReasons\[\] =`}},
	"volume_binding *problem":                 {{"pod_claims.cc", `return "(?:persistentvolumeclaim|waiting|PVC) `}},
	"volume_restrictions ClaimNotFound(name)": {{"plugins/shared/pod_claims.h", `return "persistentvolumeclaim`}},
	"volume_zone problem":                     {{"volume_zone.cc", `return "\w`}},
}

// resolve adds the texts of indirect rejections.
func (p plugin) resolve(t *testing.T, folder string, r *rejection) {
	t.Helper()
	places, ok := indirect[folder+" "+r.expression]
	if !ok && len(r.texts) == 0 {
		t.Errorf("plugins/%s/%s: where are the texts of Make(..., %s)? Say so in `indirect`", folder, r.file, r.expression)
	}
	for _, place := range places {
		source, ok := p.sources[place.file]
		if !ok {
			source = cppSource(t, place.file)
		}
		found := 0
		for _, at := range regexp.MustCompile(place.begins).FindAllStringIndex(source, -1) {
			statement, _, _ := strings.Cut(source[at[0]:], ";")
			texts := p.texts(place.file, statement)
			found += len(texts)
			r.texts = append(r.texts, texts...)
		}
		if found == 0 {
			t.Errorf("%s: %s has no text after %s", folder, place.file, place.begins)
		}
	}
}

// TestEveryReasonHasItsRow looks for each text that a plugin rejects pods with, and its code.
func TestEveryReasonHasItsRow(t *testing.T) {
	rows := reasonRows(t)
	checked := 0
	for _, folder := range folders(t, "plugins") {
		if folder == "examples" {
			continue
		}
		p := readPlugin(t, folder)
		for _, r := range p.rejections() {
			p.resolve(t, folder, &r)
			for _, text := range r.texts {
				checked++
				var codes []string
				found := false
				for _, row := range rows {
					if row.folder == folder && strings.Contains(plain(row.text), strings.TrimSpace(plain(text))) {
						found = true
						codes = append(codes, row.codes...)
					}
				}
				if !found {
					t.Errorf("%s lacks %q of plugins/%s/%s", reasonsPage, text, folder, r.file)
					continue
				}
				// Where there are several codes, one of them goes with this text.
				if len(r.codes) > 0 && !slices.ContainsFunc(r.codes, func(code string) bool { return slices.Contains(codes, code) }) {
					t.Errorf("%s: %q of plugins/%s/%s is %v, not %v", reasonsPage, text, folder, r.file, r.codes, codes)
				}
			}
		}
	}
	if checked < 80 {
		t.Errorf("only %d texts were found in the plugins", checked)
	}
}

// covered tells whether the text is within one of the literals, or made of the ends of several and of
// signs between them.
func covered(text string, among []string) bool {
	for _, literal := range among {
		if strings.Contains(literal, text) {
			return true
		}
	}
	sign := regexp.MustCompile(`^\W+$`)
	for i := len(text) - 1; i > 0; i-- {
		first := func(literal string) bool {
			return i > 4 && strings.HasSuffix(literal, text[:i]) || literal == text[:i] && sign.MatchString(literal)
		}
		if slices.ContainsFunc(among, first) && covered(text[i:], among) {
			return true
		}
	}
	return false
}

var placeholder = regexp.MustCompile(`<\w+>`)

// TestEveryRowIsAReason looks for each row's text in the sources.
func TestEveryRowIsAReason(t *testing.T) {
	var shared []string
	addTree := func(dir string, to *[]string) {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && slices.Contains([]string{".h", ".cc"}, filepath.Ext(path)) {
				name, _ := filepath.Rel(root, path)
				for _, literal := range literals(cppSource(t, name)) {
					*to = append(*to, plain(literal))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	addTree("src/sdk", &shared)
	addTree("plugins/shared", &shared)
	of := map[string][]string{}
	for _, row := range reasonRows(t) {
		if _, ok := of[row.folder]; !ok {
			var own []string
			if row.folder == "" {
				addTree("src", &own)
			}
			addTree(filepath.Join("plugins", row.folder), &own)
			of[row.folder] = own
		}
		among := slices.Concat(of[row.folder], shared)
		for _, part := range placeholder.Split(plain(row.text), -1) {
			if part = strings.TrimSpace(part); regexp.MustCompile(`\w`).MatchString(part) && !covered(part, among) {
				t.Errorf("%s: no source of plugins/%s says %q of %q", reasonsPage, row.folder, part, row.text)
			}
		}
	}
}

// TestReasonsOfTheScenariosHaveTheirRows takes those that stories expect of a node.
func TestReasonsOfTheScenariosHaveTheirRows(t *testing.T) {
	var patterns []*regexp.Regexp
	for _, row := range reasonRows(t) {
		quoted := placeholder.ReplaceAllString(regexp.QuoteMeta(plain(row.text)), ".+")
		patterns = append(patterns, regexp.MustCompile("^"+quoted+"$"))
	}
	stories, err := filepath.Glob(filepath.Join(root, "tests/scenarios/*/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, story := range stories {
		name, _ := filepath.Rel(root, story)
		for _, list := range regexp.MustCompile(`\breasons: (\[[^\]]*\])`).FindAllStringSubmatch(read(t, name), -1) {
			var reasons []string
			if err := yaml.Unmarshal([]byte(list[1]), &reasons); err != nil {
				t.Fatalf("%s: %s: %v", name, list[1], err)
			}
			for _, text := range reasons {
				checked++
				known := slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(plain(text)) })
				// The runner's word for nodes that a PreFilter left out.
				if !known && text != "prefilter" {
					t.Errorf("%s expects %q, which %s does not have", name, text, reasonsPage)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d reasons were found in scenarios", checked)
	}
}
