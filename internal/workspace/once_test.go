package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
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
			_, err = root.Commit(context.Background(), workspace.AllOrNone, turn(1), c)
		}
		return errors.Join(said(err), closed(root))
	case "move", "delete":
		return errors.Join(said(removeOnce(root, what == "move")), closed(root))
	case "set":
		return errors.Join(said(setOnce(root)), closed(root))
	case "rewind":
		err := takeBack(root, undo.Rewind)
		return errors.Join(said(err), closed(root))
	case "undo":
		err := takeBack(root, undo.LastChange)
		return errors.Join(said(err), closed(root))
	case "command":
		err := commandOnce(root, home)
		return errors.Join(said(err), closed(root))
	}
	return fmt.Errorf("no such role: %s", what)
}

// removeOnce deletes the file a, or moves it with an edit to a folder that is made for it.
func removeOnce(root *workspace.Root, moves bool) error {
	f, err := root.Removable("a")
	if err != nil {
		return err
	}
	c := workspace.Change{File: f, Delete: true}
	if moves {
		c = workspace.Change{File: f, After: "a1\n"}
		if c.To, c.ToName, err = root.Vacant("new/deep/c"); err != nil {
			return err
		}
	}
	_, err = root.Commit(context.Background(), workspace.AllOrNone, turn(1), c)
	return err
}

// setOnce edits a, makes new/deep/c, puts a link in the place of d and removes b: all or none.
func setOnce(root *workspace.Root) error {
	var all []workspace.Change
	for _, f := range []struct{ name, text string }{{"a", "a1\n"}, {"new/deep/c", "c1\n"}, {"d", ""}, {"b", ""}} {
		c, err := root.Propose(f.name, func(workspace.File) (string, error) { return f.text, nil })
		if err != nil {
			return err
		}
		switch f.name {
		case "b":
			c.Delete = true
		case "d":
			now, _, err := root.Look(c.Path)
			if err != nil {
				return err
			}
			c.States = &workspace.States{Before: now, After: workspace.StateOf(fs.ModeSymlink, []byte("a")), Content: []byte("a")}
		}
		all = append(all, c)
	}
	_, err := root.Commit(context.Background(), workspace.AllOrNone, turn(1), all...)
	return err
}

// commandOnce records the effects of mutate.
func commandOnce(root *workspace.Root, home string) error {
	tracker := effects.New(root, effects.Options{Home: home})
	run, err := tracker.Start(context.Background(), effects.Command{Line: "mutate", Origin: workspace.Origin{Session: "s", Turn: "turn 1"}})
	if err != nil {
		return errors.Join(err, tracker.Close())
	}
	_ = mutate(root.Dir()) // a command that fails has effects too
	return errors.Join(run.End(context.Background()).Err, tracker.Close())
}

// mutate changes a folder that commandTree filled.
func mutate(dir string) error {
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	return errors.Join(
		os.WriteFile(at("a"), []byte("a1\n"), 0o600),
		os.Rename(at("b"), at("b2")),
		os.Remove(at("sub/c")), os.Remove(at("sub")),
		os.Mkdir(at("new"), 0o755), os.WriteFile(at("new/d"), []byte("d1\n"), 0o600), //nolint:gosec // the mode is part of the test
		os.Remove(at("link")), os.Symlink("b2", at("link")),
		os.Chmod(at("tool"), 0o755), //nolint:gosec // as above
	)
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
