package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	endTime  = 2 * time.Second // of a server that is asked to end
	busyLook = 50 * time.Millisecond
	// settleTime is for how long an empty answer is not believed: servers read a text that they just got
	// beside the first questions, and not all report that they are busy.
	settleTime = 1500 * time.Millisecond
	// maxOpen is the number of texts that a server holds open. The ones before are closed.
	maxOpen = 50
	// maxMemory is the memory of a server that runs in no room, in bytes, as far as the system can limit it: the need of a
	// type checker for a very large project, and half of a small machine.
	maxMemory = 4 << 30
	// maxSettings bounds the settings that a server asks for at once, and the kinds of work that it reports.
	maxSettings = 1000
	// maxAnswer bounds an answer, in bytes: its values take many times as much.
	maxAnswer = 8 << 20
	// maxLate is the number of questions in a row that a server may leave unanswered while it claims to work.
	maxLate = 3
	// maxTail is how much of the last standard error is kept, in bytes.
	maxTail = 1 << 10
)

// process is a running server.
type process struct {
	Usable
	cmd    *exec.Cmd
	conn   *jsonrpc.Conn
	input  io.Closer
	last   *child.Tail // of its standard error
	exited chan struct{}
	begun  chan struct{} // closed once it is initialized, or failed
	ending chan struct{} // closed by end
	once   sync.Once

	asks int    // questions that are not answered yet; guarded by Servers.mu, as stay is
	stay func() // keeps it from ending as it is idle
	late int    // questions in a row without an answer

	mu       sync.Mutex // guards the rest
	failed   error      // of the initialization
	encoding string     // of positions
	busy     map[string]bool
	open     []*heldText // the last one used at the end
	changed  map[string]bool
	told     map[string]*report      // by URI
	files    map[string][]diagnostic // errors of those that are not open, by path, while they are watched
	serial   int                     // of the last report
	news     chan struct{}           // closed by the next report
	born     time.Time               // of the first text

	pulls bool          // it is asked for problems; set before begun is closed
	turn  chan struct{} // holds a token while a question is asked
}

// heldText is a text that a server holds open in place of the file.
type heldText struct {
	uri, text string
	version   int
	since     int // the last report before it
}

// start starts a server, which outlives the question in ctx.
func start(ctx context.Context, u Usable, opt Options) (*process, error) {
	ctx = context.WithoutCancel(ctx)
	cmd := lookpath.Command(u.Path, u.Command[1:]...)
	cmd.Dir = opt.Folders[0]
	cmd.Env = opt.Programs.Environ(opt.Env)
	last := &child.Tail{Limit: maxTail}
	cmd.Stderr = last
	confined := opt.Confined(ctx)
	var by child.Starter
	if opt.Start != nil {
		by = func(cmd *exec.Cmd) (func(), error) { return opt.Start(ctx, cmd, confined) }
	}
	piped, err := child.StartPiped(cmd, by)
	if err != nil {
		return nil, err
	}
	if !confined { // a room has a limit for all of its processes
		child.Limit(cmd, maxMemory)
	}
	p := &process{
		Usable: u, cmd: cmd, conn: jsonrpc.New(piped.Out, piped.In, jsonrpc.Headers{}), input: piped.In, last: last,
		exited: make(chan struct{}), begun: make(chan struct{}), ending: make(chan struct{}), busy: map[string]bool{}, changed: map[string]bool{},
		told: map[string]*report{}, news: make(chan struct{}), turn: make(chan struct{}, 1), stay: func() {},
	}
	p.conn.Handle, p.conn.Notified, p.conn.Patience = p.handle, p.notified, askTime
	go p.run(ctx, piped)
	go func() {
		defer crash.Guard()
		<-p.ending
		p.shutDown(ctx)
	}()
	go func() {
		defer crash.Guard()
		err := p.initialize(ctx, opt.Folders)
		p.mu.Lock()
		p.failed = err
		p.mu.Unlock()
		close(p.begun)
	}()
	return p, nil
}

