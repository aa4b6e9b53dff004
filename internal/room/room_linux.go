//go:build amd64 || arm64

package room

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/hexsum"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

// kind is the kind of a place.
type kind int

const (
	link    kind = iota // a symbolic link to from
	shown               // the files outside, to read
	private             // an empty folder in memory
	changed             // an overlay over the files outside
	bound               // another folder, to write
	masked              // a file with the content from
	device              // a device outside
)

// place is a file, folder or link of a room.
type place struct {
	path, from string
	kind       kind
	size       int64       // of a private one, zero for one that the room is made of
	mode       os.FileMode // of a private one
	over       Overlay     // of a changed one
	live       bool        // of a shown one: with later changes
}

// Overlay is a view of the folder Lower whose changes go to the folder Upper. Work is an empty
// folder beside Upper. Without Upper, they go to memory, and are gone with the room.
type Overlay struct{ Lower, Upper, Work string }

// Room is what one command sees and may use. Paths are absolute.
type Room struct {
	at     string // where the room is mounted while it is set up
	places map[string]place
	limits [][2]uint64
	most   []string // the step that limits the usage by all

	looked map[string]outside // by paths
	report chan []byte        // of the command that was started
}

// outside describes a path outside of the room.
type outside struct {
	there, isLink bool
	target        string // of a link
}

// New returns a room with nothing in it but devices, processes, a network and an empty folder for temporary
// files of at most size bytes. at is an existing folder that nobody else can change.
func New(at string, size int64) *Room {
	r := &Room{at: at, places: map[string]place{}, looked: map[string]outside{}}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		r.places["/dev/"+name] = place{path: "/dev/" + name, kind: device}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"} {
		r.places["/dev/"+name] = place{path: "/dev/" + name, kind: link, from: to}
	}
	r.Private("/tmp", size, os.ModeSticky|0o777)
	r.Private("/dev/shm", size, os.ModeSticky|0o777)
	r.places["/var/tmp"] = place{path: "/var/tmp", kind: link, from: "/tmp"}
	return r
}

// Show shows the file or folder at path, with everything below, to read. The links on the way are there as well. A missing path is left out.
func (r *Room) Show(path string) { r.add(place{path: path, kind: shown}) }

// Live is like Show, but with all later changes at path. A socket in it can be reached.
func (r *Room) Live(path string) { r.add(place{path: path, kind: shown, live: true}) }

// Private makes an empty folder at path, of at most size bytes.
func (r *Room) Private(path string, size int64, mode os.FileMode) {
	r.add(place{path: path, kind: private, size: size, mode: mode})
}

// Change shows the overlay at path.
func (r *Room) Change(path string, over Overlay) { r.add(place{path: path, kind: changed, over: over}) }

// Write shows the folder from at path, to change.
func (r *Room) Write(path, from string) { r.add(place{path: path, kind: bound, from: from}) }

// Mask shows a file with the content in place of the file at path.
func (r *Room) Mask(path, content string) { r.add(place{path: path, kind: masked, from: content}) }

// Limit limits a resource as in setrlimit.
func (r *Room) Limit(resource int, most uint64) {
	r.limits = append(r.limits, [2]uint64{uint64(resource), most})
}

// Most limits the number of processes and their own memory in bytes. When they use more, all end.
func (r *Room) Most(processes int, memory int64) {
	r.most = []string{"most", decimal(processes), strconv.FormatInt(memory, 10)}
}

// inMemory is the space in bytes for the changes of overlays in memory.
const inMemory = 1 << 30

// maxLinks limits the symbolic links on the way to a path, as Linux does.
const maxLinks = 40

