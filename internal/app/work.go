package app

import (
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/spending"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Status is the state that a face shows beside the conversation.
type Status struct {
	Model  string
	Effort string // of the model; empty for the default
	Branch string
	Mode   string // of permissions
	Grants int    // permissions of this session, which the user can take back
	// Editor names the linked editor and its selection; empty for none.
	Editor string
	// Shows names the editor that can show a question; empty for none.
	Shows string
	Work
}

// Status returns the present status. Its cost does not grow with the session.
func (a *App) Status() Status {
	return Status{
		Model: a.Info().Name, Effort: a.Effort(), Branch: a.Context.Branch(), Mode: a.Policy.Mode().String(), Grants: len(a.Grants()),
		Editor: a.Editor.Footer(), Shows: a.Editor.Reviewer.Shows(), Work: a.Work(),
	}
}

// NextMode switches to the next permission mode and returns it.
func (a *App) NextMode() string { return a.Policy.Cycle().String() }

// Work lists the running commands and sub-agents.
type Work struct {
	Front     *shell.Front // the command that may move to the background; nil for none
	Jobs      []shell.Job  // in the background
	SubAgents []subagents.Running
}

// Work returns the running commands and sub-agents. Its cost does not grow with the session.
func (a *App) Work() Work {
	w := Work{Jobs: a.jobs.Running(), SubAgents: a.SubAgents.Running()}
	if f, ok := a.jobs.Front(); ok {
		w.Front = &f
	}
	return w
}

// Lines returns the command lines in the background.
func (w Work) Lines() []string {
	var lines []string
	for _, j := range w.Jobs {
		lines = append(lines, j.Line)
	}
	return lines
}

// ToBackground moves the running command to the background.
func (a *App) ToBackground() error { return a.jobs.Move() }

// EndedJobs returns the commands in the background that have ended, the newest last.
func (a *App) EndedJobs() []shell.Job {
	return slices.DeleteFunc(a.jobs.List(), func(j shell.Job) bool { return j.Running })
}

// EndJob ends a command in the background.
func (a *App) EndJob(id string) error {
	_, err := a.jobs.Kill(id)
	return err
}

// Today returns the cost of all sessions of the day and its limit in US dollars; zeros without a
// limit, or if the cost is unknown.
func (a *App) Today() (usd, limit float64) {
	if a.Config.Limits.MaxDayUSD == 0 {
		return 0, 0
	}
	usd, err := spending.Open(a.Config.Home, time.Now).Today()
	if err != nil {
		return 0, 0
	}
	return usd, a.Config.Limits.MaxDayUSD
}
