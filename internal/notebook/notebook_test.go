package notebook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// book returns a notebook of nbformat 4.minor as Jupyter writes it: a blank as indentation, keys
// in order, a newline at the end.
func book(minor int) string {
	id := func(name string) string {
		if minor < 5 {
			return ""
		}
		return "   \"id\": \"" + name + "\",\n"
	}
	return `{
 "cells": [
  {
   "cell_type": "markdown",
` + id("intro") + `   "metadata": {},
   "source": [
    "# Title\n",
    "äöü <b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
` + id("sum") + `   "metadata": {
    "tags": [ "odd",   "space" ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "3\n"
     ]
    },
    {
     "data": {
      "image/png": "iVBORw0KGgo=",
      "text/plain": [
       "<Figure>"
      ]
     },
     "output_type": "display_data"
    }
   ],
   "source": "print(1 + 2)"
  }
 ],
 "metadata": {
  "kernelspec": {
   "language": "python",
   "name": "python3"
  }
 },
 "nbformat": 4,
 "nbformat_minor": ` + fmt.Sprint(minor) + `
}
`
}

func parsed(t *testing.T, text string) *Notebook {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return n
}

// variants are the notebook of a version with other white space. All keep their bytes.
func variants(t *testing.T, minor int) map[string]string {
	t.Helper()
	text := book(minor)
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	encoded := func(indent string) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", indent)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	return map[string]string{
		"jupyter": text, "no newline": strings.TrimSuffix(text, "\n"), "crlf": strings.ReplaceAll(text, "\n", "\r\n"),
		"compact": encoded(""), "tabs": encoded("\t"), "four": encoded("    "),
	}
}

// TestCellsKeepBytes changes cells of each version in each form. Outside them nothing differs.
func TestCellsKeepBytes(t *testing.T) {
	for minor := range 6 {
		for name, text := range variants(t, minor) {
			t.Run(fmt.Sprintf("4.%d %s", minor, name), func(t *testing.T) {
				n := parsed(t, text)
				if len(n.Cells) != 2 || n.Cells[1].Source != "print(1 + 2)" || n.Language != "python" || (n.Cells[0].ID != "") != (minor == 5) {
					t.Fatalf("%+v", n)
				}
				if got := n.Replace(0, n.Cells[0].Source); got != text {
					t.Errorf("the same source changes\n%s", cmp.Diff(text, got))
				}
				// There and back again: a markdown cell has nothing else to lose.
				if got := parsed(t, n.Replace(0, "other\nlines\n")); got.Replace(0, n.Cells[0].Source) != text || got.Cells[0].Source != "other\nlines\n" {
					t.Errorf("there and back: %s", cmp.Diff(text, got.Replace(0, n.Cells[0].Source)))
				}
				changed := parsed(t, n.Replace(1, "x = \"ä\"\n"))
				if c := changed.Cells[1]; c.Source != "x = \"ä\"\n" || len(c.outputs) > 0 || strings.Contains(changed.text, "iVBOR") || strings.Contains(changed.text, "7") {
					t.Errorf("%+v in %s", c, changed.text)
				}
				for at := range 3 {
					more := parsed(t, n.Insert(at, "code", "new"))
					if c := more.Cells[at]; len(more.Cells) != 3 || c.Source != "new" || c.Type != "code" || (c.ID != "") != (minor == 5) {
						t.Errorf("inserted at %d: %s", at, more.text)
					}
					if got := more.Delete(at); got != text {
						t.Errorf("inserted at %d and deleted: %s", at, cmp.Diff(text, got))
					}
				}
			})
		}
	}
}

// TestInsertedLooksWritten: a new cell has the bytes that Jupyter would write.
func TestInsertedLooksWritten(t *testing.T) {
	n := parsed(t, book(5))
	one := n.Delete(1)
	want := strings.Replace(one, "\n  }\n ],", `
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "`+n.newID("a\nb")+`",
   "metadata": {},
   "outputs": [],
   "source": [
    "a\n",
    "b"
   ]
  }
 ],`, 1)
	if got := parsed(t, one).Insert(1, "code", "a\nb"); got != want {
		t.Error(cmp.Diff(want, got))
	}
	none := parsed(t, one).Delete(0)
	if !strings.HasPrefix(none, "{\n \"cells\": [],\n") {
		t.Errorf("without cells: %s", none)
	}
	if got := parsed(t, none).Insert(0, "markdown", ""); !strings.Contains(got, "[\n  {\n   \"cell_type\": \"markdown\",") || !strings.Contains(got, "\"source\": []\n  }\n ],") {
		t.Errorf("%s", got)
	}
}

