//go:build amd64 || arm64

package trial

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

const (
	needsSpace = "needs more space than a trial has"
	leastFree  = 1 << 20 // bytes on the disk, without which a command may have lost something although it succeeded
)

// symptoms are what programs print that a room kept from something, with what that means.
var symptoms = []struct {
	message lazyregexp.Regexp
	why     string
}{
	{lazyregexp.New(`(?i)could not resolve|couldn't resolve|name or service not known|temporary failure in name resolution|no such host|ENOTFOUND|EAI_AGAIN|` +
		`network is unreachable|ENETUNREACH|GOPROXY=off|ENOTCACHED|only-if-cached|CARGO_NET_OFFLINE|offline (?:mode|mirror|cache)|--offline|unknown host|UnknownHostException|` +
		`no matching distribution found|getaddrinfo|failed to download|network connectivity`), "needs the network"},
	{lazyregexp.New(`(?i)docker daemon|docker\.sock|podman\.sock`), "talks to a container engine"},
	{lazyregexp.New(`(?i)connection refused|ECONNREFUSED|cannot connect to the`), "needs a server of this machine"},
	{lazyregexp.New(`(?i)read-only file system|EROFS`), "writes outside of the folder"},
	{lazyregexp.New(`(?i)operation not permitted|EPERM`), "does what only a command in the folder itself may do"},
	{lazyregexp.New(`(?i)device or resource busy|EBUSY`), ChangesRepository},
	{lazyregexp.New(`(?i)cross-device link|EXDEV`), "moves a folder, which a trial cannot"},
	{lazyregexp.New(`(?i)permission denied|EACCES|function not implemented|ENOSYS`), "was kept from something"},
	{lazyregexp.New(`(?i)no space left on device|ENOSPC`), needsSpace},
	{lazyregexp.New(`(?i)file size limit exceeded|SIGXFSZ|EFBIG|file too large`), "writes a file of more than 1 GiB"},
}

// named matches paths in an output: absolute ones, and in the home.
var named = lazyregexp.New(`(?:~|\$HOME)((?:/[\w.+@-]+)+)|/[\w.+@-]+(?:/[\w.+@-]+)+`)

// judge withholds a result that the command outside might not have.
func (t *Trials) judge(out *Outcome, line string, end room.Ending, r *room.Room) {
	switch {
	case end.Over == early.RoomProcesses:
		out.withhold(fmt.Sprintf("starts more than %d processes", maxProcesses))
	case end.Over == early.RoomMemory:
		out.withhold("uses more than three quarters of the memory of this machine")
	case len(end.Left) > 0:
		out.withhold("leaves " + strings.Join(end.Left, ", ") + " running")
	case t.free() < leastFree:
		out.withhold(needsSpace)
	case len(end.Full) > 0:
		out.withhold("needs more space for temporary files than a trial has")
	}
	if out.ExitCode != 0 || shellline.HidesFailure(line) {
		t.judgeOutput(out)
	}
	if out.ExitCode != 0 {
		t.judgeFailure(out, r)
	}
}

// judgeOutput withholds a failure that may be the copy's fault by its output.
func (t *Trials) judgeOutput(out *Outcome) {
	for _, s := range symptoms {
		if s.message.MatchString(out.Output) {
			out.withhold(s.why)
		}
	}
	if strings.Contains(out.Output, "not a git repository") && slices.ContainsFunc(t.roots, (*folder).inRepository) {
		out.withhold("needs the repository around the folder")
	}
	for _, f := range t.roots {
		for rel := range f.hidden {
			if isNamed(out.Output, filepath.Base(rel)) {
				out.withhold("needs " + rel + ", which it was not shown")
			}
		}
	}
}

// isNamed reports whether an output has the name of a file, not only as a part of a word: process.env does not name .env.
func isNamed(output, name string) bool {
	const edge = `[^\pL\p{Nd}_-]`
	return strings.Contains(output, name) && regexp.MustCompile(`(?:^|`+edge+`)`+regexp.QuoteMeta(name)+`(?:`+edge+`|$)`).MatchString(output)
}

// judgeFailure withholds the failure of a command that may be the copy's fault by its status and the paths that it names.
func (t *Trials) judgeFailure(out *Outcome, r *room.Room) {
	switch out.ExitCode {
	case 128 + int(unix.SIGXFSZ):
		out.withhold("writes a file of more than 1 GiB")
	case 128 + int(unix.SIGKILL):
		out.withhold("was killed, as the system does when memory is short")
	}
	home, _ := os.UserHomeDir() // without one, no path in it is named
	for _, match := range named.FindAllStringSubmatch(out.Output, -1) {
		path := match[0]
		if match[1] != "" {
			path = home + match[1]
		}
		if _, err := os.Lstat(path); err == nil && !t.covers(path) && !r.Has(path) {
			out.withhold("needs " + path)
		}
	}
}

// inRepository reports whether the folder is below the top of a repository, which no command sees.
func (f *folder) inRepository() bool {
	for dir := f.root; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
	}
	return false
}

// watchEvery is the time between two looks at the space.
const watchEvery = 250 * time.Millisecond

// watch ends a command that fills the disk. stop is called when it has ended.
func (t *Trials) watch(ctx context.Context, out *Outcome) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	begin, before := time.Now(), t.free()
	go func() {
		defer crash.Guard()
		defer close(done)
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for others := int64(0); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			taken := before - t.free()
			if taken-others < maxWritten {
				continue
			}
			written := t.written(begin)
			if written >= maxWritten {
				out.withhold("writes more than 1 GiB")
				cancel()
				return
			}
			others = taken - written
		}
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}

// free returns the bytes that are free on the disk with what commands write.
func (t *Trials) free() int64 {
	var st unix.Statfs_t
	if unix.Statfs(t.dir, &st) != nil {
		return 0
	}
	return int64(st.Bavail) * st.Bsize //nolint:gosec // no disk is as large
}

// written returns the bytes on disk of the files that were written since begin.
func (t *Trials) written(begin time.Time) (sum int64) {
	_ = filepath.WalkDir(t.dir, func(path string, e fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && !e.IsDir() && unix.Lstat(path, &st) == nil && !time.Unix(st.Ctim.Unix()).Before(begin) {
			sum += st.Blocks * 512
		}
		return nil // one that has gone takes none
	})
	return sum
}
