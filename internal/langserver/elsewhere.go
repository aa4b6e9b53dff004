package langserver

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Bounds of the wait for reports about files that a server does not hold. A server that was slow with the proposal itself is
// waited for as long again.
const (
	minQuiet = 300 * time.Millisecond // without a report
	maxQuiet = time.Second
)

// Bounds of the reports about files that a server does not hold: their number, their errors, and the bytes of a text.
const (
	maxFiles    = 200
	maxFindings = 50
	maxText     = 1 << 10
	// maxUsers is the number of files that use a proposal's and are asked about.
	maxUsers = 20
)

// elsewhere returns the errors in files that are not among the proposals, by a server that tells of such and holds the texts from
// after; at the end it holds those from before. Only files of the project count in which an error ends with the proposals.
func (p *process) elsewhere(ctx context.Context, all []Proposal, folders []string, took time.Duration) (before, after []editor.Diagnostic) {
	now := map[string][]diagnostic{}
	switch {
	case p.Passes != "":
		now = p.judged(ctx, p.users(ctx, all))
	case !p.pulls: // another tells nothing of texts that it does not hold
		now = p.toldElsewhere(ctx, min(max(minQuiet, took), maxQuiet))
	}
	maps.DeleteFunc(now, func(path string, found []diagnostic) bool {
		return len(found) == 0 || !slices.ContainsFunc(folders, func(folder string) bool { return subpath.In(folder, path) })
	})
	if len(now) == 0 {
		return nil, nil
	}
	p.watch(true)
	p.restore(all)
	var was map[string][]diagnostic
	if p.Passes != "" {
		was = p.judged(ctx, slices.Sorted(maps.Keys(now)))
	} else {
		was = p.toldAgain(ctx, now)
	}
	for path, found := range now {
		if old, known := was[path]; known {
			before, after = append(before, problems(path, old)...), append(after, problems(path, found)...)
		}
	}
	return before, after
}

// watch notes the reports about files that the server does not hold, from now on; or no longer.
func (p *process) watch(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = nil
	if on {
		p.files = map[string][]diagnostic{}
	}
}

// note keeps the errors of a file that the server does not hold. mu is held.
func (p *process) note(uri string, all []diagnostic) {
	path, err := pathOf(uri)
	if _, known := p.files[path]; err != nil || p.files == nil || !known && len(p.files) >= maxFiles {
		return
	}
	p.files[path] = errorsOf(all)
}

// noted returns the errors of the files that are watched, and a channel that the next report closes.
func (p *process) noted() (files map[string][]diagnostic, news <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.files), p.news
}

// errorsOf returns the first errors, of bounded length.
func errorsOf(all []diagnostic) (kept []diagnostic) {
	for _, d := range all {
		if d.Severity <= int(editor.SeverityError) && len(kept) < maxFindings {
			kept = append(kept, diagnostic{Range: d.Range, Severity: d.Severity, Message: clip.Bytes(d.Message, maxText, "…"), Source: clip.Bytes(d.Source, maxText, "")})
		}
	}
	return kept
}

// toldElsewhere returns the noted errors once no report has come for a time.
func (p *process) toldElsewhere(ctx context.Context, quiet time.Duration) map[string][]diagnostic {
	ctx, cancel := context.WithTimeout(ctx, 2*maxQuiet) // of a server that never is quiet
	defer cancel()
	for {
		files, news := p.noted()
		select {
		case <-news:
		case <-time.After(quiet):
			return files
		case <-ctx.Done():
			return files
		}
	}
}

// toldAgain waits until the reports about files have none of their errors any more, and returns the errors that are left. An error
// stays if the server was about to find it, without the proposals.
func (p *process) toldAgain(ctx context.Context, now map[string][]diagnostic) map[string][]diagnostic {
	ctx, cancel := context.WithTimeout(ctx, 2*maxQuiet)
	defer cancel()
	for {
		files, news := p.noted()
		left := false
		for path, found := range now {
			old, known := files[path]
			left = left || !known || slices.ContainsFunc(old, func(d diagnostic) bool {
				return slices.ContainsFunc(found, func(n diagnostic) bool { return n.Message == d.Message })
			})
		}
		if !left {
			return files
		}
		select {
		case <-news:
		case <-ctx.Done():
			return files
		}
	}
}

// users returns the files that use those of the proposals, and those that use them, by tsserver.
func (p *process) users(ctx context.Context, all []Proposal) (found []string) {
	var of []string
	for _, each := range all {
		of = append(of, each.Path)
	}
	for i := 0; i < len(of) && len(found) < maxUsers; i++ {
		var got struct {
			Refs []struct {
				File string `json:"file"`
			} `json:"refs"`
		}
		if p.pass(ctx, "fileReferences", of[i], &got) != nil {
			continue // it is too old to tell
		}
		for _, ref := range got.Refs {
			if path := filepath.FromSlash(ref.File); !slices.Contains(of, path) && len(found) < maxUsers {
				of, found = append(of, path), append(found, path)
			}
		}
	}
	return found
}

// judged returns the errors of files that tsserver knows.
func (p *process) judged(ctx context.Context, paths []string) map[string][]diagnostic {
	all := map[string][]diagnostic{}
	for _, path := range paths {
		found, err := p.passed(ctx, path)
		if err != nil {
			continue // it does not know the file
		}
		all[path] = errorsOf(found)
	}
	return all
}

// pass passes a request about a file on to tsserver: one that its server holds, by its URI, or another.
func (p *process) pass(ctx context.Context, request, file string, body any) error {
	p.mu.Lock()
	if uri := uriOf(file); p.held(uri) != nil {
		file = uri
	}
	p.mu.Unlock()
	var got struct {
		Body json.RawMessage `json:"body"`
	}
	params := map[string]any{"command": p.Passes, "arguments": []any{request, map[string]any{"file": file}}}
	if err := p.conn.Call(ctx, "workspace/executeCommand", params, &got); err != nil {
		return p.why(err)
	}
	if len(got.Body) == 0 {
		return nil
	}
	return read(got.Body, body)
}