// add adds a place behind all links on the way to it, which it adds, too.
func (r *Room) add(p place) {
	at, rest := "/", split(p.path)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		seen := r.look(next)
		if !seen.there {
			if p.kind == shown || p.kind == masked {
				return
			}
			at = filepath.Join(append([]string{next}, rest[1:]...)...)
			break
		}
		rest = rest[1:]
		if !seen.isLink {
			at = next
			continue
		}
		if links++; seen.target == "" || links > maxLinks {
			return
		}
		if _, known := r.places[next]; !known {
			r.places[next] = place{path: next, kind: link, from: seen.target}
		}
		if filepath.IsAbs(seen.target) {
			at = "/"
		}
		rest = slices.Concat(split(seen.target), rest)
	}
	if at == "/" {
		return // never all of the system
	}
	if p.kind == link || r.places[at].kind < p.kind || r.places[at].path == "" {
		p.path = at
		r.places[at] = p
	}
}

// look describes a path outside. Most places have the same folders on the way.
func (r *Room) look(path string) outside {
	if seen, ok := r.looked[path]; ok {
		return seen
	}
	info, err := os.Lstat(path)
	seen := outside{there: err == nil, isLink: err == nil && info.Mode()&os.ModeSymlink != 0}
	if seen.isLink {
		seen.target, _ = os.Readlink(path) // "" for one that cannot be read
	}
	r.looked[path] = seen
	return seen
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}

// above returns the place in which the path is.
func (r *Room) above(path string) place {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if p, ok := r.places[dir]; ok {
			return p
		}
	}
	return place{}
}

// Has reports whether a command sees the file at path that is there outside.
func (r *Room) Has(path string) bool {
	p, ok := r.places[path]
	if !ok {
		p = r.above(path)
	}
	top, _, _ := strings.Cut(path[1:], "/")
	return p.path != "" && p.kind != private && p.kind != masked || top == "proc" || top == "dev"
}

const (
	readOnly = early.ReadOnly | early.NoSetuid | early.NoDevices
	writable = early.NoSetuid | early.NoDevices
)

// steps returns the steps that set up the room and start the program, as root or another user.
func (r *Room) steps(w sandbox.Walls, root bool, dir, path string, argv []string) [][]string {
	all := [][]string{{"private"}, {"loopback"}, {"tmpfs", r.at, "mode=755"}}
	if os.Geteuid() != 0 {
		all = slices.Insert(all, 0, []string{"identity", decimal(os.Geteuid()), decimal(os.Getegid())})
	}
	paths := make([]string, 0, len(r.places))
	for path := range r.places {
		paths = append(paths, path)
	}
	slices.Sort(paths)         // a folder before its entries
	memory := r.at + "/memory" // of overlays, which keep it when it is detached
	all = append(all, []string{"folder", memory, "448"}, []string{"tmpfs", memory, fmt.Sprintf("mode=700,size=%d", inMemory), "/"})
	for _, path := range paths {
		all = append(all, r.placing(r.places[path])...)
	}
	all = append(all, []string{"detach", memory})
	all = append(all,
		[]string{"folder", r.at + "/proc", "365"}, []string{"processes", r.at + "/proc"},
		[]string{"folder", r.at + "/dev/pts", "493"}, []string{"terminals", r.at + "/dev/pts"},
		[]string{"root", r.at}, []string{"attributes", "/", decimal(early.ReadOnly)}, []string{"chdir", dir})
	for _, l := range r.limits {
		all = append(all, []string{"limit", strconv.FormatUint(l[0], 10), strconv.FormatUint(l[1], 10)})
	}
	if r.most != nil {
		all = append(all, r.most)
	}
	all = append(all, []string{"ruleset", string(w.Ruleset), strconv.FormatUint(w.Folders, 10), strconv.FormatUint(w.Others, 10)}, []string{"allow", "/dev/pts"})
	for _, path := range paths {
		if p := r.places[path]; slices.Contains([]kind{private, changed, bound, device}, p.kind) && !r.missing(p) {
			all = append(all, []string{"allow", path})
		}
	}
	keep := uint64(0)
	if root {
		keep = w.Capabilities
	}
	return append(all, []string{"capabilities", strconv.FormatUint(keep, 10)}, []string{"restrict"},
		[]string{"filter", string(w.Filter)}, append([]string{"exec", path}, argv...))
}

func decimal(n int) string { return strconv.Itoa(n) }

