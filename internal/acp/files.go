package acp

import (
	"context"
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/timelimit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The time that the host has for a file. It may format one that it saves.
const (
	readTime  = 30 * time.Second
	writeTime = time.Minute
)

// files are the files of a session in the host.
type files struct {
	// ctx ends with the connection: files are read outside of turns, too, and the end of a
	// turn does not end a write, which the host may still make.
	ctx     context.Context //nolint:containedctx // see above
	conn    *conn
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
	err = f.conn.call(ctx, "fs/read_text_file", fileParams{SessionID: f.session, Path: path}, &res)
	if late := new(timelimit.Error); errors.As(timelimit.Explain(ctx, err), &late) {
		return "", false, late
	}
	return res.Content, err == nil, nil
}

func (f *files) write(path, text string) error {
	ctx, cancel := timelimit.Context(f.ctx, writeTime)
	defer cancel()
	var res any
	return timelimit.Explain(ctx, f.conn.call(ctx, "fs/write_text_file", fileParams{SessionID: f.session, Path: path, Content: &text}, &res))
}
