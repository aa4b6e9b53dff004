package langserver

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/editor"
)

const (
	// maxDiagnostics is the number of problems of one text that are kept.
	maxDiagnostics = 1000
	// maxReport is how much of the problems of one text is kept, in bytes.
	maxReport = 1 << 20
	// quietTime is how long a report without a version is waited for another.
	quietTime = 200 * time.Millisecond
)

// diagnostic is a problem in a text.
type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Message  string `json:"message"`
	Source   string `json:"source"`

	raw json.RawMessage // as the server wrote it
}

func (d *diagnostic) UnmarshalJSON(data []byte) error {
	type plain diagnostic
	d.raw = slices.Clone(data)
	return json.Unmarshal(data, (*plain)(d))
}

// report is the last word of a server about a text.
type report struct {
	version int // of the text; 0 if unknown
	serial  int // counts the reports of the server
	at      time.Time
	found   []diagnostic
}

// published notes the reports that the server sends by itself, of the texts that it holds.
func (p *process) published(params json.RawMessage) {
	var told struct {
		URI         string       `json:"uri"`
		Version     int          `json:"version"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	if json.Unmarshal(params, &told) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serial++
	if p.held(told.URI) != nil {
		p.told[told.URI] = &report{told.Version, p.serial, time.Now(), bounded(told.Diagnostics)}
	} else {
		p.note(told.URI, told.Diagnostics)
	}
	close(p.news)
	p.news = make(chan struct{})
}

// bounded returns the first problems, as many as are kept.
func bounded(all []diagnostic) (kept []diagnostic) {
	size := 0
	for _, d := range all[:min(len(all), maxDiagnostics)] {
		if size += len(d.raw) + len(d.Message); size > maxReport {
			break
		}
		kept = append(kept, d)
	}
	return kept
}

// held returns the text that the server holds open; nil if it does not. mu is held.
func (p *process) held(uri string) *heldText {
	i := slices.IndexFunc(p.open, func(d *heldText) bool { return d.uri == uri })
	if i < 0 {
		return nil
	}
	return p.open[i]
}

// diagnose returns the problems of a text that the server holds open.
func (p *process) diagnose(ctx context.Context, uri string) (found []diagnostic, err error) {
	ctx, cancel := p.alive(ctx)
	defer cancel()
	if p.pulls {
		var got struct {
			Items []diagnostic `json:"items"`
		}
		err := p.conn.Call(ctx, "textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": uri}}, &got)
		return got.Items, p.why(err)
	}
	if p.Passes != "" {
		path, err := pathOf(uri)
		if err != nil {
			return nil, err
		}
		return p.passed(ctx, path)
	}
	for {
		p.mu.Lock()
		told, text, news := p.told[uri], p.held(uri), p.news
		p.mu.Unlock()
		wait := time.Duration(0)
		switch {
		case text == nil || told == nil || told.serial <= text.since:
		case told.version == text.version:
			return told.found, nil
		case told.version == 0:
			if wait = time.Until(told.at.Add(quietTime)); wait <= 0 {
				return told.found, nil
			}
		}
		select {
		case <-news:
		case <-after(wait):
		case <-ctx.Done():
			return nil, p.why(ctx.Err())
		}
	}
}

// passed asks tsserver for the problems of a file: its server does not report an empty list.
func (p *process) passed(ctx context.Context, path string) (all []diagnostic, err error) {
	type place struct {
		Line   int `json:"line"`
		Offset int `json:"offset"`
	}
	var got []struct {
		Start    place  `json:"start"`
		End      place  `json:"end"`
		Text     string `json:"text"`
		Code     int    `json:"code"`
		Category string `json:"category"`
	}
	at := func(p place) position { return position{p.Line - 1, p.Offset - 1} }
	for _, request := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"} {
		if err := p.pass(ctx, request, path, &got); err != nil {
			return nil, err
		}
		for _, each := range got {
			d := diagnostic{Range: span{at(each.Start), at(each.End)}, Severity: int(editor.SeverityError), Message: each.Text, Source: "typescript"}
			switch each.Category {
			case "warning":
				d.Severity = int(editor.SeverityWarning)
			case "suggestion":
				continue
			}
			if d.raw, err = json.Marshal(map[string]any{"range": d.Range, "severity": d.Severity, "code": each.Code, "source": d.Source, "message": d.Message}); err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	return all[:min(len(all), maxDiagnostics)], nil
}

// findingsTime bounds the wait for the problems of a text about whose fixes is asked.
const findingsTime = 5 * time.Second

func (p *process) findings(ctx context.Context, path string) []diagnostic {
	ctx, cancel := context.WithTimeout(ctx, findingsTime)
	defer cancel()
	found, _ := p.diagnose(ctx, uriOf(path)) // without them there are fewer fixes
	return found
}

// after returns a channel that tells the end of a wait; nil for none.
func after(wait time.Duration) <-chan time.Time {
	if wait == 0 {
		return nil
	}
	return time.After(wait)
}

// problems returns diagnostics of a file as the rest of the program knows them.
func problems(path string, found []diagnostic) []editor.Diagnostic {
	out := make([]editor.Diagnostic, len(found))
	for i, d := range found {
		severity := editor.Severity(d.Severity)
		if severity < editor.SeverityError || severity > editor.SeverityHint {
			severity = editor.SeverityError
		}
		out[i] = editor.Diagnostic{Path: path, Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1, Severity: severity, Message: d.Message, Source: d.Source}
	}
	return out
}

// Proposal is the text of a file and the one proposed.
type Proposal struct {
	Path, Before, After string
	New                 bool // there is no such file yet
}

// Tries returns the name of the running server that can try a change of the file at path; "" if none runs.
func (s *Servers) Tries(path string) string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.usable() {
		if u.serves(path) && s.running[u.Name] != nil {
			return u.Name
		}
	}
	return ""
}

// Try returns the problems of texts before and after the changes, by the running server with a name, and the errors that the
// changes make in other files of the project, if it tells. No other question reaches it meanwhile, and it holds the texts from
// before at the end.
func (s *Servers) Try(ctx context.Context, name string, all []Proposal) (before, after []editor.Diagnostic, err error) {
	err = s.named(ctx, name, func(ctx context.Context, p *process) error {
		defer p.restore(all)
		var err error
		if before, err = p.judge(ctx, all, func(each Proposal) (string, bool) { return each.Before, !each.New }); err != nil {
			return err
		}
		p.watch(true)
		defer p.watch(false)
		began := time.Now()
		if after, err = p.judge(ctx, all, func(each Proposal) (string, bool) { return each.After, true }); err != nil {
			return err
		}
		was, is := p.elsewhere(ctx, all, s.opt.Folders, time.Since(began))
		before, after = append(before, was...), append(after, is...)
		return nil
	})
	return before, after, err
}

// named asks the running server with a name.
func (s *Servers) named(ctx context.Context, name string, question func(context.Context, *process) error) error {
	for _, u := range s.usable() {
		if u.Name == name && s.may(u) {
			return s.with(ctx, u, func(ctx context.Context, each peer) error {
				p, ok := each.(*process)
				if !ok {
					return NoServerError{name}
				}
				return question(ctx, p)
			})
		}
	}
	return NoServerError{name}
}

// restore has the server hold the texts from before again.
func (p *process) restore(all []Proposal) {
	for _, each := range all {
		if each.New {
			p.drop(uriOf(each.Path))
		} else {
			p.at(Place{Path: each.Path, Text: each.Before})
		}
	}
}

// judge has the server hold texts, and returns the errors and warnings in them: hints may come later. Those of several are
// believed once the server is quiet: a report of the first may be older than the last.
func (p *process) judge(ctx context.Context, all []Proposal, text func(Proposal) (string, bool)) (out []editor.Diagnostic, err error) {
	for _, each := range all {
		if now, ok := text(each); ok {
			p.at(Place{Path: each.Path, Text: now})
		}
	}
	for {
		out = nil
		for _, each := range all {
			if _, ok := text(each); !ok {
				continue
			}
			found, err := p.diagnose(ctx, uriOf(each.Path))
			if err != nil {
				return nil, err
			}
			found = slices.DeleteFunc(slices.Clone(found), func(d diagnostic) bool { return d.Severity > int(editor.SeverityWarning) })
			out = append(out, problems(each.Path, found)...)
		}
		if p.pulls || p.Passes != "" || len(all) == 1 {
			return out, nil
		}
		p.mu.Lock()
		news := p.news
		p.mu.Unlock()
		select {
		case <-news:
		case <-time.After(quietTime):
			return out, nil
		case <-ctx.Done():
			return nil, p.why(ctx.Err())
		}
	}
}

// Report returns the problems of the file at path, by the server that runs for it. known is false if that has told none
// within wait or, if that is zero, before the end of ctx.
func (s *Servers) Report(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool) {
	name := s.Tries(path)
	data, err := os.ReadFile(path)
	if name == "" || err != nil || !utf8.Valid(data) {
		return nil, false
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	err = s.named(ctx, name, func(ctx context.Context, p *process) error {
		p.at(Place{Path: path, Text: string(data)})
		told, err := p.diagnose(ctx, uriOf(path))
		found = problems(path, told)
		return err
	})
	return found, err == nil
}