// missing reports whether nothing is at a place because this system lacks the device.
func (r *Room) missing(p place) bool {
	_, err := os.Stat(p.path)
	return p.kind == device && err != nil
}

// roots are the folders that only root changes, in which other file systems may be mounted.
var roots = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/snap", "/nix/store", "/gnu/store", "/sys/devices/system/cpu", "/sys/devices/system/node"}

// placing returns the steps that make a place.
func (r *Room) placing(p place) [][]string {
	in := r.above(p.path)
	seen := in.kind == shown && in.path != "" // with all that is in it
	there := seen || in.kind == changed       // it exists outside, or nothing can be there
	if there && p.kind == link || seen && p.kind == shown || r.missing(p) {
		return nil
	}
	do := r.making(p, there)
	if !there {
		return slices.Concat(r.point(p), do)
	}
	if info, err := os.Stat(p.path); err != nil || info.IsDir() != (p.kind != masked) && p.kind != shown {
		return nil
	}
	return do
}

// point returns the step that makes a mount point for a place, or the folder of a link.
func (r *Room) point(p place) [][]string {
	to := r.at + p.path
	switch {
	case p.kind == masked:
		return nil
	case p.kind == link:
		to = filepath.Dir(to)
	case p.kind == device:
		return [][]string{{"file", to, "", "438"}}
	case p.kind == shown && isFile(p.path):
		return [][]string{{"file", to, "", "292"}}
	}
	return [][]string{{"folder", to, "493"}}
}

// making returns the steps that make a place whose point exists; there means that another place holds it.
func (r *Room) making(p place, there bool) [][]string {
	to := r.at + p.path
	switch p.kind {
	case link:
		return [][]string{{"link", p.from, to}}
	case shown:
		how := "view"
		if there || p.live || isFile(p.path) || slices.Contains(roots, p.path) {
			how = "bind"
		}
		return [][]string{{how, p.path, to, decimal(readOnly)}}
	case private:
		options := fmt.Sprintf("mode=%o", p.mode.Perm()|sticky(p.mode))
		if p.size > 0 {
			options += fmt.Sprintf(",size=%d", p.size)
		}
		return [][]string{{"tmpfs", to, options, p.path}}
	case changed:
		var do [][]string
		if p.over.Upper == "" {
			in := r.at + "/memory/" + hexsum.Of(p.path)
			p.over.Upper, p.over.Work = in+"/upper", in+"/work"
			do = [][]string{{"folder", p.over.Upper, "493"}, {"folder", p.over.Work, "448"}}
		}
		return append(do, []string{"overlay", p.over.Lower, p.over.Upper, p.over.Work, to})
	case bound:
		return [][]string{{"bind", p.from, to, decimal(writable)}}
	case device:
		return [][]string{{"bind", p.path, to, decimal(early.NoSetuid | early.NoExec)}}
	case masked:
		mask := r.at + "/mask"
		return [][]string{{"file", mask, p.from, "292"}, {"bind", mask, to, decimal(readOnly)}, {"remove", mask}}
	}
	return nil
}

// isFile reports whether something other than a folder is at path.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func sticky(mode os.FileMode) os.FileMode {
	if mode&os.ModeSticky != 0 {
		return 0o1000
	}
	return 0
}

// namespaces are those of a room.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// Confine starts cmd in the room. A room is for one command.
func (r *Room) Confine(cmd *exec.Cmd) (sandbox.Cage, error) {
	w, err := sandbox.Room()
	if err != nil {
		return nil, err
	}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	steps := early.AppendSteps(r.steps(w, runsAsRoot(cmd), cmd.Dir, cmd.Path, cmd.Args))
	first, err := newFirst(cmd)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, first.close())
	}
	r.report = make(chan []byte, 1)
	go func() {
		defer crash.Guard()
		all, _ := io.ReadAll(first.said) // Ending misses the end
		r.report <- all
	}()
	if err := errors.Join(first.started(), first.write(steps)); err != nil && !errors.Is(err, syscall.EPIPE) { // it reports why it has ended
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait(), first.close())
	}
	return &cage{first, cmd.Process}, nil
}

