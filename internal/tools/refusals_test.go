package tools

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
)

// slip is a failed edit of lines from to to of a file in testdata/refusals: the lines with a
// mistake that models make. The lines that it needs are those of the file.
type slip struct {
	name, file string
	from, to   int
	mistake    func(block string) string
}

// swap returns a mistake: each old text, which has to be there, is another.
func swap(pairs ...string) func(string) string {
	return func(s string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(s, pairs[i]) {
				panic(fmt.Sprintf("%q is not in\n%s", pairs[i], s))
			}
		}
		return strings.NewReplacer(pairs...).Replace(s)
	}
}

// also returns mistakes one after the other.
func also(mistakes ...func(string) string) func(string) string {
	return func(s string) string {
		for _, m := range mistakes {
			s = m(s)
		}
		return s
	}
}

// eachLine returns a mistake in every line.
func eachLine(f func(i int, l string) string) func(string) string {
	return func(s string) string {
		lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		for i, l := range lines {
			lines[i] = f(i, l)
		}
		return strings.Join(lines, "\n") + "\n"
	}
}

func numbers(first int, form string) func(string) string {
	return eachLine(func(i int, l string) string { return fmt.Sprintf(form, first+i, l) })
}

func quoted(s string) string { return strings.Trim(fmt.Sprintf("%q", s), `"`) }

var trim = eachLine(func(_ int, l string) string { return strings.TrimSpace(l) })

var joined = func(s string) string { return strings.Join(strings.Fields(s), " ") + "\n" }

// without returns a mistake: lines first to last of the block are missing.
func without(first, last int) func(string) string {
	return func(s string) string {
		lines := strings.SplitAfter(s, "\n")
		return strings.Join(append(lines[:first-1:first-1], lines[last:]...), "")
	}
}

// instead returns a mistake: one line in place of lines first to last of the block.
func instead(first, last int, line string) func(string) string {
	return func(s string) string {
		lines := strings.SplitAfter(s, "\n")
		return strings.Join(append(append(lines[:first-1:first-1], line+"\n"), lines[last:]...), "")
	}
}

