package tools

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Background lists the commands in the background. shell.Jobs is one.
type Background interface {
	List() []shell.Job
}

// watch tells the model of commands in the background that have ended, each
// once: with the next result, as a model only hears when it is answered.
type watch struct {
	background Background      // may be nil
	told       map[string]bool // by id
}

// news says what has ended, a line each.
func (w *watch) news() []string {
	if w.background == nil {
		return nil
	}
	var ended []string
	for _, job := range w.background.List() {
		if job.Running || w.told[job.ID] {
			continue
		}
		w.told[job.ID] = true
		ended = append(ended, fmt.Sprintf("%s has ended with exit code %d; its output is in %s", job.ID, job.ExitCode, job.Log))
	}
	return ended
}
