package early

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// RoomArg is the only argument of a process that sets up a room for a command: the first
// process in namespaces of its own. It reads the steps from descriptor RoomSteps, and
// reports on RoomReport.
const RoomArg = "set-up-room"

// The descriptors of the first process of a room.
const (
	RoomSteps  = 3
	RoomReport = 4
)

// The first fields of a report.
const (
	RoomFailed  = "failed"  // the step and the error: nothing was started
	RoomStarted = "started" // the command runs
	RoomLeft    = "left"    // the names of the processes that the command left
	RoomFull    = "full"    // the folders without space
	RoomOver    = "over"    // the limit for which all were ended, RoomProcesses or RoomMemory
)

// The limits of a room.
const (
	RoomProcesses = "processes"
	RoomMemory    = "memory"
)

var _ = enterRoom()

// enterRoom sets up a room and runs a command in it. In any other process, it does nothing.
//
// It runs here because the process is multithreaded as soon as main runs, because it
// must not cost more than a few milliseconds, and because this goroutine has the main thread: what
// confines that confines the command, which it starts, and not the threads that wait.
func enterRoom() bool {
	if len(os.Args) != 2 || os.Args[1] != RoomArg {
		return false
	}
	for _, fd := range []int{RoomSteps, RoomReport} {
		syscall.CloseOnExec(fd)
	}
	r := room{steps: os.NewFile(RoomSteps, "steps"), report: os.NewFile(RoomReport, "report")}
	os.Exit(r.run())
	return true
}

// roomFailed is the status of a room that could not be set up.
const roomFailed = 125

// room is the first process of a room.
type room struct {
	steps, report *os.File
	full          []string // folders whose space is limited
	most          usage
	rules         ruleset
}

func (r *room) run() int {
	// The kernel shields it from signals that it does not handle, but Go ends it. To be notified of all takes too long.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := RestoreEnv(); err != nil {
		return r.fail("environment", err)
	}
	steps, err := readSteps(r.steps)
	if err != nil {
		return r.fail("steps", err)
	}
	go func() { // the program that asked for the room has ended, so the room does
		defer crash.Guard()
		_, _ = r.steps.Read(make([]byte, 1))
		os.Exit(roomFailed)
	}()
	known := roomSteps()
	for _, step := range steps {
		if step[0] == "exec" {
			return r.exec(step[1], step[2:])
		}
		do := known[step[0]]
		if do == nil {
			return r.fail(step[0], syscall.ENOSYS)
		}
		if err := do(r, step[1:]); err != nil {
			return r.fail(strings.Join(step[:min(len(step), 2)], " "), err)
		}
	}
	return r.fail("end", io.ErrUnexpectedEOF)
}

// say writes a line of the report.
func (r *room) say(fields ...string) {
	_, _ = r.report.WriteString(strings.Join(fields, "\x00") + "\x00\n") // if nobody reads it, nobody waits for the room
}

func (r *room) fail(step string, err error) int {
	r.say(RoomFailed, step, err.Error())
	return roomFailed
}

// exec starts the command, waits for it and then a little for the processes that it left, and returns
// its status. With this process, the kernel ends all that is left.
func (r *room) exec(path string, argv []string) int {
	keepPrivate()
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return r.fail("exec "+path, err)
	}
	r.say(RoomStarted)
	for _, fd := range []int{0, 1, 2} { // the output ends with the command
		_ = syscall.Close(fd)
	}
	go func() {
		defer crash.Guard()
		r.watch()
	}()
	code := roomFailed
	for {
		var status syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &status, 0, nil); {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return code
		case got != pid:
			continue
		case status.Signaled():
			code = 128 + int(status.Signal())
		default:
			code = status.ExitStatus()
		}
		r.outlast()
		return code
	}
}

// roomPatience is how long the processes that a command left may take to end by themselves.
const roomPatience = 300 * time.Millisecond

