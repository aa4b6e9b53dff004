package recording

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/hexsum"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// commands returns the lines of the commands that the person or their rules approved, and
// that may do more than read.
func (r Recording) commands() []string {
	var out []string
	for _, q := range r.Questions {
		if q.Kind == "command" && q.Answer == string(audit.Approved) && !q.onlyReads() && !slices.Contains(out, q.Subject) {
			out = append(out, q.Subject)
		}
	}
	return out
}

// outside returns the paths outside of dir, the folder of the replay, that the recording
// approves to read, each once.
func (r Recording) outside(dir string) []string {
	var out []string
	for _, q := range r.Questions {
		if q.readsOutside(dir) && q.Answer == string(audit.Approved) && !slices.Contains(out, q.Subject) {
			out = append(out, q.Subject)
		}
	}
	return out
}

func (q Question) readsOutside(dir string) bool {
	_, inside := below(dir, q.Subject)
	return q.Kind == "read" && !inside
}

// onlyReads reports whether the command of q only reads, by the recording alone. The policy
// judges that again.
func (q Question) onlyReads() bool { return q.Rule && q.By == permission.OnlyReads }

// difference returns the first difference between the recording and the questions of a
// replay, or its files in dir; "" without one. A strict comparison includes the texts of
// the proposals.
func (r Recording) difference(asked []Question, dir string, strict bool) (string, error) {
	for i, want := range r.Questions {
		if i >= len(asked) {
			return fmt.Sprintf("question %d is missing: %s", i+1, want), nil
		}
		got := asked[i]
		if want.String() != got.String() {
			return fmt.Sprintf("question %d is %s; the recording has %s", i+1, got, want), nil
		}
		if strict && want.Hash != got.Hash {
			return fmt.Sprintf("question %d, %s, has another text than recorded", i+1, got), nil
		}
	}
	if n := len(r.Questions); len(asked) > n {
		return fmt.Sprintf("question %d was not recorded: %s", n+1, asked[n]), nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		if why, err := fileDifference(dir, name, r.Files[name]); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// fileDifference compares a file with its recorded hash.
func fileDifference(dir, name, want string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is outside the folder", name)
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	got := removed
	switch {
	case err == nil:
		got = hexsum.Of(data)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	switch {
	case got == want:
		return "", nil
	case got == removed:
		return name + " is missing after the replay", nil
	case want == removed:
		return name + " exists after the replay, but the session removed it", nil
	}
	return name + " differs from its content after the session", nil
}

// String describes a question and its answer.
func (q Question) String() string {
	by := ""
	if q.Rule {
		by = " by a rule"
	}
	return fmt.Sprintf("%s of %q by %s, %s%s", q.Kind, q.Subject, q.Tool, q.Answer, by)
}

// Answers is a confirm.Reviewer that gives the recorded answers. Questions that were not
// recorded are refused.
type Answers struct {
	RunCommands bool // false refuses every command that was approved
	ReadOutside bool // false refuses every read outside of the folder that was approved

	dir string

	mu   sync.Mutex
	left []Question
}

// Answers returns a reviewer for a replay in dir.
func (r Recording) Answers(dir string) *Answers {
	return &Answers{dir: dir, left: slices.Clone(r.Questions)}
}

// Review implements confirm.Reviewer. It passes over recorded questions that a rule
// answered without a reviewer.
func (a *Answers) Review(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, runs := req.Subject.(*confirm.Command)
	for i, q := range a.left {
		approved := q.Answer == string(audit.Approved)
		if !a.matches(q, req) || runs && approved && (!a.RunCommands || q.onlyReads()) {
			continue // nobody was shown a command that claims to only read
		}
		if approved && !a.ReadOutside && q.readsOutside(a.dir) {
			continue
		}
		a.left = a.left[i+1:]
		if q.By == "nobody" {
			return confirm.Verdict{}, confirm.ErrUndecided
		}
		v := confirm.Verdict{By: q.By, Rule: q.Rule, Feedback: q.Words}
		if approved {
			v.Decision, v.Feedback = confirm.Approve, ""
		}
		return v, nil
	}
	return confirm.Verdict{By: "replay", Rule: true, Feedback: "this question was not recorded"}, nil
}

func (a *Answers) matches(q Question, req confirm.Request) bool {
	if q.Tool != req.Tool {
		return false
	}
	about := req.Facts().About
	switch req.Subject.(type) {
	case *confirm.Edits:
		paths := strings.Split(about, "\n")
		for i, p := range paths {
			paths[i], _ = below(a.dir, p)
		}
		about = strings.Join(paths, "\n")
	case *confirm.Command, *confirm.Read:
	default:
		return false
	}
	return q.Kind == req.Facts().Kind && q.Subject == about
}
