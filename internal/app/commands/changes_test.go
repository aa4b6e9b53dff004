package commands

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// threeTurns scripts three prompts that change three files.
const threeTurns = `
turns:
  - calls:
      - {tool: edit_file, args: {path: a.txt, old_string: one, new_string: two}}
      - {tool: write_file, args: {path: new/b.txt, content: "b\n"}}
  - text: First.
  - calls: [{tool: edit_file, args: {path: a.txt, old_string: two, new_string: "2\n2"}}]
  - text: Second.
  - calls: [{tool: write_file, args: {path: c.txt, content: "c\n"}}]
  - text: Third.
  - text: Again.
`

// afterThree returns a session that changed files in three turns and whose person
// approves everything.
func afterThree(t *testing.T) (*Set, *reviewer) {
	t.Helper()
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}
	s := sittingWith(t, r, threeTurns)
	for _, prompt := range []string{"first", "second", "third"} {
		s.say(t, prompt)
	}
	r.asked = nil
	return s, r
}

// tree returns the contents of the files.
func (s *Set) tree(t *testing.T) string {
	t.Helper()
	var out []string
	for _, name := range []string{"a.txt", "new/b.txt", "c.txt"} {
		data, err := os.ReadFile(filepath.Join(s.App.Dir, name))
		if err != nil {
			data = []byte("-")
		}
		out = append(out, strings.TrimSpace(strings.ReplaceAll(string(data), "\n", " ")))
	}
	return strings.Join(out, ", ")
}