var slips = []slip{
	{"tabs for blanks, and a wrong word", "report.py", 19, 25, swap("    ", "\t", "no region", "no such region")},
	{"blanks for tabs, and a wrong word", "table.c", 37, 45, swap("\t", "    ", "sum +=", "total +=")},
	{"indentation of two, and a wrong word", "report.py", 36, 41, swap("    ", "  ", "+ 18", "+ 20")},
	{"no indentation, and a wrong word", "report.py", 27, 31, also(trim, swap("is {amount", "was {amount"))},
	{"uneven indentation, and a wrong word", "Card.tsx", 35, 39, also(eachLine(func(i int, l string) string { return strings.Repeat(" ", i%3) + l }), swap("Remove\n", "Delete\n"))},
	{"nothing else than the first line's indentation", "server.go.txt", 23, 28, func(s string) string { return "x" + strings.TrimLeft(s, "\t") }},
	{"dots for the middle", "server.go.txt", 54, 70, instead(3, 12, "\t...")},
	{"dots in a comment for the middle", "server.go.txt", 40, 51, instead(4, 9, "\t// ... existing code ...")},
	{"dots for a long middle", "server.go.txt", 54, 102, instead(4, 45, "\t// ... rest of the function ...")},
	{"dots for attributes", "Card.tsx", 28, 34, instead(3, 3, `        <input type="number" ... />`)},
	{"dots at the end", "report.py", 19, 31, instead(5, 13, "                # ...")},
	{"numbers of a listing, and a wrong word", "table.c", 20, 29, also(numbers(20, "%d | %s"), swap("no room for", "no space for"))},
	{"numbers with an arrow, and a wrong word", "Card.tsx", 14, 18, also(numbers(14, "%6d→%s"), swap("Math.max(count, 1)", "Math.max(count, 0)"))},
	{"numbers of cat, and a line less", "report.py", 44, 51, also(without(4, 4), numbers(44, "%6d\t%s"))},
	{"numbers of grep that are not the file's", "deploy.yaml", 13, 19, numbers(31, "%d:%s")},
	{"encoded twice, and a wrong word", "report.py", 44, 48, also(quoted, swap("print(line)", "print(row)"))},
	{"escaped quotes in some places", "report.py", 20, 24, func(s string) string { return strings.Replace(s, `"`, `\"`, 3) }},
	{"escaped quotes, and a wrong word", "deploy.yaml", 9, 12, swap(`"`, `\"`, "30s", "15s")},
	{"doubled backslashes, and a wrong word", "report.py", 7, 7, swap(`\`, `\\`, "NUMBER", "AMOUNT")},
	{"backslashes lost", "table.c", 46, 49, swap(`\n`, "\n", `\t`, "\t")},
	{"backslashes lost in a pattern", "report.py", 7, 7, swap(`\`, "")},
	{"before an earlier edit", "server.go.txt", 40, 51, swap("limit := intParam(r, \"limit\", 50)\n", "limit := 50\n\tif v := r.URL.Query().Get(\"limit\"); v != \"\" {\n\t\tlimit, _ = strconv.Atoi(v)\n\t}\n", "Orders(ctx, limit)", "Orders(ctx, r.URL.Query())")},
	{"before a rename", "report.py", 13, 17, swap("currency", "unit", "sales", "rows")},
	{"before a version", "deploy.yaml", 2, 4, swap("4.2.0", "4.1.7")},
	{"before a line was wrapped", "table.c", 40, 43, joined},
	{"before lines were joined", "server.go.txt", 73, 73, swap("(w, ", "(\n\t\t\t\tw,\n\t\t\t\t", "item.Count), ", "item.Count),\n\t\t\t\t")},
	{"a changed name", "server.go.txt", 21, 27, swap("order(", "getOrder(")},
	{"a changed call", "Card.tsx", 32, 34, swap("onAdd(article, count)", "onAdd(article.id, count)")},
	{"a changed operator", "server.go.txt", 89, 92, swap(">", ">=")},
	{"a changed type", "Card.tsx", 4, 8, swap("count: number", "count?: number")},
	{"a changed number", "table.c", 4, 10, swap("64", "128", "32", "48")},
	{"upper case", "report.py", 33, 34, strings.ToUpper},
	{"single quotes", "report.py", 22, 27, swap(`"`, "'")},
	{"double quotes", "Card.tsx", 1, 2, swap(`'`, `"`)},
	{"semicolons too much", "report.py", 14, 17, eachLine(func(_ int, l string) string { return l + ";" })},
	{"semicolons lost", "Card.tsx", 11, 18, swap(";", "")},
	{"a comma lost", "table.c", 40, 43, swap("name,", "name")},
	{"a blank line lost", "table.c", 34, 38, swap("i;\n\n", "i;\n", "rows[i]", "row[i]")},
	{"a blank line lost in the middle", "server.go.txt", 55, 59, swap("\n\n", "\n")},
	{"blank lines too much", "deploy.yaml", 24, 28, swap("\n    volumes", "\n\n    volumes")},
	{"a blank line between each two", "report.py", 45, 48, eachLine(func(_ int, l string) string { return l + "\n" })},
	{"a comment dropped", "report.py", 22, 28, without(5, 5)},
	{"a comment at the end dropped", "table.c", 6, 10, swap("\t/* in cents */", "")},
	{"a comment above dropped, and a wrong word", "server.go.txt", 39, 43, also(without(1, 1), swap("50", "100"))},
	{"a comment made up", "server.go.txt", 45, 50, swap("\tif err", "\t// The store is down.\n\tif err")},
	{"a line made up", "Card.tsx", 40, 43, swap("</details>", "  <Reviews id={article.id} />\n      </details>")},
	{"a line dropped", "Card.tsx", 22, 27, without(3, 3)},
	{"lines in another order", "report.py", 2, 5, swap("csv", "re", "re\n", "csv\n")},
	{"lines of two places", "deploy.yaml", 20, 23, swap("worker\", \"--check", "pg_isready\", \"-q")},
	{"curly quotes, and a wrong word", "report.py", 10, 14, also(swap(`"`, "”"), swap("sales", "sums"))},
	{"straight quotes, and a wrong word", "notes.md", 3, 4, swap("“", `"`, "”", `"`, "’", "'", "now", "today")},
	{"a dash, and a wrong word", "notes.md", 3, 4, swap("–", "-", "Nothing", "Little")},
	{"a no-break space in the file, and a wrong word", "notes.md", 8, 9, swap(" ", " ", "second", "third")},
	{"a no-break space sent, and a wrong word", "deploy.yaml", 2, 5, swap(" ", "\u00a0", "web", "www")},
	{"a zero-width space sent, and a wrong word", "table.c", 46, 47, swap("(", "(\u200b", "sum", "all")},
	{"composed characters, and a wrong word", "notes.md", 10, 10, swap("e\u0301", "é", "bistros", "bars")},
	{"decomposed characters, and a wrong word", "notes.md", 9, 9, swap("ï", "i\u0308", "gone", "lost")},
	{"no accents", "notes.md", 1, 3, swap("é", "e", "fast", "slow")},
	{"lines joined", "report.py", 45, 46, joined},
	{"lines joined to a long one", "Card.tsx", 36, 38, func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n          ", "") + "\n" }},
	{"a line broken", "Card.tsx", 30, 30, swap(" value", "\n          value", " onChange", "\n          onChange")},
	{"entities, and a wrong word", "Card.tsx", 23, 24, func(s string) string { return html.EscapeString(strings.Replace(s, "100", "200", 1)) }},
	{"entities undone", "Card.tsx", 23, 25, html.UnescapeString},
	{"the first line cut, and a wrong word", "server.go.txt", 30, 34, func(s string) string { return strings.Replace(s[14:], "number", "id", 2) }},
	{"the last line cut, and a wrong word", "Card.tsx", 32, 32, func(s string) string { return strings.Replace(s[:90], "stock", "count", 1) }},
	{"CRLF, and a wrong word", "deploy.yaml", 24, 28, swap("\n", "\r\n", "16", "15")},
	{"blanks at line ends, and a wrong word", "table.c", 24, 28, swap("\n", "  \n", "price", "cost")},
	{"one wrong line at the end of many", "server.go.txt", 54, 102, swap("StatusCreated", "StatusOK")},
	{"one wrong line at the beginning of many", "server.go.txt", 54, 102, swap("create(", "insert(")},
	{"a wrong word here and there in many", "server.go.txt", 54, 102, swap("internal error", "server error")},
	{"every line of many", "server.go.txt", 54, 102, eachLine(func(_ int, l string) string { return l + " //" })},
	{"lines dropped from many", "server.go.txt", 54, 102, without(10, 35)},
	{"all but the ends rewritten", "server.go.txt", 71, 88, instead(2, 17, "\t\tif err := s.check(ctx, &o, item); err != nil {\n\t\t\treturn err\n\t\t}")},
	{"a long line", "notes.md", 14, 14, swap("at most 50", "at most 100")},
	{"a long line, and its neighbours", "notes.md", 12, 18, swap("at most 50", "at most 100")},
	{"a long line, cut", "notes.md", 14, 14, func(s string) string { return s[:120] + "...\n" }},
	{"another file's lines", "deploy.yaml", 1, 28, func(string) string { return "resource \"aws_instance\" \"bastion\" {\n  ami = var.ami\n}\n" }},
}

// TestRefusals has edits with each mistake refused: the message holds the lines of the file that
// the model needs, what differs within its first 1,500 bytes.
func TestRefusals(t *testing.T) {
	b := newBench(t, nil)
	b.ask.verdict = confirm.Verdict{Unasked: true} // a loose match is refused as well
	shown := 0
	for _, s := range slips {
		data, err := os.ReadFile("testdata/refusals/" + s.file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")[s.from-1 : s.to]
		block := strings.Join(lines, "")
		old := s.mistake(block)
		if strings.Contains(string(data), old) {
			t.Errorf("%s: %q is in the file", s.name, old)
		}
		good := true
		for _, ending := range []string{"LF", "CRLF"} {
			text := endLines(string(data), ending)
			b.write("f", text)
			for _, c := range []call{
				{"edit_file", m{"path": "f", "old_string": old, "new_string": "something else\n"}},
				{"patch", m{"path": "f", "diff": "<<<<<<< SEARCH\n" + strings.TrimSuffix(old, "\n") + "\n=======\nsomething else\n>>>>>>> REPLACE\n"}},
			} {
				res := b.call(c.tool, c.args)
				if !res.Failed || b.read("f") != text {
					t.Errorf("%s (%s, %s): was made", s.name, c.tool, ending)
				}
				if len(res.ForModel) > 4200 {
					t.Errorf("%s (%s): %d bytes", s.name, c.tool, len(res.ForModel))
				}
				if missing := s.missing(lines, old, res.ForModel); missing != "" {
					good = false
					t.Logf("%s (%s, %s): %d bytes lack %q:\n%s\nsent\n%s", s.name, c.tool, ending, len(res.ForModel), missing, res.ForModel, old)
				}
			}
		}
		if good {
			shown++
		}
	}
	t.Logf("%d of %d refusals show all lines", shown, len(slips))
	if shown != len(slips) {
		t.Errorf("%d of %d refusals show all lines", shown, len(slips))
	}
}

var anyNumber = regexp.MustCompile(`(?m)^[ +]?\d+ \| `)

// missing returns the first of lines that message lacks, or that differs from old and is only
// behind the message's first 1,500 bytes.
func (s slip) missing(lines []string, old, message string) string {
	has := func(message, l string) bool {
		for _, m := range strings.Split(anyNumber.ReplaceAllString(message, ""), "\n") {
			if m == strings.TrimSuffix(l, "\n") || m == edit.Visible(strings.TrimSuffix(l, "\n")) {
				return true
			}
		}
		return false
	}
	few := 0
	for _, l := range lines {
		if !strings.Contains(old, l) {
			few += len(l)
		}
	}
	for _, l := range lines {
		if !has(message, l) || few < 1000 && !strings.Contains(old, l) && !has(message[:min(len(message), 1500)], l) {
			return l
		}
	}
	return ""
}

// Of a text that is there several times, each place is shown with the lines that tell it apart.
func TestRefusalOfSeveralPlaces(t *testing.T) {
	data, err := os.ReadFile("testdata/refusals/server.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		old  string
		need []string
	}{
		{
			"\thttp.Error(w, \"internal error\", http.StatusInternalServerError)\n",
			[]string{`s.log.Error("read order", "number", number, "err", err)`, `s.log.Error("list orders", "limit", limit, "err", err)`, `s.log.Error("read price"`, `s.log.Error("insert order"`},
		},
		{
			"\tctx, cancel := context.WithTimeout(r.Context(), s.timeout)\n\tdefer cancel()\n",
			[]string{"// order returns the order", "func (s *Server) list(", "func (s *Server) create("},
		},
	} {
		for _, c := range (editCase{Old: tt.old, New: "\tx()\n"}).calls() {
			b := newBench(t, map[string]string{"f": string(data)})
			res := b.call(c.tool, c.args)
			if !res.Failed || !holdsAll(res.ForModel, tt.need) {
				t.Errorf("%s: %s", c.tool, res.ForModel)
			}
		}
	}
}
