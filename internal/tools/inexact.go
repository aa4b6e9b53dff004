package tools

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// inexact returns the result of an edit that matched only loosely while nobody could be
// asked. The model gets the file's own text, so that it can repeat the call exactly.
func inexact(c workspace.Change, out edit.Result) Result {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: nothing was changed: the text matched only after %s, which a person has to see, and nobody could be asked. ", c.Name, out.Stage)
	switch out.Stage {
	case edit.MixedEndings:
		if out.Line > 0 {
			fmt.Fprintf(&b, "Use edit_lines from line %d on, or edit_file with a part of one line.", out.Line)
		} else {
			b.WriteString("Use edit_file with a part of one line, or with the cell's whole new source as new_string.")
		}
		return Result{Failed: true, ForModel: b.String(), ForUser: "no exact match"}
	case edit.MissingAnchor:
		b.WriteString("Send each @@ line as it is in the file, or a bare @@ and more lines of context.")
		return Result{Failed: true, ForModel: b.String(), ForUser: "no exact match"}
	}
	b.WriteString("Repeat the call with exactly this text of the file")
	for _, text := range out.Matched {
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "\n%s\n%s\n%s", fence, strings.TrimSuffix(text, "\n"), fence)
	}
	return Result{Failed: true, ForModel: clipPatch(b.String()), ForUser: "no exact match"}
}

// placeholder returns the first line that c adds in place of code left out, or "". In
// prose such lines are quoted.
func placeholder(c workspace.Change) string {
	switch strings.ToLower(filepath.Ext(c.Path)) {
	case ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc":
		return ""
	}
	if !c.Exists {
		return ""
	}
	return edit.Placeholder(c.Text, c.After)
}