// run serves the connection until the server's end, and waits for that.
func (p *process) run(ctx context.Context, piped child.Piped) {
	defer crash.Guard()
	served := make(chan struct{})
	go func() {
		defer crash.Guard()
		_ = p.conn.Serve(ctx) // its end, or nonsense: it is of no use any more
		p.conn.Close()
		child.KillGroup(p.cmd)
		close(served)
	}()
	_ = p.cmd.Wait() // nobody needs its status
	piped.Ended()
	select {
	case <-served:
	case <-time.After(p.cmd.WaitDelay): // a program that it has left may hold its output
	}
	_ = piped.Out.Close()
	<-served
	close(p.exited)
}

// initialize introduces the two programs to each other.
func (p *process) initialize(ctx context.Context, folders []string) error {
	type folder struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	var all []folder
	for _, dir := range folders {
		all = append(all, folder{uriOf(dir), filepath.Base(dir)})
	}
	params := map[string]any{
		"processId": os.Getpid(), "rootUri": all[0].URI, "rootPath": folders[0], "workspaceFolders": all,
		"capabilities": json.RawMessage(capabilities),
	}
	if p.Settings != "" {
		params["initializationOptions"] = json.RawMessage(p.Settings)
	}
	var got struct {
		Capabilities struct {
			PositionEncoding string          `json:"positionEncoding"`
			Diagnostics      json.RawMessage `json:"diagnosticProvider"`
		} `json:"capabilities"`
	}
	ctx, cancel := p.alive(ctx)
	defer cancel()
	if err := p.conn.Call(ctx, "initialize", params, &got); err != nil {
		return p.why(err)
	}
	p.mu.Lock()
	p.encoding, p.pulls = got.Capabilities.PositionEncoding, len(got.Capabilities.Diagnostics) > 0
	p.mu.Unlock()
	p.conn.Notify("initialized", struct{}{})
	return nil
}

// ready waits until the server is initialized.
func (p *process) ready(ctx context.Context) error {
	select {
	case <-p.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// inTurn asks one question at a time: a server may hold a proposed text for one.
func (p *process) inTurn(ctx context.Context, question func(context.Context, peer) error) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p.tellChanges()
	return question(ctx, p)
}

func (p *process) hasEnded() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// why returns err, or why the server has ended.
func (p *process) why(err error) error {
	if !p.hasEnded() {
		return err
	}
	said := strings.TrimSpace(sanitize.StripANSI(p.last.String()))
	if said != "" {
		return fmt.Errorf("the server ended: %s", sanitize.Line(said[strings.LastIndexByte(said, '\n')+1:]))
	}
	return errors.New("the server ended")
}

// end ends the server, and waits for that.
func (p *process) end() {
	p.once.Do(func() { close(p.ending) })
	<-p.exited
}

// shutDown asks the server to end, and kills its last processes.
func (p *process) shutDown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	go func() { // it may read nothing
		defer crash.Guard()
		if !p.hasEnded() && p.conn.Call(ctx, "shutdown", nil, &json.RawMessage{}) == nil {
			p.conn.Notify("exit", nil)
		}
		_ = p.input.Close()
	}()
	select {
	case <-p.exited:
	case <-ctx.Done():
		child.KillGroup(p.cmd)
	}
}

