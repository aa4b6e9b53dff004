package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type rememberArgs struct {
	Text       string `json:"text"`
	Everywhere *bool  `json:"everywhere"`
}

var rememberFacts = Facts{Name: "remember", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys, Alone: true, Mistaken: []string{"savememory", "memory", "updatememory"}}

// maxRemembered is the number of bytes that a call may add: all later sessions read them.
const maxRemembered = 1000

// remember adds lines to an instruction file. A person is asked in every mode: later sessions obey it.
func remember(d Deps) Tool {
	params := []args.Param{
		{Name: "text", Kind: args.Text, Required: true},
		{Name: "everywhere", Kind: args.Boolean, Doc: "for all projects"},
	}
	return newTool(rememberFacts.Name, params, rememberArgs.title, func(ctx context.Context, call Call, a rememberArgs) (Result, error) {
		lines := a.lines()
		switch n := len(lines); {
		case n == 0:
			return toolcall.Failed("text is empty: nothing was proposed."), nil
		case n > maxRemembered:
			return toolcall.Failed("text has %d bytes, at most %d: nothing was proposed. Every session reads it, so keep only what a later one needs.", n, maxRemembered), nil
		}
		w := d.writer(rememberFacts.Name)
		w.Why = "Remember this? Every later session in this folder reads it as your instruction."
		if orDefault(a.Everywhere, false) {
			own, err := d.mine()
			if err != nil {
				return toolcall.Failed("The user's own instructions cannot be opened: %w. Nothing was changed.", err), nil
			}
			w.Root, w.Pending = own, nil
			w.Why = "Remember this in your own AGENTS.md, in the program's folder? Every later session in any folder reads it as your instruction."
		}
		return w.Apply(ctx, call, change.Part{Path: instructionFile(w.Root.Dir()), Edit: func(f workspace.File) (edit.Result, error) {
			return edit.Result{Text: edit.Append(f.Text, missing(f.Text, lines), f.Format.EOL, true)}, nil
		}})
	})
}

// mine returns the folder of the user's own instructions.
func (d Deps) mine() (*workspace.Root, error) {
	if d.Mine == nil {
		return nil, errors.New("this program keeps none")
	}
	root, err := d.Mine()
	if err == nil {
		root.Guard(d.Guards)
	}
	return root, err
}

// instructionFile returns the instruction file of a folder: the one that counts, see
// modelcontext.Instruction.
func instructionFile(dir string) string {
	const usual, other = "AGENTS.md", "CLAUDE.md"
	if _, err := os.Lstat(filepath.Join(dir, usual)); err != nil {
		if _, err := os.Stat(filepath.Join(dir, other)); err == nil {
			return other
		}
	}
	return usual
}

func (a rememberArgs) title() string {
	what := "Remember"
	if orDefault(a.Everywhere, false) {
		what += " in all projects"
	}
	return what + ": " + strings.Join(strings.Fields(a.Text), " ")
}

// lines returns the text as items of a list, unless it is one.
func (a rememberArgs) lines() string {
	var out []string
	for line := range strings.Lines(a.Text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
			continue
		case !strings.HasPrefix(strings.TrimLeft(line, " \t"), "- "):
			line = "- " + strings.TrimSpace(line)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// missing returns those of lines that a text lacks.
func missing(text, lines string) string {
	have := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(lines, "\n"), func(l string) bool { return slices.Contains(have, l) }), "\n")
}
