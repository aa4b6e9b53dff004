package acp

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/timelimit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The time that the host has for a file. It may format one that it saves.
const (
	readTime  = 30 * time.Second
	writeTime = time.Minute
	// silentTime is how long the disk has to hold a text before a host is no longer waited for that has
	// written it and does not answer: it may fail afterwards, as when it shows the file with unsaved changes.
	silentTime = 5 * time.Second
)

// files are the files of a session in the host.
type files struct {
	// ctx ends with the connection: files are read outside of turns, too, and the end of a
	// turn does not end a write, which the host may still make.
	ctx     context.Context //nolint:containedctx // see above
	conn    *jsonrpc.Conn
	session string
}

// host returns the part of the files that the host offers.
func (f *files) host(c clientCapabilities) workspace.Host {
	var h workspace.Host
	if c.FS.ReadTextFile {
		h.Buffer = f.read
	}
	if c.FS.WriteTextFile {
		h.Write = f.write
	}
	return h
}

// read returns the host's text of a file. A host that answers with an error does not know of it.
func (f *files) read(path string) (text string, ok bool, err error) {
	ctx, cancel := timelimit.Context(f.ctx, readTime)
	defer cancel()
	var res fileResult
	err = f.conn.Call(ctx, "fs/read_text_file", fileParams{SessionID: f.session, Path: path}, &res)
	if late := new(timelimit.Error); errors.As(timelimit.Explain(ctx, err), &late) {
		return "", false, late
	}
	return res.Content, err == nil, nil
}

// write has the host write a file.
func (f *files) write(path, text string) error {
	ctx, cancel := timelimit.Context(f.ctx, writeTime)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer crash.Guard()
		var res any
		err = f.conn.Call(ctx, "fs/write_text_file", fileParams{SessionID: f.session, Path: path, Content: &text}, &res)
		close(done)
	}()
	look := time.NewTicker(silentTime / 10)
	defer look.Stop()
	for held := 0; ; {
		select {
		case <-done:
			return timelimit.Explain(ctx, err)
		case <-look.C:
			if data, err := os.ReadFile(path); err != nil || string(data) != text { // the workspace compares it, too
				held = 0
			} else if held++; held >= 10 {
				cancel()
				<-done
				return nil
			}
		}
	}
}
