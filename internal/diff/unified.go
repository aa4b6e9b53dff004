package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Unified returns the unified diff (3 lines of context) from a to b, or "" if they are
// equal. Names are relative, with forward slashes; an empty oldName means that the file
// is created, an empty newName that it is deleted.
func Unified(oldName, newName, a, b string) string {
	return Lines(a, b).Unified(oldName, newName)
}

// Unified is the function Unified for texts that were compared before.
func (d *Diff) Unified(oldName, newName string) string {
	if len(d.Edits) == 0 && oldName == newName {
		return ""
	}
	var out strings.Builder
	header(&out, oldName, newName)
	hunks := d.Hunks(3)
	if len(hunks) > 0 {
		fmt.Fprintf(&out, "--- %s\n+++ %s\n", side("a/", oldName), side("b/", newName))
	}
	for _, h := range hunks {
		h.write(&out)
	}
	return out.String()
}

// header writes git's lines before the names: only they can express that an empty file is
// created or deleted.
func header(out *strings.Builder, oldName, newName string) {
	from, to := oldName, newName
	if from == "" {
		from = to
	}
	if to == "" {
		to = from
	}
	fmt.Fprintf(out, "diff --git %s %s\n", quote("a/"+from), quote("b/"+to))
	switch {
	case oldName == "":
		out.WriteString("new file mode 100644\n")
	case newName == "":
		out.WriteString("deleted file mode 100644\n")
	case oldName != newName:
		fmt.Fprintf(out, "rename from %s\nrename to %s\n", quote(oldName), quote(newName))
	}
}

// side formats a name for the --- or +++ line. A tab ends a name with blanks.
func side(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	q := quote(prefix + name)
	if strings.Contains(q, " ") && q[0] != '"' {
		return q + "\t"
	}
	return q
}

// quote writes names with control characters, quotes or backslashes as a C string, as git
// does, and returns other names unchanged.
func quote(name string) string {
	special := func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }
	if strings.IndexFunc(name, special) < 0 {
		return name
	}
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&out, "\\%03o", c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// Header returns the "@@ … @@" line of h, without a newline.
func (h Hunk) Header() string {
	return "@@ -" + lineRange(h.AStart, h.ACount) + " +" + lineRange(h.BStart, h.BCount) + " @@"
}

// lineRange formats a range with 1-based lines; an empty range names the line before it.
func lineRange(start, count int) string {
	switch count {
	case 0:
		return strconv.Itoa(start) + ",0"
	case 1:
		return strconv.Itoa(start + 1)
	}
	return strconv.Itoa(start+1) + "," + strconv.Itoa(count)
}

func (h Hunk) write(out *strings.Builder) {
	out.WriteString(h.Header())
	out.WriteByte('\n')
	for _, line := range h.Lines {
		out.WriteByte(" -+"[line.Op])
		out.WriteString(line.Text)
		if !strings.HasSuffix(line.Text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
