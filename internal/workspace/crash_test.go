package workspace_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// The environment variables of a re-executed test binary: its role, and the phase in
// which it stays at the n-th time.
const (
	role  = "WORKSPACE_TEST_ROLE"
	holds = "WORKSPACE_TEST_HOLDS"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "once":
		if err = once(os.Args[1:]); err == nil {
			os.Exit(0)
		}
	case "session":
		err = writeSession(os.Args[1:])
	case "rewind":
		err = rewindAndRedo(os.Args[1:])
	case "together":
		err = writeTogether(os.Args[1:])
	case "plain":
		err = writePlain(os.Args[1:])
	}
	fmt.Fprintln(os.Stderr, "the child ended by itself:", err)
	os.Exit(3) // a process that Windows kills ends with 1
}

// phases lists the steps of the child at which it is killed, in the order of an edit.
var phases = []string{"blob", "journal", "temp", "sync", "check", "rename", "done", "transcript"}

// stable is the number of files that are edited repeatedly; files with higher numbers are
// created once, in folders of their own.
const stable = 4

// nameOf returns the name of the file with a number.
func nameOf(id int) string { return fmt.Sprintf("d%d/sub/f.txt", id) }

// contentOf returns the content of a version of a file: empty to 4 MB, and different from
// any other version in each of its parts. Version 0 is no file.
func contentOf(id, version int) string {
	rng := rand.New(rand.NewPCG(uint64(id), uint64(version)))
	size := rng.IntN(8 << 10)
	n := rng.IntN(40)
	switch {
	case n == 0:
		size = rng.IntN(4 << 20)
	case n < 8:
		size = rng.IntN(128 << 10)
	}
	line := fmt.Sprintf("file %d version %d\n", id, version)
	if n == 8 && version%2 == 0 {
		return "" // but never twice in a row, so that versions can be told apart
	}
	size = max(size, len(line))
	return strings.Repeat(line, size/len(line)+1)[:size]
}

// writeSession is the child: it edits files and keeps a transcript until it is killed,
// and writes each step and result to its output as a line. Arguments: folder, home,
// session (or ""), seed, version of each stable file, number of the first file to create.
func writeSession(args []string) error {
	dir, home, id := args[0], args[1], args[2]
	var n []int
	for _, s := range args[3:] {
		v, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		n = append(n, v)
	}
	rng := rand.New(rand.NewPCG(uint64(n[0]), 1))
	versions, fresh := n[1:1+stable], n[1+stable]
	root, err := workspace.Open(dir, workspace.Options{Home: home})
	if err != nil {
		return err
	}
	hold, times, _ := strings.Cut(os.Getenv(holds), " ")
	left, _ := strconv.Atoi(times)
	phase := func(name string) error {
		err := say("phase", name)
		if name == hold {
			if left--; left < 0 {
				<-time.After(time.Minute) // until killed, however loaded the machine is
			}
		}
		for until := time.Now().Add(time.Duration(rng.IntN(120)) * time.Microsecond); time.Now().Before(until); {
			continue // some time on both sides of the step, so that each can be hit
		}
		return err
	}
	root.At(phase)
	store, err := openStore(home, dir, id)
	if err != nil {
		return err
	}
	if err := say("session", store.ID()); err != nil {
		return err
	}
	for {
		file, version := rng.IntN(stable), 1
		if rng.IntN(4) == 0 {
			file = fresh
			fresh++
		} else {
			versions[file]++
			version = versions[file]
		}
		if err := edit(root, file, version); err != nil {
			return err
		}
		if err := phase("transcript"); err != nil {
			return err
		}
		if err := errors.Join(store.Append(history.Entries(llm.TextMessage(llm.User, fmt.Sprint(file, " ", version)))...), store.Sync()); err != nil {
			return err
		}
		if err := say("kept", file, version); err != nil {
			return err
		}
	}
}

// say writes a line to the parent, in one write.
func say(words ...any) error {
	_, err := fmt.Fprintln(os.Stdout, words...)
	return err
}

func edit(root *workspace.Root, file, version int) error {
	if err := say("start", file, version); err != nil {
		return err
	}
	change, err := root.Propose(nameOf(file), func(workspace.File) (string, error) { return contentOf(file, version), nil })
	if err != nil {
		return err
	}
	if _, err := root.Commit(context.Background(), workspace.AllOrNone, workspace.Origin{Session: "s", Turn: fmt.Sprint(file, version)}, change); err != nil {
		return err
	}
	return say("written", file, version)
}

func openStore(home, dir, id string) (*archive.Store, error) {
	archive := archive.New(home)
	if id == "" {
		return archive.Create(dir, "none"), nil
	}
	return archive.Open(id)
}

