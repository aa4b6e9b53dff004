package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// once is a child that does one thing and reports "done" or an error. Arguments: what,
// folder, home, session.
func once(args []string) error {
	what, dir, home := args[0], args[1], args[2]
	if what == "append" {
		return said(appendOnce(home, args[3]))
	}
	root, err := workspace.Open(dir, workspace.Options{Home: home})
	if err != nil {
		return err
	}
	switch what {
	case "edit", "create":
		name, text := "a", "a1\n"
		if what == "create" {
			name, text = "new/deep/c", strings.Repeat("c1\n", 1000)
		}
		c, err := root.Propose(name, func(workspace.File) (string, error) { return text, nil })
		if err == nil {
			_, err = root.Commit(context.Background(), c, turn(1))
		}
		return errors.Join(said(err), closed(root))
	case "rewind":
		err := takeBack(root, undo.Rewind)
		return errors.Join(said(err), closed(root))
	}
	return fmt.Errorf("no such role: %s", what)
}

// closed closes a workspace; an error is reported and has no other effect.
func closed(root *workspace.Root) error {
	if err := root.Close(); err != nil {
		return say("closing:", err)
	}
	return nil
}

func appendOnce(home, id string) error {
	store, err := archive.New(home).Open(id)
	if err != nil {
		return err
	}
	err = store.Append(history.Entries(llm.TextMessage(llm.User, "two"))...)
	return errors.Join(err, store.Sync(), store.Close())
}

// said reports an error or success to the parent.
func said(err error) error {
	if err == nil {
		return say("done")
	}
	return say("error:", errors.Is(err, workspace.ErrNotDurable), err)
}
