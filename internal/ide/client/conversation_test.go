package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// recorded is where the conversations lie that an editor of ours has had.
var recorded = filepath.Join("..", "..", "..", "docs", "protocol")

// line is one line of a conversation. The lines that are left out here are about
// the editor's own side.
type line struct {
	Client json.RawMessage `json:"client"`
	Editor json.RawMessage `json:"editor"`
	Link   string          `json:"link"`
	Means  *meaning        `json:"means"`
}

// meaning is the conclusion that a client must draw about a review.
type meaning struct {
	Kind     string  `json:"kind"`
	Text     *string `json:"text"`
	Edited   bool    `json:"edited"`
	Feedback string  `json:"feedback"`
	Code     string  `json:"code"`
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *idetest.Error  `json:"error"`
}

type toolCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
}

func read[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	}
	return v
}

// conversation plays one of them with our own client on the one side.
type conversation struct {
	t      *testing.T
	editor *idetest.Editor
	client *client.Client
	events chan any

	seen    map[string]int        // requests by tool
	ours    map[string]pending    // by the recorded number
	reviews []string              // diff ids in the order in which they came
	ends    map[string][]*meaning // by diff id
	means   []*meaning
}

// pending is our call for a recorded one.
type pending struct {
	id     json.RawMessage // its real number
	conn   *idetest.Conn
	cancel context.CancelFunc
	diff   string
	over   chan *meaning
}

// TestConversations plays the recorded conversations: we send the recorded messages,
// and draw the recorded conclusions from the answers.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recorded, "*.jsonl"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d conversations, %v", len(files), err)
	}
	concluded := 0
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer("file://$DIR", uri(root("p")), "$DIR", filepath.ToSlash(root("p"))).Replace(string(data))
			c := &conversation{
				t: t, editor: idetest.Start(t, idetest.Ours()), events: make(chan any, 100),
				seen: map[string]int{}, ours: map[string]pending{}, ends: map[string][]*meaning{},
			}
			for l := range strings.Lines(text) {
				c.play(read[line](t, []byte(l)))
			}
			c.finish()
			concluded += len(c.means)
		})
	}
	if concluded < 10 {
		t.Errorf("only %d conclusions were checked", concluded)
	}
}

func (c *conversation) play(l line) {
	if string(l.Client) == "[]" {
		return // not ours to send
	}
	in, out := read[message](c.t, l.Client), read[message](c.t, l.Editor)
	switch {
	case in.Method == "initialize" && c.client == nil:
		return // Connect sends it when the answer is known
	case in.Method == "notifications/cancelled":
		p := c.ours[string(read[struct{ RequestID json.RawMessage }](c.t, in.Params).RequestID)]
		p.cancel()
		<-p.over
	case in.Method == "tools/call":
		c.call(in)
	case strings.Contains(string(out.Result), `"serverInfo"`):
		c.connect(out.Result)
	case out.Method != "":
		c.told(out)
	case l.Editor != nil:
		c.answer(out)
	case l.Link != "":
		c.editor.Drop()
		<-c.client.Done()
		c.client = nil
	case l.Means != nil:
		c.means = append(c.means, l.Means)
	}
}

