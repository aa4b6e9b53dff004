package search

import (
	"fmt"
	"strings"
)

// maxText is the size limit of an answer's text in bytes.
const maxText = 30_000

// maxUnsearched is the number of files named that were not searched.
const maxUnsearched = 10

// Text formats found for a model: each file's name, as returned by name, above its lines;
// "12:" is a match, "13-" context, "--" a gap.
func (found Found) Text(name func(path string) string) string {
	if found.Matches == 0 {
		return "No matches." + found.remarks(0, name)
	}
	if found.Mode == Files || found.Mode == Counts {
		return found.names(name)
	}
	var b strings.Builder
	shown := 0
	for _, f := range found.Files {
		if b.Len() > maxText {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(name(f.Path) + "\n")
		shown += writeLines(&b, f.Lines)
	}
	fmt.Fprintf(&b, "\n%s in %s.", Count(found.Matches, "match", "matches"), Count(len(found.Files), "file", "files"))
	return b.String() + found.remarks(shown, name)
}

// names formats the files alone, with the number of matches in the mode Counts.
func (found Found) names(name func(path string) string) string {
	var b strings.Builder
	shown := 0
	for _, f := range found.Counts {
		if b.Len() > maxText {
			break
		}
		shown += f.Matches
		b.WriteString(name(f.Path))
		if found.Mode == Counts {
			fmt.Fprintf(&b, ": %d", f.Matches)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	if found.Mode == Counts {
		b.WriteString(Count(found.Matches, "match", "matches") + " in ")
	}
	return b.String() + Count(len(found.Counts), "file", "files") + "." + found.remarks(shown, name)
}

func writeLines(b *strings.Builder, lines []Line) (matches int) {
	for i, l := range lines {
		if b.Len() > maxText {
			break
		}
		if i > 0 && lines[i-1].Number+1 < l.Number {
			b.WriteString("--\n")
		}
		mark := "-"
		if l.Match {
			mark = ":"
			matches++
		}
		fmt.Fprintf(b, "%d%s%s\n", l.Number, mark, l.Text)
	}
	return matches
}

func (found Found) remarks(shown int, name func(path string) string) string {
	s := ""
	if shown < found.Matches {
		s += fmt.Sprintf(" Only the first %d are shown: too long.", shown)
	}
	if found.More {
		s += " There are more: narrow the regex, path or file_pattern, or raise limit."
	}
	if found.Partial {
		s += fmt.Sprintf(" Not every file was searched: the folder has more than %d files and folders.", MaxWalk)
	}
	if n := len(found.Unsearched); n > 0 {
		s += fmt.Sprintf(" Not searched, larger than %d MiB or unreadable: ", MaxFile>>20)
		for i, file := range found.Unsearched[:min(n, maxUnsearched)] {
			if i > 0 {
				s += ", "
			}
			s += name(file)
		}
		if n > maxUnsearched {
			s += fmt.Sprintf(" and %d more", n-maxUnsearched)
		}
		s += "."
	}
	return s
}

// Count formats a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