// outlast waits for the processes that the command left, and reports those that stay.
func (r *room) outlast() {
	for begin := time.Now(); ; <-time.After(2 * time.Millisecond) {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if pid == 0 && time.Since(begin) > roomPatience {
			r.say(append([]string{RoomLeft}, others()...)...)
			break
		}
	}
	for _, dir := range r.full {
		var st syscall.Statfs_t
		if syscall.Statfs(dir, &st) == nil && st.Bavail == 0 {
			r.say(RoomFull, dir)
		}
	}
}

// usage sums up the processes of a room.
type usage struct {
	processes int
	memory    int64 // of their own, in bytes
}

// roomEvery is the time between two looks at the usage.
const roomEvery = 250 * time.Millisecond

// watch ends the room when its processes use more than they may.
func (r *room) watch() {
	for r.most.processes > 0 {
		<-time.After(roomEvery)
		now := used()
		switch {
		case now.processes > r.most.processes:
			r.say(RoomOver, RoomProcesses)
		case now.memory > r.most.memory:
			r.say(RoomOver, RoomMemory)
		default:
			continue
		}
		os.Exit(128 + int(syscall.SIGKILL)) // the kernel ends all others
	}
}

// used returns the usage by the other processes in the room.
func used() (sum usage) {
	for _, pid := range pids() {
		sum.processes++
		var size, resident, shared int64
		data, err := os.ReadFile("/proc/" + pid + "/statm")
		if _, bad := fmt.Sscan(string(data), &size, &resident, &shared); err == nil && bad == nil {
			sum.memory += (resident - shared) * int64(os.Getpagesize())
		}
	}
	return sum
}

// pids returns the numbers of the other processes in the room.
func pids() (all []string) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // without them, the processes stay unknown
	for _, name := range names {
		if _, err := strconv.Atoi(name); err == nil && name != "1" {
			all = append(all, name)
		}
	}
	return all
}

// others returns the names of the other processes in the room.
func others() (names []string) {
	for _, pid := range pids() {
		if name, err := os.ReadFile("/proc/" + pid + "/comm"); err == nil && len(names) < 10 {
			names = append(names, string(bytes.TrimSpace(name)))
		}
	}
	return names
}

// maxSteps limits the size of the steps in bytes.
const maxSteps = 64 << 20

// AppendSteps returns steps for the descriptor RoomSteps: their size, then for each the number of
// its fields and each field after its size. The first field names the step.
func AppendSteps(steps [][]string) []byte {
	var all []byte
	for _, step := range steps {
		all = fmt.Appendf(all, "%d\n", len(step))
		for _, field := range step {
			all = append(fmt.Appendf(all, "%d\n", len(field)), field...)
		}
	}
	return append(fmt.Appendf(nil, "%d\n", len(all)), all...)
}

// readSteps reads what AppendSteps has returned. It reads no further: the descriptor stays open.
func readSteps(from io.Reader) (steps [][]string, err error) {
	data := make([]byte, 1)
	head := ""
	for !strings.HasSuffix(head, "\n") && len(head) < 20 {
		if _, err := io.ReadFull(from, data); err != nil {
			return nil, err
		}
		head += string(data)
	}
	size, err := strconv.Atoi(strings.TrimSpace(head))
	if err != nil || size > maxSteps {
		return nil, syscall.E2BIG
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(from, data); err != nil {
		return nil, err
	}
	number := func() int {
		line, rest, found := bytes.Cut(data, []byte("\n"))
		n, bad := strconv.Atoi(string(line))
		if data = rest; !found || bad != nil || n < 0 || n > size {
			err = syscall.EINVAL
			return 0
		}
		return n
	}
	for len(data) > 0 && err == nil {
		var step []string
		for range number() {
			n := min(number(), len(data))
			step, data = append(step, string(data[:n])), data[n:]
		}
		if len(step) > 0 {
			steps = append(steps, step)
		}
	}
	return steps, err
}