// kill starts this binary in a role and kills it delay after it has announced a phase n
// times; with a negative delay the child stays in that phase. It returns the child's
// output.
func kill(t *testing.T, as string, args []string, phase string, n int, delay time.Duration) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), role+"="+as)
	if delay < 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s %d", holds, phase, n))
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	in := bufio.NewReader(out)
	for n >= 0 {
		line, err := in.ReadString('\n')
		if err != nil {
			break // it ended by itself: see below
		}
		said = append(said, strings.TrimSuffix(line, "\n"))
		if line == "phase "+phase+"\n" {
			n--
		}
	}
	for until := time.Now().Add(delay); time.Now().Before(until); {
		continue
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	killed := -1
	if runtime.GOOS == "windows" {
		killed = 1
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != killed {
		t.Fatalf("the child was not killed: %v", err)
	}
	whole := string(rest[:strings.LastIndexByte(string(rest), '\n')+1])
	return append(said, slices.Collect(strings.Lines(whole))...)
}

// model is the expected state of the disk according to the children's output.
type model struct {
	dir, home string
	versions  map[int]int // of each file; 0 or absent for no file
	fresh     int         // the first number that was not used
	session   string
	kept      []string // messages of the session

	// The state of the round:
	inFlight *[2]int // started and not reported as written
	last     *[2]int // the last write
	keeping  string  // message that may or may not be in the session
	phase    string

	litter int // temp files that kills left, before the next start
}

// hear updates the model from a child's output.
func (m *model) hear(t *testing.T, said []string) {
	m.inFlight, m.last, m.keeping, m.phase = nil, nil, "", ""
	for _, line := range said {
		f := strings.Fields(line)
		var edit [2]int
		if len(f) == 3 {
			for i := range edit {
				n, err := strconv.Atoi(f[i+1])
				if err != nil {
					t.Fatalf("the child said %q", line)
				}
				edit[i] = n
			}
		}
		switch f[0] {
		case "phase":
			m.phase = f[1]
		case "session":
			m.session = f[1]
		case "start":
			m.inFlight = &edit
			m.fresh = max(m.fresh, edit[0]+1)
		case "written":
			m.versions[edit[0]], m.inFlight, m.last = edit[1], nil, &edit
			m.keeping = fmt.Sprint(edit[0], " ", edit[1])
		case "kept":
			m.kept = append(m.kept, m.keeping)
			m.keeping = ""
		}
	}
}

func (m *model) args(seed int) []string {
	args := []string{m.dir, m.home, m.session, strconv.Itoa(seed)}
	for i := range stable {
		args = append(args, strconv.Itoa(m.versions[i]))
	}
	return append(args, strconv.Itoa(m.fresh))
}

// onDisk returns which of the given versions of a file is on disk.
func (m *model) onDisk(t *testing.T, id int, versions ...int) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.dir, nameOf(id)))
	for _, v := range versions {
		if v == 0 && errors.Is(err, fs.ErrNotExist) || v != 0 && err == nil && string(data) == contentOf(id, v) {
			return v
		}
	}
	t.Fatalf("phase %s: file %d is torn or lost: %d bytes, %v; want a version of %v", m.phase, id, len(data), err, versions)
	return 0
}

