package doctor

import (
	"context"
	"fmt"
	"io"

	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/cli/extension"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// Editor checks each step of the connection to an editor.
type Editor struct {
	Out     io.Writer
	Config  config.Config
	Dir     string   // the folder to work in
	Version string   // of this program
	Env     []string // of the editors' programs

	broken bool
}

// Run writes a line for each finding, and how to fix it. It returns false if no editor
// can be used. vsix is the extension's file.
func (d *Editor) Run(ctx context.Context, vsix []byte) (healthy bool) {
	if !d.Config.IDE.Enabled {
		d.say("broken", "setting", "ide.enabled is false", "agent config set ide.enabled true")
	}
	d.say("ok", "extension", fmt.Sprintf("inside, %d KiB", len(vsix)>>10), "")
	d.programs(ctx)
	found := lock.Find(ctx, idelink.Search(d.Config, d.Dir))
	if len(found) == 0 {
		d.say("broken", "running", "found no running editor", "start the editor; agent ide install gives it the extension")
	}
	for _, c := range found {
		d.link(ctx, c)
	}
	return !d.broken
}

func (d *Editor) say(grade grade, name, text, fix string) {
	d.broken = d.broken || grade == broken
	Options{Out: d.Out}.show(name, finding{grade: grade, text: text, fix: fix})
}

// programs lists the installed editors, and whether they have the extension.
func (d *Editor) programs(ctx context.Context) {
	editors, err := extension.Find("", lookpath.Search{Dirs: []string{d.Dir}})
	if err != nil {
		d.say("note", "programs", err.Error(), "")
	}
	for _, e := range editors {
		switch version, err := e.Version(ctx, d.Env); {
		case err != nil:
			d.say("note", e.Name, err.Error(), "")
		case version == "":
			d.say("note", e.Name, "has no extension", "agent ide install "+e.Name)
		default:
			d.say("ok", e.Name, "has the extension "+version, "")
		}
	}
}

// link connects to an editor and disconnects again.
func (d *Editor) link(ctx context.Context, c lock.Candidate) {
	switch {
	case !c.Usable:
		d.say("note", "lock", idelink.Title(c)+": "+c.Why, "")
		return
	case c.Dialect.Name != lock.Agent.Name:
		d.say("note", "lock", idelink.Title(c)+": another agent's; connecting could end its own link, so it was not tried", "/ide connect, in a session")
		return
	}
	l, err := client.Connect(ctx, c, client.Options{Version: d.Version, Dir: d.Dir})
	if err != nil {
		d.say("broken", "link", idelink.Title(c)+": "+err.Error(), "reload the editor's window")
		return
	}
	defer l.Close()
	text := idelink.Title(c) + " answers"
	if c.Why != "" {
		text += "; not used for sessions here: " + c.Why
	}
	d.say("ok", "link", text, "")
}