// first is the first process of a room, as seen by the program that starts it.
type first struct {
	steps, said         *os.File // our ends
	theirSteps, theirOf *os.File
}

// newFirst makes cmd the command that starts the first process.
func newFirst(cmd *exec.Cmd) (*first, error) {
	var f first
	var err error
	if f.theirSteps, f.steps, err = os.Pipe(); err != nil {
		return nil, err
	}
	if f.said, f.theirOf, err = os.Pipe(); err != nil {
		return nil, errors.Join(err, f.theirSteps.Close(), f.steps.Close())
	}
	cmd.ExtraFiles = []*os.File{f.theirSteps, f.theirOf}
	cmd.Path, cmd.Args, cmd.Dir = "/proc/self/exe", []string{"agent", early.RoomArg}, "/"
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	attr.Cloneflags = namespaces
	// The files of a process that keeps others from its memory belong to root, so any other user could
	// not write the maps of the child. The child does it.
	if os.Geteuid() == 0 {
		attr.UidMappings, attr.GidMappings, attr.GidMappingsEnableSetgroups = identity("uid"), identity("gid"), true
	}
	if runsAsRoot(cmd) {
		return &f, nil
	}
	// Without this, it would lose its rights in the namespaces with the start of its program.
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if set, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err == nil && set >= 0 {
			attr.AmbientCaps = append(attr.AmbientCaps, c)
		}
	}
	return &f, nil
}

// runsAsRoot reports whether root runs a command.
func runsAsRoot(cmd *exec.Cmd) bool {
	if attr := cmd.SysProcAttr; attr != nil && attr.Credential != nil {
		return attr.Credential.Uid == 0
	}
	return os.Geteuid() == 0
}

// identity returns the map that leaves all numbers of this namespace as they are.
func identity(what string) (all []syscall.SysProcIDMap) {
	data, err := os.ReadFile("/proc/self/" + what + "_map")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		var inside, outside, n uint32
		if _, err := fmt.Sscan(line, &inside, &outside, &n); err == nil {
			all = append(all, syscall.SysProcIDMap{ContainerID: int(inside), HostID: int(inside), Size: int(min(n, math.MaxInt32*2+1))})
		}
	}
	return all
}

func (f *first) started() error { return errors.Join(f.theirSteps.Close(), f.theirOf.Close()) }

func (f *first) write(steps []byte) error {
	_, err := f.steps.Write(steps)
	return err
}

func (f *first) close() error {
	return errors.Join(f.steps.Close(), f.said.Close(), f.theirSteps.Close(), f.theirOf.Close())
}

// cage is the room of a command that runs. It ends with its first process, and that ends with the steps.
type cage struct {
	*first
	process *os.Process
}

// Kill kills the first process, and the kernel all others.
func (c *cage) Kill() bool { return c.process.Kill() == nil }

// Close closes the pipe that keeps the room.
func (c *cage) Close() bool {
	_ = c.steps.Close()
	return true
}

// Ending describes the end of a command in a room.
type Ending struct {
	// Failed is the step of the setting up that failed, with the error; "" if the command was started.
	Failed string
	Left   []string // names of processes that it left, which were ended
	Full   []string // folders for temporary files without space
	Over   string   // the limit of Most for which all were ended: early.RoomProcesses or early.RoomMemory
}

// Ending waits for the end of the room, and returns how it ended.
func (r *Room) Ending() Ending {
	if r.report == nil {
		return Ending{Failed: "it was not started"}
	}
	data := <-r.report
	e := Ending{Failed: "its first process ended at once"}
	for line := range bytes.SplitSeq(data, []byte("\x00\n")) {
		fields := strings.Split(string(line), "\x00")
		switch fields[0] {
		case early.RoomFailed:
			e.Failed = strings.Join(fields[1:], ": ")
			return e
		case early.RoomStarted:
			e.Failed = ""
		case early.RoomLeft:
			e.Left = fields[1:]
		case early.RoomOver:
			e.Over = fields[1]
		case early.RoomFull:
			e.Full = append(e.Full, fields[1:]...)
		}
	}
	return e
}
