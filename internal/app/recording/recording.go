// Package recording turns a stored session into a script for the scripted model, with the
// answers of the person and the results to expect, and compares a replay with it. It
// guarantees that known secrets do not get into the script.
package recording

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Placeholder replaces the path of the workspace's folder in a script.
const Placeholder = "{{dir}}"

// Script is a script of the scripted model with the rest of the session. The model ignores
// Recording.
type Script struct {
	Recording Recording `yaml:"recording"`
	Turns     []Turn    `yaml:"turns"`
}

// Recording is the person's part of a session, and its effects.
type Recording struct {
	Prompts   []Prompt          `yaml:"prompts"`
	Questions []Question        `yaml:"questions,omitempty"`
	Files     map[string]string `yaml:"files,omitempty"` // SHA-256 of the bytes after the session, by path; "removed"
}

// The tools of changes that nobody proposed.
const (
	commandTool = "execute_command"
	hookTool    = "hook" // workspace.HookTool
)

// removed is the hash of a file that is missing after the session.
const removed = "removed"

// Prompt is a prompt of the person.
type Prompt struct {
	Text  string `yaml:"text"`
	After int    `yaml:"after,omitempty"` // delivered to the running turn after so many answers of the model
}

// Question is a question and its answer. Tool to Rule are compared with a replay; Hash
// only in a strict one.
type Question struct {
	Tool    string `yaml:"tool"`
	Kind    string `yaml:"kind"`
	Subject string `yaml:"subject"` // the command line, or the path below the workspace
	Answer  string `yaml:"answer"`  // approved, declined or withdrawn
	Rule    bool   `yaml:"rule,omitempty"`
	By      string `yaml:"by,omitempty"`
	Hash    string `yaml:"sha256,omitempty"` // of a proposed text
	Edited  bool   `yaml:"edited,omitempty"`
	Words   string `yaml:"words,omitempty"` // the reason of a no
}

// Turn is an answer of the model, with conditions for its request.
type Turn struct {
	Expect []map[string]string `yaml:"expect,omitempty"`
	Text   string              `yaml:"text,omitempty"`
	Calls  []Call              `yaml:"calls,omitempty"`
	Stop   string              `yaml:"stop,omitempty"`
}

// Call is a call of a tool.
type Call struct {
	Tool string `yaml:"tool"`
	Raw  string `yaml:"raw"` // the arguments
}

// Stored returns the script of a stored session, as YAML, and remarks on the parts that a
// replay cannot repeat. An error in finding the session is the archive's.
func Stored(ctx context.Context, cfg config.Config, id string) (data []byte, remarks []string, err error) {
	info, conv, err := archive.New(cfg.Home).Read(id)
	if err != nil {
		return nil, nil, err
	}
	log, err := audit.Open(cfg.Home).Session(info.ID)
	if err != nil {
		return nil, nil, err
	}
	secrets, remarks := known(ctx, cfg)
	script, more := of(info, conv, log, NewSecrets(secrets...))
	data, err = script.encode()
	return data, append(remarks, more...), err
}

// of returns the script of a session and remarks on the parts that a replay cannot repeat.
// log holds the entries of the session in the audit log.
func of(info archive.Info, conv archive.Conversation, log []audit.Entry, secrets Secrets) (Script, []string) {
	r := recorder{dir: info.Dir, secrets: secrets}
	for _, e := range conv.Entries {
		switch {
		case e.Item != nil:
			r.item(*e.Item)
		case e.Rewind != nil:
			r.remark("the session was rewound: its replay does not go back")
		}
	}
	r.script.Recording.Questions = questions(info.Dir, log)
	r.words()
	r.files(log)
	return r.script, r.remarks
}

// recorder writes the script of a session.
type recorder struct {
	dir     string
	secrets Secrets
	script  Script
	remarks []string

	prompt  string   // a condition for the next answer: the first line of the prompt
	results []string // conditions for the next answer: the first lines of the results
	refused []string // the words of each refusal
}

func (r *recorder) remark(text string) {
	if !slices.Contains(r.remarks, text) {
		r.remarks = append(r.remarks, text)
	}
}

// clean returns text without secrets and without the workspace's folder.
func (r *recorder) clean(text string) string {
	out, found := r.secrets.redact(text)
	if found {
		r.remark("secrets were left out: the replay may differ there")
	}
	return strings.ReplaceAll(out, r.dir, Placeholder)
}

// marks are the answers that the program itself gave in place of the model's.
var marks = []string{"[interrupted by the user]", "[the answer broke off here]", "[no answer]", history.CutShort}

const interrupted = "a turn was interrupted or failed: its replay does not"

func (r *recorder) item(it history.Item) {
	m := it.Message
	switch m.Role {
	case llm.User:
		p := Prompt{Text: r.clean(m.UserText())}
		if it.Turn == "" {
			p.After = len(r.script.Turns)
		}
		r.script.Recording.Prompts = append(r.script.Recording.Prompts, p)
		r.prompt, _, _ = strings.Cut(p.Text, "\n")
		r.results = nil
	case llm.ToolReply:
		if it.Deed != nil && it.Deed.Refused {
			r.refused = append(r.refused, it.Deed.Words)
		}
		r.result(m)
	case llm.Assistant:
		r.answer(m)
	}
}

