package search

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ripgrep asks rg for the files that may match, sorted. It is false if rg cannot
// answer for this folder as our own walk would, or fails.
func (f Folder) ripgrep(ctx context.Context, q Query) (names []string, ok bool) {
	if q.Ripgrep == "" || f.Abs == "" {
		return nil, false
	}
	_, inRepository := repository(f.Abs)
	if !inRepository && f.Abs != f.Root {
		return nil, false // rg would look for .gitignore files above the workspace
	}
	tree, err := parse(q.Regex)
	if err != nil {
		return nil, false
	}
	args := ripgrepArgs(forRipgrep(tree), q.FilePattern, inRepository)
	cmd := exec.CommandContext(ctx, q.Ripgrep, args...)
	cmd.Dir = f.Abs
	cmd.Env = []string{"LC_ALL=C.UTF-8"} // not ours: it holds keys and rg's own settings
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false
	}
	if err := cmd.Start(); err != nil {
		return nil, false
	}
	names, readErr := readFiles(out)
	err = cmd.Wait()
	var exit *exec.ExitError
	if readErr != nil || (err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1)) {
		return nil, false
	}
	slices.Sort(names)
	return names, true
}

// ripgrepArgs makes rg look at the files that walk returns and scan reads, and
// stop in each at the first match: which lines match is decided by scan.
func ripgrepArgs(expr, filePattern string, parents bool) []string {
	args := []string{
		"--no-config", "--json", "--max-count", "1", "--hidden", "--no-messages", "--no-mmap",
		"--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global", "--no-require-git",
		"--max-filesize", strconv.Itoa(MaxFile), "--glob", "!.git",
	}
	if !parents {
		args = append(args, "--no-ignore-parent")
	}
	if isPlainSuffix(filePattern) {
		args = append(args, "--type-add", "wanted:"+filePattern, "--type", "wanted")
	}
	return append(args, "--regexp", expr, "--", "./")
}

// isPlainSuffix reports whether a file pattern is of the form *.go, which means
// the same to everyone.
func isPlainSuffix(pattern string) bool {
	ext, ok := strings.CutPrefix(pattern, "*.")
	if !ok || ext == "" {
		return false
	}
	for i := range len(ext) {
		if !isWord(ext[i]) && ext[i] != '.' {
			return false
		}
	}
	return true
}

// readFiles reads the names of files with a match from rg's messages.
func readFiles(r io.Reader) ([]string, error) {
	var names []string
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readMessage(in)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(line, []byte(`{"type":"begin"`)) {
			continue
		}
		var msg struct {
			Data struct {
				Path struct {
					Text  string
					Bytes []byte
				}
			}
		}
		if err := json.Unmarshal(line, &msg); err != nil {
			return nil, err
		}
		name := msg.Data.Path.Text
		if name == "" {
			name = string(msg.Data.Path.Bytes)
		}
		names = append(names, strings.TrimPrefix(filepath.ToSlash(name), "./"))
	}
}

// readMessage returns the next line, or the beginning of one that is longer than
// the buffer: such a line is a match, whose text is not needed.
func readMessage(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if len(line) > 0 && errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	}
	head := slices.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}
