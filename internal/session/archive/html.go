package archive

import (
	"cmp"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// ExportHTML writes a conversation as one page that needs no other file, and runs and loads
// nothing: all messages that were not rewound, with their diffs in color. Every text is escaped.
func ExportHTML(w io.Writer, info Info, conv Conversation) error {
	chat, _, _ := history.Rebuild(conv.Entries)
	page := htmlPage{Title: cmp.Or(info.Title, "Session"), Info: info, Created: info.Created.Format(time.RFC1123), Model: cmp.Or(info.Model, "an unknown model")}
	after := summaries(conv)
	for _, it := range chat.Items() {
		blocks := htmlBlocks(it.Message)
		if it.Deed != nil && len(blocks) > 0 {
			last := &blocks[len(blocks)-1]
			last.What, last.Did, last.Words, last.Bad = it.Deed.What, it.Deed.Result, it.Deed.Words, it.Deed.Failed || it.Deed.Refused
			for _, f := range it.Deed.Files {
				last.Files = append(last.Files, htmlDiff(f))
			}
		}
		if it.Task != nil {
			task := htmlBlock{Kind: "task"}
			for _, m := range it.Task.Messages {
				task.Inner = append(task.Inner, htmlBlocks(m)...)
			}
			blocks = append([]htmlBlock{task}, blocks...)
		}
		page.Blocks = append(page.Blocks, blocks...)
		for _, d := range it.DeedsAfter {
			page.Blocks = append(page.Blocks, htmlBlock{Kind: "aside", Text: strings.TrimSpace(d.What + "\n" + d.Result)})
		}
		if summary, ok := after[it.N]; ok {
			page.Blocks = append(page.Blocks, htmlBlock{Kind: "compacted", Text: summary})
		}
	}
	layout, err := template.New("session").Parse(htmlLayout)
	if err != nil {
		return err
	}
	return layout.Execute(w, page)
}

type htmlPage struct {
	Title, Created, Model string
	Info                  Info
	Blocks                []htmlBlock
}

// htmlBlock is a part of the page: you, model, call, result, task, aside or compacted.
type htmlBlock struct {
	Kind, Name, Text string
	What, Did, Words string // of a result
	Bad              bool
	Files            []htmlFile
	Inner            []htmlBlock
}

type htmlFile struct {
	Path           string
	Added, Removed int
	Lines          []htmlLine
}

type htmlLine struct{ Class, Text string }

// htmlBlocks returns the parts of a message.
func htmlBlocks(m llm.Message) (out []htmlBlock) {
	switch m.Role {
	case llm.User:
		return []htmlBlock{{Kind: "you", Text: m.Text()}}
	case llm.ToolReply:
		return []htmlBlock{{Kind: "result", What: "Result", Text: m.Text()}}
	case llm.Assistant:
		if text := m.Text(); text != "" {
			out = append(out, htmlBlock{Kind: "model", Text: text})
		}
		for _, c := range m.Calls {
			out = append(out, htmlBlock{Kind: "call", Name: c.Name, Text: plainJSON.Replace(c.Args)})
		}
	case llm.System: // not part of a conversation
	}
	return out
}

// htmlDiff classifies the lines of a diff.
func htmlDiff(f history.File) htmlFile {
	out := htmlFile{Path: f.Path, Added: f.Added, Removed: f.Removed}
	inHunk := false
	for line := range strings.Lines(f.Diff) {
		line = strings.TrimRight(line, "\r\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "@@"):
			class, inHunk = "at", true
		case !inHunk:
			continue // names, which the title has
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		out.Lines = append(out.Lines, htmlLine{class, line})
	}
	return out
}

// htmlLayout forbids scripts and resources from elsewhere, too.
const htmlLayout = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>{{.Title}}</title>
<style>
:root{color-scheme:light dark;--add:#dafbe1;--del:#ffebe9;--dim:#667}
@media(prefers-color-scheme:dark){:root{--add:#12361f;--del:#4a1b1d;--dim:#99a}}
body{max-width:56rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}
pre,.text{white-space:pre-wrap;overflow-wrap:anywhere}pre{font:13px/1.45 ui-monospace,monospace;margin:.3rem 0}
.you{border-left:4px solid #38f;padding-left:.8rem;margin:1.6rem 0 1rem;font-weight:600}
.task{border-left:2px solid var(--dim);padding-left:.8rem}details{margin:.3rem 0}
summary,.dim{color:var(--dim);cursor:default}.bad{color:#c22}.add{background:var(--add)}.del{background:var(--del)}.at{color:var(--dim)}
.add,.del,.at,.same{display:block}
</style></head><body>
<h1>{{.Title}}</h1>
<p class="dim">Session {{.Info.ID}}, begun {{.Created}} in {{.Info.Dir}} with {{.Model}}.</p>
{{define "blocks"}}{{range .}}
{{- if eq .Kind "you"}}<div class="you text">{{.Text}}</div>
{{else if eq .Kind "model"}}<div class="text">{{.Text}}</div>
{{else if eq .Kind "call"}}<details><summary>Call {{.Name}}</summary><pre>{{.Text}}</pre></details>
{{else if eq .Kind "task"}}<details class="task"><summary>Sub-agent</summary>{{template "blocks" .Inner}}</details>
{{else if eq .Kind "aside"}}<p class="dim text">Without the model: {{.Text}}</p>
{{else if eq .Kind "compacted"}}<details><summary>Earlier messages were replaced by this summary for the model</summary><div class="text">{{.Text}}</div></details>
{{else}}<details{{if .Files}} open{{end}}><summary{{if .Bad}} class="bad"{{end}}>{{.What}}{{with .Did}} · {{.}}{{end}}{{with .Words}} · “{{.}}”{{end}}</summary>
{{range .Files}}<div><b>{{.Path}}</b> <span class="dim">+{{.Added}} −{{.Removed}}</span><pre>{{range .Lines}}<span class="{{or .Class "same"}}">{{.Text}}
</span>{{end}}</pre></div>
{{end}}{{if not .Files}}<pre>{{.Text}}</pre>{{end}}</details>
{{end}}{{end}}{{end}}{{template "blocks" .Blocks}}</body></html>
`