// connect connects to an editor that greets as recorded. A second greeting on
// the same connection is not for us.
func (c *conversation) connect(greeting json.RawMessage) {
	if c.client != nil {
		return
	}
	c.editor.Handle("initialize", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Result: greeting} })
	for _, tool := range idetest.Ours().Listed {
		c.editor.Handle(tool, func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Reply{Silent: true} })
	}
	conn, err := client.Connect(c.t.Context(), candidate(c.editor), client.Options{Events: client.Events{
		Selection:   func(s client.Selection) { c.events <- s },
		Mention:     func(m client.Mention) { c.events <- m },
		Draft:       func(d client.DraftChange) { c.events <- d },
		Diagnostics: func(paths []string) { c.events <- paths },
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(conn.Close)
	c.client = conn
	if !conn.Info().Ours {
		c.t.Error("the greeting is not known for our own")
	}
}

// told passes a notification on and waits until it was understood.
func (c *conversation) told(m message) {
	c.editor.Notify(m.Method, m.Params)
	<-c.events
}

// answer gives a recorded answer to our call for the recorded one.
func (c *conversation) answer(m message) {
	p, ok := c.ours[string(m.ID)]
	if !ok {
		return
	}
	reply := idetest.Reply{Result: m.Result, Error: m.Error}
	p.conn.Reply(p.id, reply)
	end := <-p.over
	if p.diff != "" {
		c.ends[p.diff] = append(c.ends[p.diff], end)
	}
}

// call makes our call for a recorded one, if there is one, and compares the messages.
// Some recorded calls are wrong on purpose, to be refused.
func (c *conversation) call(m message) {
	want := read[toolCall](c.t, m.Params)
	args := read[map[string]any](c.t, want.Args)
	does := c.typed(want.Name, args)
	if does == nil {
		return
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	p := pending{cancel: cancel, over: make(chan *meaning, 1)}
	c.t.Cleanup(cancel)
	if id, isReview := args["diff_id"].(string); isReview {
		p.diff = id
		if !slices.Contains(c.reviews, id) {
			c.reviews = append(c.reviews, id)
		}
	}
	go func() { p.over <- does(ctx) }()
	c.seen[want.Name]++
	got := c.editor.WaitRequests(want.Name, c.seen[want.Name])
	sent := got[len(got)-1]
	p.id, p.conn = sent.ID, c.editor.Conns()[0]
	c.ours[string(m.ID)] = p
	ours := read[map[string]any](c.t, sent.Params)
	for _, more := range []string{"timeout_ms", "stack", "severity"} { // which we never ask for
		delete(args, more)
	}
	for _, all := range []map[string]any{args, ours} { // the paths of a diff are those that the conversation has
		for name, value := range all {
			if path, ok := value.(string); ok && strings.HasPrefix(path, filepath.ToSlash(root("p"))) {
				all[name] = filepath.FromSlash(path)
			}
		}
	}
	for name := range ours {
		if _, recorded := args[name]; !recorded && slices.Contains([]string{"tabName", "preview", "makeFrontmost", "tooltip"}, name) {
			delete(ours, name)
		}
	}
	if diff := cmp.Diff(args, ours); diff != "" {
		c.t.Errorf("%s (-recorded +sent): %s", want.Name, diff)
	}
}

// fileScheme returns the beginning of the URI of a file, before its path: with another slash before a drive.
func fileScheme() string { return strings.TrimSuffix(uri(root("p")), filepath.ToSlash(root("p"))) }

// typed returns our call for a recorded one, nil if we never make such a call.
func (c *conversation) typed(tool string, args map[string]any) func(context.Context) *meaning {
	text := func(name string) string {
		s, _ := args[name].(string)
		return s
	}
	path := filepath.FromSlash(text("filePath"))
	conn := c.client
	quiet := func(do func(context.Context) error) func(context.Context) *meaning {
		return func(ctx context.Context) *meaning { return refusal(do(ctx)) }
	}
	switch tool {
	case "openDiff":
		return c.open(args)
	case "close_tab":
		return quiet(func(ctx context.Context) error { return conn.Diffs.Close(ctx, text("tab_name")) })
	case "closeAllDiffTabs":
		return quiet(func(ctx context.Context) error { _, err := conn.Diffs.CloseAll(ctx); return err })
	case "resolveDiff":
		if outcome := text("outcome"); outcome == "hold" || outcome == "release" {
			return quiet(func(ctx context.Context) error { return conn.Diffs.Claim(ctx, text("diff_id"), outcome == "hold") })
		}
		return func(ctx context.Context) *meaning {
			d, err := conn.Diffs.Resolve(ctx, text("diff_id"), text("outcome") == "accept")
			if err != nil || text("outcome") != "accept" {
				return refusal(err)
			}
			return &meaning{Kind: "accepted", Text: &d.Text, Edited: d.Edited}
		}
	case "checkDocumentDirty":
		return quiet(func(ctx context.Context) error {
			b, err := conn.Documents.Buffer(ctx, path, args["includeText"] == true)
			if !b.Dirty || (b.Text != nil) != (args["includeText"] == true) {
				c.t.Errorf("buffer: %+v", b)
			}
			return err
		})
	case "saveDocument":
		return quiet(func(ctx context.Context) error { return conn.Documents.Save(ctx, path) })
	case "fileRemoved":
		return quiet(func(ctx context.Context) error {
			return conn.Documents.Removed(ctx, path, filepath.FromSlash(text("movedTo")))
		})
	case "setStatus":
		return quiet(func(ctx context.Context) error { return conn.SetStatus(ctx, text("state"), text("text"), "") })
	}
	return c.context(tool, args)
}

// context returns our call for one about the editor's state.
func (c *conversation) context(tool string, args map[string]any) func(context.Context) *meaning {
	docs, file := c.client.Documents, root("p", "main.go")
	check := func(what string, got bool, err error) *meaning {
		if err != nil || !got {
			c.t.Errorf("%s was not understood: %v", what, err)
		}
		return nil
	}
	switch tool {
	case "getCurrentSelection":
		return func(ctx context.Context) *meaning {
			s, err := docs.CurrentSelection(ctx)
			return check(tool, s.Path == file && s.Text == "println", err)
		}
	case "getLatestSelection":
		return func(ctx context.Context) *meaning {
			s, err := docs.LatestSelection(ctx)
			start, end := s.ClaimedLines()
			return check(tool, s.Path == file && start == 4 && end == 4, err)
		}
	case "getOpenEditors":
		return func(ctx context.Context) *meaning {
			tabs, err := docs.Tabs(ctx)
			return check(tool, len(tabs) == 1 && tabs[0].Path == file && tabs[0].Active, err)
		}
	case "getWorkspaceFolders":
		return func(ctx context.Context) *meaning {
			folders, err := docs.Folders(ctx)
			return check(tool, slices.Equal(folders, []string{root("p")}), err)
		}
	case "getDiagnostics":
		uri, _ := args["uri"].(string)
		path := filepath.FromSlash(strings.TrimPrefix(uri, fileScheme()))
		shown := !strings.HasSuffix(path, "other.go") // of the other nothing is known
		return func(ctx context.Context) *meaning {
			found, known, err := docs.Diagnostics(ctx, path, 0)
			return check(tool+" "+path, known == shown && (len(found) > 0) == shown && (!shown || found[0].Line == 4), err)
		}
	case "openFile":
		return func(ctx context.Context) *meaning { return check(tool, true, docs.Open(ctx, file, 4, 4)) }
	}
	return nil
}

// open returns the review for a recorded one.
func (c *conversation) open(args map[string]any) func(context.Context) *meaning {
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	given := read[struct {
		Path        string         `json:"old_file_path"`
		Text        *string        `json:"new_file_contents"`
		Tab         string         `json:"tab_name"`
		ID          string         `json:"diff_id"`
		Description string         `json:"description"`
		Base        string         `json:"base_sha256"`
		OnClose     client.OnClose `json:"on_close"`
		Batch       client.Batch   `json:"batch"`
		View        string         `json:"view"`
		New         string         `json:"new_file_path"`
		Removal     client.Removal `json:"removal"`
	}](c.t, raw)
	if given.Text == nil || !filepath.IsAbs(given.Path) {
		return nil
	}
	r := client.DiffRequest{
		Path: given.Path, Text: *given.Text, Tab: given.Tab, ID: given.ID, Description: given.Description,
		BaseSHA256: given.Base, OnClose: given.OnClose, Batch: given.Batch, Inline: given.View == "inline", Removal: given.Removal,
	}
	if given.Removal == client.Move {
		r.Path, r.From = given.New, given.Path
	}
	conn := c.client
	return func(ctx context.Context) *meaning {
		o, err := conn.Diffs.Open(ctx, r)
		switch {
		case err != nil:
			return refusal(err)
		case o.Kind == client.Accepted:
			return &meaning{Kind: "accepted", Text: &o.Text, Edited: o.Edited}
		case o.Kind == client.Rejected:
			return &meaning{Kind: "rejected", Feedback: o.Feedback}
		}
		return &meaning{Kind: "undecided"}
	}
}

// refusal is the meaning of an error for a review.
func refusal(err error) *meaning {
	var refused *client.ToolError
	if errors.As(err, &refused) {
		return &meaning{Kind: "refused", Code: refused.Code}
	}
	return &meaning{Kind: "undecided"}
}

// finish compares the conclusions: the first meaning is about the first review, the
// second about the second.
func (c *conversation) finish() {
	for i, want := range c.means {
		if i >= len(c.reviews) {
			c.t.Fatalf("there are %d meanings and %d reviews", len(c.means), len(c.reviews))
		}
		ends := c.ends[c.reviews[i]]
		found := slices.ContainsFunc(ends, func(m *meaning) bool { return cmp.Equal(want, m) })
		if want.Kind == "undecided" {
			found = !slices.ContainsFunc(ends, func(m *meaning) bool { return m.Kind == "accepted" || m.Kind == "rejected" })
		}
		if !found {
			c.t.Errorf("review %s: %s, none of which is %+v", c.reviews[i], show(ends), *want)
		}
	}
}

func show(all []*meaning) string {
	data, err := json.Marshal(all)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