// alive returns a context that ends with the server.
func (p *process) alive(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer crash.Guard()
		select {
		case <-p.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// call asks the server. While an answer looks empty and the server
// reads the project, it asks again.
func (p *process) call(ctx context.Context, method string, params, result any, empty func() bool) error {
	ctx, cancel := p.alive(ctx)
	defer cancel()
	for begun := time.Now(); ; {
		busy := p.isBusy() || time.Since(begun) < settleTime
		var data json.RawMessage
		if err := p.conn.Call(ctx, method, params, &data); err != nil {
			return p.why(err)
		}
		if err := read(data, result); err != nil {
			return err
		}
		if !empty() || !busy {
			return nil
		}
		select {
		case <-time.After(busyLook):
		case <-ctx.Done():
			return p.why(ctx.Err())
		}
	}
}

// settled waits until the server knows the project: an answer about a part of it looks like one about all.
func (p *process) settled(ctx context.Context) error {
	ctx, cancel := p.alive(ctx)
	defer cancel()
	for {
		p.mu.Lock()
		settles := len(p.busy) > 0 || time.Since(p.born) < settleTime
		p.mu.Unlock()
		if !settles {
			return nil
		}
		select {
		case <-time.After(busyLook):
		case <-ctx.Done():
			return p.why(ctx.Err())
		}
	}
}

// read decodes an answer.
func read(data json.RawMessage, result any) error {
	if len(data) > maxAnswer {
		return fmt.Errorf("its answer has more than %d MB", maxAnswer>>20)
	}
	if err := json.Unmarshal(data, result); err != nil {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	return nil
}

func (p *process) isBusy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.busy) > 0
}

// handle answers a request of the server. Nothing that it wants to change is changed.
func (p *process) handle(_ context.Context, method string, params json.RawMessage) func() (any, error) {
	return func() (any, error) {
		switch method {
		case "workspace/configuration":
			var asked struct{ Items []struct{} }
			_ = json.Unmarshal(params, &asked) // of another form: no settings
			return make([]any, min(len(asked.Items), maxSettings)), nil
		case "workspace/applyEdit":
			return map[string]any{"applied": false, "failureReason": "changes need an answer of the person"}, nil
		case "workspace/workspaceFolders", "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
			return nil, nil
		}
		return nil, jsonrpc.NewError(jsonrpc.UnknownMethod, "unknown method "+method)
	}
}

// notified notes which work of the server goes on. It passes over everything else.
func (p *process) notified(method string, params json.RawMessage) {
	var progress struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if method == "textDocument/publishDiagnostics" {
		p.published(params)
		return
	}
	if method != "$/progress" || json.Unmarshal(params, &progress) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch progress.Value.Kind {
	case "begin":
		if len(progress.Token) <= maxTail && len(p.busy) < maxSettings {
			p.busy[string(progress.Token)] = true
		}
	case "end":
		delete(p.busy, string(progress.Token))
	}
}

// at has the server hold a text, and returns the parameters for a place in it.
func (p *process) at(at Place) map[string]any {
	uri := uriOf(at.Path)
	p.hold(uri, p.Languages[strings.ToLower(filepath.Ext(at.Path))], at.Text)
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": p.counts().positionOf(at.Text, at.Offset)}
}

func (p *process) counts() counting {
	p.mu.Lock()
	defer p.mu.Unlock()
	return counting(p.encoding == "utf-8")
}

// hold tells the server a text, if it has another.
func (p *process) hold(uri, language, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, d := range p.open {
		if d.uri != uri {
			continue
		}
		p.open = append(append(p.open[:i:i], p.open[i+1:]...), d)
		if d.text != text {
			d.version++
			d.text, d.since = text, p.serial
			p.conn.Notify("textDocument/didChange", map[string]any{
				"textDocument":   map[string]any{"uri": uri, "version": d.version},
				"contentChanges": []any{map[string]any{"text": text}},
			})
		}
		return
	}
	if p.born.IsZero() {
		p.born = time.Now()
	}
	p.open = append(p.open, &heldText{uri, text, 1, p.serial})
	p.conn.Notify("textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": language, "version": 1, "text": text},
	})
	if len(p.open) > maxOpen {
		p.close(0)
	}
}

// drop has the server no longer hold a text.
func (p *process) drop(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.open, func(d *heldText) bool { return d.uri == uri }); i >= 0 {
		p.close(i)
	}
}

// close has the server read a text that it holds from disk again. mu is held.
func (p *process) close(i int) {
	p.conn.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": p.open[i].uri}})
	delete(p.told, p.open[i].uri)
	p.open = slices.Delete(p.open, i, i+1)
}

func (p *process) noteChanged(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed[path] = true
}

// tellChanges tells the server which files have changed since it read them. It no longer holds their texts.
func (p *process) tellChanges() {
	const created, removed = 1, 3 // one that was there is read again, too
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []map[string]any
	for path := range p.changed {
		kind := created
		if _, err := os.Lstat(path); err != nil {
			kind = removed
		}
		uri := uriOf(path)
		all = append(all, map[string]any{"uri": uri, "type": kind})
		if i := slices.IndexFunc(p.open, func(d *heldText) bool { return d.uri == uri }); i >= 0 {
			p.close(i)
		}
	}
	if len(all) > 0 {
		clear(p.changed)
		p.conn.Notify("workspace/didChangeWatchedFiles", map[string]any{"changes": all})
	}
}