// check compares the disk, as the killed child left it, with the model.
func (m *model) check(t *testing.T) {
	t.Helper()
	if e := m.inFlight; e != nil {
		v := m.onDisk(t, e[0], m.versions[e[0]], e[1])
		if v == e[1] {
			m.last = e
		}
		m.versions[e[0]] = v
	}
	for id, v := range m.versions {
		m.onDisk(t, id, v)
	}
	temps, err := filepath.Glob(filepath.Join(m.dir, "*", "*", ".agent-*"))
	if err != nil || len(temps) > 1 {
		t.Errorf("phase %s: one kill left %v (%v)", m.phase, temps, err)
	}
	m.litter += len(temps)
	root, err := workspace.Open(m.dir, workspace.Options{Home: m.home})
	if err != nil {
		t.Fatal(err)
	}
	m.checkLeftovers(t)
	if m.last != nil {
		m.undo(t, root)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	m.checkSession(t)
	m.dropFresh(t)
}

// checkLeftovers fails on leftovers after the next start: temp files, empty folders and
// unfinished segments of the journal.
func (m *model) checkLeftovers(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && d.Name() != "f.txt" {
			t.Errorf("phase %s: left over: %s", m.phase, path)
		}
		if list, err := os.ReadDir(path); d.IsDir() && path != m.dir && (err != nil || len(list) == 0) {
			t.Errorf("phase %s: left over: empty folder %s (%v)", m.phase, path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{"live", "lock"} {
		if left, _ := filepath.Glob(filepath.Join(m.home, "undo", "*", "*."+ext)); len(left) > 0 {
			t.Errorf("phase %s: left over: %v", m.phase, left)
		}
	}
}

// undo undoes the last change and checks that the version before is there.
func (m *model) undo(t *testing.T, root *workspace.Root) {
	t.Helper()
	id, v := m.last[0], m.last[1]
	plan, err := undo.Find(t.Context(), root, undo.Scope{})
	if err != nil {
		t.Fatalf("phase %s: undo of file %d version %d: %v", m.phase, id, v, err)
	}
	if len(plan.Changes) != 1 || plan.Changes[0].Name != nameOf(id) {
		t.Fatalf("phase %s: undo would change %d files, %s first; want file %d", m.phase, len(plan.Changes), plan.Changes[0].Name, id)
	}
	if err := plan.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.versions[id] = m.onDisk(t, id, v-1)
}

// checkSession checks that the session continues with all stored messages.
func (m *model) checkSession(t *testing.T) {
	t.Helper()
	if len(m.kept) == 0 {
		m.session = "" // its file may or may not have been made
		return
	}
	store, err := archive.New(m.home).Open(m.session)
	if err != nil {
		t.Fatalf("phase %s: %v", m.phase, err)
	}
	var got []string
	for _, msg := range store.Conversation().Messages() {
		got = append(got, msg.Text())
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if len(got) == len(m.kept)+1 && got[len(got)-1] == m.keeping {
		m.kept = append(m.kept, m.keeping)
	}
	if !slices.Equal(got, m.kept) {
		t.Fatalf("phase %s: the session holds %d messages, want %d", m.phase, len(got), len(m.kept))
	}
	if len(got) > 200 {
		m.session, m.kept = "", nil
	}
}

// dropFresh removes the files that no child will touch again.
func (m *model) dropFresh(t *testing.T) {
	t.Helper()
	for id := range m.versions {
		if id < stable {
			continue
		}
		delete(m.versions, id)
		if err := os.RemoveAll(filepath.Join(m.dir, fmt.Sprintf("d%d", id))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledSessionLosesNothing kills a session that edits files and keeps a
// transcript, at random instants. After each kill every file is the old or the
// new version, the next start leaves nothing behind, the last change can be
// undone, and the session has all its messages.
func TestKilledSessionLosesNothing(t *testing.T) {
	kills, start := stress.Size(160, 2000), stress.Seed(t)
	t.Log("seed", start)
	rng := rand.New(rand.NewPCG(start, 2))
	m := &model{dir: t.TempDir(), home: t.TempDir(), versions: map[int]int{}, fresh: stable}
	count := map[string]int{}
	for i := range kills {
		delay := time.Duration(rng.IntN(300)) * time.Microsecond
		if i%5 == 0 {
			delay = -1
		}
		said := kill(t, "session", m.args(int(start>>1)+i), phases[i%len(phases)], rng.IntN(4), delay)
		m.hear(t, said)
		count[m.phase]++
		m.check(t)
		if t.Failed() {
			t.Fatalf("kill %d of seed %d", i, start)
		}
	}
	t.Logf("load: %d kills, seed %d, kills per phase: %v, temp files to clean up: %d", kills, start, count, m.litter)
	if m.litter == 0 {
		t.Error("no kill left a temp file: the cleaning up was not tested")
	}
	for _, phase := range []string{"blob", "journal", "temp", "rename", "transcript"} {
		if want := kills / 40; count[phase] < want {
			t.Errorf("%d kills in phase %s, want %d at least", count[phase], phase, want)
		}
	}
}

// TestKilledPlainWriterTears is the control: a plain writer that is killed in the same
// way does leave torn files.
func TestKilledPlainWriterTears(t *testing.T) {
	kills, start := stress.Size(40, 400), stress.Seed(t)
	rng := rand.New(rand.NewPCG(start, 3))
	path := filepath.Join(t.TempDir(), "f.txt")
	scratch.Write(t, path, strings.Repeat("a", plainSize))
	torn := 0
	for i := 0; i < kills || torn == 0 && i < 20*kills; i++ { // until one has torn
		kill(t, "plain", []string{path}, "write", rng.IntN(4), time.Duration(rng.IntN(300))*time.Microsecond)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) != plainSize || strings.Trim(string(data), string(data[:1])) != "" {
			torn++
		}
	}
	t.Logf("load: %d kills, seed %d, torn files: %d", kills, start, torn)
	if torn == 0 {
		t.Error("no torn file: the kills do not reach into writes")
	}
}

const plainSize = 256 << 10

func writePlain(args []string) error {
	for i := 0; ; i++ {
		if err := say("phase", "write"); err != nil {
			return err
		}
		if err := os.WriteFile(args[0], []byte(strings.Repeat(string(rune('a'+i%26)), plainSize)), 0o644); err != nil {
			return err
		}
	}
}