// answer adds an answer of the model.
func (r *recorder) answer(m llm.Message) {
	text := m.Text()
	for _, mark := range marks {
		if strings.HasSuffix(text, mark) {
			r.remark(interrupted)
			text = strings.TrimSpace(strings.TrimSuffix(text, mark))
		}
	}
	t := Turn{Text: r.clean(text)}
	for _, c := range m.Calls {
		t.Calls = append(t.Calls, Call{Tool: c.Name, Raw: r.clean(c.Args)})
	}
	if t.Text == "" && len(t.Calls) == 0 {
		t.Stop = "length" // an answer needs something
	}
	if r.prompt != "" {
		t.Expect = append(t.Expect, map[string]string{"prompt_contains": r.prompt})
	}
	for _, line := range r.results {
		if line != "" {
			t.Expect = append(t.Expect, map[string]string{"result_contains": line})
		}
	}
	r.prompt, r.results = "", nil
	r.script.Turns = append(r.script.Turns, t)
}

// maxLine is the length of a result's first line in a condition.
const maxLine = 160

// result keeps the first line of a result as a condition, unless it is of a command: that
// may differ each time.
func (r *recorder) result(m llm.Message) {
	calls := r.script.Turns
	if len(calls) == 0 {
		return
	}
	tool, n := "", len(r.results)
	if last := calls[len(calls)-1].Calls; n < len(last) {
		tool = last[n].Tool
	}
	line, _, _ := strings.Cut(r.clean(m.Text()), "\n") // first, as a part of a secret looks like none
	if tool == commandTool || strings.Contains(line, hidden) {
		line = ""
	}
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "")
	}
	r.results = append(r.results, line)
}

// words adds the reasons of refusals to the questions.
func (r *recorder) words() {
	questions := r.script.Recording.Questions
	for i := range questions {
		q := &questions[i]
		q.Subject, q.By = r.clean(q.Subject), r.clean(q.By)
		if q.Answer == string(audit.Declined) && len(r.refused) > 0 {
			q.Words = r.clean(strings.TrimPrefix(r.refused[0], "The user says: "))
			if q.Rule {
				q.Words = r.clean(r.refused[0])
			}
			r.refused = r.refused[1:]
		}
		if q.Answer == string(audit.Withdrawn) {
			r.remark(interrupted)
		}
		if q.Edited {
			r.remark("proposals were edited before they were approved: the replay approves the edited text")
		}
	}
}

// files keeps the state of each file that the model's tools have written.
func (r *recorder) files(log []audit.Entry) {
	for _, e := range log {
		name, inside := below(r.dir, e.Subject)
		if e.Event != audit.Written {
			continue
		}
		if e.Tool == "undo" || e.Tool == "redo" {
			r.remark("changes were undone or redone: its replay does not do that")
			continue
		}
		_, proposed := r.script.Recording.Files[r.clean(name)]
		if !inside || e.Tool == hookTool || e.Tool == commandTool && !proposed {
			continue // a replay has no hooks, and commands may make other files each time
		}
		if r.script.Recording.Files == nil {
			r.script.Recording.Files = map[string]string{}
		}
		r.script.Recording.Files[r.clean(name)] = cmp.Or(e.Hash, removed)
	}
}

// below returns the path of a file below dir, with forward slashes.
func below(dir, path string) (string, bool) {
	if rel, ok := subpath.Of(dir, path); ok {
		return rel, true
	}
	return path, false
}

// questions returns the questions in the audit log of a session in dir.
func questions(dir string, log []audit.Entry) []Question {
	var out []Question
	for _, e := range log {
		if e.Event == audit.Written || e.Tool == "undo" {
			continue
		}
		q := Question{Tool: e.Tool, Kind: e.Kind, Subject: e.Subject, Answer: string(e.Event), Rule: e.Rule, By: e.By, Edited: e.Edited}
		switch e.Kind {
		case "edit":
			q.Subject, _ = below(dir, e.Subject)
			q.Hash = e.Hash
		case "move":
			from, to, _ := strings.Cut(e.Subject, "\n")
			from, _ = below(dir, from)
			to, _ = below(dir, to)
			q.Subject, q.Hash = from+"\n"+to, e.Hash
		}
		out = append(out, q)
	}
	return out
}

// encode returns s as YAML.
func (s Script) encode() ([]byte, error) {
	var b bytes.Buffer
	w := yaml.NewEncoder(&b)
	w.SetIndent(2)
	if err := w.Encode(s); err != nil {
		return nil, fmt.Errorf("write the script: %w", err)
	}
	return b.Bytes(), w.Close()
}

// parse reads a script that was recorded, for a replay in dir, and returns it also as the
// text for the scripted model.
func parse(name string, data []byte, dir string) (s Script, text []byte, err error) {
	text = bytes.ReplaceAll(data, []byte(Placeholder), []byte(dir))
	if err := yaml.Unmarshal(text, &s); err != nil {
		return s, nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(s.Recording.Prompts) == 0 {
		return s, nil, fmt.Errorf("%s: it has no recorded prompts: agent record writes them", name)
	}
	return s, text, nil
}
