package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// maxLog bounds the file with a program's standard error, in bytes.
const maxLog = 1 << 20

// inherited names the variables that every program gets.
var inherited = []string{
	"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
	"APPDATA", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
}

// program is a running server, in a process group of its own.
type program struct {
	cmd    *exec.Cmd
	stdin  *inputQueue
	stdout io.ReadCloser
	log    *log
	exited chan struct{}
	state  error // of the exit; read it after exited
	once   sync.Once
}

// startProgram starts cfg's command. The file at logPath gets its standard error.
func startProgram(cfg Server, opt Options, logPath string) (*program, error) {
	programs := opt.Programs
	path, err := findProgram(cfg, programs)
	if err != nil {
		return nil, err
	}
	cmd := lookpath.Command(path, cfg.Command[1:]...)
	cmd.Dir = cfg.Dir
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(programs.Environ(cmd.Env), cfg.Env...) // an entry's own counts
	l, err := newLog(logPath)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = l
	piped, err := child.StartPiped(cmd, opt.Start)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	p := &program{cmd: cmd, stdin: newInputQueue(piped.In), stdout: piped.Out, log: l, exited: make(chan struct{})}
	go func() {
		defer crash.Guard()
		if p.stdin.run() != nil {
			p.expire(nil) // without input it is of no use
		}
	}()
	go func() {
		defer crash.Guard()
		p.state = cmd.Wait()
		piped.Ended()
		close(p.exited)
	}()
	return p, nil
}

// findProgram returns the path of cfg's program. A path in a command is taken from the
// server's folder.
func findProgram(cfg Server, programs lookpath.Search) (string, error) {
	name := cfg.Command[0]
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(cfg.Dir, name)
	}
	path, err := programs.Find(name)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the program %s was not found: install it, or correct the server's command", cfg.Command[0])
	}
	return path, err
}

// end ends the program: it closes its standard input, and kills the rest of its group
// some time later.
func (p *program) end() {
	p.once.Do(func() {
		_ = p.stdin.Close() // never fails
		p.expire(nil)
		<-p.exited
		_ = p.stdin.to.Close() // ends a write to a process that left the group
		_ = p.stdout.Close()   // nobody reads it any more
		_ = p.log.close()      // it is for people who look for a cause; nothing depends on it
	})
}

// expire kills the program's group some time later, or after the program's exit, unless done
// is closed before.
func (p *program) expire(done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-p.exited:
	case <-time.After(closeTime):
	}
	child.KillGroup(p.cmd)
}

// why describes the end of the program and its last words; "" while it runs. It waits for a
// program whose output has ended, which on a busy machine ends some time later.
func (p *program) why() string {
	select {
	case <-p.exited:
	case <-time.After(2 * closeTime): // more than cmd.WaitDelay
		return ""
	}
	how := "exit status 0"
	if p.state != nil {
		how = p.state.Error()
	}
	if said := p.log.reason(); said != "" {
		how += ": " + said
	}
	return how
}

// log keeps the beginning of a program's output, without the messages, in a file, and its end.
type log struct {
	file *os.File

	mu   sync.Mutex // guards size
	size int
	tail child.Tail
}

func newLog(path string) (*log, error) {
	f, err := statefile.OpenAppend(path)
	if err != nil {
		return nil, fmt.Errorf("keep a log: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &log{file: f, tail: child.Tail{Limit: maxReason}}, nil
}

// Write implements io.Writer. It never fails: a program must not end because of its log.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := maxLog - l.size; room > 0 {
		n, _ := l.file.Write(p[:min(len(p), room)])
		l.size += n
	}
	return l.tail.Write(p)
}

// maxReason is how much of a program's output is searched for the reason of its end, in bytes.
const maxReason = 8 << 10

// reasons matches a line that names an error, instead of its place.
var reasons = lazyregexp.New(`^(?:[\w.]*(?:Error|Exception)\b.*:|(?i:error|fatal|panic|npm (?:err!|error) (?:[^c\s]|c[^o]|co[^d])|.*(?:not found|no such file|cannot find|permission denied)))`)

// reason returns the first line at the end of the output that names an error, or else the last one.
func (l *log) reason() string {
	last := ""
	for line := range strings.Lines(sanitize.StripANSI(l.tail.String())) {
		switch line = strings.TrimRight(line, " \t\r\n"); {
		case reasons.MatchString(line):
			return clip.Bytes(line, maxWhy, "…")
		case line != "":
			last = strings.TrimSpace(line)
		}
	}
	return clip.Bytes(last, maxWhy, "…")
}

func (l *log) close() error { return l.file.Close() }

// logFile is the path of the file with the server's standard error.
func (s *server) logFile() string {
	return filepath.Join(cmp.Or(s.opt.Logs, os.TempDir()), s.Name+".log")
}