// reply runs a line, which must not fail.
func (s *Set) reply(t *testing.T, line string) command.Reply {
	t.Helper()
	r, err := s.run(t, line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

// chosen returns the reply to the choice whose title has the given prefix.
func chosen(t *testing.T, r command.Reply, title string) command.Reply {
	t.Helper()
	if r.Pick == nil {
		t.Fatalf("no picker for %q: %+v", title, r)
	}
	for _, it := range r.Pick.Items {
		if strings.HasPrefix(it.Title, title) {
			out, err := r.Pick.Choose(t.Context(), it.ID)
			if err != nil {
				t.Fatalf("%s: %v", title, err)
			}
			return out
		}
	}
	t.Fatalf("no %q among %+v", title, r.Pick.Items)
	return command.Reply{}
}

// items returns the entries of a picker.
func items(r command.Reply) []string {
	var out []string
	for _, it := range r.Pick.Items {
		out = append(out, strings.TrimSuffix(strings.Join(append([]string{joinedBy(": ", it.Title, it.Detail)}, it.Cells...), " | "), " | "))
	}
	return out
}

func joinedBy(sep, a, b string) string {
	if b == "" {
		return a
	}
	return a + sep + b
}

func TestUndoAsksInEveryMode(t *testing.T) {
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}
	s := sitting(t, r)
	s.say(t, "change it")
	if out := s.text(t, "/permissions accept-edits"); !strings.HasPrefix(out, "Accept-edits mode: edits are saved") {
		t.Error(out)
	}
	r.verdict = confirm.Verdict{}
	if out := s.text(t, "/undo"); out != "nothing was undone" || s.file(t) != "two\n" {
		t.Errorf("after no: %q, %q", out, s.file(t))
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve}
	if out := s.text(t, "/undo turn"); out != "undone: a.txt" || s.file(t) != "one\n" {
		t.Errorf("after yes: %q, %q", out, s.file(t))
	}
	if d := cmp.Diff([]string{"edit_file", "undo", "undo"}, r.asked); d != "" {
		t.Error(d)
	}
	for wrong, want := range map[string]string{
		"/undo": "nothing to undo in this session", "/undo a.txt": "nothing to undo in that file", "/undo ../x": "outside", "/redo it": "takes no argument",
	} {
		if _, err := s.run(t, wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestUndoAndRedoStepByStep(t *testing.T) {
	s, _ := afterThree(t)
	for _, step := range []struct{ line, text, tree string }{
		{"/undo", "undone: c.txt", "2 2, b, -"},
		{"/undo a.txt", "undone: a.txt", "two, b, -"},
		{"/redo", "redone: a.txt", "2 2, b, -"},
		{"/redo", "redone: c.txt", "2 2, b, c"},
	} {
		if got := s.text(t, step.line); got != step.text || s.tree(t) != step.tree {
			t.Errorf("%s: %q, %q", step.line, got, s.tree(t))
		}
	}
	if _, err := s.run(t, "/redo"); err == nil || !strings.Contains(err.Error(), "nothing to redo") {
		t.Error(err)
	}
}

// TestUndoKeepsToItsSession: /undo does not take back another session's changes in the
// same folder.
func TestUndoKeepsToItsSession(t *testing.T) {
	s, _ := afterThree(t)
	s.reply(t, "/clear")
	if _, err := s.run(t, "/undo"); err == nil || !strings.Contains(err.Error(), "in this session") {
		t.Error(err)
	}
	if out := s.text(t, "/diff"); !strings.Contains(out, "No changes in this session") {
		t.Error(out)
	}
}

func TestUndoOfSeveralFiles(t *testing.T) {
	s, r := afterThree(t)
	s.reply(t, "/undo")
	s.reply(t, "/undo")
	r.asked, r.verdict = nil, confirm.Verdict{}
	if out := s.text(t, "/undo turn"); out != "nothing was undone" || s.tree(t) != "two, b, -" {
		t.Errorf("after no: %q, %q", out, s.tree(t))
	}
	if d := cmp.Diff([]string{"undo"}, r.asked); d != "" || !r.last.Force || confirm.As[*confirm.Edits](r.last) == nil || len(confirm.As[*confirm.Edits](r.last).Changes) != 2 {
		t.Errorf("%s asked %+v", d, r.last)
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve, Except: []int{0}}
	if out := s.text(t, "/undo turn"); out != "undone: new/b.txt" || s.tree(t) != "two, -, -" {
		t.Errorf("%q, %q", out, s.tree(t))
	}
	r.verdict.Except = nil
	if out := s.text(t, "/undo turn"); out != "undone: a.txt" || s.tree(t) != "one, -, -" {
		t.Errorf("%q, %q", out, s.tree(t))
	}
	for _, want := range []string{"two, -, -", "two, b, -"} {
		if s.reply(t, "/redo"); s.tree(t) != want {
			t.Errorf("after redo %q, want %q", s.tree(t), want)
		}
	}
}

// TestUndoLeavesWhatOthersChanged: files that cannot be restored are named, and the rest
// can be restored.
func TestUndoLeavesWhatOthersChanged(t *testing.T) {
	s, r := afterThree(t)
	scratch.Write(t, filepath.Join(s.App.Dir, "c.txt"), "mine\n")
	if _, err := s.run(t, "/undo"); err == nil || !strings.Contains(err.Error(), "c.txt cannot be undone") {
		t.Error(err)
	}
	reply := chosen(t, s.reply(t, "/rewind"), "first")
	if reply.Text != "c.txt cannot be restored: somebody else has changed it since\n" {
		t.Errorf("%q", reply.Text)
	}
	out := chosen(t, reply, "The files only")
	if !strings.Contains(out.Text, "put back: a.txt, new/b.txt\n") || s.tree(t) != "one, -, mine" {
		t.Errorf("%+v, %q", out, s.tree(t))
	}
	if d := cmp.Diff(caution.Notes("c.txt is unchanged: somebody else has changed it since"), r.last.Notes); d != "" {
		t.Error(d)
	}
	reply = chosen(t, chosen(t, s.reply(t, "/rewind"), "first"), "Files that others changed since, too")
	if out := chosen(t, reply, "The files only"); !strings.Contains(out.Text, "put back: c.txt\n") || s.tree(t) != "one, -, -" {
		t.Errorf("%+v, %q", out, s.tree(t))
	}
	if d := cmp.Diff(caution.Notes("c.txt: changes by others in it are lost, too"), r.last.Notes); d != "" {
		t.Error(d)
	}
	if s.reply(t, "/redo"); s.tree(t) != "one, -, mine" {
		t.Errorf("what others changed is not back: %q", s.tree(t))
	}
}

func TestRewind(t *testing.T) {
	s, r := afterThree(t)
	list := s.reply(t, "/rewind")
	want := []string{
		"third | 1 file +1 −0 | just now", "second | 2 files +3 −1 | just now", "first | 3 files +4 −1 | just now",
	}
	if d := cmp.Diff(want, items(list)); d != "" {
		t.Error(d)
	}
	if got := list.Pick.Items[1].Preview(); got != "a.txt  +2 −1\nc.txt  +1 −0 · new" {
		t.Errorf("the preview is %q", got)
	}
	at := chosen(t, list, "second")
	want = []string{
		"Files and conversation: 2 files +1 −3, 2 prompts", "The files only: 2 files +1 −3; the conversation stays",
		"The conversation only: 2 prompts; the files stay",
	}
	if d := cmp.Diff(want, items(at)); d != "" {
		t.Error(d)
	}
	const files, talk = "a.txt  +1 −2\nc.txt  +0 −1", "removed, with their answers:\n  second\n  third"
	for i, want := range []string{files + "\n" + talk, files, talk} {
		if got := at.Pick.Items[i].Preview(); got != want {
			t.Errorf("the preview of %q is %q", at.Pick.Items[i].Title, got)
		}
	}
	r.verdict = confirm.Verdict{}
	out := chosen(t, at, "Files and conversation")
	if s.tree(t) != "2 2, b, c" || out.Session != nil || len(s.App.Loop.Prompts()) != 3 {
		t.Errorf("after no: %+v, %q", out, s.tree(t))
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve}
	out = chosen(t, at, "Files and conversation")
	if s.tree(t) != "two, b, -" || out.Insert != "second" || out.Session == nil || !strings.Contains(out.Text, "put back: a.txt, c.txt") {
		t.Errorf("%+v, %q", out, s.tree(t))
	}
	if n := len(s.App.Loop.Prompts()); n != 1 {
		t.Errorf("%d prompts are left", n)
	}
	s.say(t, "something else")
	if d := cmp.Diff([]string{"something else", "first"}, titles(s.reply(t, "/rewind"))); d != "" {
		t.Error(d)
	}
	if out := s.text(t, "/redo"); out != "redone: a.txt, c.txt" || s.tree(t) != "2 2, b, c" {
		t.Errorf("the rewind taken back: %q, %q", out, s.tree(t))
	}
}

func titles(r command.Reply) []string {
	var out []string
	for _, it := range r.Pick.Items {
		out = append(out, it.Title)
	}
	return out
}

// TestRewindOfTheConversationAlone: the files stay, and a later rewind to an earlier
// prompt still restores them.
func TestRewindOfTheConversationAlone(t *testing.T) {
	s, _ := afterThree(t)
	out := chosen(t, chosen(t, s.reply(t, "/rewind"), "second"), "The conversation only")
	if out.Insert != "second" || s.tree(t) != "2 2, b, c" || len(s.App.Loop.Prompts()) != 1 {
		t.Errorf("%+v, %q", out, s.tree(t))
	}
	chosen(t, chosen(t, s.reply(t, "/rewind"), "first"), "The files only")
	if s.tree(t) != "one, -, -" {
		t.Errorf("%q", s.tree(t))
	}
	if d := cmp.Diff([]string{"The conversation only: 1 prompt; the files stay"}, items(chosen(t, s.reply(t, "/rewind"), "first"))); d != "" {
		t.Error(d)
	}
}

// TestRewindGoesBackBeforeUndos: the files get their content from before the prompt,
// including changes that were undone after it.
func TestRewindGoesBackBeforeUndos(t *testing.T) {
	s, _ := afterThree(t)
	s.reply(t, "/undo")
	s.reply(t, "/undo")
	if s.tree(t) != "two, b, -" {
		t.Fatalf("%q", s.tree(t))
	}
	want := []string{"third | 1 file +1 −2 | just now", "second | no change | just now", "first | 2 files +2 −1 | just now"}
	list := s.reply(t, "/rewind")
	if d := cmp.Diff(want, items(list)); d != "" {
		t.Error(d)
	}
	chosen(t, chosen(t, list, "third"), "The files only")
	if s.tree(t) != "2 2, b, -" {
		t.Errorf("%q", s.tree(t))
	}
	if out := s.text(t, "/undo"); out != "undone: a.txt" || s.tree(t) != "two, b, -" {
		t.Errorf("what the rewind brought back cannot be undone: %q, %q", out, s.tree(t))
	}
}

func TestRewindOfNothing(t *testing.T) {
	s := sitting(t, &reviewer{})
	if _, err := s.run(t, "/rewind"); err == nil || !strings.Contains(err.Error(), "no prompt") {
		t.Error(err)
	}
}

func TestDiff(t *testing.T) {
	s, _ := afterThree(t)
	list := s.reply(t, "/diff")
	want := []string{"all 3 files | +4 −1 | ", "a.txt | +2 −1 | ++−", "new/b.txt | +1 −0 | + | new", "c.txt | +1 −0 | + | new"}
	if d := cmp.Diff(want, items(list)); d != "" {
		t.Error(d)
	}
	if got := list.Pick.Items[2].Preview(); got != "@@ -0,0 +1 @@\n+b" || beginning("") != "" {
		t.Errorf("the preview is %q", got)
	}
	for title, want := range map[string]string{"all": "new/b.txt", "a.txt": "+2"} {
		out := chosen(t, list, title)
		if out.Page == nil || out.Pick == nil || !strings.Contains(page(out), want) {
			t.Errorf("%s: %+v", title, out)
		}
	}
	if out := s.reply(t, "/diff a.txt"); out.Text != "" || !strings.Contains(out.Diff, "-one\n+2\n+2\n") {
		t.Errorf("%+v", out)
	}
	if out := chosen(t, s.reply(t, "/diff turn"), "second"); !strings.Contains(out.Diff, "-two\n+2\n+2\n") {
		t.Errorf("the second turn: %+v", out)
	}
	s.reply(t, "/undo")
	if d := cmp.Diff([]string{"second", "first"}, titles(s.reply(t, "/diff turn"))); d != "" {
		t.Error(d)
	}
}

// page returns the text of a reply's page.
func page(r command.Reply) string {
	var out []string
	for i := range r.Page.Doc.Len() {
		out = append(out, r.Page.Doc.Text(i))
	}
	return strings.Join(out, "\n")
}

// TestDiffOutlivesTheProgram: a resumed session knows its earlier changes.
func TestDiffOutlivesTheProgram(t *testing.T) {
	s, _ := afterThree(t)
	id := s.App.Current().ID()
	s.reply(t, "/clear")
	s.reply(t, "/resume "+id)
	if d := cmp.Diff([]string{"all 3 files", "a.txt", "new/b.txt", "c.txt"}, titles(s.reply(t, "/diff"))); d != "" {
		t.Error(d)
	}
}

func TestRemarks(t *testing.T) {
	for want, n := range map[string]undo.Net{
		"":                             {},
		"new · with changes by others": {Created: true, Others: true},
		"deleted":                      {Deleted: true},
		"created and deleted":          {Created: true, Deleted: true},
		"unknown: context canceled":    {Err: context.Canceled},
	} {
		if got := remarks(n); got != want {
			t.Errorf("%+v: %q", n, got)
		}
	}
	long := undo.Net{Name: "f", After: strings.Repeat("x\n", 100), Created: true}
	if r := showNets("", []undo.Net{long}); r.Page == nil || r.Page.Title != "f · 1 file +100 −0 · new" {
		t.Errorf("%+v", r)
	}
	if r := showNets("", []undo.Net{{Name: "f", Before: "x\n", After: "x\n"}}); r.Text != "f is unchanged" {
		t.Errorf("%+v", r)
	}
}

func TestAgo(t *testing.T) {
	now := time.Unix(1e9, 0)
	for want, d := range map[string]time.Duration{
		"just now": time.Second, "59 min ago": time.Hour - 1, "47 h ago": 47 * time.Hour, "3 days ago": 80 * time.Hour,
	} {
		if got := ago(d, now); got != want {
			t.Errorf("%v: %q", d, got)
		}
	}
	if got := ago(time.Hour, time.Time{}); got != "" {
		t.Errorf("of no time: %q", got)
	}
}

// TestTheModelIsToldWhatBecameOfItsFiles: the next prompt, and no other, carries the
// note; a rewind to it inserts the user's words alone.
func TestTheModelIsToldWhatBecameOfItsFiles(t *testing.T) {
	s, _ := afterThree(t)
	s.reply(t, "/undo")
	s.say(t, "go on")
	all := s.App.Messages()
	told := all[len(all)-2]
	if !strings.Contains(told.Text(), "undid the last changes of these files: c.txt. Read") || told.UserText() != "go on" {
		t.Errorf("the model is told %q; the user said %q", told.Text(), told.UserText())
	}
	out := chosen(t, chosen(t, s.reply(t, "/rewind"), "go on"), "The conversation only")
	if out.Insert != "go on" {
		t.Errorf("at the prompt is %q", out.Insert)
	}
	chosen(t, chosen(t, s.reply(t, "/rewind"), "second"), "The conversation only")
	if got := s.App.Remarks.Take(); !strings.Contains(got, "kept these files, which were changed after it: a.txt.") {
		t.Errorf("after the conversation went back: %q", got)
	}
	out = chosen(t, chosen(t, s.reply(t, "/rewind"), "first"), "Files and conversation")
	if got := s.App.Remarks.Take(); out.Session == nil || got != "" {
		t.Errorf("after both went back: %q", got)
	}
	s.reply(t, "/redo")
	s.reply(t, "/undo")
	s.reply(t, "/clear")
	if got := s.App.Remarks.Take(); got != "" {
		t.Errorf("a new session is told %q", got)
	}
	many := make([]string, maxNamed+2)
	changes{s}.notifyModel(modelNote{"Change", "changed"}, many)
	if got := s.App.Remarks.Take(); !strings.Contains(got, " and 2 more. ") || strings.Count(got, ",") != maxNamed-1 {
		t.Errorf("of many files: %q", got)
	}
}

// TestRewindBeyondTheJournal: the question warns that older changes are unknown.
func TestRewindBeyondTheJournal(t *testing.T) {
	s, r := afterThree(t)
	logs, err := filepath.Glob(filepath.Join(s.App.Config.Home, "undo", "*", "*.live"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	lost := filepath.Join(filepath.Dir(logs[0]), "lost")
	scratch.Write(t, lost, time.Now().Add(time.Hour).Format(time.RFC3339Nano))
	chosen(t, chosen(t, s.reply(t, "/rewind"), "first"), "The files only")
	if len(r.last.Notes) != 1 || !strings.Contains(r.last.Notes[0].Text, "Undo knows only the changes since ") {
		t.Errorf("notes %q", r.last.Notes)
	}
	if Stopped(s.App.Root) != "" {
		t.Error("an undo that came to its end is mentioned")
	}
}

// TestAForkGoesBackToo: a fork can be rewound to before the fork, with the files.
func TestAForkGoesBackToo(t *testing.T) {
	s, _ := afterThree(t)
	for range 2 {
		id := s.App.Current().ID()
		s.reply(t, "/clear") // lets go of it
		fork, err := s.App.Archive.Fork(id, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.App.Use(fork); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"all 3 files", "a.txt", "new/b.txt", "c.txt"}, titles(s.reply(t, "/diff"))); d != "" {
		t.Error(d)
	}
	chosen(t, chosen(t, s.reply(t, "/rewind"), "second"), "Files and conversation")
	if s.tree(t) != "two, b, -" {
		t.Errorf("%q", s.tree(t))
	}
	if s.reply(t, "/redo"); s.tree(t) != "2 2, b, c" {
		t.Errorf("after redo %q", s.tree(t))
	}
}

func TestSketch(t *testing.T) {
	p := prompt{Prompt: history.Prompt{Text: "one\ntwo\n"}}
	if got := p.sketch(nil)(); got != "one\ntwo" {
		t.Errorf("%q", got)
	}
	p.Text = "one"
	if got := p.sketch(make([]undo.Net, maxSketch+3))(); !strings.HasSuffix(got, "\n… 3 more") || strings.HasPrefix(got, "one") {
		t.Errorf("%q", got)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine(" a\n\n b\t" + strings.Repeat("é", maxTitle)); !strings.HasPrefix(got, "a b éé") || len(got) > maxTitle {
		t.Errorf("%q", got)
	}
}

// TestTheLedgerKnowsWhatTheUserDid: the list of deeds in a compaction has no undone edits,
// and has the commands that the user ran.
func TestTheLedgerKnowsWhatTheUserDid(t *testing.T) {
	long := strings.Repeat("It is done. ", 1000)
	s := sittingWith(t, &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}, threeTurns+"  - text: "+long+"\n  - text: Short.\n")
	for _, prompt := range []string{"first", "second"} {
		s.say(t, prompt)
	}
	s.reply(t, "/undo")
	s.reply(t, "/redo")
	s.say(t, "third")
	chosen(t, chosen(t, s.reply(t, "/rewind"), "third"), "The files only")
	if err := s.App.Shell(t.Context(), "echo  'a\nb'"); err != nil {
		t.Fatal(err)
	}
	s.say(t, "again")
	s.say(t, "and at length")
	s.say(t, "again")
	s.reply(t, "/compact")
	told := regexp.MustCompile(`exit 0, \d+\.\d s`).ReplaceAllString(s.text(t, "/compact show"), "exit 0") // on a slow machine
	want := "\n- Edit a.txt: +1 −1\n- Write new/b.txt: +1 −0\n- Edit a.txt: +2 −1\n" +
		"- Undo a.txt: the user undid the last changes of these files\n" +
		"- Redo a.txt: the user redid undone changes of these files\n" +
		"- Write c.txt: +1 −0\n" +
		"- Rewind c.txt: the user undid all changes since an earlier point of the conversation in these files\n" +
		"- Run what follows: exit 0, run by the user\n```\necho  'a\nb'\n```\n"
	if !strings.Contains(told, want) {
		t.Errorf("no\n%s\nin\n%s", want, told)
	}
}

// The question of an undo names its range: a move is two files, but not a turn.
func TestUndoIsNamed(t *testing.T) {
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}
	s := sittingWith(t, r, `
turns:
  - calls:
      - {tool: write_file, args: {path: c.txt, content: "c\n"}}
      - {tool: move_file, args: {path: a.txt, to: b.txt}}
  - text: Moved.
`)
	s.say(t, "move it")
	r.verdict = confirm.Verdict{}
	for line, want := range map[string]string{"/undo": "undo the last change", "/undo turn": "undo the last turn"} {
		s.text(t, line)
		if confirm.As[*confirm.Edits](r.last) == nil || confirm.As[*confirm.Edits](r.last).Title != want {
			t.Errorf("%s: %+v, want %s", line, confirm.As[*confirm.Edits](r.last), want)
		}
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve}
	for _, step := range [][2]string{
		{"/undo", "undo the last change"},
		{"/undo", "undo the last change: removes the file"},
		{"/redo", "redo what was undone: restores the file"},
		{"/undo c.txt", "undo the last change: removes the file"},
	} {
		s.text(t, step[0])
		if got := confirm.As[*confirm.Edits](r.last).Title; got != step[1] {
			t.Errorf("%s: %q, want %q", step[0], got, step[1])
		}
	}
}

// A file that moved is one entry, also with some of its lines changed; bars keep their proportion.
func TestAMoveIsOneEntry(t *testing.T) {
	ten := strings.Repeat("line\n", 10)
	got := moved([]undo.Net{
		{Name: "old", Before: ten, Deleted: true},
		{Name: "other", After: "x\n", Created: true},
		{Name: "new", After: ten + "more\n", Created: true},
		{Name: "gone", Before: "quite\ndifferent\n", Deleted: true},
		{Name: "kept", Before: "a\n", After: "b\n"},
	})
	var names []string
	for _, n := range got {
		added, removed := n.Counts()
		names = append(names, titleOf(n)+" "+signed(added, removed))
	}
	if d := cmp.Diff([]string{"other +1 −0", "old → new +1 −0", "gone +0 −2", "kept +1 −1"}, names); d != "" {
		t.Error(d)
	}
	if d := got[1].Diff(); !strings.Contains(d, "rename from old\nrename to new\n") {
		t.Error(d)
	}
	for _, c := range []struct {
		added, removed, most int
		want                 string
	}{{1, 1, 2, "+−"}, {160, 0, 160, strings.Repeat("+", 16)}, {1, 79, 160, "+−−−−−−−"}, {0, 0, 160, ""}} {
		if got := stat(c.added, c.removed, c.most); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