func TestFormat(t *testing.T) {
	n := parsed(t, book(5))
	want := "--- cell 2, id sum, code\nprint(1 + 2)\n--- outputs of cell 2\n3\n[image/png, 14 bytes]\n<Figure>\n"
	if got := n.Format(1); got != want {
		t.Error(cmp.Diff(want, got))
	}
	long := parsed(t, strings.Replace(book(4), `"3\n"`, `"\u001b[31mred\u001b[0m `+strings.Repeat("x", 100_000)+`"`, 1))
	if got := long.Format(1); len(got) > 6000 || !strings.Contains(got, "\nred xxx") || !strings.Contains(got, "bytes left out") || strings.Contains(got, "id") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

// TestLinesKeepEscapes: a line of the changed cell that stays has the bytes that it had.
func TestLinesKeepEscapes(t *testing.T) {
	n := parsed(t, strings.Replace(book(5), "äöü", `\u00e4\u00f6\u00fc`, 1))
	if got, want := n.Replace(0, "# Other\näöü <b>"), strings.Replace(n.text, "# Title", "# Other", 1); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestFind(t *testing.T) {
	n := parsed(t, book(5))
	for name, want := range map[string]int{"intro": 0, "sum": 1, "1": 0, "2": 1, "0": -1, "3": -1, "": -1, "-1": -1} {
		if got, err := n.Find(name); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v", name, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"text": "hello", "empty": "", "list": "[]", "version 3": `{"worksheets":[],"nbformat":3,"nbformat_minor":0}`,
		"no cells": `{"nbformat":4,"nbformat_minor":5}`, "cells are no list": `{"cells":{},"nbformat":4,"nbformat_minor":5}`,
		"a cell without source": `{"cells":[{"cell_type":"code"}],"nbformat":4,"nbformat_minor":5}`, "more behind": book(5) + "{}",
		"key twice": `{"cells":[],"cells":[],"nbformat":4,"nbformat_minor":5}`,
	} {
		if n, err := Parse(text); err == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for minor := range 6 {
		f.Add(book(minor), "x\ny")
	}
	f.Add(`{"nbformat":4,"cells":[{"cell_type":"code","source":[],"outputs":[],"execution_count":null}],"nbformat_minor":5}`, "\x00\r\n\u2028\"")
	f.Add(`{ "cells" : [ {"source": ["a"  , "b"],"cell_type":"raw"} , {"cell_type":"code","source":""}],"nbformat":4,"nbformat_minor":1}`, "")
	f.Fuzz(func(t *testing.T, text, source string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		source = strings.ToValidUTF8(source, "\uFFFD")
		for i, c := range n.Cells {
			if n.Replace(i, c.Source) != text {
				t.Errorf("the same source of cell %d changes %q", i, text)
			}
			got := parsed(t, n.Replace(i, source))
			if len(got.Cells) != len(n.Cells) || got.Cells[i].Source != source {
				t.Fatalf("cell %d of %q holds %q, want %q", i, text, got.Cells[i].Source, source)
			}
			for j, other := range n.Cells {
				if o := got.Cells[j]; j != i && got.text[o.from:o.to] != text[other.from:other.to] {
					t.Errorf("cell %d has changed with %d", j, i)
				}
			}
			if got := parsed(t, n.Delete(i)); len(got.Cells) != len(n.Cells)-1 {
				t.Errorf("cell %d of %q was not deleted", i, text)
			}
		}
		for i := range len(n.Cells) + 1 {
			more := parsed(t, n.Insert(i, "code", source))
			if more.Cells[i].Source != source {
				t.Errorf("inserted into %q: %q", text, more.text)
			}
			if back := more.Delete(i); len(n.Cells) > 0 && back != text {
				t.Errorf("inserted at %d and deleted: %q, want %q", i, back, text)
			}
		}
	})
}
